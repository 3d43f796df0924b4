"""The measured window of a run's series: the one place that says which points lie in it.

Series count from the start of the window. The warm-up is at negative times; what is at ``window_s`` or later came when
the window, and with it the load, was over.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

V = TypeVar("V")


def is_inside(t: float, window_s: float) -> bool:
    """Whether a moment lies in the window.

    >>> is_inside(-0.1, 10), is_inside(0, 10), is_inside(9.9, 10), is_inside(10, 10)
    (False, True, True, False)
    """
    return 0 <= t < window_s


def inside(points: Iterable[tuple[float, V]], window_s: float | None) -> list[V]:
    """The values of the points in the window; none where the run had no window."""
    return [] if window_s is None else [value for t, value in points if is_inside(t, window_s)]


def is_counted(t: float, window_s: float) -> bool:
    """Whether a reading of running counters is of the window: one at its very end has counted what came before.

    >>> is_counted(-0.1, 10), is_counted(0, 10), is_counted(10, 10), is_counted(10.1, 10)
    (False, True, True, False)
    """
    return 0 <= t <= window_s


def counted(readings: Iterable[tuple[float, V]], window_s: float | None) -> list[V]:
    """The readings of running counters with differences that are of the window; none where the run had no window."""
    return [] if window_s is None else [value for t, value in readings if is_counted(t, window_s)]

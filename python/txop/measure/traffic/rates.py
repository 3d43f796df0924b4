"""Rates over time: of several flows together, and in steps of a second."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from txop.measure.instrument import Points


def added_up(flows: Sequence[Points], step_s: float) -> Points:
    """Rates of several flows added up, in steps of ``step_s``; a flow's rate in a step is the mean of its points there.

    Where there are several, a step between two points of one in which it has none, because reports are not made to the
    millisecond, gets the mean of its neighbours: the sum would dip there. What was reported without a rate stays out.

    >>> added_up([[(0.1, 1.0), (0.3, 3.0), (0.7, 5.0)], [(0.4, 10.0)]], 0.5)
    [(0.25, 12.0), (0.75, 5.0)]
    >>> added_up([[(0.5, 1.0), (1.5, 1.0), (2.5, 1.0)], [(0.999, 4.0), (2.001, 4.0)]], 1.0)
    [(0.5, 5.0), (1.5, 5.0), (2.5, 5.0)]
    >>> added_up([[(0.5, 1.0), (1.5, None), (2.5, 1.0)]], 1.0)
    [(0.5, 1.0), (2.5, 1.0)]
    """
    sums: dict[int, float] = {}
    for points in flows:
        reported: dict[int, list[float]] = {}
        for t, rate in points:
            reported.setdefault(int(t // step_s), []).extend([] if rate is None else [rate])
        mine = {step: sum(rates) / len(rates) for step, rates in reported.items() if rates}
        for step, rate in list(mine.items()):
            if len(flows) > 1 and step + 1 not in reported and step + 2 in mine:
                mine[step + 1] = (rate + mine[step + 2]) / 2
        for step, rate in mine.items():
            sums[step] = sums.get(step, 0.0) + rate
    return [(round((step + 0.5) * step_s, 3), rate) for step, rate in sorted(sums.items())]


def by_second(points: Points) -> Points:
    """The same in steps of a second, where there are more points: what is judged of a series (steadiness, drop-outs) is
    judged of seconds, whatever it was sampled at.

    >>> by_second([(0.25, 1.0), (0.75, 3.0), (1.25, 5.0)])
    [(0.5, 2.0), (1.5, 5.0)]
    >>> by_second([(6.0, 1.0), (18.0, 2.0)])
    [(6.0, 1.0), (18.0, 2.0)]
    """
    times = sorted(t for t, _ in points)
    if len(times) < 2 or median(b - a for a, b in pairwise(times)) > _ABOUT_A_SECOND:
        return points
    return added_up([points], 1.0)


_ABOUT_A_SECOND = 0.9

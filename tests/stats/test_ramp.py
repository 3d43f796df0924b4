"""A window on a ramp is reported; slow noise around one value is not taken for a ramp."""

from __future__ import annotations

import numpy as np
import pytest

from slow_noise import slow_noise
from txop.stats.ramp import SHARE, STANDARD_ERRORS, ramp


@pytest.mark.parametrize(("n", "correlation", "most"), [(30, 0.9, 25), (100, 0.9, 10), (100, 0.6, 3), (30, 0.0, 2)])
def test_slow_noise_of_a_fifth_is_seldom_a_ramp(n: int, correlation: float, most: int) -> None:
    # the rule before this one, without the standard error: 44, 52, 6 and 2 of 100
    rng = np.random.default_rng(5)
    drawn = [1 + 0.2 * slow_noise(n, correlation, rng) for _ in range(100)]
    assert sum(ramp(x) is not None for x in drawn) <= most


@pytest.mark.parametrize("falls", [False, True])
@pytest.mark.parametrize("n", [10, 30, 100])
@pytest.mark.parametrize("kind", ["line", "levels off"])
def test_a_ramp_is_told_through_noise_of_a_twentieth(kind: str, n: int, falls: bool) -> None:
    t = np.linspace(0, 1, n)
    course = 0.6 + 0.4 * t if kind == "line" else 1 - 0.6 * np.exp(-3 * t)
    course = course[::-1] if falls and kind == "line" else 1.6 - course if falls else course
    rng = np.random.default_rng(6)
    found = [ramp(course * (1 + 0.05 * slow_noise(n, 0.6, rng))) for _ in range(50)]
    told = [each for each in found if each is not None]
    assert len(told) >= 48
    assert all((each.last < each.first) == falls and each.standard_errors > STANDARD_ERRORS for each in told)


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_the_unit_does_not_matter_and_a_line_without_noise_is_a_ramp(scale: float) -> None:
    found = ramp(scale * np.linspace(1, 2, 12))
    assert found is not None
    assert found.last / found.first == pytest.approx(1 + 8 / 11 / (1 + 1.5 / 11), rel=1e-9)


@pytest.mark.parametrize(
    "series", [[0.0] * 9, [5.0] * 9, [1.0, 2.0, 3.0, 4.0, 5.0], np.linspace(1, 1 + 0.9 * SHARE, 30)]
)
def test_what_is_constant_short_or_nearly_level_is_none(series: list[float]) -> None:
    assert ramp(series) is None

"""A window that jumps is reported, with where; neither slow noise around one value nor one odd sample is a jump."""

from __future__ import annotations

import math

import numpy as np
import pytest

from slow_noise import slow_noise
from txop.stats.ramp import SHARE
from txop.stats.step import STANDARD_ERRORS, step


def test_aggregation_that_begins_within_the_window_is_reported() -> None:
    # Mbit/s, second by second: rtl8192cu on the virtual RTL8188CUS from its association on (docs/guest.md)
    measured = [29.81, 26.07, 27.11, 25.54, 45.28, 40.69, 44.29, 38.08, 40.11, 43.32]
    found = step(measured)
    assert found is not None
    assert found.samples == 4
    assert (found.before, found.after) == (pytest.approx(27.13, abs=0.01), pytest.approx(41.96, abs=0.01))
    assert step(measured[4:]) is None


@pytest.mark.parametrize("falls", [False, True])
@pytest.mark.parametrize("n", [10, 30, 100])
def test_a_jump_is_told_through_noise_of_a_twentieth_with_its_place(n: int, falls: bool) -> None:
    levels = np.where(np.arange(n) < 2 * n // 5, 0.6, 1.0)
    rng = np.random.default_rng(6)
    found = [step((1.6 - levels if falls else levels) * (1 + 0.05 * slow_noise(n, 0.6, rng))) for _ in range(50)]
    told = [each for each in found if each is not None]
    assert len(told) >= 48
    assert all((each.after < each.before) == falls and each.standard_errors > STANDARD_ERRORS for each in told)
    assert sum(abs(each.samples - 2 * n // 5) <= 1 for each in told) >= 48


@pytest.mark.parametrize(("n", "correlation", "most"), [(30, 0.9, 25), (100, 0.9, 10), (100, 0.6, 3), (30, 0.0, 2)])
def test_slow_noise_of_a_fifth_is_seldom_a_jump(n: int, correlation: float, most: int) -> None:
    rng = np.random.default_rng(5)
    assert sum(step(1 + 0.2 * slow_noise(n, correlation, rng)) is not None for _ in range(100)) <= most


def test_one_odd_sample_is_no_jump() -> None:
    noise = np.random.default_rng(7).normal(0, 0.5, (2, 30))
    for at in range(30):
        x = 40 + noise[0]
        x[at] = 20.0
        assert step(x) is None


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_the_unit_does_not_matter(scale: float) -> None:
    found = step(scale * np.array([1.0] * 5 + [2.0] * 7))
    assert found is not None
    assert (found.before / scale, found.after / scale) == (pytest.approx(1), pytest.approx(2))
    assert (found.samples, found.standard_errors) == (5, math.inf)


@pytest.mark.parametrize(
    "series", [[0.0] * 9, [5.0] * 9, [1.0, 1.0, 2.0, 2.0, 2.0], [1.0] * 15 + [1 + 0.9 * SHARE] * 15]
)
def test_what_is_constant_short_or_nearly_level_is_none(series: list[float]) -> None:
    assert step(series) is None

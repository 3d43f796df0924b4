"""What is said of a run's throughput over time."""

from __future__ import annotations

import numpy as np
import pytest

from txop.measure.instrument import Points
from txop.measure.traffic.rates import added_up
from txop.measure.traffic.steadiness import dropout_words, dropouts, unsteady


def points(rates, warm_up: int = 5):
    return [(n - warm_up + 0.5, float(rate)) for n, rate in enumerate(rates)]


def noise(n: int, seed: int = 1, mean: float = 50.0, sd: float = 1.0):
    return mean + sd * np.random.default_rng(seed).standard_normal(n)


def test_a_steady_run_is_not_worth_a_word():
    said = [words for seed in range(300) for words in unsteady(points(noise(65, seed)), soak=False)]
    assert len(said) <= 9  # of 300 runs; MSER-5 alone would cut more than the warm-up in about 90


def test_a_warm_up_that_was_too_short_is_reported():
    rates = np.concatenate([noise(20, mean=30.0), noise(60)])
    (words,) = unsteady(points(rates), soak=False)
    assert words.startswith("the warm-up was too short: MSER-5 would begin ")
    assert 14 <= float(words.split("begin ")[1].split()[0]) <= 21
    assert "30." in words
    assert "50." in words


def test_a_slow_start_within_the_warm_up_is_not():
    rates = np.concatenate([[5, 20, 35, 45, 49], noise(60)])
    assert unsteady(points(rates), soak=False) == []


def test_an_unsteady_end_is_reported():
    rates = np.concatenate([noise(60), [50, 50, 50, 20, 10, 10, 5]])
    assert any("not steady at the end" in words for words in unsteady(points(rates), soak=False))


@pytest.mark.parametrize("n", [10, 20, 30])
def test_a_short_window_on_a_ramp_is_told_and_a_steady_one_is_not(n):
    (words,) = unsteady(points(np.linspace(81, 144, n) + noise(n, mean=0.0), 0), soak=False)
    assert words.startswith(("not settled: ", "not steady at the end"))
    assert sum(bool(unsteady(points(noise(n, seed), 0), soak=False)) for seed in range(100)) <= 3


def test_a_jump_within_a_short_window_is_told_and_one_within_the_warm_up_is_not():
    rates = np.concatenate([noise(5, mean=27.0), noise(7, mean=42.0)])
    (words,) = unsteady(points(rates, 1), soak=False)
    assert words.startswith("not settled: it jumped from 2")
    assert "after 4 of 11 intervals" in words
    assert unsteady(points(rates), soak=False) == []


def test_drift_over_a_soak_is_reported():
    rates = noise(3600) + np.linspace(0, -8, 3600)
    (words,) = unsteady(points(rates), soak=True)
    assert words.startswith("it fell with time: 49.")
    assert not any("with time" in words for words in unsteady(points(rates), soak=False))


@pytest.mark.parametrize("rates", [[], [50.0], [0.0] * 40, [50.0] * 65])
def test_too_little_and_constant_series(rates):
    assert unsteady(points(rates), soak=True) == []


def test_drop_outs_have_their_time_and_length():
    rates = [50.0] * 100
    for second in (20, 21, 22, 40, 41, 60, 61, 62, 63, 98, 99, 97):
        rates[second] = 0.0
    assert dropouts(points(rates, 0)) == [(20.0, 3.0), (60.0, 4.0), (97.0, 3.0)]
    assert dropout_words(dropouts(points(rates, 0))) == "nothing arrived for 3 s at 20 s, 4 s at 60 s, 3 s at 97 s"


def test_two_seconds_and_the_warm_up_are_no_drop_outs():
    rates = [0.0] * 5 + [50.0] * 20 + [0.0] * 2 + [50.0] * 20
    assert dropouts(points(rates)) == []


def test_flows_whose_reports_come_at_the_edges_of_steps_do_not_make_the_sum_dip():
    early_or_late = np.random.default_rng(1).uniform(-0.002, 0.002, 47)
    first: Points = [(0.1 + 0.2 * n, 10.0) for n in range(50)]
    second: Points = [(0.6 + 0.2 * n + float(late), 10.0) for n, late in enumerate(early_or_late)]
    rates = [rate for _, rate in added_up([first, second], 0.2)]
    assert rates[3:49] == [20.0] * 46


def test_a_light_load_is_not_written_as_nothing():
    n = 60
    (words,) = unsteady(points(np.linspace(0.02, 0.01, n), 0), soak=True)
    assert "0.0 Mbit/s" not in words
    assert "0.020 Mbit/s in the first tenth" in words

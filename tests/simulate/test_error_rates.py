"""The baseline against itself over simulated seeds: neighbouring seeds are as independent as distant ones."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest, wilcoxon

from txop import simulate

PAIRS = 10
CAMPAIGNS = 200
NOMINAL = 50 / 1024
"""How often the exact signed-rank test of ten pairs gives p <= 0.05 where nothing differs."""


@pytest.mark.slow
def test_an_arm_against_itself_is_called_different_as_often_as_it_may() -> None:
    goodput: list[float] = []
    for first in range(1, 2 * PAIRS * CAMPAIGNS, 200):
        settings = [("run.duration_s", "1"), ("run.warm_up_s", "0.5"), ("run.seed", str(first))]
        done = simulate.run("two-stations", settings=settings, seeds=200)
        found = [run.flows[0].goodput_mbit_s for run in done.points[0].runs]
        assert None not in found
        goodput += [value for value in found if value is not None]
    runs = np.array(goodput).reshape(CAMPAIGNS, PAIRS, 2)
    differences = runs[:, :, 0] - runs[:, :, 1]
    called = sum(wilcoxon(each).pvalue <= 0.05 for each in differences)
    assert binomtest(int(called), CAMPAIGNS, NOMINAL).pvalue > 0.001, called
    flat = runs.reshape(-1)
    half = len(flat) // 2
    neighbours, distant = np.std(flat[:-1:2] - flat[1::2]), np.std(flat[:half] - flat[half:])
    assert 0.9 < neighbours / distant < 1.1

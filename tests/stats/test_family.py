"""An effect that only the adjustment for several comparisons leaves open needs few more blocks, not hundreds."""

from __future__ import annotations

import numpy as np

from txop.stats.settings import ComparisonSettings
from txop.stats.verdict import compare_paired, with_holm


def test_blocks_needed_among_several_comparisons():
    noise = np.random.default_rng(1)
    rows = []
    for gain in (1.4, 2.9, 1.8, 2.6):
        baseline = 18 * np.exp(noise.normal(0, 0.15, 6))
        arm = baseline * gain * np.exp(noise.normal(0, 0.15, 6))
        rows.append(compare_paired(baseline, arm, ComparisonSettings(scale="ratio", better="higher", margin=3)))
    assert [row.verdict for row in rows] == ["better"] * 4
    # 6 blocks give no p below 1/32, and 4/32 is more than 5 %; 8 blocks can: 4/128.
    assert [(row.verdict, row.blocks_needed) for row in with_holm(rows)] == [("inconclusive", 8)] * 4

"""What a comparison of two arms on one metric found."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from txop.core.metrics import Better, Scale
from txop.stats import power
from txop.stats.drift import Drift
from txop.stats.limits import EXACT_PAIRS, EXACT_RUNS
from txop.stats.samples import significance_level
from txop.stats.skew import SignTest
from txop.stats.wording import p_is

DRIFT_P = 0.05
"""Below this p-value a drift of the difference is worth a warning."""

Verdict = Literal["better", "worse", "equivalent", "inconclusive"]


@dataclass(frozen=True)
class Comparison:
    """One metric, one arm against the baseline.

    Numbers are in percent on the ``ratio`` scale and in ``unit`` on the ``difference`` scale, arm against baseline:
    plus is more, whichever way is good.
    """

    baseline_name: str
    arm_name: str
    paired: bool
    scale: Scale
    """The scale used; ``difference`` in place of ``ratio`` where a value was not positive (a warning says so)."""
    unit: str
    """``%`` on the ratio scale."""
    better: Better | None
    """``None``: the metric explains and is not judged."""
    margin: float
    """Smallest effect that matters."""
    confidence: float
    n: int
    """Blocks; unpaired: runs of the smaller arm."""
    n_baseline: int
    n_arm: int
    estimate: float
    """Hodges-Lehmann estimate."""
    low: float | None
    """Lower end of the interval; ``None`` where there is none, for the reason in ``warnings``."""
    high: float | None
    attained_confidence: float | None
    p: float | None
    """Exact two-sided p-value, not adjusted; ``None`` for a single run."""
    p_adjusted: float | None
    """After :func:`with_holm`; ``None`` before."""
    points: tuple[float, ...]
    """Each block's own effect, in the order of the blocks; empty when unpaired."""
    marked: tuple[int, ...]
    """Positions (from 0) in ``points`` that lie far from the others. Nothing was excluded."""
    sd_d: float | None
    """Standard deviation of d over blocks; on the ratio scale 100 times that of the logarithm. ``None`` unpaired or n
    = 1."""
    drift: Drift | None
    """Rank correlation of block order and effect; ``None`` unpaired or with fewer than four blocks."""
    verdict: Verdict | None
    """``None`` for a metric that is not judged."""
    small_but_real: bool
    """Equivalent within the margin, and yet the difference is not chance."""
    notes: tuple[str, ...]
    """What must be known of how the samples were compared."""
    skewness: float | None = None
    """Skewness of d when it is strong, so that the signed-rank test does not quite hold; else ``None``."""
    sign: SignTest | None = None
    """What holds then: the median of d, in the unit of ``estimate``."""
    has_power: bool = True
    """The effect that could have been detected, and the blocks needed, are known: not of a p-value that was adjusted
    over label swaps."""
    family: int = 1
    """How many comparisons are judged together with it, itself included."""
    differences: tuple[float, ...] = ()
    """In pairs, each block's d on the axis of the comparison: a logarithm on the ratio scale."""
    samples: tuple[tuple[float, ...], tuple[float, ...]] = ((), ())
    """Unpaired: the values of both arms on that axis."""
    estimate_unmarked: float | None = None
    """The estimate without the ``marked`` ones; ``None`` where none are."""
    axis_margin: float = 0.0
    """The margin on that axis; of its two sides the smaller."""

    @property
    def smallest_detectable_effect(self) -> float | None:
        """What this many blocks with this ``sd_d`` show in 4 of 5 campaigns, judged in a family of ``family``, in the
        unit of the estimate; ``None`` where that is not known."""
        if not self.has_power or not self.paired or not self.sd_d:
            return None
        found = power.smallest_detectable_effect(self.n, self.sd_d, confidence=self.confidence, family=self.family)
        return power.as_change(found, ratio=self.scale == "ratio")

    @property
    def blocks_needed(self) -> int | None:
        """For an inconclusive pairing: blocks in all with which 4 of 5 such campaigns have a verdict
        (:func:`txop.stats.power.blocks_to_decide`); ``None`` where that is not known."""
        return self._deciding[0]

    @property
    def beyond_limit(self) -> bool:
        """Inconclusive, and more blocks than a campaign may have would be needed."""
        return self._deciding[1]

    @cached_property
    def _deciding(self) -> tuple[int | None, bool]:
        if self.verdict != "inconclusive" or not self.paired or not self.sd_d or self.margin == 0 or self.n < 2:
            return None, False
        if not self.has_power or not power.is_known(self.confidence):
            return None, False
        hundred, estimate = 1.0, self.estimate
        if self.scale == "ratio":
            hundred, estimate = 100.0, math.log1p(max(self.estimate, -99.999999) / 100)
        needed = power.blocks_to_decide(
            estimate,
            self.sd_d / hundred,
            self.n,
            margin=self.axis_margin,
            confidence=self.confidence,
            family=self.family,
        )
        return needed, needed is None

    @property
    def warnings(self) -> tuple[str, ...]:
        """All that a reader must know beside the numbers, in words; pairs are counted from 1."""
        return self.warnings_of(range(1, self.n + 1))

    def warnings_of(self, blocks: Sequence[int]) -> tuple[str, ...]:
        """The same with the numbers of the blocks that the pairs are of."""
        found = list(self.notes)
        if self.drift is not None and self.drift.p <= DRIFT_P:
            found.append(
                f"the effect {'grows' if self.drift.rho > 0 else 'falls'} from block to block (Spearman rho = "
                f"{self.drift.rho:+.2f}, {p_is(self.drift.p)}): the effect is not constant"
            )
        if self.skewness is not None and self.sign is not None:
            found.append(_skewed(self.skewness, self.sign, self.unit))
        if self.estimate_unmarked is not None:
            one = len(self.marked) == 1
            found.append(
                f"{'block' if one else 'blocks'} {', '.join(str(blocks[index]) for index in self.marked)} far from the "
                f"others; kept, and without {'it' if one else 'them'} the estimate is "
                f"{self.estimate_unmarked:+.3g} {self.unit}".rstrip()
            )
        return tuple(found)

    @property
    def exact(self) -> bool:
        """Whether the distributions were counted, and not taken to be normal."""
        return self.n <= EXACT_PAIRS if self.paired else max(self.n_baseline, self.n_arm) <= EXACT_RUNS

    @property
    def alpha(self) -> float:
        """Error rate: 1 - confidence."""
        return significance_level(self.confidence)


def _skewed(size: float, sign: SignTest, unit: str) -> str:
    ends = "no interval"
    if sign.low is not None and sign.high is not None and sign.attained_confidence is not None:
        ends = f"{sign.low:+.3g} to {sign.high:+.3g}, {100 * sign.attained_confidence:.1f} %"
    median = f"{sign.median:+.3g} {unit}".rstrip()
    return (
        f"the differences are strongly skewed (skewness {size:+.1f}), where the signed-rank test finds too many "
        f"differences and its interval is too short; the sign test holds: median {median} ({ends}), {p_is(sign.p)}"
    )

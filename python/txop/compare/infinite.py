"""Infinite figures, such as a quantile of round trips among the lost ones, in a comparison by ranks.

The method of :mod:`txop.stats` uses the size of a difference only through its rank and the averages of pairs of
differences. So an infinite figure can stand in it as a very large one, and what comes out is what the limit gives:

* infinite against finite: the largest difference of all, in that direction; several such blocks are tied;
* infinite against infinite: no difference;
* an estimate or an end of an interval that lies among the stand-ins is infinite; as a ratio, finite over infinite is
  -100 %.

What does not follow from ranks (the standard deviation, the smallest detectable effect, the blocks needed) is not
available then. No run is left out for it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from txop.stats.comparison import Comparison
from txop.stats.settings import ComparisonSettings
from txop.stats.verdict import compare_paired, compare_unpaired

_FAR = 1e3
"""How much farther out a stand-in lies than everything finite, as a factor on the scale of differences."""

_FAR_LOG = 150.0
"""On the scale of ratios: logarithm of how far a stand-in is. The method takes values up to e^230."""


@dataclass(frozen=True)
class JudgedComparison:
    """A comparison, and from where on its figures stand for infinity."""

    comparison: Comparison
    limit: float = math.inf
    """An effect this large, in the comparison's unit, is infinite."""
    low_limit: float = -math.inf

    def shown(self, value: float | None) -> float | None:
        """An effect with infinity put back in."""
        if value is None:
            return None
        if value >= self.limit:
            return math.inf
        return -math.inf if value <= self.low_limit else value


def compare_values(
    baseline: Sequence[float],
    arm: Sequence[float],
    settings: ComparisonSettings,
    *,
    paired: bool,
) -> JudgedComparison:
    """Compare two arms, with figures of which some may be ``math.inf``; in pairs, the i-th ones share a block.

    Raises:
        ValueError: as :func:`~txop.stats.verdict.compare_paired` does, infinities apart.
    """
    everything = [*baseline, *arm]
    endless = sum(map(math.isinf, everything))
    limit, low_limit, warnings = math.inf, -math.inf, []
    scale, margin = settings.scale, settings.margin
    if endless:
        finite = [value for value in everything if math.isfinite(value)]
        if scale == "ratio" and all(value > 0 for value in finite):
            logs = [math.log(value) for value in finite] or [0.0]
            middle = (min(logs) + max(logs)) / 2
            spread = max(logs) - min(logs)
            if spread >= _FAR_LOG / 3:
                raise ValueError("the finite figures are too different for a comparison with infinite ones")
            place = [(math.exp(math.log(v) - middle) if math.isfinite(v) else math.inf) for v in everything]
            stand_in = math.exp(_FAR_LOG)
            limit = 100 * math.expm1((_FAR_LOG - spread) / 2 * 0.999)
            none = 1.0
        else:
            known = [value for value in baseline if math.isfinite(value)] or [0.0]
            if scale == "ratio":
                margin *= abs(sorted(known)[len(known) // 2]) / 100
                warnings.append("some values are 0 or negative, so arms are compared by difference, not by ratio")
            spread = max(finite, default=0.0) - min(finite, default=0.0)
            far = _FAR * max(spread, 1.0)
            place = [v - min(finite, default=0.0) if math.isfinite(v) else v for v in everything]
            stand_in = far
            limit, low_limit = (far - spread) / 2 * 0.999, -(far - spread) / 2 * 0.999
            none, scale = 0.0, "difference"
        x, y = place[: len(baseline)], place[len(baseline) :]
        if paired:
            pairs = [_stand_in(a, b, none, stand_in) for a, b in zip(x, y, strict=True)]
            baseline, arm = [a for a, _ in pairs], [b for _, b in pairs]
        else:
            top = max((v for v in place if math.isfinite(v)), default=none)
            beyond = top * stand_in if scale == "ratio" else top + stand_in
            baseline = [beyond if math.isinf(v) else v for v in x]
            arm = [beyond if math.isinf(v) else v for v in y]
    settings = replace(settings, scale=scale, margin=margin)
    judged = (compare_paired if paired else compare_unpaired)(baseline, arm, settings)
    if not endless:
        return JudgedComparison(judged)
    runs = "figure is" if endless == 1 else "figures are"
    warnings.append(
        f"{endless} {runs} infinite (lost probes) and counted as larger than any finite one; "
        "how much noise there is, and what it lets one detect, cannot be determined"
    )
    return JudgedComparison(without_spread(judged, warnings), limit, low_limit)


def without_spread(comparison: Comparison, notes: Sequence[str] = ()) -> Comparison:
    """``comparison`` without what does not follow from ranks."""
    return replace(
        comparison,
        sd_d=None,
        skewness=None,
        sign=None,
        notes=(*notes, *comparison.notes),
    )


def _stand_in(baseline: float, arm: float, none: float, far: float) -> tuple[float, float]:
    """A pair without infinities: two values without a difference, or as far apart as nothing else."""
    if math.isinf(baseline) and math.isinf(arm):
        return none, none
    if math.isinf(arm):
        return none, far
    return (far, none) if math.isinf(baseline) else (baseline, arm)

"""Settings of a comparison: how a metric is compared, and what its sides are called."""

from __future__ import annotations

from dataclasses import dataclass

from txop.core.metrics import Better, Metric, Scale


@dataclass(frozen=True, kw_only=True)
class ComparisonSettings:
    """How two arms are compared on one metric."""

    scale: Scale
    better: Better | None
    margin: float
    """The smallest effect that matters: percent for a ratio, ``unit`` for a difference."""
    confidence: float = 0.95
    baseline_name: str = "baseline"
    arm_name: str = "arm"
    unit: str = ""
    in_time: bool = True
    """Off: the blocks are seeds of a computation with a result that does not depend on when it was made, so nothing can
    drift. Unpaired comparisons do not look for drift."""

    @classmethod
    def of(
        cls, metric: Metric, baseline: str, arm: str, *, confidence: float, in_time: bool = True
    ) -> ComparisonSettings:
        """Those of a metric, for two arms."""
        return cls(
            scale=metric.scale,
            better=metric.better,
            margin=metric.margin,
            confidence=confidence,
            baseline_name=baseline,
            arm_name=arm,
            unit="percentage points" if metric.unit == "%" else metric.unit,
            in_time=in_time,
        )

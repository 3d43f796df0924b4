"""A comparison as a flat table: a row for each figure and arm, and for each pair of arms that differ by one change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from txop.compare.result import CompareResult, DirectRow, Estimate
from txop.present.csv_cells import Cell

if TYPE_CHECKING:
    import polars

ROW_COLUMNS: dict[str, type[str | int | float | bool]] = {
    "figure": str,
    "role": str,
    "arm": str,
    "baseline": str,
    "paired": bool,
    "n": int,
    "baseline_median": float,
    "baseline_bound": str,
    "arm_median": float,
    "arm_bound": str,
    "unit": str,
    "estimate": float,
    "low": float,
    "high": float,
    "effect_unit": str,
    "confidence": float,
    "p": float,
    "p_adjusted": float,
    "adjustment": str,
    "sd_d": float,
    "smallest_detectable_effect": float,
    "margin": float,
    "verdict": str,
    "not_judged": str,
    "small_but_real": bool,
    "blocks_needed": int,
    "drift_rho": float,
    "drift_p": float,
    "n_with_voided": int,
    "estimate_with_voided": float,
    "low_with_voided": float,
    "high_with_voided": float,
    "warnings": str,
    "change": str,
    "given": str,
}
"""Columns of the rows of a comparison, and what is in each where it is not empty."""


def comparison_rows(result: CompareResult) -> Iterator[Sequence[Cell]]:
    """The rows of a comparison, in the order of :data:`ROW_COLUMNS`."""
    for figure in result.figures:
        medians = {values.arm: float("inf") if values.median_infinite else values.median for values in figure.arms}
        for row in (*figure.rows, *figure.direct):
            against = row.against if isinstance(row, DirectRow) else result.baseline
            voided = row.with_voided
            yield (
                figure.name,
                figure.role,
                row.arm,
                against,
                row.paired,
                row.n,
                row.baseline_median if row.baseline_median is not None else medians[against],
                row.bounds[0],
                row.arm_median if row.arm_median is not None else medians[row.arm],
                row.bounds[1],
                figure.metric.unit,
                *_ends(row),
                row.effect_unit,
                row.confidence,
                row.p,
                row.p_adjusted,
                row.adjustment,
                row.sd_d,
                row.smallest_detectable_effect,
                row.margin,
                row.verdict,
                row.not_judged,
                row.small_but_real,
                row.blocks_needed,
                row.drift.rho if row.drift else None,
                row.drift.p if row.drift else None,
                voided.n if voided else None,
                *(_ends(voided) if voided else (None, None, None)),
                "; ".join(row.warnings),
                row.change if isinstance(row, DirectRow) else None,
                "; ".join(row.given) if isinstance(row, DirectRow) else None,
            )


def _ends(estimate: Estimate) -> tuple[float | None, float | None, float | None]:
    """Estimate and interval, with their infinities."""
    infinity = {"above": float("inf"), "below": float("-inf"), None: None}[estimate.infinite]
    middle = estimate.estimate if infinity is None else infinity
    if estimate.confidence is None:
        return middle, None, None
    ways = {"above": float("inf"), "below": float("-inf")}
    low = ways[estimate.low_infinite or "below"] if estimate.low is None else estimate.low
    high = ways[estimate.high_infinite or "above"] if estimate.high is None else estimate.high
    return middle, low, high


def frame(result: CompareResult) -> polars.DataFrame:
    """The table as a polars frame; infinite figures are infinite, missing ones null."""
    import polars as pl

    kinds = {str: pl.String, int: pl.Int64, bool: pl.Boolean, float: pl.Float64}
    schema = {name: kinds[kind] for name, kind in ROW_COLUMNS.items()}
    return pl.DataFrame(list(comparison_rows(result)), schema=schema, orient="row")

"""Whether events were looked for in the throughput of a direction over time: without, none says nothing."""

from __future__ import annotations

from txop.air.model import Steadiness
from txop.present import format as fmt

_MIN_BINS = 10
_MIN_MBIT_S = 0.1
"""Bins beside the first and the last, and median, below which the engine looks for no events (steadiness.rs)."""


def not_sought(flow: Steadiness) -> str | None:
    """Why no events were looked for; ``None`` where they were."""
    if flow.events_sought:
        return None
    inner = max(len(flow.series) - 2, 0) if flow.median_bins is None else flow.median_bins
    if inner < _MIN_BINS:
        return (
            f"{fmt.plural(inner, 'bin')} between the first and the last {'was' if inner == 1 else 'were'} observed, "
            f"and at least {_MIN_BINS} are needed"
        )
    if flow.median_mbit_s is None or flow.median_mbit_s < _MIN_MBIT_S:
        return f"the median is below {fmt.mbit_s(_MIN_MBIT_S)}, which leaves nothing to drop from"
    return None

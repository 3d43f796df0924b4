"""Writes the tables of ``docs/metrics.md``: ``python -m txop.campaign.metrics_reference docs/metrics.md``."""

from __future__ import annotations

import sys
from pathlib import Path

from txop.campaign.gates import GATES
from txop.core.metrics import METRICS, Metric
from txop.present.field_reference import marker, renew

MODULE = "txop.campaign.metrics_reference"
MARKER = marker(MODULE)


def reference() -> str:
    """The Markdown of the tables."""
    metrics = "\n".join(_metric(metric) for metric in METRICS.values())
    gates = "\n".join(
        f"| `{gate.key}` | {gate.void_when} | {gate.seen_by} | {f'`{gate.setting}`' if gate.setting else '–'} |"
        for gate in GATES.values()
    )
    return (
        "## Metrics\n\n| metric | unit | better | compared as | margin | definition |\n"
        f"| --- | --- | --- | --- | --- | --- |\n{metrics}\n\n"
        "## Gates\n\n| gate | void when | seen by | setting |\n"
        f"| --- | --- | --- | --- |\n{gates}\n"
    )


def _metric(metric: Metric) -> str:
    better = metric.better or "explains"
    margin_unit = "%" if metric.scale == "ratio" else metric.unit
    margin = f"{metric.margin:g} {margin_unit}".strip()
    cells = (f"`{metric.key}`", metric.unit or "–", better, metric.scale, margin, metric.definition)
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    renew(Path(sys.argv[1]), MODULE, reference)

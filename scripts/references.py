"""Writes what pages say of every key, metric, field and column, from the models that the program works with:
docs/plan-keys.md, plan-guest-keys.md, metrics.md, archive.md, compare.md and counters.md, each below its marker line.

`.venv/bin/python scripts/references.py`; a test runs it with `--check` and compares."""

from __future__ import annotations

import sys
from pathlib import Path

import plan_reference
from field_reference import field_tables

from txop.archive.derived import tables
from txop.campaign.gates import GATES
from txop.core.metrics import METRICS, Metric
from txop.counters.conclusions import NEEDS
from txop.counters.meanings import DRIVERS, MEANINGS

DOCS = Path(__file__).parents[1] / "docs"
MARKER = "<!-- Below this line: written by scripts/references.py; change the models instead. -->"


def archive() -> str:
    """The fields of the files of a run, and the columns of derived tables."""
    parts = ["## `run.json` and `series.json`, field by field", "", field_tables("txop.archive.run_file")]
    parts += ["## `derived/`, column by column", ""]
    for name, (schema, _) in tables().items():
        parts += [f"### {name}.parquet", "", "| column | type |", "| --- | --- |"]
        parts += [f"| `{column}` | {kind} |" for column, kind in schema().items()]
        parts.append("")
    return "\n".join(parts)


def compare() -> str:
    """The fields of a comparison."""
    return f"## Fields\n\n{field_tables('txop.compare.result')}"


def counters() -> str:
    """What figures of counters mean, what conclusions need, and the fields of the report."""
    rows = [
        f"| `{code}` | {each.title} | {each.unit or '–'} | {each.means} | {each.source} |"
        for code, each in MEANINGS.items()
    ]
    special = [
        f"| `{driver}` | `{code}` | {means} | {source} |"
        for driver, by_code in DRIVERS.items()
        for code, (means, source) in by_code.items()
    ]
    needs = [f"| `{code}` | {words} |" for code, words in NEEDS.items()]
    return "\n".join(
        [
            *(
                "## Figures",
                "",
                "| code | figure | unit | what is counted | source |",
                "| --- | --- | --- | --- | --- |",
            ),
            *(*rows, "", "## Drivers that count otherwise", ""),
            "By the name that `ethtool -i` has of the driver.",
            *("", "| driver | figure | what is counted | source |", "| --- | --- | --- | --- |", *special, ""),
            *("## Conclusions", "", "| code | needs |", "| --- | --- |", *needs, ""),
            *("## Fields", "", field_tables("txop.counters.report")),
        ]
    )


def metrics() -> str:
    """Metrics and gates."""
    rows = "\n".join(_metric(metric) for metric in METRICS.values())
    gates = "\n".join(
        f"| `{gate.key}` | {gate.void_when} | {gate.seen_by} | {f'`{gate.setting}`' if gate.setting else '–'} |"
        for gate in GATES.values()
    )
    return (
        "## Metrics\n\n| metric | unit | better | compared as | margin | definition |\n"
        f"| --- | --- | --- | --- | --- | --- |\n{rows}\n\n"
        "## Gates\n\n| gate | void when | seen by | setting |\n"
        f"| --- | --- | --- | --- |\n{gates}\n"
    )


def _metric(metric: Metric) -> str:
    better = metric.better or "explains"
    margin_unit = "%" if metric.scale == "ratio" else metric.unit
    margin = f"{metric.margin:g} {margin_unit}".strip()
    cells = (f"`{metric.key}`", metric.unit or "–", better, metric.scale, margin, metric.definition)
    return f"| {' | '.join(cells)} |"


PAGES = {
    "archive.md": archive,
    "compare.md": compare,
    "counters.md": counters,
    "metrics.md": metrics,
    "plan-guest-keys.md": plan_reference.guest_reference,
    "plan-keys.md": plan_reference.reference,
}


def main() -> int:
    """0 where every page is written, or with ``--check`` was up to date."""
    outdated = []
    for name, reference in PAGES.items():
        page = DOCS / name
        text = page.read_text(encoding="utf-8")
        before, marker, _ = text.partition(MARKER)
        if not marker:
            raise SystemExit(f"{page} has no marker line: {MARKER}")
        renewed = f"{before}{MARKER}\n\n{reference()}"
        if renewed != text:
            outdated.append(name)
            if "--check" not in sys.argv[1:]:
                page.write_text(renewed, encoding="utf-8")
    if outdated and "--check" in sys.argv[1:]:
        print(f"not up to date with the models: {', '.join(outdated)}; run scripts/references.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

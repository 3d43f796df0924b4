"""Writes the field reference in ``docs/archive.md``: ``python -m txop.archive.reference docs/archive.md``."""

from __future__ import annotations

import sys
from pathlib import Path

from txop.archive.derived import tables
from txop.present.field_reference import field_tables, marker, renew

MODULE = "txop.archive.reference"
MARKER = marker(MODULE)


def reference() -> str:
    """The Markdown of the reference."""
    parts = ["## `run.json` and `series.json`, field by field", "", field_tables("txop.archive.run_file")]
    parts += ["## `derived/`, column by column", ""]
    for name, (schema, _) in tables().items():
        parts += [f"### {name}.parquet", "", "| column | type |", "| --- | --- |"]
        parts += [f"| `{column}` | {kind} |" for column, kind in schema().items()]
        parts.append("")
    return "\n".join(parts)


if __name__ == "__main__":
    renew(Path(sys.argv[1]), MODULE, reference)

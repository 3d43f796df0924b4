"""Writes the field reference in ``docs/compare.md``: ``python -m txop.compare.reference docs/compare.md``."""

from __future__ import annotations

import sys
from pathlib import Path

from txop.present.field_reference import field_tables, marker, renew

MODULE = "txop.compare.reference"
MARKER = marker(MODULE)


def reference() -> str:
    """The Markdown of the reference."""
    return f"## Fields\n\n{field_tables('txop.compare.result')}"


if __name__ == "__main__":
    renew(Path(sys.argv[1]), MODULE, reference)

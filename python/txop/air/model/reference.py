"""Writes the field reference in ``docs/air-json.md`` from the models of this package.

``python -m txop.air.model.reference docs/air-json.md`` replaces everything after the marker line in that file.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from txop.air import compare
from txop.present.document import Model
from txop.present.field_reference import marker, renew
from txop.present.model_reference import model_table, models_of

MODULE = "txop.air.model.reference"
MARKER = marker(MODULE)

_PARTS = (
    ("txop.air.model.report", ("AirReport",)),
    ("txop.present.sentence", ()),
    ("txop.air.model.summary", ()),
    ("txop.present.window", ("Window",)),
    ("txop.air.model.hearing", ()),
    ("txop.air.model.events", ()),
    ("txop.air.model.logs", ()),
    ("txop.air.model.timing", ()),
    ("txop.air.model.station", ()),
    ("txop.air.model.access_point", ()),
    ("txop.air.model.exchange", ()),
    ("txop.air.model.multi_user", ()),
    ("txop.air.model.medium", ()),
    ("txop.air.model.capability", ()),
    ("txop.air.model.traffic", ()),
)
"""Modules in the order of the reference, with the classes to show (none named: all)."""


def reference() -> str:
    """The Markdown of the reference."""
    parts = [model_table(*pair) for pair in classes()]
    side = [model_table(*pair) for pair in models_of(compare.__name__, ("Comparison", "Capture", "Difference"))]
    return "\n".join(["## Fields", "", *parts, "## Fields of `txop-air-compare`", "", *side])


def classes() -> Iterator[tuple[type[Model], dict[str, str]]]:
    """Every class of the ``txop-air`` document with the descriptions of its fields."""
    for module, names in _PARTS:
        yield from models_of(module, names)


if __name__ == "__main__":
    renew(Path(sys.argv[1]), MODULE, reference)

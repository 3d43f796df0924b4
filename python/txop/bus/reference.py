"""Writes the field reference in ``docs/bus-json.md`` from the models of this package.

``python -m txop.bus.reference docs/bus-json.md`` replaces everything after the marker line in that file.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from txop.present.document import Model
from txop.present.field_reference import marker, renew
from txop.present.model_reference import model_table, models_of

MODULE = "txop.bus.reference"
MARKER = marker(MODULE)


def classes() -> Iterator[tuple[type[Model], dict[str, str]]]:
    """Every class of the ``txop-bus`` document with the descriptions of its fields, the whole report first."""
    own = sorted(models_of("txop.bus.model"), key=lambda pair: pair[0].__name__ != "BusReport")
    return iter([*own, *models_of("txop.present.window", ("Window",))])


def reference() -> str:
    """The Markdown of the reference."""
    parts = [model_table(item, docs) for item, docs in classes()]
    side = [model_table(*pair) for pair in models_of("txop.bus.compare", ("Comparison", "Capture", "Difference"))]
    return "\n".join(["## Fields", "", *parts, "## Fields of `txop-bus-compare`", "", *side])


if __name__ == "__main__":
    renew(Path(sys.argv[1]), MODULE, reference)

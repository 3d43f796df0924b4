"""Writes the field reference in ``docs/air-json.md`` from the models of this package.

``python -m txop.air.model.reference docs/air-json.md`` replaces everything after the marker line in that file.
"""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

from txop.air import compare
from txop.report.document import Model

MARKER = "<!-- Below this line: written by python -m txop.air.model.reference; change the models instead. -->"

_PARTS = (
    ("txop.air.model.report", ("AirReport",)),
    ("txop.air.model.summary", ()),
    ("txop.air.model.timing", ()),
    ("txop.air.model.station", ()),
    ("txop.air.model.exchange", ()),
    ("txop.air.model.medium", ()),
    ("txop.air.model.capability", ()),
)
"""Modules in the order of the reference, with the classes to show (none named: all)."""

_UNITS = {
    "_us": "µs", "_mbit_s": "Mbit/s", "mbit_s": "Mbit/s", "_dbm": "dBm", "_mhz": "MHz", "_bytes": "bytes",
    "bytes": "bytes",
    "_unix_s": "s", "percent": "%", "share": "fraction", "in_window": "fraction", "confidence": "fraction",
    "bytes_sent": "bytes", "snap_lengths": "bytes", "offset": "bytes", "variation": "ratio", "distance": "bits",
    "bitmap_bits": "bits",
}  # fmt: skip


def reference() -> str:
    """The Markdown of the reference."""
    parts = [_class(item, docs) for item, docs in classes()]
    side = [
        _class(item, docs) for item, docs in _module_classes(compare.__name__, ("Comparison", "Capture", "Difference"))
    ]
    return "\n".join(["## Fields", "", *parts, "## Fields of `txop-air-compare`", "", *side])


def classes() -> Iterator[tuple[type[Model], dict[str, str]]]:
    """Every class of the ``txop-air`` document with the descriptions of its fields."""
    for module, names in _PARTS:
        yield from _module_classes(module, names)


def _module_classes(module: str, names: tuple[str, ...]) -> Iterator[tuple[type[Model], dict[str, str]]]:
    loaded = importlib.import_module(module)
    tree = ast.parse(Path(str(loaded.__file__)).read_text(encoding="utf-8"))
    for node in tree.body:
        item = getattr(loaded, node.name) if isinstance(node, ast.ClassDef) else None
        if isinstance(node, ast.ClassDef) and isinstance(item, type) and issubclass(item, Model):
            if names and node.name not in names:
                continue
            yield item, _descriptions(node)


def _descriptions(node: ast.ClassDef) -> dict[str, str]:
    found = {}
    for statement, following in zip(node.body, node.body[1:], strict=False):
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            text = following.value if isinstance(following, ast.Expr) else None
            if isinstance(text, ast.Constant) and isinstance(text.value, str):
                found[statement.target.id] = " ".join(text.value.split())
    return found


def _class(item: type[Model], docs: dict[str, str]) -> str:
    lines = [f"### {item.__name__}", "", " ".join((item.__doc__ or "").split()), "",
             "| field | type | unit | meaning |", "| --- | --- | --- | --- |"]  # fmt: skip
    for name in item.model_fields:
        kind = _kind(item, name)
        lines.append(f"| `{name}` | {kind} | {_unit(name, kind)} | {docs[name].replace('|', chr(92) + '|')} |")
    return "\n".join([*lines, ""])


def _kind(item: type[Model], name: str) -> str:
    annotation = str(item.__annotations__[name])
    text = annotation.replace(" | None", " or null").replace("str", "text").replace("int", "integer")
    text = text.replace("bool", "true/false").replace("float", "number")
    return text.replace("list[", "list of ").replace("]", "")


def _unit(name: str, kind: str) -> str:
    for suffix, unit in _UNITS.items():
        if name == suffix or (suffix.startswith("_") and name.endswith(suffix)) or name.endswith("_" + suffix):
            return unit
    return "count" if kind.startswith("integer") and name not in ("version", "number", "channel", "tid") else ""


def main(path: Path) -> None:
    """Renew the reference in ``path``."""
    before, marker, _ = path.read_text(encoding="utf-8").partition(MARKER)
    if not marker:
        raise SystemExit(f"{path} has no marker line: {MARKER}")
    path.write_text(f"{before}{MARKER}\n\n{reference()}", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

"""Tables of the fields of a report, with their units, made from its models (:class:`txop.present.document.Model`)."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from txop.plan.schema import field_texts
from txop.present.document import Model

_UNITS = {
    "_us": "µs", "_ns": "ns", "_mbit_s": "Mbit/s", "mbit_s": "Mbit/s", "_dbm": "dBm", "_mhz": "MHz", "_bytes": "bytes",
    "bytes": "bytes",
    "_unix_s": "s", "percent": "%", "share": "fraction", "in_window": "fraction", "confidence": "fraction",
    "bytes_sent": "bytes", "snap_lengths": "bytes", "offset": "bytes", "variation": "ratio", "distance": "bits",
    "bitmap_bits": "bits",
}  # fmt: skip
_KINDS = {"str": "text", "int": "integer", "bool": "true/false", "float": "number"}


def models_of(module: str, names: Sequence[str] = ()) -> Iterator[tuple[type[Model], dict[str, str]]]:
    """The models in ``module`` with the descriptions of their fields, in its order: all of them, or those named."""
    loaded = importlib.import_module(module)
    tree = ast.parse(Path(str(loaded.__file__)).read_text(encoding="utf-8"))
    for node in tree.body:
        item = getattr(loaded, node.name) if isinstance(node, ast.ClassDef) else None
        if isinstance(node, ast.ClassDef) and isinstance(item, type) and issubclass(item, Model):
            if names and node.name not in names:
                continue
            yield item, field_texts(node)


def model_table(item: type[Model], docs: dict[str, str]) -> str:
    """The Markdown table of a model: a row for each field with its type, its unit, and what it means."""
    lines = [f"### {item.__name__}", "", " ".join((item.__doc__ or "").split()), "",
             "| field | type | unit | meaning |", "| --- | --- | --- | --- |"]  # fmt: skip
    for name in item.model_fields:
        kind = _kind(item, name)
        shown = item.model_fields[name].alias or name
        lines.append(f"| `{shown}` | {kind} | {_unit(name, kind)} | {docs[name].replace('|', chr(92) + '|')} |")
    return "\n".join([*lines, ""])


def _kind(item: type[Model], name: str) -> str:
    annotation = str(item.__annotations__[name])
    text = annotation.replace(" | None", " or null").replace("list[", "list of ").replace("]", "")
    return re.sub(r"\b(?:str|int|bool|float)\b", lambda found: _KINDS[found[0]], text)


def _unit(name: str, kind: str) -> str:
    for suffix, unit in _UNITS.items():
        if name == suffix or (suffix.startswith("_") and name.endswith(suffix)) or name.endswith("_" + suffix):
            return unit
    return "count" if kind.startswith("integer") and name not in ("version", "number", "channel", "tid") else ""

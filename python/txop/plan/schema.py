"""The JSON Schema of plans (draft 2020-12), for editors and for "did you mean". Its words are the docstrings."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from types import ModuleType
from typing import Any

from pydantic import BaseModel

from txop.plan import (
    allowed_rates,
    arm,
    guest,
    guest_access_point,
    guest_air,
    guest_card,
    guest_function,
    measurement,
    model,
    target,
)
from txop.plan.locate import Path
from txop.plan.model import Plan

DIALECT = "https://json-schema.org/draft/2020-12/schema"
HINT = "#:schema ./txop-plan.schema.json"
"""First line of a plan for editors that use taplo: the file that ``txop plan schema > txop-plan.schema.json`` makes."""


@cache
def schema() -> dict[str, Any]:
    """The schema; not to be changed."""
    document = Plan.model_json_schema()
    described = all_descriptions()
    for name, definition in [*document["$defs"].items(), ("Plan", document)]:
        about = described.get(name)
        if about is None:
            continue
        definition["description"] = plain(about.text)
        for key, sub in definition.get("properties", {}).items():
            if words := about.field(key):
                sub["description"] = plain(words)
            sub.pop("title", None)
    return {
        "$schema": DIALECT,
        **document,
        "title": "txop plan",
        "description": "What to measure, on what, how often.",
    }


class ClassDocs:
    """What the source says of a class: its docstring, and the docstring under each field."""

    def __init__(self, item: type[BaseModel], fields: Mapping[str, str], described: Mapping[str, ClassDocs]) -> None:
        self.item = item
        self.text = " ".join((item.__doc__ or "").split())
        self._fields = fields
        self._bases = [described[base.__name__] for base in item.__bases__ if base.__name__ in described]

    def field(self, name: str) -> str | None:
        """What is written under a field, here or in a base class."""
        if name in self._fields:
            return self._fields[name]
        return next((words for base in self._bases if (words := base.field(name))), None)


def all_descriptions() -> dict[str, ClassDocs]:
    """Every model class that a plan is made of."""
    found: dict[str, ClassDocs] = {}
    for module in (
        allowed_rates,
        guest_access_point,
        guest_air,
        guest_card,
        guest_function,
        target,
        guest,
        arm,
        measurement,
        model,
    ):
        for item, node in models(module):
            found[node.name] = ClassDocs(item, field_texts(node), found)
    return found


def models(module: ModuleType) -> Iterator[tuple[type[BaseModel], ast.ClassDef]]:
    """Every model class that a module defines, in the order of the source."""
    for node in ast.parse(inspect.getsource(module)).body:
        item = getattr(module, node.name, None) if isinstance(node, ast.ClassDef) else None
        if isinstance(node, ast.ClassDef) and isinstance(item, type) and issubclass(item, BaseModel):
            yield item, node


def plain(text: str) -> str:
    """Docstring markup taken off.

    >>> plain("Loaded with ``modprobe``.")
    'Loaded with modprobe.'
    """
    return re.sub(r"``([^`]*)``", r"\1", text)


def nodes(path: Path, raw: Any) -> list[dict[str, Any]]:
    """The parts of the schema that speak about ``path`` of the document ``raw``; several when it may be of several
    types, none when nothing may be there."""
    found = [schema()]
    value = raw
    for part in path:
        found = [sub for node in found for sub in _below(node, part, value)]
        value = _inside(value, part)
    return [option for node in found for option in _options(node, value)]


def allowed_keys(path: Path, raw: Any) -> list[str]:
    """Keys that may stand in the table at ``path``."""
    return [key for node in nodes(path, raw) for key in node.get("properties", {})]


def allowed_values(path: Path, raw: Any) -> list[str]:
    """Texts that may stand at ``path``, when they are listed."""
    found: list[str] = []
    for node in nodes(path, raw):
        found += [value for value in [*node.get("enum", ()), node.get("const")] if isinstance(value, str)]
    return list(dict.fromkeys(found))


def kinds(path: Path, raw: Any) -> list[str]:
    """Values that ``kind`` may have in the table at ``path``, when it decides what the table is."""
    found = [schema()]
    value = raw
    for part in path:
        found = [sub for node in found for sub in _below(node, part, value)]
        value = _inside(value, part)
    return [kind for node in found for kind in _resolved(node).get("discriminator", {}).get("mapping", {})]


def _inside(value: Any, part: str | int) -> Any:
    if isinstance(value, list):
        return value[part] if isinstance(part, int) and part < len(value) else None
    return value.get(part) if isinstance(value, dict) else None


def _below(node: dict[str, Any], part: str | int, value: Any) -> list[dict[str, Any]]:
    found = []
    for option in _options(node, value):
        if isinstance(part, int):
            sub = option.get("items")
        else:
            sub = option.get("properties", {}).get(part) or option.get("additionalProperties")
            if sub is None and option.get("patternProperties"):
                sub = next(iter(option["patternProperties"].values()))
        if isinstance(sub, dict):
            found.append(sub)
    return found


def _options(node: dict[str, Any], value: Any) -> list[dict[str, Any]]:
    node = _resolved(node)
    mapping = node.get("discriminator", {}).get("mapping")
    if mapping is not None:
        kind = value.get("kind") if isinstance(value, dict) else None
        chosen = mapping.get(kind) if isinstance(kind, str) else None
        return [_resolved({"$ref": chosen})] if chosen else []
    several: Sequence[dict[str, Any]] = node.get("anyOf") or node.get("oneOf") or ()
    return [option for sub in several for option in _options(sub, value)] if several else [node]


def _resolved(node: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in node:
        node = schema()["$defs"][node["$ref"].rpartition("/")[2]]
    return node


def field_texts(node: ast.ClassDef) -> dict[str, str]:
    """What is written under the annotated fields of a class, by their names."""
    found = {}
    for statement, following in zip(node.body, node.body[1:], strict=False):
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            text = following.value if isinstance(following, ast.Expr) else None
            if isinstance(text, ast.Constant) and isinstance(text.value, str):
                found[statement.target.id] = " ".join(text.value.split())
    return found

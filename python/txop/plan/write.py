"""A plan as TOML, for plans that are made of other plans. What is at its default stays out."""

from __future__ import annotations

import json
import re
from typing import Any

from txop.plan.model import Plan

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def plan_text(plan: Plan) -> str:
    """The text of a plan; reading it gives the same plan.

    Raises:
        ValueError: A value has no form in TOML, such as infinity in place of a number of the plan.
    """
    tables = plan.model_dump(mode="json", exclude_unset=True, exclude_none=True)
    rows: list[str] = []
    for key, value in tables.items():
        if not isinstance(value, dict) and not _is_tables(value):
            rows.append(f"{_key(key)} = {_value(value)}")
    for key, value in tables.items():
        if isinstance(value, dict):
            inner = value.items()
            if key == "target":
                for name, target in inner:
                    rows += ["", f"[target.{_key(name)}]", *_lines(target)]
            else:
                rows += ["", f"[{_key(key)}]", *_lines(value)]
        elif _is_tables(value):
            for each in value:
                rows += ["", f"[[{_key(key)}]]", *_lines(each)]
    return "\n".join(rows) + "\n"


def _is_tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(each, dict) for each in value)


def _lines(table: dict[str, Any]) -> list[str]:
    return [f"{_key(key)} = {_value(value)}" for key, value in table.items()]


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _text(key)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):
            raise ValueError(f"{value} has no place in a plan")
        return repr(value)
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, dict):
        inside = ", ".join(f"{_key(key)} = {_value(each)}" for key, each in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    raise ValueError(f"{value!r} has no form in TOML")


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")

"""Validation errors explained for the author of a plan."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from pydantic_core import ErrorDetails

from txop.core.nearest import did_you_mean, nearest
from txop.plan import schema
from txop.plan.locate import Path

"""How many alternatives are listed."""

_PATTERNS = {
    "^[a-z0-9][a-z0-9_]*(-[a-z0-9_]+)*$": "must be lower-case letters and digits, with - and _ between them",
    "^[A-Za-z0-9][A-Za-z0-9_-]*$": "must be a name of letters, digits, - and _",
    r"^[A-Za-z0-9_][^\s/:]*$": "must be the name of a network interface",
    r"^[A-Za-z0-9_\[][A-Za-z0-9._:%\[\]-]*$": "must be a host name or an IP address",
    r"^[A-Za-z0-9_\[][A-Za-z0-9._:%@\[\]-]*$": "must be [user@]host[:port]",
    r"^[a-z0-9][a-z0-9_-]*\.[a-z0-9_]+$": "must be TEST.METRIC, as in tx.throughput_mbit_s",
    r"^[^\x00]*$": "must not hold a NUL character",
}

_PLAIN = {
    "missing": "is missing",
    "string_type": "must be a text",
    "bool_type": "must be true or false",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "list_type": "must be a list",
    "dict_type": "must be a table",
    "model_type": "must be a table",
    "model_attributes_type": "must be a table",
    "finite_number": "must be a finite number",
}


def explain(errors: Iterable[ErrorDetails], raw: Any) -> list[tuple[Path, str, str | None]]:
    """Path, message and what to do for each place of ``raw`` that is wrong, in the order of ``errors``."""
    grouped: dict[Path, list[tuple[str, str | None]]] = {}
    for error in errors:
        path = _path(error, raw)
        said = _said(error, path, raw)
        if said not in grouped.setdefault(path, []):
            grouped[path].append(said)
    return [(path, *_joined(said)) for path, said in grouped.items()]


def _path(error: ErrorDetails, raw: Any) -> Path:
    """The location within the document: pydantic also names union members, which are not keys of it."""
    path: list[str | int] = []
    value = raw
    location = list(error["loc"])
    while location:
        part = location.pop(0)
        if isinstance(value, dict) and part in value:
            path.append(part)
            value = value[part]
            tagged = len(path) == 2 and path[0] == "target" and isinstance(value, dict)
        elif isinstance(value, list) and isinstance(part, int) and part < len(value):
            path.append(part)
            value = value[part]
            tagged = len(path) == 2 and path[0] == "test" and isinstance(value, dict)
        elif error["type"] == "missing" and not location:
            path.append(part)
            break
        elif isinstance(value, dict | list):
            continue
        else:
            break
        if tagged and location and location[0] == value.get("kind"):
            location.pop(0)
    if error["type"] in ("union_tag_invalid", "union_tag_not_found"):
        path.append("kind")
    return tuple(path)


def _said(error: ErrorDetails, path: Path, raw: Any) -> tuple[str, str | None]:
    kind, context = error["type"], error.get("ctx", {})
    if error["loc"] and error["loc"][-1] == "[key]":
        return _pattern(context).replace("must be", "a key here must be"), None
    if kind == "extra_forbidden":
        keys = schema.allowed_keys(path[:-1], raw)
        return "no such key", did_you_mean(str(path[-1]), keys)
    if kind in ("union_tag_invalid", "union_tag_not_found"):
        known = schema.kinds(path[:-1], raw)
        if kind == "union_tag_not_found":
            return "is missing", f"choose from {', '.join(known)}"
        asked = str(context.get("tag"))
        near, all_kinds = nearest(asked, known), ", ".join(known)
        advice = f"choose from {all_kinds}" if near is None else f'did you mean "{near}"? The kinds are {all_kinds}'
        return f'unknown kind of {path[0]} "{asked}"', advice
    if kind == "literal_error":
        value = error["input"]
        known = schema.allowed_values(path, raw)
        if isinstance(value, str) and known:
            return f'"{value}" is not allowed', did_you_mean(value, known)
        return f"must be {context.get('expected')}", None
    if kind == "missing" and path and isinstance(path[-1], str):
        return "is missing", None
    if kind == "string_pattern_mismatch":
        return _pattern(context), None
    if kind in _PLAIN:
        return _PLAIN[kind], None
    if kind == "value_error":
        return str(context.get("error", error["msg"])), None
    return _bound(kind, context) or error["msg"], None


def _pattern(context: dict[str, Any]) -> str:
    pattern = str(context.get("pattern"))
    return _PATTERNS.get(pattern, f"must match {pattern}")


def _bound(kind: str, context: dict[str, Any]) -> str | None:
    words = {
        "greater_than": ("gt", "must be more than {}"),
        "greater_than_equal": ("ge", "must be at least {}"),
        "less_than": ("lt", "must be less than {}"),
        "less_than_equal": ("le", "must be at most {}"),
        "too_short": ("min_length", "must have at least {} entries"),
        "too_long": ("max_length", "must have at most {} entries"),
        "string_too_long": ("max_length", "must have at most {} characters"),
        "string_too_short": ("min_length", "must have at least {} characters"),
    }.get(kind)
    if words is None:
        return None
    limit = context.get(words[0])
    text = words[1].format(f"{limit:g}" if isinstance(limit, float) else limit)
    return text.replace("1 entries", "one entry") if text.endswith(" 1 entries") else text


def _joined(said: Sequence[tuple[str, str | None]]) -> tuple[str, str | None]:
    """Messages of several members of a union, as one: "must be a text, a whole number or true or false"."""
    messages = [message for message, _ in said]
    action = next((action for _, action in said if action), None)
    if len(messages) > 1 and all(message.startswith("must be ") for message in messages):
        rest = [message.removeprefix("must be ") for message in messages]
        return f"must be {', '.join(rest[:-1])} or {rest[-1]}", action
    return "; ".join(messages), action

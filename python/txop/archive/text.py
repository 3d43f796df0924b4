"""Text that can be stored: what other programs print may hold what no UTF-8 file can."""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass
from typing import Any

from pydantic import BaseModel

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def storable(value: Any) -> Any:
    r"""``value`` with U+FFFD in place of every lone surrogate, in strings however deep in lists and tables.

    JSON has escapes for them (RFC 8259, section 8.2), so any tool can send one, and UTF-8 has none (RFC 3629,
    section 3).

    >>> storable({"error": ["bad \ud800"]})
    {'error': ['bad \ufffd']}
    """
    if isinstance(value, str):
        return _LONE_SURROGATE.sub("\N{REPLACEMENT CHARACTER}", value)
    if isinstance(value, dict):
        return {storable(key): storable(each) for key, each in value.items()}
    if isinstance(value, BaseModel):
        return storable(dict(value))
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: storable(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, list | tuple):
        return [storable(each) for each in value]
    return value

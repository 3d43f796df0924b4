"""A few members of an analyzer's document, read without models, for documents that are only passed on.

The document is what this program's own analyzer just wrote, and may have megabytes. Models of it take longer than most
captures do.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from txop.formats.error import FormatError

if TYPE_CHECKING:
    from txop.present.report_parts import Window


@dataclass(frozen=True)
class Damage:
    """Where reading stopped."""

    offset: int
    message: str


@dataclass(frozen=True)
class SummaryOutline:
    """What of a report's summary decides the exit code, and its explanation."""

    unreadable: int
    unreadable_examples: list[str]
    damage: Damage | None
    window: Window | None


def outlined(summary: dict[str, Any]) -> SummaryOutline:
    """The outline of a summary. Raises ``KeyError`` where it has other members."""
    damage, window = summary["damage"], summary["window"]
    return SummaryOutline(
        summary["unreadable"],
        summary["unreadable_examples"],
        None if damage is None else Damage(damage["offset"], damage["message"]),
        None if window is None else _window(window),
    )


def _window(window: dict[str, Any]) -> Window:
    from txop.present.report_parts import Window

    return Window.model_validate(window)


def first_members(document: bytes, names: Collection[str]) -> dict[str, Any]:
    """The members ``names`` of a JSON object, which is read up to the last of them and no further.

    >>> first_members(b'{"a": 1, "b": {"c": [2]}, "d": ', {"a", "b"})
    {'a': 1, 'b': {'c': [2]}}

    Raises:
        FormatError: it is not a JSON object that has them.
    """
    text = document.decode("utf-8", "surrogatepass")
    decoder = json.JSONDecoder()
    found: dict[str, Any] = {}
    at = 0
    opening = "{"
    try:
        while len(found) < len(names):
            at = _after(text, at, opening)
            key, at = decoder.raw_decode(text, _skipped(text, at))
            value, at = decoder.raw_decode(text, _skipped(text, _after(text, at, ":")))
            if key in names:
                found[key] = value
            opening = ","
    except (ValueError, RecursionError) as error:
        raise FormatError(f"not a JSON object with {', '.join(sorted(names))}", offset=at) from error
    return found


def _skipped(text: str, at: int) -> int:
    while text[at : at + 1] in (" ", "\n", "\r", "\t"):
        at += 1
    return at


def _after(text: str, at: int, sign: str) -> int:
    at = _skipped(text, at)
    if text[at : at + 1] != sign:
        raise ValueError(f"no {sign} at {at}")
    return at + 1


def head_of(document: bytes, name: str, version: int, names: Collection[str]) -> dict[str, Any]:
    """The members ``names`` of a document of the format ``name`` in the layout ``version``.

    Raises:
        FormatError: it is another document, or lacks them.
    """
    found = first_members(document, {"format", "version", *names})
    if (found["format"], found["version"]) != (name, version):
        raise FormatError(f"not a {name} document of version {version}, but {found['format']} {found['version']}")
    return found

"""Where each key of a TOML document stands. :mod:`tomllib` gives values without places; this gives the places.

The document has to be one that tomllib accepts: the scanner skips values and checks nothing twice.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass

from txop.core.errors import TxopError

Path = tuple[str | int, ...]
"""Keys and, for elements of arrays, indices from 0: ``("test", 2, "duration_s")``."""

MAX_DEPTH = 64
"""Limit on tables and arrays within each other, and on the parts of one dotted key."""


@dataclass(frozen=True)
class Place:
    """Where something stands, both from 1; the column counts characters."""

    line: int
    column: int


class NestingError(TxopError, ValueError):
    """Tables, arrays or dotted keys go deeper than :data:`MAX_DEPTH`."""


def places(text: str) -> dict[Path, Place]:
    """The place of every key, table and array element of a valid TOML document.

    A table has the place of its first header, or of the key that first implied it.

    >>> places('[a]\\nb = [1, 2]')[("a", "b", 1)]
    Place(line=2, column=9)

    Raises:
        NestingError: deeper than :data:`MAX_DEPTH`.
    """
    return _Scanner(text).scan()


def comments(text: str) -> Iterator[tuple[int, str]]:
    """Line (from 1) and text of each comment of a valid TOML document, without the ``#`` and blanks around it.

    >>> list(comments('a = "# b" # c'))
    [(1, 'c')]
    """
    line, at = 1, 0
    for token in _TOKEN.finditer(text):
        line, at = line + text.count("\n", at, token.start()), token.start()
        if token.group().startswith("#"):
            yield line, token.group()[1:].strip()


def nearest(found: dict[Path, Place], path: Path) -> Place | None:
    """The place of ``path``, or of the innermost thing around it that has one."""
    for length in range(len(path), 0, -1):
        if path[:length] in found:
            return found[path[:length]]
    return None


def shown(path: Path) -> str:
    """``path`` as people write it; indices count from 0.

    >>> shown(("test", 2, "duration_s"))
    'test[2].duration_s'
    >>> shown(("environment", "a b"))
    'environment."a b"'
    """
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            quoted = part if _BARE.fullmatch(part) else '"' + part.replace("\\", "\\\\").replace('"', '\\"') + '"'
            text += f".{quoted}" if text else quoted
    return text


_BARE = re.compile(r"[A-Za-z0-9_-]+")
_BLANK = re.compile(r"[ \t]*")
_BLANKS_AND_COMMENTS = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_BASIC = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_LITERAL = re.compile(r"'[^'\n]*'")
_BASIC_LINES = re.compile(r'"""(?:[^"\\]|\\.|"(?!""))*"{3,5}', re.DOTALL)
_LITERAL_LINES = re.compile(r"'''(?:[^']|'(?!''))*'{3,5}", re.DOTALL)
_TOKEN = re.compile(
    "|".join(each.pattern for each in (_BASIC_LINES, _LITERAL_LINES, _BASIC, _LITERAL)) + r"|#[^\n]*", re.DOTALL
)
"""A string, or a comment."""
_SCALAR = re.compile(r"[^,\]}#\n]*")
_STRINGS = (_BASIC_LINES, _LITERAL_LINES, _BASIC, _LITERAL)


class _Scanner:
    def __init__(self, text: str) -> None:
        self._text = text.replace("\r\n", "\n")
        self._at = 0
        self._line = 1
        self._line_start = 0
        self._counted_to = 0
        self._found: dict[Path, Place] = {}
        self._arrays: dict[Path, int] = {}  # arrays of tables: how many tables so far

    def scan(self) -> dict[Path, Place]:
        table: Path = ()
        while True:
            self._skip(_BLANKS_AND_COMMENTS)
            if self._at >= len(self._text):
                return self._found
            if self._text.startswith("[[", self._at):
                table = self._header(2)
            elif self._text[self._at] == "[":
                table = self._header(1)
            else:
                self._pair(table)

    def _header(self, brackets: int) -> Path:
        place = self._here()
        self._at += brackets
        parts = self._key()
        self._at += brackets
        path: Path = ()
        for index, part in enumerate(parts):
            path = (*path, part)
            last = index == len(parts) - 1
            self._found.setdefault(path, place)
            if last and brackets == 2:
                number = self._arrays.get(path, 0)
                self._arrays[path] = number + 1
                path = (*path, number)
                self._found[path] = place
            elif path in self._arrays:
                path = (*path, self._arrays[path] - 1)
        return path

    def _pair(self, table: Path) -> None:
        place = self._here()
        path = table
        for part in self._key():
            path = (*path, part)
            self._found.setdefault(path, place)
        self._at += 1  # =
        self._skip(_BLANK)
        self._value(path)

    def _key(self) -> list[str]:
        """A dotted key; stops before what follows it."""
        parts = []
        while True:
            self._skip(_BLANK)
            for kind in (_BASIC, _LITERAL, _BARE):
                if match := kind.match(self._text, self._at):
                    break
            else:
                raise ValueError(f"no key at character {self._at}")
            raw = match.group()
            parts.append(raw if kind is _BARE else str(tomllib.loads(f"k={raw}")["k"]))
            if len(parts) > MAX_DEPTH:
                raise NestingError(f"a key of more than {MAX_DEPTH} parts")
            self._at = match.end()
            self._skip(_BLANK)
            if not self._text.startswith(".", self._at):
                return parts
            self._at += 1

    def _value(self, path: Path) -> None:
        if len(path) > MAX_DEPTH:
            raise NestingError(f"more than {MAX_DEPTH} tables and arrays within each other")
        opening = self._text[self._at : self._at + 1]
        if opening == "[":
            self._at += 1
            self._array(path)
        elif opening == "{":
            self._at += 1
            self._inline_table(path)
        else:
            for kind in _STRINGS:
                if match := kind.match(self._text, self._at):
                    self._at = match.end()
                    return
            self._skip(_SCALAR)

    def _array(self, path: Path) -> None:
        number = 0
        while True:
            self._skip(_BLANKS_AND_COMMENTS)
            if self._closes("]"):
                return
            element = (*path, number)
            self._found[element] = self._here()
            self._value(element)
            self._skip(_BLANKS_AND_COMMENTS)
            if self._text.startswith(",", self._at):
                self._at += 1
            number += 1

    def _inline_table(self, path: Path) -> None:
        while True:
            self._skip(_BLANKS_AND_COMMENTS)
            if self._closes("}"):
                return
            self._pair(path)
            self._skip(_BLANKS_AND_COMMENTS)
            if self._text.startswith(",", self._at):
                self._at += 1

    def _closes(self, bracket: str) -> bool:
        if self._at >= len(self._text):
            raise ValueError(f"no {bracket} at the end")
        if self._text[self._at] == bracket:
            self._at += 1
            return True
        return False

    def _skip(self, pattern: re.Pattern[str]) -> None:
        match = pattern.match(self._text, self._at)
        if match:
            self._at = match.end()

    def _here(self) -> Place:
        new_lines = self._text.count("\n", self._counted_to, self._at)
        if new_lines:
            self._line += new_lines
            self._line_start = self._text.rindex("\n", self._counted_to, self._at) + 1
        self._counted_to = self._at
        return Place(self._line, self._at - self._line_start + 1)

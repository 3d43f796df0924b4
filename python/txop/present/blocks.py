"""What a section is made of. Plain data; the terminal and the HTML page each draw it in their own way.

All text here is as it came from the capture; what draws it makes it safe.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, overload

Tone = Literal["", "good", "bad", "dim"]


@dataclass(frozen=True)
class Cell:
    """One cell: what is shown, and what it is sorted by (default: the text)."""

    text: str
    sort: float | None = None
    tone: Tone = ""


@dataclass(frozen=True)
class Column:
    """A heading. ``rank`` 1 is always shown; 3 is the first to go on a narrow terminal."""

    heading: str
    definition: str | None = None
    rank: int = 1
    right: bool = True


class Rows(Sequence[Sequence[Cell]]):
    """Rows of a table that are made when they are looked at: of thousands, a reader mostly sees a few.

    >>> rows = Rows(range(5000), lambda n: (Cell(str(n)),))
    >>> len(rows), rows[7][0].text, [row[0].text for row in rows[:2]]
    (5000, '7', ['0', '1'])
    """

    def __init__(self, items: Iterable[Any], row: Callable[[Any], Sequence[Cell]]) -> None:
        self._items = list(items)
        self._row = row

    def __len__(self) -> int:
        return len(self._items)

    @overload
    def __getitem__(self, index: int) -> Sequence[Cell]: ...
    @overload
    def __getitem__(self, index: slice) -> Rows: ...
    def __getitem__(self, index: int | slice) -> Sequence[Cell] | Rows:
        return Rows(self._items[index], self._row) if isinstance(index, slice) else self._row(self._items[index])

    def __iter__(self) -> Iterator[Sequence[Cell]]:
        return map(self._row, self._items)


@dataclass(frozen=True)
class Grid:
    """A table."""

    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    note: str = ""
    unit_of_rows: str = "rows"
    whole: bool = False
    """Short by nature: shown whole whatever the limit of rows."""


@dataclass(frozen=True)
class Fact:
    """A label with a value."""

    label: str
    value: str
    definition: str | None = None
    tone: Tone = ""


@dataclass(frozen=True)
class Facts:
    """A short list of labelled values."""

    items: Sequence[Fact]
    title: str = ""


@dataclass(frozen=True)
class Lines:
    """Sentences; ``strong`` ones come as a paragraph, the others as a list."""

    items: Sequence[str]
    title: str = ""
    tone: Tone = ""


def capture_limits(sentences: Sequence[str]) -> Lines:
    """What a capture cannot show, under the heading that reports of air and of bus captures share."""
    return Lines(sentences or ("Nothing that this report needs is missing.",), "Limits of this capture")


@dataclass(frozen=True)
class Plot:
    """A place for a plot of the HTML page, by its name; the terminal has none."""

    name: str
    index: int = 0


Block = Grid | Facts | Lines | Plot


@dataclass(frozen=True)
class Section:
    """One section of a report."""

    name: str
    number: int
    title: str
    blocks: Sequence[Block] = field(default_factory=tuple)
    unavailable: Sequence[str] = ()
    """Why figures of this section are missing or weaker."""

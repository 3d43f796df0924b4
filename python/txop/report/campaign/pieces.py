"""What a chapter of the page is made of, beside the blocks that it shares with other reports.

Plain data; ``campaign.html.j2`` draws each kind, by the name of its class, and escapes all text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from txop.present.blocks import Facts, Grid, Lines
from txop.present.chapters import Picture

Tone = Literal["", "good", "bad", "warn", "dim", "note"]


@dataclass(frozen=True)
class Paragraph:
    """Sentences."""

    text: str
    tone: Tone = ""
    title: str = ""


@dataclass(frozen=True)
class Pictures:
    """Plots that stand side by side where there is room."""

    pictures: Sequence[Picture]
    title: str = ""
    note: str = ""


@dataclass(frozen=True)
class Link:
    """A link to a file beside the page; ``href`` is quoted already."""

    text: str
    href: str


@dataclass(frozen=True)
class Links:
    """Links to files beside the page."""

    title: str
    items: Sequence[Link]
    note: str = ""


@dataclass(frozen=True)
class Code:
    """Text shown as it is, in one width of letters."""

    title: str
    text: str


@dataclass(frozen=True)
class Fold:
    """Pieces that are shown when asked for (and when printed)."""

    title: str
    pieces: Sequence[Piece]
    open: bool = False


Piece = Paragraph | Picture | Pictures | Links | Code | Fold | Facts | Grid | Lines


@dataclass(frozen=True)
class Chapter:
    """A chapter with its heading."""

    name: str
    title: str
    short: str
    """As the table of contents calls it."""
    pieces: Sequence[Piece]

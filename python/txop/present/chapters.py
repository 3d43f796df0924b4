"""The sections of a page with their plots drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, overload

from markupsafe import Markup

from txop.present.blocks import Block, Facts, Grid, Lines, Plot, Section
from txop.present.narrow import narrowed
from txop.present.plot import svg


@dataclass(frozen=True)
class Drawing:
    """A plot with its words."""

    spec: dict[str, Any]
    """Vega-Lite, with inks (:data:`txop.present.plot.INK`) for colours."""
    caption: str
    wide: bool = False
    name: str = ""
    """Stable: part of file names, where plots become files."""
    narrow: dict[str, Any] | None = None
    """The same plot, laid out for the width of a phone; ``None``: :func:`txop.present.narrow.narrowed` does it."""


@dataclass(frozen=True)
class Picture:
    """A plot of which the SVG is being made."""

    rendering: Future[Markup]
    caption: str
    wide: bool
    narrow_rendering: Future[Markup] | None = None

    @property
    def svg(self) -> Markup:
        """The SVG, waited for."""
        return self.rendering.result()

    @property
    def narrow(self) -> Markup | None:
        """The SVG for the width of a phone, waited for; ``None``: the other one fits there."""
        return None if self.narrow_rendering is None else self.narrow_rendering.result()


Piece = Picture | Facts | Grid | Lines


class Painter:
    """Has the plots of a page made, each with ids of its own."""

    def __init__(self) -> None:
        self._drawn = 0

    @overload
    def picture(self, drawing: Drawing) -> Picture: ...
    @overload
    def picture(self, drawing: Drawing | None) -> Picture | None: ...
    def picture(self, drawing: Drawing | None) -> Picture | None:
        """The plot as it will be on the page. ``None`` stays so: there was nothing to draw."""
        if drawing is None:
            return None
        self._drawn += 1
        ident = f"p{self._drawn}"
        rendering = svg(drawing.spec, ident=ident, label=drawing.caption)
        spec = drawing.narrow or narrowed(drawing.spec)
        narrow = None if spec is None else svg(spec, ident=f"{ident}n", label=drawing.caption)
        return Picture(rendering, drawing.caption, drawing.wide, narrow)


@dataclass(frozen=True)
class DrawnSection:
    """A section with its plots drawn."""

    section: Section
    rows: Sequence[tuple[Piece, ...]]
    """Pieces of a row stand side by side where there is room."""


def drawn_sections(sections: Iterable[Section], draw: Callable[[str], Drawing | None]) -> list[DrawnSection]:
    """Each section with the plots that ``draw`` makes of their names; those with nothing to draw are left out."""
    painter = Painter()

    def piece(block: Block) -> Piece | None:
        return painter.picture(draw(block.name)) if isinstance(block, Plot) else block

    return [
        DrawnSection(part, [(found,) for block in part.blocks if (found := piece(block)) is not None])
        for part in sections
    ]

"""The sections of a page with their plots drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from txop.present.blocks import Block, Facts, Grid, Lines, Plot, Section
from txop.present.plot import svg


@dataclass(frozen=True)
class Drawing:
    """A plot with its words."""

    spec: dict[str, Any]
    """Vega-Lite, with inks (:data:`txop.present.plot.INK`) for colours."""
    caption: str
    wide: bool = False


@dataclass(frozen=True)
class Figure:
    """A finished plot."""

    svg: Markup
    caption: str
    wide: bool


Piece = Figure | Facts | Grid | Lines


class Figures:
    """Finishes the plots of a page, each with ids of its own."""

    def __init__(self) -> None:
        self._drawn = 0

    def finish(self, drawing: Drawing | None) -> Figure | None:
        """``None`` stays so: there was nothing to draw."""
        if drawing is None:
            return None
        self._drawn += 1
        image = svg(drawing.spec, ident=f"p{self._drawn}", label=drawing.caption)
        return Figure(image, drawing.caption, drawing.wide)


@dataclass(frozen=True)
class Chapter:
    """A section with its plots drawn."""

    section: Section
    pieces: Sequence[Piece]


def chapters_of(sections: Iterable[Section], draw: Callable[[str], Drawing | None]) -> list[Chapter]:
    """Each section with the plots that ``draw`` makes of their names; those with nothing to draw are left out."""
    figures = Figures()

    def piece(block: Block) -> Piece | None:
        return figures.finish(draw(block.name)) if isinstance(block, Plot) else block

    return [Chapter(part, [found for block in part.blocks if (found := piece(block)) is not None]) for part in sections]

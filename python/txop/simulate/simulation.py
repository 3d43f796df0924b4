"""The results of ``txop simulate``, read and asked."""

from __future__ import annotations

from pydantic import Field

from txop.present.document import parse_document
from txop.simulate.layout import FORMAT, VERSION
from txop.simulate.model import Document, Point, Summary


class Simulation(Document):
    """A whole document: what the engine wrote, and what there is to say of it."""

    warnings: list[str] = Field(default_factory=list)
    """What there is to say of all points: flows that had not settled."""

    @classmethod
    def parse(cls, document: bytes | str) -> Simulation:
        """The simulation in a ``txop-simulate`` JSON document.

        Raises:
            FormatError: it is not such a document, or one of a layout version this program does not know.
        """
        return parse_document(cls, document, FORMAT, VERSION)


def summary_of(point: Point, figure: str, of: str | None = None) -> Summary | None:
    """A figure over the seeds of a point; ``of`` a flow or a station, or of the whole run."""
    return next((entry for entry in point.summary if entry.figure == figure and entry.of == of), None)

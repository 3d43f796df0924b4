"""A report on a USB capture, read and asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from txop.bus.layout import FORMAT, VERSION
from txop.bus.model import Report
from txop.present.document import parse_document

if TYPE_CHECKING:
    import polars


class BusReport(Report):
    """Everything `txop bus` knows about one capture."""

    @property
    def other_requests(self) -> int:
        """As in the summary."""
        return self.summary.other_requests

    @classmethod
    def parse(cls, document: bytes | str) -> BusReport:
        """The report in a ``txop-bus`` JSON document.

        Raises:
            FormatError: it is not such a document, or one of a layout version this program does not know.
        """
        return parse_document(cls, document, FORMAT, VERSION)

    def table(self, name: str) -> polars.DataFrame:
        """One of :data:`txop.bus.tables.TABLES` as a polars frame, for example ``report.table("endpoints")``.

        Raises:
            KeyError: there is no such table.
        """
        from txop.bus.tables import frame

        return frame(self, name)

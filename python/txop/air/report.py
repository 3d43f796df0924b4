"""A report on an 802.11 capture, read and asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from txop.air.layout import FORMAT, VERSION
from txop.air.model import Report
from txop.present.document import parse_document

if TYPE_CHECKING:
    import polars


PREVENT_WATERFALLS = frozenset(
    {
        "disorder",
        "duplicates",
        "merged-channels",
        "clock-jumps",
        "rates-not-true",
        "airtime-exceeds-time",
        "no-rate",
        "no-duration",
    }
)
"""Limits of a capture that leave no waterfall."""


class AirReport(Report):
    """Everything `txop air` knows about one capture."""

    @classmethod
    def parse(cls, document: bytes | str) -> AirReport:
        """The report in a ``txop-air`` JSON document.

        Raises:
            FormatError: it is not such a document, or one of a layout version this program does not know.
        """
        return parse_document(cls, document, FORMAT, VERSION)

    @property
    def shared_us(self) -> float | None:
        """Observed time that shares of airtime refer to, µs; ``None`` if nothing but the captured frames themselves was
        observed, as with a single frame."""
        return None if self.airtime.busy_share is None else self.airtime.observed_us

    def table(self, name: str) -> polars.DataFrame:
        """One of :data:`txop.air.tables.TABLES` as a polars frame, for example ``report.table("stations")``.

        Nested values become columns (``signal_dbm.median`` is ``signal_dbm_median``); null is *not available*.

        Raises:
            KeyError: there is no such table.
        """
        from txop.air.tables import frame

        return frame(self, name)

"""The emulator's report when it ends, parsed and queried."""

from __future__ import annotations

from txop.emulate.counters import Counters, SideCounters
from txop.emulate.layout import FORMAT, VERSION
from txop.emulate.model import Status
from txop.present.document import parse_document


class EmulationStatus(Status):
    """The account of one emulator run."""

    @property
    def wlan(self) -> Counters:
        """The counters of an 802.11 link."""
        return Counters.model_validate(self.counters)

    @classmethod
    def parse(cls, document: bytes | str) -> EmulationStatus:
        """The account in a ``txop-emulate`` JSON document.

        Raises:
            FormatError: it is not such a document, or one of a layout version this program does not know.
        """
        return parse_document(cls, document, FORMAT, VERSION)


def retry_percent(side: SideCounters) -> float | None:
    """Share of a station's data MPDUs that were sent again, as a capture shows it (without collided ones)."""
    sent = side.mpdus - side.mpdus_collided
    return 100.0 * (side.retries - side.retries_collided) / sent if sent else None

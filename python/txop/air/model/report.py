"""The whole report: version 2 of the ``txop-air`` JSON format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from txop.air.layout import FORMAT, VERSION
from txop.air.model.access_point import AccessPoint
from txop.air.model.capability import CapabilityAudit
from txop.air.model.events import Events
from txop.air.model.exchange import AckVerdict, Aggregation, BlockAckFlow, Exchange
from txop.air.model.hearing import Flood, Hearing
from txop.air.model.logs import BlockAckLog, RateTimeline
from txop.air.model.medium import Airtime, Steadiness, Waterfall, WaterfallStep
from txop.air.model.multi_user import MultiUser
from txop.air.model.station import Bss, Ghost, GhostEffect, Link, Station
from txop.air.model.summary import Summary
from txop.air.model.timing import Timing
from txop.air.model.traffic import Decryption, Traffic
from txop.present.document import Model, parse_document

if TYPE_CHECKING:
    import polars


class AirReport(Model):
    """Everything `txop air` knows about one capture."""

    format: str
    """Always `"txop-air"`."""
    version: int
    """Layout version: 2. Raised when a field changes its meaning or goes."""
    tool: str
    """Program and version that wrote this."""
    origin: str
    """Where the figures come from: `imported` for a capture that somebody hands in, `emulated` or
    `simulated` for one that says that txop made it."""
    path: str
    """The file as named by the caller."""
    frames: int
    """Records read (frames of link types without 802.11 are counted in `summary.not_wlan`, not here)."""
    bad_fcs: int
    """Frames with a bad FCS (flagged by the receiver, or computed wrong)."""
    summary: Summary
    """1. Summary."""
    timing: Timing
    """How time stamps, A-MPDU references and control rates were calibrated."""
    hearing: Hearing
    """What the sniffer heard of what must have been there."""
    floods: list[Flood]
    """The same kind of frame, again and again, faster than any protocol sends it."""
    events: Events
    """What happened when: authentication, association, key exchange, deauthentication, channel switch."""
    rate_timeline: RateTimeline
    """Which station sent at which rate when."""
    block_ack_log: BlockAckLog | None = None
    """Every Block Ack; Null unless asked for."""
    stations: list[Station]
    """2. Transmitters and receivers, most airtime (else most frames) first."""
    bss: list[Bss]
    """2. Networks, as Wireshark's WLAN Traffic window lists them (one row per BSSID and SSID)."""
    access_points: list[AccessPoint] = Field(default_factory=list)
    """2. Access points with their security, most beacons first."""
    links: list[Link]
    """2. Per (transmitter, receiver)."""
    ghosts: list[Ghost]
    """3. Addresses that exist only because of damage."""
    ghost_effect: GhostEffect
    """3. What the ghosts do to the statistics."""
    exchanges: list[Exchange]
    """4. PPDUs and their responses, per (transmitter, receiver)."""
    block_acks: list[BlockAckFlow]
    """4. Block Ack accounting, per (originator, recipient, TID)."""
    ack_verdicts: list[AckVerdict]
    """4. The answer to "not received, or too slow to acknowledge?", per (originator, recipient)."""
    aggregation: list[Aggregation]
    """5. Aggregation, per (transmitter, receiver, TID)."""
    multi_user: list[MultiUser] = Field(default_factory=list)
    """5. MU and trigger-based PPDUs and resource units, per (transmitter, receiver) with HE or EHT data frames."""
    airtime: Airtime
    """6. Airtime of everybody."""
    waterfall: list[WaterfallStep]
    """7. Goodput waterfall of the chosen direction; shares sum to one. Empty when not available."""
    waterfalls: list[Waterfall]
    """7. Both directions of the chosen pair (and what they are, why not available, in words)."""
    capabilities: list[CapabilityAudit]
    """8. Capabilities claimed and used."""
    steadiness: list[Steadiness]
    """9. Throughput and retry % over time, and what was remarkable."""
    decryption: Decryption | None = None
    """10. What the keys given made of protected frames; null when there were none."""
    traffic: Traffic | None = None
    """10. Packets joined with the MPDUs that carried them; null when nobody asked."""

    @classmethod
    def parse(cls, document: bytes | str) -> AirReport:
        """The report in a ``txop-air`` JSON document.

        Raises:
            FormatError: it is not such a document, or one of a layout version this program does not know.
        """
        return parse_document(cls, document, FORMAT, VERSION)

    def table(self, name: str) -> polars.DataFrame:
        """One of :data:`txop.air.tables.TABLES` as a polars frame, for example ``report.table("stations")``.

        Nested values become columns (``signal_dbm.median`` is ``signal_dbm_median``); null is *not available*.

        Raises:
            KeyError: there is no such table.
        """
        from txop.air.tables import frame

        return frame(self, name)

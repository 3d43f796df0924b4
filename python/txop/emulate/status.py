"""What the emulator says when it ends (format ``txop-emulate``, version 1)."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Drops(_Part):
    """Packets that did not get through, by cause."""

    queue_full: int
    """The driver queue was full."""
    retry_limit: int
    """Sent as often as the retry limit allows (the other end may have received it all the same)."""
    receiver_full: int
    """The receiving host did not keep up."""


class SideCounters(_Part):
    """What one station did, by the link's own count; collided PPDUs are included where not said otherwise."""

    packets_offered: int
    packets_delivered: int
    bytes_delivered: int
    """IP header included."""
    drops: Drops
    ppdus: int
    """Data PPDUs."""
    ampdus: int
    mpdus: int
    """Data MPDUs, retransmissions included."""
    retries: int
    """Of these: with the retry bit."""
    ppdus_collided: int
    mpdus_collided: int
    retries_collided: int
    mpdus_lost: int
    rts: int
    block_ack_requests: int
    beacons: int
    acks: int
    block_acks: int
    answers_missing: int
    left_out_late: int
    """MPDUs it received and left out of the Block Ack that answered them."""
    duplicates: int
    airtime_ns: int

    @property
    def retry_percent(self) -> float | None:
        """Share of data MPDUs that were sent again, as a capture shows it (without collided ones)."""
        sent = self.mpdus - self.mpdus_collided
        return 100.0 * (self.retries - self.retries_collided) / sent if sent else None


class Counters(_Part):
    """The link's own counters."""

    dut: SideCounters
    ap: SideCounters
    collisions: int


class Bar(_Part):
    """Releases that were late by less than ``below_us`` (and not less than the bar before says)."""

    below_us: float
    releases: int


class LateRelease(_Part):
    """How late packets were handed to a host: by this machine's fault, not by the link's."""

    releases: int
    p50_us: float | None
    p99_us: float | None
    max_us: float | None
    over_1_ms: int
    histogram: tuple[Bar, ...]


class EndStatus(_Part):
    """One end's device."""

    late_release: LateRelease
    not_taken: int
    """Packets that the host did not take."""


class AirStatus(_Part):
    """The capture of the emulated air."""

    path: Path
    frames: int
    dropped: int
    """Frames left out: the writer did not keep up, or the file had reached its limit."""
    collided: int
    """Collided frames, which are never in the file."""
    error: str | None


class EmulationStatus(_Part):
    """The account of one emulator run."""

    format: Literal["txop-emulate"]
    version: Literal[1]
    scenario: dict[str, Any]
    """Defaults filled in."""
    seconds: float
    cpu_seconds: float
    counters: Counters
    dut: EndStatus
    ap: EndStatus
    air: AirStatus | None

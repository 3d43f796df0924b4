"""What the emulator says when it ends (format ``txop-emulate``, version 2)."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


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
    """The own counters of an 802.11 link."""

    dut: SideCounters
    ap: SideCounters
    collisions: int


class Bar(_Part):
    """Packets whose delay was less than ``below_us`` (and not less than the bar before says)."""

    below_us: float
    packets: int


class Delays(_Part):
    """Delays of packets."""

    packets: int
    p50_us: float | None
    p90_us: float | None
    p99_us: float | None
    max_us: float | None
    histogram: tuple[Bar, ...]


class Timing(_Part):
    """Whether this machine kept up with the link."""

    valid: bool
    """At most 1 % of the packets were released more than 1 ms late, and at most 0.1 % lost in front of the link."""
    reason: str | None
    """Why it is not valid."""
    releases: int
    late: int
    """Releases more than 1 ms late."""
    late_share: float | None
    lost_in_devices: int
    """Packets that overflowed the queues of the devices before the emulator fetched them."""
    real_time: bool
    """Whether the emulator had real-time scheduling."""
    cpu_share: float | None
    """CPU time of the emulator, of one CPU."""
    late_release: Delays
    """How late packets were handed to hosts: by this machine's fault, not by the link's."""


class HostStatus(_Part):
    """One host's device."""

    name: str
    taken: int
    """Packets that it sent into the device."""
    unroutable: int
    """Of these: to no host of the link."""
    not_taken: int
    """Packets that the host did not take."""
    airtime_s: float | None
    """Time on the air of the PPDUs that a station sent or got."""
    lost_in_device: int | None


class Pair(_Part):
    """Packets from one host to another."""

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)

    source: int = Field(alias="from")
    """Number of the host that sent them."""
    to: int
    packets_offered: int
    bytes_offered: int
    """IP headers included, as everywhere here."""
    packets_delivered: int
    bytes_delivered: int
    delivering_s: float | None
    """From the first delivery to the last."""
    goodput_mbit_s: float | None
    """In that time."""
    drops: dict[str, int]
    """By cause."""
    delay: Delays
    """In the link: what it has set, without this machine's lateness."""


class FileStatus(_Part):
    """A capture of the emulated link."""

    path: Path
    records: int
    dropped: int
    """Left out: the writer did not keep up, or the file had reached its limit."""
    collided: int
    """Collided frames, which are never in the file."""
    error: str | None


class EmulationStatus(_Part):
    """The account of one emulator run."""

    format: Literal["txop-emulate"]
    version: Literal[2]
    origin: Literal["emulated"]
    link: str
    """``wlan``, ``modem``, ``sdio`` or ``pipe``."""
    scenario: dict[str, Any]
    """Defaults filled in."""
    seconds: float
    cpu_seconds: float
    timing: Timing
    hosts: tuple[HostStatus, ...]
    """By number."""
    pairs: tuple[Pair, ...]
    counters: dict[str, Any]
    """The link's own."""
    air: FileStatus | None
    usb: FileStatus | None

    @property
    def wlan(self) -> Counters:
        """The counters of an 802.11 link."""
        return Counters.model_validate(self.counters)

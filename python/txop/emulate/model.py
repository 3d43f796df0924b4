"""Typed objects for everything in a `txop-emulate` document (docs/emulate.md).

Null in the document is ``None`` here and means *not available*, never zero.

Made by scripts/contract.py from docs/schema: change the structs in Rust instead.
"""

from __future__ import annotations

from typing import Any

from pydantic import Field

from txop.present.document import Model


class FileStatus(Model):
    """A capture file."""

    path: str
    """Its name."""
    records: int
    """Frames or URB events in it."""
    dropped: int
    """Left out because the writer did not keep up or the file had reached its limit."""
    collided: int
    """Frames that overlapped with others. Most are not in the file, as a receiver follows one PPDU at a time."""
    damaged: int
    """Those of them that are in the file with a wrong FCS."""
    intact: int
    """Those of them that are in the file undamaged, because they were much stronger than the others (capture
    effect)."""
    error: str | None
    """Why writing stopped early."""


class Bar(Model):
    """Packets with a delay that was in one octave."""

    below_us: float
    """Its end: they took less (and not less than the end of the octave before)."""
    packets: int
    """How many."""


class Delays(Model):
    """Delays of packets."""

    packets: int
    """How many."""
    p50_us: float | None
    """Median; null without packets, as are the three below."""
    p90_us: float | None
    """90th percentile."""
    p99_us: float | None
    """99th percentile."""
    max_us: float | None
    """Longest."""
    histogram: list[Bar]
    """Octaves with packets, shortest first."""


class Pair(Model):
    """Packets from one host to another."""

    from_: int = Field(alias="from")
    """Number of the sending host."""
    to: int
    """Number of the receiving host."""
    packets_offered: int
    """Packets that the sending host handed to its device and the emulator took."""
    bytes_offered: int
    """Their bytes, IP headers included."""
    packets_delivered: int
    """Packets that came out of the link."""
    bytes_delivered: int
    """Their bytes, IP headers included."""
    delivering_s: float | None
    """From the first to the last delivery, s; null before there are two."""
    goodput_mbit_s: float | None
    """Goodput of the IP packets in that time, Mbit/s (the first packet is not counted: its own time is not known)."""
    drops: dict[str, int]
    """Packets that were dropped, by cause."""
    delay: Delays
    """From the offer to the release that the link set."""


class HostStatus(Model):
    """One host's TUN device."""

    name: str
    """Its name."""
    taken: int
    """Packets that its device gave."""
    unroutable: int
    """Packets to no host of the link (multicast, a foreign address), or no IP at all."""
    not_taken: int
    """Packets that the host did not take."""
    airtime_s: float | None
    """Time on the air of the PPDUs that a station sent or got, s; null for the server, and on links without air."""
    lost_in_device: int | None
    """Packets lost in the queue of its device; null where the kernel does not report it."""


class Timing(Model):
    """How well a run kept time."""

    valid: bool
    """The figures of the run can be used."""
    reason: str | None
    """If they cannot: why, in words."""
    releases: int
    """Packets handed to hosts."""
    late: int
    """Packets handed over more than 1 ms late."""
    late_share: float | None
    """`late` of `releases`; null without releases."""
    lost_in_devices: int
    """Packets that overflowed the queues of the devices before the emulator fetched them."""
    real_time: bool
    """Whether the emulator had real-time scheduling (sched(7))."""
    cpu_share: float | None
    """CPU time of the emulator's process, of one CPU; null for a run of no length."""
    late_release: Delays
    """How late the releases were."""


class Status(Model):
    """The account of an emulation."""

    format: str
    """Always `txop-emulate`."""
    version: int
    """Layout version: 2."""
    origin: str
    """Always `emulated`."""
    link: str
    """`wlan`, `modem`, `sdio` or `pipe`."""
    scenario: dict[str, Any]
    """The scenario, defaults filled in."""
    seconds: float
    """How long, s."""
    cpu_seconds: float
    """CPU time of the process, s."""
    timing: Timing
    """Whether this machine kept up."""
    hosts: list[HostStatus]
    """The hosts, in the order of their numbers."""
    pairs: list[Pair]
    """Which host sent what to which."""
    counters: dict[str, Any]
    """The link's own counters."""
    air: FileStatus | None
    """The capture of the air, if one was asked for."""
    usb: FileStatus | None
    """The capture of the bus, if one was asked for."""

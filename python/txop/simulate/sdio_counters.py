"""Typed objects for everything in a `sdio-counters` document (docs/simulate.md).

Null in the document is ``None`` here and means *not available*, never zero.

Made by scripts/contract.py from docs/schema: change the structs in Rust instead.
"""

from __future__ import annotations

from txop.present.document import Model


class SdioWay(Model):
    """One direction."""

    packets_offered: int
    """Packets offered."""
    packets_delivered: int
    """Packets delivered."""
    bytes_delivered: int
    """Bytes of the delivered packets (IP header included)."""
    queue_full: int
    """Packets dropped because a queue was full."""


class SdioCounters(Model):
    """Everything that was counted since the link began."""

    uplink: SdioWay
    """To the access point."""
    downlink: SdioWay
    """To the host with the card."""
    commands: int
    """Commands (CMD52 and CMD53)."""
    blocks: int
    """Blocks in them, a transfer in byte mode counted as one."""
    bus_bytes: int
    """Bytes moved by CMD53, padding included."""
    polls: int
    """Times that ksdioirqd asked, without an interrupt."""
    polls_found: int
    """Polls that found something."""
    services: int
    """Interrupts that were served, polled or not."""
    context_switches: int
    """Context switches of the threads of driver and bus."""
    cpu_busy_ns: int
    """CPU time, ns."""
    bus_busy_ns: int
    """Time that the bus carried something, ns."""
    air_busy_ns: int
    """Time that the air carried something, ns."""
    missed_beacons: int
    """Beacons that announced something for the station and that it missed."""

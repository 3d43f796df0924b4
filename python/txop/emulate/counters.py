"""Typed objects for everything in a `wlan-counters` document (docs/emulate.md).

Null in the document is ``None`` here and means *not available*, never zero.

Made by scripts/contract.py from docs/schema: change the structs in Rust instead.
"""

from __future__ import annotations

from txop.present.document import Model


class CategoryCounters(Model):
    """Data of one access category in one direction."""

    ppdus: int
    """Data PPDUs."""
    mpdus: int
    """MPDUs in them."""
    retries: int
    """MPDUs sent again."""
    airtime_ns: int
    """Time on the air of the data PPDUs, ns."""


class DirectionCounters(Model):
    """Data from one radio to another. Collided PPDUs are included."""

    ppdus: int
    """Data PPDUs."""
    mpdus: int
    """MPDUs in them."""
    retries: int
    """MPDUs sent again."""
    mpdus_lost: int
    """MPDUs lost on the way, collisions not counted."""
    packets_delivered: int
    """Packets that came out at the receiver's host."""
    bytes_delivered: int
    """Their bytes."""
    given_up: int
    """Packets given up."""
    airtime_ns: int
    """Time on the air of the data PPDUs, ns."""
    categories: dict[str, CategoryCounters]
    """By access category."""


class UsbCounters(Model):
    """Bulk transfers of a radio that is reached over USB."""

    out_urbs: int
    """OUT URBs completed, of one packet each."""
    out_bytes: int
    """Their bytes, descriptors included."""
    in_urbs: int
    """IN URBs completed."""
    in_packets: int
    """Packets in them."""
    in_bytes: int
    """Their bytes, descriptors and what lies between the packets included."""


class Drops(Model):
    """Packets that did not get through, by cause."""

    queue_full: int
    """The driver queue was full."""
    retry_limit: int
    """Sent as often as the retry limit allows. (The other end may have received it: then it was delivered too.)"""
    receiver_full: int
    """The receiving host did not keep up."""
    codel: int
    """CoDel dropped it."""
    overlimit: int
    """A flow queue dropped it, because all flows together had too much."""
    oversize: int
    """Larger than what 802.11 carries."""


class SideCounters(Model):
    """What one station did."""

    packets_offered: int
    """Packets handed to it to send."""
    packets_delivered: int
    """Packets delivered to the host they were for."""
    bytes_delivered: int
    """Bytes of the delivered packets (IP header included)."""
    drops: Drops
    """Packets that it was to send and that were dropped."""
    ppdus: int
    """Data PPDUs sent, collided ones included."""
    ampdus: int
    """PPDUs with more than one MPDU."""
    mpdus: int
    """Data MPDUs sent, retransmissions and collided ones included."""
    retries: int
    """MPDUs sent again (with the retry bit)."""
    ppdus_collided: int
    """Data PPDUs lost in a collision."""
    mpdus_collided: int
    """MPDUs in them."""
    retries_collided: int
    """MPDUs in collided PPDUs that were sent again."""
    mpdus_lost: int
    """MPDUs lost on the way (`mpdu_error_rate`, `snr_db`)."""
    rts: int
    """RTS frames sent, collided ones included."""
    block_ack_requests: int
    """Block Ack requests sent, collided ones included."""
    beacons: int
    """Beacons sent."""
    acks: int
    """ACKs sent."""
    block_acks: int
    """Block Acks sent."""
    answers_missing: int
    """PPDUs received and not answered (`missing_ack_rate`)."""
    answers_lost: int
    """ACKs and Block Acks that it sent and that were lost on the way."""
    left_out_late: int
    """MPDUs received and left out of the Block Ack that answered them (`late_block_ack_us`)."""
    duplicates: int
    """MPDUs received that had been received before."""
    arrived_late: int
    """MPDUs received after it had ceased to wait for them (100 ms): they are dropped, although they are
    acknowledged."""
    internal_collisions: int
    """Times that a category wanted to send in the same slot as a higher one of this radio."""
    airtime_ns: int
    """Time on the air of everything it sent, ns."""
    ppdu_sizes: list[int]
    """Data PPDUs by their MPDUs, collided ones included."""
    queue_max_packets: int
    """Packets in its queues at most."""
    hardware_max_us: int
    """Airtime of the PPDUs that were made and not yet done with, at most, µs: what AQL limits."""
    usb: UsbCounters | None = None
    """What was on its USB bus, where it is reached over one."""


class StationCounters(Model):
    """One station and what went on between it and the access point."""

    name: str
    """Its name."""
    radio: SideCounters
    """What it did."""
    down: DirectionCounters
    """What the access point sent to it."""
    up: DirectionCounters
    """What it sent to the access point."""


class Counters(Model):
    """Everything that was counted since the link began."""

    dut: SideCounters
    """What the station did; of several, the first."""
    ap: SideCounters
    """What the access point did."""
    collisions: int
    """Times that two or more began to send in the same slot."""
    stations: list[StationCounters]
    """Every station, in the order of their hosts."""

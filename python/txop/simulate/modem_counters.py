"""Typed objects for everything in a `modem-counters` document (docs/simulate.md).

Null in the document is ``None`` here and means *not available*, never zero.

Made by scripts/contract.py from docs/schema: change the structs in Rust instead.
"""

from __future__ import annotations

from txop.present.document import Model


class TxReasons(Model):
    """Why uplink URBs were sent as they were, in URBs. cdc_ncm's fourth reason, `tx_reason_ndp_full`, cannot come
    up: its table has room for as many datagrams as it lets into a block."""

    single: int
    """Nothing is aggregated."""
    bypass: int
    """rmnet: too sparse."""
    full: int
    """The next packet did not fit (`tx_reason_ntb_full`)."""
    max_datagrams: int
    """As many packets as allowed (`tx_reason_max_datagram`)."""
    timeout: int
    """The timer (`tx_reason_timeout`)."""


class ModemDrops(Model):
    """Packets that did not get through, by cause."""

    queue_full: int
    """A queue was full: the interface's (uplink), the cell's (downlink)."""
    receiver_full: int
    """The host did not keep up."""
    oversize: int
    """Larger than a transfer may be."""
    device_down: int
    """The modem had crashed."""


class WayCounters(Model):
    """One direction."""

    packets_offered: int
    """Packets offered."""
    packets_delivered: int
    """Packets delivered."""
    bytes_delivered: int
    """Bytes of the delivered packets (IP header included)."""
    drops: ModemDrops
    """Packets dropped."""
    urbs: int
    """URBs completed with data."""
    urb_bytes: int
    """Bytes in them, headers and padding included."""
    datagrams: int
    """Packets in them."""
    padding_bytes: int
    """Padding behind the last packet, bytes. That of QMAP between packets is not in it."""
    urbs_in_flight_max: int
    """URBs in flight at most. Downlink: URBs submitted."""
    datagrams_per_urb: list[int]
    """Number of URBs by the number of packets in them: element 1 is that of URBs with one. As long as it needs to
    be."""


class ModemCounters(Model):
    """Everything that was counted since the link began."""

    uplink: WayCounters
    """Towards the network."""
    downlink: WayCounters
    """Towards the host."""
    tx_reasons: TxReasons
    """Why uplink URBs were sent as they were."""
    device_busy_ns: int
    """Time that the modem spent with uplink URBs, ns. Its share of the time that passed is how busy it was."""
    device_blocked_ns: int
    """Time that it could not take an uplink URB, because the radio had too much to send already, ns."""
    bus_busy_ns: int
    """Time that the bus carried data, ns (both ways, at super speed each on its own)."""
    host_busy_ns: int
    """CPU time of the host for URBs, ns."""
    crashes: int
    """Times that the modem crashed, because an uplink URB was more than it had said it can take."""

"""Headers of IPv4, TCP, UDP and ICMP, as far as they tell one packet from another."""

from __future__ import annotations

import socket
import struct
from dataclasses import dataclass

ETHERTYPE_IPV4 = b"\x08\x00"
ETHERNET_BYTES = 14
_TCP, _UDP, _ICMP = 6, 17, 1
_NAMES = {_TCP: "TCP", _UDP: "UDP", _ICMP: "ICMP"}

Flow = tuple[bytes, bytes, bytes, bytes]
"""Addresses of source and target, their ports."""


@dataclass(frozen=True)
class Headers:
    """What the headers of a packet say. Checksums are left out: they are made on the way."""

    key: tuple[object, ...]
    """The same wherever the packet is seen, and another for every packet (RFC 791: the identification)."""
    source: bytes
    target: bytes
    number: int
    """Of the protocol."""
    length: int
    payload: int
    flow: Flow | None
    """Of TCP."""
    sequence: int
    """Of TCP: that of its first byte."""

    @property
    def protocol(self) -> str:
        """Name of the protocol."""
        return _NAMES.get(self.number, str(self.number))

    @property
    def addresses(self) -> tuple[str, str]:
        """Source and target."""
        return socket.inet_ntoa(self.source), socket.inet_ntoa(self.target)


def ipv4(head: bytes) -> Headers | None:
    """Headers in the first 40 bytes of a packet; ``None``: it is not IPv4, a later fragment, or cut."""
    if len(head) < 20 or head[0] >> 4 != 4:
        return None
    long = 4 * (head[0] & 15)
    length, identification, place = struct.unpack_from(">HHH", head, 2)
    if place & 0x1FFF or long < 20:
        return None
    number, source, target = head[9], head[12:16], head[16:20]
    body = head[long:]
    payload, flow, sequence = max(length - long, 0), None, 0
    own: tuple[object, ...] = ()
    if number == _TCP and len(body) >= 16:
        payload = max(payload - 4 * (body[12] >> 4), 0)
        sequence = int.from_bytes(body[4:8], "big")
        flow = (source, target, body[0:2], body[2:4])
        # Linux gives acknowledgements no identification
        own = (body[0:16], payload)
    elif number == _UDP and len(body) >= 6:
        own = (body[0:6],)
    elif number == _ICMP and len(body) >= 8:
        own = (body[0:2], body[4:8])
    key = (source, target, number, identification, *own)
    return Headers(key, source, target, number, length, payload, flow, sequence)

"""What a USB device answered while its driver probed it: descriptors, control requests, and data of its endpoints.

Made from the transfers of a capture that begins when the device is plugged in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from txop.formats.usb_descriptors import CONFIGURATION, DEVICE, DEVICE_BYTES, STRING
from txop.formats.usb_urbs import Setup, Transfer, TransferKind
from txop.guest_image.error import GuestError

GET_DESCRIPTOR, SET_CONFIGURATION = 6, 9
"""Standard requests (USB 2.0, table 9-4)."""
STANDARD, CLASS, VENDOR = 0x00, 0x20, 0x40
"""Types of requests: bits 5 and 6 of bmRequestType (table 9-2)."""
TYPE_BITS = 0x60
UNLINKED = (-2, -104)
"""A URB that its driver took back (Linux include/uapi/asm-generic/errno-base.h, errno.h): ENOENT, ECONNRESET."""
MOST_KEPT = 512
"""Transfers of a device-to-host endpoint that are kept with their data; the others are counted."""
MOST_BYTES = 4_096
"""Bytes of a reply that are kept: as many as a raw gadget of syzkaller sends at once."""
MOST_EVENTS = 1_000_000


@dataclass(frozen=True)
class Reply:
    """How a request was answered, ``times`` times in a row."""

    status: int
    """0, or a negative error number; -32 is a STALL."""
    data: bytes
    """Of a request for data; otherwise empty."""
    times: int = 1


@dataclass(frozen=True)
class Request:
    """A control request, and its replies in order."""

    setup: Setup
    replies: tuple[Reply, ...]

    @property
    def count(self) -> int:
        """How often it was made."""
        return sum(reply.times for reply in self.replies)


@dataclass(frozen=True)
class Endpoint:
    """Transfers of a bulk or interrupt endpoint."""

    address: int
    kind: TransferKind
    transfers: int
    """Those that ended; what a driver took back is not counted."""
    transferred_bytes: int
    replies: tuple[Reply, ...]
    """Data to the host, in order, :data:`MOST_KEPT` transfers at most."""
    left_out: int
    """Transfers with data to the host that are not among them."""


@dataclass(frozen=True)
class Event:
    """A request or a transfer, ``times`` times in a row."""

    request: int | None
    """Number of a request; ``None``: of an endpoint."""
    endpoint: int | None
    """Address of an endpoint."""
    times: int = 1


@dataclass(frozen=True)
class Probe:
    """What was seen of a device."""

    device: bytes
    """Its descriptor."""
    configuration: bytes
    """The descriptors of its first configuration, with interfaces and endpoints."""
    strings: Mapping[int, bytes]
    """String descriptors by index; 0: the languages."""
    requests: tuple[Request, ...]
    """After and with enumeration, in the order of their first use."""
    endpoints: tuple[Endpoint, ...]
    order: tuple[Event, ...]
    """In the order in which they ended."""

    @property
    def configured(self) -> int:
        """Events up to the first SET_CONFIGURATION, that one included: what every driver's device goes through."""
        for at, event in enumerate(self.order):
            if event.request is not None and is_set_configuration(self.requests[event.request].setup):
                return at + 1
        return 0


def is_set_configuration(setup: Setup) -> bool:
    """The host chooses a configuration."""
    return (setup.request_type, setup.request) == (STANDARD, SET_CONFIGURATION)


def descriptor_of(setup: Setup) -> tuple[int, int] | None:
    """Type and index of the descriptor that is asked for; ``None``: it is another request."""
    if (setup.request_type & ~0x1F, setup.request) != (0x80 | STANDARD, GET_DESCRIPTOR):
        return None
    return setup.value >> 8, setup.value & 0xFF


@dataclass
class _Growing:
    kind: TransferKind
    transfers: int = 0
    transferred_bytes: int = 0
    replies: list[Reply] = field(default_factory=list)
    kept: int = 0
    left_out: int = 0


def collect(transfers: Iterable[Transfer]) -> Probe:
    """Collect what a device answered. Raises :class:`GuestError` when it was not enumerated."""
    numbers: dict[Setup, int] = {}
    replies: list[list[Reply]] = []
    endpoints: dict[int, _Growing] = {}
    order: list[Event] = []
    descriptors: dict[tuple[int, int], bytes] = {}
    for transfer in transfers:
        if transfer.status in UNLINKED:
            continue
        if transfer.setup is not None:
            setup = transfer.setup
            number = numbers.setdefault(setup, len(replies))
            if number == len(replies):
                replies.append([])
            data = transfer.data[:MOST_BYTES] if setup.is_in else b""
            _append(replies[number], Reply(transfer.status, data))
            _follow(order, Event(number, None))
            key = descriptor_of(setup)
            if key is not None and transfer.status == 0 and len(data) > len(descriptors.get(key, b"")):
                descriptors[key] = data
        elif transfer.kind in (TransferKind.BULK, TransferKind.INTERRUPT):
            _take(endpoints.setdefault(transfer.endpoint, _Growing(transfer.kind)), transfer)
            _follow(order, Event(None, transfer.endpoint))
        if len(order) > MOST_EVENTS:
            raise GuestError(f"the probe has more than {MOST_EVENTS:,} transfers")
    device, configuration = descriptors.get((DEVICE, 0), b""), descriptors.get((CONFIGURATION, 0), b"")
    if len(device) != DEVICE_BYTES or not configuration:
        raise GuestError("the device was not enumerated: the capture lacks its descriptors")
    return Probe(
        device,
        configuration,
        {index: data for (kind, index), data in sorted(descriptors.items()) if kind == STRING},
        tuple(Request(setup, tuple(replies[number])) for setup, number in numbers.items()),
        tuple(
            Endpoint(address, one.kind, one.transfers, one.transferred_bytes, tuple(one.replies), one.left_out)
            for address, one in sorted(endpoints.items())
        ),
        tuple(order),
    )


def _take(endpoint: _Growing, transfer: Transfer) -> None:
    endpoint.transfers += 1
    endpoint.transferred_bytes += len(transfer.data) + transfer.missing
    if not transfer.is_in:
        return
    if endpoint.kept >= MOST_KEPT:
        endpoint.left_out += 1
        return
    endpoint.kept += 1
    _append(endpoint.replies, Reply(transfer.status, transfer.data[:MOST_BYTES]))


def _append(replies: list[Reply], reply: Reply) -> None:
    if replies and (replies[-1].status, replies[-1].data) == (reply.status, reply.data):
        reply = Reply(reply.status, reply.data, replies.pop().times + 1)
    replies.append(reply)


def _follow(order: list[Event], event: Event) -> None:
    if order and (order[-1].request, order[-1].endpoint) == (event.request, event.endpoint):
        event = Event(event.request, event.endpoint, order.pop().times + 1)
    order.append(event)

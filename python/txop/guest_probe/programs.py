"""Programs of syzkaller that connect a probed device and answer what its driver asks for: seeds of a corpus.

Facts of the notation: syzkaller docs/program_syntax.md. A seed has 40 calls at most (prog.MaxCalls,
pkg/manager/seeds.go), and a call answers one request, so a seed ends after the first 39 requests and transfers that
follow the choice of the configuration.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from txop.formats.usb_urbs import Setup
from txop.guest_probe.description import option_of, recorded, string_slots
from txop.guest_probe.fields import Descriptor, configuration_descriptors, device_descriptor
from txop.guest_probe.names import Names, endpoint_name
from txop.guest_probe.probe import TYPE_BITS, Endpoint, Probe, Reply
from txop.guest_probe.responses import descriptors, is_get_descriptor, responses

MOST_CALLS = 40
_HIGH_SPEED = 3
_FIRST_ADDRESS = 0x7F00_0000_0000
_ALIGNED = 64
_NULL = "0x0"
_ENDPOINT_IN = 0x80
MOST_READ = 4_096
"""Bytes that a call reads from an endpoint at once (syzkaller executor/common_usb_linux.h, USB_MAX_PACKET_SIZE)."""


@dataclass(frozen=True)
class Seed:
    """A program."""

    name: str
    text: str
    answered: int
    """Requests and transfers after the choice of the configuration that it answers."""
    of: int
    """As many as there were."""


class _Memory:
    """Addresses for what a program's pointers point to."""

    def __init__(self) -> None:
        self._next = _FIRST_ADDRESS

    def pointer(self, value: str, size: int) -> str:
        """A pointer to a value of ``size`` bytes."""
        at = self._next
        self._next += -(-max(size, 1) // _ALIGNED) * _ALIGNED
        return f"&({at:#x})={value}"


def seeds(probe: Probe, device: str, heading: str) -> tuple[Seed, ...]:
    """The programs: one that connects the device alone, and one that goes on as far as a program can.

    Raises:
        FormatError: The descriptors of the configuration do not follow each other.
    """
    events = list(_events(probe))
    whole = _program(probe, device, events[: MOST_CALLS - 1])
    comment = "".join(f"# {row}\n" for row in heading.splitlines())
    return (
        Seed("connect", comment + "\n" + _program(probe, device, []), 0, len(events)),
        Seed("probe", comment + "\n" + whole, min(len(events), MOST_CALLS - 1), len(events)),
    )


@dataclass(frozen=True)
class _Happened:
    """One request or transfer, and its reply."""

    setup: Setup | None
    endpoint: Endpoint | None
    reply: Reply | None


def _events(probe: Probe) -> Iterator[_Happened]:
    """What happened after the choice of the configuration, one by one."""
    endpoints = {one.address: one for one in probe.endpoints}
    replies = {number: _one_by_one(request.replies) for number, request in enumerate(probe.requests)}
    data = {address: _one_by_one(one.replies) for address, one in endpoints.items()}
    configured = probe.configured
    for at, event in enumerate(probe.order):
        for _ in range(event.times):
            if event.request is not None:
                happened = _Happened(probe.requests[event.request].setup, None, next(replies[event.request], None))
            else:
                address = event.endpoint or 0
                happened = _Happened(None, endpoints.get(address), next(data.get(address, iter(())), None))
            if at >= configured:
                yield happened


def _one_by_one(replies: tuple[Reply, ...]) -> Iterator[Reply]:
    for reply in replies:
        for _ in range(reply.times):
            yield reply


def _program(probe: Probe, device: str, events: list[_Happened]) -> str:
    writer = _Writer(probe, Names(device))
    return "\n".join([writer.connect(), *map(writer.call, events)]) + "\n"


class _Writer:
    """Writes the calls of one program."""

    def __init__(self, probe: Probe, names: Names) -> None:
        self._probe = probe
        self._names = names
        self._memory = _Memory()
        self._writable = {one.address for one in recorded(probe)}
        self._fields = {"descriptors": descriptors(probe), "responses": responses(probe)}

    def connect(self) -> str:
        """The device appears."""
        configuration, *others = configuration_descriptors(self._probe)
        parts = [*_values(configuration), *(f"{{{', '.join(_values(one))}}}" for one in others)]
        values = [*_values(device_descriptor(self._probe)), f"{{{', '.join(parts)}}}"]
        device = f"{{{', '.join(values)}}}"
        size = len(self._probe.device) + len(self._probe.configuration)
        slots = string_slots(self._probe)
        strings = [
            f"{{{len(data):#x}, {self._memory.pointer(_buffer(data), len(data)) if data else _NULL}}}" for data in slots
        ]
        given = f"{{{', '.join([_NULL, _NULL, _NULL, _NULL, f'{len(slots):#x}', *strings])}}}"
        words = (
            f"{_HIGH_SPEED:#x}",
            f"{size:#x}",
            self._memory.pointer(device, size),
            self._memory.pointer(given, 28 + 12 * len(slots)),
        )
        return f"r0 = {self._names.call('syz_usb_connect')}({', '.join(words)})"

    def call(self, happened: _Happened) -> str:
        """A request or a transfer is answered."""
        if happened.setup is not None:
            return self._control(happened.setup, happened.reply)
        address = happened.endpoint.address if happened.endpoint is not None else 0
        reply = happened.reply
        data = reply.data if reply is not None and reply.status == 0 else b""
        if not address & _ENDPOINT_IN:
            into = self._memory.pointer(f'""/{MOST_READ}', MOST_READ)
            return f"syz_usb_ep_read(r0, {address:#x}, {MOST_READ:#x}, {into})"
        if not data or address not in self._writable:
            return f"syz_usb_ep_write(r0, {address:#x}, 0x0, {_NULL})"
        value = f"@{option_of(data)}={_value(data)}"
        words = (f"{address:#x}", f"{len(data):#x}", self._memory.pointer(value, len(data)))
        return f"{self._names.call('syz_usb_ep_write', endpoint_name(address))}(r0, {', '.join(words)})"

    def _control(self, setup: Setup, reply: Reply | None) -> str:
        name = self._names.call("syz_usb_control_io")
        if not setup.is_in or reply is None or reply.status != 0:
            return f"{name}(r0, {_NULL}, {_NULL})"
        what = "descriptors" if is_get_descriptor(setup) else "responses"
        key = (setup.request_type & TYPE_BITS, setup.value >> 8 if what == "descriptors" else setup.request)
        answer = self._answer(what, key, reply.data)
        given = (answer, _NULL) if what == "descriptors" else (_NULL, answer)
        return f"{name}(r0, {', '.join(given)})"

    def _answer(self, what: str, key: tuple[int, int], data: bytes) -> str:
        """A pointer to the list of answers, with one in its place."""
        fields = self._fields[what]
        value = f"{{{key[0]:#x}, {key[1]:#x}, {len(data):#x}, @{option_of(data)}={_value(data)}}}"
        inner = self._memory.pointer(value, 6 + len(data))
        places = [inner if (one.request_type, one.request) == key else _NULL for one in fields]
        size = 4 + 8 * (1 + len(fields))
        return self._memory.pointer(f"{{{', '.join([f'{size:#x}', _NULL, *places])}}}", size)


def _values(descriptor: Descriptor) -> list[str]:
    return [
        f"{int.from_bytes(field.data, 'little'):#x}" if field.is_number else _buffer(field.data)
        for field in descriptor.fields
    ]


def _value(data: bytes) -> str:
    """A reply as the option of its type has it."""
    return f"{int.from_bytes(data, 'little'):#x}" if option_of(data).startswith("number") else _buffer(data)


def _buffer(data: bytes) -> str:
    return f'"{data.hex()}"'

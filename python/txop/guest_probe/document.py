"""A probe as a JSON document (``probe.json``; the fields are listed in docs/guest-faults.md), and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from txop.formats.error import FormatError
from txop.formats.usb_descriptors import read_interfaces, string_text
from txop.formats.usb_urbs import Setup, TransferKind
from txop.guest_probe.probe import MOST_BYTES, MOST_EVENTS, Endpoint, Event, Probe, Reply, Request

FORMAT = "txop-guest-probe"
VERSION = 1
_BYTE, _WORD, _LONG = 0xFF, 0xFFFF, 0xFFFF_FFFF


def document(probe: Probe, provenance: Mapping[str, Any]) -> dict[str, Any]:
    """The probe. ``provenance``: device, driver, and where the guest ran."""
    return {
        "format": FORMAT,
        "version": VERSION,
        **provenance,
        "descriptors": {
            "device": probe.device.hex(),
            "configuration": probe.configuration.hex(),
            "strings": {str(index): data.hex() for index, data in probe.strings.items()},
            "texts": {str(index): string_text(data) for index, data in probe.strings.items() if index},
            "interfaces": _interfaces(probe.configuration),
        },
        "requests": [_request(request) for request in probe.requests],
        "endpoints": [
            {
                "endpoint": one.address,
                "kind": one.kind.name.lower(),
                "transfers": one.transfers,
                "bytes": one.transferred_bytes,
                "replies": _replies(one.replies),
                "left_out": one.left_out,
            }
            for one in probe.endpoints
        ],
        "order": [
            ({"endpoint": event.endpoint} if event.request is None else {"request": event.request})
            | {"times": event.times}
            for event in probe.order
        ],
    }


def _interfaces(configuration: bytes) -> list[dict[str, Any]]:
    try:
        found = read_interfaces(configuration)
    except FormatError:
        return []
    return [
        {
            "interface": one.number,
            "alternate": one.alternate,
            "class": one.interface_class,
            "subclass": one.subclass,
            "protocol": one.protocol,
            "endpoints": [
                {
                    "endpoint": point.address,
                    "attributes": point.attributes,
                    "max_packet": point.max_packet,
                    "interval": point.interval,
                }
                for point in one.endpoints
            ],
        }
        for one in found
    ]


def _request(request: Request) -> dict[str, Any]:
    setup = request.setup
    return {
        "request_type": setup.request_type,
        "request": setup.request,
        "value": setup.value,
        "index": setup.index,
        "length": setup.length,
        "count": request.count,
        "replies": _replies(request.replies),
    }


def _replies(replies: tuple[Reply, ...]) -> list[dict[str, Any]]:
    return [{"status": reply.status, "data": reply.data.hex(), "times": reply.times} for reply in replies]


def read_probe(text: str | bytes) -> Probe:
    """The probe in a document. Raises :class:`FormatError`."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"not JSON: {error}") from None
    if not isinstance(found, dict) or found.get("format") != FORMAT or found.get("version") != VERSION:
        raise FormatError(f"not a document of the format {FORMAT}, version {VERSION}")
    descriptors = _object(found, "descriptors")
    strings = _object(descriptors, "strings")
    requests = tuple(_read_request(row) for row in _rows(found, "requests"))
    endpoints = tuple(_read_endpoint(row) for row in _rows(found, "endpoints"))
    return Probe(
        _bytes(descriptors, "device"),
        _bytes(descriptors, "configuration"),
        {_index(name): _bytes(strings, name) for name in strings},
        requests,
        endpoints,
        tuple(_read_event(row, len(requests), {one.address for one in endpoints}) for row in _rows(found, "order")),
    )


def _read_request(row: dict[str, Any]) -> Request:
    words = (_number(row, "value", _WORD), _number(row, "index", _WORD), _number(row, "length", _WORD))
    setup = Setup(_number(row, "request_type", _BYTE), _number(row, "request", _BYTE), *words)
    return Request(setup, _read_replies(row))


def _read_endpoint(row: dict[str, Any]) -> Endpoint:
    kind = row.get("kind")
    if kind not in ("bulk", "interrupt"):
        raise FormatError("an endpoint is neither bulk nor interrupt")
    return Endpoint(
        _number(row, "endpoint", _BYTE),
        TransferKind[kind.upper()],
        _number(row, "transfers", _LONG),
        _number(row, "bytes", 1 << 62),
        _read_replies(row),
        _number(row, "left_out", _LONG),
    )


def _read_replies(row: dict[str, Any]) -> tuple[Reply, ...]:
    replies = []
    for reply in _rows(row, "replies"):
        status = reply.get("status")
        if type(status) is not int or not -4095 <= status <= 0:
            raise FormatError("the status of a reply is not 0 or a negative error number")
        replies.append(Reply(status, _bytes(reply, "data"), _number(reply, "times", MOST_EVENTS)))
    return tuple(replies)


def _read_event(row: dict[str, Any], requests: int, endpoints: set[int]) -> Event:
    times = _number(row, "times", MOST_EVENTS)
    if "request" in row:
        if (number := _number(row, "request", _LONG)) >= requests:
            raise FormatError(f"there is no request number {number}")
        return Event(number, None, times)
    if (endpoint := _number(row, "endpoint", _BYTE)) not in endpoints:
        raise FormatError(f"there is no endpoint {endpoint:#x}")
    return Event(None, endpoint, times)


def _index(name: str) -> int:
    if not (name.isascii() and name.isdecimal() and len(name) <= 3 and int(name) <= _BYTE):
        raise FormatError("the index of a string is not 0 to 255")
    return int(name)


def _object(row: dict[str, Any], name: str) -> dict[str, Any]:
    value = row.get(name)
    if not isinstance(value, dict):
        raise FormatError(f"{name} is not an object")
    return value


def _rows(row: dict[str, Any], name: str) -> list[dict[str, Any]]:
    value = row.get(name)
    if not isinstance(value, list) or len(value) > MOST_EVENTS or not all(isinstance(one, dict) for one in value):
        raise FormatError(f"{name} is not a list of objects")
    return value


def _number(row: dict[str, Any], name: str, most: int) -> int:
    value = row.get(name)
    if type(value) is not int or not 0 <= value <= most:
        raise FormatError(f"{name} is not a number from 0 to {most}")
    return value


def _bytes(row: dict[str, Any], name: str) -> bytes:
    value = row.get(name)
    try:
        data = bytes.fromhex(value) if isinstance(value, str) else None
    except ValueError:
        data = None
    if data is None or len(data) > max(MOST_BYTES, _WORD):
        raise FormatError(f"{name} is not bytes in hexadecimal")
    return data

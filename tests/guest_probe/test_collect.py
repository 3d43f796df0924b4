"""What is collected of a capture of a probe."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probe_capture import CONFIGURATION, CONTROL, DEVICE, STALL, STRING, ProbeCapture, setup, whole_capture
from txop.formats.error import FormatError
from txop.formats.usb_descriptors import read_interfaces, split_descriptors
from txop.formats.usb_urbs import Setup, TransferKind, read_usb_urbs
from txop.guest_image.error import GuestError
from txop.guest_probe.probe import MOST_KEPT, Reply, collect


def test_requests_have_their_replies_in_order() -> None:
    probe = collect(read_usb_urbs(whole_capture()))
    assert (probe.device, probe.configuration, probe.strings[2]) == (DEVICE, CONFIGURATION, STRING)
    by_setup = {request.setup: request for request in probe.requests}
    register = by_setup[Setup(0xC0, 5, 0x80, 0, 4)]
    assert register.replies == (Reply(0, b"\x10\0\0\0", 2), Reply(0, b"\x11\0\0\0"))
    assert register.count == 3
    assert by_setup[Setup(0xC0, 7, 0, 0, 4)].replies == (Reply(STALL, b""),)
    written = by_setup[Setup(0x40, 5, 0x80, 0, 1)]
    assert written.replies == (Reply(0, b""),)


def test_the_order_is_that_of_the_capture_and_begins_again_after_the_configuration() -> None:
    probe = collect(read_usb_urbs(whole_capture()))
    assert sum(event.times for event in probe.order[: probe.configured]) == 7
    rest = probe.order[probe.configured :]
    setups = [None if event.request is None else probe.requests[event.request].setup.value for event in rest]
    assert setups == [0x80, 0x80, 0x84, 0, 0, None, None]
    assert [event.times for event in rest] == [3, 1, 1, 1, 1, 1, 1]
    assert [event.endpoint for event in rest[-2:]] == [2, 0x83]


def test_endpoints_count_what_ended_and_keep_what_came() -> None:
    probe = collect(read_usb_urbs(whole_capture()))
    assert {one.address: (one.kind, one.transfers, one.transferred_bytes) for one in probe.endpoints} == {
        2: (TransferKind.BULK, 1, 8),
        0x83: (TransferKind.BULK, 1, 6),
    }
    assert probe.endpoints[1].replies == (Reply(0, b"answer"),)


def test_data_beyond_the_limit_are_counted() -> None:
    capture = ProbeCapture()
    capture.enumeration()
    for number in range(MOST_KEPT + 3):
        capture.transfer(0x83, 3, number.to_bytes(2, "little"))
    (endpoint,) = collect(read_usb_urbs(capture.written())).endpoints
    assert (endpoint.transfers, len(endpoint.replies), endpoint.left_out) == (MOST_KEPT + 3, MOST_KEPT, 3)


def test_a_device_that_was_not_enumerated_is_refused() -> None:
    capture = ProbeCapture()
    capture.registers()
    with pytest.raises(GuestError, match="enumerated"):
        collect(read_usb_urbs(capture.written()))


def test_urbs_without_their_other_half_are_left_out() -> None:
    capture = ProbeCapture()
    capture.submission(9, 0x80, CONTROL, 4, packet=setup(0xC0, 5, 0, 0, 4))
    capture.completion(10, 0x80, CONTROL, 4, b"1234")
    assert list(read_usb_urbs(capture.written())) == []


@given(st.lists(st.binary(max_size=96), max_size=6))
def test_any_records_are_transfers_or_an_error_of_the_format(records: list[bytes]) -> None:
    capture = ProbeCapture()
    capture.enumeration()
    capture.records += records
    with suppress(FormatError):
        probe = collect(read_usb_urbs(capture.written()))
        assert (probe.device, probe.configuration) == (DEVICE, CONFIGURATION)


@given(st.binary(max_size=100), st.integers(0, 2_000))
def test_a_capture_that_goes_wrong_is_read_or_an_error_of_the_format(data: bytes, at: int) -> None:
    capture = ProbeCapture()
    capture.enumeration()
    written = capture.written()
    with suppress(FormatError):
        assert all(transfer.missing >= 0 for transfer in read_usb_urbs(written[:at] + data + written[at:]))


@given(st.binary(max_size=300))
def test_descriptors_are_split_without_loss(data: bytes) -> None:
    with suppress(FormatError):
        parts = list(split_descriptors(data))
        assert b"".join(parts) == data
        endpoints = sum(len(one.endpoints) for one in read_interfaces(data))
        assert endpoints <= sum(part[1] == 5 for part in parts)


def test_interfaces_have_their_endpoints() -> None:
    (interface,) = read_interfaces(CONFIGURATION)
    assert [point.address for point in interface.endpoints] == [0x81, 2, 0x83]
    assert (interface.interface_class, interface.endpoints[1].max_packet) == (0xFF, 512)

"""A probe as a document, as syzkaller's description, and as programs."""

from __future__ import annotations

import json
import re
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from made_probes import probes
from probe_capture import CONFIGURATION, DEVICE, LANGUAGES, STRING, ProbeCapture, setup, whole_capture
from txop.formats.error import FormatError
from txop.formats.usb_urbs import read_usb_urbs
from txop.guest_probe.description import description
from txop.guest_probe.document import document, read_probe
from txop.guest_probe.probe import Probe, collect
from txop.guest_probe.programs import MOST_CALLS, seeds


@pytest.fixture(name="probe")
def _probe() -> Probe:
    return collect(read_usb_urbs(whole_capture()))


@given(probes())
def test_a_document_gives_the_same_probe(probe: Probe) -> None:
    assert read_probe(json.dumps(document(probe, {"device": "made"}))) == probe


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)


@given(probe=probes(), at=st.integers(0, 10_000), other=_JSON)
def test_a_damaged_document_is_a_probe_or_an_error_of_the_format(probe: Probe, at: int, other: object) -> None:
    found = document(probe, {})
    places: list[tuple[object, object]] = []

    def walk(node: object) -> None:
        pairs = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
        for key, value in pairs:
            places.append((node, key))
            walk(value)

    walk(found)
    node, key = places[at % len(places)]
    node[key] = other
    with suppress(FormatError):
        assert isinstance(read_probe(json.dumps(found)), Probe)


def test_a_description_lists_what_was_recorded(probe: Probe) -> None:
    text = description(probe, "a-chip", "where it comes from")
    assert "txop_a_chip_vendor_05_4 = 0x10, 0x11" in text
    assert "txop_a_chip_vendor_05_2 = 0x1234" in text
    assert "txop_a_chip_vendor_08_recorded = `0274786f7000`" in text
    assert "ptr[in, vusb_response_t[USB_TYPE_VENDOR, 0x5, txop_a_chip_vendor_05]]" in text
    assert "ptr[in, vusb_descriptor_t[USB_TYPE_STANDARD, 0x3, txop_a_chip_get_standard_03]]" in text
    assert "#   0080.0000 0084.0000" in text
    assert "syz_usb_ep_write$txop_a_chip_ep83(" in text
    assert "syz_usb_ep_write$txop_a_chip_ep81(" not in text


def test_a_description_has_the_descriptors_field_by_field(probe: Probe) -> None:
    text = description(probe, "made", "")
    sizes = {"int8": 1, "int16": 2}
    blocks = dict(re.findall(r"^(txop_made_\w+) \{\n(.*?)\n\} \[packed\]$", text, re.MULTILINE | re.DOTALL))

    def data_of(name: str) -> bytes:
        out = b""
        for row in blocks[name].splitlines():
            kind = row.split("\t")[-1]
            if number := re.fullmatch(r"const\[(0x[0-9a-f]+), (int8|int16)\]", kind):
                out += int(number[1], 16).to_bytes(sizes[number[2]], "little")
            elif data := re.fullmatch(r"stringnoz\[`([0-9a-f]+)`\]", kind):
                out += bytes.fromhex(data[1])
            else:
                out += data_of(kind)
        return out

    assert data_of("txop_made_device") == DEVICE + CONFIGURATION


def quoted(data: bytes) -> str:
    return f'"{data.hex()}"'


def test_programs_answer_in_order(probe: Probe) -> None:
    connect, whole = seeds(probe, "made", "made up\nby a test")
    assert (connect.answered, connect.of) == (0, 9)
    assert (whole.answered, whole.of) == (9, 9)
    rows = [row for row in whole.text.splitlines() if row and not row.startswith("#")]
    assert [row for row in connect.text.splitlines() if row and not row.startswith("#")] == rows[:1]
    assert rows[0].startswith(f"r0 = syz_usb_connect$txop_made(0x3, {len(DEVICE + CONFIGURATION):#x}, ")
    assert quoted(LANGUAGES) in rows[0]
    assert quoted(STRING) in rows[0]
    answers = [re.search(r"@\w+=([^}]+)[})]", row) for row in rows[1:]]
    assert [None if one is None else one[1] for one in answers] == [
        *("0x10", "0x10", "0x11", None, "0x1234", quoted(b"\2txop\0"), None, None, quoted(b"answer")),
    ]
    assert rows[7] == "syz_usb_control_io$txop_made(r0, 0x0, 0x0)"  # the STALL
    assert rows[8].startswith("syz_usb_ep_read(r0, 0x2, 0x1000, ")


@given(probes())
def test_any_probe_makes_programs_that_a_corpus_takes(probe: Probe) -> None:
    text = description(probe, "made", "")
    assert text.isascii()
    assert all(text.count(opening) == text.count(closing) for opening, closing in ("{}", "[]", "()"))
    types = re.findall(r"^(\w+) [{\[=]", text, re.MULTILINE)
    assert len(types) == len(set(types))
    for seed in seeds(probe, "made", ""):
        rows = [row for row in seed.text.splitlines() if row and not row.startswith("#")]
        assert len(rows) == seed.answered + 1 <= MOST_CALLS
        addresses = [int(at, 16) for at in re.findall(r"&\((0x[0-9a-f]+)\)", seed.text)]
        assert len(addresses) == len(set(addresses))
        assert all(0x7F0000000000 <= at < 0x7F0001000000 for at in addresses)
        calls = {row.removeprefix("r0 = ").partition("(")[0] for row in rows}
        declared = set(re.findall(r"^(syz_usb_\w+\$\w+)\(", text, re.MULTILINE))
        assert calls <= declared | {"syz_usb_ep_read", "syz_usb_ep_write"}


def test_a_request_with_the_number_of_get_descriptor_is_answered_as_one() -> None:
    """Of whatever type: so syzkaller looks it up (executor/common_usb.h, lookup_control_response)."""
    capture = ProbeCapture()
    capture.enumeration()
    capture.asks(setup(0xC0, 6, 0x1234, 0, 2), b"\1\2")
    probe = collect(read_usb_urbs(capture.written()))
    assert "get_vendor_12\tptr[in, vusb_descriptor_t[USB_TYPE_VENDOR, 0x12, " in description(probe, "made", "")
    row = seeds(probe, "made", "")[1].text.splitlines()[-1]
    assert row.startswith("syz_usb_control_io$txop_made(r0, &(")
    assert "{0x40, 0x12, 0x2, @number2=0x201}" in row
    assert row.endswith(", 0x0)")


def test_data_of_a_transfer_that_failed_are_not_sent() -> None:
    capture = ProbeCapture()
    capture.enumeration()
    capture.transfer(0x83, 3, b"part", status=-71)
    probe = collect(read_usb_urbs(capture.written()))
    assert "syz_usb_ep_write" not in description(probe, "made", "")
    assert seeds(probe, "made", "")[1].text.splitlines()[-1] == "syz_usb_ep_write(r0, 0x83, 0x0, 0x0)"

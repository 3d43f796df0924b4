"""Probes of a device with any requests and replies, also absurd ones."""

from __future__ import annotations

from hypothesis import strategies as st

from probe_capture import CONFIGURATION, DEVICE
from txop.formats.usb_urbs import Setup, TransferKind
from txop.guest_probe.probe import Endpoint, Event, Probe, Reply, Request

_REPLIES = st.lists(
    st.builds(Reply, st.sampled_from([0, 0, -32, -110]), st.binary(max_size=12), st.integers(1, 3)), max_size=4
).map(tuple)
_BYTES, _WORDS = st.integers(0, 0xFF), st.integers(0, 0xFFFF)
_REQUESTS = st.builds(Request, st.builds(Setup, _BYTES, _BYTES, _WORDS, _WORDS, _WORDS), _REPLIES)
_ENDPOINTS = st.builds(
    Endpoint,
    _BYTES,
    st.sampled_from([TransferKind.BULK, TransferKind.INTERRUPT]),
    st.integers(0, 1000),
    st.integers(0, 10_000),
    _REPLIES,
    st.integers(0, 5),
)


@st.composite
def probes(draw) -> Probe:
    """A probe."""
    requests = tuple(draw(st.lists(_REQUESTS, max_size=6, unique_by=lambda one: one.setup)))
    endpoints = tuple(draw(st.lists(_ENDPOINTS, max_size=3, unique_by=lambda one: one.address)))
    events = [st.builds(Event, st.integers(0, len(requests) - 1), st.none(), st.integers(1, 30))] if requests else []
    if endpoints:
        addresses = st.sampled_from([one.address for one in endpoints])
        events.append(st.builds(Event, st.none(), addresses, st.integers(1, 3)))
    order = tuple(draw(st.lists(st.one_of(events), max_size=8))) if events else ()
    strings = draw(st.dictionaries(st.integers(0, 5), st.binary(max_size=20), max_size=4))
    return Probe(DEVICE, CONFIGURATION, strings, requests, endpoints, order)

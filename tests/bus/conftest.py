"""Made-up captures of a modem on the bus: Linux' usbmon and Windows' USBPcap, with and without aggregation."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from txop import bus
from txop.bus import BusReport
from usb_trace import IN, OUT, Trace, qmap, tcp

MakeTrace = Callable[..., Path]


@pytest.fixture
def make_trace(tmp_path: Path) -> MakeTrace:
    """A modem that sends TCP acknowledgements up (``per_transfer`` in each transfer) and data down."""

    def make(name: str, *, link_type: int = 220, per_transfer: int = 1, product: str = "Modem", transfers: int = 100,
             snap: int = 65535, status: int = 0) -> Path:  # fmt: skip
        trace = Trace(link_type)
        trace.descriptors(product)
        for n in range(transfers):
            at = 2_000_000 + n * 20_000
            trace.transfer(at, 300, OUT, qmap([tcp(0)] * per_transfer))
            trace.transfer(at + 50, 400, IN, qmap([tcp(1448)] * 4), status=status if n == 0 else 0)
            if n % 10 == 0:
                trace.transfer(at, 100, 0x83, bytes(8), kind=1, asked=8)
        return trace.write(tmp_path / name, snap)

    return make


@pytest.fixture
def report(make_trace: MakeTrace) -> BusReport:
    """One datagram per transfer on the way up."""
    return bus.analyze(make_trace("linux.pcap"))


@pytest.fixture
def aggregated(make_trace: MakeTrace) -> BusReport:
    """Windows, with aggregation on the way up."""
    return bus.analyze(make_trace("windows.pcap", link_type=249, per_transfer=15))

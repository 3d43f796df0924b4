"""A guest's capture cut to the measured window."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from txop.campaign.instrument import Marks, RunFacts
from txop.plan.model import LocalTarget, Plan
from txop.probes.bus_analysis import BusAnalysis
from txop.probes.windowed import CLOCK_FILE, cut, in_window

EPOCH_S = 1_767_225_600
SECOND = 1_000_000_000


@pytest.fixture(autouse=True, scope="module")
def _cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


def pcap(times_ns: list[int], *, nanoseconds: bool = False) -> bytes:
    magic, unit = (0xA1B23C4D, 1) if nanoseconds else (0xA1B2C3D4, 1000)
    data = struct.pack("<IHHiIII", magic, 2, 4, 0, 0, 65536, 220)
    for number, at in enumerate(times_ns):
        body = bytes([number]) * 5
        data += struct.pack("<4I", at // SECOND, at % SECOND // unit, len(body), len(body)) + body
    return data


def block(kind: int, body: bytes) -> bytes:
    body += bytes(-len(body) % 4)
    size = 12 + len(body)
    return struct.pack("<2I", kind, size) + body + struct.pack("<I", size)


def pcapng(times_ns: list[int], resolution: int | None) -> bytes:
    data = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
    option = b"" if resolution is None else struct.pack("<2HB3x2H", 9, 1, resolution, 0, 0)
    data += block(1, struct.pack("<2HI", 127, 0, 65536) + option)
    per_second = 10 ** (6 if resolution is None else resolution)
    for number, at in enumerate(times_ns):
        ticks = at * per_second // SECOND
        data += block(6, struct.pack("<5I", 0, ticks >> 32, ticks & 0xFFFFFFFF, 4, 4) + bytes([number]) * 4)
    return data


TIMES = [(EPOCH_S + second) * SECOND for second in (5, 10, 11, 19, 20, 30)]


@pytest.mark.parametrize(
    "make",
    [
        pcap,
        lambda times: pcap(times, nanoseconds=True),
        lambda times: pcapng(times, None),
        lambda times: pcapng(times, 9),
        lambda times: pcapng(times, 3),
    ],
)
def test_only_records_of_the_window_are_kept(tmp_path: Path, make) -> None:  # type: ignore[no-untyped-def]
    whole, part = tmp_path / "whole", tmp_path / "part"
    whole.write_bytes(make(TIMES))
    assert cut(whole, part, TIMES[1], TIMES[4])
    head = make([])
    assert part.read_bytes() == head + make(TIMES)[len(make(TIMES[:1])) : len(make(TIMES[:4]))]


def test_the_window_is_by_the_clock_of_the_chip(tmp_path: Path) -> None:
    plan = Plan.model_validate(
        {
            "title": "x", "target": {"dut": {"kind": "guest"}, "peer": {"kind": "guest"}}, "guest": {},
            "arm": [{"name": "a"}], "test": [{"name": "t", "kind": "tcp-tx", "duration_s": 10}],
        }
    )  # fmt: skip
    facts = RunFacts(plan, plan.arm[0], plan.test[0], tmp_path, Marks(window=10.0, end=20.0))
    (tmp_path / "usb.pcap").write_bytes(pcap(TIMES))
    with pytest.raises(ValueError, match="clock"), in_window(facts, "usb.pcap"):
        pass  # never figures of all of it under the name of the window
    away = facts.plan.model_copy(update={"target": {"dut": LocalTarget()}})
    with in_window(replace(facts, plan=away), "usb.pcap") as path:
        assert path == tmp_path / "usb.pcap"
    (tmp_path / CLOCK_FILE).write_text(json.dumps({"epoch_ns": EPOCH_S * SECOND}))
    with in_window(facts, "usb.pcap") as path:
        assert len(path.read_bytes()) == len(pcap(TIMES[1:4]))
    assert not path.exists()
    reading = BusAnalysis().read(facts)  # its records are no URBs
    assert reading.metrics["usb_out_urbs_per_s"].value is None
    (tmp_path / CLOCK_FILE).write_bytes(b" " * (2 << 20))
    with pytest.raises(ValueError, match="clock"), in_window(facts, "usb.pcap"):
        pass
    assert "clock" in (BusAnalysis().read(facts).metrics["usb_out_urbs_per_s"].reason or "")


@given(data=st.binary(max_size=200), cut_at=st.integers(0, 300), ng=st.booleans())
def test_captures_may_be_damaged(tmp_path_factory: pytest.TempPathFactory, data: bytes, cut_at: int, ng: bool) -> None:
    folder = tmp_path_factory.mktemp("capture")
    good = pcapng(TIMES, 9) if ng else pcap(TIMES)
    (folder / "whole").write_bytes(good[:cut_at] + data)
    cut(folder / "whole", folder / "part", TIMES[1], TIMES[4])
    assert (folder / "part").stat().st_size <= cut_at + len(data)

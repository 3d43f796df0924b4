"""Uptimes of targets, and what a slow answer may not be taken for."""

from __future__ import annotations

import asyncio
import time
from types import SimpleNamespace

import pytest

from fake_target import FakeTarget
from txop.campaign.clocks import note_uptimes, started_again
from txop.measure.instrument import Marks


class Slow(FakeTarget):
    """Takes its time to answer, before it looks at its clock or after."""

    booted = 0.0
    before_s = after_s = 0.0

    async def read(self, path: str, *, limit_bytes: int = 1 << 20) -> bytes | None:
        await asyncio.sleep(self.before_s)
        uptime = time.monotonic() - self.booted
        await asyncio.sleep(self.after_s)
        return f"{uptime:.2f} 0.00\n".encode()


@pytest.mark.parametrize(
    ("first", "second", "booted", "again"),
    [
        ((0.0, 0.0), (0.0, 0.0), None, False),
        ((1.3, 0.0), (0.0, 1.3), None, False),
        ((0.0, 0.0), (0.0, 0.0), -1.5, True),
        ((0.0, 0.1), (0.1, 0.0), -0.0, True),
    ],
)
def test_a_slow_answer_is_no_restart(first, second, booted, again):
    target = Slow("dut")
    target.booted = time.monotonic() - 1000
    marks = Marks()
    run = SimpleNamespace(targets=SimpleNamespace(by_name={"dut": target}), marks=marks)
    target.before_s, target.after_s = first
    known = asyncio.run(note_uptimes(run))  # type: ignore[arg-type]
    target.before_s, target.after_s = second
    if booted is not None:
        target.booted = time.monotonic() + booted
    later = asyncio.run(note_uptimes(run, known))  # type: ignore[arg-type]
    assert started_again(known["dut"], later["dut"]) is again
    best = min((known["dut"], later["dut"]), key=lambda uptime: uptime.uncertainty_s)
    kept = later["dut"] if again else best
    assert marks.uptime_minus_monotonic_s["dut"] == kept.minus_monotonic_s

"""A search for what is slow in guests that really boot."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from txop.guest.qemu import Computer, Mode
from txop.guest.shipped_faults import FaultScript
from txop.guest_exploration.cost import Metric
from txop.guest_exploration.exploration import Request
from txop.guest_exploration.slow.explore import SlowRequest, search
from txop.guest_image.image import Image
from txop.guest_trials.trial import Place

SMALL = FaultScript("small", "[traffic]\nlength_bytes = 64\nrate_mbit_s = 1.0\n")
SILENCE = FaultScript("silence", '[[fault]]\naction = "nak"\nendpoint = 1\nfrom_ms = 4000\ntimes = 1\nfor_ms = 300\n')


@pytest.mark.slow
@pytest.mark.parametrize(
    ("device", "driver", "given"), [("rtl8188cus", "rtl8192cu", (SMALL, SILENCE)), ("ar9280", "ath9k", (SMALL,))]
)
def test_what_makes_a_driver_slow_is_found_and_replays_to_the_byte(
    image: Image, chips: Path, tmp_path: Path, device: str, driver: str, given: tuple[FaultScript, ...]
) -> None:
    del chips
    place = Place(image, Computer(mode=Mode.EXACT), 600, {}, device)
    what = SlowRequest((driver,), given, Request(tries=0, reductions=2))
    (searched,) = asyncio.run(search(what, place, tmp_path))
    usual = searched.without.usual
    assert usual.packets > 2_000
    assert usual.answered == usual.echoes == 150
    found = {(finding.begin, finding.metric) for finding in searched.findings}
    assert ("small", Metric.AIRTIME) in found
    assert len(given) == 1 or ("silence", Metric.RTT) in found
    assert all(finding.exact for finding in searched.findings)
    told: list[str] = []
    (again,) = asyncio.run(search(what, place, tmp_path, progress=told.append))
    assert [finding.key for finding in again.findings] == [finding.key for finding in searched.findings]
    assert again.search.trials == searched.search.trials

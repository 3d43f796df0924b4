"""An exploration in guests that really boot."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from txop.guest.qemu import Computer, Mode
from txop.guest.shipped_faults import find_faults
from txop.guest_exploration.exploration import EXACT, Request
from txop.guest_exploration.explore import ExplorationRequest, explore
from txop.guest_image.image import Image
from txop.guest_trials.trial import Place

DRIVER = "rtl8192cu"
"""It needs no building."""


@pytest.mark.slow
def test_a_warn_that_a_script_shows_is_found_and_replays_to_the_byte(image: Image, chips: Path, tmp_path: Path) -> None:
    del chips
    place = Place(image, Computer(mode=Mode.EXACT, limit_s=1200), 1800, {})
    what = ExplorationRequest((DRIVER,), (find_faults("cut-rx"),), Request(tries=1, reductions=1))
    (explored,) = asyncio.run(explore(what, place, tmp_path))
    assert explored.control.problem is None
    assert len(explored.control.registers) > 50
    finding = next(finding for finding in explored.findings if finding.begin == "cut-rx")
    assert finding.key == "warns: kernel-warning net/mac80211/rx.c:813 ieee80211_rx_list"
    assert finding.replay == EXACT
    assert (explored.folder / "findings" / f"{finding.name}.toml").read_text() == find_faults("cut-rx").text
    tried = [json.loads(row) for row in (explored.folder / "journal.jsonl").read_text().splitlines()]
    assert sum(event["event"] == "tried" for event in tried) == len(explored.outcomes)
    again: list[str] = []
    (same,) = asyncio.run(explore(what, place, tmp_path, progress=again.append))
    assert same.findings == explored.findings
    assert same.outcomes == explored.outcomes

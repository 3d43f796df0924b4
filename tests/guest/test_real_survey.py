"""A survey and cycles in guests that really boot."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from txop.guest.qemu import Computer, Mode
from txop.guest.shipped_faults import find_faults
from txop.guest_image.image import Image
from txop.guest_trials.endurance import Endurance, Removal, run_endurance
from txop.guest_trials.judgement import Verdict
from txop.guest_trials.survey import Survey, control_problems, run_survey
from txop.guest_trials.trial import Place

DRIVER = "rtl8192cu"
"""It needs no building."""


@pytest.fixture
def place(image: Image, chips: Path) -> Place:
    del chips
    return Place(image, Computer(mode=Mode.EXACT, limit_s=1200), 1800, {})


@pytest.mark.slow
def test_a_survey_tells_an_unplugged_dongle_from_a_dead_one(place: Place, tmp_path: Path) -> None:
    scripts = (find_faults("unplug"), find_faults("dead-registers"))
    rows = asyncio.run(run_survey(Survey(scripts, (DRIVER,)), place, tmp_path, jobs=2))
    assert control_problems(rows) == []
    by_name = {row.script.name: row.worst.judgement for row in rows}
    unplugged = by_name["unplug"]
    assert (unplugged.verdict, unplugged.struck) == (Verdict.RECOVERS, 1)
    assert unplugged.silence_s is not None
    assert unplugged.silence_s >= 2
    assert by_name["dead-registers"].verdict is not Verdict.NOT_REACHED


@pytest.mark.slow
def test_cycles_under_traffic(place: Place, tmp_path: Path) -> None:
    runs = asyncio.run(run_endurance(Endurance((DRIVER,), tuple(Removal), cycles=3), place, tmp_path, jobs=2))
    assert [run.way for run in runs] == [Removal.RELOAD, Removal.REPLUG]
    for run in runs:
        assert run.problems == []
        assert (run.done, run.with_traffic) == (3, 3)
        assert any(fault.key in ("usb-reset", "usb-disconnect") for fault in run.log.faults)

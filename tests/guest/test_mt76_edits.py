"""The edit of mt76x0: without it the driver's periodic work never runs (docs/bugs.md#mt76-mac-work)."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from cards_here import run
from txop.guest.chips import Chip
from txop.guest.driver import DriverBuild, build_driver, patch_files
from txop.guest_image.locks import find_lock

COUNT = """\
mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null
cd /sys/kernel/tracing
echo p:txop_work mt76x02_mac_work >kprobe_events
echo 1 >events/kprobes/txop_work/enable
sleep 3
grep -c txop_work: trace || :"""


def times_it_ran(folder: Path, modules: tuple[Path, ...]) -> int:
    run(folder, Chip("mt7610u", "mt76x0u", stations=(-45,)), COUNT, modules=modules)
    return int((folder / "stdout").read_text().split()[-1])


@pytest.mark.slow
def test_the_work_runs_with_the_edit_only(tmp_path: Path) -> None:
    assert times_it_ran(tmp_path / "stock", ()) == 0
    edit = patch_files([Path("txop:mt76x0/mac-work.toml")])
    edited = asyncio.run(build_driver(DriverBuild("mt76x0-common", edit), find_lock("6.12"))).module
    # ten times a second (Linux mt76x02.h, MT_MAC_WORK_INTERVAL)
    assert 20 <= times_it_ran(tmp_path / "edited", (edited,)) <= 31

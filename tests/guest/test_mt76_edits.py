"""The edit of mt76x0: without it the driver's periodic work never runs (docs/mt76-mac-work.md)."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from guests_here import built_chips, built_image
from txop.guest.chips import IN_GUEST, Chip
from txop.guest.driver import DriverBuild, build_driver, patch_files
from txop.guest.qemu import Computer, Mode
from txop.guest.running import run_guest
from txop.guest_image.locks import find_lock
from txop.guest_image.overlay import Overlay

COUNT = """\
mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null
cd /sys/kernel/tracing
echo p:txop_work mt76x02_mac_work >kprobe_events
txop-lab up || exit
echo 1 >events/kprobes/txop_work/enable
sleep 3
grep -c txop_work: trace
txop-lab down
"""


def times_it_ran(folder: Path, modules: tuple[Path, ...]) -> int:
    chip = Chip("mt7610u", "mt76x0u", stations=(-45,))
    script = COUNT.replace("echo p:", "modprobe mt76x0u\necho p:")
    overlay = Overlay(script=script, environment=chip.variables(), files={IN_GUEST: built_chips()}, modules=modules)
    computer = Computer(mode=Mode.EXACT, limit_s=150)
    asyncio.run(run_guest(built_image("6.12"), overlay, computer, results=folder, wall_limit_s=1_800))
    return int((folder / "stdout").read_text().split()[-1])


@pytest.mark.slow
def test_the_work_runs_with_the_edit_only(tmp_path: Path) -> None:
    assert times_it_ran(tmp_path / "stock", ()) == 0
    edit = patch_files([Path("txop:mt76x0/mac-work.toml")])
    edited = asyncio.run(build_driver(DriverBuild("mt76x0-common", edit), find_lock("6.12"))).module
    # ten times a second (Linux mt76x02.h, MT_MAC_WORK_INTERVAL)
    assert 20 <= times_it_ran(tmp_path / "edited", (edited,)) <= 31

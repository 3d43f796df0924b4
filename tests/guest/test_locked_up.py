"""A guest whose only processor loops with interrupts off: it ends, and its kernel says where it was."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from guests_here import built_image
from txop.guest.driver import DriverBuild, build_driver
from txop.guest.qemu import WATCHDOG_S, Computer, Mode
from txop.guest.running import Cause, GuestFailedError, run_guest
from txop.guest_image.locks import find_lock
from txop.guest_image.overlay import Overlay
from txop.guest_trials.kernel_lines import LOCKED_UP, read_kernel_lines
from txop.log.naming import read_log

SOURCE = """\
// SPDX-License-Identifier: GPL-2.0
#include <linux/irqflags.h>
#include <linux/module.h>
static int __init never_ends(void)
{
	local_irq_disable();
	for (;;)
		barrier();
	return 0;
}
module_init(never_ends);
MODULE_LICENSE("GPL");
"""


@pytest.mark.slow
def test_the_kernel_reports_where_it_was(tmp_path: Path) -> None:
    image = built_image("6.12")
    source = tmp_path / "source"
    source.mkdir()
    (source / "locked.c").write_text(SOURCE)
    (source / "Kbuild").write_text("obj-m := locked.o\n")
    built = asyncio.run(build_driver(DriverBuild("locked", source=source), find_lock("6.12")))
    overlay = Overlay(script="dmesg | tail -n 1; insmod /root/locked.ko", files={"/root/locked.ko": built.module})
    # of a slow processor the watchdog's time is few instructions
    computer = Computer(mode=Mode.EXACT, shift=3)
    with pytest.raises(GuestFailedError) as failed:
        asyncio.run(run_guest(image, overlay, computer, results=tmp_path / "out", wall_limit_s=900))
    assert failed.value.cause is Cause.OFF
    console = tmp_path / "out" / "console"
    report = read_log(console)
    assert LOCKED_UP in [fault.key for fault in report.faults]
    text = console.read_text(errors="replace")
    assert "never_ends" in text
    assert "init_module" in text, "who called it"
    (end,) = (row for row in read_kernel_lines(console.read_bytes()) if "NMI: Not continuing" in row.text)
    # it is fed four times in that time
    begun = read_kernel_lines((tmp_path / "out" / "stdout").read_bytes())[-1]
    assert 0.7 * WATCHDOG_S[Mode.EXACT] <= end.time_s - begun.time_s <= WATCHDOG_S[Mode.EXACT] + 10

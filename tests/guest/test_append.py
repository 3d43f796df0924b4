"""Words on the kernel command line of a real guest."""

from __future__ import annotations

import asyncio

import pytest

from guests_here import built_image
from txop.guest.qemu import Computer
from txop.guest.running import run_guest
from txop.guest_image.overlay import Overlay


@pytest.mark.slow
def test_kfence_of_debians_kernel_is_switched_on(tmp_path):
    script = "cat /proc/cmdline; cat /sys/module/kfence/parameters/sample_interval"
    computer = Computer(append=("kfence.sample_interval=7",))
    asyncio.run(
        run_guest(built_image("6.12"), Overlay(script=script), computer, results=tmp_path / "out", wall_limit_s=600)
    )
    said = (tmp_path / "out" / "stdout").read_text()
    assert " kfence.sample_interval=7\n" in said
    assert said.splitlines()[-1] == "7"

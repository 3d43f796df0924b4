"""Blocks of a driver counted in guests that really boot, with the distribution's kernel."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from guests_here import no_guest, rebuilt_driver
from txop.guest.coverage.instrument import Covered, instrument, kernel_build
from txop.guest.qemu import Computer, Mode
from txop.guest.running import FILES
from txop.guest.shipped_faults import CONTROL, find_faults
from txop.guest_exploration.in_guests import InGuests
from txop.guest_image.error import MissingGuestToolError
from txop.guest_image.image import Image
from txop.guest_image.locks import find_lock
from txop.guest_trials.trial import Place

DRIVER = "rtl8xxxu"


@pytest.fixture(scope="module")
def covered(image: Image) -> Covered:
    async def built() -> Covered:
        kernel = kernel_build(find_lock("6.12"), None, None, progress=lambda _: None)
        return await instrument(DRIVER, image, kernel, lambda _: None)

    try:
        return asyncio.run(built())
    except MissingGuestToolError as error:
        no_guest(f"no driver can be built: {error}")


@pytest.mark.slow
def test_a_fault_reaches_blocks_that_nothing_else_does_and_twice_the_same(
    image: Image, covered: Covered, chips: Path, tmp_path: Path
) -> None:
    del chips
    place = Place(image, Computer(mode=Mode.EXACT, limit_s=1200), 1800, {DRIVER: (rebuilt_driver(DRIVER).module,)})
    assert covered.total > 2000
    guests, again = (InGuests(DRIVER, place, tmp_path, covered=covered, name=name) for name in ("once", "twice"))
    control = asyncio.run(guests.control())
    assert control.problem is None
    assert control.blocks is not None
    assert 500 < len(control.blocks) < covered.total / 2, "it knows many chips, and has one"
    functions = {block.function for block in control.blocks}
    assert {"rtl8xxxu_probe", "rtl8xxxu_rx_complete", "rtl8xxxu_disconnect"} <= functions, "tasks, interrupts, removal"
    assert asyncio.run(again.control()).blocks == control.blocks
    counts = [(tmp_path / name / CONTROL.name / FILES / "coverage").read_bytes() for name in ("once", "twice")]
    assert counts[0] == counts[1], "how often each block was reached, too"
    outcome = asyncio.run(guests.run(find_faults("damaged-rx").text, 0))
    beyond = {feature for feature in outcome.features if feature.startswith(f"block {DRIVER} ")}
    assert beyond, "blocks that the trial without faults does not reach"
    assert outcome.blocks is not None
    assert outcome.blocks > 500

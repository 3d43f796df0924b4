"""The two logs of the rtl8xxxu bug list, as real dongles wrote them, come out of shipped fault scripts word for word.

The lines are those of ``examples/boards/rtl8xxxu-gardena`` (the wiki page of the rtl8xxxu work on the GARDENA gateway,
Linux 5.10 to 5.13). They are compared with what Debian's 6.1 says, whose driver still writes these messages; only the
place of the device on the bus differs. Newer drivers try a download six times, so that a line may come several times in
a row.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from itertools import groupby
from pathlib import Path

import pytest

from guests_here import rebuilt_driver
from txop.guest.chips import FAULTS, IN_GUEST
from txop.guest.qemu import Computer
from txop.guest.running import run_guest
from txop.guest.shipped_faults import find_faults
from txop.guest_image.image import Image
from txop.guest_image.overlay import Overlay
from txop.guest_trials.kernel_lines import read_kernel_lines

WIKI = Path(__file__).parents[2] / "examples" / "boards" / "rtl8xxxu-gardena"
ELSEWHERE = re.compile(r"new high-speed USB device number")
"""Names the host controller and a number that the machine counted."""
DEVICE = {"1-1.5.4": "1-1"}
DEBUG = 0x2001
"""RTL8XXXU_DEBUG_EFUSE and RTL8XXXU_DEBUG_REG_WRITE (rtl8xxxu.h): without them the driver keeps both to itself."""

SCRIPT = f"""
modprobe xhci_pci || exit 1
txop-vusb control attach --device rtl8188cus --ap none --faults {FAULTS} --stats /txop/out/chip.json || exit 2
sleep 3
modprobe rtl8xxxu debug={DEBUG}
sleep 6
dmesg -r >/txop/out/log
"""


def said_by_real_hardware(name: str) -> list[str]:
    rows = (WIKI / f"{name}.txt").read_text().splitlines()
    lines = [row.removeprefix("kernel: ") for row in rows]
    for there, here in DEVICE.items():
        lines = [line.replace(there, here) for line in lines]
    return [line for line in lines if not ELSEWHERE.search(line)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "wiki"), [("firmware-upload", "firmware-upload-failure"), ("rx-iqk", "rx-iqk-failed")]
)
def test_the_log_of_a_real_dongle(
    image_of: Callable[[str], Image], chips: Path, script: str, wiki: str, tmp_path: Path
) -> None:
    image = image_of("6.1")
    overlay = Overlay(
        script=SCRIPT,
        files={IN_GUEST: chips},
        texts={FAULTS: find_faults(script).text.encode()},
        modules=(rebuilt_driver("rtl8xxxu", "6.1").module,),
    )
    ended = asyncio.run(run_guest(image, overlay, Computer(), results=tmp_path, wall_limit_s=600))
    assert ended.status == 0, (tmp_path / "console").read_text()
    lines = [line.text for line in read_kernel_lines((tmp_path / "files/log").read_bytes())]
    expected = said_by_real_hardware(wiki)
    assert len(expected) >= 24
    # the list's logs do not begin with the kernel's own; "Product" is said twice, by USB and by the driver
    lines = lines[lines.index(expected[0]) :]
    # what only the debug mask of this kernel adds, register by register, is not in the list's logs
    wanted = set(expected)
    found = [line for line, _ in groupby(line for line in lines if line in wanted)]
    assert found == [line for line, _ in groupby(expected)], "\n".join(lines)
    if script == "rx-iqk":
        assert sum(line.endswith("Path A RX IQK failed!") for line in lines) == 2

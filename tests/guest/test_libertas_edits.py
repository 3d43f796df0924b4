"""The edits of libertas: what the stock driver waits for when its card fails (docs/bugs.md#libertas-reset-deadlock)."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from cards_here import run
from txop.guest.chips import Chip
from txop.guest.driver import DriverBuild, build_driver, patch_files
from txop.guest.shipped_faults import find_faults
from txop.guest_image.locks import find_lock

RESET = """\
timeout 25 ping -q -n -i 0.02 10.80.210.1 >/dev/null 2>&1 &
sleep 28
dmesg | grep -c 'new high speed SDIO card'"""

STOP = """\
echo 20 >/proc/sys/kernel/hung_task_timeout_secs
timeout 25 ping -q -n -i 0.02 10.80.210.1 >/dev/null 2>&1 &
sleep 90
dmesg | grep -c '^[^?]* lbs_stop_iface+' || :"""


def edited(module: str, edit: str) -> Path:
    return asyncio.run(
        build_driver(DriverBuild(module, patch_files([Path(f"txop:libertas/{edit}.toml")])), find_lock("6.12"))
    ).module


def printed(folder: Path, faults: str, command: str, modules: tuple[Path, ...]) -> int:
    """The number that the command prints at its end, in a guest with these faults of commands."""
    folder.mkdir()
    script = folder / "faults.toml"
    script.write_text(find_faults(f"sdio/{faults}").text)
    chip = Chip("sd8686", "libertas_sdio", ap="builtin", security="open", faults=script)
    run(folder / "out", chip, command, modules=modules)
    return int((folder / "out" / "stdout").read_text().split()[-1])


@pytest.mark.slow
def test_the_reset_comes_to_its_end_with_the_edit_only(tmp_path: Path) -> None:
    """The card is found again after the reset that a failed write brings about."""
    assert printed(tmp_path / "stock", "write-crc", RESET, ()) == 1
    assert printed(tmp_path / "edited", "write-crc", RESET, (edited("libertas_sdio", "reset-wait"),)) == 2


@pytest.mark.slow
def test_going_down_comes_to_its_end_with_the_edit_only(tmp_path: Path) -> None:
    """After writes that are refused no task hangs in ``lbs_stop_iface`` any more."""
    assert printed(tmp_path / "stock", "write-refused", STOP, ()) > 0
    assert printed(tmp_path / "edited", "write-refused", STOP, (edited("libertas", "stop-wait"),)) == 0

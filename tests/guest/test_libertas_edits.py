"""The edits of libertas: what stock libertas_sdio waits for when its card fails (docs/libertas-reset-deadlock.md)."""

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


def edited(module: str, edit: str) -> Path:
    return asyncio.run(
        build_driver(DriverBuild(module, patch_files([Path(f"txop:libertas/{edit}.toml")])), find_lock("6.12"))
    ).module


@pytest.mark.slow
def test_the_reset_comes_to_its_end_with_the_edit_only(tmp_path: Path) -> None:
    """The card is found again after the reset that a failed write brings about."""
    faults = tmp_path / "faults.toml"
    faults.write_text(find_faults("sdio/write-crc").text)
    chip = Chip("sd8686", "libertas_sdio", ap="builtin", security="open", faults=faults)
    found = {}
    for name, modules in (("stock", ()), ("edited", (edited("libertas_sdio", "reset-wait"),))):
        run(tmp_path / name, chip, RESET, modules=modules)
        found[name] = int((tmp_path / name / "stdout").read_text().split()[-1])
    assert found == {"stock": 1, "edited": 2}

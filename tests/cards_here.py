"""A guest with a virtual SDIO card, driven by a stock driver: what a command in it left."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from guests_here import built_chips, built_image
from txop.guest.chips import IN_GUEST, Chip
from txop.guest.qemu import Computer, Mode
from txop.guest.running import run_guest
from txop.guest_image.overlay import Overlay


def run(
    folder: Path, chip: Chip, command: str, kernel: str = "6.12", modules: tuple[Path, ...] = (), seed: int = 0
) -> Any:
    """Boots a guest with the card, lets the command run in its laboratory, and gives what was counted."""
    image, chips = built_image(kernel), built_chips()
    script = f"txop-lab up || exit\n{command} || exit\ntxop-lab down\n"
    files = {**chip.files(), IN_GUEST: chips}
    overlay = Overlay(script=script, environment=chip.variables(), files=files, modules=modules)
    computer = Computer(mode=Mode.EXACT, shift=1, seed=seed, limit_s=150)
    ended = asyncio.run(run_guest(image, overlay, computer, results=folder, wall_limit_s=1_800))
    assert ended.status == 0, (folder / "stderr").read_text()
    return json.loads((folder / "files" / "chip.json").read_text())["device"]

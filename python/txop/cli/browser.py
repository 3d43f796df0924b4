"""Opening a page for the user, where there is a desktop to open it on."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path


def show(page: Path) -> None:
    """Open ``page`` in the desktop's browser; without a desktop, or under CI, do nothing."""
    opener = shutil.which("xdg-open")
    has_display = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if opener is None or not has_display or os.environ.get("CI"):
        return
    subprocess.Popen(
        [opener, os.fspath(page.resolve())],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )

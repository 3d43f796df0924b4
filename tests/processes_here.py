"""Processes of this machine, as /proc has them, for tests of what is left behind."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path


def command_of(pid: int) -> bytes:
    """The first word of the command line; empty for a process that is gone, and for a zombie."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0]
    except OSError:
        return b""


def wait_for(condition: Callable[[], bool], seconds: float = 60.0) -> bool:
    """Whether ``condition`` comes true in time; the time is for a busy machine."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return condition()

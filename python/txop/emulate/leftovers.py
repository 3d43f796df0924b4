"""Processes that an emulation has started, found by a mark in their environment.

Namespaces and devices go with the last process that is in them or holds them open. What an emulation starts itself ends
with it (see :mod:`txop.process.held`); what a program in it starts and leaves behind (``iperf3 -s -D``) has the mark
too, and is ended by what is left: txop, or when that was killed, the emulator process, or when both were, ``txop
emulate --cleanup``.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

VARIABLE = "TXOP_EMULATION"
"""Holds the number and the start of the process that made the emulation, and which of its emulations it is."""
_PROC = Path("/proc")
_START_TIME_FIELD = 19
"""The field of ``/proc/PID/stat``, counted behind the name of the program (proc(5): field 22)."""
_LONGEST_ENVIRONMENT = 4 << 20


def mark() -> str:
    """The mark of this process: nothing else has it, also later."""
    return f"{os.getpid()}.{_start_time(os.getpid())}"


def end_marked(mine: str) -> int:
    """Kill every process with this mark, except this one; how many there were."""
    return _end(lambda found: found == mine)


def end_orphans() -> int:
    """Kill every process of emulations with a maker that is gone; how many there were."""
    return _end(lambda found: not _lives(found))


def _end(which: Callable[[str], bool]) -> int:
    ended: set[int] = set()
    # Those that come into being meanwhile are found in the next round.
    for _ in range(20):
        found = {pid for pid, mark in _marked() if which(mark)}
        if not found:
            break
        for pid in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
                ended.add(pid)
        time.sleep(0.02)
    return len(ended)


def _marked() -> Iterator[tuple[int, str]]:
    """Processes with a mark that still run, without this one."""
    beginning = f"{VARIABLE}=".encode()
    for folder in _PROC.glob("[0-9]*"):
        pid = int(folder.name)
        try:
            if pid == os.getpid() or _state(pid) in ("Z", "X"):
                continue
            with (folder / "environ").open("rb") as file:
                environment = file.read(_LONGEST_ENVIRONMENT)
        except (OSError, ValueError, IndexError):
            continue
        for entry in environment.split(b"\0"):
            if entry.startswith(beginning):
                yield pid, entry[len(beginning) :].decode("ascii", errors="replace")
                break


def _lives(mark: str) -> bool:
    pid, start = ([*mark.split("."), ""])[:2]
    try:
        return _state(int(pid)) not in ("Z", "X") and _start_time(int(pid)) == start
    except (OSError, ValueError, IndexError):
        return False


def _fields(pid: int) -> list[str]:
    return (_PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()


def _state(pid: int) -> str:
    return _fields(pid)[0]


def _start_time(pid: int) -> str:
    return _fields(pid)[_START_TIME_FIELD]

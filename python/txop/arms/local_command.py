"""A command on the machine txop runs on, with its output in a log; nothing of it runs on when it is given up."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

KEPT_BYTES = 1 << 20
"""Limit on the end of the output that is handed back."""

_AS_A_GROUP = 'trap "kill -KILL 0" TERM; "$@" & wait $!'
"""Shell text: runs its arguments, and ends with all their processes on SIGTERM. The kernel sends it when this process
has ended (PR_SET_PDEATHSIG, prctl(2)), also by SIGKILL; it sends it to one process, and make has many."""

MAX_LOG_BYTES = 256 << 20
"""A command that says more is stopped."""


@dataclass(frozen=True)
class EndedHere:
    """A command that ended."""

    status: int
    output: str
    """Its stdout and stderr, the last :data:`KEPT_BYTES` of it."""
    timed_out: bool = False
    missing: bool = False
    """There is no such program."""


async def run_here(
    argv: Sequence[str], *, folder: Path, log: Path, variables: Mapping[str, str], timeout_s: float
) -> EndedHere:
    """Run a command to its end in ``folder``, with ``LC_ALL=C``; its output is added to ``log``.

    Its whole process group is killed after ``timeout_s``, when it fills the log, when the caller is cancelled, and when
    this process ends, however it does.
    """
    timed_out = False
    with log.open("ab") as out:
        out.write(f"$ {' '.join(argv)}\n".encode(errors="backslashreplace"))
        out.flush()
        start = out.tell()
        if not _is_program(argv[0], folder, variables):
            return EndedHere(127, "", missing=True)
        starting = asyncio.ensure_future(
            asyncio.create_subprocess_exec(
                *_tied(argv),
                cwd=folder,
                env={**variables, "LC_ALL": "C"},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=out,
                stderr=asyncio.subprocess.STDOUT,
                start_new_session=True,
            )
        )
        try:
            # shielded: given up in the middle of the start, asyncio would kill the program but not its children
            process = await asyncio.shield(starting)
        except (FileNotFoundError, PermissionError):
            return EndedHere(127, "", missing=True)
        except asyncio.CancelledError:
            with suppress(OSError):
                await _kill(await starting)
            raise
        try:
            status = await _watched(process, log, timeout_s)
            timed_out = status is None
        finally:
            await _kill(process)
    with log.open("rb") as written:
        written.seek(max(start, log.stat().st_size - KEPT_BYTES))
        output = written.read(KEPT_BYTES).decode("utf-8", "replace")
    return EndedHere(process.returncode if process.returncode is not None else -1, output, timed_out)


def _is_program(name: str, folder: Path, variables: Mapping[str, str]) -> bool:
    if "/" in name:
        return os.access(folder / name, os.X_OK) and (folder / name).is_file()
    return shutil.which(name, path=variables.get("PATH", os.defpath)) is not None


def _tied(argv: Sequence[str]) -> list[str]:
    """``argv``, tied to this process where the machine has what that takes."""
    setpriv = shutil.which("setpriv")
    return [setpriv, "--pdeathsig", "TERM", "--", "/bin/sh", "-c", _AS_A_GROUP, "sh", *argv] if setpriv else [*argv]


async def _kill(process: asyncio.subprocess.Process) -> None:
    """Kill a process with its group, which it may have left behind; nothing when there is none any more."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    if process.returncode is None:
        await process.wait()


async def _watched(process: asyncio.subprocess.Process, log: Path, timeout_s: float) -> int | None:
    loop = asyncio.get_running_loop()
    deadline = loop.time() + timeout_s
    while (left := deadline - loop.time()) > 0 and log.stat().st_size < MAX_LOG_BYTES:
        with suppress(TimeoutError):
            return await asyncio.wait_for(process.wait(), min(left, 1.0))
    return None

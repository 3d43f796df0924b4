"""Real-time scheduling for the emulator, where this machine allows it."""

from __future__ import annotations

import asyncio
import functools
import shutil

from txop.emulate.namespaces import tool_environment

_PREFIX = ("chrt", "--reset-on-fork", "--rr", "1")
"""SCHED_RR with the lowest priority (sched(7)): before all ordinary programs, after whatever else is real-time. Threads
and programs that the emulator starts are ordinary. The kernel leaves a twentieth of the time to others in any case
(``kernel.sched_rt_runtime_us``)."""


@functools.cache
def _program() -> str | None:
    return shutil.which(_PREFIX[0], path=tool_environment()["PATH"])


async def real_time_prefix() -> tuple[str, ...]:
    """Prefix of a command that is to run with real-time scheduling; empty where that is not allowed.

    The emulator sleeps nearly always, and when it wakes up late, packets are late. On a busy machine an ordinary
    process is woken milliseconds late, with the highest nice value too.
    """
    if _program() is None:
        return ()
    trial = await asyncio.create_subprocess_exec(
        *_PREFIX, "true",
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
        env=tool_environment(),
    )  # fmt: skip
    return _PREFIX if await trial.wait() == 0 else ()

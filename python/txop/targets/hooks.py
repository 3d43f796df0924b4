"""Hooks that reset a target or cut its power, by commands on this machine."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass

from txop.targets.contract import Listener, Target, TargetError, TargetLostError, run_checked
from txop.targets.local import LocalTarget

HOOK_TIMEOUT_S = 120.0
"""For one command of a hook."""

RETRY_S = 1.0

BOOT_ID = "/proc/sys/kernel/random/boot_id"


@dataclass(frozen=True)
class Recovered:
    """A target that answers again."""

    seconds: float
    """From the end of the last command until it answered."""
    rebooted: bool | None
    """Whether its kernel started afresh; ``None`` when it could not be asked before."""


async def run_hook(
    target: Target, commands: Sequence[Sequence[str]], *, settle_s: float, listener: Listener | None = None
) -> Recovered:
    """Run a hook's commands one after the other, then wait until the target answers.

    Args:
        target: Closed first, connected afterwards.
        commands: At least one.
        settle_s: How long it may take to answer after the last command.
        listener: Receives the commands, as those of a target called ``NAME-hook``.

    Raises:
        CommandFailedError: A command of the hook failed; the others were not run.
        TargetLostError: It did not answer in time.
        TargetError: It answers, but cannot be used.
    """
    before = await _boot_id(target)
    await target.close()
    here = LocalTarget(f"{target.name}-hook", listener=listener)
    try:
        for argv in commands:
            await run_checked(here, argv, timeout_s=HOOK_TIMEOUT_S)
    finally:
        await here.close()
    began = time.monotonic()
    while True:
        try:
            await asyncio.wait_for(target.connect(), max(RETRY_S, settle_s))
        except (TargetLostError, TimeoutError) as error:
            if time.monotonic() - began > settle_s:
                why = error.what if isinstance(error, TargetError) else "it does not answer"
                raise TargetLostError(target.name, f"did not come back within {settle_s:g} s: {why}") from error
            await asyncio.sleep(RETRY_S)
        else:
            break
    seconds = time.monotonic() - began
    after = await _boot_id(target)
    return Recovered(seconds, None if before is None or after is None else before != after)


async def _boot_id(target: Target) -> bytes | None:
    try:
        return await target.read(BOOT_ID)
    except TargetError:
        return None

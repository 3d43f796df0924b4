"""Kernels as arms: another kernel is booted on the device under test, and it is made sure that it is the one.

The restart is part of the load: connections that break with it are not a fault, and are made again, also those of other
targets on the same machine.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import Any

from txop.arms.module_file import kernel_build_id
from txop.arms.steps import COMMAND_TIMEOUT_S, StepError, ended, line, need
from txop.plan.arm import BootSpec
from txop.targets.contract import (
    CommandTimeoutError,
    Listener,
    Target,
    TargetError,
    TargetLostError,
    Targets,
    run_checked,
)
from txop.targets.hooks import BOOT_ID, HOOK_TIMEOUT_S
from txop.targets.local import LocalTarget

RETRY_S = 1.0
CONNECT_S = 20.0
"""For one attempt to connect: a machine that goes down may leave a connection hanging."""
NOTES = "/sys/kernel/notes"


@dataclass(frozen=True)
class Booted:
    """The kernel that runs once the arm's is there."""

    found: dict[str, Any]
    """``kernel``: its release; ``kernel_build_id``, where the target gives it; ``boot_s``: from the restart until it
    answered, when it was restarted."""


async def boot(targets: Targets, spec: BootSpec, listener: Listener | None = None) -> Booted:
    """Boot the kernel of an arm, unless it runs already.

    Args:
        targets: Connected.
        spec: The kernel, and what boots it.
        listener: Hears of commands on this machine, as of a target called ``dut-boot``.

    Raises:
        StepError: Another kernel came up, or the device did not restart.
        TargetLostError: It did not come back.
        TargetError: A command failed.
    """
    dut = targets.dut
    found = await _running(dut)
    if _difference(found, spec) is None:
        return Booted(found)
    before = await dut.read(BOOT_ID, limit_bytes=100)
    begun = time.monotonic()
    said = await _restart(dut, spec, listener)
    await _wait(dut, before, spec, said)
    for target in targets.by_name.values():
        if target is not dut:
            await _still_there(target, begun + spec.timeout_s)
    found = await _running(dut)
    different = _difference(found, spec)
    if different is not None:
        raise StepError(dut.name, f"{different} after `{line([*spec.commands, *spec.hook][-1])}`")
    return Booted({**found, "boot_s": round(time.monotonic() - begun, 1)})


async def _restart(dut: Target, spec: BootSpec, listener: Listener | None) -> str:
    """Run the commands; how the last one failed, in words, as it may have been cut off by the restart."""
    for number, argv in enumerate(spec.commands, start=1):
        if number < len(spec.commands) or spec.hook:
            await need(dut, argv, f"boot {spec.release}", timeout_s=COMMAND_TIMEOUT_S)
            continue
        try:
            ran = await dut.run(argv, root=True, timeout_s=COMMAND_TIMEOUT_S)
        except (TargetLostError, CommandTimeoutError):
            return ""
        return "" if ran.ok else f": `{line(argv)}` {ended(ran)}"
    here = LocalTarget(f"{dut.name}-boot", listener=listener)
    try:
        for argv in spec.hook:
            await run_checked(here, argv, timeout_s=HOOK_TIMEOUT_S)
    finally:
        await here.close()
    return ""


async def _wait(dut: Target, before: bytes | None, spec: BootSpec, said: str) -> None:
    """Until it answers with another boot id."""
    until = time.monotonic() + spec.timeout_s
    why = ""
    while True:
        try:
            await asyncio.wait_for(dut.connect(), CONNECT_S)
            now = await dut.read(BOOT_ID, limit_bytes=100)
            if now is not None and now != before:
                return
            why = ""
        except (TargetLostError, CommandTimeoutError, TimeoutError) as error:
            why = error.what if isinstance(error, TargetError) else "it does not answer"
        if time.monotonic() > until:
            break
        await asyncio.sleep(RETRY_S)
    if why:
        raise TargetLostError(
            dut.name, f"did not come back within {spec.timeout_s:g} s when {spec.release} was booted: {why}"
        )
    raise StepError(dut.name, f"did not restart within {spec.timeout_s:g} s to boot {spec.release}{said}")


async def _still_there(target: Target, until: float) -> None:
    """Connect a target again that went away with the device under test, being the same machine."""
    while True:
        try:
            await asyncio.wait_for(target.connect(), CONNECT_S)
            return
        except (TargetLostError, CommandTimeoutError, TimeoutError):
            if time.monotonic() > until:
                raise TargetLostError(target.name, "went away when the device under test was restarted") from None
            await asyncio.sleep(RETRY_S)


async def _running(dut: Target) -> dict[str, Any]:
    release = (await dut.run(["uname", "-r"])).stdout.strip()
    found: dict[str, Any] = {"kernel": release}
    build_id = kernel_build_id(await dut.read(NOTES, limit_bytes=1 << 16) or b"")
    if build_id is not None:
        found["kernel_build_id"] = build_id
    return found


def _difference(found: dict[str, Any], spec: BootSpec) -> str | None:
    """What the kernel that runs has else than the arm's, in words."""
    if found["kernel"] != spec.release:
        return f"the kernel {found['kernel'] or 'of unknown release'} runs, not {spec.release}"
    wanted, runs = spec.build_id, found.get("kernel_build_id")
    if wanted is None or wanted.lower() == runs:
        return None
    return f"{spec.release} runs with the build id {runs or f'that {NOTES} does not show'}, not {wanted.lower()}"

"""The kernel log of another machine, for ``txop log --target``."""

from __future__ import annotations

import asyncio
import io
from pathlib import Path

from txop.cli.chosen_target import chosen_target
from txop.core.errors import ExitCode, UserError
from txop.targets.contract import Target, TargetError

TIMEOUT_S = 60.0


def fetch(target: str, plan: Path | None) -> io.BytesIO:
    """What ``dmesg`` prints on ``target``: a target of ``plan`` when there is one, else ``local`` or
    ``[user@]host[:port]``. Raises :class:`UserError`."""
    try:
        return io.BytesIO(asyncio.run(_dmesg(chosen_target(target, plan))))
    except TargetError as error:
        raise UserError(error.what, where=error.target, exit_code=ExitCode.MISSING) from None


async def _dmesg(target: Target) -> bytes:
    await target.connect()
    try:
        ran = await target.run(["dmesg"], timeout_s=TIMEOUT_S, root=True)
        if not ran.ok:
            said = (ran.stderr.strip().splitlines() or ["no output"])[-1]
            raise TargetError(target.name, f"dmesg ended with {ran.status}: {said}")
        return ran.stdout_bytes
    finally:
        await target.close()

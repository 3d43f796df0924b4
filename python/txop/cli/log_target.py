"""The kernel log of another machine, for ``txop log --target``."""

from __future__ import annotations

import asyncio
import io
from pathlib import Path

from txop.core.errors import ExitCode, UserError
from txop.core.nearest import did_you_mean
from txop.targets.contract import Silence, Target, TargetError

TIMEOUT_S = 60.0


def fetch(target: str, plan: Path | None) -> io.BytesIO:
    """What ``dmesg`` prints on ``target``: a target of ``plan`` when there is one, else ``local`` or
    ``[user@]host[:port]``. Raises :class:`UserError`."""
    try:
        return io.BytesIO(asyncio.run(_dmesg(_make(target, plan))))
    except TargetError as error:
        raise UserError(error.what, where=error.target, exit_code=ExitCode.MISSING) from None


def _make(target: str, plan: Path | None) -> Target:
    from txop.targets.local import LocalTarget
    from txop.targets.ssh import SshTarget
    from txop.targets.ssh_connection import Hop, SshAddress

    if plan is not None:
        return _of_plan(target, plan)
    if target == "local":
        return LocalTarget("local")
    try:
        hop = Hop.parse(target)
    except ValueError:
        raise UserError(
            f"{target!r} is not a machine", what_to_do="give local or [user@]host[:port], or a target of --plan PLAN"
        ) from None
    return SshTarget(hop.host, where=SshAddress(hop.host, port=hop.port, user=hop.user))


def _of_plan(target: str, plan: Path) -> Target:
    from txop.cli.plan_problems import read_plan
    from txop.targets.factory import CONSTRUCTORS

    loaded, _ = read_plan(plan, files=False)
    table = loaded.plan.target.get(target)
    if table is None:
        to_do = did_you_mean(target, list(loaded.plan.target))
        raise UserError(f"unknown target {target!r} in it", where=str(plan), what_to_do=to_do)
    return CONSTRUCTORS[table.kind](target, table, Silence())


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

"""The machine that ``--target`` names, perhaps with ``--plan``."""

from __future__ import annotations

from pathlib import Path

from txop.core.errors import UserError
from txop.core.nearest import did_you_mean
from txop.targets.contract import Silence, Target


def chosen_target(target: str, plan: Path | None) -> Target:
    """``target``: one of ``plan`` when there is one, else ``local`` or ``[user@]host[:port]``. Raises
    :class:`UserError`."""
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

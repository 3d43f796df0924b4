"""From the targets of a plan to the targets of a campaign."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from txop.plan import target as tables
from txop.plan.model import Plan
from txop.targets.contract import Listener, Target, TargetError, Targets

Constructor = Callable[[str, Any, Listener], Target]
"""From the target's name, its table in the plan, and the listener. Does not connect."""


def _local(name: str, table: tables.LocalTarget, listener: Listener) -> Target:
    from txop.targets.local import LocalTarget

    return LocalTarget(name, interface=table.interface, address=table.address, sudo=table.sudo, listener=listener)


def _namespace(name: str, table: tables.NamespaceTarget, listener: Listener) -> Target:
    from txop.targets.namespace import NamespaceTarget

    return NamespaceTarget(
        name,
        namespace=table.name,
        interface=table.interface,
        address=table.address,
        sudo=table.sudo,
        listener=listener,
    )


def _ssh(name: str, table: tables.SshTarget, listener: Listener) -> Target:
    from txop.targets.ssh import SshTarget
    from txop.targets.ssh_connection import SshAddress

    where = SshAddress(
        table.host,
        # 22 is what ssh takes by default, and the configuration file may set another.
        port=table.port if "port" in table.model_fields_set else None,
        user=table.user,
        key=table.key,
        jump=tuple(table.jump),
        known_hosts=table.known_hosts,
        config=table.config,
        connect_timeout_s=table.connect_timeout_s,
    )
    return SshTarget(
        name,
        where=where,
        namespace=table.namespace,
        interface=table.interface,
        address=table.address,
        sudo=table.sudo,
        listener=listener,
    )


def _labgrid(name: str, table: tables.LabgridTarget, listener: Listener) -> Target:
    from txop.targets.labgrid import LabgridTarget

    return LabgridTarget(
        name,
        place=table.place,
        coordinator=table.coordinator,
        interface=table.interface,
        address=table.address,
        sudo=table.sudo,
        listener=listener,
    )


def _emulated(name: str, table: tables.EmulatedTarget, listener: Listener) -> Target:  # noqa: ARG001
    raise TargetError(name, "is an end of an emulated link, and there is no running link to put it on")


def _guest(name: str, table: tables.GuestTarget, listener: Listener) -> Target:  # noqa: ARG001
    raise TargetError(name, "is a machine of a guest, and there is no running guest to find it in")


CONSTRUCTORS: dict[str, Constructor] = {
    "local": _local,
    "namespace": _namespace,
    "ssh": _ssh,
    "labgrid": _labgrid,
    "emulated": _emulated,
    "guest": _guest,
}
"""By the ``kind`` of a target's table. What must be running before a target can be made is given to
:func:`make_targets` instead, by what runs it."""


def make_targets(plan: Plan, listener: Listener, constructors: dict[str, Constructor] | None = None) -> Targets:
    """All targets of a plan, not connected.

    Args:
        plan: The plan.
        listener: Receives every command.
        constructors: Kinds beside or instead of :data:`CONSTRUCTORS`.

    Raises:
        TargetError: A kind that needs more than the plan.
    """
    known = {**CONSTRUCTORS, **(constructors or {})}
    return Targets({name: known[table.kind](name, table, listener) for name, table in plan.target.items()})

"""How a plan's machines are reached, as against what is measured on them: only the former may change while a campaign
lasts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from txop.plan.locate import shown
from txop.plan.model import Plan

ACCESS = (
    "address",
    "config",
    "connect_timeout_s",
    "coordinator",
    "hooks",
    "host",
    "jump",
    "key",
    "known_hosts",
    "namespace",
    "port",
    "sudo",
    "user",
)
"""Keys of a target on a machine: addresses, keys, hooks."""
MACHINES = ("local", "namespace", "ssh", "labgrid")
"""Kinds of targets that are machines. (The ``host`` of an emulated target is a place in the link that is measured.)"""

Key = tuple[str | int, ...]


@dataclass(frozen=True)
class Changes:
    """What differs between two plans, by key."""

    allowed: tuple[str, ...]
    refused: tuple[str, ...]


def changes(old: Plan, new: Plan) -> Changes:
    """What differs, and whether it may."""
    one, other = (dict(_leaves(plan.model_dump(mode="json"), ())) for plan in (old, new))
    missing = object()
    keys = [key for key in dict.fromkeys([*one, *other]) if one.get(key, missing) != other.get(key, missing)]
    names = dict.fromkeys((_access(new, key), shown(_cut(key))) for key in keys)
    return Changes(
        tuple(name for allowed, name in names if allowed), tuple(name for allowed, name in names if not allowed)
    )


def without_access(plan: Plan) -> str:
    """All that the plan measures, as text: the same whatever way its machines are reached."""
    kept = {shown(key): value for key, value in _leaves(plan.model_dump(mode="json"), ()) if not _access(plan, key)}
    return json.dumps(kept, sort_keys=True)


def _access(plan: Plan, key: Key) -> bool:
    if len(key) < 3 or key[0] != "target" or key[2] not in ACCESS:
        return False
    target = plan.target.get(str(key[1]))
    return target is not None and target.kind in MACHINES


def _cut(key: Key) -> Key:
    """Lists of a target (jump hosts, commands of a hook) are named as a whole."""
    number = next((index for index, part in enumerate(key) if isinstance(part, int)), len(key))
    return key[:number] if key[0] == "target" else key


def _leaves(value: Any, key: Key) -> Iterator[tuple[Key, Any]]:
    if isinstance(value, dict) and value:
        for name, inner in value.items():
            yield from _leaves(inner, (*key, name))
    elif isinstance(value, list) and value:
        for index, inner in enumerate(value):
            yield from _leaves(inner, (*key, index))
    else:
        yield key, value

"""The address at which the peer reaches a target."""

from __future__ import annotations

import re

from txop.targets.contract import Target, TargetError

_SOURCE = re.compile(r"\bsrc (?P<address>[0-9.]{7,15})\b")


async def address_of(target: Target, peer: str) -> str:
    """The address by which the peer reaches a target: the one it sends from. Raises :class:`TargetError`."""
    said = await target.run(["ip", "-4", "route", "get", peer], timeout_s=10)
    found = _SOURCE.search(said.stdout)
    if found is None:
        raise TargetError(target.name, f"does not say from which address it reaches {peer} (ip route get)")
    return found["address"]

"""Addresses of a plan's targets that cannot be right."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator

from txop.plan.load import LoadedPlan
from txop.plan.locate import Path

_WITH_PORT = re.compile(r"(?P<host>[^:\[\]]+|\[[^\]]*\]):(?P<port>[0-9]{1,5})")
"""A host and a port; an IPv6 address without brackets has more colons."""


def wrong_addresses(loaded: LoadedPlan) -> Iterator[tuple[Path, str, str | None]]:
    """Addresses with a port in them, and targets with the address of the peer."""
    targets = loaded.plan.target
    for name, target in targets.items():
        for key in ("host", "address"):
            text = getattr(target, key, None)
            found = _WITH_PORT.fullmatch(text) if isinstance(text, str) and target.kind != "emulated" else None
            if found is None:
                continue
            to_do = f'write {key} = "{found["host"]}"'
            if key == "host":
                to_do += f" and port = {found['port']}"
            yield ("target", name, key), f'"{text}" has a port in it', to_do
    peer = targets.get("peer")
    if peer is None or peer.address is None:
        return
    for name, target in targets.items():
        if name != "peer" and target.address is not None and _same(target.address, peer.address):
            said = f"the peer has the same address, {peer.address}: no traffic would leave the machine"
            yield ("target", name, "address"), said, "give each end its own address on the link under test"


def _same(one: str, other: str) -> bool:
    """Whether two texts are one address.

    >>> _same("fe80::1%wlan0", "FE80:0::1%wlan0"), _same("router", "Router"), _same("10.0.0.1", "10.0.0.2")
    (True, True, False)
    """
    return _plain(one) == _plain(other)


def _plain(text: str) -> str:
    bare = text.removeprefix("[").removesuffix("]")
    try:
        return str(ipaddress.ip_address(bare))
    except ValueError:
        return bare.lower().rstrip(".")

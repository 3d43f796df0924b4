"""A named network namespace of the machine txop runs on (``ip netns``)."""

from __future__ import annotations

import os
from pathlib import Path

from txop.targets.contract import Listener, TargetError, TargetLostError
from txop.targets.process import ProcessTarget

RUN_NETNS = Path("/run/netns")
"""Where ``ip netns`` keeps its names (ip-netns(8))."""


class NamespaceTarget(ProcessTarget):
    """Commands run through ``ip netns exec``, which needs root; without it, and with ``sudo``, all of them through
    ``sudo -n``."""

    def __init__(
        self,
        name: str,
        *,
        namespace: str,
        interface: str | None = None,
        address: str | None = None,
        sudo: bool = False,
        listener: Listener | None = None,
    ) -> None:
        enter = ["ip", "netns", "exec", namespace]
        self._namespace = namespace
        self._is_root = os.geteuid() == 0
        super().__init__(
            name,
            prefix=enter if self._is_root or not sudo else ["sudo", "-n", "--", *enter],
            interface=interface,
            address=address,
            listener=listener,
        )
        self._may_enter = self._is_root or sudo

    async def _reach(self) -> None:
        if not self._may_enter:
            raise TargetError(
                self._name,
                f"entering the network namespace {self._namespace!r} needs root. Run txop as root, or set "
                "`sudo = true` for this target",
            )
        if not (RUN_NETNS / self._namespace).exists():
            raise TargetLostError(
                self._name,
                f"there is no network namespace {self._namespace!r}. `ip netns list` shows those there are; "
                f"`ip netns add {self._namespace}` makes it",
            )

"""A pair of network namespaces without names, which exist as long as two idle processes do.

As root they are plain network namespaces. Otherwise both are made inside one user namespace, in which this user is
root (user_namespaces(7)); programs there may set addresses, open raw sockets and make TUN devices, but only there.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Sequence
from typing import Literal

from txop.emulate.error import EmulationError, MissingForEmulation
from txop.emulate.held import DIES_WITH_PARENT, HeldProcess, start

Side = Literal["dut", "peer"]

_PACKAGES = {"unshare": "util-linux", "nsenter": "util-linux", "setpriv": "util-linux", "ip": "iproute2"}
_SBIN = ("/usr/local/sbin", "/usr/sbin", "/sbin")
_START_S = 10.0
_IDLE = (*DIES_WITH_PARENT, "cat")
"""Repeats its input and ends with it: so it can be asked whether it is there yet."""


def tool_environment() -> dict[str, str]:
    """The environment for tools: this one, with the ``sbin`` folders in PATH and messages in English."""
    path = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return {**os.environ, "LC_ALL": "C", "PATH": os.pathsep.join([*path, *(d for d in _SBIN if d not in path)])}


def check_tools() -> None:
    """Raise :class:`MissingForEmulation` for a program that is not installed."""
    path = tool_environment()["PATH"]
    for program, package in _PACKAGES.items():
        if shutil.which(program, path=path) is None:
            raise MissingForEmulation(
                f"an emulated link needs the program {program}", what_to_do=f"install the package {package}"
            )


class NamespacePair:
    """Two network namespaces. Use :meth:`make`, then :meth:`close`."""

    def __init__(self, dut: HeldProcess, peer: HeldProcess, *, rootless: bool) -> None:
        self._holders: dict[Side, HeldProcess] = {"dut": dut, "peer": peer}
        self.rootless = rootless

    @classmethod
    async def make(cls) -> NamespacePair:
        """Make them. Raises :class:`MissingForEmulation` when this machine does not allow it."""
        check_tools()
        # Root without the right to make namespaces (in a container) may still have user namespaces.
        ways = (False, True) if os.geteuid() == 0 else (True,)
        complaint = ""
        for rootless in ways:
            try:
                return await cls._make(rootless=rootless)
            except EmulationError as error:
                complaint = error.what
        raise MissingForEmulation(
            f"cannot make network namespaces: {complaint}",
            what_to_do="run as root, or allow user namespaces (`txop doctor` says how)",
        )

    @classmethod
    async def _make(cls, *, rootless: bool) -> NamespacePair:
        user = ("--user", "--map-root-user") if rootless else ()
        dut = await _hold(["unshare", *user, "--net", "--", *_IDLE])
        try:
            into_user = _enter(dut, "--user") if rootless else []
            peer = await _hold([*into_user, "unshare", "--net", "--", *_IDLE])
        except BaseException:
            await dut.stop()
            raise
        return cls(dut, peer, rootless=rootless)

    @property
    def alive(self) -> bool:
        """Whether both are still held."""
        return all(holder.running for holder in self._holders.values())

    def path(self, side: Side) -> str:
        """The namespace as a file."""
        return f"/proc/{self._holders[side].pid}/ns/net"

    def enter_user(self) -> list[str]:
        """Prefix of a command that has power over both namespaces but runs in neither."""
        return [*_enter(self._holders["dut"], "--user"), *DIES_WITH_PARENT] if self.rootless else [*DIES_WITH_PARENT]

    def enter(self, side: Side, argv: Sequence[str] = ()) -> list[str]:
        """``argv`` with the prefix that runs it in a namespace, for as long as the process that starts it lives."""
        user = ("--user",) if self.rootless else ()
        return [*_enter(self._holders[side], *user, "--net"), *DIES_WITH_PARENT, *argv]

    async def close(self) -> None:
        """Let go of them. What still runs in them keeps them until it ends."""
        await asyncio.gather(*(holder.stop() for holder in self._holders.values()))


def _enter(holder: HeldProcess, *namespaces: str) -> list[str]:
    # As the root of a user namespace, credentials must stay what they are: there is no other user in it.
    keep = ("--preserve-credentials",) if "--user" in namespaces else ()
    return ["nsenter", "--target", str(holder.pid), *namespaces, *keep, "--"]


async def _hold(argv: Sequence[str]) -> HeldProcess:
    holder = await start(argv, tool_environment())
    try:
        await holder.ask(b"there\n")
        if await holder.line(_START_S) != "there":
            holder.close_input()
            raise EmulationError(await holder.complaint() or f"{argv[0]} did not start in {_START_S:g} s")
    except BaseException:
        await holder.stop()
        raise
    return holder

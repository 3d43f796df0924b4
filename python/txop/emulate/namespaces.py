"""Network namespaces without names, which exist as long as idle processes do.

As root they are plain network namespaces. Otherwise all are made inside one user namespace, in which this user is
root (user_namespaces(7)); programs there may set addresses, open raw sockets and make TUN devices, but only there.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Sequence

from txop.emulate.error import EmulationError, MissingEmulationToolError
from txop.emulate.starting import started
from txop.process.held import DIES_WITH_PARENT, HeldProcess

_PACKAGES = {"unshare": "util-linux", "nsenter": "util-linux", "setpriv": "util-linux", "ip": "iproute2"}
_SBIN = ("/usr/local/sbin", "/usr/sbin", "/sbin")
_START_S = 10.0
_AT_ONCE = 16
"""Namespaces that are made at the same time at most."""
_IDLE = (*DIES_WITH_PARENT, "cat")
"""Repeats its input and ends with it: so it can be asked whether it is there yet."""


def tool_environment() -> dict[str, str]:
    """The environment for tools: this one, with the ``sbin`` folders in PATH and messages in English."""
    path = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return {**os.environ, "LC_ALL": "C", "PATH": os.pathsep.join([*path, *(d for d in _SBIN if d not in path)])}


def check_tools() -> None:
    """Raise :class:`MissingEmulationToolError` for a program that is not installed."""
    path = tool_environment()["PATH"]
    for program, package in _PACKAGES.items():
        if shutil.which(program, path=path) is None:
            raise MissingEmulationToolError(
                f"an emulated link needs the program {program}", what_to_do=f"install the package {package}"
            )


class Namespaces:
    """Network namespaces, by number. Use :meth:`make`, then :meth:`close`."""

    def __init__(self, *, rootless: bool, environment: dict[str, str]) -> None:
        self._holders: list[HeldProcess] = []
        self._environment = environment
        self.rootless = rootless

    @classmethod
    async def make(cls, count: int, environment: dict[str, str]) -> Namespaces:
        """Make ``count`` of them; what keeps them gets ``environment``.

        Raises :class:`MissingEmulationToolError` when this machine does not allow it.
        """
        check_tools()
        # Root without the right to make namespaces (in a container) may still have user namespaces.
        ways = (False, True) if os.geteuid() == 0 else (True,)
        complaint = ""
        for rootless in ways:
            namespaces = cls(rootless=rootless, environment=environment)
            try:
                await namespaces._fill(count)
            except EmulationError as error:
                complaint = error.what
                await namespaces.close()
            except BaseException:
                await namespaces.close()
                raise
            else:
                return namespaces
        raise MissingEmulationToolError(
            f"cannot make network namespaces: {complaint}",
            what_to_do="run as root, or allow user namespaces (`txop doctor` shows how)",
        )

    async def _fill(self, count: int) -> None:
        users = ("--user", "--map-root-user") if self.rootless else ()
        self._holders.append(await self._hold(["unshare", *users, "--net", "--", *_IDLE]))
        into_user = _enter(self._holders[0], "--user") if self.rootless else []
        while len(self._holders) < count:
            some = min(_AT_ONCE, count - len(self._holders))
            made = await asyncio.gather(
                *(self._hold([*into_user, "unshare", "--net", "--", *_IDLE]) for _ in range(some)),
                return_exceptions=True,
            )
            self._holders += [holder for holder in made if isinstance(holder, HeldProcess)]
            for failure in made:
                if isinstance(failure, BaseException):
                    raise failure

    async def _hold(self, argv: Sequence[str]) -> HeldProcess:
        holder = await started(argv, self._environment)
        try:
            await holder.ask(b"there\n")
            if await holder.line(_START_S) != "there":
                holder.close_input()
                raise EmulationError(await holder.complaint() or f"{argv[0]} did not start in {_START_S:g} s")
        except BaseException:
            await holder.stop()
            raise
        return holder

    @property
    def alive(self) -> bool:
        """Whether all are still held."""
        return all(holder.running for holder in self._holders)

    def pid(self, number: int) -> int:
        """A process in the namespace."""
        return self._holders[number].pid

    def path(self, number: int) -> str:
        """The namespace as a file."""
        return f"/proc/{self.pid(number)}/ns/net"

    def enter_user(self) -> list[str]:
        """Prefix of a command that has power over all namespaces but runs in none of them."""
        return _enter(self._holders[0], "--user") if self.rootless else []

    def enter(self, number: int, argv: Sequence[str] = ()) -> list[str]:
        """``argv`` with the prefix that runs it in a namespace, for as long as the process that starts it lives."""
        return [*self.enter_forever(number), *DIES_WITH_PARENT, *argv]

    def enter_forever(self, number: int) -> list[str]:
        """Prefix of a command that runs in a namespace, and may outlive who started it."""
        user = ("--user",) if self.rootless else ()
        return _enter(self._holders[number], *user, "--net")

    def enter_from_another(self, number: int) -> list[str]:
        """The same for a command that runs in one of these namespaces, and so in the user namespace of them all.

        No process may enter the user namespace it is in: setns(2) fails with EINVAL.
        """
        return _enter(self._holders[number], "--net")

    async def close(self) -> None:
        """Let go of them. What still runs in them keeps them until it ends."""
        holders, self._holders = self._holders, []
        await asyncio.gather(*(holder.stop() for holder in holders))


def _enter(holder: HeldProcess, *namespaces: str) -> list[str]:
    # As the root of a user namespace, credentials must stay what they are: there is no other user in it.
    keep = ("--preserve-credentials",) if "--user" in namespaces else ()
    return ["nsenter", "--target", str(holder.pid), *namespaces, *keep, "--"]

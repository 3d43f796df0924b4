"""One thing that is done to a target for an arm, and how it is undone; and what the steps of one arm share."""

from __future__ import annotations

import asyncio
import shlex
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from txop.targets.contract import CommandFailedError, CommandResult, Target, TargetError, Targets

COMMAND_TIMEOUT_S = 60.0
"""For a free command."""

RUN_FOLDER = "/run/txop"
"""Where steps keep files on a target while an arm is loaded; only root may look in."""

Tools = Literal["kmod", "busybox", "other"]


class StepError(TargetError):
    """A step could not be done. ``what`` says what was tried and why it failed."""


@dataclass
class Session:
    """What the steps of one arm share."""

    targets: Targets
    folder: Path
    """File names in the plan are relative to it."""
    tag: str = "run"
    """Begins the names of folders made on targets, so that a later start of the same campaign can find them again."""
    warnings: list[str] = field(default_factory=list)
    interface_timeout_s: float = 15.0
    """How long an interface may take to appear after a module was loaded."""
    _folders: dict[str, str] = field(default_factory=dict)
    _tools: dict[str, Tools | None] = field(default_factory=dict)

    def target(self, name: str) -> Target:
        """A target of the plan; :class:`StepError` when there is none."""
        try:
            return self.targets.by_name[name]
        except KeyError:
            raise StepError(name, "no such target in the plan") from None

    def file(self, name: str) -> Path:
        """A file the plan names, as an absolute path on this machine."""
        return self.folder.absolute() / Path(name).expanduser()

    def read_file(self, name: str, limit_bytes: int) -> bytes:
        """The contents of a file the plan names; :class:`StepError` when it cannot be read or is larger."""
        path = self.file(name)
        try:
            with path.open("rb") as source:
                data = source.read(limit_bytes + 1)
        except OSError as error:
            raise StepError("this machine", f"{path}: {error.strerror or error}") from None
        if len(data) > limit_bytes:
            raise StepError("this machine", f"{path} is larger than {limit_bytes:,} bytes")
        return data

    async def temporary(self, name: str) -> str:
        """A folder on a target that only root can enter; gone after :meth:`discard`."""
        if name not in self._folders:
            target = self.target(name)
            base = RUN_FOLDER
            if not (await target.run(["mkdir", "-p", "-m", "700", base], root=True)).ok:
                base = "/tmp"  # noqa: S108 - mktemp makes a private folder in it
            made = await need(target, ["mktemp", "-d", f"{base}/{self.tag}-XXXXXX"], "make a temporary folder")
            path = made.stdout.strip()
            if not path.startswith(f"{base}/{self.tag}-"):
                raise StepError(name, f"mktemp gave no folder but {path[:100]!r}")
            self._folders[name] = path
        return self._folders[name]

    async def discard(self) -> list[str]:
        """Remove the temporary folders; what could not be removed, in words."""
        problems = []
        for name, path in list(self._folders.items()):
            ran = await self.target(name).run(["rm", "-rf", path], root=True)
            if ran.ok:
                del self._folders[name]
            else:
                problems.append(f"{name}: {path} could not be removed: {said(ran)}")
        return problems

    async def tools(self, name: str) -> Tools | None:
        """The kind of ``modprobe`` that a target has; ``None``: none at all."""
        if name not in self._tools:
            target = self.target(name)
            found: Tools | None = None
            if await target.find("modprobe") is not None:
                ran = await target.run(["modprobe", "--version"])
                text = (ran.stdout + ran.stderr).lower()
                found = "kmod" if "kmod" in text else "busybox" if "busybox" in text else "other"
            self._tools[name] = found
        return self._tools[name]


class Step(ABC):
    """One thing done to one target. A step object serves for one load; it may remember what it found."""

    target: str
    """Name of the target in the plan, or ``this machine``."""

    @property
    @abstractmethod
    def what(self) -> str:
        """What is done, as in "load rtl8xxxu"."""

    @abstractmethod
    def shown(self) -> list[str]:
        """The commands, for someone who wants to know before they are run; on a target with kmod's tools."""

    def undo_shown(self) -> list[str]:
        """The commands that undo it."""
        return []

    @abstractmethod
    async def do(self, session: Session) -> None:
        """Do it. Raises :class:`StepError`, or another :class:`~txop.targets.contract.TargetError`."""

    async def undo(self, session: Session) -> None:
        """Undo it, also when :meth:`do` got only half way; nothing to undo is not an error."""
        del session


async def need(
    target: Target,
    argv: Sequence[str],
    what: str,
    *,
    root: bool = True,
    timeout_s: float = 30.0,
    stdin: bytes | None = None,
) -> CommandResult:
    """Run a command that has to succeed; else :class:`StepError` says ``what`` failed and what the command said."""
    ran = await target.run(argv, root=root, timeout_s=timeout_s, stdin=stdin)
    if not ran.ok:
        raise StepError(target.name, f"could not {what}: `{line(argv)}` {await how_it_ended(target, argv, ran)}")
    return ran


async def put(target: Target, path: str, data: bytes, what: str) -> None:
    """Write a file that has to be written."""
    try:
        await target.write(path, data, root=True)
    except CommandFailedError as error:
        raise StepError(target.name, f"could not {what}: {path}: {said(error.ran) or error.what}") from None


async def has_interface(target: Target, interface: str) -> bool:
    """Whether a network interface is there. sysfs shows the network namespace it was mounted from, procfs that of the
    reader (network_namespaces(7))."""
    if await target.read(f"/sys/class/net/{interface}/ifindex", limit_bytes=64) is not None:
        return True
    table = (await target.read("/proc/net/dev", limit_bytes=1 << 20) or b"").decode("utf-8", "replace")
    return any(row.partition(":")[0].strip() == interface for row in table.splitlines()[2:])


async def wait_for_interface(session: Session, name: str, interface: str) -> None:
    """Wait until a network interface is there."""
    target = session.target(name)
    loop = asyncio.get_running_loop()
    deadline = loop.time() + session.interface_timeout_s
    while not await has_interface(target, interface):
        if loop.time() >= deadline:
            raise StepError(name, f"interface {interface} did not appear within {session.interface_timeout_s:g} s")
        await asyncio.sleep(0.25)


def line(argv: Sequence[str]) -> str:
    """A command as a shell would take it."""
    return shlex.join(argv)


def said(ran: CommandResult, lines: int = 2) -> str:
    """The last words of a command, in one line."""
    text = (ran.stderr.strip() or ran.stdout.strip()).splitlines()
    return " / ".join(part.strip() for part in text[-lines:])[:500]


async def how_it_ended(target: Target, argv: Sequence[str], ran: CommandResult) -> str:
    """How a command ended, with its last words. Status 127 says that there is no such program, or that a script called
    one that is not there: the target knows which of the two it was."""
    if ran.status == 127 and await target.find(argv[0]) is not None:
        return f"ended with 127, as what calls a program that is not there{': ' + said(ran) if said(ran) else ''}"
    return ended(ran)


def ended(ran: CommandResult) -> str:
    """How a command ended, with its last words."""
    if ran.status == 127:
        return f"is not there{': ' + said(ran) if said(ran) else ''}"
    return f"ended with {ran.status}{': ' + said(ran) if said(ran) else ''}"

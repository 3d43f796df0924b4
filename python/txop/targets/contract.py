"""What txop can ask of a machine, whatever stands between: nothing, a namespace, SSH, a device farm, an emulator.

A command is always a list of arguments. A target that has to go through a remote shell quotes each one. Every command
is reported to the target's :class:`Listener` before it starts and after it ended, so that the campaign's command log
and the progress display need nothing from the code that runs commands.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, runtime_checkable

from txop.core.errors import TxopError

MAX_OUTPUT_BYTES = 64 * 1024 * 1024
"""Limit on a command's output kept in memory; more is cut and :attr:`CommandResult.cut` says so."""


class TargetError(TxopError):
    """A target could not do what was asked. ``target`` is its name in the plan."""

    def __init__(self, target: str, what: str) -> None:
        super().__init__(f"{target}: {what}")
        self.target = target
        self.what = what


class TargetLostError(TargetError):
    """The way to the target is gone: SSH closed, host down, namespace vanished. Connecting again may bring it back."""


@contextmanager
def failures_to(problems: list[str]) -> Iterator[None]:
    """A step of an undoing, after which the next one follows: how it failed goes to ``problems``.

    Raises:
        TargetLostError: nothing more can be done until the target is back.
    """
    try:
        yield
    except TargetLostError:
        raise
    except TargetError as error:
        problems.append(str(error))


class CommandTimeoutError(TargetError):
    """A command did not end in its time; it has been killed, also on the target."""


class CommandFailedError(TargetError):
    """A command that had to succeed did not."""

    def __init__(self, target: str, argv: Sequence[str], ran: CommandResult) -> None:
        said = (ran.stderr or ran.stdout).strip().splitlines()
        super().__init__(target, f"`{' '.join(argv)}` ended with {ran.status}" + (f": {said[-1]}" if said else ""))
        self.argv = tuple(argv)
        self.ran = ran


@dataclass(frozen=True)
class CommandResult:
    """A command that ended."""

    status: int
    """Exit status; 127 when there is no such program, 128 + n when signal n ended it."""
    stdout_bytes: bytes = b""
    stderr_bytes: bytes = b""
    cut: bool = False
    """Output beyond :data:`MAX_OUTPUT_BYTES` was thrown away."""

    @property
    def ok(self) -> bool:
        """Whether it exited with 0."""
        return self.status == 0

    @property
    def stdout(self) -> str:
        """Standard output as text; what is not UTF-8 becomes U+FFFD."""
        return self.stdout_bytes.decode("utf-8", errors="replace")

    @property
    def stderr(self) -> str:
        """Standard error as text."""
        return self.stderr_bytes.decode("utf-8", errors="replace")


class Running(Protocol):
    """A command that runs on a target while other things happen; its output goes to a file of the archive."""

    @property
    def argv(self) -> Sequence[str]:
        """The command."""

    @property
    def done(self) -> bool:
        """Whether it has ended."""

    async def wait(self, timeout_s: float) -> CommandResult | None:
        """Wait for its end; ``None`` when it still runs after ``timeout_s``. The result's ``stdout_bytes`` is empty:
        see the file."""

    async def stop(self, *, grace_s: float = 3.0) -> CommandResult:
        """End it, on the target too: SIGINT, then SIGTERM after ``grace_s``, then SIGKILL. Safe when it has ended."""


class Listener(Protocol):
    """Receives every command. Must not raise."""

    def command_started(self, target: str, argv: Sequence[str], number: int) -> None:
        """``number`` counts the commands of one campaign process."""

    def command_ended(self, target: str, number: int, status: int | None, seconds: float) -> None:
        """``status`` is ``None`` when the command was given up (timeout, target lost)."""


class Silence:
    """The listener that ignores everything."""

    def command_started(self, target: str, argv: Sequence[str], number: int) -> None:
        """See :class:`Listener`."""

    def command_ended(self, target: str, number: int, status: int | None, seconds: float) -> None:
        """See :class:`Listener`."""


@runtime_checkable
class Target(Protocol):
    """A machine. All methods may raise :class:`TargetLostError`. A command that fails raises nothing, unless the method
    says so."""

    @property
    def name(self) -> str:
        """Name in the plan."""

    @property
    def interface(self) -> str | None:
        """The network interface under test."""

    @property
    def address(self) -> str | None:
        """Address on the link under test."""

    async def connect(self) -> None:
        """Make it ready; also again after :class:`TargetLostError`. Safe when connected."""

    async def close(self) -> None:
        """Let go of it: nothing that txop started there keeps running. Never raises."""

    async def run(
        self,
        argv: Sequence[str],
        *,
        timeout_s: float = 30.0,
        stdin: bytes | None = None,
        root: bool = False,
        environment: Mapping[str, str] | None = None,
    ) -> CommandResult:
        """Run a command to its end, with ``LC_ALL=C``.

        Args:
            argv: Program and arguments.
            timeout_s: Then it is killed and :class:`CommandTimeoutError` raised.
            stdin: Its input; default none.
            root: It needs root; a target with ``sudo`` puts ``sudo -n`` in front.
            environment: Variables beside the target's own.
        """

    async def start(
        self,
        argv: Sequence[str],
        *,
        stdout: Path,
        stderr: Path | None = None,
        limit_bytes: int | None = None,
        root: bool = False,
        max_seconds: float | None = None,
    ) -> Running:
        """Start a command and let its output stream into a file here; past ``limit_bytes`` it is stopped.

        ``max_seconds``: it ends by itself on the target after that long, even when the way to it is lost.
        """

    async def read(self, path: str, *, limit_bytes: int = 1 << 20) -> bytes | None:
        """The contents of a file (procfs, sysfs, debugfs too); ``None`` when there is none or it cannot be read."""

    async def read_several(self, *paths: str, limit_bytes: int = 1 << 20) -> list[bytes | None]:
        """The same of each of several files; at once, where a command costs a round trip."""

    async def write(self, path: str, data: bytes, *, root: bool = False) -> None:
        """Write a file there, atomically. Raises :class:`CommandFailedError`."""

    async def find(self, program: str) -> str | None:
        """Path of a program there, ``sbin`` folders included; ``None`` when it lacks it. Remembered."""


async def run_checked(
    target: Target, argv: Sequence[str], *, timeout_s: float = 30.0, root: bool = False
) -> CommandResult:
    """Run a command that has to succeed; :class:`CommandFailedError` when it does not."""
    ran = await target.run(argv, timeout_s=timeout_s, root=root)
    if not ran.ok:
        raise CommandFailedError(target.name, argv, ran)
    return ran


@dataclass
class Targets:
    """The targets of a campaign, by their names in the plan."""

    by_name: dict[str, Target] = field(default_factory=dict)

    @property
    def dut(self) -> Target:
        """The device under test."""
        return self.by_name["dut"]

    @property
    def peer(self) -> Target:
        """The other end of the traffic."""
        return self.by_name["peer"]

    @property
    def sniffer(self) -> Target | None:
        """The machine that captures the air, if the plan has one."""
        return self.by_name.get("sniffer")

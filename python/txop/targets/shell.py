"""The part that all targets share once they can start a shell. See :mod:`txop.process.supervisor`."""

from __future__ import annotations

import asyncio
import itertools
import math
import secrets
import shlex
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path

from txop.process.sinks import File, Memory, Sink
from txop.process.supervisor import launch_line, remote_command
from txop.targets.command import Command, ShellChannel
from txop.targets.contract import (
    MAX_OUTPUT_BYTES,
    CommandFailedError,
    CommandResult,
    CommandTimeoutError,
    Listener,
    Silence,
    TargetError,
    TargetLostError,
)

READ_TIMEOUT_S = 20.0
"""For one file. A driver that hangs makes its own files in sysfs and debugfs hang."""

MAX_STDERR_BYTES = 1 << 20
"""Limit on the messages of a started command that are kept when they do not go to a file."""

CLOSE_GRACE_S = 1.0

_NUMBERS = itertools.count(1)

# "$1" is the path, "$2" the number of bytes that must have come. Made private: it may hold a passphrase; an existing
# file keeps its mode. Exclusive creation, so that no file or link of another user of that name is written through.
_WRITE_WHOLE = (
    'umask 077; t="$1.txop.$$"; set -C; : >"$t" || exit 1; set +C; '
    '{ [ ! -f "$1" ] || cp -p -- "$1" "$t"; } && cat >"$t" && [ "$(wc -c <"$t")" -eq "$2" ] && mv -f -- "$t" "$1" '
    '|| { rm -f -- "$t"; echo "could not be written whole" >&2; exit 1; }'
)
_WRITE_THROUGH = 'cat >"$1"'
# "$0" separates contents and statuses.
_READ_SEVERAL = 'for f; do printf "%s+" "$0"; cat -- "$f" 2>/dev/null; printf "%s-%s" "$0" "$?"; done'
_FIND = (
    'IFS=:; for d in $PATH; do case $d in /*) if [ -x "$d/$1" ] && [ ! -d "$d/$1" ]; then '
    'printf "%s\\n" "$d/$1"; exit 0; fi ;; esac; done; exit 1'
)
# "$@" are process ids; "$0" is the start of the tokens that may be killed.
_SWEEP = (
    'for p in "$@"; do [ -r "/proc/$p/cmdline" ] || continue; '
    'case "$(tr "\\000" " " <"/proc/$p/cmdline" 2>/dev/null)" in *" $0"*) '
    'kill -KILL -- "-$p" 2>/dev/null || kill -KILL "$p" ;; esac; done; exit 0'
)


class ShellTarget(ABC):
    """A target on which a shell can be started; subclasses say how."""

    def __init__(
        self,
        name: str,
        *,
        interface: str | None = None,
        address: str | None = None,
        sudo: bool = False,
        listener: Listener | None = None,
    ) -> None:
        self._name = name
        self._interface = interface
        self._address = address
        self._sudo = sudo
        self._listener: Listener = listener or Silence()
        self._token = f"txop-{secrets.token_hex(6)}"
        self._commands: dict[Command, int] = {}
        self._strays: dict[int, bool] = {}
        self._found: dict[str, str | None] = {}

    @property
    def name(self) -> str:
        """Name in the plan."""
        return self._name

    @property
    def interface(self) -> str | None:
        """The network interface under test."""
        return self._interface

    @property
    def address(self) -> str | None:
        """Address on the link under test."""
        return self._address

    # For subclasses ------------------------------------------------------------------------------------------------

    @abstractmethod
    async def _open(self, argv: Sequence[str], command: Command) -> ShellChannel:
        """Start ``argv`` over there. Its output goes to ``command``. Raises TargetLostError or TargetError."""

    @abstractmethod
    async def _reach(self) -> None:
        """Make :meth:`_open` possible. Safe when it is."""

    async def _release(self) -> None:  # noqa: B027 - most targets hold nothing
        """Undo :meth:`_reach`. Must not raise."""

    # The contract --------------------------------------------------------------------------------------------------

    async def connect(self) -> None:
        """See :class:`txop.targets.contract.Target`. Proves that commands run, and ends what an earlier connection
        had to leave behind."""
        await self._reach()
        self._found.clear()
        try:
            try:
                ran = await self.run(["true"], timeout_s=READ_TIMEOUT_S)
            except TargetLostError:
                # It only looked as if it were connected.
                await self._release()
                await self._reach()
                ran = await self.run(["true"], timeout_s=READ_TIMEOUT_S)
        except CommandTimeoutError as error:
            raise TargetLostError(self._name, "it does not answer") from error
        if not ran.ok:
            raise TargetError(self._name, f"its shell does not run commands: `true` ended with {ran.status}")
        strays, self._strays = self._strays, {}
        for root in {*strays.values()}:
            pids = [str(pid) for pid, as_root in strays.items() if as_root is root]
            await self.run(["sh", "-c", _SWEEP, self._token, *pids], root=root)

    async def close(self) -> None:
        """See :class:`txop.targets.contract.Target`."""
        try:
            await asyncio.gather(*(command.end(grace_s=CLOSE_GRACE_S) for command in [*self._commands]))
        finally:
            for command in [*self._commands]:
                command.give_up()
            await self._release()

    async def run(
        self,
        argv: Sequence[str],
        *,
        timeout_s: float = 30.0,
        stdin: bytes | None = None,
        root: bool = False,
        environment: Mapping[str, str] | None = None,
    ) -> CommandResult:
        """See :class:`txop.targets.contract.Target`."""
        stdout, stderr = Memory(MAX_OUTPUT_BYTES), Memory(MAX_OUTPUT_BYTES)
        return await self._complete(
            argv, stdout, stderr, timeout_s=timeout_s, stdin=stdin, root=root, environment=environment
        )

    async def start(
        self,
        argv: Sequence[str],
        *,
        stdout: Path,
        stderr: Path | None = None,
        limit_bytes: int | None = None,
        root: bool = False,
        max_seconds: float | None = None,
    ) -> Command:
        """See :class:`txop.targets.contract.Target`."""
        out = self._file(stdout, limit_bytes)
        try:
            err: Sink = Memory(MAX_STDERR_BYTES) if stderr is None else self._file(stderr, limit_bytes)
        except TargetError:
            out.close()
            raise
        return await self._launch(argv, out, err, root=root, max_seconds=max_seconds, timeout_s=READ_TIMEOUT_S)

    async def read(self, path: str, *, limit_bytes: int = 1 << 20) -> bytes | None:
        """See :class:`txop.targets.contract.Target`. Raises CommandTimeoutError when the file hangs. With ``sudo``, a
        file that may not be read is read as root."""
        for root in (False, True) if self._sudo else (False,):
            content = Memory(limit_bytes, stop_when_full=True)
            ran = await self._complete(["cat", "--", path], content, Memory(1000), timeout_s=READ_TIMEOUT_S, root=root)
            if ran.ok or content.cut:
                return content.kept
            if "ermission denied" not in ran.stderr:
                break
        return None

    async def read_several(self, *paths: str, limit_bytes: int = 1 << 20) -> list[bytes | None]:
        """See :class:`txop.targets.contract.Target`. What cannot be read in this way is read alone: where all of it is
        too much, where a file needs root."""
        token = secrets.token_hex(8)
        content = Memory(limit_bytes, stop_when_full=True)
        argv = ["sh", "-c", _READ_SEVERAL, token, *paths]
        try:
            ran = await self._complete(argv, content, Memory(1000), timeout_s=READ_TIMEOUT_S)
        except CommandTimeoutError:
            said = f"{', '.join(paths)} could not be read in {READ_TIMEOUT_S:g} s"
            raise CommandTimeoutError(self._name, said) from None
        parts = [part.rpartition(f"{token}-".encode()) for part in content.kept.split(f"{token}+".encode())[1:]]
        if content.cut or not ran.ok or len(parts) != len(paths):
            return [await self.read(path, limit_bytes=limit_bytes) for path in paths]
        found: list[bytes | None] = []
        for path, (data, _, status) in zip(paths, parts, strict=True):
            if status == b"0":
                found.append(data)
            else:
                found.append(await self.read(path, limit_bytes=limit_bytes) if self._sudo else None)
        return found

    async def write(self, path: str, data: bytes, *, root: bool = False) -> None:
        """See :class:`txop.targets.contract.Target`. New files are private to their owner. Files of the kernel
        (``/proc``, ``/sys``) are written directly."""
        through = path.startswith(("/proc/", "/sys/"))
        argv = ["sh", "-c", _WRITE_THROUGH if through else _WRITE_WHOLE, "write", path, str(len(data))]
        # Enough for 100 kB/s.
        ran = await self.run(argv, timeout_s=30.0 + len(data) / 1e5, stdin=data, root=root)
        if not ran.ok:
            raise CommandFailedError(self._name, ["write", path], ran)

    async def find(self, program: str) -> str | None:
        """See :class:`txop.targets.contract.Target`."""
        if program.startswith("/"):
            return program if (await self.run(["test", "-x", program])).ok else None
        if program not in self._found:
            ran = await self.run(["sh", "-c", _FIND, "find", program])
            self._found[program] = ran.stdout.removesuffix("\n") if ran.ok else None
        return self._found[program]

    # Inside --------------------------------------------------------------------------------------------------------

    async def _complete(
        self,
        argv: Sequence[str],
        stdout: Sink,
        stderr: Sink,
        *,
        timeout_s: float,
        stdin: bytes | None = None,
        root: bool = False,
        environment: Mapping[str, str] | None = None,
    ) -> CommandResult:
        deadline = time.monotonic() + timeout_s
        # The target's own watchdog comes second, unless it is the only one that can reach the command.
        max_seconds = timeout_s + (0 if stdin is not None else 5)
        command = await self._launch(
            argv,
            stdout,
            stderr,
            root=root,
            max_seconds=max_seconds,
            timeout_s=timeout_s,
            stdin=stdin,
            environment=environment,
        )
        try:
            ran = await command.wait(max(0.0, deadline - time.monotonic()))
            if ran is None:
                command.timed_out = True
                await command.kill()
                raise self._timeout(argv, timeout_s)
        finally:
            command.give_up()  # Ctrl-C, or any other reason not to be interested any more
        return ran

    async def _launch(
        self,
        argv: Sequence[str],
        stdout: Sink,
        stderr: Sink,
        *,
        root: bool,
        max_seconds: float | None,
        timeout_s: float,
        stdin: bytes | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> Command:
        number = next(_NUMBERS)
        token = f"{self._token}-{number}"
        as_root = root and self._sudo
        try:
            line = launch_line(
                argv, environment=environment or {}, max_seconds=max_seconds, input_follows=stdin is not None
            )
        except ValueError as error:
            raise TargetError(self._name, str(error)) from error

        def ended(command: Command) -> None:
            self._commands.pop(command, None)
            if command.status is None and command.pid is not None:
                self._strays[command.pid] = as_root
            status = None if command.timed_out else command.status
            self._listener.command_ended(self._name, number, status, command.seconds or 0.0)

        self._listener.command_started(self._name, argv, number)
        command = Command(
            self._name, argv, token, stdout=stdout, stderr=stderr, input_follows=stdin is not None, ended=ended
        )
        self._commands[command] = number
        try:
            async with asyncio.timeout(timeout_s):
                way = await self._open([*(["sudo", "-n", "--"] if as_root else []), *remote_command(token)], command)
            command.attach(way)
        except TimeoutError:
            raise self._timeout(argv, timeout_s) from None
        finally:
            if not command.attached:
                command.give_up()
        way.send(line if stdin is None else line + stdin)
        if stdin is not None:
            way.send_end()
        return command

    def _file(self, path: Path, limit_bytes: int | None) -> File:
        try:
            return File(path, limit_bytes)
        except OSError as error:
            raise TargetError(self._name, f"cannot write {path}: {error.strerror}") from error

    def _timeout(self, argv: Sequence[str], timeout_s: float) -> CommandTimeoutError:
        shown = shlex.join(argv)
        shown = shown if len(shown) <= 120 else f"{shown[:117]}..."
        return CommandTimeoutError(self._name, f"`{shown}` did not end in {math.ceil(timeout_s * 10) / 10:g} s")

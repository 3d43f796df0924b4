"""A target that is not there: scripted answers, and every way a real one lets you down.

    from fake_target import FakeTarget, answer

    target = FakeTarget("dut", interface="wlan0", address="192.0.2.1")
    target.answer("uname", "-r", stdout="6.1.0\\n")           # by the first arguments; the longest match counts
    target.answer("iperf3", stdout=json_text, seconds=0.2)    # slow
    target.answer("ping", lambda argv, stdin: answer(stdout="..."))
    target.files["/proc/stat"] = b"cpu  1 2 3 4\\n"            # or a list: one content per read, the last one stays
    target.lose_at(7)                                         # the seventh command finds it gone, until connect()

Unknown programs end with 127. ``target.ran`` is the list of commands, ``target.written`` what was written.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from txop.targets.contract import (
    CommandFailedError,
    CommandResult,
    CommandTimeoutError,
    Listener,
    Silence,
    TargetLostError,
)

NUMBERS = itertools.count(1)


@dataclass(frozen=True)
class Answer:
    """What a command does: prints, takes its time, ends; ``forever`` runs until it is stopped."""

    stdout: bytes = b""
    stderr: bytes = b""
    status: int = 0
    seconds: float = 0.0
    forever: bool = False


def answer(
    *,
    stdout: str | bytes = b"",
    stderr: str | bytes = b"",
    status: int = 0,
    seconds: float = 0.0,
    forever: bool = False,
) -> Answer:
    return Answer(_bytes(stdout), _bytes(stderr), status, seconds, forever)


Script = Callable[[Sequence[str], bytes | None], Answer]


class FakeTarget:
    """See the module."""

    def __init__(
        self,
        name: str = "dut",
        *,
        interface: str | None = "wlan0",
        address: str | None = "192.0.2.1",
        listener: Listener | None = None,
    ) -> None:
        self.name = name
        self.interface = interface
        self.address = address
        self.listener: Listener = listener or Silence()
        self.files: dict[str, bytes | list[bytes]] = {}
        self.written: dict[str, bytes] = {}
        self.programs: dict[str, str] = {}
        """What :meth:`find` finds; programs with an answer are there too."""
        self.ran: list[tuple[str, ...]] = []
        self.root: list[tuple[str, ...]] = []
        """Those of ``ran`` that asked for root."""
        self.connected = False
        self.connects = 0
        self.running: list[FakeRunning] = []
        self.count = 0
        """Commands, reads and writes so far: ``target.lose_at(target.count + 2)`` is the one after the next."""
        self._scripts: dict[tuple[str, ...], list[Answer | Script]] = {}
        self._lose_at: set[int] = set()
        self._never_back = False

    def answer(
        self,
        *argv: str,
        script: Script | None = None,
        stdout: str | bytes = b"",
        stderr: str | bytes = b"",
        status: int = 0,
        seconds: float = 0.0,
        forever: bool = False,
    ) -> None:
        """How commands that start with ``argv`` end. Given again for the same ``argv``: the next time they run; the
        last answer stays."""
        given = script or answer(stdout=stdout, stderr=stderr, status=status, seconds=seconds, forever=forever)
        self._scripts.setdefault(argv, []).append(given)

    def lose_at(self, number: int, *, for_good: bool = False) -> None:
        """The ``number``-th command (from 1; reads and writes count) raises TargetLostError, and so does everything
        after it until :meth:`connect`, which fails too when ``for_good``."""
        self._lose_at.add(number)
        self._never_back = for_good

    async def connect(self) -> None:
        if self._never_back and self.count >= min(self._lose_at):
            raise TargetLostError(self.name, "no route to host")
        self.connected = True
        self.connects += 1

    async def close(self) -> None:
        self.connected = False
        for running in self.running:
            running.end()

    async def run(
        self,
        argv: Sequence[str],
        *,
        timeout_s: float = 30.0,
        stdin: bytes | None = None,
        root: bool = False,
        environment: Mapping[str, str] | None = None,
    ) -> CommandResult:
        number = self._begin(argv, root=root)
        what = self._answer(argv, stdin)
        if what.forever or what.seconds > timeout_s:
            await asyncio.sleep(min(timeout_s, 0.05))
            self.listener.command_ended(self.name, number, None, timeout_s)
            raise CommandTimeoutError(self.name, f"`{' '.join(argv)}` did not end in {timeout_s:g} s")
        await asyncio.sleep(what.seconds)
        self.listener.command_ended(self.name, number, what.status, what.seconds)
        return CommandResult(what.status, what.stdout, what.stderr)

    async def start(
        self,
        argv: Sequence[str],
        *,
        stdout: Path,
        stderr: Path | None = None,
        limit_bytes: int | None = None,
        root: bool = False,
        max_seconds: float | None = None,
    ) -> FakeRunning:
        number = self._begin(argv, root=root)
        what = self._answer(argv, None)
        cut = limit_bytes is not None and len(what.stdout) > limit_bytes
        stdout.write_bytes(what.stdout[:limit_bytes])
        if stderr is not None:
            stderr.write_bytes(what.stderr)
        running = FakeRunning(self, tuple(argv), number, what, cut=cut, max_seconds=max_seconds)
        self.running.append(running)
        return running

    async def read(self, path: str, *, limit_bytes: int = 1 << 20) -> bytes | None:
        self._begin(("cat", path), log=False)
        content = self.files.get(path)
        if isinstance(content, list):
            content = content.pop(0) if len(content) > 1 else content[0]
        return None if content is None else content[:limit_bytes]

    async def read_several(self, *paths: str, limit_bytes: int = 1 << 20) -> list[bytes | None]:
        return [await self.read(path, limit_bytes=limit_bytes) for path in paths]

    async def write(self, path: str, data: bytes, *, root: bool = False) -> None:
        self._begin(("write", path), log=False)
        what = self._answer(("write", path), data, default=Answer())
        if what.status:
            raise CommandFailedError(self.name, ["write", path], CommandResult(what.status, what.stdout, what.stderr))
        self.written[path] = data
        self.files[path] = data

    async def find(self, program: str) -> str | None:
        if program in self.programs:
            return self.programs[program]
        return f"/usr/bin/{program}" if any(argv[:1] == (program,) for argv in self._scripts) else None

    def _begin(self, argv: Sequence[str], *, root: bool = False, log: bool = True) -> int:
        self.count += 1
        number = next(NUMBERS)
        if log:
            self.ran.append(tuple(argv))
            if root:
                self.root.append(tuple(argv))
            self.listener.command_started(self.name, argv, number)
        if self.count in self._lose_at:
            self.connected = False
        if not self.connected:
            if log:
                self.listener.command_ended(self.name, number, None, 0.0)
            for running in self.running:
                running.lose()
            raise TargetLostError(self.name, "connection lost" if self.connects else "not connected")
        return number

    def _answer(self, argv: Sequence[str], stdin: bytes | None, default: Answer | None = None) -> Answer:
        for length in range(len(argv), 0, -1):
            scripts = self._scripts.get(tuple(argv[:length]))
            if scripts:
                script = scripts.pop(0) if len(scripts) > 1 else scripts[0]
                return script if isinstance(script, Answer) else script(argv, stdin)
        return default or Answer(stderr=f"sh: {argv[0]}: not found\n".encode(), status=127)


class FakeRunning:
    """A started command of :class:`FakeTarget`."""

    def __init__(
        self,
        target: FakeTarget,
        argv: tuple[str, ...],
        number: int,
        what: Answer,
        *,
        cut: bool = False,
        max_seconds: float | None = None,
    ) -> None:
        self.argv = argv
        self.max_seconds = max_seconds
        self.stopped = False
        """Whether :meth:`stop` had to end it."""
        self._target = target
        self._number = number
        self._what = what
        self._cut = cut
        self._ended = asyncio.Event()
        self._lost = False
        self._status: int | None = None
        self._timer: asyncio.TimerHandle | None = None
        seconds = max_seconds if what.forever else what.seconds
        if cut:
            self.end(130)
        elif seconds == 0:
            self.end(what.status)
        elif seconds is not None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(seconds, self.end, 143 if what.forever else what.status)

    @property
    def done(self) -> bool:
        return self._ended.is_set()

    def end(self, status: int = 137) -> None:
        if not self.done:
            self._status = status
            self._target.listener.command_ended(self._target.name, self._number, status, 0.0)
            self._finish()

    def lose(self) -> None:
        if not self.done:
            self._lost = True
            self._target.listener.command_ended(self._target.name, self._number, None, 0.0)
            self._finish()

    def _finish(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._ended.set()

    async def wait(self, timeout_s: float) -> CommandResult | None:
        try:
            await asyncio.wait_for(self._ended.wait(), timeout_s)
        except TimeoutError:
            return None
        return self._result()

    async def stop(self, *, grace_s: float = 3.0) -> CommandResult:
        if not self.done:
            self.stopped = True
            self.end(130)
        return self._result()

    def _result(self) -> CommandResult:
        if self._lost:
            raise TargetLostError(self._target.name, "connection lost")
        assert self._status is not None
        return CommandResult(self._status, b"", self._what.stderr, self._cut)


def _bytes(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else text

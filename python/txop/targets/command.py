"""One running command: its output, and how it is ended. The same for every kind of target.

A way to a machine (:mod:`txop.targets.process`, :mod:`txop.targets.ssh`) calls :meth:`Command.output`,
:meth:`Command.closed`, :meth:`Command.exited` and :meth:`Command.lost`; its other side is the :class:`ShellChannel`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Protocol

from txop.process.sinks import Sink
from txop.process.supervisor import Preamble
from txop.targets.contract import CommandResult, TargetError, TargetLostError

STDOUT, STDERR = 1, 2

LINGER_S = 2.0
"""How long the output of an ended command may stay open without a word: a daemon that it left may hold it."""

OBEY_S = 8.0
"""How long a killed command may take to be reported as ended before it is given up: less than the silence after which
an SSH connection is lost, and longer than a busy machine takes to let a process end."""


class ShellChannel(Protocol):
    """The channel to the shell that runs a command."""

    def send(self, data: bytes) -> None:
        """To its standard input. Never raises, never waits."""

    def send_end(self) -> None:
        """End of its standard input."""

    def abort(self) -> None:
        """Drop it at once and kill what can be killed from here. Ends in :meth:`Command.exited` or
        :meth:`Command.lost` at the latest a moment later. Safe when it has ended."""


class Command:
    """A command that was sent to a target; a :class:`txop.targets.contract.Running`."""

    def __init__(
        self,
        target: str,
        argv: Sequence[str],
        token: str,
        *,
        stdout: Sink,
        stderr: Sink,
        input_follows: bool = False,
        ended: Callable[[Command], None],
    ) -> None:
        self._target = target
        self._argv = tuple(argv)
        self.token = token
        self.began = time.monotonic()
        self.seconds: float | None = None
        """How long it took, once it has ended."""
        self.lost_because: str | None = None
        """Set when the way to it broke."""
        self.timed_out = False
        """Set by the owner before it kills the command for having taken too long."""
        self._sinks = {STDOUT: stdout, STDERR: stderr}
        self._preambles = {STDOUT: Preamble(token), STDERR: Preamble(token)}
        self._open = {STDOUT, STDERR}
        self._input_follows = input_follows
        self._ended_callback = ended
        self._way: ShellChannel | None = None
        self._status: int | None = None
        self._ended = asyncio.Event()
        self._linger: asyncio.TimerHandle | None = None
        self._ladder: asyncio.Task[None] | None = None

    @property
    def argv(self) -> Sequence[str]:
        """The command."""
        return self._argv

    @property
    def done(self) -> bool:
        """Whether it has ended, or was lost."""
        return self._ended.is_set()

    @property
    def attached(self) -> bool:
        """Whether there is a way to it."""
        return self._way is not None

    @property
    def pid(self) -> int | None:
        """Process id of its shell on the target, once known."""
        return self._preambles[STDOUT].pid or self._preambles[STDERR].pid

    @property
    def status(self) -> int | None:
        """Exit status, ``None`` when it runs, was lost, or never started."""
        return self._status if self.pid is not None else None

    @property
    def shown(self) -> str:
        """The command, short enough for a message."""
        text = " ".join(self._argv)
        return text if len(text) <= 120 else f"{text[:117]}..."

    # What the way reports ------------------------------------------------------------------------------------------

    def attach(self, way: ShellChannel) -> None:
        """The channel is there."""
        self._way = way
        if self.done:
            way.abort()

    def output(self, stream: int, data: bytes) -> None:
        """Bytes of stdout or stderr."""
        preamble, sink = self._preambles[stream], self._sinks[stream]
        if self.done or sink.full:
            return
        if self._linger is not None:
            self._wait_for_output()
        sink.take(preamble.feed(data))
        self._stop_if_full(stream)

    def closed(self, stream: int) -> None:
        """A stream is at its end."""
        self._open.discard(stream)
        if self._status is not None and not self._open:
            self._finish()

    def exited(self, status: int) -> None:
        """The shell ended. Output may still come."""
        if self.done or self._status is not None:
            return
        self._status = status
        if self._open:
            self._wait_for_output()
        else:
            self._finish()

    def _wait_for_output(self) -> None:
        if self._linger is not None:
            self._linger.cancel()
        self._linger = asyncio.get_running_loop().call_later(LINGER_S, self._finish)

    def lost(self, why: str) -> None:
        """The way is gone, and with it the knowledge of how it ended."""
        if self._status is None and not self.done:
            self.lost_because = why
        self._finish()

    def _finish(self) -> None:
        if self.done:
            return
        self.seconds = time.monotonic() - self.began
        self._ended.set()
        if self._linger is not None:
            self._linger.cancel()
        for sink in self._sinks.values():
            sink.close()
        if self._way is not None:
            self._way.abort()
        self._ended_callback(self)

    # What the owner asks -------------------------------------------------------------------------------------------

    async def wait(self, timeout_s: float) -> CommandResult | None:
        """See :class:`txop.targets.contract.Running`. Raises TargetLostError, or TargetError when it was not kept."""
        if not await self._ended_within(timeout_s):
            return None
        return self.result()

    async def stop(self, *, grace_s: float = 3.0) -> CommandResult:
        """See :class:`txop.targets.contract.Running`."""
        await self.end(grace_s=grace_s)
        return self.result()

    async def end(self, *, grace_s: float) -> None:
        """The ladder of :meth:`stop`, without a result. Never raises :class:`TargetError`."""
        if self._ladder is None:
            self._ladder = asyncio.get_running_loop().create_task(self._step_down(grace_s))
        await asyncio.shield(self._ladder)

    async def kill(self) -> None:
        """End it without asking first. Ends in :attr:`done`, whatever happens; never raises :class:`TargetError`."""
        self._signal("TERM")
        if not await self._ended_within(0.5):
            await self._kill()

    def give_up(self) -> None:
        """Kill it without waiting for an answer."""
        if self.done:
            return
        self._signal("KILL")
        if self._way is not None:
            self._way.abort()
        self.lost("it was given up")

    def result(self) -> CommandResult:
        """How it ended. To be called when :attr:`done`."""
        for sink in self._sinks.values():
            if sink.failure is not None:
                raise TargetError(self._target, f"`{self.shown}`: {sink.failure}")
        preamble = self._preambles[STDOUT]
        if preamble.overflowed:
            raise TargetError(
                self._target,
                f"`{self.shown}`: its shell prints without end before the command; look at its login scripts",
            )
        if self.lost_because is not None:
            raise TargetLostError(self._target, f"`{self.shown}`: {self.lost_because}")
        if self._status is None or self.pid is None:
            raise self._never_started()
        cut = any(sink.cut for sink in self._sinks.values())
        return CommandResult(self._status, self._sinks[STDOUT].kept, self._sinks[STDERR].kept, cut)

    def _never_started(self) -> TargetError:
        said = (self._preambles[STDERR].held or self._preambles[STDOUT].held).decode("utf-8", errors="replace")
        lines = said.strip().splitlines()
        why = lines[-1][:300] if lines else f"it ended with {self._status} before the command began"
        if why.startswith("sudo:"):
            return TargetError(
                self._target, f"`{self.shown}` needs root and {why}. Allow sudo without a password there (NOPASSWD)"
            )
        return TargetLostError(self._target, f"`{self.shown}`: {why}")

    def _stop_if_full(self, stream: int) -> None:
        if self._preambles[stream].overflowed:
            self.give_up()  # nothing listens there yet that could end it
        elif self._ladder is None and self._sinks[stream].full:
            self._ladder = asyncio.get_running_loop().create_task(self._step_down(1.0))

    async def _step_down(self, grace_s: float) -> None:
        for signal in ("INT", "TERM"):
            self._signal(signal)
            if await self._ended_within(grace_s):
                return
        await self._kill()

    async def _kill(self) -> None:
        self._signal("KILL")
        if await self._ended_within(OBEY_S):
            return
        if self._way is not None:
            self._way.abort()
        if not await self._ended_within(0.5):
            self.lost(
                "it did not end when it was killed: the target does not answer, or the command hangs in the kernel"
            )

    def _signal(self, name: str) -> None:
        if self._way is None or self.done:
            return
        if self._input_follows:  # its standard input is not ours to speak through
            self._way.abort()
        else:
            self._way.send(f"{name}\n".encode())

    async def _ended_within(self, seconds: float) -> bool:
        try:
            await asyncio.wait_for(self._ended.wait(), seconds)
        except TimeoutError:
            return self.done
        return True

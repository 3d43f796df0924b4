"""One use of an emulated link: made, used by a program or until Ctrl-C, and taken down."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

from txop.emulate.command import Background, run_at
from txop.emulate.hosts import Host, find_host
from txop.emulate.network import Captures, EmulatedNetwork
from txop.emulate.scenario import LinkScenario
from txop.emulate.status import EmulationStatus

_ENDING = (signal.SIGTERM, signal.SIGHUP)
_SIGNALLED = 128


@dataclass(frozen=True)
class SessionRequest:
    """What to do with the link."""

    scenario: LinkScenario
    captures: Captures = field(default_factory=Captures)
    argv: Sequence[str] = ()
    """The program in the foreground; none: until Ctrl-C."""
    at: str = "1"
    """Name or number of the host that it runs at."""
    background: Sequence[tuple[str, Sequence[str]]] = ()
    """Programs beside it, with their hosts; they are started first, one after the other."""
    stdout_to_stderr: bool = False
    """Whether the program's output goes to standard error."""


@dataclass(frozen=True)
class SessionResult:
    """How it ended."""

    status: EmulationStatus
    hosts: tuple[Host, ...]
    exit_code: int
    """The status with which the program in the foreground ended."""


def carry_out(wanted: SessionRequest, ready: Callable[[EmulatedNetwork], None]) -> SessionResult:
    """Make the link, report that it is ``ready``, run the program, take everything down.

    Raises :class:`~txop.emulate.error.EmulationError`. Ctrl-C is the program's business while one runs (the third makes
    an end of it); SIGTERM and SIGHUP end everything in order, with exit code 128 plus their number.
    """
    return asyncio.run(_Session(wanted, ready).run())


class _Session:
    def __init__(self, wanted: SessionRequest, ready: Callable[[EmulatedNetwork], None]) -> None:
        self._wanted = wanted
        self._ready = ready
        self._interrupts = 0
        self._stop = asyncio.Event()
        self._ended_by: signal.Signals | None = None
        self._program: asyncio.Task[int] | None = None

    async def run(self) -> SessionResult:
        wanted = self._wanted
        loop = asyncio.get_running_loop()
        for number in _ENDING:
            loop.add_signal_handler(number, self._end, number)
        loop.add_signal_handler(signal.SIGINT, self._interrupt)
        async with AsyncExitStack() as stack:
            network = await stack.enter_async_context(EmulatedNetwork(wanted.scenario, wanted.captures))
            at = find_host(network.hosts, wanted.at)
            for name, argv in wanted.background:
                started = await Background.start(network, find_host(network.hosts, name), argv)
                stack.push_async_callback(started.stop)
            self._ready(network)
            code = await self._foreground(network, at)
            status = await network.stop()
        return SessionResult(status, network.hosts, code)

    async def _foreground(self, network: EmulatedNetwork, at: Host) -> int:
        if self._stop.is_set():
            return self._code()
        if not self._wanted.argv:
            broken = asyncio.create_task(network.ended())
            stopped = asyncio.create_task(self._stop.wait())
            await asyncio.wait((broken, stopped), return_when=asyncio.FIRST_COMPLETED)
            broken.cancel()
            stopped.cancel()
            return self._code()
        running = run_at(network, at, self._wanted.argv, stdout_to_stderr=self._wanted.stdout_to_stderr)
        self._program = asyncio.create_task(running)
        try:
            return await self._program
        except asyncio.CancelledError:
            if not self._stop.is_set():
                raise
            return self._code()

    def _code(self) -> int:
        return 0 if self._ended_by is None else _SIGNALLED + self._ended_by

    def _end(self, number: signal.Signals) -> None:
        self._ended_by = number
        self._stop.set()
        if self._program is not None:
            self._program.cancel()

    def _interrupt(self) -> None:
        self._interrupts += 1
        if not self._wanted.argv:
            self._stop.set()
        elif self._program is None or self._interrupts >= 3:
            self._end(signal.SIGINT)

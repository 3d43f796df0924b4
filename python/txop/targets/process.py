"""Targets with commands that start as processes of the machine txop runs on, perhaps with other arguments in front."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Sequence

from txop.targets.command import STDERR, STDOUT, Command
from txop.targets.contract import Listener, TargetError
from txop.targets.shell import ShellTarget

REAP_S = 2.0
"""How long a killed process may take to die; one that hangs in the kernel never does."""


class ProcessTarget(ShellTarget):
    """Starts ``prefix`` + command, each in a session of its own: Ctrl-C at the terminal does not reach it, and all of
    it can be killed at once. When txop is killed, the command's shell sees its input end and ends the command (see
    :mod:`txop.process.supervisor`); that needs no root, and works through ``sudo`` where ``PR_SET_PDEATHSIG`` does
    not."""

    def __init__(
        self,
        name: str,
        *,
        prefix: Sequence[str] = (),
        interface: str | None = None,
        address: str | None = None,
        sudo: bool = False,
        listener: Listener | None = None,
    ) -> None:
        super().__init__(name, interface=interface, address=address, sudo=sudo, listener=listener)
        self._prefix = tuple(prefix)
        self._ways: set[_LocalWay] = set()

    async def _reach(self) -> None:
        pass

    async def _open(self, argv: Sequence[str], command: Command) -> _LocalWay:
        whole = [*self._prefix, *argv]
        try:
            _, way = await asyncio.get_running_loop().subprocess_exec(
                lambda: _LocalWay(command),
                *whole,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise TargetError(self._name, f"cannot start {whole[0]}: {error.strerror}") from error
        self._ways.add(way)
        way.gone.add_done_callback(lambda _: self._ways.discard(way))
        return way

    async def _release(self) -> None:
        """Let those that were given up be reaped."""
        if self._ways:
            await asyncio.wait([way.gone for way in self._ways], timeout=REAP_S)


class _LocalWay(asyncio.SubprocessProtocol):
    """A process; see :class:`txop.targets.command.Way`."""

    def __init__(self, command: Command) -> None:
        self._command = command
        self.gone: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Done when the process is."""
        self._transport: asyncio.SubprocessTransport | None = None

    def send(self, data: bytes) -> None:
        pipe = self._input()
        if pipe is not None:
            pipe.write(data)

    def send_end(self) -> None:
        pipe = self._input()
        if pipe is not None:
            pipe.close()

    def abort(self) -> None:
        if self._transport is None:
            return
        if self._transport.get_returncode() is None:
            # Not root's processes behind sudo: those end when their shell reads KILL, or the end of its input.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._transport.get_pid(), signal.SIGKILL)
            pipe = self._input()
            if pipe is not None:
                pipe.close()
        else:
            self._transport.close()

    def _input(self) -> asyncio.WriteTransport | None:
        pipe = None if self._transport is None else self._transport.get_pipe_transport(0)
        return pipe if isinstance(pipe, asyncio.WriteTransport) and not pipe.is_closing() else None

    # asyncio.SubprocessProtocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.SubprocessTransport)
        self._transport = transport

    def pipe_data_received(self, fd: int, data: bytes | str) -> None:
        assert isinstance(data, bytes)
        self._command.output(STDERR if fd == 2 else STDOUT, data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        if fd in (1, 2):
            self._command.closed(STDERR if fd == 2 else STDOUT)

    def process_exited(self) -> None:
        assert self._transport is not None
        status = self._transport.get_returncode()
        assert status is not None
        self._command.exited(128 - status if status < 0 else status)
        if self._command.done:
            self._transport.close()
        self.gone.set_result(None)

"""A machine reached over SSH. Nothing is installed there, and a BusyBox userland is enough: ``sh`` and a handful of
programs, no SFTP, no Python. See :mod:`txop.process.supervisor` for how commands end there when the connection does.
"""

from __future__ import annotations

import asyncio
import contextlib
import shlex
import signal
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from txop.targets.command import STDERR, STDOUT, Command
from txop.targets.contract import Listener, TargetError, TargetLostError
from txop.targets.shell import ShellTarget
from txop.targets.ssh_connection import SshAddress, close_connections, open_connection

if TYPE_CHECKING:
    import asyncssh

# `ip` may be in a folder that logins do not have on their PATH, and BusyBox' knows no namespaces.
_ENTER = (
    'IFS=: p=$PATH:/usr/sbin:/sbin; for d in $p; do [ -x "$d/ip" ] || continue; '
    'case $(readlink -f "$d/ip") in */busybox) ;; *) unset IFS; exec "$d/ip" netns exec "$@" ;; esac; done; '
    'echo "it has no ip that enters network namespaces (iproute2)" >&2; exit 127'
)

MAX_CONNECTIONS = 8
"""OpenSSH allows 10 sessions per connection (MaxSessions); past that, txop opens one more connection."""


class SshTarget(ShellTarget):
    """See the module."""

    def __init__(
        self,
        name: str,
        *,
        where: SshAddress,
        namespace: str | None = None,
        interface: str | None = None,
        address: str | None = None,
        sudo: bool = False,
        listener: Listener | None = None,
    ) -> None:
        # Who enters a namespace is root in it already.
        sudo_inside = sudo and namespace is None
        super().__init__(name, interface=interface, address=address, sudo=sudo_inside, listener=listener)
        self._where = where
        self._namespace = namespace
        self._enter = [] if namespace is None else [*(["sudo", "-n", "--"] if sudo else []), *_enter(namespace)]
        self._chains: list[list[asyncssh.SSHClientConnection]] = []
        """Connections to the target, each after those to the jump hosts it goes through."""
        self._opening = asyncio.Lock()

    async def _reach(self) -> None:
        self._drop_closed()
        if not self._chains:
            self._chains.append(await open_connection(self._name, self._where))

    async def _release(self) -> None:
        chains, self._chains = self._chains, []
        for chain in chains:
            close_connections(chain)
        for chain in chains:
            for connection in chain:
                with contextlib.suppress(Exception):
                    await connection.wait_closed()

    async def _open(self, argv: Sequence[str], command: Command) -> _Channel:
        import asyncssh

        self._drop_closed()
        if not self._chains:
            raise TargetLostError(self._name, "the SSH connection is closed")
        line = f"exec {shlex.join([*self._enter, *argv])}"
        refused = "no connection"
        full: list[list[asyncssh.SSHClientConnection]] = []
        while True:
            chain = next((chain for chain in self._chains if chain not in full), None)
            if chain is None:
                if not self._chains:
                    raise TargetLostError(self._name, f"the SSH connection is closed: {refused}")
                if len(self._chains) >= MAX_CONNECTIONS:
                    raise TargetError(self._name, f"it does not run commands over SSH: {refused}")
                chain = await self._one_more(full)
            try:
                return await _session(chain[-1], line, command)
            except asyncssh.ChannelOpenError as error:
                refused = error.reason
                if command.done:  # there was a session, but not for a command
                    raise TargetError(self._name, f"it does not run commands over SSH: {refused}") from error
                full.append(chain)
                self._drop_closed()
            except (asyncssh.Error, OSError) as error:
                raise TargetLostError(self._name, f"the SSH connection broke: {error}") from error

    async def _one_more(self, full: Sequence[list[asyncssh.SSHClientConnection]]) -> list[asyncssh.SSHClientConnection]:
        async with self._opening:
            for chain in self._chains:  # another task may have opened it meanwhile
                if chain not in full:
                    return chain
            chain = await open_connection(self._name, self._where)
            self._chains.append(chain)
            return chain

    def _drop_closed(self) -> None:
        for chain in [*self._chains]:
            if any(connection.is_closed() for connection in chain):
                close_connections(chain)
                self._chains.remove(chain)


def _enter(namespace: str) -> list[str]:
    """What is put in front of a command that is to run in a network namespace."""
    return ["sh", "-c", _ENTER, "enter", namespace]


async def _session(connection: asyncssh.SSHClientConnection, line: str, command: Command) -> _Channel:
    channel = _Channel(command)
    # asyncssh only calls the methods of a session, it need not be one; a base class would import asyncssh here.
    factory: Any = lambda: channel  # noqa: E731
    await connection.create_session(factory, line, encoding=None, request_pty=False)
    return channel


class _Channel:
    """A session of a connection; see :class:`txop.targets.command.Way`. asyncssh calls the methods by name."""

    def __init__(self, command: Command) -> None:
        self._command = command
        self._channel: Any = None

    def send(self, data: bytes) -> None:
        with contextlib.suppress(OSError):
            self._channel.write(data)

    def send_end(self) -> None:
        with contextlib.suppress(OSError):
            self._channel.write_eof()

    def abort(self) -> None:
        self._channel.abort()

    # asyncssh.SSHClientSession

    def connection_made(self, channel: Any) -> None:
        self._channel = channel

    def session_started(self) -> None:
        pass

    def xon_xoff_requested(self, client_can_do: bool) -> None:
        pass

    def pause_writing(self) -> None:
        pass

    def resume_writing(self) -> None:
        pass

    def data_received(self, data: bytes, datatype: int | None) -> None:
        self._command.output(STDOUT if datatype is None else STDERR, data)

    def eof_received(self) -> bool:
        self._command.closed(STDOUT)
        self._command.closed(STDERR)
        return True  # ours stays open: it is how the command is ended

    def exit_status_received(self, status: int) -> None:
        self._command.exited(status)

    def exit_signal_received(self, name: str, *_: object) -> None:
        number = getattr(signal, f"SIG{name.split('@')[0]}", signal.SIGKILL)
        self._command.exited(128 + number)

    def connection_lost(self, error: Exception | None) -> None:
        self._command.lost(f"the SSH connection broke ({error})" if error else "the SSH session closed before it ended")

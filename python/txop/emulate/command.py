"""A program at a host of an emulated link: its environment, and how it is started."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import shlex
import signal
import time
from collections.abc import Sequence
from pathlib import Path

from txop.emulate.error import EmulationError
from txop.emulate.hosts import Host
from txop.emulate.network import EmulatedNetwork
from txop.process.held import last_bytes

_PLACEHOLDER = re.compile(r"\{([^{}\s]+)\}")
_LISTEN_S = 3.0
"""How long a program in the background may take until it listens, or until it is taken for one that does not."""
_LISTENING = "0A"
"""TCP_LISTEN in ``/proc/net/tcp``."""
_SIGNALLED = 128
_CANNOT_RUN, _NOT_FOUND = 126, 127
"""Exit codes of shells for a program that cannot be started."""


def with_addresses(argv: Sequence[str], hosts: Sequence[Host]) -> list[str]:
    """``argv`` with the address of a host for its name in braces.

    >>> from txop.emulate.hosts import hosts_of
    >>> with_addresses(["ping", "{server}", "{other}"], hosts_of(["server", "dut"]))
    ['ping', '10.80.208.1', '{other}']
    """
    known = {name: host.address for host in hosts for name in (host.name, str(host.number))}
    return [_PLACEHOLDER.sub(lambda found: known.get(found[1], found[0]), argument) for argument in argv]


def environment(network: EmulatedNetwork, at: Host) -> dict[str, str]:
    """Environment of a program at a host: the addresses of all, and how to get to the others."""
    variables = {"TXOP_HOST": at.name, "TXOP_INTERFACE": at.interface}
    for host in network.hosts:
        variables[f"TXOP_{host.variable}"] = host.address
        variables[f"TXOP_AT_{host.variable}"] = shlex.join(network.prefix_from_another(host))
    return {**os.environ, **variables, **network.mark}


async def run_at(network: EmulatedNetwork, at: Host, argv: Sequence[str], *, stdout_to_stderr: bool = False) -> int:
    """Run a program at a host in the foreground, with this terminal; its exit code, as a shell gives it."""
    program = with_addresses(argv, network.hosts)
    process = await asyncio.create_subprocess_exec(
        *network.prefix(at), *program, env=environment(network, at), stdout=2 if stdout_to_stderr else None
    )
    broken = asyncio.create_task(network.ended())
    waiting = asyncio.create_task(process.wait())
    try:
        await asyncio.wait((broken, waiting), return_when=asyncio.FIRST_COMPLETED)
        if not waiting.done():
            raise EmulationError("the link broke while the program was running")
        return waiting.result() if waiting.result() >= 0 else _SIGNALLED - waiting.result()
    finally:
        broken.cancel()
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.terminate()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), 2)
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
        await waiting


class Background:
    """A program that runs at a host beside the one in the foreground."""

    def __init__(self, host: Host, argv: Sequence[str], process: asyncio.subprocess.Process) -> None:
        self._name = f"{shlex.join(argv)} at {host.name}"
        self._process = process
        self._said = asyncio.create_task(last_bytes(process.stderr))

    @classmethod
    async def start(cls, network: EmulatedNetwork, host: Host, argv: Sequence[str]) -> Background:
        """Start it, and wait until it listens on another socket than before (a few seconds at most).

        Raises :class:`EmulationError` when it fails at once.
        """
        program = with_addresses(argv, network.hosts)
        before = _listening(network.pid(host))
        process = await asyncio.create_subprocess_exec(
            *network.prefix(host),
            *program,
            env=environment(network, host),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )
        started = cls(host, program, process)
        until = time.monotonic() + _LISTEN_S
        while time.monotonic() < until and _listening(network.pid(host)) <= before:
            # One that ends well has gone into the background itself.
            if process.returncode:
                said = (await started._said).decode("utf-8", errors="replace").strip().splitlines()
                why = f": {said[-1]}" if said else ""
                raise EmulationError(f"{started._name} failed with exit code {process.returncode}{why}")
            await asyncio.sleep(0.02)
        return started

    async def stop(self) -> None:
        """End it. Safe when it has ended."""
        self._said.cancel()
        for signal_it in (signal.SIGTERM, signal.SIGKILL):
            if self._process.returncode is not None:
                return
            with contextlib.suppress(ProcessLookupError):
                self._process.send_signal(signal_it)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._process.wait(), 2)


def _listening(pid: int) -> set[str]:
    """TCP sockets that listen, and all UDP sockets, in the network namespace of a process."""
    found = set()
    for table in ("tcp", "tcp6", "udp", "udp6"):
        try:
            rows = Path(f"/proc/{pid}/net/{table}").read_text(encoding="ascii").splitlines()[1:]
        except OSError:
            continue
        for row in rows:
            fields = row.split()
            if len(fields) > 3 and (table.startswith("udp") or fields[3] == _LISTENING):
                found.add(f"{table} {fields[1]}")
    return found


def shell() -> list[str]:
    """An interactive shell: the user's."""
    return [os.environ.get("SHELL") or "/bin/sh"]

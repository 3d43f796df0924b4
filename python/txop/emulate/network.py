"""Hosts with an emulated link between them."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from txop.emulate.error import EmulationError, MissingEmulationToolError
from txop.emulate.hosts import INTERFACE, MOST_HOSTS, PREFIX_LENGTH, Host, hosts_of
from txop.emulate.leftovers import VARIABLE, end_marked, mark
from txop.emulate.namespaces import Namespaces, tool_environment
from txop.emulate.real_time import real_time_prefix
from txop.emulate.scenario import LinkScenario
from txop.emulate.starting import started
from txop.emulate.status import EmulationStatus
from txop.formats.error import FormatError
from txop.process.held import ASKED_TO_END_WITH_PARENT, HeldProcess

MTU_BYTES = 1500
DEVICE_QUEUE_PACKETS = 1000
"""Queue of each TUN device; it is empty but for moments: packets wait in the link's own queues."""
TUN_DEVICE = Path("/dev/net/tun")
_READY_S = 30.0
_STATUS_S = 20.0
_AT_ONCE = 16
"""Hosts that are set up at the same time at most."""


@dataclass(frozen=True)
class Captures:
    """What is captured of a link, as pcapng; files are replaced when they exist."""

    air: Path | None = None
    """What a monitor would have captured of the air."""
    usb: Path | None = None
    """What usbmon would have captured of the bus."""
    snap_bytes: int = 128
    """Bytes of each data frame that are kept."""
    usb_snap_bytes: int | None = None
    """Bytes of each transfer that are kept, 64 of header included; ``None``: all."""
    limit_bytes: int | None = None
    """Each file ends before this."""

    def options(self) -> list[str]:
        """Arguments of ``python -m txop.emulate``."""
        options = ["--snap-bytes", str(self.snap_bytes)]
        for name, value in (("air", self.air), ("usb", self.usb)):
            options += [f"--{name}", str(value.absolute())] if value is not None else []
        if self.usb_snap_bytes is not None:
            options += ["--usb-snap-bytes", str(self.usb_snap_bytes)]
        return options + (["--limit-bytes", str(self.limit_bytes)] if self.limit_bytes is not None else [])


class EmulatedNetwork:
    """A network namespace for every host of a link, and the link between them, as an async context manager::

        async with EmulatedNetwork(load_scenario(Path("ap.toml"))) as network:
            server, station = network.hosts[:2]
            run([*network.prefix(station), "ping", "-c", "3", server.address])
            status = await network.stop()

    Start it from the thread that starts the programs in it: those end when that thread does.
    """

    def __init__(self, scenario: LinkScenario, captures: Captures | None = None) -> None:
        """Nothing is made yet. Raises :class:`EmulationError` for more hosts than can be."""
        self.hosts: tuple[Host, ...] = hosts_of(scenario.hosts)
        """By number."""
        if len(self.hosts) > MOST_HOSTS:
            raise EmulationError(
                f"the link joins {len(self.hosts)} hosts, and {MOST_HOSTS} can be emulated",
                what_to_do="use `txop simulate`, which has no such limit",
            )
        self._scenario = scenario
        self._captures = captures or Captures()
        self._mark = f"{mark()}.{id(self):x}"
        self._namespaces: Namespaces | None = None
        self._emulator: HeldProcess | None = None

    async def __aenter__(self) -> Self:
        """Make the namespaces and start the link. Raises :class:`EmulationError`."""
        _check_tun()
        try:
            self._namespaces = await Namespaces.make(len(self.hosts), self._environment())
            await self._start()
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Take everything down."""
        await self.close()

    def prefix(self, host: Host) -> list[str]:
        """Arguments in front of a command that make it run at a host, for as long as the program that starts it."""
        return self._made.enter(host.number)

    def prefix_forever(self, host: Host) -> list[str]:
        """The same without the tie to who starts it."""
        return self._made.enter_forever(host.number)

    def prefix_from_another(self, host: Host) -> list[str]:
        """The same for a command that a program at one of the hosts starts."""
        return self._made.enter_from_another(host.number)

    def pid(self, host: Host) -> int:
        """A process at a host."""
        return self._made.pid(host.number)

    @property
    def mark(self) -> dict[str, str]:
        """Environment variable by which processes of this emulation are found (:mod:`txop.emulate.leftovers`)."""
        return {VARIABLE: self._mark}

    @property
    def running(self) -> bool:
        """Whether the link is up."""
        return self._emulator is not None and self._emulator.running and self._made.alive

    async def ended(self) -> None:
        """Wait until the link breaks."""
        if self._emulator is not None:
            await self._emulator.ended()

    async def replace(self, scenario: LinkScenario, captures: Captures | None = None) -> EmulationStatus | None:
        """Put another link between the same hosts; the interfaces go and come again, with the same addresses.

        Gives the account of the former link (``None`` if it was stopped already).
        """
        if len(scenario.hosts) != len(self.hosts):
            raise EmulationError(f"the link joins {len(scenario.hosts)} hosts, and there are {len(self.hosts)}")
        status = await self.stop() if self._emulator is not None else None
        self._scenario, self._captures = scenario, captures or Captures()
        await self._start()
        return status

    async def stop(self) -> EmulationStatus:
        """Stop the link; the namespaces stay, without interfaces. Raises :class:`EmulationError` if it had failed."""
        emulator, self._emulator = self._emulator, None
        if emulator is None:
            raise EmulationError("the link is not running")
        try:
            emulator.close_input()
            text = await emulator.line(_STATUS_S)
            if text is None:
                raise EmulationError(f"the emulator failed: {await emulator.complaint() or 'no output'}")
        finally:
            await emulator.stop()
        try:
            return EmulationStatus.parse(text)
        except FormatError as error:
            raise EmulationError(f"the emulator's status cannot be read: {error}") from None

    async def close(self) -> None:
        """Stop the link, end what still runs at its hosts, let go of the namespaces. Safe when nothing is left."""
        emulator, self._emulator = self._emulator, None
        namespaces, self._namespaces = self._namespaces, None
        try:
            if emulator is not None:
                await emulator.stop()
        finally:
            try:
                if namespaces is not None:
                    await namespaces.close()
            finally:
                end_marked(self._mark)

    def _environment(self) -> dict[str, str]:
        return {**tool_environment(), **self.mark}

    @property
    def _made(self) -> Namespaces:
        if self._namespaces is None:
            raise EmulationError("the emulated link is not there: use `async with`")
        return self._namespaces

    async def _start(self) -> None:
        namespaces = self._made
        hosts = [
            {
                "name": host.name,
                "namespace": namespaces.path(host.number),
                "device": host.interface,
                "mtu": MTU_BYTES,
                "addresses": [host.address],
            }
            for host in self.hosts
        ]
        prefix = [*namespaces.enter_user(), *await real_time_prefix(), *ASKED_TO_END_WITH_PARENT]
        # As a file without a name: a scenario may be longer than an argument can be (128 KiB).
        with os.fdopen(os.memfd_create("scenario"), "wb") as scenario:
            scenario.write(self._scenario.json.encode())
            scenario.flush()
            argv = [
                *prefix,
                *(sys.executable, "-P", "-m", "txop.emulate", "--json", f"/proc/self/fd/{scenario.fileno()}"),
                *("--hosts", json.dumps(hosts), *self._captures.options()),
            ]
            emulator = await started(argv, self._environment(), files=[scenario.fileno()])
        try:
            if await emulator.line(_READY_S) != "ready":
                emulator.close_input()
                said = await emulator.complaint()
                raise EmulationError(f"the emulator did not start: {said or 'no output'}")
            turn = asyncio.Semaphore(_AT_ONCE)
            await asyncio.gather(*(self._configure(host, turn) for host in self.hosts))
        except BaseException:
            await emulator.stop()
            raise
        self._emulator = emulator

    async def _configure(self, host: Host, turn: asyncio.Semaphore) -> None:
        """Bring the interface up, with its address and without IPv6 (it would send packets of its own)."""
        commands = [
            "link set lo up",
            f"link set dev {INTERFACE} addrgenmode none txqueuelen {DEVICE_QUEUE_PACKETS}",
            f"address add {host.address}/{PREFIX_LENGTH} dev {INTERFACE}",
            f"link set dev {INTERFACE} up",
        ]
        async with turn:
            said = await self._run(host, ["ip", "-batch", "-"], "\n".join(commands).encode() + b"\n")
        if said is not None:
            raise EmulationError(f"cannot set up {INTERFACE} at {host.name}: {said}")

    async def _run(self, host: Host, argv: Sequence[str], given: bytes) -> str | None:
        """Run a tool; what it complains of."""
        process = await asyncio.create_subprocess_exec(
            *self._made.enter(host.number, argv),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            env=self._environment(),
        )
        try:
            _, said = await asyncio.wait_for(process.communicate(given), _READY_S)
        except TimeoutError:
            return f"{argv[0]} did not finish"
        finally:
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
        if process.returncode == 0:
            return None
        lines = said.decode("utf-8", errors="replace").strip().splitlines()
        return lines[0] if lines else f"{argv[0]} failed"


def _check_tun() -> None:
    if not TUN_DEVICE.exists():
        raise MissingEmulationToolError(f"there is no {TUN_DEVICE}", what_to_do="load the kernel module: modprobe tun")
    if not os.access(TUN_DEVICE, os.R_OK | os.W_OK):
        raise MissingEmulationToolError(
            f"no permission to use {TUN_DEVICE}", what_to_do=f"run as root, or allow it: chmod a+rw {TUN_DEVICE}"
        )

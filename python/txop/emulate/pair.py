"""Two hosts with an emulated link between them."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from pydantic import ValidationError

from txop.emulate.error import EmulationError, MissingForEmulation
from txop.emulate.held import HeldProcess, start
from txop.emulate.namespaces import NamespacePair, Side, tool_environment
from txop.emulate.scenario import check_scenario, scenario_json
from txop.emulate.status import EmulationStatus

INTERFACE = "air0"
"""Name of the interface in both namespaces."""
DUT_ADDRESS = "10.80.211.1"
"""The station: the device under test."""
PEER_ADDRESS = "10.80.211.2"
"""The host behind the access point."""
PREFIX_LENGTH = 30
MTU_BYTES = 1500
DEVICE_QUEUE_PACKETS = 1000
"""Queue of each TUN device; it is empty but for moments: packets wait in the link's own driver queue."""
TUN_DEVICE = Path("/dev/net/tun")
_READY_S = 30.0
_STATUS_S = 20.0


class EmulatedPair:
    """Two network namespaces with an emulated link between them, as an async context manager::

        async with EmulatedPair({"dut": {"mcs": 7}}) as pair:
            run([*pair.dut_prefix, "ping", "-c", "3", pair.peer_address])
            status = await pair.stop()

    Start it from the thread that starts the programs in it: those end when that thread does.
    """

    interface = INTERFACE
    dut_address = DUT_ADDRESS
    peer_address = PEER_ADDRESS

    def __init__(
        self,
        scenario: Mapping[str, Any],
        *,
        air: Path | None = None,
        air_snap_bytes: int = 128,
        air_limit_bytes: int | None = None,
    ) -> None:
        """Nothing is made yet.

        Args:
            scenario: The link: tables ``medium``, ``dut``, ``ap`` and ``seed``. Raises :class:`ScenarioError`.
            air: pcapng file for what a monitor would have captured; replaced when it exists.
            air_snap_bytes: Bytes of each data frame that are kept.
            air_limit_bytes: The file ends before this.
        """
        check_scenario(scenario)
        self._scenario = scenario
        self._air = air
        self._air_options = ["--air-snap-bytes", str(air_snap_bytes)]
        if air_limit_bytes is not None:
            self._air_options += ["--air-limit-bytes", str(air_limit_bytes)]
        self._namespaces: NamespacePair | None = None
        self._emulator: HeldProcess | None = None

    async def __aenter__(self) -> Self:
        """Make the namespaces and start the link. Raises :class:`EmulationError`."""
        _check_tun()
        try:
            self._namespaces = await NamespacePair.make()
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

    @property
    def dut_prefix(self) -> list[str]:
        """Arguments in front of a command that make it run at the station's end."""
        return self._made.enter("dut")

    @property
    def peer_prefix(self) -> list[str]:
        """The same for the end behind the access point."""
        return self._made.enter("peer")

    @property
    def running(self) -> bool:
        """Whether the link is up."""
        return self._emulator is not None and self._emulator.running and self._made.alive

    async def change(self, scenario: Mapping[str, Any], *, air: Path | None = None) -> EmulationStatus | None:
        """Put another link in place of this one; the interfaces go and come again, with the same addresses.

        Gives the account of the former link (``None`` if it was stopped already). ``air`` is the new link's capture.
        """
        check_scenario(scenario)
        status = await self.stop() if self._emulator is not None else None
        self._scenario, self._air = scenario, air
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
                raise EmulationError(f"the emulator failed: {await emulator.complaint() or 'it said nothing'}")
        finally:
            await emulator.stop()
        try:
            return EmulationStatus.model_validate_json(text)
        except ValidationError as error:
            raise EmulationError(f"the emulator's status cannot be read: {error.errors()[0]['msg']}") from None

    async def close(self) -> None:
        """Stop the link and let go of the namespaces. Safe when there is nothing left."""
        emulator, self._emulator = self._emulator, None
        namespaces, self._namespaces = self._namespaces, None
        try:
            if emulator is not None:
                await emulator.stop()
        finally:
            if namespaces is not None:
                await namespaces.close()

    @property
    def _made(self) -> NamespacePair:
        if self._namespaces is None:
            raise EmulationError("the emulated link is not there: use `async with`")
        return self._namespaces

    async def _start(self) -> None:
        namespaces = self._made
        argv = [
            *namespaces.enter_user(),
            *(sys.executable, "-P", "-m", "txop.emulate", "--json", scenario_json(self._scenario)),
            *("--dut-namespace", namespaces.path("dut"), "--ap-namespace", namespaces.path("peer")),
            *("--interface", INTERFACE, "--mtu", str(MTU_BYTES)),
        ]
        if self._air is not None:
            argv += ["--air", str(self._air.absolute()), *self._air_options]
        emulator = await start(argv, tool_environment())
        try:
            if await emulator.line(_READY_S) != "ready":
                emulator.close_input()
                said = await emulator.complaint()
                raise EmulationError(f"the emulator did not start: {said or 'it said nothing'}")
            await asyncio.gather(self._configure("dut", DUT_ADDRESS), self._configure("peer", PEER_ADDRESS))
        except BaseException:
            await emulator.stop()
            raise
        self._emulator = emulator

    async def _configure(self, side: Side, address: str) -> None:
        """Bring the interface up, with its address and without IPv6 (whose own packets would be on the air)."""
        commands = [
            "link set lo up",
            f"link set dev {INTERFACE} addrgenmode none txqueuelen {DEVICE_QUEUE_PACKETS}",
            f"address add {address}/{PREFIX_LENGTH} dev {INTERFACE}",
            f"link set dev {INTERFACE} up",
        ]
        process = await asyncio.create_subprocess_exec(
            *self._made.enter(side, ["ip", "-batch", "-"]),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            env=tool_environment(),
        )
        try:
            _, said = await asyncio.wait_for(process.communicate("\n".join(commands).encode() + b"\n"), _READY_S)
        except TimeoutError:
            raise EmulationError(f"ip did not finish on the {side}'s end") from None
        finally:
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
        if process.returncode != 0:
            lines = said.decode("utf-8", errors="replace").strip().splitlines()
            raise EmulationError(f"cannot set up {INTERFACE} on the {side}'s end: {lines[0] if lines else 'ip failed'}")


def _check_tun() -> None:
    if not TUN_DEVICE.exists():
        raise MissingForEmulation(f"there is no {TUN_DEVICE}", what_to_do="load the kernel module: modprobe tun")
    if not os.access(TUN_DEVICE, os.R_OK | os.W_OK):
        raise MissingForEmulation(
            f"no permission to use {TUN_DEVICE}", what_to_do=f"run as root, or allow it: chmod a+rw {TUN_DEVICE}"
        )

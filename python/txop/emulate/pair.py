"""Two hosts with an emulated 802.11 link between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from txop.emulate.hosts import INTERFACE, hosts_of
from txop.emulate.network import Captures, EmulatedNetwork
from txop.emulate.scenario import station_scenario
from txop.emulate.status import EmulationStatus

_PEER, _DUT = hosts_of(("server", "dut"))


class EmulatedPair:
    """Two network namespaces with an emulated 802.11 link between them, as an async context manager::

        async with EmulatedPair({"dut": {"mcs": 7}}) as pair:
            run([*pair.dut_prefix, "ping", "-c", "3", pair.peer_address])
            status = await pair.stop()

    Start it from the thread that starts the programs in it: those end when that thread does.
    """

    interface = INTERFACE
    dut_address = _DUT.address
    peer_address = _PEER.address

    def __init__(
        self,
        scenario: Mapping[str, Any],
        *,
        air: Path | None = None,
        usb: Path | None = None,
        air_snap_bytes: int = 128,
        usb_snap_bytes: int | None = None,
        limit_bytes: int | None = None,
    ) -> None:
        """Nothing is made yet.

        Args:
            scenario: The link: tables ``medium``, ``dut``, ``ap`` and ``seed``. Raises :class:`ScenarioError`.
            air: pcapng file for what a monitor would have captured; replaced when it exists.
            usb: The same for usbmon, where the link has a ``usb`` table.
            air_snap_bytes: Bytes of each data frame that are kept.
            usb_snap_bytes: Bytes of each transfer that are kept, usbmon's header of 64 included; ``None``: all.
            limit_bytes: Each file ends before this.
        """
        self._bounds = Captures(snap_bytes=air_snap_bytes, usb_snap_bytes=usb_snap_bytes, limit_bytes=limit_bytes)
        self.network = EmulatedNetwork(station_scenario(scenario), replace(self._bounds, air=air, usb=usb))

    async def __aenter__(self) -> Self:
        """Make the namespaces and start the link. Raises :class:`EmulationError`."""
        await self.network.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Take everything down."""
        await self.close()

    @property
    def dut_prefix(self) -> list[str]:
        """Arguments in front of a command that make it run at the station's end."""
        return self.network.prefix(_DUT)

    @property
    def peer_prefix(self) -> list[str]:
        """The same for the end behind the access point."""
        return self.network.prefix(_PEER)

    @property
    def running(self) -> bool:
        """Whether the link is up."""
        return self.network.running

    async def change(
        self, scenario: Mapping[str, Any], *, air: Path | None = None, usb: Path | None = None
    ) -> EmulationStatus | None:
        """Put another link in place of this one; the interfaces go and come again, with the same addresses.

        Gives the account of the former link (``None`` if it was stopped already). ``air`` and ``usb`` are captures of
        the new one.
        """
        return await self.network.replace(station_scenario(scenario), replace(self._bounds, air=air, usb=usb))

    async def stop(self) -> EmulationStatus:
        """Stop the link; the namespaces stay, without interfaces. Raises :class:`EmulationError` if it had failed."""
        return await self.network.stop()

    async def close(self) -> None:
        """Stop the link and let go of the namespaces. Safe when there is nothing left."""
        await self.network.close()

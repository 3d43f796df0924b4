"""An interface of the sniffer put into monitor mode on the channel of the device under test, and back."""

from __future__ import annotations

from dataclasses import dataclass, field

from txop.formats.error import FormatError
from txop.formats.iw_interface import Channel, Interface, parse_interfaces
from txop.targets.contract import Target, TargetError, TargetLostError, run_checked

MODES = frozenset({"managed", "AP", "IBSS", "mesh point", "monitor"})
"""What an interface can be set back to by name."""


class NoSuchInterfaceError(TargetError):
    """The sniffer has no wireless interface of that name, now."""


@dataclass
class Monitor:
    """A monitor interface, from :meth:`set_up` to :meth:`put_back`."""

    sniffer: Target
    interface: str
    notes: list[str] = field(default_factory=list)
    """What a reader of the capture must know."""
    _undo: list[list[str]] = field(default_factory=list)

    async def set_up(self, channel: Channel | None) -> None:
        """Make it a monitor on ``channel`` (``None``: not known; the interface's own channel is kept).

        Raises:
            NoSuchInterfaceError: there is none of that name.
            TargetError: it could not be made one; what was changed is undone by :meth:`put_back`.
        """
        iw = await self.sniffer.find("iw")
        if iw is None:
            self.notes.append("the sniffer has no iw: its interface and channel are used as they are")
            return
        found = await interface_of(self.sniffer, iw, self.interface)
        if found is None:
            raise NoSuchInterfaceError(self.sniffer.name, f"{self.interface} is not a wireless interface there")
        if found.mode != "monitor":
            await self._change_type(iw, found.mode or "managed")
        await self._do(["ip", "link", "set", "dev", self.interface, "up"])
        if channel is None:
            own = f"channel {found.channel.number}" if found.channel is not None else "an unknown channel"
            self.notes.append(f"the channel of the device under test is not known; the sniffer was on {own}")
            return
        if not _same(found.channel, channel) or found.mode != "monitor":
            if found.mode == "monitor" and found.channel is not None:
                self._undo.append([iw, "dev", self.interface, "set", "freq", *frequency_arguments(found.channel)])
            await self._do([iw, "dev", self.interface, "set", "freq", *frequency_arguments(channel)])
            now = await interface_of(self.sniffer, iw, self.interface)
            if now is None or not _same(now.channel, channel):
                shown = now.channel.number if now is not None and now.channel is not None else "none"
                self.notes.append(f"the sniffer did not take channel {channel.number} as asked: it is on {shown}")

    async def _change_type(self, iw: str, mode: str) -> None:
        device = ["ip", "link", "set", "dev", self.interface]
        if mode not in MODES:
            raise TargetError(
                self.sniffer.name, f"{self.interface} is of type {mode[:20]!r}; make it a monitor by hand"
            )
        await self._do([*device, "down"])
        self._undo.append([*device, "up"])
        await self._do([iw, "dev", self.interface, "set", "type", "monitor"])
        # in the order in which they are run: last first
        self._undo += [[iw, "dev", self.interface, "set", "type", mode], [*device, "down"]]

    async def _do(self, argv: list[str]) -> None:
        await run_checked(self.sniffer, argv, timeout_s=15.0, root=True)

    async def put_back(self) -> list[str]:
        """Undo what :meth:`set_up` did, as far as it came; what could not be undone, in words."""
        problems = []
        while self._undo:
            argv = self._undo[-1]
            try:
                await run_checked(self.sniffer, argv, timeout_s=15.0, root=True)
            except TargetLostError:
                raise
            except TargetError as error:
                problems.append(error.what)
            self._undo.pop()
        return problems


async def interface_of(target: Target, iw: str, interface: str) -> Interface | None:
    """``iw dev X info``; ``None`` when it is not a wireless interface."""
    ran = await target.run([iw, "dev", interface, "info"], timeout_s=10.0)
    if not ran.ok:
        return None
    try:
        found = parse_interfaces(ran.stdout_bytes)
    except FormatError:
        return None
    return found[0] if found else None


def frequency_arguments(channel: Channel) -> list[str]:
    """The channel as ``iw dev X set freq`` takes it.

    >>> frequency_arguments(Channel(36, 5180.0, 80, True, 5210.0, None)), frequency_arguments(
    ...     Channel(1, 2412.0, 20, True, 2412.0, None)
    ... )
    (['5180', '80', '5210'], ['2412', 'HT20'])
    """
    mhz = f"{channel.frequency_mhz:.0f}"
    if not channel.ht:
        return [mhz, "NOHT"]
    if channel.width_mhz in (None, 20) or channel.center1_mhz is None:
        return [mhz, *(["HT20"] if channel.width_mhz == 20 else [])]
    if channel.center2_mhz is not None:
        return [mhz, "80+80", f"{channel.center1_mhz:.0f}", f"{channel.center2_mhz:.0f}"]
    return [mhz, str(channel.width_mhz), f"{channel.center1_mhz:.0f}"]


def _same(one: Channel | None, other: Channel | None) -> bool:
    if one is None or other is None:
        return False
    return (one.frequency_mhz, one.width_mhz, one.center1_mhz) == (
        other.frequency_mhz,
        other.width_mhz,
        other.center1_mhz,
    )

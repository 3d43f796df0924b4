"""The air, captured by the sniffer during a run."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from pydantic import TypeAdapter

from txop.formats.iw_interface import Channel
from txop.measure.instrument import Reading, RunContext, RunFacts
from txop.measure.probes.monitor import Monitor, NoSuchInterfaceError, interface_of
from txop.measure.probes.packet_capture import ABOUT, PacketCapture, read_capture
from txop.targets.contract import TargetError, TargetLostError

NAME = "air"
_RUNS_ASKED = 5
WHAT = "802.11 capture"
_CAME_WITH_ARM = (
    "the sniffer's interface came with the arm: what happened before, as the association, is not in the capture"
)
_LATE = (
    "the channel of the device under test was known when it was up, not before: the association may not be in the"
    " capture; the next run begins on that channel"
)


class AirCapture:
    """A monitor capture on the target ``sniffer``: ``air.pcap`` (tcpdump) or ``air.pcapng`` (dumpcap)."""

    name = "air capture"
    essential = False

    def __init__(self) -> None:
        self._capture = PacketCapture(NAME, "sniffer")
        self._monitor: Monitor | None = None
        self._channel: Channel | None = None
        self._missing = False
        """The sniffer had no such interface before the arm was put in place."""

    async def before_arm(self, run: RunContext) -> None:
        """Make the sniffer's interface a monitor, and capture: the association is in the capture then. The channel is
        that of the device under test if it is up, else the one it had in the run before, else the sniffer's own."""
        sniffer = run.targets.sniffer
        if sniffer is None or sniffer.interface is None:
            self._capture.about["problem"] = "the plan has no sniffer with an interface"
            return
        self._monitor = Monitor(sniffer, sniffer.interface)
        self._channel = await _channel_of_dut(run) or _channel_before(run.folder)
        if await self._tuned():
            await self._capture.start(run, self._monitor.interface)

    async def prepare(self, run: RunContext) -> None:
        """Now that the arm is up: go to its channel if the sniffer is not there. The capture goes on. It begins
        now where the arm brought the sniffer's interface."""
        if self._monitor is None:
            return
        if self._missing:
            await self._begin_now(run)
            return
        if "problem" in self._capture.about:
            return
        channel = await _channel_of_dut(run)
        if channel is None and self._channel is not None:
            own = f"the sniffer was on channel {self._channel.number}, that of the run before"
            self._monitor.notes.append(f"the channel of the device under test is not known; {own}")
        if channel is not None and channel != self._channel:
            self._monitor.notes.clear()
            self._channel = channel
            if await self._tuned():
                self._monitor.notes.append(_LATE)
        if self._channel is not None:
            self._capture.about["channel"] = asdict(self._channel)

    async def _begin_now(self, run: RunContext) -> None:
        """Begin the capture with an arm that is up."""
        assert self._monitor is not None
        del self._capture.about["problem"]
        self._monitor.notes.clear()
        self._channel = await _channel_of_dut(run) or self._channel
        if await self._tuned() and await self._capture.start(run, self._monitor.interface):
            self._monitor.notes.append(_CAME_WITH_ARM)
            if self._channel is not None:
                self._capture.about["channel"] = asdict(self._channel)

    async def _tuned(self) -> bool:
        if self._monitor is None:
            return False
        try:
            await self._monitor.set_up(self._channel)
        except TargetLostError:
            raise
        except TargetError as error:
            self._missing = isinstance(error, NoSuchInterfaceError)
            self._capture.about["problem"] = f"no monitor interface: {error.what}"
            return False
        return True

    async def start(self, run: RunContext) -> None:
        """Nothing: it captures."""

    async def stop(self, run: RunContext) -> None:
        """End the capture, and set the interface back as it was."""
        notes: list[str] = []
        try:
            if self._monitor is not None:
                notes += self._monitor.notes
                self._capture.about["notes"] = notes
            await self._capture.stop(run)
        finally:
            problems = await self._monitor.put_back() if self._monitor is not None else []
        if problems:
            raise TargetError("sniffer", f"could not be set back as it was: {'; '.join(problems)}")

    def read(self, facts: RunFacts) -> Reading:
        """The gate ``capture-dropped``; :mod:`txop.measure.probes.air_analysis` reads the frames."""
        return read_capture(facts, NAME, WHAT)


def _channel_before(folder: Path) -> Channel | None:
    """The channel of the latest run of the campaign that noted one."""
    runs = [path for path in folder.parent.glob(f"*/{ABOUT.format(NAME)}") if path.parent != folder]
    runs.sort(key=lambda path: path.stat().st_mtime, reverse=True)
    for path in runs[:_RUNS_ASKED]:
        try:
            return TypeAdapter(Channel).validate_python(json.loads(path.read_bytes())["channel"])
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return None


async def _channel_of_dut(run: RunContext) -> Channel | None:
    dut = run.targets.dut
    iw = await dut.find("iw") if dut.interface is not None else None
    if iw is None or dut.interface is None:
        return None
    found = await interface_of(dut, iw, dut.interface)
    return found.channel if found is not None else None

"""The air, captured by the sniffer during a run."""

from __future__ import annotations

from txop.campaign.instrument import Reading, RunContext, RunFacts
from txop.formats.iw_interface import Channel
from txop.probes.monitor import Monitor, interface_of
from txop.probes.packet_capture import PacketCapture, read_capture
from txop.targets.contract import TargetError, TargetLost

NAME = "air"
WHAT = "802.11 capture"


class AirCapture:
    """A monitor capture on the target ``sniffer``: ``air.pcap`` (tcpdump) or ``air.pcapng`` (dumpcap)."""

    name = "air capture"
    essential = False

    def __init__(self) -> None:
        self._capture = PacketCapture(NAME, "sniffer")
        self._monitor: Monitor | None = None

    async def prepare(self, run: RunContext) -> None:
        """Make the sniffer's interface a monitor on the channel of the device under test."""
        sniffer = run.targets.sniffer
        if sniffer is None or sniffer.interface is None:
            self._capture.about["problem"] = "the plan has no sniffer with an interface"
            return
        self._monitor = Monitor(sniffer, sniffer.interface)
        try:
            await self._monitor.set_up(await _channel_of_dut(run))
        except TargetLost:
            raise
        except TargetError as error:
            self._capture.about["problem"] = f"no monitor interface: {error.what}"

    async def start(self, run: RunContext) -> None:
        """Capture."""
        if self._monitor is not None and "problem" not in self._capture.about:
            await self._capture.start(run, self._monitor.interface)

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
        """The gate ``capture-dropped``; :mod:`txop.probes.air_analysis` reads the frames."""
        return read_capture(facts, NAME, WHAT)


async def _channel_of_dut(run: RunContext) -> Channel | None:
    dut = run.targets.dut
    iw = await dut.find("iw") if dut.interface is not None else None
    if iw is None or dut.interface is None:
        return None
    found = await interface_of(dut, iw, dut.interface)
    return found.channel if found is not None else None

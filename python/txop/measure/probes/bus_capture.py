"""The USB traffic of the device under test, captured there with usbmon (Documentation/usb/usbmon.rst)."""

from __future__ import annotations

import asyncio

from txop.measure.instrument import Reading, RunContext, RunFacts
from txop.measure.probes.packet_capture import LOADING_S, PacketCapture, read_capture
from txop.targets.contract import Running, Target

NAME = "usb"
WHAT = "USB capture"
BUS_FILES = ("usb.pcap", "usb.pcapng", "usbmon.txt")
"""Where the capture of a run may be: binary, or usbmon's text."""
MADE_FILE = BUS_FILES[1]
"""What the links and virtual chips of txop write, which is pcapng."""
TEXT_FILE = BUS_FILES[-1]
LEAST_SNAP_BYTES = 245_824
"""libpcap sizes usbmon's ring by the snapshot length: five times what is above the header of 64 bytes, 8 KiB at least
(``usb_set_ring_size`` in libpcap's pcap-usb-linux.c). This gives 1,200 KiB, the most that the kernel allows
(``BUFF_MAX`` in drivers/usb/mon/mon_bin.c). The kernel keeps up to a fifth of the ring of each transfer whatever the
snapshot length is, so that a ring of 8 KiB holds five full packets."""
SETTLE_S = 0.5


class BusCapture:
    """usbmon on the device under test: tcpdump or dumpcap where it has one, else the text of debugfs."""

    name = "USB capture"
    essential = False

    def __init__(self) -> None:
        self._capture = PacketCapture(NAME, "dut")
        self._text: Running | None = None
        self._loaded = False

    async def before_arm(self, run: RunContext) -> None:
        """Load usbmon if it is not there, and capture in the best way there is: the probe of the driver, the firmware
        and the association are in the capture then."""
        dut, bus = run.targets.dut, run.plan.collect.usb_bus
        if not await self._there(dut, bus):
            ran = await dut.run(["modprobe", "usbmon"], timeout_s=30, root=True)
            self._loaded = ran.ok
        if await self._there(dut, bus) and await self._capture.start(
            run, f"usbmon{bus}", least_snap_bytes=LEAST_SNAP_BYTES
        ):
            return
        binary = self._capture.about.pop("problem", "no such device, and usbmon cannot be loaded")
        path = f"/sys/kernel/debug/usb/usbmon/{bus}u"
        if not (await dut.run(["test", "-r", path], timeout_s=10, root=True)).ok:
            self._capture.about["problem"] = f"/dev/usbmon{bus}: {binary}; {path}: cannot be read"
            return
        self._text = await dut.start(
            ["cat", path],
            stdout=run.folder / TEXT_FILE,
            limit_bytes=int(run.plan.collect.max_capture_mb * 1e6),
            root=True,
            max_seconds=run.seconds_left + LOADING_S,
        )
        await asyncio.sleep(SETTLE_S)
        self._capture.about |= {"tool": "cat", "interface": path, "file": TEXT_FILE}
        if self._text.done:
            self._capture.about["problem"] = f"{path} could not be read"

    async def prepare(self, run: RunContext) -> None:
        """Nothing."""

    async def start(self, run: RunContext) -> None:
        """Nothing: it captures."""

    async def stop(self, run: RunContext) -> None:
        """End it, and take usbmon away if it was loaded for this."""
        try:
            if self._text is not None:
                ran = await self._text.stop(grace_s=1.0)
                self._capture.about["full"] = ran.cut
            await self._capture.stop(run)
        finally:
            if self._loaded:
                await run.targets.dut.run(["modprobe", "-r", "usbmon"], timeout_s=30, root=True)

    @staticmethod
    async def _there(dut: Target, bus: int) -> bool:
        return (await dut.run(["test", "-c", f"/dev/usbmon{bus}"], timeout_s=10, root=True)).ok

    def read(self, facts: RunFacts) -> Reading:
        """The gate ``capture-dropped``, where the capturing tool counts what it drops."""
        return read_capture(facts, NAME, WHAT)

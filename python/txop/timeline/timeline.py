"""Makes a timeline of what a guest and its virtual device left: all on one clock, and packets followed through it.

The clock is that of the device's captures, the guest's CLOCK_MONOTONIC at the moment when the device was plugged in. It
and the counter of the processor, by which the kernel is traced, are both QEMU's virtual clock, which counts
instructions (QEMU system/cpu-timers.c, ``cpu_get_ticks``): they differ by a number, and do not drift.
"""

from __future__ import annotations

import bisect
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from txop.core.errors import UserError
from txop.formats.air_frames import read_air_frames
from txop.formats.error import FormatError
from txop.formats.sdio_log import read_sdio_log
from txop.formats.trace_ring import TracedEvent, dropped_events, event_formats, read_ring
from txop.timeline.device import (
    Air,
    DeviceEvent,
    Sent,
    Transfers,
    is_disordered,
    note_transfers,
    ppdus,
    put_on_air,
    read_device_trace,
    sdio_events,
)
from txop.timeline.kernel import Followed, Kernel
from txop.timeline.packet import Packet, Point
from txop.timeline.recording import ADDRESS, CLOCK, FORMATS, MISSING, RING, STATISTICS

TX_START = "Q_TXE"
"""Register with which a driver of an AR9280 starts a queue: the chip knows its descriptors (ath9k/reg.h, AR_Q_TXE)."""


@dataclass(frozen=True)
class Clocks:
    """How times of the trace and of captures become those of the device."""

    traced_ns: int
    """To be added to the time of a traced event."""
    epoch_ns: int
    """To be taken off the time of a capture."""
    begin_ns: int
    end_ns: int
    """First and last moment of the trace, by the device's clock."""


@dataclass(frozen=True)
class Seen:
    """Packets of the device with all of their points, and which kinds of points there are."""

    packets: tuple[Packet, ...]
    has_txq: dict[bool, bool]
    """Of what the device sends (true) and receives: whether the sender has the queues of mac80211."""
    submitted: bool
    taken: bool
    fetched: bool
    disordered: int
    """Packets that left before their driver had them, or arrived before they had left."""


@dataclass(frozen=True)
class Timeline:
    """One run."""

    seen: Seen
    events: Sequence[TracedEvent]
    """Of the kernel, by the clock of the device."""
    device: list[DeviceEvent]
    air: list[Sent]
    device_address: str
    clocks: Clocks
    lost_events: int
    """Events of the kernel that found no room."""
    missing: tuple[str, ...]
    """Probes and events that this kernel does not have."""


def read_clocks(text: str) -> Clocks:
    """What ``txop-vusb control clock`` printed before and after the trace. Raises :class:`FormatError`."""
    try:
        first, *_, last = (json.loads(row) for row in text.splitlines())
        offset = first["monotonic_ns"] - first["virtual_ns"]
        if last["monotonic_ns"] - last["virtual_ns"] != offset:
            raise FormatError("the clock of the device was set anew during the trace")
        return Clocks(offset, first["epoch_ns"], first["monotonic_ns"], last["monotonic_ns"])
    except (ValueError, KeyError, TypeError) as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError("not two readings of the device's clock") from None


def read_timeline(
    folder: Path, *, air: str, trace: str | None = None, commands: str | None = None, interrupt: str | None = None
) -> Timeline:
    """The timeline of a run.

    Args:
        folder: What the guest left.
        air: Name of the capture of the air in it.
        trace: Name of the trace of the device.
        commands: Name of the command log of an SDIO card.
        interrupt: Of a device on PCI: part of the name of its interrupt's handler.

    Raises:
        UserError: A file is missing, or is not what it should be.
    """
    try:
        return _read(folder, air, trace, commands, interrupt)
    except FormatError as error:
        raise UserError(f"there is no timeline: {error}", where=str(folder)) from None
    except FileNotFoundError as error:
        raise UserError(
            f"there is no {Path(str(error.filename)).name}", where=str(folder), what_to_do="run it with --timeline"
        ) from None


def _read(folder: Path, air: str, trace: str | None, commands: str | None, interrupt: str | None) -> Timeline:
    clocks = read_clocks((folder / CLOCK).read_text())
    ring = read_ring((folder / RING).read_bytes(), event_formats((folder / FORMATS).read_text()))
    events = [TracedEvent(event.time + clocks.traced_ns, event.format, event.data) for event in ring.events]
    outside = [event for event in events if not clocks.begin_ns <= event.time <= clocks.end_ns]
    if outside:
        raise FormatError(f"{len(outside)} events are outside of the trace by the device's clock: the clocks differ")
    kernel = Kernel()
    kernel.take(events)
    device: list[DeviceEvent] = []
    if trace is not None:
        device += read_device_trace((folder / trace).read_text("utf-8", "replace"))
    if commands is not None:
        device += sdio_events(read_sdio_log((folder / commands).read_bytes()), clocks.epoch_ns)
    sent = ppdus(read_air_frames((folder / air).read_bytes()), clocks.epoch_ns)
    address = (folder / ADDRESS).read_text().strip()
    seen = join(kernel.followed, events, device, sent, address, interrupt)
    missing = (folder / MISSING).read_text().split("\n")
    dropped = dropped_events((folder / STATISTICS).read_text())
    return Timeline(
        seen=seen,
        device=device,
        events=events,
        air=sent,
        device_address=address,
        clocks=clocks,
        lost_events=dropped,
        missing=tuple(row for row in missing if row),
    )


def join(
    followed: Sequence[Followed],
    events: Sequence[TracedEvent],
    device: Sequence[DeviceEvent],
    sent: Sequence[Sent],
    address: str,
    interrupt: str | None,
) -> Seen:
    """Follow packets on through the device and the air."""
    own = bytes.fromhex(address.replace(":", ""))
    air = Air()
    for ppdu in sent:
        air.add(ppdu)
    out, back = Transfers(device, "out"), Transfers(device, "in")
    starts = [event.time_ns for event in device if event.kind == "write" and event.name.startswith(TX_START)]
    interrupts = _interrupts(events, interrupt)
    of_device: list[Packet] = []
    has_txq, disordered = {True: False, False: False}, 0
    ppdu_of: dict[int, list[Packet]] = {}
    for each in followed:
        if own not in (each.ethernet_source, each.ethernet_target):
            continue
        packet = each.packet
        packet.by_device = each.ethernet_source == own
        if not packet.by_device:  # a simulated radio's: a transfer from where it was is another's
            packet.points.pop(Point.SUBMITTED, None)
        has_txq[packet.by_device] |= Point.DEQUEUED in packet.points
        tries = air.tries(each)
        disordered += is_disordered(packet, tries)
        arrived = put_on_air(packet, tries)
        note_transfers(each, arrived, out, back)
        if packet.by_device and starts and tries:
            ppdu_of.setdefault(id(tries[0].ppdu), []).append(packet)
        if not packet.by_device and interrupts and Point.SENT in packet.points:
            _note_interrupt(packet, interrupts)
        of_device.append(packet)
    for together in ppdu_of.values():
        _note_start(together, starts)
    found = Counter(point for packet in of_device for point in packet.points)
    return Seen(
        packets=tuple(of_device),
        has_txq=has_txq,
        submitted=found[Point.SUBMITTED] > 0,
        taken=found[Point.TAKEN] > 0,
        fetched=found[Point.FETCHED] > 0,
        disordered=disordered,
    )


def _interrupts(events: Sequence[TracedEvent], name: str | None) -> list[int]:
    if name is None:
        return []
    return [each.time for each in events if each.name == "irq_handler_entry" and name in each.text("name")]


def _note_interrupt(packet: Packet, interrupts: list[int]) -> None:
    """The interrupt after a packet; where its driver was at work already, it had the packet at once."""
    sent = packet.points[Point.SENT]
    at = bisect.bisect_left(interrupts, sent)
    delivered = packet.points[Point.DELIVERED]
    after = interrupts[at] if at < len(interrupts) else delivered
    packet.points[Point.FETCHED] = after if after <= delivered else sent


def _note_start(together: list[Packet], starts: list[int]) -> None:
    """A driver starts the queue once for the packets of a PPDU, after the last of them."""
    last = max(packet.points.get(Point.DEQUEUED, packet.points[Point.STARTED]) for packet in together)
    at = bisect.bisect_left(starts, last)
    for packet in together:
        if at < len(starts) and starts[at] <= packet.points[Point.AIRED]:
            packet.points[Point.TAKEN] = starts[at]

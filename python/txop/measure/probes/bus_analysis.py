"""What ``txop bus`` finds in a run's USB capture, and the digest of it that goes into the run's record."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from txop.archive.run_file import Bound
from txop.measure.instrument import PostRunInstrument, Reading, RunFacts
from txop.measure.probes.bus_capture import BUS_FILES, NAME
from txop.measure.probes.usb import FILE as LINK_FILE
from txop.measure.probes.windowed import capture_window, not_of_window

if TYPE_CHECKING:
    from txop.bus.model import Device, Endpoint, Traffic
    from txop.bus.report import BusReport

MAX_TEXTS = 6
MAX_ENDPOINTS = 30
_SAME = 1.001
"""Bounds of datagrams per transfer that lie closer than this determine them, to the digits that are shown."""
_FAR = 1.1
"""Bounds of NTBs that lie farther apart than this say nothing: their pointer tables were cut off."""
_KEYS = (
    "usb_out_urbs_per_s",
    "usb_in_urbs_per_s",
    "usb_interrupt_urbs_per_s",
    "usb_out_datagrams_per_urb",
    "usb_in_datagrams_per_urb",
    "usb_out_turnaround_us",
)


class BusAnalysis(PostRunInstrument):
    """Analyses the measured window of a run's USB capture after the run. It records nothing itself."""

    name = "bus"

    def read(self, facts: RunFacts) -> Reading:
        """Figures and digest of the capture; not available, with the reason, without one."""
        from txop.bus import analyze

        reading = Reading()
        file = next((name for name in BUS_FILES if (facts.folder / name).is_file()), None)
        if file is None:
            return _nothing(reading, "no USB capture of this run", "usbmon")
        reading.files[file] = "USB capture"
        try:
            window = capture_window(facts, "dut")
            report = analyze(facts.folder / file, from_=window.start, to=window.end)
        except (OSError, ValueError) as error:
            return _nothing(reading, f"{file}: {error}", file)
        cut = report.summary.window
        if cut is not None and (why := not_of_window(facts, NAME, cut, window)) is not None:
            return _nothing(reading, f"{file}: {why}", file)
        digest_of(report, device_under_test(facts.folder), reading, file)
        if reading.bus is not None:
            reading.bus["window"] = window.digest(cut, "bus", file)
        return reading


def device_under_test(folder: Path) -> str | None:
    """Bus and address of the device under test in the run's own record of it, as in ``1.4``."""
    try:
        record = json.loads((folder / LINK_FILE.format("dut")).read_bytes())
        found = record.get("after") or record["before"]
        return f"{int(found['busnum'])}.{int(found['devnum'])}"
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def digest_of(report: BusReport, device: str | None, reading: Reading, source: str) -> None:
    """Take from a report what explains a run: of ``device``, or of the one that moved the most bytes."""
    devices = [each for each in report.devices if each.kind != "default-address"]
    known = {each.name for each in devices}
    if device is not None and device not in known:
        words = f"the device under test ({device}) is not in the capture"
        if len(known) != 1:
            _nothing(reading, words, source)
            return
        reading.warnings.append(f"USB capture: {words}; its figures are of the only device in it")
    if device not in known:
        busiest = max(devices, key=lambda each: each.bytes_in + (each.bytes_out or 0), default=None)
        if busiest is None:
            _nothing(reading, "no USB device in the capture", source)
            return
        device = busiest.name
    endpoints = [each for each in report.endpoints if each.device == device]
    traffic = [each for each in report.traffic if each.device == device]
    out, into = _bulk(endpoints, "out"), _bulk(endpoints, "in")
    interrupts = [each for each in endpoints if each.transfer == "interrupt" and each.direction == "in"]
    busiest_out = max(out, key=lambda each: each.completions, default=None)
    turnaround = busiest_out.turnaround_us if busiest_out is not None else None
    named = next(each for each in report.devices if each.name == device)
    if _lacks_completions(report, endpoints):
        reading.warnings.append("USB capture: completions are missing in it, so its rates are lower bounds")
    incomplete: Bound | None = "at-least" if _lacks_completions(report, endpoints) else None
    values: tuple[tuple[float | None, Bound | None], ...] = (
        (_rate(report, named, out, "bulk", "out"), incomplete),
        (_rate(report, named, into, "bulk", "in"), incomplete),
        (_rate(report, named, interrupts, "interrupt", "in"), incomplete),
        _datagrams(traffic, "out"),
        _datagrams(traffic, "in"),
        (turnaround.median if turnaround is not None else None, None),
    )
    for key, (value, bound) in zip(_KEYS, values, strict=True):
        why = None if value is not None else "the capture does not show it"
        reading.put(key, value, source, why, bound=bound if value is not None else None)
    reading.bus = {
        "device": device,
        "product": named.product,
        "records": report.records,
        "layer": report.summary.layer,
        "endpoints": [_endpoint(each) for each in endpoints[:MAX_ENDPOINTS]],
        "traffic": [_traffic(each) for each in traffic[:MAX_ENDPOINTS]],
        "errors": _sum([each.errors for each in endpoints]),
        "conclusions": [
            {"heading": "", "subject": f"device {device}" if v.device is not None else "the bus", "text": v.text}
            for v in report.verdicts
            if v.device in (None, device)
        ][:MAX_TEXTS],
        "limits": [limit.code for limit in report.summary.limits][:20],
    }


def _lacks_completions(report: BusReport, endpoints: Sequence[Endpoint]) -> bool:
    return bool(report.summary.dropped_by_capture) or any(each.lost_completions for each in endpoints)


def _bulk(endpoints: Sequence[Endpoint], direction: str) -> list[Endpoint]:
    return [each for each in endpoints if each.transfer == "bulk" and each.direction == direction]


def _sum(counts: Sequence[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known or not counts else None


def _rate(
    report: BusReport, device: Device, endpoints: Sequence[Endpoint], transfer: str, direction: str
) -> float | None:
    """Completions of all of them per second of the window, or without one of the time in which each of them had some.

    ``None`` where the capture has no clock, where the device has no such endpoint, and where nothing completed and the
    capture lacks records.
    """
    seconds = _window_s(report)
    if seconds is None:
        rates = [each.per_s for each in endpoints if each.per_s is not None]
        return sum(rates) if rates else None
    completions = sum(each.completions for each in endpoints)
    if completions:
        return completions / seconds
    summary = report.summary
    lacks = bool(summary.dropped_by_capture or summary.lost_completions)
    return 0.0 if _has(device, transfer, direction) and report.records and not lacks else None


def _window_s(report: BusReport) -> float | None:
    """How long the window is; ``None`` without one, or an end of it."""
    window = report.summary.window
    if window is None or window.from_us is None or window.to_us is None:
        return None
    return (window.to_us - window.from_us) / 1e6 or None


def _has(device: Device, transfer: str, direction: str) -> bool:
    """By its descriptors, the device has such an endpoint (``0x88 interrupt 64 B``)."""
    for interface in device.interfaces:
        for endpoint in interface.endpoints:
            address, kind, *_ = endpoint.split()
            if kind == transfer and ("in" if int(address, 16) & 0x80 else "out") == direction:
                return True
    return False


def _datagrams(traffic: Sequence[Traffic], direction: str) -> tuple[float | None, Bound | None]:
    """Datagrams per transfer of the framing that carried the most of them, and whether transfers were cut, so that
    there may have been more.

    ``None`` where the pointer tables of NTBs were cut off: the bound is one datagram then, whatever is in them.
    """
    framed = [each for each in traffic if each.direction == direction and each.datagrams_at_least]
    most = max(framed, key=lambda each: each.datagrams_at_least, default=None)
    if most is None:
        return None, None
    if most.datagrams_per_transfer is not None:
        return most.datagrams_per_transfer, None
    least, highest = most.at_least_per_transfer, most.at_most_per_transfer
    if least is not None and highest is not None and highest <= _SAME * least:
        return least, None
    apart = least is not None and highest is not None and highest > _FAR * least
    return (None, None) if most.framing in ("ntb16", "ntb32") and apart else (least, "at-least")


def _endpoint(endpoint: Endpoint) -> dict[str, object]:
    size, turnaround = endpoint.size_bytes, endpoint.turnaround_us
    return {
        "address": endpoint.address,
        "direction": endpoint.direction,
        "transfer": endpoint.transfer,
        "completions": endpoint.completions,
        "per_s": endpoint.per_s,
        "mean_bytes": size.mean if size is not None else None,
        "turnaround_p50_us": turnaround.median if turnaround is not None else None,
        "in_flight_max": endpoint.in_flight_max,
        "errors": endpoint.errors,
    }


def _traffic(traffic: Traffic) -> dict[str, object]:
    return {
        "endpoint": traffic.endpoint,
        "direction": traffic.direction,
        "framing": traffic.framing,
        "per_s": traffic.per_s,
        "datagrams_per_transfer": traffic.datagrams_per_transfer,
        "at_least_per_transfer": traffic.at_least_per_transfer,
        "ack_only_share": traffic.ack_only_share,
        "padding_share": traffic.padding_share,
        "faulty_transfers": traffic.faulty_transfers,
    }


def _nothing(reading: Reading, reason: str, source: str) -> Reading:
    for key in _KEYS:
        reading.put(key, None, source, reason)
    return reading

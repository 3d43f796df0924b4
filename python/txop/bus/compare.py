"""Two captures side by side: the same key figures of each, and how much each difference matters.

Linux against Windows, or before against after. The busiest device of each capture is compared; each capture keeps its
own clock, so only lengths of time are compared and never moments. One capture per side shows nothing about chance.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from txop.bus.model import Device, Endpoint, Sdio, Spread, Traffic
from txop.bus.report import BusReport
from txop.bus.view import lacks_completions, lacks_submissions, unit
from txop.present import format as fmt
from txop.present.document import Model

FORMAT = "txop-bus-compare"
VERSION = 1

_FEW = 5.0
"""Added to both counts before they are compared: one event instead of two does not show a halving."""

_CLEAR = 1.2
"""Datagrams per transfer that differ by less than this factor are not called different."""

_ENOUGH = 20
"""Transfers below which nothing is reported of how many datagrams they carry, as in a report of one capture."""

_RESOLUTION = 32.0
_EXACT = 64.0
"""A median is read from a histogram. Where a report does not say how fine that is, it is known to one part in the
first number, and exactly below the second."""

_FEW_LOST = 0.01
"""Records that may be missing, of the completions, before it is reported."""

_NETWORK = ("qmap", "raw-ip", "ntb16", "ntb32", "rndis", "ethernet", "realtek")

_NETWORK_KINDS = frozenset(("qmi", "ncm", "mbim", "ecm", "rndis", "raw-ip", "realtek-wifi", "atheros-wifi"))
"""Devices with bulk transfers that have an uplink and a downlink."""

_UP_AND_DOWN = {"uplink": "Uplink", "downlink": "Downlink"}
_OUT_AND_IN = {"uplink": "Bulk OUT", "downlink": "Bulk IN"}

_FRAMINGS = {
    "qmap": "QMAP", "raw-ip": "raw IP", "ntb16": "NTB-16", "ntb32": "NTB-32", "rndis": "RNDIS", "ethernet": "Ethernet",
    "realtek": "Realtek descriptors",
}  # fmt: skip


@dataclass(frozen=True)
class KeyFigure:
    """One figure of a capture; ``matters``: 0 to 1, what a total change of it means for throughput and delay."""

    key: str
    label: str
    unit: str
    matters: float
    value: float | None
    is_bound: bool = False
    """The value is a lower bound."""
    step: float | None = None
    """What it is known to, where that is not fine: the step of a clock."""
    resolution: float = 0.0
    """The resolution of the histogram that it was read from."""


class Difference(Model):
    """One key figure of both captures."""

    key: str
    """Stable identifier, for example `uplink.datagrams_per_transfer`."""
    label: str
    """In words."""
    unit: str
    """`datagrams`, `commands`, `requests/s`, `bytes`, `us`, `Mbit/s`, `fraction`, `requests` or `events`."""
    values: list[float | None]
    """One per capture, in the order of `captures`; null is not available."""
    at_least: list[bool]
    """By capture: the value is a lower bound."""
    known_to: list[float | None]
    """By capture: the step of the clock that a time was measured with, where that is a coarse one."""
    difference: float | None
    """The second minus the first; null where it is not known, because the smaller one is a lower bound, or a clock is
    coarser than the difference. A bound itself where the larger one is."""
    weight: float | None
    """How much it matters, 0 to 1: the relative change (for fractions the change itself) times the figure's importance;
    null when one of the values is not available."""


class Capture(Model):
    """One of the captures compared."""

    path: str
    """The file as named by the caller."""
    layer: str
    """Where its requests were seen, as in the report's summary."""
    device: str | None
    """The device compared; null when it has none."""
    device_name: str | None
    """What that device is."""


class Comparison(Model):
    """Version 1 of the `txop-bus-compare` format."""

    format: str
    """Always `"txop-bus-compare"`."""
    version: int
    """Layout version: 1."""
    captures: list[Capture]
    """The captures, in the order given."""
    sentences: list[str]
    """What differs most, in words."""
    notes: list[str]
    """What makes the two comparable or not: capture layers, clocks, devices."""
    differences: list[Difference]
    """Key figures, the one that matters most first, those without a weight last."""


def compare(reports: Sequence[BusReport]) -> Comparison:
    """The key figures of two ``reports`` side by side."""
    if len(reports) != 2:
        raise ValueError("a comparison needs two captures")
    devices = [main_device(report) for report in reports]
    framings = _framings(reports, devices)
    is_network = any(device is not None and device.kind in _NETWORK_KINDS for device in devices)
    ways = _UP_AND_DOWN if is_network else _OUT_AND_IN
    figures = [
        {figure.key: figure for figure in key_figures(report, device, framings, ways)}
        for report, device in zip(reports, devices, strict=True)
    ]
    names: dict[str, KeyFigure] = {}
    for found in figures:
        for key, figure in found.items():
            names.setdefault(key, figure)
    for report, device, found in zip(reports, devices, figures, strict=True):
        found.update(_none(report, device, names.keys() - found.keys(), names))
    rows = [_difference(first, [f.get(key) for f in figures]) for key, first in names.items()]
    if _differ_in_wires(reports):
        not_alike = {"sdio.took_us", "sdio.turnaround_us", "sdio.response_us"}
        rows = [
            row.model_copy(update={"difference": None, "weight": None}) if row.key in not_alike else row for row in rows
        ]
    rows.sort(key=lambda row: (row.weight is None, -(row.weight or 0)))
    captures = [
        Capture(
            path=report.path,
            layer=report.summary.layer,
            device=None if device is None else device.name,
            device_name=None if device is None else device.product or device.kind_name,
        )
        for report, device in zip(reports, devices, strict=True)
    ]
    return Comparison(
        format=FORMAT, version=VERSION, captures=captures, sentences=_sentences(reports, devices),
        notes=_notes(reports, devices), differences=rows,
    )  # fmt: skip


def _none(
    report: BusReport, device: Device | None, keys: Iterable[str], names: Mapping[str, KeyFigure]
) -> Iterator[tuple[str, KeyFigure]]:
    """Figures of what ``device`` was not asked, or has no endpoint for, in this capture: 0."""
    for key in keys if device is not None and report.summary.layer not in ("sdio", "none") else ():
        is_logged = key.startswith("requests.") or (key.startswith("interrupt.") and report.summary.layer != "urb-log")
        if is_logged:
            yield key, replace(names[key], value=0.0, is_bound=_lacks_requests(report))


def main_device(report: BusReport) -> Device | None:
    """The device a comparison is about: the busiest that carries datagrams, else the busiest that is not a hub."""
    carrying = {row.device for row in report.traffic if row.framing in _NETWORK}
    devices = [device for device in report.devices if device.kind != "default-address"]
    for wanted in (lambda d: d.name in carrying, lambda d: d.kind != "hub", lambda _: True):
        for device in devices:
            if wanted(device):
                return device
    return None


def key_figures(
    report: BusReport,
    device: Device | None,
    framings: Mapping[str, str] | None = None,
    ways: Mapping[str, str] = _UP_AND_DOWN,
) -> Iterator[KeyFigure]:
    """The figures of ``device`` that a comparison shows. Figures that a layer does not record are left out.

    ``framings``: by way, what the transfers with counted datagrams carry, where the captures differ in it.
    ``ways``: what the two directions of bulk transfers are called.
    """
    if report.sdio is not None:
        yield from _sdio(report.sdio)
    if device is None:
        return
    endpoints = [e for e in report.endpoints if e.device == device.name]
    for way, direction in (("uplink", "out"), ("downlink", "in")):
        bulk = _main_bulk(report, device, direction)
        if bulk is not None:
            yield from _bulk(report, way, bulk, (framings or {}).get(way, ""), ways[way])
    for e in endpoints:
        if (e.transfer, e.direction) == ("interrupt", "in"):
            yield KeyFigure(f"interrupt.{e.address}.per_s", f"Interrupt IN {e.address}, completions per second",
                         "requests/s", 0.4, e.per_s, lacks_completions(e, report.summary))  # fmt: skip
    for direction, word in (("out", "to the device"), ("in", "to the host")):
        control = [e for e in endpoints if (e.transfer, e.direction) == ("control", direction)]
        done = sum(e.completions for e in control)
        label = f"Control transfers {word}"
        lacks = any(lacks_completions(e, report.summary) for e in control)
        yield KeyFigure(f"control.{direction}.completions", label, "requests", 0.5, float(done), lacks)
        known = [float(e.bytes) for e in control if e.bytes is not None]
        yield KeyFigure(
            f"control.{direction}.bytes", f"{label}, bytes", "bytes", 0.3, sum(known) if known or not control else None,
            is_bound=lacks or any(e.bytes_unknown for e in control),
        )  # fmt: skip
        sizes = [e.size_bytes for e in control if e.size_bytes is not None]
        largest = max(sizes, key=lambda size: size.median, default=None)
        yield KeyFigure(
            f"control.{direction}.size", f"{label}, median size", "bytes", 0.3, _median(largest),
            resolution=_told_apart(largest),
        )  # fmt: skip
    if report.summary.layer != "urb-log":
        errors = [float(e.errors) for e in endpoints if e.errors is not None]
        yield KeyFigure("errors", "Requests that did not succeed (refusals and removals too)", "events", 0.8,
                     sum(errors) if errors or not endpoints else None,
                     any(lacks_completions(e, report.summary) for e in endpoints))  # fmt: skip
    for row in report.requests:
        if row.device == device.name:
            name = f" ({row.name})" if row.name else ""
            yield KeyFigure(
                f"requests.{row.code}", f"Control request {row.code}{name}", "events", 0.2, float(row.count),
                _lacks_requests(report),
            )  # fmt: skip


def _median(spread: Spread | None) -> float | None:
    return None if spread is None else spread.median


def _told_apart(spread: Spread | None) -> float:
    """By how much two medians differ at least for them to be distinguished."""
    if spread is None or spread.min == spread.max:
        return 0.0
    if spread.resolution is not None:
        return spread.median * spread.resolution
    return 0.0 if spread.median < _EXACT else spread.median / _RESOLUTION


def _sdio(sdio: Sdio) -> Iterator[KeyFigure]:
    packets = sdio.packets
    each, cmd52 = (None, None) if packets is None else (packets.commands_per_packet, packets.cmd52_per_packet)
    yield KeyFigure("sdio.commands_per_packet", "SDIO commands per packet", "commands", 1.0, each)
    yield KeyFigure("sdio.cmd52_per_packet", "CMD52 per packet", "commands", 0.9, cmd52)
    yield KeyFigure("sdio.cmd52_share", "CMD52 of CMD52 and CMD53", "fraction", 0.7, sdio.cmd52_share)
    for word, spread in (("write", sdio.written_size_bytes), ("read", sdio.read_size_bytes)):
        yield KeyFigure(
            f"sdio.{word}_bytes", f"Bytes of a CMD53 that {word}s, median", "bytes", 0.6, _median(spread),
            resolution=_told_apart(spread),
        )  # fmt: skip
    times = (
        ("took", "Time of a command, median", 0.5, sdio.took_us),
        ("turnaround", "From a status to the next command, median", 0.5, sdio.turnaround_us),
        ("response", "From an interrupt to the next command, median", 0.6, sdio.interrupt_response_us),
    )
    for key, label, matters, spread in times:
        yield KeyFigure(f"sdio.{key}_us", label, "us", matters, _median(spread), resolution=_told_apart(spread))
    yield KeyFigure("sdio.commands_per_s", "SDIO commands per second", "requests/s", 0.4, sdio.commands_per_s)
    yield KeyFigure(
        "sdio.interrupts_per_s", "Interrupts of the card per second", "requests/s", 0.4, sdio.interrupts_per_s
    )
    yield KeyFigure("sdio.failed", "CMD52 and CMD53 that failed", "events", 0.8, float(sdio.failed_transfers))


def _bulk(report: BusReport, way: str, e: Endpoint, framing: str, word: str) -> Iterator[KeyFigure]:
    """``framing``: of its traffic, in each capture, where that has to be shown. ``word``: what the way is called."""
    traffic, lacks = _main_traffic(report, e), lacks_completions(e, report.summary)
    if traffic is not None:
        yield KeyFigure(f"{way}.datagrams_per_transfer", f"{word}, datagrams per transfer{framing}", "datagrams", 1.0,
                     traffic.at_least_per_transfer, is_bound=bool(traffic.cut_transfers))  # fmt: skip
        if way == "uplink":
            yield KeyFigure("uplink.ack_only", "Uplink transfers that carry only TCP acknowledgements", "fraction", 0.9,
                         traffic.ack_only_share)  # fmt: skip
        yield KeyFigure(f"{way}.padding", f"{word}, padding", "fraction", 0.5, traffic.padding_share)
    yield KeyFigure(f"{way}.per_s", f"{word}, transfers per second", "requests/s", 0.9, e.per_s, lacks)
    yield KeyFigure(
        f"{way}.peak_per_s", f"{word}, transfers in the busiest second", "requests/s", 0.8, e.peak_per_s, lacks
    )
    yield KeyFigure(
        f"{way}.mbit_s", f"{word}, throughput", "Mbit/s", 0.9, e.mbit_s, lacks or bool(e.bytes_unknown and e.mbit_s)
    )
    yield KeyFigure(
        f"{way}.size", f"{word}, median transfer", "bytes", 0.7, _median(e.size_bytes),
        resolution=_told_apart(e.size_bytes),
    )  # fmt: skip
    yield KeyFigure(
        f"{way}.turnaround", f"{word}, turnaround, median", "us", 0.4, _median(e.turnaround_us),
        step=report.summary.clock_step_us, resolution=_told_apart(e.turnaround_us),
    )  # fmt: skip
    yield KeyFigure(
        f"{way}.in_flight",
        f"{word}, requests under way at most",
        "requests",
        0.6,
        None if e.in_flight_max is None else float(e.in_flight_max),
        lacks_submissions(e),
    )


def _main_bulk(report: BusReport, device: Device, direction: str) -> Endpoint | None:
    wanted = (device.name, "bulk", direction)
    found = [e for e in report.endpoints if (e.device, e.transfer, e.direction) == wanted]
    return max(found, key=lambda e: e.bytes or 0, default=None)


def _main_traffic(report: BusReport, e: Endpoint) -> Traffic | None:
    rows = [t for t in report.traffic if (t.device, t.endpoint) == (e.device, e.address) and t.framing in _NETWORK]
    return max(rows, key=lambda t: t.bytes, default=None)


def _framings(reports: Sequence[BusReport], devices: Sequence[Device | None]) -> dict[str, str]:
    """By way, what the transfers with counted datagrams carry; empty where that is all there is, and the same."""
    found = {}
    for way, direction in (("uplink", "out"), ("downlink", "in")):
        named: list[str] = []
        is_all = True
        for report, device in zip(reports, devices, strict=True):
            bulk = None if device is None else _main_bulk(report, device, direction)
            traffic = None if bulk is None else _main_traffic(report, bulk)
            if traffic is not None:
                named.append(f"{'AB'[len(named)]}: {_FRAMINGS[traffic.framing]}")
                is_all = is_all and not _framing_beside_others(report, traffic)
        if len(named) == 2 and not (is_all and named[0][3:] == named[1][3:]):
            found[way] = f" ({', '.join(named)})"
    return found


def _framing_beside_others(report: BusReport, traffic: Traffic) -> str:
    """`` with QMAP`` where transfers of another framing share the endpoint; else empty."""
    others = [
        row
        for row in report.traffic
        if (row.device, row.endpoint) == (traffic.device, traffic.endpoint)
        and row.framing in _NETWORK
        and row.framing != traffic.framing
        and row.transfers
    ]
    return f" with {_FRAMINGS[traffic.framing]}" if others else ""


def _difference(figure: KeyFigure, both: list[KeyFigure | None]) -> Difference:
    values = [None if each is None else each.value for each in both]
    at_least = [each is not None and each.value is not None and each.is_bound for each in both]
    known_to = [None if each is None else each.step for each in both]
    told_apart = max((each.resolution for each in both if each is not None), default=0.0) or None
    first, second = values
    difference = weight = None
    if first is not None and second is not None and _is_known(first, second, at_least, [*known_to, told_apart]):
        difference = second - first
        largest = max(abs(first), abs(second)) + (_FEW if figure.unit == "events" else 0.0)
        change = abs(difference) if figure.unit == "fraction" else abs(difference) / largest if largest else 0.0
        weight = min(1.0, change) * figure.matters
    return Difference(
        key=figure.key, label=figure.label, unit=figure.unit, values=values, at_least=at_least, known_to=known_to,
        difference=difference, weight=weight,
    )  # fmt: skip


def _is_known(first: float, second: float, at_least: list[bool], known_to: list[float | None]) -> bool:
    """The larger of two values is larger indeed, and by more than clocks and histograms resolve."""
    if all(at_least) or (first <= second and at_least[0]) or (second <= first and at_least[1]):
        return False
    steps = [step for step in known_to if step is not None]
    return not steps or abs(first - second) >= max(steps)


def _sentences(reports: Sequence[BusReport], devices: Sequence[Device | None]) -> list[str]:
    found = []
    for direction, way in (("out", "Uplink"), ("in", "Downlink")):
        parts = []
        for report, device in zip(reports, devices, strict=True):
            bulk = None if device is None else _main_bulk(report, device, direction)
            traffic = None if bulk is None else _main_traffic(report, bulk)
            if bulk is None or traffic is None or traffic.at_least_per_transfer is None or traffic.transfers < _ENOUGH:
                break
            least = "at least " if traffic.cut_transfers else ""
            name, mean = unit(report), f"{traffic.at_least_per_transfer:,.1f}"
            # Where an endpoint carries transfers of several framings, their rate is another one than the endpoint's.
            framing = _framing_beside_others(report, traffic)
            per_s = traffic.per_s if framing else bulk.per_s
            bound = " or more" if lacks_completions(bulk, report.summary) else ""
            rate = "" if per_s is None else f" at {per_s:,.0f} {name}/s{bound}{framing}"
            kept = fmt.count(traffic.transfers - traffic.faulty_transfers)
            words = f"{least}{mean} {'datagram' if mean == '1.0' else 'datagrams'} per {name} (n = {kept}){rate}"
            parts.append((traffic.at_least_per_transfer, bool(least), words))
        if len(parts) == 2:
            (one, one_cut, one_words), (two, two_cut, two_words) = parts
            less, more = sorted((one, two))
            clear = less > 0 and more / less >= _CLEAR and not (one_cut if one < two else two_cut)
            more_is_bound = one_cut if one > two else two_cut
            least = "at least " if more_is_bound else ""
            times = f": {least}{more / less:.1f} times as many per transfer" if clear else ""
            found.append(f"{way}: A carries {one_words}, B {two_words}{times}.")
    if not found and None not in devices:
        counts = []
        for report, device in zip(reports, devices, strict=True):
            control = [e for e in report.endpoints if device and e.device == device.name and e.transfer == "control"]
            counts += [sum(e.completions for e in control if e.direction == way) for way in ("out", "in")]
        found.append(
            f"Control transfers: A has {counts[0]:,} to the device and {counts[1]:,} to the host, "
            f"B {counts[2]:,} and {counts[3]:,}."
        )
    return found


def _is_many(report: BusReport, lost: int) -> bool:
    return lost > _FEW_LOST * max(1, report.summary.completions)


def _lacks_requests(report: BusReport) -> bool:
    """Submissions are missing, as the capture says itself or as the others show: counts of them are lower bounds."""
    return bool(report.summary.dropped_by_capture or report.summary.lost_submissions)


def _lost_records(report: BusReport) -> bool:
    """The capture lacks many records, of whatever kind."""
    summary = report.summary
    lost = (summary.dropped_by_capture or 0) + (summary.lost_submissions or 0) + summary.lost_completions
    return _is_many(report, lost)


def _lost(report: BusReport) -> str:
    """Which records are missing."""
    summary = report.summary
    found = (
        (summary.dropped_by_capture, "record", "dropped by its own count"),
        (summary.lost_submissions, "submission", "missing"),
        (summary.lost_completions, "completion", "missing"),
    )
    return ", ".join(f"{fmt.plural(count, one)} {what}" for count, one, what in found if count)


def _differ_in_wires(reports: Sequence[BusReport]) -> bool:
    """Both are command logs, and only one has the time on the wires in its times."""
    logs = [report.sdio for report in reports if report.sdio is not None]
    return len(logs) == 2 and (logs[0].bus_time, logs[1].bus_time) not in ((True, True), (False, False))


def _notes(reports: Sequence[BusReport], devices: Sequence[Device | None]) -> list[str]:
    notes = ["Each capture has its own clock: lengths of time and rates are compared, moments are not."]
    layers = [report.summary.layer for report in reports]
    if set(layers) == {"urb", "irp"}:
        notes.append(
            "One side is URBs (usbmon, between driver and host controller), the other IRPs (USBPcap, above the root "
            "hub). Completed sizes, rates, requests under way and control requests are the same thing in both; the "
            "buffers offered to IN transfers and URB flags exist on one side only and are not compared. Turnarounds "
            "of IRPs include Windows' own scheduling."
        )
    if "urb-log" in layers:
        notes.append(
            "One side is a log of control requests without a trustworthy clock, addresses or statuses: counts, sizes "
            "and the requests themselves are compared; rates, turnarounds, errors and other endpoints are not."
        )
    for letter, report, device in zip("AB", reports, devices, strict=True):
        if _lost_records(report):
            completions = report.summary.dropped_by_capture or report.summary.lost_completions
            notes.append(
                f"{letter} lacks records ({_lost(report)}), so its "
                + (
                    "rates are lower bounds, and requests under way are not known where completions are missing."
                    if completions
                    else "requests under way are a lower bound, and its turnarounds are of fewer requests."
                )
            )
        elif report.summary.unmatched_completions > _FEW_LOST * max(1, report.summary.completions):
            notes += [f"{letter}: {limit.text}" for limit in report.summary.limits if limit.code == "unmatched"]
        notes += [f"{letter}: {limit.text}" for limit in report.summary.limits if limit.code == "steps-back"]
        if device is not None and any(t.cut_transfers for t in report.traffic if t.device == device.name):
            notes.append(f"{letter} does not hold all data of its transfers: what was cut off counts as at least.")
    for letter, report in zip("AB", reports, strict=True):
        notes += [f"{letter}: {limit.text}" for limit in report.summary.limits if limit.code == "coarse-clock"]
    buses = [None if report.sdio is None else report.sdio.bus_time for report in reports]
    if _differ_in_wires(reports):
        words = {True: "all", False: "none", None: "some"}
        notes.append(
            f"Commands took their time on the wires in {words[buses[0]]} of A and in {words[buses[1]]} of B: times of "
            "commands and turnarounds are not compared."
        )
    first, second = devices
    if first is not None and second is not None:
        ids = [(d.vendor_id, d.product_id) for d in (first, second)]
        if None not in (ids[0][0], ids[1][0]) and ids[0] != ids[1]:
            notes.append(f"The devices are not the same: {ids[0][0]}:{ids[0][1]} in A, {ids[1][0]}:{ids[1][1]} in B.")
    return notes

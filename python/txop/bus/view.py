"""The report in sections of text and tables, the same for the terminal and for the HTML page."""

from __future__ import annotations

from collections.abc import Sequence

from txop.bus.model import AgreedDirection, Device, Endpoint, Request, Sdio, Summary, Traffic, Verdict
from txop.bus.report import BusReport
from txop.bus.sdio import sdio_section
from txop.present import format as fmt
from txop.present.blocks import Block, Cell, Column, Fact, Facts, Grid, Lines, Plot, Section, Tone, capture_limits
from txop.present.cells import count, missing, share, text, time_us
from txop.present.window import described, span

WITHIN_A_STEP = "below a step of the clock"
"""A time between two moments that the clock does not distinguish."""

SECTION_NAMES = ("summary", "devices", "endpoints", "traffic", "requests", "modem", "sdio")

_OF_USB = ("devices", "endpoints", "traffic", "requests")

LAYERS = {
    "urb": "URBs, between driver and host controller (usbmon)",
    "irp": "IRPs, above the root hub (USBPcap)",
    "urb-log": "requests in a Windows driver log (UsbSnoop)",
    "sdio": "commands of an SDIO bus, in its host controller",
    "mixed": "both URBs (usbmon) and IRPs (USBPcap)",
    "none": "none",
}


def unit(report: BusReport) -> str:
    """What a transfer request is called in this capture."""
    return "IRP" if report.summary.layer == "irp" else "URB"


def tone(verdict: Verdict) -> Tone:
    """How a verdict is shown."""
    return "bad" if verdict.tone == "bad" else "good" if verdict.tone == "good" else ""


def sections(report: BusReport, only: Sequence[str] = (), *, whole: bool = False) -> list[Section]:
    """The sections, or only those named.

    That of modems is left out of a capture without one, that of SDIO commands where it is not a log of them, and
    those of USB where it is one, unless they are named.

    ``whole``: evidence and descriptors of all devices.
    """
    found = [
        _summary(report),
        _devices(report, whole=whole),
        _endpoints(report),
        _traffic(report),
        _requests(report),
    ]
    if report.data_formats or report.qmi_messages or "modem" in only:
        found.append(_modem(report))
    if report.sdio is not None:
        found.append(sdio_section(report.sdio))
    if report.summary.layer == "sdio":
        found = [section for section in found if section.name not in _OF_USB or section.name in only]
    return [section for section in found if not only or section.name in only]


def _summary(report: BusReport) -> Section:
    summary = report.summary
    packed = "" if summary.compression == "none" else f", {summary.compression}"
    facts = [
        Fact("Capture", f"{report.path} ({summary.container}{packed})"),
        Fact("Recorded", LAYERS.get(summary.layer, summary.layer)),
        Fact("Origin", report.origin),
        _logged(report.sdio) if summary.layer == "sdio" else Fact("Requests", _ways(report)),
        *([] if summary.window is None else [Fact("Window", described(summary.window))]),
        Fact("Time span", _span(report)),
    ]
    if summary.submissions and not summary.completions and summary.window is None:
        facts.append(Fact("Not paired", "no completion is in the capture"))
    elif summary.unmatched_completions or summary.lost_completions or summary.unfinished:
        odd = (
            f"{fmt.plural(summary.unmatched_completions, 'completion')} without submission, "
            f"{fmt.plural(summary.lost_completions, 'submission')} without completion, "
            f"{fmt.count(summary.unfinished)} under way at the end"
            + (" or where time steps back" if summary.steps_back else "")
        )
        facts.append(Fact("Not paired", odd))
    if summary.other_requests:
        facts.append(Fact("Requests without data", _without_data(summary)))
    if summary.injected_requests:
        facts.append(Fact("Written by USBPcap itself", fmt.plural(summary.injected_requests, "request")))
    if summary.clock_wraps:
        facts.append(Fact("Clock restarted", f"{fmt.plural(summary.clock_wraps, 'time')}, undone here"))
    if summary.dropped_by_capture:
        facts.append(Fact("Dropped while capturing", fmt.count(summary.dropped_by_capture), tone="bad"))
    if summary.not_usb:
        facts.append(Fact("Not USB", fmt.plural(summary.not_usb, "record")))
    if summary.unreadable:
        facts.append(Fact("Unreadable", fmt.plural(summary.unreadable, "record"), tone="bad"))
    if summary.damage is not None:
        where = f"at byte {fmt.count(summary.damage.offset)}: {summary.damage.message}"
        facts.append(Fact("Damage", where, tone="bad"))
    blocks: list[Block] = [Facts(facts)]
    if summary.unreadable_examples:
        blocks.append(Lines(tuple(summary.unreadable_examples), "Unreadable, the first few"))
    limits = tuple(limit.text for limit in summary.limits)
    if limits or not _is_empty(report):
        blocks.append(capture_limits(limits))
    return Section("summary", 1, "Summary", blocks)


def _ways(report: BusReport) -> str:
    summary = report.summary
    refused = f", {fmt.count(summary.submission_errors)} refused" if summary.submission_errors else ""
    return f"{fmt.count(summary.submissions)} submitted, {fmt.count(summary.completions)} completed{refused}"


def _without_data(summary: Summary) -> str:
    """Requests without data each way; older documents have both in one number."""
    down = summary.other_submissions
    if down is None:
        return fmt.plural(summary.other_requests, "record")
    named = [
        fmt.plural(count, one, many)
        for count, one, many in (
            (summary.pipe_resets, "reset of a pipe", "resets of pipes"),
            (summary.pipe_aborts, "abort of a pipe", "aborts of pipes"),
        )
        if count
    ]
    what = f"; {' and '.join(named)}" if named else ""
    return f"{fmt.count(down)} submitted, {fmt.count(summary.other_requests - down)} completed{what}"


def _logged(sdio: Sdio | None) -> Fact:
    if sdio is None:
        return Fact("Records", "0")
    changes = fmt.plural(sdio.records - sdio.commands, "change")
    return Fact(
        "Records", f"{fmt.count(sdio.records)}: {fmt.plural(sdio.commands, 'command')}, {changes} of the interrupt line"
    )


def _is_empty(report: BusReport) -> bool:
    """Nothing was recorded, or nothing in the window."""
    return not report.records and not report.other_requests


def _span(report: BusReport) -> str:
    summary = report.summary
    if summary.span_us == 0 and report.records > 1:
        began = span(0, summary.first_time_unix_s).removeprefix(fmt.duration_us(0))
        return f"{WITHIN_A_STEP}{began}"
    if summary.span_us is not None:
        return span(summary.span_us, summary.first_time_unix_s)
    if summary.steps_back:
        return "not available: time steps back in the file"
    if _is_empty(report) and summary.unreadable:
        return "not available: no record could be read"
    if _is_empty(report):
        return f"not available: nothing was recorded{'' if summary.window is None else ' in the window'}"
    return "not available: the file has no clock"


def called(device: Device) -> str:
    """What a device is called: its product string, else what it is."""
    return device.product or device.kind_name


def known_bytes(size: int | None, unknown: int | None) -> Cell:
    """Bytes of requests, of ``unknown`` of which they are not known."""
    if size is None:
        return missing()
    return Cell(f"{'at least ' if unknown else ''}{fmt.size_bytes(size)}", float(size))


def time_by_clock(value: float | None, step_us: int | None) -> Cell:
    """A time by a clock that moves in steps of ``step_us``, where it is a coarse one."""
    if value == 0 and step_us is None:
        return Cell(WITHIN_A_STEP, value)
    if value is None or step_us is None:
        return time_us(value)
    steps = round(value / step_us)
    return time_us(float(steps * step_us)) if steps else Cell(f"below {fmt.duration_us(step_us)}", value)


LISTED = 24
"""Lines of evidence, and of descriptors, that are shown where not all are."""


def _listed(lines: Sequence[tuple[Device, str]], *, whole: bool) -> tuple[str, ...]:
    """``lines`` with the device that each is about, or the first, and how many more there are."""
    shown = lines if whole else lines[:LISTED]
    more = [device.name for device, _ in lines[len(shown) :]]
    said = tuple(f"{device.name}{line}" for device, line in shown)
    if not more:
        return said
    names = ", ".join(dict.fromkeys(more))
    return (*said, f"and {len(more)} more, of {names}: --top 0 and --json have all")


def _devices(report: BusReport, *, whole: bool) -> Section:
    columns = (
        Column("Device", right=False), Column("ID", right=False), Column("Name", right=False, rank=2),
        Column("Type", right=False), Column("Source", right=False, rank=2), Column("Speed", right=False, rank=3),
        Column("Completed"), Column("Bytes out"), Column("Bytes in"),
    )  # fmt: skip
    rows = [
        (
            Cell(d.name),
            text(None if d.vendor_id is None else f"{d.vendor_id}:{d.product_id}"),
            text(d.product),
            Cell(d.kind_name),
            Cell(d.kind_by),
            text(d.speed),
            count(d.completions),
            known_bytes(d.bytes_out, d.bytes_out_unknown),
            known_bytes(d.bytes_in, d.bytes_in_unknown),
        )
        for d in report.devices
    ]
    blocks: list[Block] = [Grid("", columns, rows, unit_of_rows="devices")]
    evidence = [(d, f": {line}") for d in report.devices for line in d.evidence]
    if evidence:
        blocks.append(Lines(_listed(evidence, whole=whole), "Evidence"))
    parts = [
        (
            d,
            f", interface {i.number} alternate {i.alternate}: {i.class_codes} ({i.class_name})"
            + (f"; {', '.join(i.endpoints)}" if i.endpoints else ""),
        )
        for d in report.devices
        for i in d.interfaces
    ]
    if parts:
        blocks.append(Lines(_listed(parts, whole=whole), "Descriptors"))
    return Section("devices", 2, "Devices", blocks)


def _endpoints(report: BusReport) -> Section:
    name = unit(report)
    columns = (
        Column("Device", right=False), Column("Endpoint", right=False), Column("Type", right=False),
        Column(f"{name}s"), Column("Bytes"), Column("Median size"), Column("Buffer", rank=3), Column("Per second"),
        Column("Busiest s", rank=2), Column("Turnaround, median", rank=2), Column("n", rank=3), Column("95 %", rank=3),
        Column("99 %", rank=3), Column("Under way, mean", rank=3), Column("most", rank=2), Column("Not successful"),
    )  # fmt: skip
    rows = [_endpoint(e, report.summary) for e in report.endpoints]
    note = (
        f"{name}s: completions. Per second: from the first completion to the last. Turnaround: submission to "
        "completion, of those that succeeded, with a captured submission; n: how many those are. Not successful: "
        "neither success nor taken back; that is not always a fault (a stall that refuses a request, a short "
        "packet, a removal)."
    )
    blocks: list[Block] = [
        Plot("rates"),
        Plot("sizes"),
        Grid("", columns, rows, note, "endpoints"),
    ]
    failed = [(e, s) for e in report.endpoints for s in e.statuses if s.code not in ("0", "0x00000000", "-")]
    if failed:
        heads: tuple[Column, ...] = (
            Column("Device", right=False), Column("Endpoint", right=False), Column("Status", right=False),
            Column("Code", right=False, rank=2), Column("Count"), Column("Meaning", right=False),
        )  # fmt: skip
        cells: list[tuple[Cell, ...]] = [
            (Cell(e.device), Cell(_place(e)), Cell(s.name), Cell(s.code), count(s.count), Cell(s.meaning))
            for e, s in failed
        ]
        blocks.append(Grid("Requests that did not succeed, or were taken back", heads, cells, unit_of_rows="statuses"))
    gaps = [(e, g) for e in report.endpoints if e.transfer == "bulk" for g in e.gaps]
    unknown = [e for e in report.endpoints if e.transfer == "bulk" and e.are_gaps_known is False]
    if gaps:
        heads = (
            Column("Device", right=False), Column("Endpoint", right=False), Column("From"), Column("Length"),
            Column("Under way"),
        )  # fmt: skip
        cells = [
            (Cell(e.device), Cell(_place(e)), time_us(g.start_us), time_us(g.length_us), count(g.in_flight))
            for e, g in sorted(gaps, key=lambda pair: -pair[1].length_us)
        ]
        blocks.append(Grid("Longest gaps of bulk endpoints with requests under way", heads, cells, unit_of_rows="gaps"))
    if unknown:
        names = ", ".join(f"{e.device} {_place(e)}" for e in unknown)
        why = f"not available of {names}: completions are missing, or time steps back"
        blocks.append(Lines((why,), "Gaps with requests under way"))
    return Section("endpoints", 3, "Endpoints", blocks)


def _place(e: Endpoint) -> str:
    return f"{e.address} {e.direction}"


def _rate(value: float | None, is_bound: bool) -> Cell:
    if value is None:
        return missing()
    return Cell(f"{'at least ' if is_bound else ''}{fmt.number(value, 0 if value >= 10 else 1)}", value)


def lacks_completions(e: Endpoint, summary: Summary) -> bool:
    """Whether completions of an endpoint are missing in the capture, so that its rates are lower bounds."""
    return bool(e.lost_completions or summary.dropped_by_capture)


def lacks_submissions(e: Endpoint) -> bool:
    """Whether submissions of an endpoint are missing, so that requests under way are a lower bound."""
    return bool(e.unmatched_completions or e.lost_submissions)


def _at_least(shown: str, value: float, e: Endpoint) -> Cell:
    return Cell(f"at least {shown}" if lacks_submissions(e) else shown, value)


def _endpoint(e: Endpoint, summary: Summary) -> tuple[Cell, ...]:
    step_us, is_bound = summary.clock_step_us, lacks_completions(e, summary)
    size, turn, offered = e.size_bytes, e.turnaround_us, e.requested_size_bytes
    is_in = e.direction == "in"
    return (
        Cell(e.device),
        Cell(_place(e)),
        Cell(e.transfer),
        count(e.completions),
        known_bytes(e.bytes, e.bytes_unknown),
        missing() if size is None else Cell(fmt.size_bytes(size.median), size.median),
        missing() if offered is None or not is_in else Cell(fmt.size_bytes(offered.median), offered.median),
        _rate(e.per_s, is_bound),
        _rate(e.peak_per_s, is_bound),
        time_by_clock(turn.median if turn else None, step_us),
        missing() if turn is None else count(turn.n),
        time_by_clock(turn.p95 if turn else None, step_us),
        time_by_clock(turn.p99 if turn else None, step_us),
        missing() if e.in_flight_mean is None else _at_least(fmt.number(e.in_flight_mean), e.in_flight_mean, e),
        missing() if e.in_flight_max is None else _at_least(fmt.count(e.in_flight_max), float(e.in_flight_max), e),
        _bad(e.errors),
    )


def datagrams(row: Traffic) -> Cell:
    """Datagrams per transfer, or how many there are at least."""
    if row.datagrams_per_transfer is not None:
        return Cell(fmt.number(row.datagrams_per_transfer), row.datagrams_per_transfer)
    if row.at_least_per_transfer is None:
        return missing()
    return Cell(f"at least {fmt.number(row.at_least_per_transfer)}", row.at_least_per_transfer)


def _traffic(report: BusReport) -> Section:
    name = unit(report)
    columns = (
        Column("Device", right=False), Column("Endpoint", right=False), Column("Framing", right=False),
        Column(f"{name}s with data"), Column("Bytes", rank=2), Column("Per second"),
        Column(f"Datagrams per {name}"), Column("most", rank=3), Column("Cut", rank=3), Column("Padding", rank=2),
        Column("Only TCP ACKs"), Column("Faults"),
    )  # fmt: skip
    lacking = {(e.device, e.address) for e in report.endpoints if lacks_completions(e, report.summary)}
    rows = [
        (
            Cell(t.device),
            Cell(f"{t.endpoint} {t.direction}"),
            Cell(t.framing),
            count(t.transfers),
            Cell(fmt.size_bytes(t.bytes), float(t.bytes)),
            _rate(t.per_s, (t.device, t.endpoint) in lacking),
            datagrams(t),
            count(t.most_datagrams),
            count(t.cut_transfers),
            share(t.padding_share),
            share(t.ack_only_share),
            Cell(fmt.count(t.faulty_transfers), float(t.faulty_transfers), "bad" if t.faulty_transfers else "dim"),
        )
        for t in report.traffic
    ]
    note = (
        f"{name}s with data and their bytes: to the device, what was handed over. Per second: completions. "
        f"Datagrams per {name}: of the transfers that keep the rules of their framing. "
        "Padding and TCP acknowledgements: of those with datagrams that are all known. "
        "Cut: transfers with datagrams behind the end of what was captured; they count as at least as many as their "
        "bytes need, those of an NTB without its table as one."
    )
    blocks: list[Block] = [Grid("", columns, rows, note, "kinds of transfers")]
    faults = tuple(f"{t.device} {t.endpoint}: {line}" for t in report.traffic for line in t.fault_examples)
    if faults:
        blocks.append(Lines(faults, "Faults, the first of each endpoint"))
    return Section("traffic", 4, "What the bulk transfers carry", blocks)


def _request_bytes(r: Request) -> Cell:
    return Cell(f"at least {fmt.count(r.bytes)}", float(r.bytes)) if r.bytes_unknown else count(r.bytes)


def _requests(report: BusReport) -> Section:
    columns = (
        Column("Device", right=False), Column("Request", right=False), Column("Name", right=False),
        Column("Kind", right=False, rank=2), Column("Direction", right=False, rank=3), Column("Count"),
        Column("Failed"), Column("Bytes", rank=2),
    )  # fmt: skip
    rows = [
        (
            Cell(r.device), Cell(r.code), text(r.name), Cell(r.kind), Cell(r.direction), count(r.count),
            count(r.failed), _request_bytes(r),
        )
        for r in report.requests
    ]  # fmt: skip
    return Section("requests", 5, "Control requests", [Grid("", columns, rows, unit_of_rows="requests")])


def _modem(report: BusReport) -> Section:
    name = unit(report)
    columns = (
        Column("Device", right=False), Column("Record"), Column("At", rank=2), Column("Request", right=False),
        Column("Way", right=False), Column("Asked for", right=False), Column("Agreed", right=False),
        Column("Refused", right=False, rank=2), Column(f"{name}s then"), Column("Beyond"), Column("Most in one"),
        Column("Otherwise framed", rank=2),
    )  # fmt: skip
    rows = [
        (
            Cell(f.device), count(f.record), time_us(f.time_us), Cell(f.request), Cell(way),
            text(_limits(d.asked, d.asked_datagrams, d.asked_bytes)), text(_limits(d.agreed, d.datagrams, d.bytes)),
            text(f.refused), count(d.transfers), _bad(d.beyond), text(_most(d)), _bad(d.other_framing),
        )
        for f in report.data_formats
        for way, d in (("uplink", f.uplink), ("downlink", f.downlink))
    ]  # fmt: skip
    note = (
        "What the host asked for and the modem answered about the format of the data path (QMI, WDA), and what the "
        "bulk transfers did until the next answer. Beyond: more datagrams or bytes than agreed."
    )
    heads = (
        Column("Device", right=False), Column("Service", right=False), Column("Message", right=False),
        Column("Number", right=False, rank=2), Column("Requests"), Column("Answers"), Column("Refused"),
        Column("Indications", rank=2), Column("Because", right=False, rank=2),
    )  # fmt: skip
    messages = [
        (
            Cell(m.device), Cell(m.service), text(m.message), Cell(m.code), count(m.requests), count(m.answers),
            _bad(m.refused), count(m.indications), text(", ".join(m.errors) or None),
        )
        for m in report.qmi_messages
    ]  # fmt: skip
    blocks: list[Block] = [
        Grid("Data formats", columns, rows, note, "data formats"),
        Grid("QMI messages", heads, messages, unit_of_rows="messages"),
    ]
    return Section("modem", 6, "What host and modem agreed on", blocks)


def _limits(protocol: str | None, datagrams: int | None, size: int | None) -> str | None:
    limits = [] if datagrams is None else [fmt.plural(datagrams, "datagram")]
    limits += [] if size is None else [f"{fmt.count(size)} B"]
    if protocol == "no aggregation" and limits:
        return f"{protocol} (limits named all the same: {', '.join(limits)})"
    return ", ".join(([] if protocol is None else [protocol]) + limits) or None


def _most(way: AgreedDirection) -> str | None:
    if way.most_datagrams is None or way.most_bytes is None:
        return None
    return f"{fmt.plural(way.most_datagrams, 'datagram')}, {fmt.count(way.most_bytes)} B"


def _bad(number: int | None) -> Cell:
    return missing() if number is None else Cell(fmt.count(number), float(number), "bad" if number else "dim")

"""Section 1: what the capture is, and its limits."""

from __future__ import annotations

from txop.air.model import Contents, Hearing
from txop.air.report import AirReport
from txop.air.view.options import Options
from txop.air.view.selection import chosen
from txop.present import cells
from txop.present import format as fmt
from txop.present.blocks import Block, Cell, Column, Fact, Facts, Grid, Lines, Rows, Section, capture_limits
from txop.present.window import described, span

_CALIBRATED = 32_768
"""Frames, from the first, that what stamps mean is inferred from (calibrate.rs)."""
_CHANNELS = 6
"""Channels that are named; the others are counted."""
_ENOUGH = 20
"""Responses, or acknowledged MPDUs, below which the engine does not look for missing frames in them (hearing.rs)."""


def section(report: AirReport, options: Options) -> Section:
    """The section."""
    del options
    if not report.frames:
        return Section("summary", 1, "Summary", [Lines((f"{report.path} has no 802.11 frames.",))])
    chosen_part = report.summary.selection
    is_whole = report.summary.window is None and (chosen_part is None or chosen_part.channel is None)
    timing = "Timing" if is_whole else "Timing, of the whole capture"
    seen = report.frames if report.timing.frames is None else report.timing.frames
    if seen >= _CALIBRATED:
        timing = f"Timing, of the first {fmt.count(_CALIBRATED)} frames of the interface with most"
    blocks: list[Block] = [Facts(_facts(report)), Lines(tuple(report.timing.text), timing)]
    if report.timing.hypotheses:
        blocks.append(_hypotheses(report))
    if report.summary.unreadable_examples:
        blocks.append(Lines(tuple(report.summary.unreadable_examples), "Unreadable records, the first few"))
    if report.floods:
        blocks.append(Lines(tuple(flood.text for flood in report.floods), "Floods"))
    if report.contents is not None and report.contents.kinds:
        blocks.append(_kinds(report.contents))
    if report.contents is not None and report.contents.named:
        named = [Fact(fmt.capital(row.name), fmt.plural(row.frames, "frame")) for row in report.contents.named]
        blocks.append(Facts(named))
    blocks.append(Lines(_hearing(report), "What the sniffer captured"))
    limits = tuple(f"{limit.text} [{', '.join(limit.affects)}]" for limit in report.summary.limits)
    blocks.append(capture_limits(limits))
    return Section("summary", 1, "Summary", blocks)


def _kinds(contents: Contents) -> Grid:
    columns = (
        Column("Type", right=False),
        Column("Frame", right=False),
        Column("Frames"),
        Column("Retries", rank=2),
        Column("Bytes", rank=2),
        Column("Airtime", "airtime"),
    )
    rows = Rows(
        sorted(contents.kinds, key=lambda kind: -kind.frames),
        lambda kind: (
            Cell(kind.frame_type),
            Cell(kind.name),
            cells.count(kind.frames),
            cells.count(kind.retries),
            Cell(fmt.size_bytes(kind.bytes), kind.bytes),
            cells.time_us(kind.airtime_us),
        ),
    )
    return Grid("Frames by type", columns, rows, unit_of_rows="types")


def _hearing(report: AirReport) -> tuple[str, ...]:
    """Whether silence in this capture means that no station sent."""
    hearing = report.hearing
    if hearing.silence_is_evidence and hearing.proof is not None:
        return (
            f"{hearing.proof.text}{_nothing_missing(report)}: while nothing was captured, most likely no station near "
            "the sniffer sent. Single frames, and stations farther away, may have been missed",
        )
    return tuple(doubt.text for doubt in hearing.doubts) or (
        f"{_no_proof(hearing)}, so silence in this capture does not mean that no station sent.",
    )


def _nothing_missing(report: AirReport) -> str:
    """What else would show missing frames, where there is enough of it to say so."""
    responses = report.hearing.responses
    acknowledged = sum(flow.newly_acked + flow.acked_not_captured for flow in report.block_acks)
    mpdus = f"{fmt.plural(acknowledged, 'MPDU')} that Block Acks acknowledge"
    enough = [
        words
        for count, words in (
            (responses, f"the {fmt.count(responses)} captured responses"),
            (acknowledged, f"the {mpdus}"),
        )
        if count >= _ENOUGH
    ]
    attempts = report.hearing.missing_attempts
    yet = "" if attempts is None else f"; yet {attempts.text}"
    if len(enough) == 2:
        return f", and neither {enough[0]} nor {enough[1]} show that many frames are missing{yet}"
    if enough:
        return f", and {enough[0]} do not show that many frames are missing{yet}"
    return f" ({fmt.plural(responses, 'response')} and {mpdus} are too few to show whether others are missing){yet}"


def _no_proof(hearing: Hearing) -> str:
    """Why no beacons show that the sniffer was listening."""
    if hearing.no_proof is None:
        return "No access point was captured in nearly all of its beacons"
    return hearing.no_proof.text[0].upper() + hearing.no_proof.text[1:]


def _facts(report: AirReport) -> list[Fact]:
    summary = report.summary
    packed = "" if summary.compression == "none" else f", {summary.compression}"
    facts = [
        Fact(
            "Capture",
            f"{report.path} ({summary.container}{packed}, {fmt.size_bytes(summary.captured_bytes)} of frames)",
        ),
        Fact("Frames", fmt.count(report.frames - summary.unreadable), "frames"),
        *([] if summary.window is None else [Fact("Window", described(summary.window))]),
        *([] if (part := chosen(report)) is None else [Fact("Chosen", part)]),
        Fact("Time span", span(report.summary.span_us, report.summary.first_time_unix_s)),
        Fact(
            "Link type",
            ", ".join(f"{t.name} ({t.number}): {fmt.count(t.frames)}" for t in summary.link_types) or "none",
        ),
        Fact("Channels", _channels(report)),
        Fact("FCS", _fcs(report), "fcs"),
        Fact("Time stamps", _stamps(report), "stamp"),
        Fact("Snap length", _snap(report)),
    ]
    if summary.own_transmissions:
        facts.append(Fact("Sent by the capturing machine", fmt.plural(summary.own_transmissions, "frame")))
    if summary.dropped_by_capture:
        facts.append(Fact("Dropped while capturing", fmt.plural(summary.dropped_by_capture, "frame"), tone="bad"))
    if summary.not_wlan:
        facts.append(Fact("Not 802.11", fmt.plural(summary.not_wlan, "record")))
    if summary.unreadable:
        facts.append(Fact("Unreadable", fmt.plural(summary.unreadable, "record"), tone="bad"))
    if summary.damage is not None:
        facts.append(
            Fact("Damage", f"at byte {fmt.count(summary.damage.offset)}: {summary.damage.message}", tone="bad")
        )
    return facts


def _channels(report: AirReport) -> str:
    shown = [
        f"{c.channel if c.channel is not None else '?'} ({c.frequency_mhz} MHz): {fmt.plural(c.frames, 'frame')}"
        for c in report.summary.channels[:_CHANNELS]
    ]
    more = len(report.summary.channels) - len(shown)
    return (", ".join(shown) + (f" and {more} more" if more else "")) or fmt.NOT_AVAILABLE


def _fcs(report: AirReport) -> str:
    fcs = report.summary.fcs
    total = max(fcs.good + fcs.bad + fcs.unknown, 1)
    if fcs.good + fcs.bad == 0:
        return f"none could be checked ({fmt.count(fcs.unknown)} unknown)"
    good = "good, or not flagged as damaged" if fcs.flagged_good else "good"
    parts = [f"{fmt.count(fcs.good)} {good}", f"{fmt.count(fcs.bad)} bad ({fmt.share(fcs.bad / total)})"]
    if fcs.unknown:
        parts.append(f"{fmt.count(fcs.unknown)} unknown")
    if fcs.disagreements:
        parts.append(f"{fmt.count(fcs.disagreements)} where the receiver's flag and the FCS disagree")
    return ", ".join(parts)


def _stamps(report: AirReport) -> str:
    timing = report.timing
    meaning = timing.stamp_meaning or "meaning could not be inferred"
    if timing.ambiguous_with is not None:
        meaning += f" or {timing.ambiguous_with}"
    trust = f", confidence {timing.confidence:.2f}" if timing.confidence is not None else ""
    return f"{timing.clock}: {meaning}{trust}"


def _snap(report: AirReport) -> str:
    lengths = ", ".join("unlimited" if n == 0 else f"{n} B" for n in sorted(set(report.summary.snap_lengths)))
    cut = report.summary.cut_frames
    return (lengths or fmt.NOT_AVAILABLE) + (f"; {fmt.count(cut)} frames cut" if cut else "")


def _hypotheses(report: AirReport) -> Grid:
    columns = (
        Column("Time stamp means", "stamp", right=False),
        Column("Pairs n"),
        Column("Median gap", "gap"),
        Column("IQR"),
        Column("In SIFS window"),
    )
    rows = [
        (
            Cell(h.meaning + (" (chosen)" if h.meaning == report.timing.stamp_meaning else "")),
            cells.count(h.pairs),
            cells.time_us(h.median_gap_us),
            cells.time_us(h.iqr_us),
            cells.share(h.in_window),
        )
        for h in report.timing.hypotheses
    ]
    return Grid("Calibration of the time stamps", columns, rows, unit_of_rows="meanings")

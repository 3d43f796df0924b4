"""Section 4: PPDUs and their responses, Block Ack."""

from __future__ import annotations

from txop.air.model import AckVerdict, BlockAckFlow, Exchange
from txop.air.report import AirReport
from txop.air.view import names
from txop.air.view.answers import QUESTIONS, title_of, tone_of
from txop.air.view.options import Options, unavailable
from txop.present import cells
from txop.present import format as fmt
from txop.present.blocks import Block, Cell, Column, Fact, Facts, Grid, Lines, Plot, Rows, Section, Tone


def section(report: AirReport, options: Options) -> Section:
    """The section."""
    wanted = [e for e in report.exchanges if options.wants(e.ta, e.ra)]
    flows = [f for f in report.block_acks if options.wants(f.originator, f.recipient)]
    blocks: list[Block] = [_exchanges(wanted, any_response=report.hearing.control_frames > 0)]
    verdicts = [v for v in report.ack_verdicts if options.wants(v.originator, v.recipient)]
    answered = [verdict for verdict in verdicts if verdict.answer != "not-determined"]
    if answered:
        blocks.append(_verdicts(answered))
    if len(verdicts) > len(answered):
        blocks.append(_open([verdict for verdict in verdicts if verdict.answer == "not-determined"]))
    if report.hearing.blind_spots:
        blocks.append(Lines(tuple(spot.text for spot in report.hearing.blind_spots), "Blind spots of this sniffer"))
    if any(e.gap_histogram for e in wanted):
        blocks.append(Plot("response_delay"))
    explained = {(fall.ta, fall.ra) for fall in report.waterfalls[:1]}
    detailed = max(wanted, key=lambda e: ((e.ta, e.ra) in explained, e.ppdus), default=None)
    if detailed is not None and detailed.by_rate:
        blocks.append(_by_rate(report, detailed))
    if flows:
        blocks.append(_block_acks(flows))
        if any(flow.by_position_from_end for flow in flows):
            blocks.append(Plot("left_out"))
        most = sorted(flows, key=lambda flow: -flow.transmissions)
        blocks += [_flow(report, flow) for flow in most[:2]]
    return Section("exchanges", 4, "Exchanges: responses, their delay, Block Ack holes", blocks,
                   unavailable(report, "exchanges", "block_acks"))  # fmt: skip


def _verdicts(verdicts: list[AckVerdict]) -> Grid:
    columns = (
        Column("Transmitter", right=False),
        Column("Receiver", right=False),
        Column("About", right=False),
        Column("Answer", right=False),
        Column("In words", rank=2, right=False),
    )
    return Grid(
        "Not received, or just too slow to acknowledge?", columns, Rows(verdicts, _verdict), unit_of_rows="answers"
    )


def _open(verdicts: list[AckVerdict]) -> Grid:
    """The questions without an answer, each with its reason."""
    columns = (
        Column("Transmitter", right=False),
        Column("Receiver", right=False),
        Column("About", right=False),
        Column("Why not", right=False),
    )
    rows = Rows(
        verdicts,
        lambda v: (
            Cell(v.originator),
            Cell(v.recipient),
            Cell(QUESTIONS.get(v.question, v.question)),
            Cell(v.because or v.text),
        ),
    )
    return Grid("What this capture does not answer", columns, rows, unit_of_rows="questions")


def _verdict(v: AckVerdict) -> tuple[Cell, ...]:
    tones: dict[str, Tone] = {"bad": "bad", "good": "good"}
    return (
        Cell(v.originator),
        Cell(v.recipient),
        Cell(QUESTIONS.get(v.question, v.question)),
        Cell(title_of(v), tone=tones.get(tone_of(v), "dim")),
        Cell(v.text),
    )


def _exchanges(exchanges: list[Exchange], *, any_response: bool) -> Grid:
    """Who answers whom. Without any control frame in the capture, PPDUs without ACK are unknown."""
    columns = (
        Column("Transmitter", right=False),
        Column("Receiver", right=False),
        Column("PPDUs", "soliciting"),
        Column("Answered", "answered"),
        Column("ACK", rank=2),
        Column("Block Ack", rank=2),
        Column("CTS per RTS", rank=3),
        Column("Retransmitted, no ACK", "resent", 2),
        Column("No ACK, not retransmitted", "not_captured", 3),
        Column("ACK, retransmitted", "answered_resent", 3),
        Column("Delay median", "gap"),
        Column("p95", "gap", 2),
        Column("n", "gap", 3),
        Column("Expected", "expected_gap", rank=3),
        Column("Late", "late"),
        Column("Unexpected rate", "response_rate", 3),
    )
    silent = "Unknown: whether PPDUs were answered. No undamaged control frame is in what was counted."
    note = "" if any_response else silent
    return Grid(
        "Responses", columns, Rows(exchanges, _exchange if any_response else _unanswered), note, unit_of_rows="links"
    )


def _unanswered(e: Exchange) -> tuple[Cell, ...]:
    row = _exchange(e)
    return (*row[:3], *(cells.missing() for _ in row[3:]))


def _exchange(e: Exchange) -> tuple[Cell, ...]:
    gap = e.gap_us
    return (
        Cell(e.ta),
        Cell(e.ra),
        cells.count(e.ppdus),
        cells.share(e.answered_share),
        cells.count(e.acked),
        cells.count(e.block_acked),
        cells.ratio(e.cts, e.rts),
        cells.count(e.missing_resent),
        cells.count(e.missing_not_resent),
        cells.count(e.answered_resent),
        cells.time_us(gap.median if gap else None),
        cells.time_us(gap.p95 if gap else None),
        cells.count(gap.n if gap else None),
        cells.time_us(e.expected_gap_us),
        cells.ratio(e.late_responses, gap.n) if gap and e.late_responses is not None else cells.missing(),
        cells.ratio(e.unexpected_rate, e.rate_checked),
    )


def _by_rate(report: AirReport, e: Exchange) -> Grid:
    columns = (
        Column("Rate", "rate", right=False),
        Column("Frames", right=False),
        Column("PPDUs", "soliciting"),
        Column("Answered", "answered"),
        Column("Delay median", "gap"),
        Column("Response rate", "response_rate", 2, right=False),
        Column("Expected", "response_rate", 2, right=False),
    )
    rows = [
        (
            Cell(r.label),
            Cell(r.frames),
            cells.count(r.ppdus),
            cells.share(r.answered_share) if report.hearing.control_frames else cells.missing(),
            cells.time_us(r.median_gap_us),
            cells.text(r.response_rate),
            cells.text(r.expected_rate),
        )
        for r in e.by_rate
    ]
    return Grid(f"Responses by rate, {names.direction(report, e.ta, e.ra)}", columns, rows, unit_of_rows="rates")


def _block_acks(flows: list[BlockAckFlow]) -> Grid:
    columns = (
        Column("Originator", right=False),
        Column("Recipient", right=False),
        Column("TID"),
        Column("Block Acks"),
        Column("BAR", rank=3),
        Column("Window", "window", 2),
        Column("MPDUs", rank=2),
        Column("Sent, with retries", rank=2),
        Column("Newly acked", "newly_acked", 2),
        Column("Block Ack holes", "left_out"),
        Column("% of those answered", "left_out"),
        Column("Acked later", "left_out_late", 2),
        Column("Retransmitted", "left_out_resent", 2),
        Column("In last quarter", "in_tail"),
        Column("By chance", "in_tail", 3),
        Column("Acked, not captured", "acked_not_captured", 3),
        Column("BA without data", rank=3),
    )
    return Grid("Block Ack", columns, Rows(flows, _block_ack), unit_of_rows="flows")


def _block_ack(f: BlockAckFlow) -> tuple[Cell, ...]:
    return (
        Cell(f.originator),
        Cell(f.recipient),
        cells.count(f.tid),
        cells.count(f.block_acks),
        cells.count(f.requests),
        cells.count(f.window),
        cells.count(f.mpdus),
        cells.count(f.transmissions),
        cells.count(f.newly_acked),
        cells.count(f.left_out),
        cells.ratio(f.left_out, f.newly_acked + f.left_out),
        cells.ratio(f.left_out_late, f.left_out),
        cells.ratio(f.left_out_resent_acked + f.left_out_resent_lost, f.left_out),
        cells.ratio(f.left_out_in_tail, f.left_out_positioned),
        cells.ratio(f.positioned_in_tail, f.positioned),
        cells.count(f.acked_not_captured),
        cells.count(f.without_data),
    )


def _flow(report: AirReport, f: BlockAckFlow) -> Facts:
    sessions = (
        f"ADDBA {f.addba_requests} requested, {f.addba_accepted} accepted, {f.addba_refused} refused; DELBA {f.delba}"
    )
    if f.amsdu_permitted is not None:
        sessions += f"; A-MSDU in A-MPDU {'permitted' if f.amsdu_permitted else 'not permitted'}"
    title = f"Block Ack, {names.direction(report, f.originator, f.recipient)}, TID {f.tid}"
    bits = ", ".join(map(str, f.bitmap_bits))
    fates = (
        (f.left_out_late, "acked later without a retransmission"),
        (f.left_out_resent_acked, "retransmitted and acked"),
        (f.left_out_resent_lost, "retransmitted, not acked in this capture"),
        (f.left_out_abandoned, "not retransmitted in this capture"),
    )
    left_out = f"{fmt.count(f.left_out)}: " + ", ".join(f"{fmt.count(n)} {what}" for n, what in fates)
    caused = (
        f"{fmt.count(f.left_out_retransmissions)} of {fmt.count(f.retransmissions)}; "
        f"{fmt.count(f.resent_although_acked)} repeat an MPDU that was acknowledged already"
    )
    items = [Fact("Session", sessions)]
    if not f.block_acks:
        items.append(Fact("Block Acks", "none captured"))
        return Facts(items, title)
    items += [
        Fact(
            "Bitmaps",
            f"{bits} bits; {fmt.count(f.newly_acked)} newly acked, {fmt.count(f.stale_bits)} "
            "of MPDUs acknowledged before, or before the capture",
            "newly_acked",
        ),
        Fact("Block Ack holes", left_out, "left_out"),
        Fact("Outside the bitmap", f"{fmt.count(f.outside_bitmap)} MPDUs sent since the Block Ack before"),
        Fact("Retransmissions they cause", caused),
    ]
    if f.age_left_out_us is not None and f.age_acked_us is not None:
        out, at_once = (
            f"{fmt.duration_us(age.median)} (n={fmt.count(age.n)})" for age in (f.age_left_out_us, f.age_acked_us)
        )
        items.append(Fact("Age, median", f"holes {out}, acked at once {at_once}", "age"))
    for example in f.examples[:3]:
        shown = ", ".join(map(str, example.left_out[:12])) + (", ..." if len(example.left_out) > 12 else "")
        items.append(
            Fact(
                f"Frame {fmt.count(example.frame)}",
                f"from sequence number {example.start_sequence}, answers {fmt.plural(example.answered, 'MPDU')}, "
                f"leaves out {shown}",
            )
        )
    return Facts(items, title)

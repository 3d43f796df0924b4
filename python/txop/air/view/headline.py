"""The first lines of every report: what happened, where the throughput went, and who acknowledges how."""

from __future__ import annotations

from dataclasses import dataclass

from txop.air.model import AckVerdict, Waterfall
from txop.air.report import PREVENT_WATERFALLS, AirReport
from txop.air.view.names import direction
from txop.air.view.options import Options
from txop.air.view.undetermined import Undetermined, undetermined
from txop.present import format as fmt
from txop.present.format import capital

VERDICTS_SHOWN = 4
HAPPENINGS_SHOWN = 8
THROUGHPUT_FROM = 2
"""MPDUs: the duration of a single one gives no rate."""
HAPPENED_HEADING = "What happened"
WATERFALL_HEADING = "Where the throughput went"
QUESTIONS = {"block-ack": "Block Ack", "ack": "ACKs"}
TITLES = {"in-order": "normal", "unanswered": "no ACK"}
"""Answers with a title other than their code."""

HAPPENING_TONE = {"attack": "bad", "fault": "bad"}
ANSWER_TONE = {
    "in-order": "good",
    "late": "bad",
    "probably-late": "bad",
    "not-received": "bad",
    "rate-dependent": "bad",
    "unanswered": "bad",
    "mixed": "bad",
}


@dataclass(frozen=True)
class Flow:
    """One direction of the chosen pair in a sentence."""

    title: str
    sentence: str
    advice: tuple[str, ...]
    waterfall: Waterfall


@dataclass(frozen=True)
class Verdict:
    """An answer to "not received, or too slow to acknowledge?"."""

    title: str
    answer: str
    tone: str
    text: str
    evidence: tuple[str, ...]


@dataclass(frozen=True)
class Happened:
    """Something that happened, in words."""

    code: str
    tone: str
    text: str


@dataclass(frozen=True)
class Headline:
    """What a reader must know before any table."""

    happened: tuple[Happened, ...]
    """Attacks, faults, then events; at most :data:`HAPPENINGS_SHOWN`."""
    more_happened: int
    """How many more section 10 has."""
    flows: tuple[Flow, ...]
    verdicts: tuple[Verdict, ...]
    """Those that are determined, what is wrong first; :data:`VERDICTS_SHOWN` at most."""
    more_verdicts: int
    """How many more section 4 has."""
    undetermined: Undetermined | None
    """All that the capture does not show; ``None`` when every question is answered."""
    unavailable: str
    """Why there is no waterfall; empty when there is one."""


def headline(report: AirReport, station: str | None = None) -> Headline:
    """The headline of ``report``; only of what ``station`` takes part in, when one is named."""
    options = Options(station=station)
    falls = [fall for fall in report.waterfalls if options.wants(fall.ta, fall.ra)]
    explained = {frozenset((fall.ta, fall.ra)) for fall in report.waterfalls}
    wanted = [v for v in report.ack_verdicts if options.wants(v.originator, v.recipient)]
    ranked = sorted(
        (v for v in wanted if v.answer != "not-determined"),
        key=lambda v: (
            ANSWER_TONE.get(v.answer, "dim") != "bad",
            frozenset((v.originator, v.recipient)) not in explained,
        ),
    )
    verdicts = tuple(answer_of(report, verdict) for verdict in ranked[:VERDICTS_SHOWN])
    flows = tuple(_flow(report, fall) for fall in falls)
    more = max(0, len(ranked) - VERDICTS_SHOWN)
    happened = [h for h in report.happenings if options.wants(h.station, h.bssid)]
    shown = tuple(
        Happened(h.code, HAPPENING_TONE.get(h.kind, ""), capital(h.text)) for h in happened[:HAPPENINGS_SHOWN]
    )
    return Headline(
        happened=shown,
        more_happened=len(happened) - len(shown),
        flows=flows,
        verdicts=verdicts,
        more_verdicts=more,
        undetermined=undetermined(wanted),
        unavailable="" if flows else _why_not(report, station),
    )


def answer_of(report: AirReport, verdict: AckVerdict) -> Verdict:
    """A verdict of the report as an answer about its subject."""
    return Verdict(
        title=f"{QUESTIONS.get(verdict.question, verdict.question)}, "
        f"{direction(report, verdict.originator, verdict.recipient)}",
        answer=title_of(verdict),
        tone=ANSWER_TONE.get(verdict.answer, "dim"),
        text=capital(verdict.because or verdict.text),
        evidence=tuple(line.text for line in verdict.evidence),
    )


def title_of(verdict: AckVerdict) -> str:
    """The answer of a verdict as a title. Without an ACK, frames were not received, or the sender missed their ACKs."""
    is_open = (verdict.question, verdict.answer) == ("ack", "not-received")
    return "no ACK" if is_open else TITLES.get(verdict.answer, verdict.answer.replace("-", " "))


def timed_part(waterfall: Waterfall) -> str:
    """What the effective PHY rate is of, where that is not all MPDUs."""
    timed = waterfall.mpdus_timed
    if timed is None or timed >= waterfall.mpdus:
        return ""
    return f" (of the {fmt.count(timed)} of {fmt.count(waterfall.mpdus)} MPDUs with a known duration)"


def flow_title(report: AirReport, waterfall: Waterfall) -> str:
    """Which direction of which pair a waterfall is of."""
    return f"{waterfall.direction.capitalize()}, {direction(report, waterfall.ta, waterfall.ra)}"


def _flow(report: AirReport, waterfall: Waterfall) -> Flow:
    title = flow_title(report, waterfall)
    advice = tuple(capital(line.text) for line in waterfall.advice)
    sent = f"{fmt.plural(waterfall.mpdus, 'data MPDU')} in {fmt.duration_us(waterfall.observed_us)}"
    if waterfall.mpdus < THROUGHPUT_FROM:
        return Flow(title, f"{sent}: too few for a throughput.", advice, waterfall)
    part = waterfall.payload_mbit_s / waterfall.phy_rate_mbit_s if waterfall.phy_rate_mbit_s else None
    if waterfall.phy_rate_mbit_s is None:
        goodput = f"{fmt.mbit_s(waterfall.payload_mbit_s)} of payload; at which rate it was sent is not known. {sent}."
        return Flow(title, goodput, advice, waterfall)
    sentence = (
        f"{fmt.mbit_s(waterfall.payload_mbit_s)} of payload at an effective PHY rate of "
        f"{fmt.mbit_s(waterfall.phy_rate_mbit_s)}{timed_part(waterfall)}: {fmt.share(part)} of it. "
        f"{sent}."
    )
    return Flow(title, sentence, advice, waterfall)


def _why_not(report: AirReport, station: str | None) -> str:
    if station is not None and report.waterfalls:
        other = direction(report, report.waterfalls[0].ta, report.waterfalls[0].ra)
        return f"Not available for {station}: explained is {other}. Choose a pair of this station with --pair TA,RA."
    if not any(link.mpdu_retry.frames for link in report.links):
        summary = report.summary
        where = "the capture" if summary.window is None and summary.selection is None else "the part that was counted"
        missing = "no undamaged unicast frame with data, from one station to another,"
        unreadable = summary.unreadable
        if unreadable:
            records = f"{fmt.count(unreadable)} of {fmt.count(report.frames)} records cannot be read"
            return f"Not available: {missing} can be read in {where}, and {records}."
        return f"Not available: {missing} is in {where}."
    # Others make a waterfall weaker; without these there would be one.
    preventing = [limit.text for limit in report.summary.limits if limit.code in PREVENT_WATERFALLS]
    if preventing:
        return f"Not available: {'; '.join(preventing)}."
    return (
        "Not available: no data MPDU with a known duration was captured of it on the interface and channel of "
        "the airtime accounts."
    )

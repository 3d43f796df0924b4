"""Answers to "not received, or too slow to acknowledge?" as the first screen has them: one for links that are alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from txop.air.model import AckVerdict, Exchange, ExchangeKind
from txop.air.report import AirReport
from txop.air.view.names import called, direction
from txop.present import format as fmt
from txop.present.format import capital

QUESTIONS = {"block-ack": "Block Ack", "ack": "ACKs"}
TITLES = {"in-order": "normal", "unanswered": "no ACK"}
"""Answers with a title other than their code."""
ANSWER_TONE = {
    "in-order": "good",
    "late": "bad",
    "probably-late": "bad",
    "not-received": "bad",
    "rate-dependent": "bad",
    "unanswered": "bad",
    "mixed": "bad",
}
_UNANSWERED = ("ack", "unanswered")


@dataclass(frozen=True)
class Verdict:
    """An answer to "not received, or too slow to acknowledge?"."""

    title: str
    answer: str
    tone: str
    text: str
    evidence: tuple[str, ...]
    lost: float = 1.0
    """Share of the PPDUs that were sent again without a captured response; 1 where the answer is of something else."""
    verdicts: int = 1
    """Verdicts of the report that it stands for."""


def answers(report: AirReport, verdicts: Iterable[AckVerdict]) -> list[Verdict]:
    """What is bad first, of this the link that loses most. Links without ACKs of one station have one answer."""
    left = list(verdicts)
    exchanges = {(each.ta, each.ra): each for each in report.exchanges}
    alike = [v for v in left if (v.question, v.answer) == _UNANSWERED and (v.originator, v.recipient) in exchanges]
    senders = Counter(v.originator for v in alike)
    receivers = Counter(v.recipient for v in alike if senders[v.originator] == 1)
    found = []
    while left:
        first = left[0]
        group = [first]
        if first in alike and senders[first.originator] > 1:
            group = [v for v in alike if v.originator == first.originator]
        elif first in alike and receivers[first.recipient] > 1:
            group = [v for v in alike if v.recipient == first.recipient and senders[v.originator] == 1]
        left = [v for v in left if v not in group]
        exchange = exchanges.get((first.originator, first.recipient)) if first.question == "ack" else None
        alone = replace(answer_of(report, first), lost=1.0 if exchange is None else _lost([exchange.data]))
        found.append(alone if len(group) == 1 else _unanswered(report, group, exchanges))
    return sorted(found, key=lambda each: (each.tone != "bad", -each.lost))


def answer_of(report: AirReport, verdict: AckVerdict) -> Verdict:
    """A verdict of the report as an answer about its subject."""
    return Verdict(
        title=f"{QUESTIONS.get(verdict.question, verdict.question)}, "
        f"{direction(report, verdict.originator, verdict.recipient)}",
        answer=title_of(verdict),
        tone=tone_of(verdict),
        text=capital(verdict.because or verdict.text),
        evidence=tuple(line.text for line in verdict.evidence),
    )


def title_of(verdict: AckVerdict) -> str:
    """The answer of a verdict as a title. Without an ACK, frames were not received, or the sender missed their ACKs."""
    is_open = (verdict.question, verdict.answer) == ("ack", "not-received")
    return "no ACK" if is_open else TITLES.get(verdict.answer, verdict.answer.replace("-", " "))


def tone_of(verdict: AckVerdict) -> str:
    """How it is coloured: ``good``, ``bad`` or ``dim``."""
    return ANSWER_TONE.get(verdict.answer, "dim")


def _lost(links: Sequence[ExchangeKind]) -> float:
    ppdus = sum(link.ppdus for link in links)
    return sum(link.missing_resent for link in links) / ppdus if ppdus else 0.0


def _unanswered(report: AirReport, group: Sequence[AckVerdict], exchanges: dict[tuple[str, str], Exchange]) -> Verdict:
    links = [exchanges[v.originator, v.recipient].data for v in group]
    resent, ppdus, answered = (
        sum(getattr(link, name) for link in links) for name in ("missing_resent", "ppdus", "answered")
    )
    is_sender = group[0].originator == group[1].originator
    others = [v.recipient if is_sender else v.originator for v in group]
    worst = max(zip(links, others, strict=True), key=lambda pair: _lost([pair[0]]))
    ends = (
        f"{called(report, group[0].originator)} → {len(group)} stations"
        if is_sender
        else f"{len(group)} stations → {called(report, group[0].recipient)}"
    )
    of = fmt.count(ppdus)
    text = (
        f"{fmt.count(resent)} of {of} PPDUs ({fmt.share(resent / ppdus)}) were retransmitted, and no response to them "
        "was captured: the sender received no ACK in time. The PPDU or its ACK was lost, or the ACK came too late "
        f"({fmt.count(answered)} of the {of} PPDUs have a captured response). Most of all: "
        f"{fmt.count(worst[0].missing_resent)} of {fmt.count(worst[0].ppdus)}, {worst[1]}"
    )
    return Verdict(
        title=f"{QUESTIONS['ack']}, {ends}",
        answer=title_of(group[0]),
        tone=tone_of(group[0]),
        text=text,
        evidence=tuple(f"{direction(report, v.originator, v.recipient)}: {v.because or v.text}" for v in group),
        lost=_lost(links),
        verdicts=len(group),
    )

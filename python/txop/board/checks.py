"""Rows of a board that a monitor capture can answer: pass, fail, or can't be determined here, because.

Each check says what a pass shows and no more. What a capture does not have is not a failure: a check fails on frames
that were captured, or on what the device's own elements say.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from txop.air.model import BlockAckFlow, CapabilityRow, Exchange
from txop.air.report import AirReport
from txop.board.model import CheckName
from txop.board.outcome import Outcome, decided, undecided
from txop.present.format import plural

FEW_PPDUS = 20
"""With fewer PPDUs at a rate, the share of them that was answered says little."""
ANSWERED = 0.9
"""Where at least this share is answered, acknowledging works."""
UNANSWERED = 0.1
"""Where fewer are answered, it does not; in between, loss on the air would look the same."""
FEW_DATA = 100
"""With fewer data frames, it says little that a device did not set up an agreement."""


@dataclass(frozen=True)
class Check:
    """One check of a capture."""

    shows: str
    """What a pass shows."""
    run: Callable[[AirReport, str], Outcome]
    """Takes the capture and the address of the device."""


def run(name: CheckName, report: AirReport, station: str | None) -> Outcome:
    """Put the device ``station`` (``None``: the station with most data) to a check."""
    chosen = station or busiest(report)
    if chosen is None:
        return undecided("no station exchanges data in the capture")
    if not any(each.address == chosen for each in report.stations):
        return undecided(f"{chosen} is not in the capture")
    return CHECKS[name].run(report, chosen)


def busiest(report: AirReport) -> str | None:
    """The station with most data frames, both ways."""
    stations = {each.address for each in report.stations if each.kind == "station"}
    frames: dict[str, int] = {}
    for link in report.links:
        if link.station in stations and link.data_frames:
            frames[link.station] = frames.get(link.station, 0) + link.data_frames
    return max(frames, key=lambda address: frames[address], default=None)


def _block_ack_complete(report: AirReport, station: str) -> Outcome:
    verdicts = [v for v in report.ack_verdicts if v.recipient == station and v.question == "block-ack"]
    if not verdicts:
        return undecided(f"no Block Ack of {station} was captured with the data it answers")
    verdict = max(verdicts, key=lambda each: max((figure.n or 0 for figure in each.figures), default=0))
    n = max((figure.n or 0 for figure in verdict.figures), default=0)
    if verdict.answer == "in-order":
        return decided(True, verdict.text, n)
    if verdict.answer in ("late", "probably-late", "mixed"):
        return decided(False, verdict.text, n)
    if verdict.answer == "not-received":
        return undecided(f"what the Block Acks leave out had not been received ({verdict.text})", n)
    return undecided(verdict.because or verdict.text, n)


@dataclass
class _Answers:
    """Responses to PPDUs of one kind."""

    ppdus: int = 0
    answered: int = 0
    resent: int = 0

    def add(self, ppdus: int, answered: int, resent: int) -> None:
        self.ppdus += ppdus
        self.answered += answered
        self.resent += resent

    @property
    def complete(self) -> bool:
        return self.answered >= ANSWERED * self.ppdus

    @property
    def none(self) -> bool:
        """Hardly any was answered, and the sender missed the responses, too: it is not the sniffer that did."""
        return self.answered < UNANSWERED * self.ppdus and 2 * self.resent > self.ppdus - self.answered

    def __str__(self) -> str:
        return f"{self.answered:,} of {self.ppdus:,}"


def _ack_every_rate(report: AirReport, station: str) -> Outcome:
    if not report.hearing.control_frames:
        return undecided("no undamaged control frame is in the capture")
    rates: dict[str, _Answers] = {}
    for exchange in _to(report, station):
        for rate in exchange.by_rate:
            if rate.frames == "data" and rate.rate_known:
                rates.setdefault(rate.label, _Answers()).add(rate.ppdus, rate.answered, rate.missing_resent)
    enough = {label: each for label, each in rates.items() if each.ppdus >= FEW_PPDUS}
    n = sum(each.ppdus for each in enough.values())
    deaf = {label: each for label, each in enough.items() if each.none}
    complete = {label: each for label, each in enough.items() if each.complete}
    shown = ", ".join(f"{label} {each}" for label, each in sorted(enough.items()) if label not in complete)
    if deaf and complete:
        return decided(False, f"data PPDUs answered: {shown}; at {plural(len(complete), 'rate')} 90 % or more", n)
    if len(complete) < len(enough):
        return undecided(f"loss on the air and missing ACKs look alike (data PPDUs answered: {shown})", n)
    if len(enough) < 2:
        return undecided(f"data came at {plural(len(enough), 'rate')} with {FEW_PPDUS} PPDUs or more", n)
    acks, block_acks = (sum(getattr(e, kind) for e in _to(report, station)) for kind in ("acked", "block_acked"))
    if acks < ANSWERED * (acks + block_acks):
        return undecided(f"{block_acks:,} of its {acks + block_acks:,} responses are Block Acks", n)
    low = min(enough, key=lambda label: enough[label].answered / enough[label].ppdus)
    return decided(True, f"data PPDUs at {len(enough)} rates answered; fewest at {low}: {enough[low]}; n = {n:,}", n)


def _amsdu_rx(report: AirReport, station: str) -> Outcome:
    flows = [flow for flow in report.aggregation if flow.ra == station]
    carrying = sum(flow.amsdu_mpdus for flow in flows)
    everything = sum(flow.mpdus for flow in flows)
    if not carrying:
        return undecided(f"none of {everything:,} data MPDUs to it carries an A-MSDU", everything)
    answers = _Answers()
    for exchange in _to(report, station):
        if any(flow.ta == exchange.ta and flow.amsdu_mpdus for flow in flows):
            answers.add(exchange.data.ppdus, exchange.data.answered, exchange.data.missing_resent)
    text = f"{carrying:,} of {everything:,} data MPDUs to it carry an A-MSDU; {answers} PPDUs were answered"
    if answers.ppdus < FEW_PPDUS or not report.hearing.control_frames:
        return undecided(f"the responses to {carrying:,} A-MSDUs are not known ({text})", carrying)
    if carrying < ANSWERED * everything:
        return undecided(f"which of the PPDUs answered had A-MSDUs is not known ({text})", answers.ppdus)
    if answers.none:
        return decided(False, text, answers.ppdus)
    if not answers.complete:
        return undecided(f"loss on the air and missing responses look alike ({text})", answers.ppdus)
    return decided(True, f"{text}; whether the driver hands them up, the air does not show", answers.ppdus)


def _stbc_rx(report: AirReport, station: str) -> Outcome:
    return _claimed_and_used(report, station, "STBC Receive")


def _ampdu_tx(report: AirReport, station: str) -> Outcome:
    sent = [flow for flow in report.aggregation if flow.ta == station and flow.tid is not None]
    mpdus, grouped = sum(f.mpdus for f in sent), [f for f in sent if f.ampdus is not None]
    ampdus = sum(f.ampdus or 0 for f in grouped)
    flows = [flow for flow in report.block_acks if flow.originator == station]
    text = f"{_agreements(flows)}; {ampdus:,} A-MPDUs of {mpdus:,} QoS data MPDUs"
    if sum(f.addba_refused for f in flows) and not sum(f.addba_accepted for f in flows):
        return undecided(f"its peer refuses every agreement ({text})", mpdus)
    if sent and not grouped:
        return undecided(f"the receiver does not mark A-MPDUs ({_agreements(flows)})", mpdus)
    if ampdus:
        return decided(True, text, mpdus)
    if not sum(f.addba_requests for f in flows) and not _associates(report, station):
        return undecided("its association, after which agreements are set up, is not in the capture", mpdus)
    if mpdus < FEW_DATA:
        return undecided(f"it sent {mpdus:,} QoS data MPDUs only", mpdus)
    if not report.hearing.silence_is_evidence:
        return undecided(f"the capture may lack what set an agreement up ({text})", mpdus)
    return decided(False, text, mpdus)


def _ampdu_rx(report: AirReport, station: str) -> Outcome:
    flows = [flow for flow in report.block_acks if flow.recipient == station]
    requests, accepted = sum(f.addba_requests for f in flows), sum(f.addba_accepted for f in flows)
    refused, answers = sum(f.addba_refused for f in flows), sum(f.block_acks for f in flows)
    text = f"{_agreements(flows)}; {plural(answers, 'Block Ack')} sent by it"
    if requests and refused and not accepted and not answers:
        return decided(False, f"it refused every agreement: {text}", refused)
    if not accepted:
        return undecided(f"no agreement that it accepted is in the capture ({text})", answers)
    if not answers:
        return undecided(f"no Block Ack of it was captured ({text})", answers)
    return decided(True, text, answers)


def _bar_rx(report: AirReport, station: str) -> Outcome:
    requests = sum(flow.requests for flow in report.block_acks if flow.recipient == station)
    if not requests:
        return undecided("no Block Ack request was sent to it")
    answers = _Answers()
    for exchange in _to(report, station):
        for rate in exchange.by_rate:
            if rate.frames == "control":
                answers.add(rate.ppdus, rate.answered, rate.missing_resent)
    text = f"{answers} Block Ack requests to it were answered"
    if not answers.ppdus:
        return undecided(f"the responses to {plural(requests, 'Block Ack request')} are not known", requests)
    if answers.complete:
        return decided(True, text, answers.ppdus)
    if answers.answered < UNANSWERED * answers.ppdus and report.hearing.silence_is_evidence:
        return decided(False, text, answers.ppdus)
    return undecided(f"loss on the air and missing responses look alike ({text})", answers.ppdus)


_CATEGORIES = {0: "BE", 3: "BE", 1: "BK", 2: "BK", 4: "VI", 5: "VI", 6: "VO", 7: "VO"}
"""User priority to access category: IEEE 802.11-2020, Table 10-1."""


def _wmm(report: AirReport, station: str) -> Outcome:
    row = _row(report, station, "WMM")
    mpdus: dict[str, int] = {}
    for flow in report.aggregation:
        if flow.ta == station:
            key = "without QoS" if flow.tid is None else _CATEGORIES.get(flow.tid, "other")
            mpdus[key] = mpdus.get(key, 0) + flow.mpdus
    n = sum(mpdus.values())
    shown = ", ".join(f"{key} {count:,}" for key, count in sorted(mpdus.items())) or "no data"
    if row is None or row.claimed == "not_available":
        detail = row.claimed_detail if row is not None else None
        return undecided(f"whether it claims WMM is not known: {detail or 'no frame that could was captured'}", n)
    if row.claimed == "no":
        return decided(False, f"it does not claim WMM ({shown})", n)
    if n >= FEW_DATA and mpdus.get("without QoS", 0) == n:
        return decided(False, f"it claims WMM, and sent {n:,} data MPDUs without QoS", n)
    used = [key for key in mpdus if key in _CATEGORIES.values()]
    if len(used) < 2:
        return undecided(f"it sent data of one access category at most ({shown}), so nothing had to go first", n)
    return decided(True, f"it claims WMM and sent {shown}; whether one goes first under load is not measured", n)


def _high_mcs(report: AirReport, station: str) -> Outcome:
    rates = next((each.rates for each in report.stations if each.address == station), [])
    high_throughput = [rate for rate in rates if rate.family == "ht"]
    n = sum(rate.frames for rate in high_throughput)
    high = {mcs: sum(r.frames for r in high_throughput if _mcs(r.label) % 8 == mcs) for mcs in (5, 6, 7)}
    shown = ", ".join(f"MCS {mcs} {count:,}" for mcs, count in high.items())
    if n < FEW_DATA:
        return undecided(f"it sent {n:,} HT frames with a known rate", n)
    if not sum(high.values()):
        return undecided(f"none of its {n:,} HT frames is at MCS 5 to 7; whether the link would carry them is open", n)
    return decided(True, f"{sum(high.values()):,} of its {n:,} HT frames are at MCS 5 to 7 ({shown})", n)


def _pmf(report: AirReport, station: str) -> Outcome:
    return _claimed_and_used(report, station, "Protected Management Frames")


def _forty_mhz(report: AirReport, station: str) -> Outcome:
    row = _row(report, station, "40 MHz operation in 2.4 GHz with coexistence mechanisms")
    if row is not None and row.claimed == "yes" and row.claimed_detail == "40 MHz, but no 20/40 coexistence":
        return decided(False, f"it claims {row.claimed_detail}", row.seen or 0)
    return _claimed_and_used(report, station, "40 MHz operation in 2.4 GHz with coexistence mechanisms")


def _greenfield(report: AirReport, station: str) -> Outcome:
    return _claimed_and_used(report, station, "Greenfield Preamble")


def _claimed_and_used(report: AirReport, station: str, capability: str) -> Outcome:
    """A capability that elements claim and that frames show."""
    row = _row(report, station, capability)
    if row is None:
        return undecided(f"the capability audit has no row {capability} for it")
    detail = f" ({row.seen_detail})" if row.seen_detail else ""
    if row.claimed == "not_available":
        why = row.claimed_detail or "no frame that could was captured"
        return undecided(f"whether it claims {capability} is not known: {why}{detail}", row.seen)
    if row.claimed == "no":
        return decided(False, f"it does not claim {capability}{detail}", row.seen or 0)
    if row.seen is None:
        return undecided(
            f"it claims {capability}, and whether it is used is not known: {row.seen_detail or 'no frames'}"
        )
    if not row.seen:
        return undecided(f"it claims {capability}, and nothing used it{detail}", row.seen)
    return decided(True, f"it claims {capability}, and it is used{detail}", row.seen)


def _row(report: AirReport, station: str, capability: str) -> CapabilityRow | None:
    return next((row for a in report.capabilities if a.address == station for row in a.rows
                 if row.capability == capability), None)  # fmt: skip


def _to(report: AirReport, station: str) -> list[Exchange]:
    return [each for each in report.exchanges if each.ra == station]


def _agreements(flows: list[BlockAckFlow]) -> str:
    requests, accepted = sum(f.addba_requests for f in flows), sum(f.addba_accepted for f in flows)
    delba, bars = sum(f.delba for f in flows), sum(f.requests for f in flows)
    asked, bar = plural(requests, "ADDBA request"), plural(bars, "Block Ack request")
    return f"{asked}, {accepted:,} accepted, {delba:,} DELBA, {bar}"


def _associates(report: AirReport, station: str) -> bool:
    return any(a.address == station and a.claimed_in == "association request" for a in report.capabilities)


def _mcs(label: str) -> int:
    """The MCS in a rate label; -1 without one."""
    digits = label.partition("MCS")[2].split(" ")[0]
    return int(digits) if digits.isdigit() else -1


CHECKS: dict[CheckName, Check] = {
    "block-ack-complete": Check("its Block Acks have what was just received", _block_ack_complete),
    "ack-every-rate": Check("data is acknowledged at every rate that was captured", _ack_every_rate),
    "a-msdu-rx": Check("A-MSDUs sent to it are acknowledged", _amsdu_rx),
    "stbc-rx": Check("it claims to receive STBC, and STBC is sent to it", _stbc_rx),
    "a-mpdu-tx": Check("it sends A-MPDUs under an agreement", _ampdu_tx),
    "a-mpdu-rx": Check("it accepts an agreement and sends Block Acks; whether complete: block-ack-complete", _ampdu_rx),
    "bar-rx": Check("it answers Block Ack requests", _bar_rx),
    "wmm": Check("it claims WMM, and sends data of several access categories", _wmm),
    "high-mcs": Check("it sends at MCS 5 to 7", _high_mcs),
    "pmf": Check("it claims protected management frames, and sends them", _pmf),
    "40-mhz": Check("it claims 40 MHz with coexistence, and frames are 40 MHz wide", _forty_mhz),
    "greenfield": Check("it claims greenfield, and frames use it", _greenfield),
}
"""Every check."""

"""The first lines of every report: what happened, where the throughput went, who acknowledges how, what is unknown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from txop.air.model import AccessPoint, FrameKindRow, Waterfall
from txop.air.report import PREVENT_WATERFALLS, AirReport
from txop.air.view.access_points import unconfirmed
from txop.air.view.answers import Verdict, answers
from txop.air.view.names import direction
from txop.air.view.options import Options
from txop.air.view.undetermined import LONGER, Open, Undetermined, together, undetermined
from txop.present import format as fmt
from txop.present.format import capital

VERDICTS_SHOWN = 4
HAPPENINGS_SHOWN = 8
KINDS_SHOWN = 5
"""Kinds of frames that are named of a capture without a direction to explain; the others are counted."""
THROUGHPUT_FROM = 10
"""MPDUs: the durations of fewer give no rate, and their payload no throughput."""
LIMITED_FROM = 20
"""MPDUs below which no limit of a direction is stated (`MIN_MPDUS` of waterfall.rs)."""
LACKING_FROM = 50
"""MPDUs that Block Acks acknowledge, from which their share in the capture is stated, ..."""
LACKING_SHARE = 0.2
"""... and the share that makes a throughput a lower bound."""
MOSTLY_LACKING = 0.8
"""Share of the acknowledged MPDUs of a direction from which the capture counts as lacking it."""
HAPPENED_HEADING = "What happened"
WATERFALL_HEADING = "Where the throughput went"
CAPTURED_HEADING = "In this capture"
HAPPENING_TONE = {"attack": "bad", "fault": "bad"}


@dataclass(frozen=True)
class Flow:
    """One direction of the chosen pair in a sentence."""

    title: str
    sentence: str
    brief: str
    """The same in a few words, with the title."""
    advice: tuple[str, ...]
    waterfall: Waterfall


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
    captured: str
    """What the capture holds, where no direction can be explained; else empty."""
    unknown: Undetermined | None
    """All that the capture does not show; ``None`` when every question is answered."""
    unavailable: str
    """Why there is no waterfall; empty when there is one."""


def headline(report: AirReport, station: str | None = None) -> Headline:
    """The headline of ``report``; only of what ``station`` takes part in, when one is named."""
    options = Options(station=station)
    falls = [fall for fall in report.waterfalls if options.wants(fall.ta, fall.ra)]
    wanted = [v for v in report.ack_verdicts if options.wants(v.originator, v.recipient)]
    determined = [v for v in wanted if v.answer != "not-determined"]
    every = answers(report, determined)
    verdicts = tuple(every[:VERDICTS_SHOWN])
    carrying = any(fall.mpdus >= THROUGHPUT_FROM for fall in falls)
    flows = tuple(_flow(report, fall) for fall in falls) if carrying else ()
    if flows and (larger := _not_captured(report, options)):
        flows = (replace(flows[0], sentence=f"{flows[0].sentence} {larger}"), *flows[1:])
    more = sum(each.verdicts for each in every[VERDICTS_SHOWN:])
    happened = [h for h in report.happenings if options.wants(h.station, h.bssid)]
    shown = tuple(
        Happened(h.code, HAPPENING_TONE.get(h.kind, ""), capital(h.text)) for h in happened[:HAPPENINGS_SHOWN]
    )
    unavailable = "" if flows else _why_not(report, station, falls)
    whose = "" if station is None else f" of {station}"
    open_parts = [Open(f"where the throughput{whose} went ({unavailable})")] if unavailable else []
    open_parts += [each for flow in flows[:1] for each in _open_of(flow)]
    return Headline(
        happened=shown,
        more_happened=len(happened) - len(shown),
        flows=flows,
        verdicts=verdicts,
        more_verdicts=more,
        captured="" if flows else _captured(report),
        unknown=together([*open_parts, *undetermined(wanted)]),
        unavailable=unavailable,
    )


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
    is_limited = waterfall.mpdus >= LIMITED_FROM
    advice = tuple(capital(line.text) for line in waterfall.advice if is_limited)
    payload = fmt.mbit_s(waterfall.payload_mbit_s)
    brief = f"{title}: {payload} of payload, {fmt.plural(waterfall.mpdus, 'data MPDU')}"
    sent = f"{fmt.plural(waterfall.mpdus, 'data MPDU')} in {fmt.duration_us(waterfall.observed_us)}"
    if waterfall.mpdus < THROUGHPUT_FROM:
        return Flow(title, f"{sent}: too few for a throughput.", f"{title}: {sent}", advice, waterfall)
    part = waterfall.payload_mbit_s / waterfall.phy_rate_mbit_s if waterfall.phy_rate_mbit_s else None
    if waterfall.phy_rate_mbit_s is None:
        return Flow(title, f"{payload} of payload. {sent}.", brief, advice, waterfall)
    lacking = _lacking(report, waterfall)
    if lacking is not None:
        at_least = (
            f"At least {payload} of payload: the capture lacks {fmt.share(lacking)} of the MPDUs that Block Acks "
            f"acknowledge, so throughput and idle time are not known. {sent}."
        )
        return Flow(title, at_least, brief, advice, waterfall)
    sentence = (
        f"{payload} of payload at an effective PHY rate of "
        f"{fmt.mbit_s(waterfall.phy_rate_mbit_s)}{timed_part(waterfall)}: {fmt.share(part)} of it. "
        f"{sent}."
    )
    return Flow(title, sentence, brief, advice, waterfall)


def _not_captured(report: AirReport, options: Options) -> str:
    """Another direction with more data than those that are explained, which the capture lacks; else empty."""
    lacking: Counter[tuple[str, str]] = Counter()
    known: Counter[tuple[str, str]] = Counter()
    falls = report.waterfalls
    for flow in report.block_acks:
        if not options.wants(flow.originator, flow.recipient):
            continue
        lacking[flow.originator, flow.recipient] += flow.acked_not_captured
        known[flow.originator, flow.recipient] += flow.newly_acked
    for fall in falls:
        lacking.pop((fall.ta, fall.ra), None)
    most = max(lacking, key=lambda ends: lacking[ends], default=None)
    if most is None or lacking[most] < max(LACKING_FROM, sum(fall.mpdus for fall in falls)):
        return ""
    if known[most] > lacking[most] * (1 - MOSTLY_LACKING) / MOSTLY_LACKING:
        return ""
    every = fmt.plural(lacking[most] + known[most], "MPDU")
    return (
        f"More data were sent that the capture lacks: Block Acks acknowledge at least {every} of "
        f"{direction(report, *most)}, of which {fmt.count(known[most])} were captured."
    )


def _lacking(report: AirReport, waterfall: Waterfall) -> float | None:
    """Share of the MPDUs that Block Acks acknowledge and the capture does not have, where that is much."""
    ends = (waterfall.ta, waterfall.ra)
    flows = [flow for flow in report.block_acks if (flow.originator, flow.recipient) == ends]
    lacking, known = sum(flow.acked_not_captured for flow in flows), sum(flow.newly_acked for flow in flows)
    share = lacking / (lacking + known) if lacking + known >= LACKING_FROM else 0.0
    return share if share >= LACKING_SHARE else None


def _open_of(flow: Flow) -> list[Open]:
    """What is unknown of a direction that is explained."""
    fall = flow.waterfall
    parts = []
    if fall.phy_rate_mbit_s is None and fall.mpdus >= THROUGHPUT_FROM:
        parts.append(Open("at which PHY rate data were sent"))
    if fall.mpdus < LIMITED_FROM:
        few = f"{fmt.plural(fall.mpdus, 'data MPDU')} captured, {LIMITED_FROM} needed"
        parts.append(Open(f"what limits the {fall.direction} ({few})", (LONGER,)))
    return parts


def _captured(report: AirReport) -> str:
    """What is in the capture: its frames by kind, and of which networks."""
    frames = report.frames - report.summary.unreadable
    if not frames:
        return "no 802.11 frames."
    kinds = sorted(report.contents.kinds if report.contents else (), key=lambda kind: -kind.frames)
    named = [f"{fmt.count(kind.frames)} {kind.name}" for kind in kinds[:KINDS_SHOWN]]
    if (others := frames - sum(kind.frames for kind in kinds[:KINDS_SHOWN])) and named:
        named.append(fmt.plural(others, "other"))
    channels = report.summary.channels
    on = f" on channel {channels[0].channel}" if len(channels) == 1 and channels[0].channel is not None else ""
    span = report.summary.span_us
    during = f" in {fmt.duration_us(span)}" if frames > 1 and span else ""
    points, single = _access_points(report)
    names = list(dict.fromkeys(name for point in points for name in point.ssids))
    of = ""
    if points and all(happening.code != "beacon-flood" for happening in report.happenings):
        name = f" ({names[0]})" if len(names) == 1 else ""
        of = f"; {fmt.plural(len(points), 'access point')}{name}"
        if single:
            of += f" ({fmt.count(single)} more in a single frame each, with nothing to check it by)"
    listed = f": {', '.join(named)}" if named else ""
    return f"{fmt.plural(frames, 'frame')}{during}{on}{listed}{of}."


def _carries_data(kind: FrameKindRow) -> bool:
    """Data, and not a Null frame (IEEE Std 802.11-2020, table 9-1: bit 6 of the subtype)."""
    return kind.frame_type == "data" and not kind.subtype & 4


def _access_points(report: AirReport) -> tuple[list[AccessPoint], int]:
    """The access points, and how many more rest on a single frame that nothing shows to be undamaged."""
    points = [point for point in report.access_points if point.kind in ("ap", None)]
    doubted = unconfirmed(report)
    known = [point for point in points if point.bssid not in doubted]
    return (known, len(points) - len(known)) if known else (points, 0)


def _why_not(report: AirReport, station: str | None, falls: Sequence[Waterfall]) -> str:
    if falls:
        fall = max(falls, key=lambda each: each.mpdus)
        return (
            f"{fmt.plural(fall.mpdus, 'data MPDU')} of {direction(report, fall.ta, fall.ra)} captured, "
            f"{THROUGHPUT_FROM} needed"
        )
    if station is not None and report.waterfalls:
        other = direction(report, report.waterfalls[0].ta, report.waterfalls[0].ra)
        return f"explained is {other}; --pair TA,RA chooses another pair"
    if not any(link.mpdu_retry.frames for link in report.links):
        summary = report.summary
        where = "the capture" if summary.window is None and summary.selection is None else "the part that was counted"
        # What a damaged frame was is not known: it may have been data.
        contents = report.contents
        any_data = contents is None or report.summary.fcs.bad > 0 or any(map(_carries_data, contents.kinds))
        missing = f"no {'undamaged ' if any_data else ''}data frame from one station to another"
        unreadable = summary.unreadable
        if unreadable:
            records = f"{fmt.count(unreadable)} of {fmt.count(report.frames)} records cannot be read"
            return f"{missing} can be read in {where}, and {records}"
        return f"{missing} is in {where}"
    # Others make a waterfall weaker; without these there would be one.
    preventing = [limit.text for limit in report.summary.limits if limit.code in PREVENT_WATERFALLS]
    if preventing:
        return "; ".join(preventing)
    return (
        "no data frame from one station to another has a known duration on the interface and channel with most frames"
    )

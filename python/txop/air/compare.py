"""Captures side by side: the same key figures of each, and how much each difference matters.

This is a description of captures, not a statistical test: one capture per arm says nothing about chance.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from txop.air.model import Waterfall
from txop.air.report import PREVENT_WATERFALLS, AirReport
from txop.air.steady import not_sought
from txop.present.document import Model

FORMAT = "txop-air-compare"
VERSION = 1

Scale = Literal["fraction", "percent", "relative", "level", "events"]
"""How a difference is weighed: ``fraction`` of one and ``percent`` by their size, ``relative`` by its share of the
larger value, a ``level`` in dBm by its share of :data:`_SPAN_DB`, a few ``events`` as ``relative``, but softened by
:data:`_FEW`."""

_SPAN_DB = 60.0
"""From signals near the noise to those of a neighbour."""

BETWEEN = "whether they differ can't be determined, because what each can be overlaps"

_TIME = "Time: "
"""Begins the labels of the waterfall's rows."""

_ENOUGH = 20
"""Frames below which a share, a mean or a median of them says nothing: as in the report of one capture."""

_FEW = 5.0
"""Added to both counts before they are compared: one event instead of two does not show a halving."""


@dataclass(frozen=True)
class KeyFigure:
    """One figure of a capture."""

    key: str
    section: str
    label: str
    unit: str
    scale: Scale
    value: float | None
    interval: tuple[float, float] | None = None
    """The least and the most that it can be, where it is not known exactly."""
    reason: str | None = None
    """Why it is not available, where a reason is known."""

    @property
    def is_least(self) -> bool:
        """It is a lower bound: frames are missing from the capture."""
        return self.value is not None and self.interval is not None and self.interval[1] == 1.0 > self.value


class Difference(Model):
    """One key figure of all captures."""

    key: str
    """Stable identifier, for example `waterfall.retries`."""
    section: str
    """Section of the report it comes from."""
    label: str
    """In words; where a row means something else in one of the captures, with what it means there."""
    unit: str
    """`fraction`, `percent`, `Mbit/s`, `µs`, `MPDUs` or `frames`."""
    values: list[float | None]
    """One per capture, in the order of `captures`; null is not available."""
    differences: list[float | None]
    """Each value minus that of the first capture; the first is 0 (or null). Null, too, where what both can be
    overlaps."""
    at_least: list[bool]
    """Whether each value is a lower bound. A difference of one is a bound, too: the true one is as large or larger."""
    reasons: list[str | None]
    """Why each value is null, where a reason is known."""
    weight: float | None
    """How much the largest difference matters, 0 to 1: the difference itself for shares and percentages, its share of
    60 dB for levels, its share of the largest value for other figures; null when fewer than two values are available,
    or when what they can be overlaps."""


class Capture(Model):
    """One of the captures compared."""

    path: str
    """The file as named by the caller."""
    frames: int
    """Frames in it."""
    ta: str | None
    """Transmitter of the direction with the compared goodput; null without a waterfall."""
    ra: str | None
    """Receiver of that direction."""
    direction: str | None
    """`uplink`, `downlink` or `direct`."""


class Comparison(Model):
    """Version 1 of the `txop-air-compare` format."""

    format: str
    """Always `"txop-air-compare"`."""
    version: int
    """Layout version: 1."""
    captures: list[Capture]
    """The captures, in the order given."""
    differences: list[Difference]
    """Key figures, the one that matters most first, those without a weight last."""


def compare(reports: Sequence[AirReport]) -> Comparison:
    """The key figures of ``reports`` side by side. The direction compared is each report's own explained direction."""
    if len(reports) < 2:
        raise ValueError("a comparison needs two captures or more")
    falls = [fall for fall in map(_explained, reports) if fall is not None]
    has_spaces = all(fall.timing == "stamps" for fall in falls)
    figures = [{figure.key: figure for figure in key_figures(report, has_spaces)} for report in reports]
    keys = list(dict.fromkeys(key for found in figures for key in found))
    rows = [_difference([found.get(key) for found in figures]) for key in keys]
    rows.sort(key=lambda row: (row.weight is None, -(row.weight or 0)))
    captures = []
    for report in reports:
        fall = _explained(report)
        captures.append(
            Capture(
                path=report.path,
                frames=report.frames,
                ta=fall.ta if fall else None,
                ra=fall.ra if fall else None,
                direction=fall.direction if fall else None,
            )
        )
    return Comparison(format=FORMAT, version=VERSION, captures=captures, differences=rows)


def letter(index: int) -> str:
    """What the capture at ``index`` is called: A, B, C, ..."""
    return chr(ord("A") + index) if index < 26 else str(index + 1)


def _label(figures: Sequence[KeyFigure | None]) -> str:
    """The words of the first capture, and those of others for which the same row means something else."""
    first = next(figure.label for figure in figures if figure is not None)
    others: dict[str, list[str]] = {}
    for index, figure in enumerate(figures):
        if figure is not None and figure.label != first:
            others.setdefault(figure.label.removeprefix(_TIME), []).append(letter(index))
    return first + "".join(f"; in {', '.join(letters)}: {label}" for label, letters in others.items())


def _may_be_equal(one: KeyFigure | None, other: KeyFigure | None) -> bool:
    """Neither is known exactly enough to distinguish them; a figure does not differ from itself."""
    if one is None or other is None or one is other or one.value is None or other.value is None:
        return False
    low, high = one.interval or (one.value, one.value)
    other_low, other_high = other.interval or (other.value, other.value)
    is_exact = one.interval is None and other.interval is None
    return not is_exact and max(low, other_low) <= min(high, other_high)


def _is_something_else(one: KeyFigure, other: KeyFigure | None) -> bool:
    """Time without frames is idle in one capture, and may hold missing frames in another: two figures, not one that
    differs."""
    return other is not None and one.key in ("waterfall.idle", "waterfall.idle_queued") and one.label != other.label


def _difference(figures: Sequence[KeyFigure | None]) -> Difference:
    """One row of figures that have the same key."""
    figure = next(figure for figure in figures if figure is not None)
    values = [each.value if each is not None else None for each in figures]
    base = values[0]
    unknown = [_may_be_equal(figures[0], each) or _is_something_else(figure, each) for each in figures]
    differences = [
        None if base is None or value is None or may_be_equal else value - base
        for value, may_be_equal in zip(values, unknown, strict=True)
    ]
    present = [value for value in values if value is not None]
    weight = None
    if len(present) > 1 and not any(unknown):
        spread = max(present) - min(present)
        largest = max(abs(value) for value in present)
        weight = {
            "fraction": spread,
            "percent": spread / 100,
            "relative": spread / largest if largest else 0.0,
            "level": spread / _SPAN_DB,
            "events": spread / (largest + _FEW),
        }[figure.scale]
        weight = min(1.0, weight)
    between = any(_may_be_equal(figures[0], each) for each in figures)
    label = _label(figures) + (f"; {BETWEEN}" if between else "")
    return Difference(
        key=figure.key, section=figure.section, label=label, unit=figure.unit, values=values, differences=differences,
        at_least=[each is not None and each.is_least for each in figures],
        reasons=[each.reason if each is not None and each.value is None else None for each in figures],
        weight=weight,
    )  # fmt: skip


def different_pairs(reports: Sequence[AirReport]) -> str:
    """A warning that the figures are of different pairs, and what to do about it; empty when they are not."""
    explained = [(fall.ta, fall.ra) for fall in map(_explained, reports) if fall is not None]
    if len(set(explained)) < 2:
        return ""
    remedy = f"no pair exchanges at least {_ENOUGH} data frames in all of them"
    counts = [_data_frames(report) for report in reports]
    least = {pair: min(count[pair] for count in counts) for pair in set.intersection(*map(set, counts))}
    if least and max(least.values()) >= _ENOUGH:
        busiest = max(sorted(least), key=lambda pair: least[pair])
        remedy = f"--pair {busiest[0]},{busiest[1]} compares one that is in all of them"
    return f"The captures explain different pairs, so differences may be those of the pairs: {remedy}."


def _data_frames(report: AirReport) -> dict[tuple[str, str], int]:
    """Data frames between each two stations, both directions together, by their sorted addresses."""
    frames: dict[tuple[str, str], int] = {}
    for link in report.links:
        pair = (min(link.ta, link.ra), max(link.ta, link.ra))
        if link.data_frames:
            frames[pair] = frames.get(pair, 0) + link.data_frames
    return frames


def _explained(report: AirReport) -> Waterfall | None:
    return report.waterfalls[0] if report.waterfalls else None


def _busy(report: AirReport) -> KeyFigure:
    """The busy share. What is missing from a capture may have been anything, frames of unknown duration are bounded."""
    air = report.airtime
    value, low, high = air.busy_share, air.busy_share_low, air.busy_share_high
    interval = None
    if value is not None:
        interval = (value if low is None else low, value if high is None else high)
        if not report.hearing.silence_is_evidence:
            value = interval[0]
            interval = (interval[0], 1.0)
    untimely = next((each.text for each in report.summary.limits if each.code in PREVENT_WATERFALLS), None)
    return KeyFigure("airtime.busy", "airtime", "Channel busy", "fraction", "fraction", value, interval,
                     untimely if value is None else None)  # fmt: skip


def key_figures(report: AirReport, has_spaces: bool = True) -> Iterator[KeyFigure]:
    """The figures of ``report`` that a comparison shows, section by section.

    Args:
        report: The report.
        has_spaces: All captures distinguish inter-frame spaces from idle time; else both are one figure.
    """

    def figure(
        key: str, section: str, label: str, unit: str, scale: Scale, value: float | None, reason: str | None = None
    ) -> KeyFigure:
        return KeyFigure(key, section, label, unit, scale, None if reason else value, None, reason)

    fcs = report.summary.fcs
    frames = fcs.good + fcs.bad + fcs.unknown
    fcs_known = fcs.unknown < frames
    limits = {limit.code for limit in report.summary.limits}
    damage = _NO_DAMAGE if report.bad_fcs == 0 or limits & {"no-fcs", "fcs-not-said"} else None
    yield figure("summary.bad_fcs", "summary", "Frames with a bad FCS", "fraction", "fraction",
                 report.bad_fcs / frames if frames and fcs_known else None, damage)  # fmt: skip
    yield figure("ghosts.frames", "ghosts", "Frames of ghost addresses", "fraction", "fraction",
                 report.ghost_effect.ghost_frames / frames if frames and fcs_known else None, damage)  # fmt: skip
    yield _busy(report)
    fall = _explained(report)
    good = report.ghost_effect.retry_good
    label = "Retry % of data and Null frames, without damaged ones"
    yield figure("stations.retry_good", "stations", label, "percent", "percent",
                 good.percent if fcs_known else None, _few(good.frames, "data and Null frames"))  # fmt: skip
    if fall is None:
        return
    flow = (fall.ta, fall.ra)
    link = next((link for link in report.links if (link.ta, link.ra) == flow), None)
    mpdus = link.mpdu_retry.frames if link is not None else 0
    few_mpdus = _few(mpdus, "data MPDUs of the direction")
    yield figure("waterfall.goodput", "waterfall", "Goodput", "Mbit/s", "relative", fall.payload_mbit_s, few_mpdus)
    yield figure("waterfall.phy_rate", "waterfall", "Effective PHY rate", "Mbit/s", "relative",
                 fall.phy_rate_mbit_s, few_mpdus)  # fmt: skip
    has_control = report.hearing.control_frames > 0
    unheard = None if any(row.beacons for row in report.access_points) else "no undamaged beacon is in it"
    uncontrolled = None if has_control else "no undamaged control frame is in it"
    spaces = next((step.share for step in fall.steps if step.cause == "ifs_backoff"), 0.0)
    for step in fall.steps:
        is_known = step.cause not in ("ack", "rts_cts") or has_control
        missing = uncontrolled if not is_known else None
        if step.share == 0:
            absent = damage if step.cause == "damaged" else unheard if step.cause in _OF_OTHERS else None
            missing = missing or absent
        share, label = step.share, step.label
        if not has_spaces and step.cause == "ifs_backoff":
            is_known = False
            label = "inter-frame spaces and backoff (counted as idle: not all captures distinguish them)"
        elif not has_spaces and step.cause == "idle" and fall.timing == "stamps":
            share, label = share + spaces, f"{label}, with inter-frame spaces and backoff"
        reason = missing if step.cause in _OF_ALL else few_mpdus or missing
        yield figure(f"waterfall.{step.cause}", "waterfall", f"{_TIME}{label}", "fraction", "fraction",
                     share if is_known else None, reason)  # fmt: skip
    if link is not None:
        yield figure("stations.retry", "stations", "Retry % of MPDUs", "percent", "percent",
                     link.mpdu_retry.percent, few_mpdus)  # fmt: skip
        signal = link.signal_dbm
        yield figure("stations.signal", "stations", "Signal, median", "dBm", "level",
                     signal.median if signal else None, _few(signal.n, "signals") if signal else None)  # fmt: skip
    verdict = next(
        (v for v in report.ack_verdicts if v.question == "ack" and (v.originator, v.recipient) == flow), None
    )
    open_question = "whether its responses are complete can't be determined"
    for e in report.exchanges:
        if (e.ta, e.ra) == flow:
            open_here = (
                open_question
                if verdict is not None and verdict.answer == "not-determined" and report.hearing.doubts
                else None
            )
            yield figure("exchanges.answered", "exchanges", "PPDUs with data answered", "fraction", "fraction",
                         e.data.answered / e.data.ppdus if has_control and e.data.ppdus else None,
                         _few(e.data.ppdus, "PPDUs with data") or uncontrolled or open_here)  # fmt: skip
            few = _few(e.gap_us.n, "response delays") if e.gap_us else uncontrolled
            yield figure("exchanges.delay", "exchanges", "Response delay, median", "µs", "relative",
                         e.gap_us.median if e.gap_us else None, few)  # fmt: skip
            yield figure("exchanges.late", "exchanges", "Late responses", "fraction", "fraction",
                         e.late_responses / e.gap_us.n if e.gap_us and e.late_responses is not None else None,
                         few)  # fmt: skip
    flows = [f for f in report.block_acks if (f.originator, f.recipient) == flow]
    left = sum(f.left_out for f in flows)
    answered = left + sum(f.newly_acked for f in flows)
    positioned = sum(f.left_out_positioned for f in flows)
    yield figure("block_acks.left_out", "exchanges", "Block Ack holes", "fraction", "fraction",
                 left / answered if answered else None,
                 _few(answered, "MPDUs that Block Acks answer") if answered else None)  # fmt: skip
    yield figure("block_acks.in_tail", "exchanges", "Left out in the last quarter of A-MPDUs", "fraction", "fraction",
                 sum(f.left_out_in_tail for f in flows) / positioned if positioned else None,
                 _few(positioned, "Block Ack holes") if positioned else None)  # fmt: skip
    groups = [a for a in report.aggregation if (a.ta, a.ra) == flow and a.mpdus_per_ppdu is not None]
    ppdus = sum(a.ppdus or 0 for a in groups)
    yield figure("aggregation.mpdus", "aggregation", "MPDUs per PPDU, mean", "MPDUs", "relative",
                 sum(a.mpdus for a in groups) / ppdus if ppdus else None,
                 _few(ppdus, "PPDUs with data") if ppdus else None)  # fmt: skip
    for s in report.steadiness:
        if (s.ta, s.ra) == flow:
            yield figure("steadiness.variation", "steadiness", "Variation of throughput", "fraction", "relative",
                         s.variation)  # fmt: skip
            label = "Dropouts and shifts, first to last frame"
            yield figure("steadiness.events", "steadiness", label, "events", "events",
                         float(len(s.events)) if not_sought(s) is None else None)  # fmt: skip


_NO_DAMAGE = "it may lack damaged frames, or does not distinguish them"

_OF_ALL = frozenset({"beacons_management", "other_stations", "damaged", "idle", "unobserved"})
"""Rows of the waterfall that are of the channel, however few MPDUs the direction has."""

_OF_OTHERS = frozenset({"beacons_management", "other_stations"})
"""Rows of the waterfall that a capture without the beacons of anybody lacks."""


def _few(number: int, of: str) -> str | None:
    """Why a figure of ``number`` things says nothing; ``None`` when there are enough."""
    return f"it has fewer than {_ENOUGH} {of}" if number < _ENOUGH else None

"""Why there is a verdict on throughput: causes where the archive has all combinations of the changes, and otherwise
what goes with it, figures of the air and bus captures of the measured window, joined.

A fact is reported when it moved in the direction that would explain the verdict, by its margin or more, and when
the ranges of the two arms' runs do not overlap. It goes with the verdict; that it is the cause is for the reader to
judge.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from txop.archive.reader import Archive
from txop.compare.answer import rows_between
from txop.compare.causes import proven
from txop.compare.result import ComparedFigure, CompareResult, Row
from txop.present.format import duration_us, share
from txop.report.answer.air_digest import digest, label_of
from txop.report.answer.wording import listed, value

_AIR: dict[str, tuple[int, str]] = {
    "air_ampdu_mpdus": (1, "MPDUs per PPDU"),
    "air_up_unanswered_percent": (-1, "PPDUs without ACK, uplink"),
    "air_down_unanswered_percent": (-1, "PPDUs without ACK, downlink"),
    "air_up_late_ack_percent": (-1, "late ACKs, uplink"),
    "air_down_late_ack_percent": (-1, "late ACKs, downlink"),
}
"""By metric: the direction that makes throughput larger, and its name."""

_BUS: dict[str, tuple[int, str]] = {
    "usb_in_datagrams_per_urb": (1, "datagrams per IN URB"),
    "usb_out_datagrams_per_urb": (1, "datagrams per OUT URB"),
    "usb_interrupt_urbs_per_s": (-1, "interrupt URBs"),
    "usb_out_turnaround_us": (-1, "OUT URB completion time"),
}

_COSTS = ("idle", "idle_queued", "ifs_backoff", "preamble", "ack", "rts_cts", "retries", "other_stations")
"""Causes of the waterfall that leave less time to the payload."""
_OF_GAPS = frozenset({"idle", "idle_queued", "ifs_backoff"})
"""Those that are gaps between captured frames: of a capture that lacks frames they are not known."""

_FIRST = "air_ampdu_mpdus"
_LEAST_SHARE = 0.03
"""Share of the observed time; the margin of the payload's share."""
_MOST_OF_BUS = 2


@dataclass(frozen=True)
class Because:
    """What goes with the verdict on one arm in one test."""

    test: str
    facts: Sequence[str]
    """Figures with their values in both arms; empty: it cannot be determined."""
    basis: str
    """Runs and origin of the figures."""
    missing: str
    """What cannot be determined, and why."""
    is_proven: bool = False
    """The facts are causes, found by intervention: the archive has all combinations of what the arms differ in."""

    @property
    def has_figures(self) -> bool:
        """Whether it has figures."""
        return bool(self.facts)

    @property
    def brief(self) -> str:
        """The sentence without basis and gaps."""
        return f"{self.test}: {'; '.join(self.facts)}." if self.facts else self.text

    @property
    def text(self) -> str:
        """The sentence."""
        if not self.facts:
            return f"{self.test}: can't be determined, because {self.missing}."
        return f"{self.test}: {'; '.join(self.facts)} ({self.basis}){f' ({self.missing})' if self.missing else ''}."


def because(archive: Archive, result: CompareResult, arm: str, against: str) -> list[Because]:
    """One sentence for each test with a throughput that was declared and that is better or worse: its causes, where the
    archive has all combinations for them, or what goes with it."""
    made = []
    for figure, row in rows_between(result.figures, arm, against, result.baseline):
        if figure.role != "primary" or not figure.metric.key.startswith("throughput"):
            continue
        decided = row.verdict in ("better", "worse")
        causes = proven(archive, result, arm, against, figure.name) if decided else None
        if causes is not None:
            basis = f"by intervention, {result.origin.value}"
            made.append(Because(figure.test, [causes.sentence], basis, "", is_proven=True))
            continue
        way = {"better": 1, "worse": -1}.get(row.verdict)
        if way is not None and (row.estimate is None or row.estimate > 0) == (way > 0):
            made.append(_sentence(archive, result, figure.test, arm, against, way))
    return made


def _sentence(archive: Archive, result: CompareResult, test: str, arm: str, against: str, way: int) -> Because:
    rows = rows_between([f for f in result.figures if f.test == test], arm, against, result.baseline)
    air = [*_moved(rows, _AIR, way, arm, against)[:1], *_time(archive, result, test, arm, against, way)[:1]]
    bus = _moved(rows, _BUS, way, arm, against)[:_MOST_OF_BUS]
    lacking = [
        (name, why)
        for name, keys, facts in (("the air", _AIR, air), ("the bus", _BUS, bus))
        if not facts and (why := _why_not(archive, rows, keys))
    ]
    if len(lacking) == 2:
        asked_for_none = not archive.plan.collect.air and not archive.plan.collect.usbmon
        whys = "; ".join(f"of {name} {why}" for name, why in lacking)
        none = "the plan asked for no capture, neither of the air (collect.air) nor of the bus (collect.usbmon)"
        return Because(test, [], "", none if asked_for_none else f"there is no figure of a capture: {whys}")
    missing = [f"{name} can't be determined, because {why}" for name, why in lacking]
    facts = [*air, *bus]
    if not facts:
        moved = "no figure of the captures moved, clear of the spread of the runs, in the way that would explain it"
        return Because(test, [], "", f"{moved} ({'; '.join(missing)})" if missing else moved)
    counts = {fact.n for fact in facts}
    texts = [fact.text if len(counts) == 1 else f"{fact.text} (n={fact.n})" for fact in facts]
    n = counts.pop() if len(counts) == 1 else ""
    of = f"n={n} {'run' if n == '1' else 'runs'} of each arm; " if n else ""
    of += f"captures of the measured window, {result.origin.value}"
    of += "; shares are means" if any(fact.is_share for fact in facts) else ""
    return Because(test, texts, of, "; ".join(missing))


def proof(known: Sequence[Because]) -> str:
    """Whether sentences are proven, for their heading."""
    return "by intervention" if known and all(each.is_proven for each in known) else "correlation"


def common_note(known: Sequence[Because]) -> str:
    """Basis and gaps of sentences that share them, to be printed once; empty where they differ or there is one only."""
    with_figures = [each for each in known if each.has_figures]
    notes = {(each.basis, each.missing) for each in with_figures}
    if len(with_figures) < 2 or len(notes) > 1:
        return ""
    ((basis, missing),) = notes
    return basis + (f"; {missing}" if missing else "")


@dataclass(frozen=True)
class _Fact:
    """A figure that moved."""

    size: float
    text: str
    n: str
    """Runs of each arm that it is of."""
    is_share: bool = False


def _moved(
    rows: Sequence[tuple[ComparedFigure, Row]], wanted: dict[str, tuple[int, str]], way: int, arm: str, against: str
) -> list[_Fact]:
    """Figures that moved: aggregation first, then those that changed by the largest factor."""
    found: list[_Fact] = []
    for figure, row in rows:
        if figure.metric.key not in wanted or row.estimate is None or abs(row.estimate) < row.margin:
            continue  # bounds have no estimate
        if row.not_judged == "depends":
            continue
        direction, name = wanted[figure.metric.key]
        old, new = row.baseline_median, row.arm_median
        apart = _apart(_values(figure, against), _values(figure, arm))
        if row.estimate * direction * way <= 0 or not apart or old is None or new is None:
            continue
        first = figure.metric.key == _FIRST
        size = math.inf if first else abs(math.log(max(new, 1e-3) / max(old, 1e-3)))
        text = f"{name} {_from_to(old, new, figure)}"
        found.append(_Fact(size, text, _n(row.n_arm, row.n_baseline)))
    return sorted(found, key=lambda fact: -fact.size)


def _from_to(old: float, new: float, figure: ComparedFigure) -> str:
    if figure.metric.unit == "µs":
        return f"{duration_us(old)} → {duration_us(new)}"
    return f"{value(old, figure.metric)} → {value(new, figure.metric)} {figure.metric.unit}".rstrip()


def _n(arm: int, against: int) -> str:
    return str(arm) if arm == against else f"{arm} and {against}"


def _values(figure: ComparedFigure, arm: str) -> list[float]:
    points = [point for values in figure.arms if values.arm == arm for point in values.points]
    return [math.inf if point.value is None else point.value for point in points]


def _apart(one: Sequence[float], other: Sequence[float]) -> bool:
    return bool(one) and bool(other) and (max(one) < min(other) or max(other) < min(one))


def _time(archive: Archive, result: CompareResult, test: str, arm: str, against: str, way: int) -> list[_Fact]:
    """Shares of the time on the air that moved, the largest first."""
    counted = {p.run for f in result.figures if f.test == test for v in f.arms for p in v.points}
    new, old = (
        digest(name, [run for run in archive.runs if run.run in counted and run.arm == name]) for name in (arm, against)
    )
    found = []
    surely = new.gaps_are_idle and old.gaps_are_idle
    for cause in _COSTS:
        if cause not in new.each or cause not in old.each:
            continue  # a share that is not known is not 0
        if cause in _OF_GAPS and not surely:
            continue  # two upper bounds: frames that one capture lacks would be taken for idle air
        change = new.shares[cause] - old.shares[cause]
        if change * way <= -_LEAST_SHARE and _apart(new.each[cause], old.each[cause]):
            text = f"{label_of(cause)} {share(old.shares[cause])} → {share(new.shares[cause])} of the time"
            found.append(_Fact(abs(change), text, _n(new.waterfalls, old.waterfalls), is_share=True))
    return sorted(found, key=lambda fact: -fact.size)


def _why_not(archive: Archive, rows: Sequence[tuple[ComparedFigure, Row]], keys: dict[str, tuple[int, str]]) -> str:
    """Why there are no figures of a capture; empty when there are, and nothing in them moved."""
    if any(figure.metric.key in keys for figure, _ in rows):
        return ""
    of_air = keys is _AIR
    if not (archive.plan.collect.air if of_air else archive.plan.collect.usbmon):
        return f"the plan asked for no capture of it (collect.{'air' if of_air else 'usbmon'})"
    reasons = {r for run in archive.runs for key in keys if key in run.metrics and (r := run.metrics[key].reason)}
    return listed(sorted(reasons), 2) or "no valid run has a digest of a capture"

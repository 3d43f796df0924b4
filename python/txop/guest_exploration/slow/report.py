"""A search for what is slow as a JSON document, and as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from txop.guest_exploration.cost import Metric
from txop.guest_exploration.slow.explore import SearchedDriver
from txop.guest_exploration.slow.search import SlowFinding
from txop.guest_trials.survey_report import where
from txop.guest_trials.trial import Place
from txop.present.csv_cells import Cell
from txop.present.format import plural

FORMAT = "txop-guest-slow"
VERSION = 1

COLUMNS = ("driver", "cost", "times", "now", "usual", "changed", "from", "made smaller", "replay")
_NAMES = {
    Metric.INSTRUCTIONS: "instructions per packet",
    Metric.RTT: "p99 RTT, ms",
    Metric.AIRTIME: "airtime per byte, ns",
}
_DIGITS = {Metric.INSTRUCTIONS: 0, Metric.RTT: 2, Metric.AIRTIME: 0}


def cells(searched: SearchedDriver, finding: SlowFinding) -> tuple[Cell, ...]:
    """A finding under :data:`COLUMNS`."""
    smaller = None
    if finding.reductions:
        smaller = plural(finding.reductions, "trial") + ("" if finding.smallest else ", not to the end")
    return (
        searched.driver,
        _NAMES[finding.metric],
        f"{finding.times:.1f}",
        _figure(finding.metric, finding.slow.costs.of(finding.metric)),
        _figure(finding.metric, searched.usual.of(finding.metric)),
        "; ".join(_changes(finding)),
        finding.begin or "mutation",
        smaller,
        {None: "not yet", True: "exact", False: "differs"}[finding.exact],
    )


def _changes(finding: SlowFinding) -> list[str]:
    tried = finding.slow.input
    loads = [f"{key.split('_', maxsplit=1)[0]} {value}" for key, value in tried.load.changes.items()]
    return [*loads, *(fault.kind for fault in tried.faults)]


def _figure(metric: Metric, value: float | None) -> str | None:
    return None if value is None else f"{value:.{_DIGITS[metric]}f}"


def summary(searched: SearchedDriver) -> str:
    """How far it came, in sentences."""
    search = searched.search
    given = min(search.tries, len(searched.request.scripts))
    highest = ", ".join(
        f"{_NAMES[metric]} {search.highest[metric]:.1f}" for metric in Metric if metric in search.highest
    )
    left_out = ""
    if searched.left_out:
        left_out = f" {plural(searched.left_out, 'trial')} left out: this machine ended the guest twice (trials/)."
    cut = " The time was over: the same command goes on." if searched.cut else ""
    tops = f" Highest, in times of the usual: {highest}." if highest else ""
    return (
        f"{searched.driver}: {plural(given, 'given input')} and {search.tries - given} mutated ones, "
        f"{search.trials} trials in all, {search.kept} inputs kept; {search.stalled} trials stalled, and "
        f"{search.troubled} had a crash, a hang, a WARN or no traffic (txop guest explore looks for these)."
        f"{tops}{left_out}{cut}"
    )


def document(searched: Sequence[SearchedDriver], place: Place) -> dict[str, Any]:
    """The search as a document (docs/guest-faults.md)."""
    return {
        "format": FORMAT,
        "version": VERSION,
        **where(place),
        "drivers": [_driver(one) for one in searched],
    }


def _driver(searched: SearchedDriver) -> dict[str, Any]:
    search = searched.search
    return {
        "driver": searched.driver,
        "seed": searched.request.request.seed,
        "ahead": searched.request.request.ahead,
        "slow_from_times": searched.request.times,
        "usual": {"costs": searched.usual.model_dump(), "counted": searched.without.usual.model_dump()},
        "rest": searched.without.rest.model_dump(),
        "begin": [script.name for script in searched.request.scripts],
        "tries": search.tries,
        "of": search.total,
        "cut": searched.cut,
        "trials": search.trials,
        "stalled": search.stalled,
        "troubled": search.troubled,
        "seconds": None if searched.seconds is None else round(searched.seconds, 3),
        "left_out": searched.left_out,
        "highest_times": {metric.value: round(times, 4) for metric, times in search.highest.items()},
        "findings": [_finding(searched, finding) for finding in searched.findings],
        "damage": searched.damage,
    }


def _finding(searched: SearchedDriver, finding: SlowFinding) -> dict[str, Any]:
    cost = finding.slow.outcome.cost
    path = searched.path(finding)
    return {
        "metric": finding.metric.value,
        "times": round(finding.times, 4),
        "costs": finding.slow.costs.model_dump(),
        "counted": None if cost is None else cost.model_dump(),
        "changed": sorted(finding.slow.input.kinds),
        "file": f"{searched.driver}/{path.parent.name}/{path.name}",
        "trial": finding.trial,
        "begin": finding.begin,
        "struck": finding.slow.outcome.struck,
        "reductions": finding.reductions,
        "smallest": finding.smallest,
        "exact": finding.exact,
        "input": finding.slow.input.text(),
        "command": searched.command(finding),
    }

"""Which figures there are, which of them are primary, and what must not be compared."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from txop.archive.counting import figure_value
from txop.archive.layout import ArchiveError
from txop.archive.reader import Archive
from txop.archive.run_file import RunFile
from txop.core.metrics import METRICS, Metric, describe, in_origin
from txop.core.origin import Bench, Origin, Start
from txop.plan.measurement import Test
from txop.plan.model import Plan

_METRIC_KEY = re.compile(r"[a-z0-9_]{1,80}")

_BOTH_WAYS = ("throughput_up_mbit_s", "throughput_down_mbit_s")
_ROUND_TRIP = "rtt_p50_ms"


class CompareError(ArchiveError):
    """The runs must not, or cannot, be compared as asked."""


def one_origin(archive: Archive) -> Origin:
    """The origin of all its figures.

    Raises:
        CompareError: when they are of several.
    """
    found = sorted({run.origin for run in archive.runs})
    if len(found) > 1:
        example = ", ".join(
            f"{next(run.run for run in archive.runs if run.origin is origin)} is {origin.value}" for origin in found
        )
        raise CompareError(
            f"holds figures of different origin ({example}), which cannot be compared with each other",
            where=archive.layout.root,
            what_to_do="compare runs of one origin: keep one campaign per archive",
        )
    _one_bench(archive)
    _starts(archive)
    return found[0] if found else archive.plan.origin


def check_comparable(first: Archive, second: Archive) -> Origin:
    """The origin of the figures of two archives.

    Raises:
        CompareError: when their figures cannot be compared with each other.
    """
    mine, other = one_origin(first), one_origin(second)
    if mine is not other:
        raise CompareError(
            f"holds {other.value} figures and {first.layout.root} {mine.value} ones, which cannot be"
            " compared with each other",
            where=second.layout.root,
            what_to_do="compare archives of one origin",
        )
    benches = _one_bench(first), _one_bench(second)
    if None not in benches and benches[0] is not benches[1]:
        place = " and ".join(f"{bench} the guest" for bench in benches if bench is not None)
        raise CompareError(
            f"and {first.layout.root} have figures of two benches, which cannot be compared with each other: the "
            f"virtual device was {place}",
            where=second.layout.root,
            what_to_do="run the earlier plan again",
        )
    _check_starts(first, second)
    return mine


def _check_starts(first: Archive, second: Archive) -> None:
    """Raise :class:`CompareError` when the guests of a test began in two ways."""
    starts = _starts(first)
    for test, found in _starts(second).items():
        if test in starts and starts[test] is not found:
            raise CompareError(
                f"and {first.layout.root} have figures of two starts, which cannot be compared with each other: those"
                f" of {test} are of {found.value} and of {starts[test].value}",
                where=second.layout.root,
                what_to_do="run one of the plans again, with the same start in [guest]",
            )


def _starts(archive: Archive) -> dict[str, Start]:
    """Where the runs of each test began; without tests that no guest ran."""
    found: dict[str, Start] = {}
    for run in archive.runs:
        if run.state == "valid" and run.origin in (Origin.GUEST_EXACT, Origin.GUEST_FAST):
            start = run.start or Start.BOOT
            if found.setdefault(run.test, start) is not start:
                raise CompareError(
                    "holds figures of two starts, which cannot be compared with each other: some guests of"
                    f" {run.test} booted, and others were restored",
                    where=archive.layout.root,
                    what_to_do="run the plan again, in an archive of its own",
                )
    return found


def _one_bench(archive: Archive) -> Bench | None:
    """Where the virtual device of its guests was; ``None``: it has no runs of guests."""
    if not any(run.origin in (Origin.GUEST_EXACT, Origin.GUEST_FAST) for run in archive.runs):
        return None
    connected = (event for event in archive.events if event.event == "connected" and event.get("target") == "dut")
    found = {_bench_of(event.get("provenance")) for event in connected}
    if len(found) > 1:
        raise CompareError(
            "holds figures of two benches, which cannot be compared with each other: the virtual device was outside of"
            " some of its guests and inside of others",
            where=archive.layout.root,
            what_to_do="run the plan again, in an archive of its own",
        )
    return found.pop() if found else Bench.INSIDE


def _bench_of(facts: object) -> Bench:
    """By what a campaign found when it began; before there were two benches it did not say."""
    stated = facts.get("bench") if isinstance(facts, dict) else None
    return Bench.OUTSIDE if stated == Bench.OUTSIDE.value else Bench.INSIDE


def metric_of(plan: Plan, test: Test, key: str) -> Metric:
    """What the figure is: not judged where it is the emulator's, with the directions that a command test gives and the
    margin that the plan gives."""
    metric = in_origin(describe(key), plan.origin)
    if key in test.directions and key not in METRICS:
        metric = replace(metric, better=test.directions[key])
    margin = plan.design.margins.get(f"{test.name}.{key}")
    return metric if margin is None else replace(metric, margin=margin)


def metric_keys(runs: Iterable[RunFile]) -> list[str]:
    """The metrics that any of the runs has, available or not: known ones in the order of the list, then others."""
    found = {key for key in set().union(*(run.metrics for run in runs)) if _METRIC_KEY.fullmatch(key)}
    return [key for key in METRICS if key in found] + sorted(found - METRICS.keys())


def primary_of(archive: Archive, runs: Sequence[RunFile]) -> tuple[list[str], bool]:
    """The primary figures of an archive, and whether by the default rule; none where its plan was edited after the
    campaign began, so that what was primary is not known."""
    return primary_figures(archive.plan, runs) if archive.primary_is_known else ([], False)


def primary_figures(plan: Plan, runs: Sequence[RunFile]) -> tuple[list[str], bool]:
    """Names of the figures judged together, and whether by the default rule.

    By default, of every test: its throughput; else the throughput of each direction; else the RTT p50; of a
    command, the figures to which the plan gives a direction.
    """
    if plan.design.primary:
        return list(dict.fromkeys(plan.design.primary)), False
    chosen: list[str] = []
    for test in plan.test:
        mine = [run for run in runs if run.test == test.name]
        if test.argv is not None:
            keys = [key for key in test.directions if _is_there(key, mine)]
        elif _is_there("throughput_mbit_s", mine):
            keys = ["throughput_mbit_s"]
        else:
            keys = [key for key in _BOTH_WAYS if _is_there(key, mine)]
            keys = keys or [key for key in (_ROUND_TRIP,) if _is_there(key, mine)]
        chosen += [f"{test.name}.{key}" for key in keys]
    return chosen, True


def _is_there(key: str, runs: Sequence[RunFile]) -> bool:
    return any(figure_value(run, key) is not None for run in runs)

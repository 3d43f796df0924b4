"""The verdict on a series: pure, from a comparison and its runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from txop.archive.run_file import RunFile
from txop.compare.result import CompareResult
from txop.present.format import plural

BASE, SERIES = "base", "series"
"""The arms."""


class State(StrEnum):
    """What a series is found to be."""

    DOES_NOT_APPLY = "does not apply"
    DOES_NOT_BUILD = "does not build"
    DOES_NOT_RUN = "does not run"
    FAULTS = "faults"
    WORSE = "worse"
    BOARD = "board rows lost"
    WARNINGS = "compiler warnings"
    NOT_MEASURED = "not measured"
    SAME_MODULE = "same module"
    EQUIVALENT = "equivalent"
    BETTER = "better"
    INCONCLUSIVE = "inconclusive"

    @property
    def is_fine(self) -> bool:
        """Whether it was judged, as far as it can be, and nothing counts against it."""
        return self in _FINE


_FINE = frozenset({State.SAME_MODULE, State.EQUIVALENT, State.BETTER, State.INCONCLUSIVE})


@dataclass(frozen=True)
class NewFault:
    """A fault of the kernel log that runs of the series have, and none of its base."""

    key: str
    title: str
    severity: str
    runs: int
    """Runs of the series that have it."""
    of: int
    line: str
    """The first line, as the kernel wrote it."""

    @property
    def is_harm(self) -> bool:
        """Whether it counts against the series: errors, and what is of the kernel itself, such as lockdep's warnings.
        The others are remarks."""
        return self.severity in ("error", "critical") or self.key.startswith("kernel-")


def new_faults(runs: Sequence[RunFile]) -> list[NewFault]:
    """Faults by kind, the worst first."""
    ours = [run for run in runs if run.arm == SERIES]
    known = {fault.key for run in runs if run.arm == BASE for fault in run.faults}
    counts: Counter[str] = Counter(key for run in ours for key in {fault.key for fault in run.faults})
    found = []
    for key, count in counts.items():
        if key not in known:
            first = next(fault for run in ours for fault in run.faults if fault.key == key)
            line = first.lines[0] if first.lines else ""
            found.append(NewFault(key, first.title, first.severity, count, len(ours), line))
    return sorted(found, key=lambda fault: (not fault.is_harm, fault.key))


def state_of(
    result: CompareResult, runs: Sequence[RunFile], warnings: Sequence[str] = (), lost: Sequence[str] = ()
) -> tuple[State, str]:
    """What the series is found to be, and the sentence with its reasons. What is harmful goes before what is good.

    ``lost``: rows of a board that work with the base and not with the series, each with its evidence.
    """
    broken = _broken(runs)
    if broken is not None:
        return State.DOES_NOT_RUN, broken
    harm = [fault for fault in new_faults(runs) if fault.is_harm]
    rows = [row for figure in result.figures if figure.role == "primary" for row in figure.rows if row.arm == SERIES]
    verdicts = Counter(row.verdict for row in rows)
    if harm:
        named = "; ".join(f"{fault.title} in {fault.runs} of {fault.of} runs" for fault in harm[:3])
        return State.FAULTS, f"the kernel log has faults that the base has not: {named}"
    if verdicts["worse"]:
        return State.WORSE, _said(result, "worse")
    if lost:
        return State.BOARD, f"what works with the base does not with the series: {'; '.join(lost[:3])}"
    if warnings:
        return State.WARNINGS, f"the compiler has {plural(len(warnings), 'new warning')}: {warnings[0]}"
    lacking = _lacking(result, runs)
    if lacking:
        return State.NOT_MEASURED, "; ".join(lacking[:3])
    if verdicts["better"]:
        return State.BETTER, _said(result, "better")
    if rows and verdicts["equivalent"] == len(rows):
        return State.EQUIVALENT, _said(result, "equivalent")
    return State.INCONCLUSIVE, _said(result, "inconclusive")


def _broken(runs: Sequence[RunFile]) -> str | None:
    """The tests in which the series was run and has no valid run, though its base has; ``None``: no such test."""
    valid = Counter((run.arm, run.test) for run in runs if run.state == "valid")
    tests = list(dict.fromkeys(run.test for run in runs))
    void = {run.test: _cause(run) for run in reversed(runs) if run.arm == SERIES and _failed(run)}
    found = [test for test in tests if valid[BASE, test] and not valid[SERIES, test] and test in void]
    if not found:
        return None
    where = "" if len(found) == len(tests) else f" in {', '.join(found)}"
    return f"no run of the series is valid{where}: {void[found[0]]}"


def _lacking(result: CompareResult, runs: Sequence[RunFile]) -> list[str]:
    """What was to be judged and has no pair of valid runs, each with its reason: figures, and by the default rule,
    which judges every test, tests."""
    rows = {figure.name for figure in result.figures for row in figure.rows if row.arm == SERIES}
    names = [name for name in result.design.primary if name not in rows]
    if result.design.primary_by_default:
        valid = {(run.arm, run.test) for run in runs if run.state == "valid"}
        judged = {name.partition(".")[0] for name in result.design.primary}
        tests = [test.name for test in result.tests if test.name not in judged]
        names += [f"{test}.*" for test in tests if not {(BASE, test), (SERIES, test)} <= valid]
    return [f"{name} has no pair of valid runs{_why(name, result, runs)}" for name in names]


def _why(name: str, result: CompareResult, runs: Sequence[RunFile]) -> str:
    """Why a figure lacks, as the end of a sentence: the cause of its test's first void run, else the comparison's."""
    test = name.partition(".")[0]
    causes = [f"{run.run}: {_cause(run)}" for run in runs if run.test == test and run.state == "void"]
    causes += [entry.reason for entry in result.not_available if entry.figure in (name, f"{test}.*")]
    return f" ({causes[0]})" if causes else ""


def _failed(run: RunFile) -> bool:
    """Whether a run is void for another reason than that txop was stopped in it."""
    return run.state == "void" and any(voiding.gate != "interrupted" for voiding in run.void)


def _cause(run: RunFile) -> str:
    return run.void[0].cause if run.void else "no cause given"


def _said(result: CompareResult, verdict: str) -> str:
    sentences: Iterable[str] = (
        row.sentence
        for figure in result.figures
        if figure.role == "primary"
        for row in figure.rows
        if row.arm == SERIES and row.verdict == verdict
    )
    return "; ".join(sentences)

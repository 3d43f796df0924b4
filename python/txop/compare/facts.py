"""What a result says beside its figures: the arms, the design, what was void, how far the campaign came."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from txop.archive.counting import figure_value
from txop.archive.reader import Archive
from txop.archive.run_file import SERIOUS, RunFile
from txop.compare.result import (
    ArmFacts,
    ComparedFigure,
    DamageFacts,
    DesignFacts,
    PatchFacts,
    Repeat,
    Row,
    TestFacts,
    VoidedRun,
)
from txop.compare.test_set import TestSet
from txop.compare.words import cycles_failed, went_wrong
from txop.core.origin import NOT_RADIO, Origin
from txop.log.times import times
from txop.plan.arm import Arm
from txop.plan.model import Plan

LOAD_GATES = frozenset({"arm-load-failed", "arm-not-verified"})
"""What voids a run with an arm that could not be put in place."""
WENT_WRONG = frozenset({"traffic-failed", "guest-went-down"})
"""What voids a run in which the device under test may have failed: its traffic failed, or its kernel stopped."""


def origin_warnings(origin: Origin) -> list[str]:
    """What a reader must know of all figures of an origin.

    >>> origin_warnings(Origin.HARDWARE)
    []
    """
    return [NOT_RADIO] if origin in (Origin.GUEST_EXACT, Origin.GUEST_FAST) else []


def family_warnings(figures: Sequence[ComparedFigure], confidence: float, family: int) -> list[str]:
    """Warning where the number of primary comparisons is too large for the blocks to ever give a verdict."""
    rows = [
        row
        for figure in figures
        if figure.role == "primary"
        for row in (*figure.rows, *figure.direct)
        if row.verdict != "not-judged"
    ]
    least = [
        2 / 2**row.n if row.paired else 2 / math.comb(row.n_baseline + row.n_arm, row.n_arm)
        for row in rows
        if row.n > 1
    ]
    alpha = 1 - confidence
    if not least or min(least) * family <= alpha * (1 + 1e-9):
        return []
    blocks = math.ceil(round(math.log2(2 * family / alpha), 9))
    several = f" with {family} primary comparisons adjusted together" if family > 1 else ""
    needed = f"; {blocks} blocks can" if rows[0].paired else ""
    return [f"So few runs can give no verdict better or worse{several}: {rows[0].n} {_runs(rows[0])}{needed}."]


def _runs(row: Row) -> str:
    return "blocks" if row.paired else "runs of the smaller arm"


def design_facts(
    archive: Archive,
    runs: Sequence[RunFile],
    primary: list[str],
    by_default: bool,
    family: int,
    plan: Plan,
) -> DesignFacts:
    """How the campaign was planned and how far it got."""
    tests = {test.name for test in plan.test}
    arms = {arm.name for arm in plan.arm}
    valid: dict[int, set[tuple[str, str]]] = {}
    replaces: dict[int, int] = {}
    for run in runs:
        if run.replaces is not None:
            replaces[run.block] = run.replaces
        if run.state == "valid":
            valid.setdefault(run.block, set()).add((run.arm, run.test))
    done = _complete(valid, replaces, {(arm, test) for arm in arms for test in tests})
    imported = archive.imported
    times = [event.at for event in archive.events if _is_time(event.at)]
    return DesignFacts(
        seed=plan.design.seed,
        blocks_planned=plan.design.blocks,
        blocks_complete=done,
        repeats=[Repeat(block=block, replaces=original) for block, original in sorted(replaces.items())],
        confidence=plan.design.confidence,
        primary=primary,
        primary_by_default=by_default,
        family=family,
        warm_up_s=plan.design.warm_up_s,
        idle_s=plan.design.idle_s,
        gap_s=plan.design.gap_s,
        reload=plan.design.reload,
        finished=archive.finished or imported,
        state="imported" if imported else _state(archive, runs, done),
        started_at=times[0] if times else None,
        ended_at=times[-1] if times else None,
    )


def _complete(
    valid: Mapping[int, set[tuple[str, str]]], replaces: Mapping[int, int], wanted: set[tuple[str, str]]
) -> int:
    """Blocks of the design that are complete, each with what its repeats gave."""
    together: dict[int, set[tuple[str, str]]] = {}
    for block, found in valid.items():
        original, steps = block, 0
        while original in replaces and steps < len(replaces):
            original, steps = replaces[original], steps + 1
        together.setdefault(original, set()).update(found)
    return sum(found >= wanted for found in together.values())


def _state(archive: Archive, runs: Sequence[RunFile], done: int) -> str:
    if archive.finished:
        return "finished"
    if not archive.events:
        return "without a journal that shows how far it got" if runs else "not started"
    progress = f"{done} of {archive.plan.design.blocks} blocks complete"
    last = archive.events[-1]
    if last.event == "campaign-stopped":
        reason = last.get("reason")
        return f"stopped with {progress}" + (f": {reason}" if isinstance(reason, str) and reason else "")
    return f"not finished, {progress}"


def may_be_device_failure(run: RunFile) -> bool:
    """Whether a run is void because of what the device under test may have done."""
    return run.state == "void" and any(voiding.gate in WENT_WRONG for voiding in run.void)


def runs_lost(runs: Mapping[str, Sequence[RunFile]], tests: Sequence[str]) -> list[str]:
    """Sentences about runs that no figure includes, one for each test that has some: void, an arm may have more of them
    than another, and no figure shows it.

    Args:
        runs: By the name under which an arm is shown.
        tests: Those that are compared.
    """
    found = []
    for test in tests:
        of = {arm: [run for run in its if run.test == test] for arm, its in runs.items()}
        counts = [(arm, sum(map(may_be_device_failure, its)), len(its)) for arm, its in of.items()]
        if any(wrong for _, wrong, _ in counts):
            found.append(went_wrong(test, counts))
    return found


def runs_with_failed_cycles(sets: Sequence[TestSet], arms: Iterable[str]) -> list[str]:
    """Sentences about runs that are compared in which a driver or a device did not come back, one for each test that
    has some. Runs with a figure that is not available do not count.

    Args:
        sets: The tests that are compared.
        arms: Names under which arms are shown.
    """
    found = []
    for tests in sets:
        counts = []
        for arm in arms:
            values = [figure_value(run, "cycles_failed") for run in tests.runs if run.arm == arm]
            known = [value for value in values if value is not None]
            counts.append((arm, sum(value > 0 for value in known), len(known)))
        if any(failed for _, failed, _ in counts):
            found.append(cycles_failed(tests.test.name, counts))
    return found


def arm_facts(arm: Arm, runs: Sequence[RunFile]) -> ArmFacts:
    """What the plan says of an arm, and how its runs fared."""
    mine = [run for run in runs if run.arm == arm.name]
    return ArmFacts(
        name=arm.name,
        title=arm.shown,
        description=arm.description,
        link=arm.link,
        patches=[
            PatchFacts(number=p.number, description=p.description, link=p.link, upstream=p.upstream)
            for p in arm.patches
        ],
        valid=sum(run.state == "valid" for run in mine),
        void=sum(run.state == "void" for run in mine),
        faults=sum(times(run.faults, SERIOUS) for run in mine),
        load_failures=sum(any(voiding.gate in LOAD_GATES for voiding in run.void) for run in mine),
        went_wrong=sum(may_be_device_failure(run) for run in mine),
    )


def test_facts(plan: Plan, tests: TestSet) -> TestFacts:
    """What the plan says of a test, and the blocks that count."""
    return TestFacts(
        name=tests.test.name,
        kind=tests.test.kind,
        duration_s=tests.test.duration_s,
        length=tests.test.length,
        warm_up_s=plan.warm_up_s(tests.test),
        blocks=sorted({run.block for run in tests.runs}),
    )


def damage_facts(archives: Sequence[Archive]) -> list[DamageFacts]:
    """What is wrong with the archives that are compared."""
    return [
        DamageFacts(
            source=source,
            code=finding.code,
            run=finding.run,
            spoils=finding.spoils is not None,
            facts=dict(finding.facts),
        )
        for source, archive in enumerate(archives)
        for finding in archive.findings
    ]


def voided_runs(runs: Sequence[RunFile]) -> list[VoidedRun]:
    """The void runs, with their causes."""
    repeated = {(run.replaces, run.arm, run.test): run.block for run in runs if run.replaces is not None}
    return [
        VoidedRun(
            run=run.run,
            block=run.block,
            arm=run.arm,
            test=run.test,
            gates=[voiding.gate for voiding in run.void],
            causes=[voiding.cause for voiding in run.void],
            repeated_in=repeated.get((run.block, run.arm, run.test)),
        )
        for run in runs
        if run.state == "void"
    ]


def _is_time(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def plain(value: object) -> str:
    """A note of the plan as text."""
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


def txop_version() -> str:
    """Version of this txop."""
    from txop.core.version import program_version

    return program_version()

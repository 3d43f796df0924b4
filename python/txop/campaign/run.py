"""One run: put the arm in place, idle, warm up, measure, collect, take the arm away; then make figures of it.

Whatever goes wrong voids this run, with the cause, and nothing else. Only what makes every further run impossible (a
full disk, Ctrl-C) leaves as an exception.
"""

from __future__ import annotations

import asyncio
import errno
import time
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from txop.archive.journal import now_utc
from txop.archive.run_file import RunFile, SeriesFile, Voiding
from txop.archive.text import storable
from txop.campaign.clocks import note_uptimes, note_wall_clocks
from txop.campaign.gates import CLOCK_JUMP_S, judge, settle
from txop.campaign.joined import join
from txop.campaign.laboratory import ArmError, Laboratory, Placed, RunsByItself
from txop.campaign.reporter import Reporter
from txop.core.whole_file import whole_file
from txop.measure.instrument import Early, GateFinding, Instrument, Lasting, Marks, Reading, RunContext, RunFacts
from txop.measure.traffic.module_cycle import longest_cycles_s
from txop.plan.guest_time import guest_s
from txop.plan.model import ModuleCycleTest, Plan, Test
from txop.targets.contract import TargetError, TargetLost

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS})

STOP_TIMEOUT_S = 60.0
"""For ending one instrument."""


@dataclass(frozen=True)
class RunLabel:
    """Which run it is."""

    run: str
    block: int
    position: int
    arm: str
    test: str
    replaces: int | None = None


@dataclass
class _Course:
    """What has happened so far in a run."""

    void: list[Voiding] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    placed: Placed | None = None
    lost: str | None = None
    """Target that was lost."""

    def spoil(self, gate: str, cause: str, target: str | None = None) -> None:
        self.void.append(Voiding(gate=gate, cause=cause, target=target))


@dataclass(frozen=True)
class RunOutcome:
    """A run that came to its end."""

    file: RunFile
    lost: str | None
    """Target that has to be found again before the next run."""
    arm_failed: bool
    """The arm could not be put in place."""


async def carry_out(
    laboratory: Laboratory,
    plan: Plan,
    label: RunLabel,
    folder: Path,
    reporter: Reporter,
    *,
    place: bool = True,
    remove: bool = True,
    placed: Placed | None = None,
) -> RunOutcome:
    """Carry out one run and write its folder.

    Args:
        laboratory: Where.
        plan: The campaign's plan.
        label: Which run.
        folder: Its folder; made here.
        reporter: Told of the phases.
        place: Put the arm in place first; else it is there (``placed``).
        remove: Take the arm away afterwards.
        placed: How the arm was put in place, when an earlier run did it.

    Raises:
        OSError: the archive cannot be written to.
    """
    arm, test = plan.find_arm(label.arm), plan.find_test(label.test)
    folder.mkdir(parents=True)
    begun, started_at = time.monotonic(), now_utc()
    course = _Course(placed=placed)
    marks = Marks()
    instruments: Sequence[Instrument] = []
    began: list[Instrument] = []
    context = RunContext(
        plan, arm, test, laboratory.targets, folder, marks, laboratory.peer_address, longest_s(plan, test)
    )
    try:
        instruments = laboratory.instruments(test)
        await _begin_early(instruments, began, context, course)
        if place:
            reporter.phase("load", None)
            course.placed = await laboratory.place(arm, folder)
            course.warnings += course.placed.warnings
        if isinstance(laboratory, RunsByItself) and course.placed is not None:
            reporter.phase("measure", guest_s(plan, test))
            await laboratory.run_through(context, course.placed, label.block)
            began += [each for each in instruments if each not in began]
        else:
            await _measure(instruments, began, context, course, reporter)
    except ArmError as error:
        course.spoil(error.gate, error.cause, error.target)
    except TargetLost as error:
        course.lost = error.target
        course.spoil("target-lost", error.what, error.target)
    except TargetError as error:
        course.spoil("instrument-failed", error.what, error.target)
    except BaseException:
        remove = True  # whoever comes next finds nothing in place
        raise
    finally:
        reporter.phase("collect", None)
        try:
            for instrument in reversed(began):
                await _guarded(instrument.stop(context), instrument, course)
        finally:
            if remove or course.placed is None:
                course.warnings += await laboratory.remove(folder)
    marks.save(folder)
    facts = RunFacts(plan, arm, test, folder, marks)
    readings = [_read(instrument, facts, course) for instrument in began]
    file = _conclude(facts, label, started_at, time.monotonic() - begun, course, readings)
    return RunOutcome(file, course.lost, arm_failed=place and course.placed is None)


async def _begin_early(
    instruments: Sequence[Instrument], began: list[Instrument], context: RunContext, course: _Course
) -> None:
    """Begin what has to see the arm come up."""
    for instrument in instruments:
        if isinstance(instrument, Early):
            began.append(instrument)
            await _guarded(instrument.before_arm(context), instrument, course)


def longest_s(plan: Plan, test: Test) -> float:
    """What a run may take at most, its arm in place: what is started on targets ends by itself after this."""
    window_s = test.duration_s * 1.5 + (longest_cycles_s(test) if isinstance(test, ModuleCycleTest) else 0.0)
    return plan.design.idle_s + plan.warm_up_s(test) + window_s + 120.0


async def _measure(
    instruments: Sequence[Instrument],
    began: list[Instrument],
    context: RunContext,
    course: _Course,
    reporter: Reporter,
) -> None:
    plan, test, marks = context.plan, context.test, context.marks
    for instrument in instruments:
        if instrument not in began:
            began.append(instrument)
        await _guarded(instrument.prepare(context), instrument, course)
    await note_uptimes(context)
    await note_wall_clocks(context)
    marks.idle = time.monotonic()
    if plan.design.idle_s > 0:
        reporter.phase("idle", plan.design.idle_s)
        await asyncio.sleep(plan.design.idle_s)
    marks.load = time.monotonic()
    marks.wall_minus_monotonic_s = time.time() - time.monotonic()
    for instrument in instruments:
        await _guarded(instrument.start(context), instrument, course)
    if course.void:
        return
    warm_up_s = plan.warm_up_s(test)
    reporter.phase("warm up", warm_up_s)
    await asyncio.sleep(max(0.0, marks.load + warm_up_s - time.monotonic()))
    marks.window = time.monotonic()
    reporter.phase("measure", test.duration_s)
    await asyncio.sleep(test.duration_s)
    for instrument in instruments:
        if isinstance(instrument, Lasting):
            await instrument.finished(context)
    marks.end = time.monotonic()
    jump_s = time.time() - time.monotonic() - marks.wall_minus_monotonic_s
    if abs(jump_s) > CLOCK_JUMP_S:
        course.spoil("clock-jumped", f"the clock of this machine was set by {jump_s:+.1f} s during the run")
    before = dict(marks.uptime_minus_monotonic_s)
    await note_uptimes(context)
    await note_wall_clocks(context)
    for name, offset_s in marks.uptime_minus_monotonic_s.items():
        if before.get(name, offset_s) - offset_s > CLOCK_JUMP_S:
            course.spoil("target-rebooted", "it started again during the run", name)


async def _guarded(step: Awaitable[None], instrument: Instrument, course: _Course) -> None:
    """Do a step of an instrument. Failures void the run when the instrument is essential, else they are warnings."""
    try:
        async with asyncio.timeout(STOP_TIMEOUT_S):
            await step
    except TargetLost as error:
        course.lost = error.target
        if instrument.essential or not course.void:
            course.spoil("target-lost", error.what, error.target)
    except (TargetError, TimeoutError, ValueError) as error:
        what = error.what if isinstance(error, TargetError) else f"{type(error).__name__} {error}".strip()
        if instrument.essential:
            course.spoil("traffic-failed", f"{instrument.name}: {what}", getattr(error, "target", None))
        else:
            course.warnings.append(f"{instrument.name}: {what}")
    except OSError as error:
        if error.errno in _FULL:
            raise
        course.warnings.append(f"{instrument.name}: {error.strerror or error}")


def _read(instrument: Instrument, facts: RunFacts, course: _Course) -> Reading:
    """What an instrument's files say. One that fails on them (they hold whatever a tool printed) costs this run at
    most, never the campaign."""
    try:
        return instrument.read(facts)
    except OSError as error:
        if error.errno in _FULL:
            raise
        what = error.strerror or str(error)
    except Exception as error:
        what = f"its files cannot be read, by a defect of txop: {type(error).__name__}: {str(error)[:500]}"
    if instrument.essential:
        course.spoil("instrument-failed", f"{instrument.name}: {what}")
    else:
        course.warnings.append(f"{instrument.name}: {what}")
    return Reading()


def _conclude(
    facts: RunFacts, label: RunLabel, started_at: str, seconds: float, course: _Course, readings: Sequence[Reading]
) -> RunFile:
    """Make ``run.json`` and ``series.json`` of what the instruments read."""
    reading = Reading().merge(readings)
    if course.placed is not None:
        placed = course.placed
        reading.put("load_time_s", placed.seconds, placed.clock, placed.no_seconds if placed.seconds is None else None)
    join(facts, reading)
    reading.gates = settle([*reading.gates, *judge(facts, reading)])
    gates = _gate_table(reading.gates)
    seen = {(v.gate, v.target) for v in course.void}
    # What ended a run early is its cause; gates that then could not be met are only its consequences.
    if not course.void:
        for finding in reading.gates:
            if finding.state == "void" and (finding.gate, finding.target) not in seen:
                course.spoil(finding.gate, finding.words, finding.target)
    file = RunFile(
        run=label.run,
        block=label.block,
        replaces=label.replaces,
        position=label.position,
        arm=label.arm,
        test=label.test,
        origin=facts.plan.origin,
        state="void" if course.void else "valid",
        void=course.void,
        started_at=started_at,
        seconds=round(seconds, 3),
        window_s=facts.marks.window_s,
        metrics=reading.metrics,
        warnings=course.warnings + reading.warnings,
        gates=gates,
        faults=reading.faults,
        verified=course.placed.verified if course.placed else {},
        provenance=reading.provenance,
        air=reading.air,
        bus=reading.bus,
        files=reading.files,
    )
    series = SeriesFile(series={storable(name): points for name, points in reading.series.items()})
    with whole_file(facts.folder / "series.json") as out:
        out.write(series.model_dump_json() + "\n")
    with whole_file(facts.folder / "run.json") as out:
        out.write(file.model_dump_json(indent=1) + "\n")
    return file


def _gate_table(findings: Sequence[GateFinding]) -> dict[str, str]:
    table: dict[str, str] = {}
    for finding in findings:
        name = finding.gate if finding.target is None else f"{finding.gate} ({finding.target})"
        table[name] = finding.state if finding.state == "ok" else f"{finding.state}: {finding.words}"
    return table

"""One run: a testbed carries it out, then figures are made of what it left.

Whatever goes wrong voids this run, with the cause, and nothing else. Only what makes every further run impossible (a
full disk, Ctrl-C) leaves as an exception.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from txop.archive.journal import now_utc
from txop.archive.run_file import RunFile, RunTiming, SeriesFile
from txop.archive.text import storable
from txop.campaign.active_run import FULL, ActiveRun, RunLabel
from txop.campaign.gates import judge, settle
from txop.campaign.joined import join
from txop.campaign.reporter import Reporter
from txop.campaign.run_limits import longest_s
from txop.campaign.testbed import CarryOut, Testbed
from txop.core.whole_file import whole_file
from txop.measure.instrument import GateFinding, Instrument, Marks, Reading, RunContext, RunFacts
from txop.plan.model import Plan


@dataclass(frozen=True)
class RunOutcome:
    """A completed run."""

    file: RunFile
    lost: str | None
    """Target that has to be found again before the next run."""
    arm_failed: bool
    """The arm could not be put in place."""


async def carry_out(
    testbed: Testbed, in_group: CarryOut, plan: Plan, label: RunLabel, folder: Path, reporter: Reporter
) -> RunOutcome:
    """Carry out one run and write its folder.

    Args:
        testbed: Where.
        in_group: What carries out the runs of its group there.
        plan: The campaign's plan.
        label: Which run.
        folder: Its folder; made here.
        reporter: Told of the phases.

    Raises:
        OSError: the archive cannot be written to.
    """
    arm, test = plan.find_arm(label.arm), plan.find_test(label.test)
    folder.mkdir(parents=True)
    begun, started_at = time.monotonic(), now_utc()
    marks = Marks()
    context = RunContext(plan, arm, test, testbed.targets, folder, marks, testbed.peer_address, longest_s(plan, test))
    active = ActiveRun(label, context, testbed.instruments(test), reporter)
    await in_group(active)
    marks.save(folder)
    reading_begun = time.monotonic()
    facts = RunFacts(plan, arm, test, folder, marks)
    readings = [_read(instrument, facts, active) for instrument in active.began]
    if active.start is not None:
        active.spent["reading_s"] = time.monotonic() - reading_begun
    file = _conclude(facts, started_at, time.monotonic() - begun, active, readings)
    return RunOutcome(file, active.lost, arm_failed=active.placed is None)


def _read(instrument: Instrument, facts: RunFacts, active: ActiveRun) -> Reading:
    """What an instrument's files say. One that fails on them (they hold whatever a tool printed) costs this run at
    most, never the campaign."""
    try:
        return instrument.read(facts)
    except OSError as error:
        if error.errno in FULL:
            raise
        what = error.strerror or str(error)
    except Exception as error:
        what = f"its files cannot be read, by a defect of txop: {type(error).__name__}: {str(error)[:500]}"
    if instrument.essential:
        active.void_for("instrument-failed", f"{instrument.name}: {what}")
    else:
        active.warnings.append(f"{instrument.name}: {what}")
    return Reading()


def _conclude(
    facts: RunFacts, started_at: str, seconds: float, active: ActiveRun, readings: Sequence[Reading]
) -> RunFile:
    """Make ``run.json`` and ``series.json`` of what the instruments read."""
    reading = Reading().merge(readings)
    if active.placed is not None:
        placed = active.placed
        reading.put("load_time_s", placed.seconds, placed.clock, placed.no_seconds if placed.seconds is None else None)
    join(facts, reading)
    reading.gates = settle([*reading.gates, *judge(facts, reading)])
    gates = _gate_table(reading.gates)
    seen = {(v.gate, v.target) for v in active.void}
    # What ended a run early is its cause; gates that then could not be met are only its consequences.
    if not active.void:
        for finding in reading.gates:
            if finding.state == "void" and (finding.gate, finding.target) not in seen:
                active.void_for(finding.gate, finding.words, finding.target)
    label = active.label
    file = RunFile.of_words(
        run=label.run,
        block=label.block,
        replaces=label.replaces,
        position=label.position,
        arm=label.arm,
        test=label.test,
        origin=facts.plan.origin,
        state="void" if active.void else "valid",
        void=active.void,
        started_at=started_at,
        seconds=round(seconds, 3),
        window_s=facts.marks.window_s,
        metrics=reading.metrics,
        warnings=active.warnings + reading.warnings,
        gates=gates,
        faults=reading.faults,
        verified=active.placed.verified if active.placed else {},
        provenance=reading.provenance,
        air=reading.air,
        bus=reading.bus,
        files=reading.files,
        start=active.start,
        timing=RunTiming(**{name: round(s, 3) for name, s in active.spent.items()}) if active.spent else None,
        reused=active.reused,
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

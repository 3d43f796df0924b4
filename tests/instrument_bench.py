"""A run without a campaign: for tests of single instruments, on played or on real targets."""

from __future__ import annotations

import asyncio
import time
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from txop.campaign.run_limits import longest_s
from txop.measure.instrument import (
    EarlyInstrument,
    Instrument,
    Marks,
    Reading,
    RunContext,
    RunFacts,
    SelfEndingInstrument,
)
from txop.plan.model import Plan
from txop.targets.contract import Target, Targets

PLAN = """
title = "one arm"
[target.dut]
kind = "local"
interface = "wlan0"
[target.peer]
kind = "local"
address = "192.0.2.2"
[target.sniffer]
kind = "local"
interface = "mon0"
[[arm]]
name = "old"
[design]
warm_up_s = 5
idle_s = 0
"""

TCP = '[[test]]\nname = "tx"\nkind = "tcp-tx"\nduration_s = 30\n'

UPTIME_S = 1000.0
"""Uptime of every played target when this machine's monotonic clock is 0."""

CAPTURED = Path(__file__).parent / "formats" / "captured"
"""Output of real tools; see tests/formats."""


def make_plan(test: str = TCP, more: str = "") -> Plan:
    """A plan with one arm and one test."""
    return Plan.model_validate(tomllib.loads(f"{PLAN}\n{more}\n{test}"))


def played_marks(plan: Plan) -> Marks:
    """Idle from 0 s, load from 5 s, window from 10 s: times in the window are uptimes minus 1010 s."""
    test = plan.test[0]
    uptimes = dict.fromkeys(("dut", "peer", "sniffer"), UPTIME_S)
    return Marks(
        idle=0, load=10 - plan.warm_up_s(test), window=10, end=10 + test.duration_s, uptime_minus_monotonic_s=uptimes
    )


def facts_of(plan: Plan, folder: Path, marks: Marks | None = None) -> RunFacts:
    """For :meth:`Instrument.read`."""
    return RunFacts(plan, plan.arm[0], plan.test[0], folder, marks or played_marks(plan))


def context_of(plan: Plan, folder: Path, targets: Mapping[str, Target], peer_address: str = "192.0.2.2") -> RunContext:
    """For the phases of an instrument."""
    test = plan.test[0]
    return RunContext(
        plan, plan.arm[0], test, Targets(dict(targets)), folder, Marks(), peer_address, longest_s(plan, test)
    )


async def carry_out(instruments: Sequence[Instrument], run: RunContext, *, window_s: float | None = None) -> Reading:
    """All phases of a run, without gates over several instruments: what the instruments read together.

    ``window_s``: instead of the test's window, and without its warm-up.
    """
    marks = run.marks
    try:
        for instrument in instruments:
            if isinstance(instrument, EarlyInstrument):
                await instrument.before_arm(run)
        for instrument in instruments:
            await instrument.prepare(run)
        for name, target in run.targets.by_name.items():
            text = await target.read("/proc/uptime")
            if text:
                marks.uptime_minus_monotonic_s[name] = float(text.split()[0]) - time.monotonic()
        marks.idle = marks.load = time.monotonic()
        for instrument in instruments:
            await instrument.start(run)
        if window_s is None:
            await asyncio.sleep(max(0.0, marks.load + run.plan.warm_up_s(run.test) - time.monotonic()))
        marks.window = time.monotonic()
        await asyncio.sleep(run.test.duration_s if window_s is None else window_s)
        for instrument in instruments:
            if isinstance(instrument, SelfEndingInstrument):
                await instrument.finished(run)
        marks.end = time.monotonic()
    finally:
        for instrument in reversed(instruments):
            await instrument.stop(run)
    facts = RunFacts(run.plan, run.arm, run.test, run.folder, marks)
    return Reading().merge(instrument.read(facts) for instrument in instruments)


def gate_states(reading: Reading) -> dict[str, str]:
    """State of each gate."""
    return {finding.gate: finding.state for finding in reading.gates}


def values(reading: Reading) -> dict[str, Any]:
    """Figures: numbers, ``"infinite"``, or ``None``."""
    return {key: "infinite" if v.infinite else v.value for key, v in reading.metrics.items()}

"""Where an archive contradicts itself: its journal, its plan and its runs beside each other.

Each file may be read without a fault and yet not be what a campaign left: edited, copied from another run, or of
another campaign. Pure: what was read in, findings out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from txop.archive import journal_check
from txop.archive.arm_check import other_arms
from txop.archive.damage import Code, Finding
from txop.archive.journal import Event
from txop.archive.plan_record import DECIDES_PRIMARY
from txop.archive.run_file import RunFile, Value
from txop.core.metrics import METRICS, describe, is_known, may_be_infinite
from txop.core.origin import Origin
from txop.plan.model import Plan

_SLACK_S = 1.0
_LONGEST_S = 1e9
_TELLING = 5
_DECIMALS = 2
"""So many figures with more decimals than that are never the same in two runs, except of guests that repeat exactly."""
_QUANTILES = ("rtt_p50_ms", "rtt_p95_ms", "rtt_p99_ms")
_LEAST_SECONDS = 1.0
"""Runs that are shorter can begin in the same millisecond and last as long."""
_MOST_COUNT = 10**15
_MOST_DRAWN = 1e15
_MOST_IN_DIGEST = 1e24
_MOST_SHARE = 1.01
"""No axis and no table needs larger numbers, and twice as much can be added, squared and drawn."""


@dataclass(frozen=True)
class Checked:
    """What the checks found."""

    runs: list[RunFile]
    """Runs that nothing contradicts."""
    findings: list[Finding]


def check(plan: Plan, record: Mapping[str, str], events: Sequence[Event], runs: Sequence[RunFile]) -> Checked:
    """Look for contradictions.

    Args:
        plan: The archive's, with what the command line changed.
        record: Fingerprints of its tables as they are now (:func:`txop.archive.plan_record.plan_record`).
        events: The journal's.
        runs: Those with complete files.
    """
    findings = [*_edited_plan(plan, record, events), *journal_check.findings(plan, events, runs)]
    for run in runs:
        findings += _of_run(plan, run)
    findings += _ends(events, runs)
    findings += _places(plan, events, runs)
    findings += _copies(runs)
    spoilt = {finding.spoils for finding in findings}
    findings += other_arms(plan, [run for run in runs if run.run not in spoilt])
    spoilt |= {finding.spoils for finding in findings}
    return Checked([run for run in runs if run.run not in spoilt], findings)


def _edited_plan(plan: Plan, record: Mapping[str, str], events: Sequence[Event]) -> Iterator[Finding]:
    """A plan that is not the one that was recorded. Journals of an older txop recorded the seed and nothing else.

    txop resume --plan may write the same plan otherwise; what it found the same it recorded again."""
    differ: dict[str, None] = {}
    as_recorded: Mapping[str, object] = record
    for event in reversed(events):
        if event.event not in ("campaign-started", "resumed", "plan-changed"):
            continue
        known, seed = event.get("plan"), event.get("seed")
        if isinstance(known, dict) and known and record:
            as_recorded = as_recorded or known
            names = [*known, *(key for key in as_recorded if key not in known)]
            differ |= dict.fromkeys(str(key) for key in names if known.get(key) != as_recorded.get(key))
        if event.event == "plan-changed":
            before = event.get("plan_before")
            as_recorded = before if isinstance(before, dict) else {}
        if isinstance(seed, int) and seed != plan.design.seed:
            differ["design"] = None
    if differ:
        unknown = not DECIDES_PRIMARY.isdisjoint(differ)
        yield Finding(Code.PLAN_EDITED, facts={"tables": list(differ), "primary_unknown": unknown})


def _of_run(plan: Plan, run: RunFile) -> Iterator[Finding]:
    """What a run contradicts by itself."""
    if run.arm not in {arm.name for arm in plan.arm} or run.test not in {test.name for test in plan.test}:
        yield Finding(Code.RUN_UNKNOWN, run.run, {"arm": run.arm, "test": run.test})
        return
    yield from _state(run)
    yield from _lengths(run)
    for key, value in run.metrics.items():
        yield from _figure(run, key, value)
    for fault in run.faults:
        if not 0 <= fault.count <= _MOST_COUNT:
            yield Finding(Code.RUN_VALUE, run.run, {"metric": "the count of a fault", "value": fault.count})
    for name, digest in (("air", run.air), ("bus", run.bus)):
        yield from _digest(run, name, digest)
    if run.origin is not Origin.IMPORTED:
        yield from _quantiles(run)


def _state(run: RunFile) -> Iterator[Finding]:
    if run.state == "void" and not run.void:
        yield Finding(Code.RUN_STATE, run.run, {"what": "no cause"})
    if run.state == "valid" and run.void:
        yield Finding(Code.RUN_STATE, run.run, {"what": "causes", "gate": run.void[0].gate})
    elif run.state == "valid":
        voiding = next((gate for gate, found in run.gates.items() if found.partition(":")[0].strip() == "void"), None)
        if voiding is not None:
            yield Finding(Code.RUN_STATE, run.run, {"what": "gate", "gate": voiding})


def _lengths(run: RunFile) -> Iterator[Finding]:
    wrong = False
    for name, value in (("seconds", run.seconds), ("window_s", run.window_s)):
        if value is not None and not 0 <= value <= _LONGEST_S:
            wrong = True
            yield Finding(Code.RUN_VALUE, run.run, {"metric": name, "value": value})
    # A guest's window is in its own time, and in imported files the window is all that is known.
    real_time = run.origin in (Origin.HARDWARE, Origin.EMULATED)
    if not wrong and real_time and run.window_s is not None and run.window_s > 1.01 * run.seconds + _SLACK_S:
        yield Finding(Code.RUN_WINDOW, run.run, {"window_s": run.window_s, "seconds": run.seconds})


def _figure(run: RunFile, key: str, value: Value) -> Iterator[Finding]:
    metric = describe(key)
    if is_known(key) and value.unit != metric.unit:
        yield Finding(Code.RUN_UNIT, run.run, {"metric": key, "unit": value.unit, "own": metric.unit})
    if value.infinite and is_known(key) and not may_be_infinite(key):
        yield Finding(Code.RUN_VALUE, run.run, {"metric": key, "value": "infinite"})
    if value.value is None:
        return
    if value.infinite or not metric.is_plausible(value.value):
        shown = "both a number and infinite" if value.infinite else value.value
        yield Finding(Code.RUN_VALUE, run.run, {"metric": key, "value": shown})


def is_drawable(points: Sequence[tuple[float, float | None]]) -> bool:
    """Whether a series has no time and no value beyond all that a run can have."""
    return all(abs(t) <= _MOST_DRAWN and (value is None or abs(value) <= _MOST_DRAWN) for t, value in points)


def _digest(run: RunFile, name: str, digest: Mapping[str, object] | None) -> Iterator[Finding]:
    """The digest of a capture: no number in it is out of all bounds, and no share is of more than the whole."""
    waiting: list[tuple[str, object]] = [(name, digest)]
    while waiting:
        where, value = waiting.pop()
        if isinstance(value, Mapping):
            waiting += [(f"{where}.{key}", each) for key, each in value.items()]
        elif isinstance(value, list):
            waiting += [(where, each) for each in value]
        elif isinstance(value, int | float) and not isinstance(value, bool):
            share = where.rpartition(".")[2] == "share"
            low, high = (-_MOST_SHARE, _MOST_SHARE) if share else (-_MOST_IN_DIGEST, _MOST_IN_DIGEST)
            if not low <= value <= high:
                yield Finding(Code.RUN_VALUE, run.run, {"metric": where, "value": value})
                return


def _quantiles(run: RunFile) -> Iterator[Finding]:
    """Quantiles of one distribution in their order."""
    there = [(key, run.metrics[key]) for key in _QUANTILES if key in run.metrics]
    numbers = [(key, math.inf if v.infinite else v.value) for key, v in there if v.infinite or v.value is not None]
    for (lower, low), (upper, high) in pairwise(numbers):
        if low is not None and high is not None and low > high * (1 + 1e-6):
            yield Finding(Code.RUN_VALUE, run.run, {"metric": lower, "value": low, "beside": upper})


def _ends(events: Sequence[Event], runs: Sequence[RunFile]) -> Iterator[Finding]:
    """Runs of which the journal has another end."""
    ends = journal_check.ends(events)
    for run in runs:
        end = ends.get(run.run)
        if end is not None and end != run.state:
            yield Finding(Code.RUN_END, run.run, {"state": run.state, "journal": end})


def _places(plan: Plan, events: Sequence[Event], runs: Sequence[RunFile]) -> Iterator[Finding]:
    """Runs with a block, or a place in it, that contradicts the plan or the journal."""
    begun = journal_check.blocks(plan, events)
    by_block: dict[int, list[RunFile]] = {}
    for run in runs:
        if run.origin is not Origin.IMPORTED:
            by_block.setdefault(run.block, []).append(run)
    for number, mine in by_block.items():
        known = begun.get(number)
        found = [finding for run in mine if (finding := _place(plan, known, run)) is not None]
        by_journal = [finding for finding in found if finding.facts["what"] in ("position", "replaces")]
        # Where most of a block contradicts its beginning in the journal, that is what is wrong.
        if len(mine) > 1 and 2 * len(by_journal) > len(mine):
            yield Finding(Code.JOURNAL_ORDER, facts={"number": 0, "event": "block-started", "of": f"block {number}"})
            found = [finding for finding in found if finding not in by_journal]
        yield from found


def _place(plan: Plan, known: journal_check.Begun | None, run: RunFile) -> Finding | None:
    blocks, arms = plan.design.blocks, len(plan.arm)
    outside = run.block < 1 or (run.block > blocks) != (run.replaces is not None)
    if outside or (run.replaces is not None and not 1 <= run.replaces < run.block):
        return Finding(Code.RUN_BLOCK, run.run, {"what": "beyond", "value": run.block, "other": blocks})
    if known is not None and run.arm in known.arms:
        position = known.arms.index(run.arm) + 1
        if run.position != position:
            return Finding(Code.RUN_BLOCK, run.run, {"what": "position", "value": run.position, "other": position})
        if run.replaces != known.replaces:
            facts = {"what": "replaces", "value": run.replaces, "other": known.replaces}
            return Finding(Code.RUN_BLOCK, run.run, facts)
    elif not 1 <= run.position <= arms:
        return Finding(Code.RUN_BLOCK, run.run, {"what": "range", "value": run.position, "other": f"of {arms} arms"})
    return None


def _copies(runs: Sequence[RunFile]) -> Iterator[Finding]:
    """Runs with the same figures as another one: which of them was measured is not known."""
    first: dict[tuple[object, ...], RunFile] = {}
    named: set[str] = set()
    for run in runs:
        for key in _marks(run):
            other = first.setdefault(key, run)
            if other is run:
                continue
            for one, beside in ((run, other), (other, run)):
                if one.run not in named:
                    named.add(one.run)
                    yield Finding(Code.RUN_COPY, one.run, {"of": beside.run})


def _marks(run: RunFile) -> list[tuple[object, ...]]:
    """What no two runs have in common."""
    if run.origin is Origin.IMPORTED:
        return []
    figures = tuple((key, run.metrics[key].value) for key in sorted(run.metrics))
    marks: list[tuple[object, ...]] = []
    if run.seconds > _LEAST_SECONDS and any(value is not None for _, value in figures):
        marks.append((run.started_at, run.seconds, figures))
    telling = sum(value is not None and value != round(value, _DECIMALS) for key, value in figures if key in METRICS)
    if telling >= _TELLING and run.origin is not Origin.GUEST_EXACT:
        marks.append((figures,))
    return marks

"""What a journal says of runs and blocks, and events of it that no campaign can have written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from txop.archive.damage import Code, Finding
from txop.archive.journal import Event
from txop.archive.layout import Layout
from txop.archive.run_file import RunFile
from txop.core.origin import Origin
from txop.plan.model import Plan

_BACK_S = 5.0
"""Between the time of an event and its line, a process that adds a note may write its own."""
_ENDS = {"run-finished": "valid", "run-voided": "void", "run-lost": "lost"}
_OF_RUNS = frozenset({"run-started", *_ENDS})
_PROCESS = frozenset({"campaign-started", "resumed"})
_MOST = 100
"""Findings of one kind that are kept."""


@dataclass(frozen=True)
class Begun:
    """A block as its beginning in the journal has it."""

    arms: list[str]
    """In the order of the block."""
    replaces: int | None


def ends(events: Sequence[Event]) -> dict[str, str]:
    """The end of each run: ``valid``, ``void`` or ``lost``, what was written last."""
    return {str(event.get("run")): _ENDS[event.event] for event in events if event.event in _ENDS}


def blocks(plan: Plan, events: Sequence[Event]) -> dict[int, Begun]:
    """The blocks with beginnings that the journal has once, as the plan can have them."""
    found: dict[int, Begun] = {}
    several: set[int] = set()
    for event in events:
        if event.event != "block-started" or _is_strange(plan, event):
            continue
        number, begun = event.get("block"), Begun(list(event.get("arms")), event.get("replaces"))
        if found.setdefault(number, begun) != begun:
            several.add(number)
    return {number: begun for number, begun in found.items() if number not in several}


def findings(plan: Plan, events: Sequence[Event], runs: Sequence[RunFile]) -> list[Finding]:
    """What is wrong with the journal itself; it costs no run."""
    measured = [run for run in runs if run.origin is not Origin.IMPORTED]
    if not events and measured:
        return [Finding(Code.JOURNAL_EMPTY, facts={"runs": len(measured)})]
    found: list[Finding] = []
    for each in (_repeated(events), _out_of_order(events), _strange(plan, events)):
        found += [finding for finding, _ in zip(each, range(_MOST), strict=False)]
    return found


def lacking_ends(events: Sequence[Event], runs: Sequence[RunFile]) -> list[str]:
    """Runs with complete files, and without an end in the journal although it cannot be about to have it.

    The end of a run is written right after its file: a process that is killed in between leaves none. It would have
    been written before its block ended, before another block began and when the campaign was taken up again."""
    if not any(event.event in _OF_RUNS for event in events):
        return []  # figures that were imported, or a journal without anything
    ended, begun = ends(events), {}
    for number, event in enumerate(events):
        if event.event == "run-started":
            begun[str(event.get("run"))] = number
    last: dict[int | None, int] = {}
    over = max((n for n, e in enumerate(events) if e.event in ("resumed", "campaign-finished")), default=-1)
    other = [(n, e.get("block")) for n, e in enumerate(events) if e.event == "block-started"]
    for number, event in enumerate(events):
        if event.event in ("block-finished", "block-abandoned"):
            last[_int(event.get("block"))] = number
    lacking = []
    for run in runs:
        if run.run in ended:
            continue
        start = begun.get(run.run)
        under_way = (
            start is not None
            and start > over
            and start > last.get(run.block, -1)
            and not any(n > start and block != run.block for n, block in other[-1:])
        )
        if not under_way:
            lacking.append(run.run)
    return lacking


def _repeated(events: Sequence[Event]) -> Iterator[Finding]:
    seen: dict[tuple[object, ...], int] = {}
    for number, event in enumerate(events, start=1):
        key = (event.event, event.at, event.monotonic_s, event.boot, repr(sorted((event.model_extra or {}).items())))
        first = seen.setdefault(key, number)
        if first != number:
            yield Finding(Code.JOURNAL_REPEATED, facts={"number": number, "event": event.event, "first": first})


def _out_of_order(events: Sequence[Event]) -> Iterator[Finding]:
    """Events with a clock behind that of an earlier one of the same process, and those of runs after the end."""
    latest: Event | None = None
    finished = False
    for number, event in enumerate(events, start=1):
        facts = {"number": number, "event": event.event, "of": event.get("run")}
        if event.event in _PROCESS:
            latest = None
        elif event.event == "campaign-finished":
            finished = True
        elif finished and (event.event in _OF_RUNS or event.event.startswith("block-")):
            yield Finding(Code.JOURNAL_ORDER, facts=facts)
            continue
        if event.event == "note" or not event.boot:
            continue
        same = latest is not None and latest.boot == event.boot
        if same and latest is not None and event.monotonic_s < latest.monotonic_s - _BACK_S:
            yield Finding(Code.JOURNAL_ORDER, facts=facts)
            continue
        latest = event


def _strange(plan: Plan, events: Sequence[Event]) -> Iterator[Finding]:
    for number, event in enumerate(events, start=1):
        if (event.event == "block-started" or event.event in _OF_RUNS) and _is_strange(plan, event):
            yield Finding(Code.JOURNAL_STRANGE, facts={"number": number, "event": event.event})


def _is_strange(plan: Plan, event: Event) -> bool:
    """Whether it is of a block, an arm or a test that the plan cannot have."""
    number = _int(event.get("block"))
    arms, tests = {arm.name for arm in plan.arm}, {test.name for test in plan.test}
    if number is None or number < 1:
        return True
    if event.event == "block-started":
        replaces = event.get("replaces")
        of_plan = (replaces is None) == (number <= plan.design.blocks)
        known = replaces is None or ((again := _int(replaces)) is not None and 1 <= again < number)
        return not (of_plan and known and _each_once(event.get("arms"), arms) and _each_once(event.get("tests"), tests))
    arm, test, run = event.get("arm"), event.get("test"), event.get("run")
    if not (isinstance(arm, str) and isinstance(test, str) and arm in arms and test in tests):
        return True
    return run is not None and run != Layout.run_name(number, arm, test)


def _each_once(value: object, known: set[str]) -> bool:
    return (
        isinstance(value, list)
        and all(isinstance(name, str) and name in known for name in value)
        and len(set(value)) == len(value)
    )


def _int(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None

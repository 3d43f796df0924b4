"""The state of a campaign, from its journal, and the next block. Pure: events in, a decision out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from txop.archive.journal import Event
from txop.archive.layout import Layout
from txop.campaign.ending import Cause
from txop.campaign.schedule import Block, arm_order, max_repeats, planned, repeat
from txop.plan.model import Plan


@dataclass
class BlockState:
    """A block that was begun."""

    block: Block
    ended: dict[tuple[str, str], bool] = field(default_factory=dict)
    """(arm, test) of the completed runs, and whether they count."""
    finished: bool = False
    abandoned: str | None = None
    """Why it was given up."""
    last: Event | None = None

    @property
    def open(self) -> bool:
        """Whether runs of it are still to come."""
        return not self.finished and self.abandoned is None

    @property
    def void_tests(self) -> tuple[str, ...]:
        """Tests of which a run is void, or missing in a block that was given up."""
        return tuple(
            test for test in self.block.tests if any(not self.ended.get((arm, test), False) for arm in self.block.arms)
        )


@dataclass(frozen=True)
class KeptRun:
    """A run with a complete ``run.json``."""

    block: int
    arm: str
    test: str
    valid: bool
    replaces: int | None = None


@dataclass(frozen=True)
class Repair:
    """An event that the journal lacks, as the runs' folders show: to be written down before the campaign goes on."""

    event: str
    """``block-started``, ``run-finished``, ``run-voided``, ``run-lost``, ``block-finished`` or ``block-abandoned``."""
    fields: dict[str, object]


@dataclass
class State:
    """Where a campaign stands."""

    plan: Plan
    blocks: dict[int, BlockState] = field(default_factory=dict)
    finished: bool = False

    @classmethod
    def of(cls, plan: Plan, events: Sequence[Event]) -> State:
        """The state after these events. Events that make no sense are passed over."""
        state = cls(plan)
        for event in events:
            state.apply(event)
        return state

    def apply(self, event: Event) -> None:
        """Take in one more event."""
        if event.event == "campaign-finished":
            self.finished = True
            return
        number = event.get("block")
        if not isinstance(number, int):
            return
        last = None if event.get("mended") else event  # when a repaired event really was is not known
        if event.event == "block-started":
            arms, tests, replaces = (event.get(key) for key in ("arms", "tests", "replaces"))
            known = (
                _names(arms, [arm.name for arm in self.plan.arm])
                and _names(tests, [test.name for test in self.plan.test])
                and (replaces is None or isinstance(replaces, int))
            )
            known = known and (replaces is None) == (number <= self.plan.design.blocks)
            before = self.blocks.get(number)
            if known and (before is None or not before.ended or event.get("mended")):
                self.blocks[number] = BlockState(Block(number, tuple(arms), tuple(tests), replaces), last=last)
            return
        state = self.blocks.get(number)
        if state is None:
            return
        state.last = last or state.last
        if event.event in ("run-finished", "run-voided"):
            arm, test = event.get("arm"), event.get("test")
            agrees = event.get("run") in (None, Layout.run_name(number, str(arm), str(test)))
            if agrees and arm in state.block.arms and test in state.block.tests:
                state.ended[arm, test] = event.event == "run-finished"
        elif event.event == "run-lost":
            arm, test = event.get("arm"), event.get("test")
            if arm in state.block.arms and test in state.block.tests:
                state.ended[arm, test] = False
        elif event.event == "block-finished":
            state.finished = True
        elif event.event == "block-abandoned":
            state.abandoned = str(event.get("cause", ""))

    def repairs(self, kept: Sequence[KeptRun]) -> list[Repair]:
        """What the journal lacks or has wrong beside the runs that are kept.

        Their files are the truth: a run of which the journal has no end counts when its file is whole, and one without
        its file or with a damaged one does not, whatever the journal says. A block before the last one that has runs
        missing is not continued: its time is over."""
        by_block: dict[int, dict[tuple[str, str], KeptRun]] = {}
        arms, tests = {arm.name for arm in self.plan.arm}, {test.name for test in self.plan.test}
        for run in kept:
            if run.arm in arms and run.test in tests:
                by_block.setdefault(run.block, {})[run.arm, run.test] = run
        found: list[Repair] = []
        for number in sorted({*by_block, *self.blocks}):
            mine, state = by_block.get(number, {}), self.blocks.get(number)
            if state is None or not all(arm in state.block.arms and test in state.block.tests for arm, test in mine):
                block = self._block_of(number, list(mine.values()))
                found.append(
                    Repair(
                        "block-started",
                        {
                            "block": number,
                            "arms": list(block.arms),
                            "tests": list(block.tests),
                            "replaces": block.replaces,
                        },
                    )
                )
                ended: dict[tuple[str, str], bool] = {}
            else:
                block, ended = state.block, state.ended
            for arm, test in block.runs():
                fields: dict[str, object] = {"block": number, "arm": arm, "test": test}
                run_kept = mine.get((arm, test))
                if run_kept is None and ended.get((arm, test)):
                    found.append(Repair("run-lost", fields))
                elif run_kept is not None and ended.get((arm, test)) is not run_kept.valid:
                    found.append(Repair("run-finished" if run_kept.valid else "run-voided", fields))
            over = number < max({*by_block, *self.blocks})
            if over and (state is None or state.open):
                whole = all(run in mine or run in ended for run in block.runs())
                cause = "the journal lacks its end, and later blocks were run"
                found.append(
                    Repair("block-finished", {"block": number})
                    if whole
                    else Repair("block-abandoned", {"block": number, "cause": cause})
                )
        return found

    def _block_of(self, number: int, runs: Sequence[KeptRun]) -> Block:
        """The block that these runs are of, where the journal does not have its beginning."""
        for block in planned(self.plan):
            if block.number == number:
                return block
        tests = tuple(test.name for test in self.plan.test if any(run.test == test.name for run in runs))
        return Block(number, arm_order(self.plan, number), tests, next((run.replaces for run in runs), None))

    @property
    def open_block(self) -> BlockState | None:
        """The block that was begun and neither finished nor given up."""
        return next((state for state in self.blocks.values() if state.open), None)

    @property
    def repeats_begun(self) -> int:
        """How many blocks were repeats so far."""
        return sum(state.block.replaces is not None for state in self.blocks.values())

    def next_block(self) -> Block | None:
        """The block to begin now; ``None`` when the design is complete, or as complete as its repeats allow."""
        for block in planned(self.plan):
            if block.number not in self.blocks:
                return block
        if self.repeats_begun >= max_repeats(self.plan):
            return None
        number = max(self.blocks, default=0) + 1
        for voided, tests in self.unreplaced():
            return repeat(self.plan, number, voided.block, tests)
        return None

    def unreplaced(self) -> list[tuple[BlockState, tuple[str, ...]]]:
        """Blocks with void or missing runs that no later block stands in for, and the tests concerned."""
        found = []
        for state in self.blocks.values():
            replaced = {
                test
                for other in self.blocks.values()
                if other.block.replaces == state.block.number
                for test in other.block.tests
            }
            tests = tuple(test for test in state.void_tests if test not in replaced)
            if tests and not state.open:
                found.append((state, tests))
        return found

    def runs_to_come(self) -> int:
        """Runs left, as far as is known: of the open block, the blocks not begun, and the repeats due, those for void
        runs of the open block included."""
        count, due = 0, []
        for state in self.blocks.values():
            if state.open:
                count += len(state.block.runs()) - len(state.ended)
                due.append(
                    len(state.block.arms) * len({test for (_, test), counts in state.ended.items() if not counts})
                )
        count += sum(len(block.runs()) for block in planned(self.plan) if block.number not in self.blocks)
        allowed = max_repeats(self.plan) - self.repeats_begun
        due = [len(state.block.arms) * len(tests) for state, tests in self.unreplaced()] + [
            runs for runs in due if runs
        ]
        return count + sum(due[: max(0, allowed)])


def left_in_place(events: Sequence[Event]) -> str | None:
    """The arm that an earlier process of the campaign may have left on its targets: it was killed, or a target was lost
    for good. A process that ends otherwise takes its arm away; ``None`` then."""
    arm: str | None = None
    for event in events:
        if event.event == "run-started":
            arm = str(event.get("arm"))
        elif event.event == "campaign-finished" or (
            event.event == "campaign-stopped" and event.get("code") != Cause.TARGET_LOST
        ):
            arm = None
    return arm


def gap_s(last: Event, now: Event) -> float | None:
    """Time between two events; ``None`` when the clocks do not show it (another boot, a wall clock that went back)."""
    if last.boot and last.boot == now.boot:
        return max(0.0, now.monotonic_s - last.monotonic_s)
    try:
        gap = (datetime.fromisoformat(now.at) - datetime.fromisoformat(last.at)).total_seconds()
    except ValueError:
        return None
    return gap if gap >= 0 else None


def _names(value: object, known: Sequence[str]) -> bool:
    """Whether these are names that the plan has, each once."""
    return isinstance(value, list) and all(name in known and value.count(name) == 1 for name in value)

"""What a journal says about the progress of a campaign, and so what comes next. Pure: events in, a decision out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from txop.archive.journal import Event
from txop.campaign.schedule import Block, max_repeats, planned, repeat
from txop.plan.model import Plan


@dataclass
class BlockState:
    """A block that was begun."""

    block: Block
    ended: dict[tuple[str, str], bool] = field(default_factory=dict)
    """(arm, test) of the runs that came to an end, and whether they count."""
    finished: bool = False
    abandoned: str | None = None
    """Why it was given up."""
    last: Event | None = None

    @property
    def open(self) -> bool:
        """Whether runs of it are still to come."""
        return not self.finished and self.abandoned is None

    @property
    def spoiled_tests(self) -> tuple[str, ...]:
        """Tests of which a run is void, or missing in a block that was given up."""
        return tuple(
            test for test in self.block.tests if any(not self.ended.get((arm, test), False) for arm in self.block.arms)
        )


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
        if event.event == "block-started":
            arms, tests, replaces = (event.get(key) for key in ("arms", "tests", "replaces"))
            known = (
                _names(arms, [arm.name for arm in self.plan.arm])
                and _names(tests, [test.name for test in self.plan.test])
                and (replaces is None or isinstance(replaces, int))
            )
            if known:
                self.blocks[number] = BlockState(Block(number, tuple(arms), tuple(tests), replaces), last=event)
            return
        state = self.blocks.get(number)
        if state is None:
            return
        state.last = event
        if event.event in ("run-finished", "run-voided"):
            arm, test = event.get("arm"), event.get("test")
            if arm in state.block.arms and test in state.block.tests:
                state.ended[arm, test] = event.event == "run-finished"
        elif event.event == "block-finished":
            state.finished = True
        elif event.event == "block-abandoned":
            state.abandoned = str(event.get("cause", ""))

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
        for spoiled, tests in self.unreplaced():
            return repeat(self.plan, number, spoiled.block, tests)
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
            tests = tuple(test for test in state.spoiled_tests if test not in replaced)
            if tests and not state.open:
                found.append((state, tests))
        return found

    def runs_to_come(self) -> int:
        """Runs left, as far as is known: of the open block, the blocks not begun, and the repeats due."""
        count = 0
        for state in self.blocks.values():
            if state.open:
                count += len(state.block.runs()) - len(state.ended)
        count += sum(len(block.runs()) for block in planned(self.plan) if block.number not in self.blocks)
        allowed = max_repeats(self.plan) - self.repeats_begun
        for state, tests in self.unreplaced()[: max(0, allowed)]:
            count += len(state.block.arms) * len(tests)
        return count


def gap_s(last: Event, now: Event) -> float | None:
    """Time between two events; ``None`` when the clocks do not tell (another boot, and a wall clock that went back)."""
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

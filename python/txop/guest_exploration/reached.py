"""Which blocks of a driver an exploration has reached, by function: what no fault has reached yet, above all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from txop.guest.coverage.blocks import Block, ModuleBlocks
from txop.guest_exploration.corpus import BLOCK
from txop.guest_exploration.outcome import Outcome

FILE = "coverage.txt"
"""What the list is called in the folder of a driver."""


@dataclass(frozen=True)
class Reach:
    """The blocks of a driver, and what reached them."""

    blocks: frozenset[Block]
    """All."""
    modules: tuple[str, ...]
    control: frozenset[Block]
    """What a trial without faults reaches."""
    given: frozenset[Block]
    """What that and the scripts at the beginning reach."""
    reached: frozenset[Block]
    """What all trials reach."""
    uncounted: int
    """Trials with a guest handed that nothing out: mostly, as it crashed."""

    @classmethod
    def of(
        cls,
        modules: Mapping[str, ModuleBlocks],
        control: frozenset[Block],
        begin: Iterable[Outcome],
        outcomes: Iterable[Outcome],
    ) -> Reach:
        """From the outcomes of all trials, of those of the scripts at the beginning, and the trial without faults."""
        blocks = {block.name: block for module in modules.values() for block in module.blocks.values()}
        begin, outcomes = list(begin), list(outcomes)
        given = control | _beyond(begin, blocks)
        return cls(
            frozenset(blocks.values()),
            tuple(sorted(modules)),
            control,
            given,
            given | _beyond(outcomes, blocks),
            sum(outcome.blocks is None for outcome in outcomes),
        )

    @property
    def entered(self) -> int:
        """Blocks of functions of which something was reached: much of a driver of many chips is for other ones."""
        homes = {(block.module, block.home) for block in self.reached}
        return sum((block.module, block.home) in homes for block in self.blocks)

    def sentence(self) -> str:
        """How many, in words."""
        return (
            f"{len(self.blocks)} blocks, {self.entered} of them in functions that were entered; "
            f"reached without faults: {len(self.control)}, with the scripts to begin with: {len(self.given)}, "
            f"in all: {len(self.reached)} ({FILE})."
        )

    def document(self) -> dict[str, Any]:
        """The numbers (docs/guest-faults.md)."""
        return {
            "modules": list(self.modules),
            "blocks": len(self.blocks),
            "entered": self.entered,
            "control": len(self.control),
            "given": len(self.given),
            "reached": len(self.reached),
            "uncounted": self.uncounted,
        }

    def text(self, driver: str) -> str:
        """The list: functions with blocks that were not reached, the lines of these, then the others."""
        rows = [
            f"{driver}: {self.sentence()}",
            "A row: blocks reached without faults, with the scripts to begin with, in all; blocks of the function.",
            "Below it: where in the source the blocks begin that nothing has reached.",
        ]
        homes: dict[tuple[str, str], list[Block]] = {}
        for block in sorted(self.blocks):
            homes.setdefault((block.module, block.home), []).append(block)
        parts: dict[str, list[str]] = {"in part": [], "not at all": [], "completely": []}
        for (module, function), blocks in homes.items():
            missing = [block for block in blocks if block not in self.reached]
            counts = [sum(block in some for block in blocks) for some in (self.control, self.given, self.reached)]
            part = "completely" if not missing else "in part" if len(missing) < len(blocks) else "not at all"
            columns = " ".join(f"{count:5}" for count in (*counts, len(blocks)))
            parts[part].append(f"{columns}  {module} {function}")
            if part == "in part":
                parts[part] += (f"{'':25}{place}" for place in _places(missing))
        for part, lines in parts.items():
            functions = sum(not line.startswith(" " * 25) for line in lines)
            rows += ["", f"Functions reached {part}: {functions}", *lines]
        return "\n".join(rows) + "\n"


def _beyond(outcomes: Iterable[Outcome], blocks: Mapping[str, Block]) -> frozenset[Block]:
    """What these reach beyond the trial without faults: that is what they have as features."""
    names = {feature.removeprefix(BLOCK) for outcome in outcomes for feature in outcome.features}
    return frozenset(blocks[name] for name in names if name in blocks)


def _places(missing: Iterable[Block]) -> list[str]:
    """Places in the source in order, each once."""
    found = {block.source for block in missing if block.source is not None}

    def order(place: str) -> tuple[str, int]:
        file, _, line = place.rpartition(":")
        return file, int(line)

    return sorted(found, key=order)

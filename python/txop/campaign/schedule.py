"""The order of a campaign: randomised complete blocks, and which block comes next.

Every block holds every arm once, in an order drawn from the plan's seed and the block's number: the same plan gives the
same order, whether it ran in one go or was resumed ten times.
"""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass

from txop.plan.model import Plan


@dataclass(frozen=True)
class Block:
    """One block to run."""

    number: int
    """From 1. Numbers beyond the design's count are repeats."""
    arms: tuple[str, ...]
    """In the order they run."""
    tests: tuple[str, ...]
    replaces: int | None = None

    def runs(self) -> list[tuple[str, str]]:
        """(arm, test) of every run, in order."""
        return [(arm, test) for arm in self.arms for test in self.tests]


def arm_order(plan: Plan, number: int, labels: tuple[str, ...] | None = None) -> tuple[str, ...]:
    """The arms in the order of block ``number``."""
    arms = list(labels or (arm.name for arm in plan.arm))
    digest = hashlib.sha256(f"txop-block:{plan.design.seed}:{number}".encode()).digest()
    random.Random(digest).shuffle(arms)  # noqa: S311 - a design, not a secret
    return tuple(arms)


def planned(plan: Plan) -> list[Block]:
    """The blocks of the design."""
    tests = tuple(test.name for test in plan.test)
    return [Block(n, arm_order(plan, n), tests) for n in range(1, plan.design.blocks + 1)]


def max_repeats(plan: Plan) -> int:
    """How many blocks may be repeated at most."""
    limit = plan.design.max_repeats
    return max(2, plan.design.blocks // 2) if limit is None else limit


def repeat(plan: Plan, number: int, block: Block, tests: tuple[str, ...]) -> Block:
    """Block ``number``, which repeats ``tests`` of ``block`` for every arm."""
    return Block(number, arm_order(plan, number), tests, replaces=block.number)

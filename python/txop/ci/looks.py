"""The looks of ``txop ci --quick``: whether the blocks so far decide a series."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from txop.archive.layout import Layout
from txop.archive.reader import read_archive
from txop.archive.run_file import RunFile
from txop.ci.verdict import BASE, State, new_faults, state_of
from txop.compare.archive import compare
from txop.compare.result import CompareResult
from txop.core.errors import UserError
from txop.plan.load import LoadedPlan
from txop.plan_check.figures import primary_of
from txop.stats.sequential import Look, looks

_OF_FIGURES = frozenset({State.WORSE, State.BETTER, State.EQUIVALENT})
"""States that rest on what is judged: a look decides these, and only at its level."""


class QuickLooks:
    """See :class:`txop.campaign.testbed.Looks`."""

    def __init__(self, loaded: LoadedPlan, layout: Layout) -> None:
        """Raises :class:`~txop.core.errors.UserError` for a plan that no look can decide."""
        plan = loaded.plan
        self._layout = layout
        self._level = 1 - plan.design.confidence
        self._looks = {look.blocks: look for look in of_plan(loaded)}
        if not self._looks:
            raise UserError(
                f"{plan.design.blocks} blocks can decide nothing at {100 * plan.design.confidence:g} %",
                where=f"{loaded.path}, design.blocks",
                what_to_do="give more blocks",
            )

    def registered(self, blocks: int) -> Mapping[str, object] | None:
        """See :class:`txop.campaign.testbed.Looks`."""
        look = self._looks.get(blocks)
        if look is None:
            return None
        return {"blocks": blocks, "confidence": look.confidence, "planned": sorted(self._looks)}

    def decided(self, blocks: int) -> bool:
        """See :class:`txop.campaign.testbed.Looks`."""
        if blocks == max(self._looks):
            return False  # the campaign ends here by itself, once void runs are repeated
        archive = read_archive(self._layout.root)
        comparison = compare(archive)
        state, _ = state_of(comparison, archive.runs)
        if state is State.FAULTS:
            return is_of_series(archive.runs, self._level / max(self._looks))
        look = self._looks.get(blocks)
        return look is not None and _is_whole(comparison, look) and state in _OF_FIGURES


def is_of_series(runs: Sequence[RunFile], level: float) -> bool:
    """Whether a harmful fault that only the series has is its own, and not one that either build has now and then, at
    this level: Fisher's exact test, one-sided, of the runs that have it. Asked after every block, so the level is that
    of the plan over its blocks."""
    base = sum(run.arm == BASE for run in runs)
    harm = [fault for fault in new_faults(runs) if fault.is_harm]
    return any(math.comb(fault.of, fault.runs) <= level * math.comb(fault.of + base, fault.runs) for fault in harm)


def of_plan(loaded: LoadedPlan) -> tuple[Look, ...]:
    """The looks of a plan of two arms."""
    plan = loaded.plan
    return looks(plan.design.blocks, plan.design.confidence, max(1, len(primary_of(plan))))


def _is_whole(comparison: CompareResult, look: Look) -> bool:
    """Whether every judged figure has as many pairs as the look is for: with fewer, its level would not hold."""
    judged = [row for figure in comparison.figures if figure.role == "primary" for row in figure.rows]
    return comparison.design.family == look.family and all(row.n == look.blocks for row in judged) and bool(judged)

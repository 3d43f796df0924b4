"""How long a run may take."""

from __future__ import annotations

from txop.plan.measurement import Test
from txop.plan.model import Plan


def longest_s(plan: Plan, test: Test) -> float:
    """What a run may take at most, its arm in place: what is started on targets ends by itself after this."""
    return plan.design.idle_s + plan.warm_up_s(test) + test.longest_s + 120.0

"""Plans with figures that do not depend on the machine that they are measured on: those of exact guests."""

from __future__ import annotations

from txop.core.errors import UserError
from txop.core.origin import Origin
from txop.plan.guest import GuestSpec
from txop.plan.model import Plan


def exact_guest(plan: Plan) -> GuestSpec:
    """The guest of a plan. Raises :class:`~txop.core.errors.UserError` when it has none, or one that is not exact."""
    if plan.origin is not Origin.GUEST_EXACT or plan.guest is None:
        raise UserError(
            "the plan's runs are not those of exact guests, with figures that do not depend on this machine",
            what_to_do='give dut and peer kind = "guest", and [guest] mode = "exact"; see docs/guest.md',
        )
    return plan.guest

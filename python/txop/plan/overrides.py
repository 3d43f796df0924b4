"""What the command line may change in a plan for one campaign. The archive keeps it beside the plan, which stays as it
was written."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from txop.plan.fields import Name, Text
from txop.plan.model import Plan
from txop.plan.strict import Strict


class Overrides(Strict):
    """Changes to a plan; the defaults change nothing."""

    blocks: Annotated[int, Field(ge=1, le=1000)] | None = None
    aa: bool = False
    """Compare the baseline with itself, under two names: how large differences look when there is none."""
    left_out: dict[Name, Text] = Field(default_factory=dict)
    """Optional arms that cannot be carried out on this machine, and why."""

    def apply(self, plan: Plan) -> Plan:
        """The plan to carry out."""
        if self.blocks is not None:
            plan = plan.model_copy(update={"design": plan.design.model_copy(update={"blocks": self.blocks})})
        if self.left_out:
            plan = plan.model_copy(update={"arm": [arm for arm in plan.arm if arm.name not in self.left_out]})
        if self.aa:
            same = plan.find_arm(plan.baseline)
            arms = [
                same.model_copy(
                    update={
                        "name": f"{same.name[:38].rstrip('-_')}-{label}",
                        "title": f"{same.shown[:9_000]} ({label})",
                    }
                )
                for label in "ab"
            ]
            design = plan.design.model_copy(update={"baseline": arms[0].name})
            plan = plan.model_copy(update={"arm": arms, "design": design, "title": f"A/A: {plan.title[:9_000]}"})
        return plan

"""The base class of every table of a plan: unknown keys are errors."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

STRICT = ConfigDict(extra="forbid", frozen=True)
"""Unknown keys are errors."""


class Strict(BaseModel):
    """A table of the plan: unknown keys are errors."""

    model_config = STRICT

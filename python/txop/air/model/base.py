"""What all models of the report have in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Model(BaseModel):
    """Read-only, and tolerant of fields that a newer analyzer adds within the same layout version."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)

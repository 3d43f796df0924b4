"""What the models of all analysis documents (`txop-air`, `txop-bus`) have in common."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict


class Model(BaseModel):
    """Read-only, and tolerant of fields that a newer analyzer adds within the same layout version."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)

    def model_post_init(self, context: Any, /) -> None:  # noqa: ARG002 - pydantic's signature
        """Share the set of the fields that are set: one of its own takes half the memory of each object."""
        object.__setattr__(self, "__pydantic_fields_set__", _all_fields(type(self)))


_FIELDS: dict[type[Model], set[str]] = {}


def _all_fields(model: type[Model]) -> set[str]:
    found = _FIELDS.get(model)
    if found is None:
        found = _FIELDS[model] = set(model.model_fields)
    return found

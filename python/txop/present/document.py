"""What the models of all documents that the engines write (`txop-air`, `txop-bus`, `txop-simulate`) have in common."""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from txop.formats.error import FormatError


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


class DocumentHeader(Model):
    """What every version of a document starts with."""

    format: str
    """Its name."""
    version: int
    """Layout version."""


M = TypeVar("M", bound=Model)


def parse_document(kind: type[M], document: bytes | str, name: str, version: int) -> M:
    """A JSON document of the format ``name`` in the layout ``version``. Raises :class:`FormatError`."""
    try:
        head = DocumentHeader.model_validate_json(document)
        if head.format != name:
            raise FormatError(f'not a {name} document (its format is "{head.format}")')
        if head.version != version:
            raise FormatError(f"{name} version {head.version} is not known to this txop, which reads {version}")
        return kind.model_validate_json(document)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the document"
        raise FormatError(f"not a {name} document: {where}: {first['msg']}") from error

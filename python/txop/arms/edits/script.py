"""The form of an edit script, and reading it. It comes from outside: it is bounded, and every key is checked."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, field_validator, model_validator

from txop.arms.edits.tokens import Token, TokenError, left_open, tokens_of
from txop.core.errors import TxopError
from txop.core.visible import visible
from txop.plan.locate import NestingError, nearest, places, shown

SUFFIX = ".toml"
"""How names of edit scripts end; other patches are patches."""
MAX_BYTES = 64 << 10
"""Larger scripts are refused."""

_PART = re.compile(r"[A-Za-z0-9_+,-][A-Za-z0-9_.+,-]*", re.ASCII)
_OPERATIONS = ("delete", "replace", "insert_before", "insert_after")

Code = Annotated[str, StringConstraints(min_length=1, max_length=8000)]
Place = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Word = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=100)]
Text = Annotated[str, StringConstraints(max_length=4000)]


class EditScriptError(TxopError):
    """A script that cannot be used, in one sentence without a final full stop: where, and what is wrong."""


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Edit(_Table):
    """One change. Exactly one of ``delete``, ``replace``, ``insert_before`` and ``insert_after`` says what is looked
    for: words of C, compared without white space and comments."""

    file: Place | Annotated[list[Place], Field(min_length=1, max_length=8)]
    """Below the script's ``folder``; of several the one that is there."""
    within: Annotated[Word | Annotated[list[Word], Field(min_length=1, max_length=8)] | None, Field(alias="in")] = None
    """The function, initialised object, struct, union or enum of that name, of several the one that is there; without
    it the whole file."""
    delete: Code | None = None
    """Taken out."""
    replace: Code | None = None
    """Gives way to ``with``."""
    insert_before: Code | None = None
    """``with`` goes before it."""
    insert_after: Code | None = None
    """``with`` goes behind it."""
    text: Annotated[Code | None, Field(alias="with")] = None
    """What is put there."""
    whole: Literal["words", "statement", "definition"] = "words"
    """What the operation acts on: the words found; the statement, or entry of a list, that holds them; or all of what
    ``in`` names."""
    count: Annotated[int, Field(ge=1, le=1000)] = 1
    """How often it occurs; anything else is an error."""
    only: Annotated[int, Field(ge=1, le=1000)] | None = None
    """Which of them is meant, from 1; default: all."""

    @property
    def operation(self) -> str:
        """Its name."""
        return next(name for name in _OPERATIONS if getattr(self, name) is not None)

    @property
    def wanted(self) -> str:
        """What is looked for."""
        return str(getattr(self, self.operation))

    @property
    def files(self) -> list[str]:
        """Where it may be."""
        return [self.file] if isinstance(self.file, str) else list(self.file)

    @property
    def names(self) -> list[str]:
        """What ``in`` may name."""
        return [self.within] if isinstance(self.within, str) else list(self.within or [])

    @field_validator("file")
    @classmethod
    def _stays_inside(cls, value: str | list[str]) -> str | list[str]:
        for name in [value] if isinstance(value, str) else value:
            _check_path(name)
        return value

    @model_validator(mode="after")
    def _one_operation(self) -> Edit:
        given = [name for name in _OPERATIONS if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(f"give one of {', '.join(_OPERATIONS)}{'; not ' + ' and '.join(given) if given else ''}")
        if (self.text is None) != (given == ["delete"]):
            raise ValueError("delete takes no with" if self.text is not None else f"{given[0]} needs with")
        if self.whole == "definition" and not self.names:
            raise ValueError('whole = "definition" needs in')
        if self.only is not None and self.only > self.count:
            raise ValueError(f"only = {self.only} is more than count = {self.count}")
        wanted = _code(self.wanted, given[0])
        if not wanted:
            raise ValueError(f"{given[0]} has no words")
        taken = wanted if given[0] in ("delete", "replace") else []
        if self.whole == "words" and _brackets(taken) != _brackets(_code(self.text or "", "with")):
            raise ValueError("the brackets would no longer match")
        if self.whole != "words" and _brackets(_code(self.text or "", "with")):
            raise ValueError("with has a bracket without partner")
        return self


class EditScript(_Table):
    """Edits that belong together."""

    format: Literal["txop-edits"]
    """What the file is."""
    version: Literal[1] = 1
    """Version of the format."""
    title: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    """What it does, in a line."""
    change: Literal["reverts", "adds"]
    """Whether it takes out something that these kernels have, or adds something that they have not."""
    kernels: Annotated[list[Annotated[str, StringConstraints(max_length=40)]], Field(max_length=20)] = []
    """Those it was tried with."""
    about: Text = ""
    """What to know."""
    link: Annotated[str, StringConstraints(max_length=1000)] | None = None
    """Where the change was discussed."""
    folder: Place | None = None
    """Where the files are, below the top of the source."""
    edit: Annotated[list[Edit], Field(min_length=1, max_length=100)]
    """In the order in which they are made."""

    @field_validator("folder")
    @classmethod
    def _stays_inside(cls, value: str | None) -> str | None:
        if value is not None:
            _check_path(value)
        return value


def read_script(path: Path) -> EditScript:
    """A script from its file. Raises :class:`EditScriptError`, and :class:`OSError` when it cannot be read."""
    with path.open("rb") as source:
        data = source.read(MAX_BYTES + 1)
    return parse_script(data)


def parse_script(data: bytes) -> EditScript:
    """A script from its bytes. Raises :class:`EditScriptError`."""
    if len(data) > MAX_BYTES:
        raise EditScriptError(f"it is larger than {MAX_BYTES:,} bytes")
    try:
        text = data.decode("utf-8")
        raw = tomllib.loads(text)
        where = places(text)
    except UnicodeDecodeError:
        raise EditScriptError("it is not UTF-8") from None
    except (NestingError, RecursionError):
        raise EditScriptError("its tables are too deep within each other") from None
    except ValueError as error:
        raise EditScriptError(f"it is not TOML: {visible(str(error))[:300]}") from None
    if raw.get("format") != "txop-edits":
        raise EditScriptError('it is not an edit script: that begins with format = "txop-edits"')
    try:
        return EditScript.model_validate(raw, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        *outer, last = first["loc"] or ("",)
        key = tuple(part for part in outer if isinstance(part, int) or part in _KEYS)
        if isinstance(last, int) or last in _KEYS or first["type"] == "extra_forbidden":
            key = (*key, last)
        place = nearest(where, key)
        message = first["msg"].removeprefix("Value error, ")
        line = f"line {place.line}, " if place else ""
        raise EditScriptError(f"{line}{visible(shown(key)) or 'the script'}: {visible(message)[:300]}") from None


_KEYS = {field.alias or name for model in (Edit, EditScript) for name, field in model.model_fields.items()}


def _check_path(name: str) -> None:
    parts = name.split("/")
    if not all(_PART.fullmatch(part) and part != ".." for part in parts):
        raise ValueError(f"{name!r} is not a place below the source: names with / between them, without . and ..")


def _code(text: str, key: str) -> list[Token]:
    try:
        tokens = tokens_of(f"{text.strip()} end")
    except TokenError as error:
        raise ValueError(f"{key}: {error}") from None
    if any(token.kind == "directive" for token in tokens):
        raise ValueError(f"{key}: a preprocessor line cannot be edited")
    if not tokens or tokens.pop().text != "end":
        raise ValueError(f"{key}: a comment // is not a valid end")
    return tokens


def _brackets(tokens: list[Token]) -> tuple[str, ...]:
    return left_open([token.text for token in tokens])

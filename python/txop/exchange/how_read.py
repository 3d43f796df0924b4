"""How each imported file was read, kept so that it can be read again: ``imported/import.json``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from txop.exchange.imported import Direction

HOW_READ_FILE = "import.json"


class FileAsGiven(BaseModel):
    """One file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    file: str
    """Its name in the folder."""
    name: str
    """As it was given."""
    arm: str | None
    given: Direction = Field(alias="told")
    """What the user said about it."""


class HowRead(BaseModel):
    """All of them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal["txop-imported"]
    version: Literal[1]
    files: list[FileAsGiven]
    not_read: list[str] = []
    """What could not be read of them, or of files that are not kept."""


def how_read_document(files: Sequence[tuple[str, str, str | None, Direction]], not_read: Sequence[str]) -> str:
    """The document of such files."""
    listed = [{"file": file, "name": name, "arm": arm, "told": asdict(given)} for file, name, arm, given in files]
    document = {"format": "txop-imported", "version": 1, "files": listed, "not_read": list(not_read)}
    return json.dumps(document, indent=2) + "\n"

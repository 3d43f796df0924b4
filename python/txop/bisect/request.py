"""What a bisection was asked for, as its folder keeps it: ``bisect.json``, beside the frozen ``plan.toml``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from txop.archive.layout import sync_folder
from txop.archive.regular import read_regular
from txop.bisect.judge import LookingFor
from txop.core.errors import UserError
from txop.core.whole_file import whole_file

MAX_BYTES = 64 << 20
_FILE = "bisect.json"


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Candidate(_Record):
    """A commit, or a series up to one of its patches."""

    name: str
    """Short: the beginning of a commit's hash, ``patch 3``, or ``base`` for a series without its patches."""
    title: str
    author: str = ""
    date: str = ""
    """ISO 8601; empty where it is not known."""
    commit: str | None = None
    """Hash of the commit; ``None``: the source and patches of a series."""
    patches: list[str] = Field(default_factory=list)
    """Files that are applied to the source, in their order."""


class Request(_Record):
    """A bisection."""

    format: Literal["txop-bisection"] = "txop-bisection"
    version: Literal[1] = 1
    txop: str
    plan_folder: str
    """What file names in the plan are relative to."""
    arm: str
    """The plan's arm that every candidate is built as."""
    figure: str
    """``TEST.METRIC``."""
    looking_for: LookingFor
    least: int
    """Runs that a verdict takes at least."""
    most: int
    """Runs of a candidate at most."""
    repository: str | None
    """``None``: a series on the distribution's source, or on the plan's own."""
    folders: list[str] = Field(default_factory=list)
    """Folders of the repository that are built."""
    candidates: list[Candidate] = Field(min_length=2)
    """The good one first, the bad one last."""
    notes: list[str] = Field(default_factory=list)
    """What a reader should know of the range: merges, a bad commit that changes nothing."""


class Place:
    """The folder of a bisection::

    bisect/
      bisect.json     what was asked for
      plan.toml       the plan, frozen
      journal.jsonl   what happened, append-only, synced: the truth
      series/         patches, where a series is bisected
      logs/           of builds that failed
      runs/           a folder for each run, as in an archive
      bisect.html     the page
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.request = root / _FILE
        self.plan = root / "plan.toml"
        self.journal = root / "journal.jsonl"
        self.series = root / "series"
        self.logs = root / "logs"
        self.runs = root / "runs"
        self.page = root / "bisect.html"

    def create(self, request: Request, plan_text: str) -> None:
        """Make it. Raises :class:`OSError`."""
        self.runs.mkdir(parents=True, exist_ok=True)
        with whole_file(self.plan) as out:
            out.write(plan_text)
        with whole_file(self.request) as out:
            out.write(request.model_dump_json(indent=1) + "\n")
        sync_folder(self.root)

    def check_new(self) -> None:
        """Raise :class:`~txop.core.errors.UserError` when there is anything in the folder already."""
        if self.root.exists() and (not self.root.is_dir() or any(self.root.iterdir())):
            raise UserError(
                "is not empty",
                where=str(self.root),
                what_to_do=f"give a new folder, or continue the bisection in it: txop bisect --resume {self.root}",
            )

    def read(self) -> Request:
        """What was asked for. Raises :class:`~txop.core.errors.UserError`."""
        advice = "give the folder that `txop bisect` made"
        try:
            text = read_regular(self.request, MAX_BYTES)
            found = json.loads(text)
        except (OSError, ValueError, RecursionError):
            raise UserError(
                f"is not a bisection (no readable {_FILE} in it)", where=str(self.root), what_to_do=advice
            ) from None
        try:
            return Request.model_validate(found)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(str(part) for part in first["loc"])
            raise UserError(f"{where}: {first['msg']}", where=str(self.request), what_to_do=advice) from None

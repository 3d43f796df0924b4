"""A board of tasks as data: what is to be done, the state that is claimed, and where the evidence is."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, model_validator


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


Finite = Annotated[float, Field(allow_inf_nan=False)]
Line = Annotated[int, Field(ge=1)]
Text = Annotated[str, Field(max_length=500)]
Given = Annotated[str, Field(min_length=1, max_length=500)]
Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,63}$")]
Address = Annotated[str, Field(pattern=r"^[0-9a-f]{2}(:[0-9a-f]{2}){5}$")]

CheckName = Literal[
    "block-ack-complete",
    "ack-every-rate",
    "a-msdu-rx",
    "stbc-rx",
    "a-mpdu-tx",
    "a-mpdu-rx",
    "bar-rx",
    "wmm",
    "high-mcs",
    "pmf",
    "40-mhz",
    "greenfield",
]
"""Rows that a capture can answer: :data:`txop.board.checks.CHECKS`."""

CHECK_NAMES: tuple[CheckName, ...] = get_args(CheckName)


class LogEvidence(_Table):
    """A kernel log, by the keys of faults that ``txop log`` names."""

    kind: Literal["log"]
    file: Given
    fails: Name
    """Shows that the task is open where the log has it."""
    works: Name
    """Shows that it works where the log has it, and not ``fails``. A log with neither shows nothing."""


class TextEvidence(_Table):
    """What a program printed, ``iw`` for example: literal text within a line."""

    kind: Literal["text"]
    file: Given
    fails: Given
    works: Given


class CaptureEvidence(_Table):
    """A monitor capture, or the document of ``txop air --json``."""

    kind: Literal["capture"]
    file: Given
    station: Address | None = None
    """The device; default: that of the board."""
    check: CheckName | None = None
    """What is looked for; default: the check of the task."""


HERE = "."
"""The archive that was named in place of a board, else the folder of the board."""


class RunEvidence(_Table):
    """A figure of the runs of an archive."""

    kind: Literal["runs"]
    archive: Given = HERE
    arm: Given
    test: Given
    metric: Given
    at_least: Finite | None = None
    at_most: Finite | None = None

    @model_validator(mode="after")
    def _bounded(self) -> RunEvidence:
        if self.at_least is None and self.at_most is None:
            raise ValueError("evidence of runs needs at_least or at_most")
        return self


class FaultEvidence(_Table):
    """The kernel logs of the runs of an archive."""

    kind: Literal["faults"]
    archive: Given = HERE
    arm: Given
    fault: Name
    """The task is open where a run has it; it works where none of the runs with a log that was read does."""


class NoEvidence(_Table):
    """That this board can have no evidence of the row, and why."""

    kind: Literal["none"]
    because: Given


Evidence = Annotated[
    LogEvidence | TextEvidence | CaptureEvidence | RunEvidence | FaultEvidence | NoEvidence,
    Field(discriminator="kind"),
]


class Task(_Table):
    """A row of the board."""

    task: Given
    priority: Annotated[int, Field(ge=0, le=1000)] | Literal["unknown", "none"] = "unknown"
    test_case: Text = ""
    """The Wi-Fi Alliance's test case, as the board has it."""
    state: Given
    """In the words of the maintainer of the board."""
    claims: Literal["works", "does not work"] | None = None
    """What the state says of the device."""
    optional: bool = False
    optional_note: Text = ""
    note: Text = ""
    line: Line | None = None
    """Where the row stands in the board's source."""
    check: CheckName | None = None
    """The check that a capture is put to."""
    arm: Text = ""
    """The arm of an archive with captures that are checked; empty: the board's."""
    evidence: Annotated[list[Evidence], Field(max_length=100)] = []


class Certificate(_Table):
    """A certificate of the Wi-Fi Alliance, as a document quotes it."""

    product: Given
    vendor: Text = ""
    date: Text = ""
    hardware: Text = ""
    driver: Text = ""
    line: Line | None = None
    certified: Annotated[list[Given], Field(min_length=1, max_length=100)]
    """Its lines, in its words."""


class Board(_Table):
    """One board."""

    format: Literal["txop-board"]
    version: Literal[1]
    title: Given
    source: Text = ""
    about: Text = ""
    date: Text = ""
    station: Address | None = None
    """The device under test, in captures."""
    arm: Text = ""
    """The arm of archives that the states speak of; empty: every arm."""
    task: Annotated[list[Task], Field(min_length=1, max_length=1000)]
    certificate: Annotated[list[Certificate], Field(max_length=100)] = []

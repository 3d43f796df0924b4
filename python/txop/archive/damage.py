"""What is wrong with an archive, as typed findings: what kind, in which file, of which run, with the figures.

Finding them is the readers' work (:mod:`txop.archive.journal`, :mod:`txop.archive.reader`) and that of
:mod:`txop.archive.contradictions`; :mod:`txop.archive.damage_words` has the sentences.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Code(StrEnum):
    """The kinds of damage."""

    JOURNAL_UNREADABLE = "journal-unreadable"
    """The file is missing or cannot be opened."""
    JOURNAL_LINE = "journal-line"
    """A line is not an event."""
    JOURNAL_EMPTY = "journal-empty"
    """It has no event, and there are runs of a campaign."""
    JOURNAL_REPEATED = "journal-repeated"
    """An event is in it twice."""
    JOURNAL_ORDER = "journal-order"
    """An event is in a place where it cannot have been written."""
    JOURNAL_STRANGE = "journal-strange"
    """An event of a block, an arm or a test that the plan does not have."""
    JOURNAL_LACKS_END = "journal-lacks-end"
    """It does not have the end of runs with complete files. They count."""
    PLAN_EDITED = "plan-edited"
    """The plan is not the one that the journal recorded."""
    RUN_MISSING = "run-missing"
    """The journal has its end, and its folder or ``run.json`` is gone."""
    RUN_UNREADABLE = "run-unreadable"
    """``run.json`` cannot be opened, or is no ordinary file."""
    RUN_MALFORMED = "run-malformed"
    """``run.json`` is not what txop writes."""
    RUN_NEWER = "run-newer"
    """``run.json`` is of a newer version."""
    RUN_MISPLACED = "run-misplaced"
    """``run.json`` belongs to another folder."""
    RUN_UNKNOWN = "run-unknown"
    """The plan does not have its arm or test."""
    RUN_BLOCK = "run-block"
    """Its block, its place in it, or the block that it repeats contradicts the plan or the journal."""
    RUN_END = "run-end"
    """The journal has another end of it than ``run.json``."""
    RUN_STATE = "run-state"
    """Its state contradicts its causes or its gates."""
    RUN_UNIT = "run-unit"
    """A figure has another unit than its metric."""
    RUN_VALUE = "run-value"
    """A figure, or a length, that no run can have."""
    RUN_WINDOW = "run-window"
    """The measured window is longer than the run."""
    RUN_COPY = "run-copy"
    """It has the raw figures of another run."""
    RUN_ARM = "run-arm"
    """What was found loaded is not the arm."""
    SERIES_UNREADABLE = "series-unreadable"
    """``series.json`` cannot be read, or is not what txop writes."""


KEEPS_ITS_RUN = frozenset({Code.JOURNAL_LACKS_END, Code.SERIES_UNREADABLE})
"""Kinds that name a run which counts all the same."""


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong."""

    code: Code
    run: str | None = None
    """Name of the run; ``None``: it is not of one run."""
    facts: Mapping[str, object] = field(default_factory=dict)
    """What it rests on: names and figures, by name."""

    @property
    def spoils(self) -> str | None:
        """Name of the run that is void because of it."""
        return None if self.code in KEEPS_ITS_RUN else self.run

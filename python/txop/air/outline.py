"""The members of a ``txop-air`` document that are read when it is only passed on."""

from __future__ import annotations

from dataclasses import dataclass

from txop.air.layout import FORMAT, VERSION
from txop.formats.error import FormatError
from txop.present.outline import SummaryOutline, head_of, outlined


@dataclass(frozen=True)
class Outline:
    """The members of an :class:`~txop.air.report.AirReport` that decide the exit code, and its explanation."""

    path: str
    frames: int
    summary: SummaryOutline

    @classmethod
    def parse(cls, document: bytes) -> Outline:
        """As :meth:`txop.air.report.AirReport.parse`."""
        found = head_of(document, FORMAT, VERSION, ("path", "frames", "summary"))
        try:
            return cls(found["path"], found["frames"], outlined(found["summary"]))
        except (KeyError, TypeError) as error:
            raise FormatError(f"the summary of a {FORMAT} document has no {error}") from error

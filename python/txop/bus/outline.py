"""The members of a ``txop-bus`` document that are read when it is only passed on."""

from __future__ import annotations

from dataclasses import dataclass

from txop.bus.layout import FORMAT, VERSION
from txop.formats.error import FormatError
from txop.present.outline import SummaryOutline, head_of, outlined


@dataclass(frozen=True)
class Outline:
    """The members of a :class:`~txop.bus.report.BusReport` that decide the exit code, and its explanation."""

    path: str
    records: int
    other_requests: int
    summary: SummaryOutline

    @classmethod
    def parse(cls, document: bytes) -> Outline:
        """As :meth:`txop.bus.report.BusReport.parse`."""
        found = head_of(document, FORMAT, VERSION, ("path", "records", "summary"))
        summary = found["summary"]
        try:
            return cls(found["path"], found["records"], summary["other_requests"], outlined(summary))
        except (KeyError, TypeError) as error:
            raise FormatError(f"the summary of a {FORMAT} document has no {error}") from error

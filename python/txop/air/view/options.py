"""What the reader asked for, and the reasons why a section has gaps."""

from __future__ import annotations

from dataclasses import dataclass

from txop.air.report import AirReport


@dataclass(frozen=True)
class Options:
    """See :func:`txop.air.view.sections`."""

    list_ghosts: bool = False
    station: str | None = None
    list_events: bool = False

    def wants(self, *addresses: str | None) -> bool:
        """Whether a row about ``addresses`` is to be shown."""
        return self.station is None or self.station in addresses


def unavailable(report: AirReport, *names: str) -> tuple[str, ...]:
    """Why figures of a section are missing or weaker, from ``summary.limits``."""
    return tuple(limit.text for limit in report.summary.limits if set(names) & set(limit.affects))

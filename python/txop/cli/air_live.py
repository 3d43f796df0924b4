"""What ``txop air --follow`` and ``-i`` show while frames come in."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextlib import suppress

from rich.console import Group, RenderableType

from txop.air.report import AirReport
from txop.air.view import headline
from txop.cli.air_headline import bar
from txop.cli.console import safe_text
from txop.formats.error import FormatError
from txop.present import format as fmt

_WIDTH = 78


class LatestSummary:
    """The summary of the newest snapshot, made when it is drawn, on the thread that draws."""

    def __init__(self, name: str) -> None:
        """``name``: the capture or interface, as it is shown."""
        self._name = name
        self._documents: deque[bytes] = deque(maxlen=1)
        self.put: Callable[[bytes], None] = self._documents.append
        """Takes a ``txop-air`` document. Not a Python function: in one, Ctrl-C would become an exception that loses
        the report."""
        self._drawn: bytes | None = None
        self._summary = summary(None, name)

    def __rich__(self) -> RenderableType:
        for document in tuple(self._documents):
            if document is not self._drawn:
                self._drawn = document
                with suppress(FormatError):  # said when the report is read at the end, not in the middle of drawing
                    self._summary = summary(AirReport.parse(document), self._name)
        return self._summary


def summary(report: AirReport | None, name: str) -> RenderableType:
    """A few lines about ``report``, or that nothing has come yet from ``name``."""
    if report is None:
        return safe_text(f"{name}: waiting for frames; Ctrl-C ends.", "dim")
    lines: list[RenderableType] = [
        safe_text(
            f"{name}: {fmt.count(report.frames)} frames, {fmt.duration_us(report.summary.span_us)}, busy "
            f"{fmt.share(report.airtime.busy_share)}, retry {fmt.percent(report.ghost_effect.retry_good.percent)} of "
            f"{fmt.count(report.ghost_effect.retry_good.frames)} intact data frames. Ctrl-C ends with the whole report."
        )
    ]
    for flow in headline(report).flows[:1]:
        lines += [safe_text(f"{flow.title}: {flow.sentence}"), bar(flow.waterfall, _WIDTH)]
    return Group(*lines)

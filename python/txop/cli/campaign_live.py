"""How a campaign is shown while it runs: on a terminal a live view, elsewhere one line per run."""

from __future__ import annotations

import time
from contextlib import suppress
from types import TracebackType
from typing import Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.padding import Padding
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from txop.archive.counting import figure_value
from txop.archive.run_file import RunFile, Value
from txop.campaign.schedule import Block
from txop.cli.console import safe_text
from txop.core.metrics import describe
from txop.plan.model import Plan
from txop.present.format import NOT_AVAILABLE, number, plural

_HEADLINE_METRICS = (
    "throughput_mbit_s", "throughput_up_mbit_s", "throughput_down_mbit_s", "rtt_p50_ms", "rtt_p95_ms", "retry_percent",
)  # fmt: skip
"""Shown of each run, as far as it has them."""


def duration(seconds: float) -> str:
    """A length of time for people.

    >>> duration(42), duration(600), duration(9000)
    ('42 s', '10 min', '2 h 30 min')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60:02d} min"


def shown(key: str, value: Value) -> str:
    """A figure with its unit."""
    metric = describe(key)
    if value.infinite:
        return f"∞ {metric.unit}"
    text = number(value.value, metric.digits)
    return text if text == NOT_AVAILABLE or not metric.unit else f"{text} {metric.unit}"


def headline(run: RunFile) -> str:
    """The figures of a run that fit a line."""
    known = [key for key in _HEADLINE_METRICS if figure_value(run, key) is not None]
    parts = [f"{describe(key).title} {shown(key, run.metrics[key])}" for key in known]
    return ", ".join(parts[:3])


class LiveReporter:
    """A :class:`~txop.campaign.reporter.Reporter` for people."""

    def __init__(self, console: Console, plan: Plan, *, quiet: bool) -> None:
        self._console = console
        self._plan = plan
        self._quiet = quiet
        self._title: RenderableType = Text()
        self._place = ""
        self._under_way: dict[str, str] = {}
        self._phase, self._phase_begun = "", time.monotonic()
        self._phase_s: float | None = None
        self._ends_at: float | None = None
        self._to_come = 0
        self._results: dict[tuple[str, str], tuple[str, int]] = {}
        self._live: Live | None = None

    def __enter__(self) -> Self:
        if self._console.is_terminal and not self._quiet:
            self._live = Live(get_renderable=self._view, console=self._console, refresh_per_second=4, transient=True)
            with suppress(OSError):  # no terminal
                self._live.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        if self._live is not None:
            with suppress(OSError):  # the terminal went away
                self._live.stop()

    def campaign(self, title: str, runs_to_come: int, seconds_expected: float) -> None:
        """See :class:`~txop.campaign.reporter.Reporter`."""
        self._title = safe_text(title, style="bold")
        self._title.truncate(200, overflow="ellipsis")
        self._expect(runs_to_come, seconds_expected)
        self._say(f"{plural(runs_to_come, 'run')}, about {duration(seconds_expected)}")

    def block(self, block: Block, of: int) -> None:
        """See :class:`~txop.campaign.reporter.Reporter`."""
        again = f", repeats block {block.replaces}" if block.replaces is not None else f" of {of}"
        self._place = f"block {block.number}{again}"

    def run_started(self, run: str, arm: str, test: str, runs_to_come: int, seconds_expected: float) -> None:
        """See :class:`~txop.campaign.reporter.Reporter`."""
        self._under_way[run] = f"{arm}, {test}"
        self._expect(runs_to_come, seconds_expected)

    def phase(self, words: str, seconds: float | None) -> None:
        """See :class:`~txop.campaign.reporter.Reporter`."""
        self._phase, self._phase_begun, self._phase_s = words, time.monotonic(), seconds

    def run_ended(self, run: RunFile, runs_to_come: int, seconds_expected: float) -> None:
        """See :class:`~txop.campaign.reporter.Reporter`."""
        self._expect(runs_to_come, seconds_expected)
        self._under_way.pop(run.run, None)
        what = headline(run) if run.state == "valid" else f"void: {run.void[0].cause}"
        _, before = self._results.get((run.arm, run.test), ("", 0))
        self._results[run.arm, run.test] = what, before + 1
        what += ", from the cache" if run.reused is not None else ""
        left = f" ({self._left()})" if runs_to_come and self._live is None else ""
        place = f"{self._place}: " if self._place else ""
        self._say(f"{place}{run.arm}, {run.test}: {what}{left}")

    def notice(self, words: str) -> None:
        """See :class:`~txop.campaign.reporter.Reporter`."""
        self._say(words)

    def _expect(self, runs_to_come: int, seconds_expected: float) -> None:
        self._to_come, self._ends_at = runs_to_come, time.monotonic() + seconds_expected

    def _left(self) -> str:
        """How long it will still take; empty when nothing is known."""
        if self._ends_at is None:
            return ""
        seconds = self._ends_at - time.monotonic()
        return f"{duration(seconds)} to go" if seconds >= 1 else "longer than expected"

    def _say(self, words: str) -> None:
        if self._quiet:
            return
        try:
            self._console.print(safe_text(words), soft_wrap=True)
        except OSError:  # its reader is gone; the campaign is worth more than its display
            self._quiet = True

    def _view(self) -> RenderableType:
        table = Table(box=None, padding=(0, 2, 0, 0), show_header=True, header_style="dim")
        for heading in ("arm", "test", "last result", "runs"):
            table.add_column(heading)
        for (arm, test), (last, runs) in [*self._results.items()]:  # this runs in the display's thread
            table.add_row(safe_text(arm), safe_text(test), safe_text(last), str(runs))
        under_way = [*self._under_way.values()]
        phase = self._phase if len(under_way) < 2 else ""  # of several, the phase would be anybody's
        elapsed = time.monotonic() - self._phase_begun
        what = [place] if (place := self._place) else []
        what += [" | ".join(under_way)] if under_way else []
        coming = f"{plural(self._to_come, 'run')} left"
        left = f", {self._left()}" if self._to_come and self._ends_at is not None else ""
        line = Text.assemble(
            safe_text(", ".join(what)),
            (f": {phase}" if phase and what else phase, "cyan"),
            (f"   {coming}{left}" if self._to_come else "", "dim"),
        )
        bar = ProgressBar(total=self._phase_s or 1.0, completed=min(elapsed, self._phase_s or 0.0), width=40)
        # A bar ends without a new line; padding gives it one.
        return Group(self._title, line, Padding(bar, 0), table)  # what does not fit the screen is the end of the table

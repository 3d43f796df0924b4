"""``--timing``: where the time went, at the end of a command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from txop.cli import console
from txop.cli.console import safe_text

if TYPE_CHECKING:
    from txop.archive.timing import Timing

TimingFlag = Annotated[
    bool, typer.Option("--timing", help="Print at the end where the time went: build, boot, traffic, reading, report.")
]
"""Whether the time is shown."""

_WORDS = {
    "build_s": "build",
    "start_s": "boot and association, once for each build",
    "boot_s": "boot",
    "association_s": "probe and association",
    "traffic_s": "idle, warm-up, traffic, end",
    "check_s": "second guests (check_exact)",
    "reading_s": "reading figures",
    "report_s": "comparison and report",
    "wall_s": "in all, from beginning to end",
}


def print_timing(timing: Timing) -> None:
    """Each part, on stderr."""
    screen = console.stderr()
    screen.print(safe_text("Time, s; guests side by side count each:"), soft_wrap=True)
    for name, words in _WORDS.items():
        value = getattr(timing, name)
        if value is not None:
            screen.print(safe_text(f"{value:9.1f}  {words}"), soft_wrap=True)

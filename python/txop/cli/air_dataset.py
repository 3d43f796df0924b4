"""``txop air --to-parquet``: many captures as one data set."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from txop.cli import console
from txop.cli.console import safe_text
from txop.core.errors import ExitCode, UserError
from txop.present.format import plural

if TYPE_CHECKING:
    from txop.air.dataset import Built

_SHOWN = 10


def write_dataset(files: Sequence[str], out: str, *, jobs: int | None, cluster: str | None, json: bool) -> ExitCode:
    """Read all captures into the data set, and say what was done."""
    from txop.air.dataset import Settings, build

    if not files:
        raise UserError("no capture given", what_to_do="name files, folders or addresses")
    if "-" in files:
        raise UserError("stdin (-) cannot be part of a data set", what_to_do="name files, folders or addresses")
    if cluster is not None and jobs is not None:
        raise UserError("--jobs is of this machine, --cluster has workers of its own", what_to_do="leave one out")
    settings = Settings(jobs=jobs or len(os.sched_getaffinity(0)), cluster=cluster)
    with _Bar() as bar:
        built = build(files, out, settings, bar.advance)
    if json:
        failed = [{key: value for key, value in asdict(done).items() if key in _FAILED} for done in built.failed]
        console.write_json({"format": "txop-air-dataset", "version": 1, **asdict(built), "failed": failed})
    else:
        _say(built)
    return ExitCode.PARTIAL if built.failed or built.damaged_before else ExitCode.OK


_FAILED = ("address", "kind", "error")


def _say(built: Built) -> None:
    print_line = console.stdout().print
    had = f" ({built.before:,} from before)" if built.before else ""
    text = f"{built.out}: {plural(built.before + built.read, 'capture')} of {built.captures:,}{had}"
    if built.read:
        rate = built.bytes / 1e6 / built.reading_s if built.reading_s else 0.0
        text += (
            f"; read now: {plural(built.frames, 'frame')}, {built.bytes / 1e6:,.1f} MB, {rate:,.0f} MB/s per process"
        )
    print_line(safe_text(text), soft_wrap=True)
    if built.damaged_before:
        text = f"Warning: {plural(built.damaged_before, 'capture')} from before were not read whole: table errors."
        console.stderr().print(safe_text(text, "yellow"))
    if built.failed:
        errors = console.stderr()
        errors.print(safe_text(f"Warning: {plural(len(built.failed), 'capture')} not read whole:", "yellow"))
        for done in built.failed[:_SHOWN]:
            errors.print(safe_text(f"  {done.address}: {done.error}", "yellow"), soft_wrap=True)
        if len(built.failed) > _SHOWN:
            more = len(built.failed) - _SHOWN
            errors.print(safe_text(f"  and {more:,} more: table errors of the data set", "yellow"))


class _Bar:
    """Captures done and to do, on a terminal."""

    def __enter__(self) -> _Bar:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        self._progress = Progress(
            TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(),
            console=console.stderr(), transient=True, disable=not sys.stderr.isatty(),
        )  # fmt: skip
        self._task = self._progress.add_task("captures", total=None)
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def advance(self, built: Built, left: int) -> None:
        """Called after each capture."""
        done = built.read + len([each for each in built.failed if each.kind != "damaged"])
        text = f"captures{f', {len(built.failed)} not whole' if built.failed else ''}"
        self._progress.update(self._task, completed=done, total=done + left, description=text)

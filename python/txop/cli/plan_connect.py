"""``txop plan check --connect``: what of a plan will work on its machines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from txop.cli import console
from txop.cli.console import safe_text
from txop.cli.ending import Ending
from txop.core.errors import ExitCode, UserError
from txop.plan.load import LoadedPlan
from txop.present.format import plural

if TYPE_CHECKING:
    from txop.campaign.preflight_row import Row

_STYLES = {"ok": "green", "limited": "yellow", "fails": "bold red", "not checked": "dim"}


def check_targets(loaded: LoadedPlan) -> list[Row]:
    """Connect the plan's targets, query them and disconnect; progress goes to stderr."""
    from txop.campaign import preflight
    from txop.plan_check.files import with_absolute_files
    from txop.targets.contract import Silence
    from txop.targets.factory import make_targets

    kinds = {target.kind for target in loaded.plan.target.values()}
    if not kinds <= set(preflight.KINDS):
        raise UserError("its targets are not machines, so --connect has nothing to connect to", where=str(loaded.path))
    plan = with_absolute_files(loaded.plan, loaded.folder)
    targets = make_targets(plan, Silence())
    screen = console.stderr()
    with Ending() as ending:
        return ending.run(
            preflight.check_targets(
                targets, plan, loaded.folder, lambda words: screen.print(safe_text(words, "dim"), soft_wrap=True)
            )
        )


def exit_code(rows: Sequence[Row]) -> ExitCode:
    """What the rows amount to."""
    return ExitCode.MISSING if any(row.state == "fails" for row in rows) else ExitCode.OK


def print_rows(out: Console, rows: Sequence[Row]) -> None:
    """A table, and below it what is to be done."""
    table = Table(title="On the machines", title_justify="left", box=None, padding=(0, 2, 0, 0))
    for heading in ("target", "what", "state", "found"):
        table.add_column(heading, overflow="fold")
    for row in rows:
        table.add_row(
            safe_text(row.target), safe_text(row.what), safe_text(row.state, _STYLES[row.state]), safe_text(row.found)
        )
    out.print(table)
    to_do = [row for row in rows if row.what_to_do is not None]
    if to_do:
        out.print()
        out.print(safe_text("To do", "bold"))
    for row in to_do:
        out.print(safe_text(f"{row.target}, {row.what}: {row.what_to_do}"), soft_wrap=True)
    fails = sum(row.state == "fails" for row in rows)
    limited = sum(row.state == "limited" for row in rows)
    unchecked = sum(row.state == "not checked" for row in rows)
    verdict = f"{fails} would void the runs" if fails else "nothing that was checked would void the runs"
    out.print()
    out.print(safe_text(f"{plural(len(rows), 'row')}: {verdict}, {limited} limited, {unchecked} not checked."))

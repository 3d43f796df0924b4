"""``txop why ARCHIVE``: causes by intervention."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from txop.cli import console
from txop.cli.console import safe_text
from txop.core.errors import ExitCode
from txop.present import format as fmt

if TYPE_CHECKING:
    from rich.console import Console

    from txop.compare.causes import Causes
    from txop.stats.shapley import Effect


def explain(archive: str, arm: str | None, against: str | None, figure: str | None, *, json: bool) -> int:
    """Print what makes two arms differ. Raises :class:`UserError`."""
    from txop.archive.fetched import archive_at
    from txop.archive.reader import read_archive
    from txop.compare.archive import compare
    from txop.compare.causes import causes_of, chosen_factorial

    with archive_at(archive) as place:
        read = read_archive(place)
        chosen = chosen_factorial(read, arm, against)
        found = causes_of(read, compare(read), chosen, figure)
    if json:
        console.write_json({"format": "txop-causes", "version": 1, **asdict(found), "sentence": found.sentence})
    else:
        _show(console.stdout(), found)
    if found.left_out:
        blocks = fmt.plural(found.left_out, "block")
        console.warn(f"{blocks} left out: a combination has no valid run there.")
    return ExitCode.OK


def _show(out: Console, found: Causes) -> None:
    from rich.table import Table

    out.print(
        safe_text(f"{found.figure}: {found.arm} against {found.against}, by intervention ({found.origin})"),
        soft_wrap=True,
    )
    out.print(safe_text(f"Why {found.arm}: {found.sentence}"), soft_wrap=True)
    out.print()
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_edge=False)
    table.add_column(f"cause, {found.unit}")
    for name in ("share", f"{fmt.percent(100 * found.confidence, 0)} interval", "alone", "after the others"):
        table.add_column(name, justify="right")
    for cause in found.causes:
        table.add_row(
            safe_text(cause.words),
            fmt.signed(cause.share.mean),
            _interval(cause.share),
            fmt.signed(cause.alone.mean),
            fmt.signed(cause.last.mean),
        )
    table.add_row("in all", fmt.signed(found.whole.mean), _interval(found.whole), "", "")
    if found.residual is not None:
        name = f"none of these: {found.against} against {found.baseline}"
        table.add_row(safe_text(name), fmt.signed(found.residual.mean), _interval(found.residual), "", "")
    out.print(table)
    blocks = fmt.plural(len(found.blocks), "block")
    out.print(
        safe_text(
            f"Shares are Shapley values and sum to the whole; means of {blocks}, "
            f"{fmt.figure(found.before, 2)} → {fmt.figure(found.after, 2)}"
        ),
        soft_wrap=True,
    )


def _interval(effect: Effect) -> str:
    if effect.low is None or effect.high is None:
        return fmt.NOT_AVAILABLE
    return f"{fmt.signed(effect.low)} to {fmt.signed(effect.high)}"

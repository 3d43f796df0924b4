"""``--from``, ``--to`` and ``--whole``: the part of a capture that is counted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from txop.cli import console
from txop.cli.capture_output import STDIN
from txop.core.errors import UserError
from txop.core.stores import is_address

if TYPE_CHECKING:
    from txop.present.report_parts import Window

FromOption = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="MOMENT",
        help="Count only records from then on: +2.5s after the first record, 2024-05-01T12:00:00Z (UTC unless it has"
        " an offset), or @1714564800.25, seconds since 1970.",
    ),
]
ToOption = Annotated[
    str | None, typer.Option("--to", metavar="MOMENT", help="Count only records before then; written as with --from.")
]
WholeFlag = Annotated[
    bool,
    typer.Option("--whole", help="Count all of a capture in an archive, not only the measured window of its run."),
]


def window_of(
    name: str, kind: Literal["air", "bus"], from_: str | None, to: str | None, *, whole: bool
) -> tuple[str | None, str | None]:
    """The part of a capture to count: what was asked for, else the measured window of the run with it in its folder,
    as the figures of the run are of it. Says so on stderr."""
    if whole or from_ is not None or to is not None or name == STDIN or is_address(name):
        return from_, to
    if Path(name).absolute().parent.parent.name != "runs":
        return None, None  # in no archive; the models of one take longer to load than many a capture to read
    from txop.measure.probes.run_window import run_window

    found = run_window(Path(name), kind)
    if found is None:
        return None, None
    if found.from_ is None:
        said = f"Of {found.run} all that was captured, as its measured window cannot be determined: {found.why_not}."
    else:
        said = f"Of {found.run} the measured window, as in its run.json; --whole counts all that was captured."
    console.stderr().print(console.safe_text(said), soft_wrap=True)
    return found.from_, found.to


def check_window(from_: str | None, to: str | None, *, whole: bool = False) -> None:
    """Refuse invalid moments before minutes of reading."""
    if whole and (from_ is not None or to is not None):
        raise UserError("--whole does not go with --from and --to", what_to_do="leave one of them out")
    from txop.core.moment import FORMS, check_order, end_of

    ends = []
    for option, text in (("--from", from_), ("--to", to)):
        try:
            ends.append(end_of(text))
        except ValueError as error:
            raise UserError(str(error), where=option, what_to_do=FORMS) from error
    try:
        check_order(*ends)
    except ValueError as error:
        raise UserError(f"{error}: --from {from_} --to {to}") from error


def nothing_inside(path: str, window: Window | None) -> str | None:
    """What to say when none of the records lies in the window; else ``None``."""
    if window is None or window.records_inside:
        return None
    from txop.present.window import clock, described, records

    if not records(window):
        return None
    first, last = window.capture_first_unix_s, window.capture_last_unix_s
    extent = ""
    if first is not None and last is not None:
        extent = f" The capture is {last - first:.3f} s long and begins {clock(first)}."
    return f"{path} has nothing in the window {described(window)}.{extent}"

"""``--from`` and ``--to``: the part of a capture that is counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from txop.core.errors import UserError

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


def check_window(from_: str | None, to: str | None) -> None:
    """Refuse invalid moments before minutes of reading."""
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

"""Where a page goes, a file or standard output, and what cannot go there."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from txop.cli import console
from txop.core.errors import UserError

STDOUT = "-"
"""Standard output in place of a file."""


def is_stdout(target: Path | None) -> bool:
    """``-`` was given for a file."""
    return target is not None and os.fspath(target) == STDOUT


def check_page(html: Path | None, *, json: bool, csv: str | None = None, open_page: bool = False) -> None:
    """Refuse a page that could not be written, before minutes of reading."""
    if open_page and html is None:
        raise UserError("--open needs a page", what_to_do="add --html FILE")
    if html is None:
        return
    if not is_stdout(html):
        if not html.parent.is_dir():
            raise UserError("no such folder", where=str(html.parent), what_to_do="make it, or name another file")
    elif json or csv == STDOUT:
        other = "--json" if json else "--csv -"
        raise UserError(f"--html - and {other} both write to stdout", what_to_do="choose one, or --html FILE")
    elif open_page:
        raise UserError("--open needs a file", what_to_do="name it with --html FILE")


def write_page(text: str, html: Path) -> None:
    """Write the page to a file, atomically, or to standard output."""
    if is_stdout(html):
        sys.stdout.write(text)
        return
    from txop.core.whole_file import whole_file

    with whole_file(html) as out:
        out.write(text)
    console.stderr().print(console.safe_text(f"Wrote {html}"), soft_wrap=True)


def a_folder(value: Path | None) -> Path | None:
    """The value of an option that takes a folder: several files do not fit into standard output."""
    if is_stdout(value):
        raise UserError("--output takes a folder here, not - for stdout", what_to_do="name a folder")
    return value

"""Where the report of one or more captures goes: checks before minutes of reading, and CSV tables."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from txop.cli import console
from txop.cli.archive_place import refuse_address
from txop.cli.page_output import check_page
from txop.core.errors import UserError
from txop.core.nearest import did_you_mean
from txop.formats.error import FormatError

STDIN = "-"
"""Standard input as a capture, standard output for CSV."""


def damaged(path: str, offset: int, message: str) -> str:
    """The warning about a capture that could not be read to its end."""
    return f"{path} is damaged at byte {offset:,}: {message}. The report covers what came before."


def check_output(
    files: Sequence[str],
    *,
    json: bool,
    html: Path | None,
    csv: str | None,
    table: Sequence[str] | None,
    open_page: bool = False,
) -> None:
    """Refuse options that cannot go together, and pages that could not be written."""
    check_page(html, json=json, csv=csv, open_page=open_page)
    if table and csv is None:
        raise UserError("--table chooses what --csv writes", what_to_do="add --csv - or --csv DIR")
    if json and csv == STDIN:
        raise UserError("--json and --csv - both write to stdout", what_to_do="choose one, or --csv DIR")
    if list(files).count(STDIN) > 1:
        raise UserError("stdin (-) can be read only once")


def renamed(document: bytes, source: str, name: str) -> bytes:
    """A report that says where it is from as the user does, not as the pipe or copy in between."""
    if source == name:
        return document
    before, after = (b'"path":' + json.dumps(each).encode() for each in (source, name))
    return document.replace(before, after, 1)


@contextmanager
def own_document() -> Iterator[None]:
    """Around the reading of a document by this program's own analyzer: wrong only if the two do not belong together."""
    try:
        yield
    except FormatError as error:
        raise UserError(
            f"the compiled part of txop does not belong to this version of its Python part ({error})",
            what_to_do="install txop again; in a clone: make setup",
        ) from error


def chosen_sections(text: str | None, known: Collection[str]) -> tuple[str, ...]:
    """The names in the value of ``--section``."""
    names = tuple(name.strip() for name in (text or "").split(",") if name.strip())
    for name in names:
        if name not in known:
            raise UserError(f'unknown section "{name}"', what_to_do=did_you_mean(name, list(known)))
    return names


def write_tables(
    write: Callable[[str, IO[str]], None], known: Sequence[str], target: str, names: Sequence[str] | None, example: str
) -> None:
    """Write CSV tables, all ``known`` ones or those in ``names``, into the folder ``target`` or one to standard output.

    ``write(name, out)`` writes one; ``example`` is a table to name in an error.
    """
    from txop.core.whole_file import whole_file

    for name in names or ():
        if name not in known:
            raise UserError(f'unknown table "{name}"', what_to_do=did_you_mean(name, known, len(known)))
    if target == STDIN:
        if not names or len(names) != 1:
            what_to_do = f"name it with --table, for example --table {example}"
            raise UserError("--csv - writes one table", what_to_do=what_to_do)
        write(names[0], sys.stdout)
        return
    folder = Path(target)
    refuse_address(folder, "--csv")
    folder.mkdir(parents=True, exist_ok=True)
    for name in names or known:
        with whole_file(folder / f"{name}.csv", newline="") as out:
            write(name, out)
    console.stderr().print(console.safe_text(f"Wrote {len(names or known)} tables to {folder}"))

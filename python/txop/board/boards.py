"""Boards that come with txop (``examples/boards``), those of files, and that of an archive or a plan."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, replace
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from pydantic import ValidationError

from txop.archive.layout import Layout
from txop.archive.regular import read_regular
from txop.board.model import Board
from txop.core.errors import UserError
from txop.core.nearest import nearest

_MOST_BYTES = 4 << 20

BESIDE = "board.toml"
"""The board of an archive, in its folder; that of a plan, beside it."""


@dataclass(frozen=True)
class LocatedBoard:
    """A board, and where it is."""

    board: Board
    name: str
    folder: Path | None
    """The folder that its evidence is in; ``None``: the board has none in files."""
    archive: Layout | None = None
    """The archive that was named in its place."""


def shipped() -> dict[str, Traversable]:
    """The files of every board that comes with txop, by its name."""
    folder = resources.files("txop.board") / "boards"
    files = sorted((file for file in folder.iterdir() if file.name.endswith(".toml")), key=lambda file: file.name)
    return {file.name.removesuffix(".toml"): file for file in files}


def find(word: str, given: Path | None = None) -> LocatedBoard:
    """The board that ``word`` stands for: a name, a board file, an archive or a plan.

    Args:
        word: As it stands on the command line.
        given: The board of an archive or a plan, where it is not beside it: a file, or a name.

    Raises:
        UserError: there is none, or it cannot be read.
    """
    path = Path(word)
    known = shipped()
    if word in known and not path.exists():
        file = known[word]
        folder = Path(str(file)).parent if isinstance(file, Path) else None
        return LocatedBoard(_parsed(file.read_text(encoding="utf-8"), file.name), word, folder)
    if path.is_dir():
        if not (path / "archive.json").exists():
            raise UserError("neither a board nor an archive", where=word, what_to_do="name a file or an archive")
        return of_archive(Layout(path), given)
    if not path.exists():
        close = nearest(word, known)
        to_do = f'did you mean "{close}"?' if close else f"choose from {', '.join(known)}, or name a file"
        raise UserError("no such board", where=word, what_to_do=to_do)
    text = _text(path)
    if _is_plan(text):
        named = path.with_name(f"{path.stem}.{BESIDE}")
        return _beside(given or (named if named.exists() else path.with_name(BESIDE)), word, archive=None)
    if given is not None:
        raise UserError("--board goes with an archive or a plan", where=word, what_to_do="leave one of them out")
    return LocatedBoard(_parsed(text, word), word, path.parent)


def read(path: Path) -> Board:
    """The board in a file. Raises :class:`UserError`, with the place, when it is not a board."""
    return _parsed(_text(path), str(path))


def of_archive(layout: Layout, given: Path | None) -> LocatedBoard:
    """The board of an archive: ``given`` (a file, or a name), else the one in its folder. Raises :class:`UserError`."""
    return _beside(given or layout.root / BESIDE, layout.named, archive=layout)


def _beside(board: Path, word: str, archive: Layout | None) -> LocatedBoard:
    if not board.exists() and str(board) in shipped():
        return replace(find(str(board)), archive=archive)
    if not board.exists():
        raise UserError("it has no board", where=word, what_to_do=f"write {board}, or name one with --board")
    return LocatedBoard(read(board), str(board), board.parent, archive)


def _is_plan(text: str) -> bool:
    try:
        found = tomllib.loads(text)
    except (ValueError, RecursionError):
        return False
    return "format" not in found and ("target" in found or isinstance(found.get("arm"), list))


def _text(path: Path) -> str:
    try:
        return read_regular(path, _MOST_BYTES).decode("utf-8")
    except OSError as error:
        raise UserError(error.strerror or str(error), where=str(path)) from None
    except UnicodeDecodeError:
        raise UserError("it is not UTF-8", where=str(path)) from None


def _parsed(text: str, where: str) -> Board:
    try:
        return Board.model_validate(tomllib.loads(text))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the board"
        more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
        raise UserError(f"{place}: {first['msg']}{more}", where=where, what_to_do="see docs/board.md") from None
    except (ValueError, RecursionError) as error:
        raise UserError(f"it is not TOML: {error}"[:300], where=where) from None

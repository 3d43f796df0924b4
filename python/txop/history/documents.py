"""Documents that come with txop (``examples/history``), and those of files."""

from __future__ import annotations

import tomllib
from importlib import resources
from pathlib import Path

from pydantic import ValidationError

from txop.archive.regular import read_regular
from txop.core.errors import UserError
from txop.history.model import Document

_MOST_BYTES = 4 << 20


def shipped() -> dict[str, Document]:
    """Every document that comes with txop, by its name."""
    folder = resources.files("txop.history") / "documents"
    files = sorted((file for file in folder.iterdir() if file.name.endswith(".toml")), key=lambda file: file.name)
    return {file.name.removesuffix(".toml"): _parsed(file.read_text(encoding="utf-8"), file.name) for file in files}


def read(path: Path) -> Document:
    """The document in a file. Raises :class:`UserError`, with the place, when it is not one."""
    try:
        text = read_regular(path, _MOST_BYTES).decode("utf-8")
    except OSError as error:
        raise UserError(error.strerror or str(error), where=str(path)) from None
    except UnicodeDecodeError:
        raise UserError("it is not UTF-8", where=str(path)) from None
    return _parsed(text, str(path))


def _parsed(text: str, where: str) -> Document:
    try:
        return Document.model_validate(tomllib.loads(text))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
        raise UserError(f"{place}: {first['msg']}{more}", where=where, what_to_do="see docs/history.md") from None
    except (ValueError, RecursionError) as error:
        raise UserError(f"it is not TOML: {error}"[:300], where=where) from None

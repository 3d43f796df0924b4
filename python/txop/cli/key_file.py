"""``--key-file``: where keys come from, and who else can read them."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Annotated

import typer

from txop.cli import console
from txop.core.errors import UserError

KeyFileOption = Annotated[
    Path | None,
    typer.Option(
        "--key-file", metavar="FILE", help="Decrypt with the passphrases, PMKs and session keys in this file."
    ),
]

DOCUMENTED = "see docs/air-decryption.md for what a key file holds"
"""What to do about a file that is not a key file."""


def check_key_file(path: Path | None) -> None:
    """Say so when others can read the keys, as ssh does."""
    if path is None:
        return
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}") from error
    if stat.S_ISREG(mode) and mode & (stat.S_IRWXG | stat.S_IRWXO):
        shown = f"{path} can be read or changed by other users (mode {stat.S_IMODE(mode):04o})"
        console.warn(f"{shown}. Run: chmod 600 {path}")

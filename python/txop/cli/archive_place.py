"""Archives in folders and in stores: the words for an argument that may be either, and what has to be a folder."""

from __future__ import annotations

from pathlib import Path

from txop.core.errors import UserError
from txop.core.stores import was_address

ARCHIVE_HELP = "The folder that `txop run` made, or its address (s3://..., zip://...)."
"""Such an argument is text: a :class:`~pathlib.Path` would make one stroke of the two of ``s3://``."""

_APPENDS = "it appends to a journal and holds a lock, and stores have neither"
_WHY = {"note": _APPENDS, "resume": _APPENDS, "run": _APPENDS, "bisect": _APPENDS, "ci": _APPENDS,
        "import": "it is written atomically, by one renaming, and stores rename no folder at once"}  # fmt: skip
"""Why a command works in a folder only."""


def refuse_address(path: Path, command: str) -> None:
    """Raise :class:`UserError` where an address was given for a path on this machine."""
    if was_address(path):
        why = f": {_WHY[command]}" if command in _WHY else ""
        what = f"is an address, and txop {command} takes a path on this machine here{why}"
        to_do = "use a folder, and copy it from or to the store (fsspec, rclone, aws s3 sync)"
        raise UserError(what, where=str(path).replace(":/", "://", 1), what_to_do=to_do)

"""The folder of an archive, wherever it is: a copy of what is read of it, where it is in a store (``s3://``, ``zip://``)."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from txop.archive.layout import ArchiveError, Layout
from txop.core.errors import UserError
from txop.core.stores import file_system, is_address, reason

_CAPTURES = (".pcap", ".pcapng", ".pcap.gz", ".pcapng.gz", ".pcap.zst", ".pcapng.zst")
_LEFT_OUT = ("derived", "build")
"""Folders of an archive that are made of the rest, or that no report reads."""


@contextmanager
def archive_at(place: str, *, captures: bool = False) -> Iterator[Layout]:
    """The archive at a path or an address; of an address a copy, which is removed afterwards.

    Args:
        place: A folder, or an address that fsspec knows.
        captures: Whether captures are copied, too: they are most of an archive.

    Raises:
        UserError: the store does not answer, or what it has is not an archive. What is raised within names the address.
    """
    if not is_address(place):
        yield Layout(Path(place))
        return
    with tempfile.TemporaryDirectory(prefix="txop-archive-") as folder:
        try:
            _copy(place, Path(folder), captures=captures)
            yield Layout(Path(folder), named=place)
        except UserError as error:
            if error.where is not None:
                error.where = error.where.replace(folder, place)
            raise


def _copy(address: str, folder: Path, *, captures: bool) -> None:
    system, root = file_system(address)
    above = f"{root.rstrip('/')}/"
    places = [f"{above}archive.json"] if root.strip("/") else ["archive.json", "./archive.json"]  # as tar has it
    try:
        found = sorted(system.find(root)) if any(map(system.exists, places)) else []  # a bucket may have much else
    except FileNotFoundError:
        found = []
    except Exception as error:  # a store raises what it likes
        raise UserError(f"the store cannot be listed: {reason(error)}", where=address) from None
    top = root.strip("/")
    wanted: dict[str, Path] = {}
    for key in found:
        name = key.strip("/")
        parts = _parts(name.removeprefix(top).strip("/") if top else name, address)
        if parts[0] in _LEFT_OUT or (not captures and name.lower().endswith(_CAPTURES)):
            continue
        wanted[key] = folder.joinpath(*parts)
    if folder / "archive.json" not in wanted.values():
        raise ArchiveError(
            "is not an archive of a txop campaign (no archive.json in it)",
            where=Path(folder),
            what_to_do="give the address of the folder that `txop run` made",
        )
    for parent in {path.parent for path in wanted.values()}:
        parent.mkdir(parents=True, exist_ok=True)
    try:
        system.get(list(wanted), [str(path) for path in wanted.values()])  # at once, where the store can
    except Exception as error:  # a store raises what it likes
        raise UserError(f"it cannot be read: {reason(error)}", where=address) from None


def _parts(name: str, address: str) -> Sequence[str]:
    """The folders and the name of a file, none of which leads out of the archive."""
    parts = PurePosixPath(name).parts
    if not parts or ".." in parts or name.startswith("/") or "\0" in name:
        raise UserError(f"it has a file with a name that leads out of it: {name}", where=address)
    return parts

"""Where captures are and where a data set goes: a local path, or an address that fsspec knows (``s3://``, ``memory://``)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from txop.core.errors import UserError
from txop.core.stores import file_system, is_address, reason
from txop.core.whole_file import replacement

SUFFIXES = (".pcap", ".pcapng", ".cap", ".dmp", ".ntar")
"""File endings of captures in folders, each also with that of a compression."""
COMPRESSED = (".gz", ".zst")


@dataclass(frozen=True, order=True)
class Source:
    """A capture, and which state of it."""

    address: str
    """As it is named in the data set."""
    bytes: int | None
    """Its size; ``None``: the store does not give it."""
    changed: str
    """Stands for its contents: the time of the last change, or the store's tag."""


def sources(names: Sequence[str]) -> list[Source]:
    """Every capture that ``names`` (files, folders, addresses) stand for, each once, in order of the address.

    In folders, files are taken by their suffix, however deep; a file that is named is taken whatever it is called.

    Raises:
        UserError: a name stands for nothing.
    """
    found: dict[str, Source] = {}
    for name in names:
        listed = list(_remote(name) if is_address(name) else _local(Path(name)))
        if not listed:
            raise UserError("no capture in it", where=name, what_to_do=f"captures end in {', '.join(SUFFIXES)}")
        found.update((source.address, source) for source in listed)
    return sorted(found.values())


def _local(path: Path) -> Iterator[Source]:
    if path.is_dir():
        for folder, below, files in os.walk(path):
            below.sort()
            for file in sorted(files):
                if _is_capture(file) and (found := Path(folder) / file).is_file():
                    yield _of_path(found)
    elif path.exists():
        yield _of_path(path)
    else:
        raise UserError("no such file or folder", where=str(path))


def _of_path(path: Path) -> Source:
    facts = path.stat()
    return Source(str(path.absolute()), facts.st_size, str(facts.st_mtime_ns))


def _is_capture(name: str) -> bool:
    lower = name.lower()
    plain = next((lower.removesuffix(end) for end in COMPRESSED if lower.endswith(end)), lower)
    return plain.endswith(SUFFIXES)


def _remote(name: str) -> Iterator[Source]:
    system, path = file_system(name)
    protocol = name.partition("://")[0]
    try:
        found = system.find(path, detail=True)
    except FileNotFoundError:
        found = {}
    except Exception as error:  # a store raises what it likes
        raise UserError(f"the store cannot be listed: {reason(error)}", where=name) from None
    for key, facts in sorted(found.items()):
        if _is_capture(key) or key.strip("/") == path.strip("/"):
            tags = [facts.get(tag) for tag in ("ETag", "etag", "mtime", "LastModified", "created")]
            changed = next((str(tag) for tag in tags if tag is not None), "")
            yield Source(f"{protocol}://{key}", facts.get("size"), changed)


class Target:
    """The folder of a data set. Files are written atomically."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._system: Any = None
        if is_address(address):
            self._system, path = file_system(address)
            self._root = path.rstrip("/")
        else:
            self._root = str(Path(address).absolute())
        self.root = self._root

    def names(self, table: str) -> list[str]:
        """Files of a table."""
        if self._system is None:
            folder = Path(self._root) / table
            return sorted(path.name for path in folder.glob("*.parquet")) if folder.is_dir() else []
        try:
            self._system.invalidate_cache()
            found = self._system.ls(f"{self._root}/{table}", detail=False)
        except FileNotFoundError:
            return []
        return sorted(name.rpartition("/")[2] for name in found if name.endswith(".parquet"))

    def write(self, table: str, name: str, content: bytes) -> None:
        """Write one file of a table."""
        if self._system is None:
            path = Path(self._root) / table / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with replacement(path) as part:
                part.write_bytes(content)
            return
        self._system.makedirs(f"{self._root}/{table}", exist_ok=True)
        self._system.pipe_file(f"{self._root}/{table}/{name}", content)

    def read(self, table: str, name: str) -> bytes:
        """One file of a table."""
        if self._system is None:
            return (Path(self._root) / table / name).read_bytes()
        return bytes(self._system.cat_file(f"{self._root}/{table}/{name}"))

    def remove(self, table: str, name: str) -> None:
        """Remove one file of a table, if it is there."""
        try:
            if self._system is None:
                (Path(self._root) / table / name).unlink()
            else:
                self._system.rm_file(f"{self._root}/{table}/{name}")
        except FileNotFoundError:
            return

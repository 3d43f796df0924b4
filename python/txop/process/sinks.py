"""Where a command's output goes: into memory or into a file, never without bound."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO, Protocol


class Sink(Protocol):
    """Takes one stream of one command."""

    @property
    def cut(self) -> bool:
        """Whether something was thrown away."""

    @property
    def full(self) -> bool:
        """Nothing more will be kept, and the command has to be stopped for it."""

    @property
    def kept(self) -> bytes:
        """What is in memory."""

    @property
    def failure(self) -> str | None:
        """Why the output could not be kept, if so."""

    def take(self, data: bytes) -> None:
        """The next bytes."""

    def close(self) -> None:
        """No more will come."""


class Memory:
    """Keeps the first ``limit_bytes`` and lets the rest go by.

    >>> sink = Memory(4)
    >>> sink.take(b"abc"); sink.take(b"def")
    >>> sink.kept, sink.cut, sink.full
    (b'abcd', True, False)
    """

    failure = None

    def __init__(self, limit_bytes: int, *, stop_when_full: bool = False) -> None:
        self._limit_bytes = limit_bytes
        self._stop_when_full = stop_when_full
        self._data = bytearray()
        self.cut = False

    @property
    def full(self) -> bool:
        """See :class:`Sink`."""
        return self._stop_when_full and self.cut

    @property
    def kept(self) -> bytes:
        """See :class:`Sink`."""
        return bytes(self._data)

    def take(self, data: bytes) -> None:
        """See :class:`Sink`."""
        room = self._limit_bytes - len(self._data)
        self._data += data[:room]
        self.cut = self.cut or len(data) > room

    def close(self) -> None:
        """See :class:`Sink`."""


class File:
    """Writes to a file as the bytes come, so that what came before a crash of txop is there."""

    kept = b""

    def __init__(self, path: Path, limit_bytes: int | None) -> None:
        """Raises :class:`OSError` when the file cannot be made."""
        self._path = path
        self._file: BinaryIO = path.open("wb", buffering=0)
        self._left = limit_bytes
        self.cut = False
        self.failure: str | None = None

    @property
    def full(self) -> bool:
        """See :class:`Sink`."""
        return self.cut or self.failure is not None

    def take(self, data: bytes) -> None:
        """See :class:`Sink`."""
        if self.full:
            return
        if self._left is not None:
            self.cut = len(data) > self._left
            data = data[: self._left]
            self._left -= len(data)
        view = memoryview(data)
        try:
            while view:
                view = view[self._file.write(view) :]
        except OSError as error:
            self.failure = f"cannot write {self._path}: {error.strerror or error}"

    def close(self) -> None:
        """See :class:`Sink`."""
        self._file.close()

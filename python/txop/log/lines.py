"""Bytes to lines with bounded memory: from a file, a pipe, a gzip file, or a log that someone saved as UTF-16."""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

MAX_LINE = 65_536
"""Characters of a line that are kept. A kernel record has at most 1,024 (PRINTKRB_RECORD_MAX in printk.c); journal
entries in JSON are longer."""

_BLOCK = 1 << 18
_GZIP = b"\x1f\x8b"


@dataclass
class Damage:
    """Where reading had to end early, and why; ``text`` is None while all is well."""

    text: str | None = None


def read_lines(stream: BinaryIO, damage: Damage) -> Iterator[str]:
    """The lines of ``stream`` without their ends, each cut at :data:`MAX_LINE` characters.

    Bytes that are not UTF-8 come as ``\\xff`` escapes. A gzip stream that breaks off is reported in ``damage``; what
    came before is still delivered. Memory does not depend on the stream or on the length of its lines.
    """
    buffered = stream if isinstance(stream, io.BufferedReader) else io.BufferedReader(_Plain(stream))
    head = buffered.peek(4)[:4]
    if head[:2] == _GZIP:
        yield from _split(_gunzipped(buffered, damage), "utf-8")
    elif head[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        yield from _split(_blocks(buffered), "utf-16")
    else:
        yield from _split(_blocks(buffered), "utf-8-sig" if head[:3] == codecs.BOM_UTF8 else "utf-8")


class _Plain(io.RawIOBase):
    """Any binary stream as one that can be buffered."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        """One read of the stream."""
        data = self._stream.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def _blocks(reader: io.BufferedReader) -> Iterator[bytes]:
    while block := reader.read1(_BLOCK):
        yield block


def _gunzipped(reader: io.BufferedReader, damage: Damage) -> Iterator[bytes]:
    unzipped = gzip.GzipFile(fileobj=reader)
    try:
        while block := unzipped.read1(_BLOCK):
            yield block
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        damage.text = f"the gzip data ends early or is damaged ({error})"


def _split(blocks: Iterator[bytes], encoding: str) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder(encoding)("backslashreplace")
    pending = ""
    skipping = False  # inside a line of which the kept part has been seen
    for block in blocks:
        *lines, rest = decoder.decode(block).split("\n")
        for line in lines:
            if pending or skipping:
                line = pending if skipping else pending + line
                pending, skipping = "", False
            yield line[:MAX_LINE] if len(line) > MAX_LINE else line
        if not skipping:
            pending += rest
            skipping = len(pending) > MAX_LINE
            pending = pending[: MAX_LINE + 1]
    pending += "" if skipping else decoder.decode(b"", final=True)
    if pending:
        yield pending[:MAX_LINE]

"""How every parser of this package takes text and numbers from outside: bounded, finite, or refused.

An impossible number (not finite, negative where nothing negative exists, beyond 64 bits) is ``None``, as is
one that is absent; text that is too long or not text is a `FormatError`.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import math
import re
import zlib
from collections.abc import Iterator, Mapping
from typing import Any

from txop.formats.error import FormatError, quoted_start

TEXT_LIMIT_BYTES = 256 * 2**20
"""No output of a tool that txop drives is longer."""

JSON_LIMIT_BYTES = 64 * 2**20
"""Bound on one JSON document: as Python objects it takes about ten times its length."""

COUNTER_MAX = 2**64 - 1
"""The largest value of a kernel counter."""

_WHOLE = re.compile(r"-?[0-9]{1,20}")
_REAL = re.compile(r"[-+]?[0-9]{1,20}(?:\.[0-9]{0,20})?(?:[eE][-+]?[0-9]{1,3})?")
_NOT_A_NUMBER = re.compile(r'"(?:[^"\\]|\\.)*"|[-+]?(?:nan|inf(?:inity)?)\b', re.IGNORECASE | re.DOTALL)


def text_of(data: str | bytes, what: str, *, limit_bytes: int = TEXT_LIMIT_BYTES) -> str:
    """``data`` as text; bytes that are not UTF-8 become U+FFFD. ``what`` names the format in the message.

    Raises FormatError when it is longer than ``limit_bytes``.
    """
    if len(data) > limit_bytes:
        raise FormatError(f"{what}: more than {limit_bytes // 2**20} MiB of text, refused")
    return data if isinstance(data, str) else data.decode("utf-8", errors="replace")


def unpacked(data: bytes, what: str, *, limit_bytes: int) -> bytes:
    """``data``, decompressed when it is gzip or bzip2; bounded, so that a small file cannot become a large one."""
    if data.startswith(b"BZh"):
        return _unpacked_bzip2(data, what, limit_bytes=limit_bytes)
    if not data.startswith(b"\x1f\x8b"):
        return data
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            plain = file.read(limit_bytes + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise FormatError(f"{what}: the gzip data is damaged or cut off") from error
    if len(plain) > limit_bytes:
        raise FormatError(f"{what}: more than {limit_bytes // 2**20} MiB when decompressed, refused")
    return plain


def _unpacked_bzip2(data: bytes, what: str, *, limit_bytes: int) -> bytes:
    unpacker = bz2.BZ2Decompressor()
    try:
        plain = unpacker.decompress(data, max_length=limit_bytes + 1)
    except (OSError, ValueError) as error:
        raise FormatError(f"{what}: the bzip2 data is damaged") from error
    if len(plain) > limit_bytes:
        raise FormatError(f"{what}: more than {limit_bytes // 2**20} MiB when decompressed, refused")
    if not unpacker.eof:
        raise FormatError(f"{what}: the bzip2 data is cut off")
    return plain


def lines_of(text: str) -> Iterator[tuple[int, str]]:
    """The lines of ``text`` without their ends, numbered from 1. Only LF (or CR LF) ends a line."""
    start, number = 0, 1
    while start <= len(text):
        end = text.find("\n", start)
        if end < 0:
            if start < len(text):
                yield number, text[start:].rstrip("\r")
            return
        yield number, text[start:end].rstrip("\r")
        start, number = end + 1, number + 1


def whole(value: object, *, least: int = 0, most: int = COUNTER_MAX) -> int | None:
    """A whole number from text or from JSON, or ``None`` when it is not a number or outside ``least`` ... ``most``.

    >>> whole("12"), whole(12.0), whole("-1"), whole("18446744073709551539", most=2**53), whole(True)
    (12, 12, None, None, None)
    """
    match value:
        case bool():
            return None
        case int():
            number = value
        case float():
            if not math.isfinite(value) or value != int(value):
                return None
            number = int(value)
        case str():
            stripped = value.strip()
            if _WHOLE.fullmatch(stripped) is None:
                return None
            number = int(stripped)
        case _:
            return None
    return number if least <= number <= most else None


def real(value: object, *, least: float = 0.0, most: float = 1e18) -> float | None:
    """A finite number from text or from JSON, or ``None`` when it is not a number or outside ``least`` ... ``most``.

    >>> real("0.25"), real("nan"), real(float("inf")), real("-3", least=-100)
    (0.25, None, None, -3.0)
    """
    match value:
        case bool():
            return None
        case int():
            if abs(value) > 10**20:
                return None
            number = float(value)
        case float():
            number = value
        case str():
            stripped = value.strip()
            if _REAL.fullmatch(stripped) is None:
                return None
            number = float(stripped)
        case _:
            return None
    return number if math.isfinite(number) and least <= number <= most else None


def mapping(value: object) -> Mapping[str, Any]:
    """``value`` when it is a JSON object, else an empty one."""
    return value if isinstance(value, dict) else {}


def items(value: object) -> list[Any]:
    """``value`` when it is a JSON array, else an empty one."""
    return value if isinstance(value, list) else []


def string(value: object, *, longest: int = 65_536) -> str | None:
    """``value`` when it is text, cut to ``longest`` characters."""
    return value[:longest] if isinstance(value, str) else None


def _whole_of_json(digits: str) -> int | float:
    return int(digits) if len(digits) <= 25 else math.inf


def _last_wins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    return dict(pairs)


def json_documents(text: str, what: str, *, opening: str = "{", object_pairs_hook: Any = _last_wins) -> Iterator[Any]:
    """The JSON documents that follow one another in ``text``, each starting at the start of a line with ``{`` or ``[``.

    Lines before, between and after them that do not start so are passed over (warnings of the tool). ``nan`` and
    ``inf``, which C programs print and JSON does not know, are read as not-a-number. Raises FormatError where a
    document is cut off, damaged or nested too deeply; what came before it has then been yielded.
    """
    if len(text) > JSON_LIMIT_BYTES:
        raise FormatError(f"{what}: more than {JSON_LIMIT_BYTES // 2**20} MiB of JSON, refused")
    decoder = json.JSONDecoder(
        object_pairs_hook=object_pairs_hook, parse_int=_whole_of_json, parse_constant=lambda _: math.nan
    )
    start_of_document = re.compile(rf"^[ \t]*(?={re.escape(opening)})", re.MULTILINE)
    position, repaired = 0, False
    while (found := start_of_document.search(text, position)) is not None:
        try:
            document, position = decoder.raw_decode(text, found.end())
        except RecursionError:
            raise FormatError(f"{what}: the JSON is nested too deeply", offset=found.end()) from None
        except ValueError as error:
            if not repaired:
                text = text[: found.start()] + _NOT_A_NUMBER.sub(_as_json_nan, text[found.start() :])
                position, repaired = found.start(), True
                continue
            line = getattr(error, "lineno", None)
            raise FormatError(f"{what}: the JSON is cut off or damaged; {quoted_start(text)}", line=line) from None
        yield document


def _as_json_nan(token: re.Match[str]) -> str:
    return token[0] if token[0].startswith('"') else "NaN"

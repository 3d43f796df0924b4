"""Whether two exact guests were the same: what they left, compared byte by byte."""

from __future__ import annotations

import hashlib
from itertools import zip_longest
from pathlib import Path

from txop.core.visible import visible
from txop.guest.running import FILES

FIRST_NAMED = ("files/kernel.log", "console", "events", "stdout", "stderr")
"""Files with times: when several files differ, the first difference is shown of the first of these."""

LEFT = ("console", "events", "stdout", "stderr")
"""What a guest leaves in the folder of its results, beside ``files``; the rest was written by this machine."""

_CHUNK = 1 << 20


def results_sha256(results: Path) -> str:
    """SHA-256 of the names and contents of everything that a guest left in a folder. Raises :class:`OSError`."""
    digest = hashlib.sha256()
    for name in left_files(results):
        with (results / name).open("rb") as source:
            content = hashlib.file_digest(source, "sha256").hexdigest()
        digest.update(f"{content} {name}\n".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def difference(one: Path, other: Path) -> str | None:
    """Which files of two guests' results differ, and where the first of them does; ``None``: they are identical.

    Raises :class:`OSError`.
    """
    names = sorted(set(left_files(one)) | set(left_files(other)))
    missing = [name for name in names if not ((one / name).is_file() and (other / name).is_file())]
    differing = [name for name in names if name not in missing and not _same(one / name, other / name)]
    if not (missing or differing):
        return None
    shown = sorted(
        differing, key=lambda name: (FIRST_NAMED.index(name) if name in FIRST_NAMED else len(FIRST_NAMED), name)
    )
    words = []
    if differing:
        words.append(f"{len(differing)} of {len(names)} files differ ({_few(shown)})")
        words.append(f"first in {visible(shown[0])} {_place(one / shown[0], other / shown[0])}")
    if missing:
        words.append(f"only one has {_few(missing)}")
    return "; ".join(words)


def _few(names: list[str]) -> str:
    said = ", ".join(visible(name[:100]) for name in names[:4])
    return said if len(names) <= 4 else f"{said} and {len(names) - 4} more"


def left_files(results: Path) -> list[str]:
    """Names of everything that a guest left in a folder, sorted."""
    handed_out = [path.relative_to(results) for path in (results / FILES).rglob("*") if path.is_file()]
    return sorted([*(name for name in LEFT if (results / name).is_file()), *map(str, handed_out)])


def _same(one: Path, other: Path) -> bool:
    if one.stat().st_size != other.stat().st_size:
        return False
    with one.open("rb") as first, other.open("rb") as second:
        while chunk := first.read(_CHUNK):
            if chunk != second.read(_CHUNK):
                return False
    return True


def _place(one: Path, other: Path) -> str:
    """Where two files that are not the same differ first: the line and what it says in text, else the byte."""
    offset = 0
    text = not any(b"\0" in _head(path) for path in (one, other))
    with one.open("rb") as first, other.open("rb") as second:
        # a line without end is read in pieces
        lines = zip_longest(iter(lambda: first.readline(_CHUNK), b""), iter(lambda: second.readline(_CHUNK), b""))
        for number, (mine, its) in enumerate(lines, start=1):
            if mine == its:
                offset += len(mine or b"")
                continue
            if text and _is_text(mine) and _is_text(its):
                return f"at line {number}: {_said(mine)} or {_said(its)}"
            pairs = zip_longest(mine or b"", its or b"")
            offset += next(n for n, (a, b) in enumerate(pairs) if a != b)
            break
    return f"at byte {offset}"


def _head(path: Path) -> bytes:
    with path.open("rb") as source:
        return source.read(4096)


def _is_text(line: bytes | None) -> bool:
    return line is None or (len(line) < 4096 and all(byte >= 32 or byte in b"\t\r\n\x1b" for byte in line))


def _said(line: bytes | None) -> str:
    return "its end" if line is None else repr(visible(line.decode("utf-8", "replace").strip()[:120]))

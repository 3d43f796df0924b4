"""Paragraphs of a package index, as ``apt-cache show`` prints them (deb822(5)), as pure functions on text.

Not python-debian, which is well kept: the few fields and the one folding rule that are needed are a dozen lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class IndexEntry:
    """A version of a package that the archive offers."""

    name: str
    version: str
    architecture: str
    sha256: str
    size_bytes: int
    depends: tuple[str, ...]
    """Names of packages that it needs, the first of alternatives, versions left out."""


def read_index(text: str) -> Iterator[IndexEntry]:
    """The entries of an index, in its order. Paragraphs without name, version, size and hash are left out."""
    for paragraph in re.split(r"\n[ \t]*\n", text):
        fields = _fields(paragraph)
        size = fields.get("Size", "")
        digest = fields.get("SHA256", "").lower()
        if not (fields.get("Package") and fields.get("Version") and size.isdecimal() and _SHA256.fullmatch(digest)):
            continue
        depends = [*depended_on(fields.get("Pre-Depends", "")), *depended_on(fields.get("Depends", ""))]
        yield IndexEntry(
            fields["Package"],
            fields["Version"],
            fields.get("Architecture", "all"),
            digest,
            int(size),
            tuple(dict.fromkeys(depends)),
        )


@dataclass(frozen=True)
class SourceEntry:
    """A version of a source package that the archive offers."""

    name: str
    version: str
    files: tuple[tuple[str, int, str], ...]
    """Of each file the name, the size in bytes and the SHA-256."""


def read_sources(text: str) -> Iterator[SourceEntry]:
    """The entries of an index of source packages, in its order. Paragraphs without name, version and hashes are left
    out."""
    for paragraph in re.split(r"\n[ \t]*\n", text):
        fields = _fields(paragraph)
        name, version = fields.get("Package"), fields.get("Version")
        rows = [row.split() for row in fields.get("Checksums-Sha256", "").splitlines() if row.strip()]
        if not name or not version or not rows:
            continue
        if all(len(row) == 3 and _SHA256.fullmatch(row[0]) and row[1].isdecimal() for row in rows):
            yield SourceEntry(name, version, tuple((row[2], int(row[1]), row[0]) for row in rows))


def depended_on(field: str) -> list[str]:
    """Names in a dependency field: of alternatives the first.

    >>> depended_on("libc6 (>= 2.34), debconf (>= 0.5) | debconf-2.0, python3:any")
    ['libc6', 'debconf', 'python3']
    """
    names = []
    for clause in field.split(","):
        match = re.match(r"\s*([a-z0-9][a-z0-9+.-]*)", clause)
        if match:
            names.append(match[1])
    return names


def _fields(paragraph: str) -> Mapping[str, str]:
    fields: dict[str, str] = {}
    last = ""
    for row in paragraph.splitlines():
        if row[:1] in (" ", "\t"):
            if last:
                fields[last] += "\n" + row.strip()
            continue
        key, colon, value = row.partition(":")
        if colon:
            last = key
            fields[last] = value.strip()
    return fields

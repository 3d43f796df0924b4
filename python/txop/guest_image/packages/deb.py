"""Debian packages, read without dpkg: an ``ar`` archive with a compressed tar of the files (deb(5))."""

from __future__ import annotations

import contextlib
import posixpath
import shutil
import subprocess
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import IO

from txop.guest_image.error import GuestError, MissingGuestToolError

_GLOBAL = b"!<arch>\n"
_HEADER_BYTES = 60
_MAX_MEMBERS = 16
_MERGED = ("bin", "sbin", "lib", "lib64", "lib32")
"""Folders that are links into ``usr`` where ``/usr`` is merged; in packages both forms occur."""


class DebError(GuestError):
    """A file that is not a package, or a damaged one."""


def unpack(package: Path, target: Path, wanted: Callable[[str], bool] = lambda _: True) -> None:
    """Write the files of a package into a folder, with ``/usr`` merged.

    Ordinary files, folders and symbolic links only; owners and special permissions are left out.

    Args:
        package: The ``.deb``; the caller has checked its hash.
        target: A folder that is there.
        wanted: Which files, by their name in the folder (``usr/sbin/iw``).

    Raises:
        DebError: It is damaged, or a name leads out of the folder.
        OSError: It cannot be read, or the folder not written.
    """
    try:
        with data_tar(package) as stream, tarfile.open(fileobj=stream, mode="r|") as files:
            for member in files:
                _write(member, files, target, wanted)
    except (tarfile.TarError, EOFError, FileExistsError) as error:
        raise DebError(f"{package.name} is damaged: {error}") from None


def merged_name(name: str) -> str | None:
    """Where a file is when ``/usr`` is merged; ``None`` when the name leads out of the tree.

    >>> merged_name("./sbin/iw"), merged_name("./usr/lib/x"), merged_name("./../etc/passwd")
    ('usr/sbin/iw', 'usr/lib/x', None)
    """
    clean = posixpath.normpath(name.lstrip("/")) if name else "."
    first = clean.split("/", 1)[0]
    if first == ".." or "\0" in clean:
        return None
    return f"usr/{clean}" if first in _MERGED else clean


_DECOMPRESSORS = {
    ".xz": ("xz", "xz-utils"),
    ".zst": ("zstd", "zstd"),
    ".gz": ("gzip", "gzip"),
}
"""By the end of the member's name: the program, and the package it is in."""


@contextlib.contextmanager
def data_tar(package: Path) -> Iterator[IO[bytes]]:
    """The stream of the tar of a package's files, decompressed by a program of its own (on another core)."""
    with package.open("rb", buffering=0) as source:  # the program goes on where we stopped reading
        member = _seek_data(source, package.name)
        if member == "data.tar":
            yield source
            return
        with decompressed(source, member, package.name) as stream:
            yield stream


@contextlib.contextmanager
def decompressed(source: IO[bytes], name: str, where: str) -> Iterator[IO[bytes]]:
    """The stream of a compressed file, from where it is open, by a program of its own (on another core).

    Args:
        source: Open without a buffer.
        name: Its ending tells how it is compressed.
        where: What it is part of, for errors.
    """
    program = _DECOMPRESSORS.get(posixpath.splitext(name)[1])
    if program is None:
        raise DebError(f"{where}: {name} is compressed in a way that is not known")
    if shutil.which(program[0]) is None:
        raise MissingGuestToolError(f"{where} needs {program[0]}", what_to_do=f"install the package {program[1]}")
    # It reads on to the end of the file and may complain of what follows the data; a cut-short tar is found above.
    process = subprocess.Popen([program[0], "-dc"], stdin=source, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        assert process.stdout is not None
        yield process.stdout
    finally:
        process.kill()
        process.communicate()


def _seek_data(source: IO[bytes], name: str) -> str:
    """Go to the contents of the member ``data.tar.*``; its name."""
    if source.read(len(_GLOBAL)) != _GLOBAL:
        raise DebError(f"{name} is not a Debian package")
    for _ in range(_MAX_MEMBERS):
        header = source.read(_HEADER_BYTES)
        if len(header) < _HEADER_BYTES or header[58:60] != b"`\n":
            break
        member = header[:16].decode("ascii", "replace").strip().rstrip("/")
        size = header[48:58].decode("ascii", "replace").strip()
        if not size.isdecimal():
            break
        if member.startswith("data.tar"):
            return member
        source.seek(int(size) + int(size) % 2, 1)
    raise DebError(f"{name} has no files, or is damaged")


def _write(member: tarfile.TarInfo, files: tarfile.TarFile, target: Path, wanted: Callable[[str], bool]) -> None:
    name = merged_name(member.name)
    if name is None:
        raise DebError(f"the name {member.name!r} leads out of the package")
    if name == "." or member.isdir() or not wanted(name):
        return
    place = target / name
    if any((target / above).is_symlink() for above in PurePosixPath(name).parents):
        raise DebError(f"the name {member.name!r} leads through a link")
    place.parent.mkdir(parents=True, exist_ok=True)
    if member.issym():
        # Links are kept as they are and never followed here: see FileTree.
        with contextlib.suppress(FileExistsError):
            place.symlink_to(member.linkname)
    elif member.islnk():
        linked = merged_name(member.linkname)
        if linked is None:
            raise DebError(f"the link {member.linkname!r} leads out of the package")
        if (target / linked).is_file() and not (target / linked).is_symlink():
            shutil.copyfile(target / linked, place, follow_symlinks=False)
    elif member.isreg():
        content = files.extractfile(member)
        assert content is not None
        with place.open("xb") as out:
            shutil.copyfileobj(content, out, 1 << 20)
        place.chmod(0o755 if member.mode & 0o100 else 0o644)

"""Files added to an archive of imported runs: the archive changes at one moment, and only when all of it is there."""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import tomllib
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from txop.archive.layout import ArchiveLock, Layout, sync_folder
from txop.archive.regular import read_regular
from txop.exchange.beside import folder_beside
from txop.exchange.how_read import HOW_READ_FILE, HowRead
from txop.exchange.imported import DataImportError
from txop.exchange.recognise import read_file
from txop.exchange.write import FILES_FOLDER, Source, Written, fill
from txop.formats.error import FormatError

_MOST_BYTES = 1 << 30
_MADE_AGAIN = {"archive.json", "plan.toml", "runs", "derived", FILES_FOLDER}
"""What an import writes itself; anything else in the folder (notes, a board, a report) is kept as it is."""
_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


def add(root: Path, sources: Sequence[Source], title: str | None = None) -> Written:
    """Add ``sources`` to the imported archive ``root``. Its runs keep their names.

    The archive is made again beside its place, of the files that it keeps and the new ones, and takes its place in one
    step. Until then, and whatever goes wrong, it stays as it was.

    Returns:
        The arms and tests that it has now, and how many runs were added.

    Raises:
        DataImportError: ``root`` is not an archive that ``txop import`` made, or its files cannot be read again whole.
        OSError: it could not be written.
    """
    layout = Layout(root)
    layout.check()
    was = root.stat().st_ino
    with ArchiveLock(layout):
        if root.stat().st_ino != was:
            raise DataImportError("another txop has just added to it", where=str(root), what_to_do="try again")
        before, not_read = _kept(root)
        names = {source.data for source in before}
        if again := next((source.name for source in sources if source.data in names), None):
            raise DataImportError("is in the archive already", where=again, what_to_do="leave it out")
        with folder_beside(root) as beside:
            written = fill(beside, title or _title(layout), [*before, *sources], not_read)
            if fresh := [sentence for sentence in written.left_out if sentence not in not_read]:
                raise DataImportError(fresh[0], what_to_do="the archive is left as it was")
            had, now = (set(os.listdir(each / "runs")) for each in (root, beside))  # noqa: PTH208 - names only
            lost = sorted(had - now)
            if lost:
                raise DataImportError(
                    f"run {lost[0]} would be lost", where=str(root), what_to_do="import all files again"
                )
            for path in root.iterdir():
                if path.name not in _MADE_AGAIN:
                    copy = shutil.copytree if path.is_dir() and not path.is_symlink() else shutil.copy2
                    copy(path, beside / path.name)
            _exchange(beside, root)
            sync_folder(root.absolute().parent)
    return Written(written.arms, written.tests, len(now - had), placed=written.placed)


def _kept(root: Path) -> tuple[list[Source], list[str]]:
    folder = root / FILES_FOLDER
    try:
        kept = HowRead.model_validate_json(read_regular(folder / HOW_READ_FILE, _MOST_BYTES))
    except FileNotFoundError:
        raise DataImportError(
            "is not an archive of imported files, or of a txop that did not keep how they were read",
            where=str(root),
            what_to_do="import all files into a new archive",
        ) from None
    except (OSError, ValidationError) as error:
        raise DataImportError(
            f"{FILES_FOLDER}/{HOW_READ_FILE} cannot be read: {error}"[:300], where=str(root)
        ) from None
    found = []
    for each in kept.files:
        if Path(each.file).name != each.file:
            raise DataImportError(f"{FILES_FOLDER}/{HOW_READ_FILE} names a file outside of its folder", where=str(root))
        try:
            data = read_regular(folder / each.file, _MOST_BYTES)
            found.append(Source(each.name, data, each.arm, read_file(data, each.given), each.given))
        except (OSError, FormatError) as error:
            raise DataImportError(
                f"its {FILES_FOLDER}/{each.file} cannot be read again: {error}", where=str(root)
            ) from None
    return found, kept.not_read


def _title(layout: Layout) -> str:
    return str(tomllib.loads(layout.plan.read_text(encoding="utf-8")).get("title", "Imported"))


def _exchange(one: Path, other: Path) -> None:
    """Let two folders take each other's place in one step (renameat2 with RENAME_EXCHANGE, Linux 3.15)."""
    call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if call is None:
        raise DataImportError("the C library of this machine has no renameat2", where=str(other),
                           what_to_do="import all files into a new archive")  # fmt: skip
    done = call(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other.absolute()), ctypes.c_uint(_RENAME_EXCHANGE))
    if done != 0:
        number = ctypes.get_errno()
        if number in (errno.EINVAL, errno.ENOSYS):
            what = "its file system cannot exchange two folders in one step"
            raise DataImportError(what, where=str(other), what_to_do="import all files into a new archive")
        raise OSError(number, os.strerror(number), str(other))

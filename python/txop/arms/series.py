"""A patch series from files: an mbox (`b4 am`, `git format-patch --stdout`), mails, patches, edit scripts, or folders
of these. Each patch becomes a file of its own."""

from __future__ import annotations

import email.message
import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from email.header import decode_header, make_header
from pathlib import Path

from txop.arms.edits.script import EditScriptError, read_script
from txop.arms.patches import is_script
from txop.core.errors import UserError
from txop.core.whole_file import replacement
from txop.plan.named_file import named_file

MAX_PATCHES = 1000
MAX_BYTES = 64 << 20
"""Larger files are refused."""

_DIFF = re.compile(rb"^(?:diff --git |--- \S)", re.MULTILINE)
_BETWEEN = re.compile(rb"^From [^\n]*\d\d:\d\d:\d\d[^\n]*\n", re.MULTILINE)
"""The line before each mail of an mbox (RFC 4155)."""
_NUMBER = re.compile(r"\[[^\]]*?(\d+)/\d+[^\]]*\]")


@dataclass(frozen=True)
class SeriesPatch:
    """A patch of a series."""

    file: Path
    """A patch for ``git apply -p1``, or an edit script."""
    title: str
    author: str | None = None


def read_series(paths: Sequence[Path], folder: Path) -> list[SeriesPatch]:
    """The patches, in their order: of an mbox by their number ([PATCH 2/3]), else as they come; of a folder by name.

    Args:
        paths: Files and folders.
        folder: Patches of mails are written into a folder below it, named by what they are.

    Raises:
        UserError: A file is not there, or has no patch.
    """
    found: list[SeriesPatch] = []
    for path in paths:
        place = named_file(Path(), str(path))
        if place.is_dir():
            names = sorted(each for each in place.iterdir() if each.suffix in (".patch", ".diff", ".mbox", ".toml"))
            if not names:
                raise UserError("the folder has no patch (*.patch, *.diff, *.mbox, *.toml)", where=str(path))
            for each in names:
                found += _of_file(each, folder)
        else:
            found += _of_file(place, folder)
    if len(found) > MAX_PATCHES:
        raise UserError(f"there are {len(found)} patches, and {MAX_PATCHES} are the most")
    return found


def _of_file(path: Path, folder: Path) -> list[SeriesPatch]:
    if is_script(path):
        try:
            return [SeriesPatch(path, read_script(path).title)]
        except EditScriptError as error:
            raise UserError(str(error), where=str(path)) from None
    with path.open("rb") as source:
        data = source.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise UserError(f"it is larger than {MAX_BYTES:,} bytes", where=str(path), what_to_do="is it a patch?")
    if data.startswith(b"From ") or re.match(rb"[A-Za-z-]+: ", data):
        patches = _of_mails(path, data, folder)
    elif _DIFF.search(data):
        patches = [SeriesPatch(path, path.stem)]
    else:
        patches = []
    if not patches:
        raise UserError(
            "it has no patch", where=str(path), what_to_do="give an mbox, `git format-patch` files or edit scripts"
        )
    return patches


def _of_mails(path: Path, data: bytes, folder: Path) -> list[SeriesPatch]:
    messages: list[tuple[int, int, email.message.Message]] = []
    mails = _BETWEEN.split(data)[1:] if data.startswith(b"From ") else [data]
    for place, message in enumerate(map(email.message_from_bytes, mails)):
        number = _NUMBER.search(_header(message, "Subject"))
        messages.append((int(number[1]) if number else place + 1, place, message))
    digest = hashlib.sha256(data).hexdigest()[:16]
    found: list[SeriesPatch] = []
    for order, place, message in sorted(messages, key=lambda each: each[:2]):
        body = b"\n".join(_bodies(message))
        if not _DIFF.search(body):
            continue  # a cover letter, or an answer
        subject = _header(message, "Subject")
        title = re.sub(r"^(?:\s*\[[^\]]*\])+\s*", "", subject) or path.stem
        name = re.sub(r"[^A-Za-z0-9]+", "-", title).strip("-")[:52] or "patch"
        target = folder / digest / f"{order:04d}-{name}.patch"
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.exists() and any(each.file == target for each in found):
            target = target.with_stem(f"{target.stem}-{place}")
        with replacement(target) as written:
            written.write_bytes(body)
        found.append(SeriesPatch(target, title, _header(message, "From") or None))
    return found


def _bodies(message: email.message.Message) -> Iterator[bytes]:
    for part in message.walk():
        if part.get_content_maintype() == "text":
            content = part.get_payload(decode=True)
            if isinstance(content, bytes):
                yield content.replace(b"\r\n", b"\n")


def _header(message: email.message.Message, name: str) -> str:
    raw = message.get(name)
    if raw is None:
        return ""
    try:
        text = str(make_header(decode_header(str(raw))))
    except (LookupError, ValueError):
        text = str(raw)
    return " ".join(text.split())

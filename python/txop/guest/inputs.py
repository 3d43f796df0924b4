"""What an exact guest is a function of, by content: two guests with equal inputs leave the same bytes.

Taken are the bytes that QEMU loads and the arguments that it gets, not the names of what they were made of: so whatever
changes them (a kernel, a module, a fault script, a line of txop) makes other inputs.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from txop.guest.outside import CONFIG, VARIABLE, GivenRun, config_of, device_arguments, find_library
from txop.guest.qemu import Computer, Mode, arguments
from txop.guest_image.cache import sha256_of
from txop.guest_image.emulator.lock import find_emulator_lock
from txop.guest_image.emulator.shim import shim_sha256
from txop.guest_image.error import GuestError
from txop.guest_image.image import Image
from txop.guest_image.overlay import Overlay, overlay_archive

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

VERSION = 1
"""Raised when inputs mean something else than before, or begin to have what they lacked."""

_GUEST = Path("/guest")
"""Stands for the folder of a guest, which is another one each time."""


class NotExactError(GuestError):
    """A guest with results that its inputs do not determine."""


@dataclass(frozen=True)
class Inputs:
    """What a guest is a function of."""

    parts: Mapping[str, Any]
    """By name: hashes, words, settings; data of JSON."""

    @property
    def key(self) -> str:
        """Their hash, in hexadecimal."""
        return key_of(self.parts)


def key_of(parts: Mapping[str, Any]) -> str:
    """The hash of inputs.

    >>> key_of({"a": 1, "b": [2]}) == key_of({"b": [2], "a": 1}), key_of({"a": 1}) == key_of({"a": 2})
    (True, False)
    """
    return hashlib.sha256(json.dumps(parts, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def inputs_of(
    image: Image, overlay: Overlay, computer: Computer, booted: str | None = None, run: GivenRun | None = None
) -> Inputs:
    """What a guest is a function of. ``booted``: see :func:`boots_sha256`, where it is known. ``run``: it is one that
    was saved and restored for this; how it was until then is what the others decide.

    Raises:
        NotExactError: It also depends on something else.
        GuestError: What it takes is missing.
        OSError: A file cannot be read.
    """
    _check_exact(computer)
    return Inputs(parts_of(image, overlay, computer, booted, is_saved=run is not None, run=run))


def parts_of(
    image: Image,
    overlay: Overlay,
    computer: Computer,
    booted: str | None = None,
    *,
    is_saved: bool,
    run: GivenRun | None = None,
) -> dict[str, Any]:
    """See :func:`inputs_of`; of a guest that is not exact, too, of which they are not all. ``is_saved``: it may be
    saved and restored.

    Raises:
        GuestError: What it takes is missing.
        OSError: A file cannot be read.
    """
    lock = find_emulator_lock()
    files = {name: Path(f"{_GUEST}{name}") for name in overlay.files}
    config = config_of(
        _GUEST,
        files | {name: Path(f"{_GUEST}{name}") for name in overlay.texts},
        exact=True,
        checkpoints=is_saved,
        run=run,
    )
    devices = device_arguments(_GUEST / CONFIG, restored=is_saved)
    return {
        "version": VERSION,
        "boots_sha256": booted or boots_sha256(image, overlay),
        "arguments": arguments(computer, Path("/kernel"), Path("/initramfs"), _GUEST, devices=devices),
        "devices": config,
        "qemu_sha256": lock.program_sha256,
        "qemu_packages": hashlib.sha256(
            "\n".join(sorted(f"{each.name} {each.sha256}" for each in lock.packages)).encode()
        ).hexdigest(),
        "chips_sha256": sha256_of(find_library()),
        "shim_sha256": shim_sha256(),
    }


def boots_sha256(image: Image, overlay: Overlay) -> str:
    """The hash of the bytes that a guest boots: its kernel, the files of the image, those laid over them."""
    added = _Hashing()
    overlay_archive(overlay, image).write(added)
    stat = (image.folder / "initramfs.gz").stat()
    base = _base_sha256(image, stat.st_size, stat.st_mtime_ns)
    return hashlib.sha256(f"{sha256_of(image.kernel)} {base} {added.hexdigest}".encode()).hexdigest()


FileStates = tuple[tuple[int, ...] | None, ...]
"""State of files: what changes with their contents or mode; ``None``: one that cannot be looked at."""


def file_states(overlay: Overlay) -> FileStates:
    """State of the files of this machine that a guest takes beside its image. While they stay the same, so does what
    they add to its inputs."""
    library: tuple[Path, ...] = ()
    with suppress(GuestError):
        library = (find_library(),)
    return tuple(map(_state, (*overlay.files.values(), *overlay.modules, *library)))


def _state(path: Path) -> tuple[int, ...] | None:
    with suppress(OSError):
        found = path.stat()
        return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino, found.st_dev
    return None


@lru_cache(maxsize=32)
def _base_sha256(image: Image, size: int, mtime_ns: int) -> str:
    """Of the image's files. Size and time are those of the file, so that another one is read again."""
    del size, mtime_ns
    base = _Hashing()
    image.write_initramfs(base)
    return base.hexdigest


class _Hashing(io.BytesIO):
    """A file to write to, of which only the hash is wanted."""

    def __init__(self) -> None:
        super().__init__()
        self._digest = hashlib.sha256()

    def write(self, data: ReadableBuffer, /) -> int:
        """Take bytes."""
        self._digest.update(data)
        return memoryview(data).nbytes

    @property
    def hexdigest(self) -> str:
        """Of all of them."""
        return self._digest.hexdigest()


def _check_exact(computer: Computer) -> None:
    if computer.mode is not Mode.EXACT or computer.kvm or computer.shell:
        raise NotExactError("only an exact guest is a function of its inputs")
    if computer.debugger or computer.record or computer.replay:
        raise NotExactError("a guest that is debugged, recorded or replayed is not one by itself")
    if os.environ.get(VARIABLE):
        raise NotExactError(f"{VARIABLE} names a program in place of the pinned QEMU")

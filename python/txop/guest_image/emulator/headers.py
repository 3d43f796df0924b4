"""The headers that txop's devices are compiled against: those of the source, patched, and those a build would make."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from txop.core.visible import visible
from txop.guest_image.cache import new_folder
from txop.guest_image.emulator import recipe
from txop.guest_image.emulator.lock import EmulatorLock
from txop.guest_image.emulator.source import DEBIAN, ORIGINAL, SourceError, SourceStore, unpack_source
from txop.guest_image.packages.apt import Progress

SELECTION = 1
"""Raised when this module builds differently."""

GENERATED = "generated"
SOURCE = "source"
"""The two folders of headers: those that a build makes come first."""

_GENERATOR_S = 300.0


def headers_place(lock: EmulatorLock, cache: Path) -> Path:
    """Where the headers of a lock's QEMU are, or will be."""
    parts = [
        SELECTION, recipe.SOURCE_HEADERS, recipe.SOURCE_GENERATOR, recipe.HEADER_ENDINGS, recipe.CONFIG_WORDS,
        [file.sha256 for file in lock.sources],
    ]  # fmt: skip
    digest = hashlib.sha256(json.dumps(parts).encode()).hexdigest()
    return cache / "emulators" / f"headers-{lock.version}_{digest[:24]}"


def headers_folder(lock: EmulatorLock, cache: Path, progress: Progress) -> Path:
    """A folder with the headers, made when it is not there, of a source that is. Raises :class:`GuestError`."""
    place = headers_place(lock, cache)
    if place.is_dir():
        return place
    store = SourceStore(lock, cache, progress)
    original, debian = (store.path(lock.source(ending)) for ending in (ORIGINAL, DEBIAN))
    progress(f"taking the headers out of QEMU's source ({lock.source(ORIGINAL).size_bytes / 1e6:.1f} MB)")
    with new_folder(place) as work:
        with tempfile.TemporaryDirectory(dir=work, prefix="unpacked-") as name:
            unpacked = Path(name)
            unpack_source(original, debian, unpacked, is_read)
            (work / GENERATED).mkdir()
            _generate(unpacked, work / GENERATED)
            for path in unpacked.rglob("*"):
                relative = path.relative_to(unpacked).as_posix()
                if path.is_file() and is_header(relative):
                    (work / SOURCE / relative).parent.mkdir(parents=True, exist_ok=True)
                    shutil.move(path, work / SOURCE / relative)
        (work / GENERATED / "config-poison.h").write_text("", encoding="utf-8")
        (work / GENERATED / "config-host.h").write_text(_configuration(lock), encoding="utf-8")
    return place


def is_read(name: str) -> bool:
    """Whether a file of the source is read to make the headers, or is one."""
    return is_header(name) or name.startswith(recipe.SOURCE_GENERATOR)


def is_header(name: str) -> bool:
    """Whether a file of the source is a header that devices may include."""
    return name.startswith(recipe.SOURCE_HEADERS) and name.endswith(recipe.HEADER_ENDINGS)


def _generate(source: Path, target: Path) -> None:
    """Have QEMU's own generator write the headers of the QAPI. It needs Python's standard library only."""
    made = target / "qapi"
    argv = [
        sys.executable,
        "-E",
        "-s",
        "-S",
        "-B",
        "scripts/qapi-gen.py",
        "-b",
        "-o",
        str(made),
        "qapi/qapi-schema.json",
    ]
    try:
        ran = subprocess.run(
            argv, cwd=source, stdin=subprocess.DEVNULL, capture_output=True, timeout=_GENERATOR_S, check=False
        )
    except subprocess.TimeoutExpired:
        raise SourceError(f"QEMU's qapi-gen.py did not end within {_GENERATOR_S:g} s") from None
    if ran.returncode != 0:
        said = ran.stderr.decode("utf-8", "replace").strip().splitlines()
        raise SourceError(f"QEMU's qapi-gen.py failed: {visible(said[-1][:300]) if said else 'no reason given'}")
    for path in made.rglob("*"):
        if path.is_file() and path.suffix != ".h":
            path.unlink()


def _configuration(lock: EmulatorLock) -> str:
    rows = [*(f"#define {word} 1" for word in recipe.CONFIG_WORDS), f'#define QEMU_VERSION "{lock.version}"']
    return "\n".join(rows) + "\n"

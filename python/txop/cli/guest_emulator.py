"""What ``txop guest build`` does about QEMU: the options, and a lock that is pinned, checked and made ready."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from txop.cli import console
from txop.cli.console import safe_text
from txop.cli.guest_options import note

if TYPE_CHECKING:
    from txop.guest_image.emulator.lock import EmulatorLock
    from txop.guest_image.emulator.prepare import Prepared


@dataclass(frozen=True)
class EmulatorOptions:
    """Which QEMU."""

    emulator_lock: Annotated[
        Path | None,
        typer.Option(
            "--emulator-lock", metavar="FILE", help="Lock file of QEMU, in place of your own or the shipped one."
        ),
    ] = None
    update_emulator: Annotated[
        bool,
        typer.Option(
            "--update-emulator",
            help="Pin the QEMU that the archive has now, in --emulator-lock or a lock of your own, then build.",
        ),
    ] = False

    def pinned(self) -> EmulatorLock:
        """The lock that they ask for."""
        from txop.guest_image.emulator.lock import find_emulator_lock

        return find_emulator_lock(self.emulator_lock)

    def update(self) -> None:
        """Pin what the archive has now, and say what changes."""
        from txop.core.whole_file import whole_file
        from txop.guest_image.emulator.lock import lock_text, own_emulator_lock
        from txop.guest_image.emulator.pin import resolve_emulator
        from txop.guest_image.error import GuestError
        from txop.guest_image.packages.offers import changes

        resolved = resolve_emulator(progress=note)
        place = self.emulator_lock or own_emulator_lock()
        try:
            before = EmulatorOptions(place if place.is_file() else None).pinned()
            for row in changes(before, resolved) or ["nothing changed"]:
                note(f"  {row}")
        except GuestError:  # there was none that can be read
            pass
        place.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(place) as out:
            out.write(lock_text(resolved))
        note(f"Pinned QEMU {resolved.version} in {place}.")

    def prepare(self, packages: Path | None) -> Prepared:
        """QEMU and the object with txop's devices, made ready."""
        from txop.guest_image.emulator.prepare import prepare

        return prepare(self.pinned(), progress=note, packages_dir=packages)


def document(made: Prepared) -> Mapping[str, object]:
    """The part of the JSON document of ``txop guest build`` that is about QEMU."""
    return {
        "version": made.emulator.version,
        "package_version": made.emulator.package_version,
        "program": str(made.emulator.program),
        "sha256": made.emulator.sha256,
        "devices": str(made.shim),
        "seconds": round(made.seconds, 3),
    }


def tell(made: Prepared) -> None:
    """Say where QEMU is."""
    words = (
        f"{made.emulator.folder}: QEMU {made.emulator.version}, txop's devices compiled for it, {made.seconds:.1f} s"
    )
    console.stdout().print(safe_text(words), soft_wrap=True)

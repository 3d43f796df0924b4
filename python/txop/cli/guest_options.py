"""Options that the ``txop guest`` commands have in common, and how errors of a guest are reported."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from txop.cli import console
from txop.cli.console import safe_text
from txop.cli.ending import Ending
from txop.cli.guest_completion import kernels
from txop.core.errors import UserError

if TYPE_CHECKING:
    from txop.guest_image.image import Image
    from txop.guest_image.packages.lock import Lock


@dataclass(frozen=True)
class LockOptions:
    """Which packages of the distribution."""

    kernel: Annotated[
        str,
        typer.Option(
            "--kernel",
            metavar="SERIES",
            help="Kernel series of the distribution: 5.10, 6.1, 6.12.",
            autocompletion=kernels,
        ),
    ] = "6.12"
    lock: Annotated[
        Path | None, typer.Option("--lock", metavar="FILE", help="Lock file, in place of your own or the shipped one.")
    ] = None

    def pinned(self) -> Lock:
        """The lock that they ask for."""
        from txop.guest_image.locks import find_lock

        return find_lock(self.kernel, self.lock)


@dataclass(frozen=True)
class ImageOptions(LockOptions):
    """Which image."""

    kernel_file: Annotated[
        Path | None,
        typer.Option("--kernel-file", metavar="FILE", help="A kernel of your own (bzImage); with --modules-dir."),
    ] = None
    modules_dir: Annotated[
        Path | None, typer.Option("--modules-dir", metavar="DIR", help="Its modules, as /lib/modules/RELEASE.")
    ] = None

    def image(self) -> tuple[Image, Lock | None]:
        """The image that they ask for, made if needed, and the lock for drivers: ``None`` for your own kernel."""
        from txop.guest_image.image import build_image, build_image_of

        lock = self.pinned()
        if self.kernel_file is None and self.modules_dir is None:
            return build_image(lock, progress=note), lock
        if self.kernel_file is None or self.modules_dir is None:
            raise UserError("your own kernel takes both --kernel-file and --modules-dir")
        for path in (self.kernel_file, self.modules_dir):
            if not path.exists():
                raise UserError("no such file", where=str(path))
        return build_image_of(self.kernel_file, self.modules_dir, lock, progress=note), None


Module = Annotated[
    list[Path] | None,
    typer.Option("--module", metavar="KO", help="Module in place of the kernel's own; may be repeated."),
]


def note(words: str) -> None:
    """One line about what is being done, on stderr."""
    console.stderr().print(safe_text(words))


@contextmanager
def errors_reported() -> Iterator[Ending]:
    """Report errors of a guest as errors of the command. Signals end the block in order."""
    from txop.guest.running import GuestFailedError
    from txop.guest_image.cache import default_cache, room

    ending = Ending()
    try:
        with room(default_cache()), ending:
            yield ending
    except KeyboardInterrupt:
        if ending.number in (None, signal.SIGINT):
            raise
        raise SystemExit(128 + ending.number) from None
    except GuestFailedError as error:
        if error.console:
            note("The console of the guest, where it went wrong:")
            for row in error.console.splitlines():
                note(f"  {row}")
        raise

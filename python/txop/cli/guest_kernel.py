"""``txop guest kernel``: a kernel from your own tree, small and quick to build, for guests."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Annotated

import typer

from txop.cli import console
from txop.cli.console import JsonFlag, safe_text
from txop.cli.examples import Application, epilog
from txop.cli.guest_options import LockOptions, errors_reported, note
from txop.cli.option_groups import grouped
from txop.core.errors import UserError

Source = Annotated[Path, typer.Option("--source", metavar="DIR", help="The kernel's tree. It is only read.")]
With = Annotated[
    list[str] | None,
    typer.Option("--with", metavar="CHECKER", help="kasan, lockdep, kmemleak, ubsan or kcov; may be repeated."),
]
Config = Annotated[
    list[Path] | None,
    typer.Option("--config", metavar="FILE", help="More lines of a .config, which go before txop's; may be repeated."),
]
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="DIR", help="Copy bzImage, vmlinux, config and lib/modules there."),
]


def register(group: Application) -> None:
    """Add ``txop guest kernel``."""
    group.command(
        name="kernel",
        epilog=epilog(
            [
                ("txop guest kernel --source ~/linux -o mine", "the smallest kernel that runs a guest's testbed"),
                ("txop guest kernel --source ~/linux --with kasan --with lockdep -o checked", "one with checkers"),
                (
                    "txop guest run --kernel-file mine/bzImage --modules-dir mine/lib/modules/6.16.0 -- uname -a",
                    "boot it",
                ),
            ],
            ["In a plan: kernel_file and modules_dir of [guest] or [arm.guest]. docs/guest.md explains it."],
        ),
    )(grouped(kernel))


def kernel(
    *,
    source: Source,
    lock: LockOptions,
    with_: With = None,
    config: Config = None,
    output: Output = None,
    json: JsonFlag = False,
) -> None:
    """Build a kernel for guests from a tree of your own, in the smallest configuration that runs a guest's testbed."""
    from txop.guest_image.cache import room
    from txop.guest_image.own_kernel import KernelRecipe, build_kernel

    begun = time.monotonic()
    if not source.is_dir():
        raise UserError("it is not a folder", where=str(source))
    if output is not None and output.exists() and (not output.is_dir() or any(output.iterdir())):
        raise UserError("is not empty", where=str(output), what_to_do="give a new folder to --output")
    what = KernelRecipe(source, tuple(with_ or ()), tuple(config or ()))
    with errors_reported() as ending:
        made = ending.run(build_kernel(what, lock.pinned(), progress=note), at_once=True)
        place = made.folder
        if output is not None:
            with room(output, advice="choose another folder with --output"):
                shutil.copytree(made.folder, output, dirs_exist_ok=True, ignore=shutil.ignore_patterns("kernel.json"))
            place = output
    file, modules = place / made.kernel.name, place / "lib" / "modules" / made.release
    if json:
        console.write_json(
            {
                "format": "txop-guest-kernel",
                "version": 1,
                "release": made.release,
                "key": made.key,
                "kernel_file": str(file),
                "modules_dir": str(modules),
                "config": str(place / "config"),
                "build_dir": str(made.build),
                "not_taken": list(made.lost),
                "cached": made.cached,
                "seconds": round(time.monotonic() - begun, 3),
            }
        )
        return
    note(f"For `txop guest explore --coverage`: --build-dir {made.build}")
    console.stdout().print(safe_text(f"--kernel-file {file} --modules-dir {modules}"), soft_wrap=True)

"""``txop guest``: real drivers in a virtual machine, on virtual chips."""

from __future__ import annotations

import shutil
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from txop.cli import console, guest_run, guest_survey
from txop.cli.console import JsonFlag, safe_text
from txop.cli.errors import UserError
from txop.cli.guest_options import Kernel, KernelFile, LockFile, ModulesDir, note, the_image, told
from txop.cli.help import epilog

Update = Annotated[
    bool,
    typer.Option("--update", help="Pin what the archive has now, in --lock or a lock of your own, then build."),
]
Packages = Annotated[
    Path | None, typer.Option("--packages", metavar="DIR", help="Folder of .deb files to take pinned packages from.")
]
Where = Annotated[bool, typer.Option("--where", help="Print the cache folder and exit.")]
Driver = Annotated[str, typer.Option("--driver", metavar="NAME", help="Name of the module.")]
Patch = Annotated[
    list[Path] | None,
    typer.Option(
        "--patch",
        metavar="FILE",
        help="Patch (-p1) or edit script (.toml) to the kernel's source, or --source; may be given again.",
    ),
]
Reverse = Annotated[
    bool, typer.Option("--reverse", help="Take the patches back, the last one first; edit scripts go one way.")
]
Source = Annotated[
    Path | None, typer.Option("--source", metavar="DIR", help="Source folder of your own (an out-of-tree driver).")
]
Switch = Annotated[
    list[str] | None, typer.Option("--switch", metavar="CONFIG_X", help="Configuration symbol to turn on in the code.")
]
Output = Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help="Copy the module there.")]


def register(app: typer.Typer) -> None:
    """Add ``txop guest``."""
    group = typer.Typer(
        no_args_is_help=True,
        rich_markup_mode="rich",
        epilog=epilog(
            [
                ("txop guest run --device rtl8188cus -- dut ping -c 3 10.80.210.1", "a driver, associated, pinging"),
                ("txop guest shell --device rtl8188cus", "the same with a prompt"),
                ("txop guest module --driver rtl8xxxu --patch fix.patch", "a driver with a patch"),
                ("txop guest build --json", "the image, in one JSON document"),
            ],
            ["What guests are, and what their figures mean: docs/guest.md."],
        ),
    )
    group.command(
        name="build",
        epilog=epilog(
            [
                ("txop guest build", "the image with Debian's kernel 6.12, from the packages that its lock pins"),
                ("txop guest build --kernel 6.1 --update", "pin what the archive has now"),
                ("txop guest build --kernel-file bzImage --modules-dir /lib/modules/6.16.0", "a kernel of your own"),
            ]
        ),
    )(build)
    group.command(
        name="module",
        epilog=epilog(
            [
                ("txop guest module --driver rtl8xxxu", "from the distribution's kernel source, RTL8188CUS turned on"),
                ("txop guest module --driver rtl8xxxu --patch 0001.patch --reverse", "as it was before a patch"),
                (
                    "txop guest module --driver rtl8xxxu --patch txop:rtl8xxxu/0010-interrupts.toml",
                    "an edit script",
                ),
                ("txop guest module --driver 8192cu --source ~/rtl8192cu-vendor", "an out-of-tree driver"),
            ]
        ),
    )(module)
    guest_run.register(group)
    guest_survey.register(group)
    app.add_typer(group, name="guest", help="Run real drivers in a virtual machine, on virtual chips.")


def build(
    kernel: Kernel = "6.12",
    lock: LockFile = None,
    update: Update = False,
    packages: Packages = None,
    kernel_file: KernelFile = None,
    modules_dir: ModulesDir = None,
    where: Where = False,
    json: JsonFlag = False,
) -> None:
    """Make the image of a guest: a kernel, and an initramfs of the distribution's own programs."""
    from txop.guest.cache import default_cache
    from txop.guest.locks import find_lock, own_lock
    from txop.guest.packages.lock import lock_text
    from txop.guest.packages.resolve import resolve
    from txop.guest.packages.store import PackageStore
    from txop.report.whole_file import whole_file

    if where:
        console.stdout().print(safe_text(str(default_cache())), soft_wrap=True)
        return
    begun = time.monotonic()
    with told():
        if update:
            resolved = resolve(kernel, progress=note)
            place = lock or own_lock(kernel)
            place.parent.mkdir(parents=True, exist_ok=True)
            with whole_file(place) as out:
                out.write(lock_text(resolved))
            note(f"Pinned {len(resolved.packages)} packages with the kernel {resolved.release} in {place}.")
        if packages is not None:
            if not packages.is_dir():
                raise UserError("it is no folder", where=str(packages))
            PackageStore(default_cache(), note).adopt(packages, find_lock(kernel, lock).packages)
        image, _ = the_image(kernel, lock, kernel_file, modules_dir)
    seconds = time.monotonic() - begun
    if json:
        console.write_json(
            {
                "format": "txop-guest-image",
                "version": 1,
                "release": image.release,
                "key": image.key,
                "kernel": str(image.kernel),
                "initramfs": str(image.folder / "initramfs.gz"),
                "initramfs_bytes": image.size_bytes,
                "modules": sorted(image.modules),
                "seconds": round(seconds, 3),
            }
        )
        return
    size = f"{image.size_bytes / 1e6:.1f} MB, {len(image.modules)} modules, {seconds:.1f} s"
    console.stdout().print(safe_text(f"{image.folder}: Linux {image.release}, {size}"), soft_wrap=True)


def module(
    driver: Driver,
    kernel: Kernel = "6.12",
    lock: LockFile = None,
    patch: Patch = None,
    reverse: Reverse = False,
    source: Source = None,
    switch: Switch = None,
    output: Output = None,
    json: JsonFlag = False,
) -> None:
    """Build a driver for a guest, with a series of patches."""
    from txop.guest.driver import DriverBuild, build_driver, patch_files
    from txop.guest.locks import find_lock
    from txop.report.whole_file import replacement

    begun = time.monotonic()
    if source is not None and not source.is_dir():
        raise UserError("it is no folder", where=str(source))
    with ExitStack() as outputs:
        # opened first: a build takes minutes
        part = None if output is None else outputs.enter_context(replacement(output))
        with told() as ending:
            what = DriverBuild(driver, patch_files(patch or []), reverse, source, tuple(switch or ()))
            built = ending.run(build_driver(what, find_lock(kernel, lock), progress=note), at_once=True)
        if part is not None:
            shutil.copyfile(built.module, part)
    place = output or built.module
    if json:
        console.write_json(
            {
                "format": "txop-guest-module",
                "version": 1,
                "module": str(place),
                "key": built.key,
                "source": built.source,
                "vermagic": built.info.vermagic,
                "build_id": built.info.build_id,
                "cached": built.cached,
                "seconds": round(time.monotonic() - begun, 3),
            }
        )
        return
    console.stdout().print(safe_text(str(place)), soft_wrap=True)

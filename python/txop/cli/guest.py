"""``txop guest``: real drivers in a virtual machine, on virtual chips."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from txop.cli import (
    console,
    guest_debug,
    guest_emulator,
    guest_explore,
    guest_kernel,
    guest_probe,
    guest_run,
    guest_survey,
)
from txop.cli.console import JsonFlag, safe_text
from txop.cli.examples import Application, epilog
from txop.cli.guest_emulator import EmulatorOptions
from txop.cli.guest_options import ImageOptions, LockOptions, errors_reported, note
from txop.cli.option_groups import grouped
from txop.core.errors import ExitCode, UserError

if TYPE_CHECKING:
    from txop.guest_image.emulator.lock import EmulatorLock
    from txop.guest_image.packages.lock import Lock
    from txop.guest_image.packages.offers import Offer

Update = Annotated[
    bool,
    typer.Option("--update", help="Pin what the archive has now, in --lock or a lock of your own, then build."),
]
Packages = Annotated[
    Path | None,
    typer.Option("--packages", metavar="DIR", help="Folder of .deb and .tar files to take what is pinned from."),
]
Check = Annotated[
    bool, typer.Option("--check", help="List the pinned packages that the archive no longer has, and exit.")
]
Mirror = Annotated[
    str | None,
    typer.Option(
        "--mirror",
        metavar="URL",
        help="Debian mirror, in place of the one in this machine's APT sources; with a space and the URL of its "
        "security archive behind it, if that is elsewhere. TXOP_DEBIAN_MIRROR does the same for all commands.",
    ),
]
Where = Annotated[bool, typer.Option("--where", help="Print the cache folder and exit.")]
Driver = Annotated[str, typer.Option("--driver", metavar="NAME", help="Name of the module.")]
Patch = Annotated[
    list[Path] | None,
    typer.Option(
        "--patch",
        metavar="FILE",
        help="Patch (-p1) or edit script (.toml) to the kernel's source, or --source; may be repeated.",
    ),
]
Reverse = Annotated[
    bool,
    typer.Option(
        "--reverse", help="Apply the patches in reverse, the last one first; edit scripts cannot be reversed."
    ),
]
Source = Annotated[
    Path | None, typer.Option("--source", metavar="DIR", help="Source folder of your own (an out-of-tree driver).")
]
Switch = Annotated[
    list[str] | None, typer.Option("--switch", metavar="CONFIG_X", help="Configuration symbol to turn on in the code.")
]
Make = Annotated[
    list[str] | None,
    typer.Option("--make", metavar="NAME=VALUE", help="Variable that its Makefile takes; may be repeated."),
]
Output = Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help="Copy the module there.")]


def register(app: typer.Typer) -> None:
    """Add ``txop guest``."""
    group = Application(
        no_args_is_help=True,
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
                ("txop guest build --check", "which pinned packages the archive no longer has"),
                ("txop guest build --kernel 6.1 --update", "pin what the archive has now"),
                ("txop guest build --update-emulator", "the same for QEMU"),
                ("txop guest build --mirror http://MIRROR/debian", "on Ubuntu, which names no Debian mirror"),
                ("txop guest build --kernel-file bzImage --modules-dir /lib/modules/6.16.0", "a kernel of your own"),
            ],
            ["Exit code 1: with --check, when something is gone."],
        ),
    )(grouped(build))
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
                (
                    "txop guest module --driver 8192cu --source ~/8192cu --make CONFIG_RTL8192CU=m --kernel 5.10",
                    "one with variables for its Makefile",
                ),
            ]
        ),
    )(grouped(module))
    group.command(
        name="source",
        epilog=epilog(
            [
                ("txop guest source --driver rtl8xxxu", "the folder to read, to grep, and to make patches for"),
                ("txop guest source --driver mt76x0u --kernel 6.1 --json", "the same for a script"),
            ],
            ["The folder is in the cache and shared: change a copy, not the folder itself."],
        ),
    )(grouped(source))
    guest_kernel.register(group)
    guest_run.register(group)
    guest_debug.register(group)
    guest_survey.register(group)
    guest_explore.register(group)
    guest_probe.register(group)
    app.add_typer(group, name="guest", help="Run real drivers in a virtual machine, on virtual chips.")


def build(
    *,
    image: ImageOptions,
    emulator: EmulatorOptions,
    update: Update = False,
    check: Check = False,
    mirror: Mirror = None,
    packages: Packages = None,
    where: Where = False,
    json: JsonFlag = False,
) -> None:
    """Make what guests boot and run on: a kernel, an initramfs of the distribution's own programs, and a QEMU."""
    from txop.core.whole_file import whole_file
    from txop.guest_image.cache import default_cache
    from txop.guest_image.locks import own_lock
    from txop.guest_image.packages.archive import MIRROR
    from txop.guest_image.packages.lock import lock_text
    from txop.guest_image.packages.resolve import resolve
    from txop.guest_image.packages.store import PackageStore

    if where:
        console.stdout().print(safe_text(str(default_cache())), soft_wrap=True)
        return
    if mirror is not None:
        os.environ[MIRROR] = mirror
    begun = time.monotonic()
    with errors_reported():
        if check:
            _check(image.pinned(), emulator.pinned(), json=json)
            return
        if update:
            resolved = resolve(image.kernel, progress=note)
            place = image.lock or own_lock(image.kernel)
            _tell_changes(image.kernel, place if place.is_file() else None, resolved)
            place.parent.mkdir(parents=True, exist_ok=True)
            with whole_file(place) as out:
                out.write(lock_text(resolved))
            note(f"Pinned {len(resolved.packages)} packages with the kernel {resolved.release} in {place}.")
        if emulator.update_emulator:
            emulator.update()
        if packages is not None:
            if not packages.is_dir():
                raise UserError("it is not a folder", where=str(packages))
            pinned = image.pinned()
            PackageStore.of(pinned, default_cache(), note).adopt(packages, pinned.packages)
        made, _ = image.image()
        seconds = time.monotonic() - begun
        qemu = emulator.prepare(packages)
    if json:
        console.write_json(
            {
                "format": "txop-guest-image",
                "version": 1,
                "release": made.release,
                "key": made.key,
                "kernel": str(made.kernel),
                "initramfs": str(made.folder / "initramfs.gz"),
                "initramfs_bytes": made.size_bytes,
                "modules": sorted(made.modules),
                "seconds": round(seconds, 3),
                "emulator": guest_emulator.document(qemu),
            }
        )
        return
    size = f"{made.size_bytes / 1e6:.1f} MB, {len(made.modules)} modules, {seconds:.1f} s"
    console.stdout().print(safe_text(f"{made.folder}: Linux {made.release}, {size}"), soft_wrap=True)
    guest_emulator.tell(qemu)


def _check(lock: Lock, emulator: EmulatorLock, *, json: bool) -> None:
    """Say what of two locks is gone; exit code 1 when something is."""
    from rich.table import Table

    from txop.guest_image.emulator.offers import source_offer
    from txop.guest_image.packages.offers import offers

    rows = offers(lock, progress=note)
    beside = offers(emulator, progress=note)
    source = source_offer(emulator, progress=note)
    everything = [*rows, *beside, source]
    gone = [row for row in everything if not row.offered]
    if json:
        console.write_json(
            {
                "format": "txop-guest-lock-check",
                "version": 1,
                "kernel": lock.kernel,
                "release": lock.release,
                "distribution": lock.distribution,
                "kernel_distribution": lock.kernel_distribution or lock.distribution,
                "pinned": lock.pinned,
                "packages": [_row(row) for row in rows],
                "emulator": {
                    "distribution": emulator.distribution,
                    "pinned": emulator.pinned,
                    "packages": [_row(row) for row in beside],
                    "source": _row(source),
                },
            }
        )
    elif gone:
        table = Table(title=safe_text("Gone from the archive"), title_justify="left")
        for column in ("package", "pinned", "the archive has", "in the cache"):
            table.add_column(column, overflow="fold")
        for row in gone:
            cells = (row.name, row.version, row.newest or "none", "yes" if row.cached else "no")
            table.add_row(*(safe_text(cell) for cell in cells))
        console.stdout().print(table)
    for pinned, what, found in (
        (lock, f"packages for Linux {lock.release}", rows),
        (emulator, f"packages for QEMU {emulator.version}, its source included", [*beside, source]),
    ):
        count = f"{sum(row.offered for row in found)} of the {len(found)} {what}"
        when = pinned.pinned or "on a day that the lock does not record"
        sentence = f"The archive of {pinned.distribution} has {count}, pinned {when}."
        if json:
            note(sentence)
        else:
            console.stdout().print(safe_text(sentence), soft_wrap=True)
    if gone:
        needed = sum(not row.cached for row in gone)
        if needed:
            note(f"{needed} of those gone are not in the cache either. --update and --update-emulator pin anew.")
        raise typer.Exit(ExitCode.VERDICT_NO)


def _row(offer: Offer) -> Mapping[str, object]:
    return {
        "name": offer.name,
        "version": offer.version,
        "role": offer.role,
        "offered": offer.offered,
        "newest": offer.newest,
        "cached": offer.cached,
    }


def _tell_changes(kernel: str, old: Path | None, new: Lock) -> None:
    """Say what pinning again changes, against the lock in a file, else the one in use."""
    from txop.guest_image.error import GuestError
    from txop.guest_image.locks import find_lock
    from txop.guest_image.packages.offers import changes

    try:
        rows = changes(find_lock(kernel, old), new)
    except GuestError:  # there was none, or none that can be read
        return
    for row in rows or ["nothing changed"]:
        note(f"  {row}")


def module(
    *,
    driver: Driver,
    lock: LockOptions,
    patch: Patch = None,
    reverse: Reverse = False,
    source: Source = None,
    switch: Switch = None,
    make: Make = None,
    output: Output = None,
    json: JsonFlag = False,
) -> None:
    """Build a driver for a guest, with a series of patches."""
    from txop.core.whole_file import replacement
    from txop.guest.driver import DriverBuild, build_driver, patch_files

    begun = time.monotonic()
    if source is not None and not source.is_dir():
        raise UserError("it is not a folder", where=str(source))
    with ExitStack() as outputs:
        # opened first: a build takes minutes
        part = None if output is None else outputs.enter_context(replacement(output))
        with errors_reported() as ending:
            what = DriverBuild(
                driver, patch_files(patch or []), reverse, source, tuple(switch or ()), tuple(make or ())
            )
            built = ending.run(build_driver(what, lock.pinned(), progress=note), at_once=True)
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


def source(*, driver: Driver, lock: LockOptions, json: JsonFlag = False) -> None:
    """Print where the source of a driver is, in the version of the guest's kernel."""
    from txop.guest_image.kernel_tree import SOURCE_FOLDERS, find_module, source_folder

    with errors_reported():
        pinned = lock.pinned()
        whole = source_folder(pinned, progress=note)
    found = find_module(whole, driver)
    if found is None:
        raise UserError(f"Linux {pinned.release} has no module {driver} in {', '.join(SOURCE_FOLDERS)}")
    inside, symbol = found
    place = whole / inside
    if json:
        console.write_json(
            {
                "format": "txop-guest-source",
                "version": 1,
                "driver": driver,
                "release": pinned.release,
                "folder": str(place),
                "in_kernel": inside.as_posix(),
                "symbol": symbol,
            }
        )
        return
    console.stdout().print(safe_text(str(place)), soft_wrap=True)

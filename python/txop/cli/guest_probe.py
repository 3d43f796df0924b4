"""``txop guest probe``: what a virtual USB device answers while its driver probes it, as seeds of a fuzzer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from txop.cli import console
from txop.cli.console import JsonFlag, safe_text
from txop.cli.examples import epilog
from txop.cli.guest_completion import devices, drivers
from txop.cli.guest_options import ImageOptions, Module, errors_reported, note
from txop.cli.option_groups import grouped
from txop.cli.shared_options import folder_option
from txop.core.errors import UserError

if TYPE_CHECKING:
    from txop.guest_probe.export import Exported
    from txop.guest_probe.in_guest import Probed

Device = Annotated[
    str,
    typer.Option(
        "--device",
        metavar="DEVICE",
        help="The virtual device; on USB. txop guest run --help lists them.",
        autocompletion=devices,
    ),
]
Driver = Annotated[
    str | None,
    typer.Option(
        "--driver", metavar="NAME", help="Its driver; default: the stock one that knows it.", autocompletion=drivers
    ),
]
Up = Annotated[
    int,
    typer.Option(
        "--up",
        metavar="SECONDS",
        min=0,
        max=60,
        help="Seconds, by the guest's clock, for which the interface is up; 0: the driver probes the device only.",
    ),
]
Mips = Annotated[int, typer.Option("--mips", metavar="N", help="Million instructions a second.")]
Output = Annotated[
    Path | None,
    folder_option("Folder for probe.json, DEVICE.txt and seeds; default: probe-DEVICE."),
]
WallLimit = Annotated[
    float,
    typer.Option(
        "--wall-limit",
        metavar="SECONDS",
        min=1.0,
        max=86_400.0,
        help="Seconds, by this machine's clock, for the guest.",
    ),
]


def register(group: typer.Typer) -> None:
    """Add the command."""
    group.command(
        name="probe",
        epilog=epilog(
            [
                ("txop guest probe --device rtl8188cus", "its descriptors, requests and replies, as seeds"),
                ("txop guest probe --device rtl8188cus --driver rtl8xxxu -o seeds", "with another driver"),
                ("txop guest probe --device ncm --up 0 --json", "a network function, probed only"),
            ],
            ["The files, and what syzkaller does with them: docs/guest-faults.md. Exit code 1: no interface."],
        ),
    )(grouped(probe))


def probe(
    *,
    device: Device,
    driver: Driver = None,
    up: Up = 1,
    module: Module = None,
    mips: Mips = 500,
    output: Output = None,
    wall_limit: WallLimit = 900.0,
    image: ImageOptions,
    json: JsonFlag = False,
) -> None:
    """Let a driver probe a virtual USB device in an exact guest, and write what it answered as syzkaller's seeds."""
    from txop.guest.driver_check import check_driver
    from txop.guest.qemu import Computer, Mode, shift_of
    from txop.guest.rebuilt import modules_for
    from txop.guest.scratch import scratch_folder
    from txop.guest_image.overlay import given_modules
    from txop.guest_probe.export import export
    from txop.guest_probe.in_guest import probe_in_guest, probed_chip
    from txop.plan.devices import DRIVERS

    if driver is None and device not in DRIVERS:
        raise UserError(f"unknown virtual device {device!r}: {', '.join(DRIVERS)}", where="--device")
    folder = output or Path(f"probe-{device}")
    with errors_reported() as ending:
        chip = probed_chip(device, driver or DRIVERS[device])
        computer = Computer(mode=Mode.EXACT, shift=shift_of(mips))
        given_modules(module or [])  # errors in them are reported before anything slow is made
        made, built_for = image.image()
        modules = ending.run(
            modules_for(chip.device, chip.driver, tuple(module or ()), made, built_for, note), at_once=True
        )
        check_driver(chip, made, modules)
        note(f"Booting Linux {made.release}, in which {chip.driver} probes the {chip.device}.")
        with scratch_folder("probe") as results:
            probed = ending.run(
                probe_in_guest(chip, made, computer, results, up_s=up, modules=tuple(modules), wall_limit_s=wall_limit)
            )
    folder.mkdir(parents=True, exist_ok=True)
    written = export(probed, folder)
    if json:
        console.write_json(written.document)
    else:
        for row in _summary(probed, written):
            console.stdout().print(safe_text(row), soft_wrap=True)
    note(f"In {folder}: {', '.join(written.files)}.")


def _summary(probed: Probed, written: Exported) -> list[str]:
    found = probed.probe
    transfers = sum(one.transfers for one in found.endpoints)
    rows = [
        f"{probed.device}, probed by {probed.facts.get('driver')}: {len(found.requests):,} different control requests, "
        f"{sum(one.count for one in found.requests):,} in all; {transfers:,} transfers of other endpoints.",
    ]
    rows += [
        f"{one.name}.syz answers {one.answered:,} of the {one.of:,} requests and transfers after the configuration."
        for one in written.seeds
    ]
    return rows

"""``txop guest run`` and ``txop guest shell``."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from txop.cli import console
from txop.cli.console import JsonFlag
from txop.cli.ending import Ending
from txop.cli.guest_device import (
    AccessPoint,
    AirFlag,
    Device,
    DeviceOption,
    DriverOption,
    Faults,
    Parameter,
    PlugOnly,
    Security,
    TraceFlag,
    UsbFlag,
    Width,
    chip_of,
)
from txop.cli.guest_options import Kernel, KernelFile, LockFile, Module, ModulesDir, note, the_image, told
from txop.cli.help import epilog
from txop.core.errors import ExitCode, UserError

if TYPE_CHECKING:
    from txop.guest.chips import Chip
    from txop.guest.qemu import Computer
    from txop.guest.results import Event
    from txop.guest.running import Ended
    from txop.guest_image.image import Image
    from txop.guest_image.overlay import Overlay
    from txop.guest_image.packages.lock import Lock

ModeOption = Annotated[
    str,
    typer.Option(
        "--mode", metavar="fast|exact", help="Time as the host's, or by instructions: then runs are identical."
    ),
]
Mips = Annotated[
    int,
    typer.Option(
        "--mips", help="In exact mode: million instructions a second; 1000 halved some times (500, 250, 125...)."
    ),
]
SeedOption = Annotated[int, typer.Option("--seed", min=0, max=2**31 - 1, help="Of what differs between samples.")]
FileOption = Annotated[
    list[str] | None,
    typer.Option("--file", metavar="HERE[:THERE]", help="File to put into the guest (default /root/NAME); again."),
]
OutputDir = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="DIR", help="Folder for console, output, kernel log and /txop/out."),
]
Limit = Annotated[
    int, typer.Option("--limit", min=1, max=86_400, help="Seconds, by the guest's clock, for the command.")
]
WallLimit = Annotated[
    float, typer.Option("--wall-limit", min=1.0, max=86_400.0, help="Seconds, by this machine's clock, for everything.")
]
Memory = Annotated[int, typer.Option("--memory", min=256, max=65_536, help="Of the guest, in MB.")]
Kvm = Annotated[str, typer.Option("--kvm", metavar="auto|yes|no", help="In fast mode: use KVM, or QEMU's translator.")]
Command = Annotated[list[str] | None, typer.Argument(metavar="[-- COMMAND...]", help="Program and arguments.")]


def register(group: typer.Typer) -> None:
    """Add the two commands."""
    group.command(
        name="run",
        epilog=epilog(
            [
                ("txop guest run -- uname -a", "a command in a guest"),
                ("txop guest run --mode exact --mips 500 --output out -- /root/test.sh", "identical each time"),
                ("txop guest run --device rtl8188cus -- peer ping -c 3 10.80.210.2", "through a virtual chip"),
                ("txop guest run --device ncm -- dut ping -c 3 10.80.210.1", "through a network function"),
                ("txop guest run --device rtl8188cus --faults noise.toml --air -o out -- sleep 9", "a captured fault"),
                ("txop guest run --module rtl8xxxu.ko --file test.sh -- /root/test.sh", "a driver of your own"),
            ],
            [
                "The command's exit status is txop's own, unless the guest itself fails (1, with its console). "
                "What the command leaves in /txop/out comes back into the folder of --output.",
            ],
        ),
    )(run)
    group.command(
        name="shell",
        epilog=epilog(
            [
                ("txop guest shell", "a prompt; `exit` or Ctrl-A x ends the guest"),
                ("txop guest shell --device rtl8188cus --driver rtl8xxxu", "with a dongle plugged in and associated"),
            ]
        ),
    )(shell)


def run(
    command: Command = None,
    kernel: Kernel = "6.12",
    device: Device = None,
    driver: DriverOption = None,
    parameter: Parameter = None,
    security: Security = None,
    ap: AccessPoint = "hostapd",
    width: Width = 20,
    plug_only: PlugOnly = False,
    faults: Faults = None,
    device_option: DeviceOption = None,
    air: AirFlag = False,
    usb: UsbFlag = False,
    trace: TraceFlag = False,
    mode: ModeOption = "fast",
    mips: Mips = 500,
    seed: SeedOption = 0,
    module: Module = None,
    file: FileOption = None,
    output: OutputDir = None,
    limit: Limit = 300,
    wall_limit: WallLimit = 900.0,
    memory: Memory = 512,
    kvm: Kvm = "auto",
    lock: LockFile = None,
    kernel_file: KernelFile = None,
    modules_dir: ModulesDir = None,
    json: JsonFlag = False,
) -> None:
    """Run a command in a guest, and end the guest."""
    from txop.guest.provenance import exactness_doubt
    from txop.guest.running import run_guest
    from txop.guest.scratch import scratch_folder

    if not command:
        raise UserError("there is no command", what_to_do="put it after --, or use `txop guest shell`")
    if (air or usb or trace) and output is None:
        raise UserError("a capture needs a folder to go to", what_to_do="give --output DIR")
    chip = chip_of(
        device,
        driver,
        parameter,
        device_option,
        faults,
        security,
        ap,
        width,
        plug_only=plug_only,
        air=air,
        usb=usb,
        trace=trace,
    )
    if output is not None:
        output.mkdir(parents=True, exist_ok=True)
    with told() as ending:
        computer = _computer(mode, mips, seed, limit, memory, kvm)
        files = _files(file, module, chip)
        image, built_for = the_image(kernel, lock, kernel_file, modules_dir)
        overlay = _overlay(command, module, files, chip, image, built_for, ending)
        pace = f"exact, {mips} million instructions a second" if computer.mode == "exact" else "fast"
        note(f"Booting Linux {image.release} ({pace}{', KVM' if computer.kvm else ''}).")
        doubt = exactness_doubt(computer)
        if doubt is not None:
            note(f"Warning: {doubt}.")
        with scratch_folder("results") as scratch:
            results = output or scratch
            ended = ending.run(
                run_guest(
                    image, overlay, computer, results=results, wall_limit_s=wall_limit, listener=_Terminal(quiet=json)
                )
            )
            if json:
                console.write_json(_document(image, computer, overlay, chip, ended, results))
    note(f"The guest ended after {ended.seconds:.1f} s ({ended.guest_seconds:.1f} s by its clock).")
    if output is not None:
        note(f"In {output}: console, stdout, stderr, events, {', '.join(ended.files)}.")
    if ended.status == _TIMED_OUT:
        raise UserError(
            f"the command did not end within {limit} s of the guest's time",
            what_to_do="give it more with --limit",
            exit_code=ExitCode.VERDICT_NO,
        )
    if ended.status != 0:
        raise typer.Exit(ended.status)


def _document(
    image: Image, computer: Computer, overlay: Overlay, chip: Chip | None, ended: Ended, results: Path
) -> dict[str, object]:
    from txop.guest.provenance import provenance
    from txop.guest_image.cache import sha256_of

    faults = None if chip is None or chip.faults is None else chip.faults
    said = {name: (results / name).read_bytes()[-MAX_SAID_BYTES:] for name in ("stdout", "stderr")}
    return {
        "format": "txop-guest-run",
        "version": 1,
        **provenance(image, computer, overlay.modules),
        "faults_sha256": None if faults is None else sha256_of(faults),
        "seed": computer.seed,
        "perturbation": _perturbation(computer.seed, chip),
        "status": ended.status,
        "seconds": round(ended.seconds, 3),
        "guest_seconds": ended.guest_seconds,
        "events": [{"uptime_s": event.uptime_s, "kind": event.kind, "words": event.words} for event in ended.events],
        "files": list(ended.files),
        **{name: data.decode("utf-8", "replace") for name, data in said.items()},
    }


def _perturbation(seed: int, chip: Chip | None) -> dict[str, object]:
    """What the seed changed in this guest; ``None``: nothing, for the reason."""
    from txop.guest.chips import FUNCTIONS
    from txop.guest.perturbation import perturbation

    drawn = perturbation(seed)
    why = None
    if chip is None or chip.device in FUNCTIONS:
        why = "there was no air"
    elif any(word == "--loss" or word.startswith("--loss=") for word in chip.options):
        why = "--loss was given"
    return {
        "phase_us": drawn.phase_us,
        "start_us": None if chip is None else drawn.start_us,
        "loss": drawn.loss if why is None else None,
        "loss_missing": why,
    }


MAX_SAID_BYTES = 1 << 20
"""Of the end of each output, in the JSON document."""

_TIMED_OUT = 124
"""What timeout(1) ends with."""


def shell(
    kernel: Kernel = "6.12",
    device: Device = None,
    driver: DriverOption = None,
    parameter: Parameter = None,
    security: Security = None,
    ap: AccessPoint = "hostapd",
    width: Width = 20,
    plug_only: PlugOnly = False,
    faults: Faults = None,
    device_option: DeviceOption = None,
    module: Module = None,
    file: FileOption = None,
    memory: Memory = 512,
    kvm: Kvm = "auto",
    lock: LockFile = None,
    kernel_file: KernelFile = None,
    modules_dir: ModulesDir = None,
) -> None:
    """Open a prompt in a guest."""
    from txop.guest.running import interactive_guest

    if not sys.stdin.isatty():
        raise UserError("a shell needs a terminal", what_to_do="use `txop guest run -- COMMAND`")
    size = shutil.get_terminal_size()
    chip = chip_of(device, driver, parameter, device_option, faults, security, ap, width, plug_only=plug_only)
    with told() as ending:
        computer = _computer("fast", 500, 0, 300, memory, kvm, terminal=(size.lines, size.columns))
        files = _files(file, module, chip)
        image, built_for = the_image(kernel, lock, kernel_file, modules_dir)
        overlay = _overlay([], module, files, chip, image, built_for, ending)
        note("Booting; `exit` ends the guest, Ctrl-A x kills it.")
        status = interactive_guest(image, overlay, computer)
    if status:
        raise typer.Exit(status)


def _files(file: list[str] | None, module: list[Path] | None, chip: Chip | None) -> dict[str, Path]:
    """What is to be put into the guest; also looks at the modules, before anything is made that takes long."""
    from txop.guest_image.overlay import given_modules, guest_files

    given_modules(module or [])
    return {**(chip.files() if chip is not None else {}), **guest_files(file or [])}


def _overlay(
    command: list[str],
    module: list[Path] | None,
    files: Mapping[str, Path],
    chip: Chip | None,
    image: Image,
    built_for: Lock | None,
    ending: Ending,
) -> Overlay:
    from txop.guest.driver_check import check_driver
    from txop.guest.rebuilt import modules_for
    from txop.guest_image.overlay import Overlay

    modules = tuple(module or ())
    if chip is None:
        return Overlay(command=tuple(command), files=files, modules=modules)
    modules = ending.run(modules_for(chip.device, chip.driver, modules, image, built_for, note), at_once=True)
    check_driver(chip, image, modules)
    last = f"exec {shlex.join(command)}" if command else ":"
    return Overlay(script=f"txop-lab up || exit\n{last}", environment=chip.variables(), files=files, modules=modules)


def _computer(
    mode: str, mips: int, seed: int, limit: int, memory: int, kvm: str, *, terminal: tuple[int, int] | None = None
) -> Computer:
    from txop.guest.qemu import Computer, Mode, check_kvm, kvm_works, shift_of

    if mode not in set(Mode):
        raise UserError(f"{mode!r} is no mode", what_to_do="give fast or exact")
    if kvm not in ("auto", "yes", "no"):
        raise UserError(f"{kvm!r} is not auto, yes or no", where="--kvm")
    exact = mode == Mode.EXACT
    if exact and kvm == "yes":
        raise UserError("an exact guest cannot run with KVM: only QEMU's translator counts instructions")
    if kvm == "yes":
        check_kvm()
    return Computer(
        mode=Mode(mode),
        memory_mb=memory,
        shift=shift_of(mips),
        kvm=not exact and (kvm == "yes" or (kvm == "auto" and kvm_works())),
        seed=seed,
        limit_s=limit,
        shell=terminal is not None,
        terminal_size=terminal,
    )


class _Terminal:
    """Shows a guest's progress on stderr, and passes its command's output through."""

    def __init__(self, *, quiet: bool) -> None:
        """``quiet``: the command's output is left out."""
        self._quiet = quiet

    def event(self, event: Event) -> None:
        if event.kind == "stage":
            note(f"[{event.uptime_s:7.2f} s] {event.words}")

    def output(self, stream: str, data: bytes) -> None:
        if self._quiet:
            return
        out = sys.stdout if stream == "stdout" else sys.stderr
        if out.isatty():
            out.write(_harmless(data))
        else:
            out.buffer.write(data)
        out.flush()


def _harmless(data: bytes) -> str:
    """Text of a guest for a terminal: lines, tabs and what prints."""
    from txop.core.visible import visible

    text = data.decode("utf-8", "replace").replace("\r\n", "\n")
    return "".join(c if c in "\n\t" else visible(c) for c in text)

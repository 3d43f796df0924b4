"""``txop guest run`` and ``txop guest shell``."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from txop.cli import console
from txop.cli.console import JsonFlag
from txop.cli.ending import Ending
from txop.cli.examples import epilog
from txop.cli.guest_completion import extra_programs
from txop.cli.guest_debug import keep_timeline, recorded, saving
from txop.cli.guest_device import CaptureOptions, DeviceOptions
from txop.cli.guest_options import ImageOptions, Module, errors_reported, note
from txop.cli.guest_timeline import check_timeline, recorded_command, with_recorder, write_timeline
from txop.cli.option_groups import grouped
from txop.cli.shared_options import folder_option
from txop.core.errors import ExitCode, UserError

if TYPE_CHECKING:
    from txop.guest.chips import Chip
    from txop.guest.qemu import Computer
    from txop.guest.results import Event
    from txop.guest.running import Ended
    from txop.guest_image.image import Image
    from txop.guest_image.overlay import Overlay
    from txop.guest_image.packages.lock import Lock

OutputDir = Annotated[
    Path | None,
    folder_option("Folder for console, output, kernel log and /txop/out."),
]
RecordDir = Annotated[
    Path | None,
    typer.Option(
        "--record",
        metavar="DIR",
        help="With --mode exact: record the run for `txop guest debug` in this new folder, with its output in "
        "DIR/results.",
    ),
]
WallLimit = Annotated[
    float,
    typer.Option(
        "--wall-limit",
        metavar="SECONDS",
        min=1.0,
        max=86_400.0,
        help="Seconds, by this machine's clock, for everything.",
    ),
]
Command = Annotated[list[str] | None, typer.Argument(metavar="[-- COMMAND...]", help="Program and arguments.")]


@dataclass(frozen=True)
class ContentOptions:
    """What is put into the guest."""

    module: Module = None
    file: Annotated[
        list[str] | None,
        typer.Option(
            "--file", metavar="HERE[:THERE]", help="File to put into the guest (default /root/NAME); may be repeated."
        ),
    ] = None
    program: Annotated[
        list[str] | None,
        typer.Option(
            "--program",
            metavar="NAME",
            help="Program of the distribution to add: perf, trace-cmd, aireplay-ng, qmicli or mbimcli; may be "
            "repeated.",
            autocompletion=extra_programs,
        ),
    ] = None

    def files(self, chip: Chip | None) -> dict[str, Path]:
        """Files by name in the guest; also looks at the modules, before anything is made that takes long."""
        from txop.guest_image.overlay import given_modules, guest_files

        given_modules(self.module or [])
        return {**(chip.files() if chip is not None else {}), **guest_files(self.file or [])}

    def program_files(self, chip: Chip | None, lock: Lock) -> dict[str, Path]:
        """The programs, and the one that a modem takes, with their libraries, by name in the guest."""
        from txop.guest_image.extra_programs import extra_files

        needed = () if chip is None or chip.modem_program is None else (chip.modem_program,)
        files: dict[str, Path] = {}
        for program in dict.fromkeys((*(self.program or ()), *needed)):
            files |= extra_files(lock, program, progress=note)
        return files


@dataclass(frozen=True)
class MachineOptions:
    """Which virtual machine."""

    memory: Annotated[
        int,
        typer.Option(
            "--memory",
            metavar="MB",
            min=256,
            max=65_536,
            help="Memory of the guest, in MB.",
        ),
    ] = 512
    kvm: Annotated[
        str, typer.Option("--kvm", metavar="auto|yes|no", help="In fast mode: use KVM, or QEMU's translator.")
    ] = "auto"
    append: Annotated[
        str,
        typer.Option(
            "--append", metavar="WORDS", help='More words of the kernel\'s command line: "kfence.sample_interval=1".'
        ),
    ] = ""
    gdb: Annotated[
        Path | None,
        typer.Option("--gdb", metavar="SOCKET", help="Wait for gdb on this Unix socket before the kernel starts."),
    ] = None

    @property
    def kernel_words(self) -> tuple[str, ...]:
        """The words that are appended. Raises :class:`UserError` for those that are txop's own."""
        from txop.plan.guest import KERNEL_WORDS_TAKEN

        words = tuple(self.append.split())
        for word in words:
            if word.startswith(KERNEL_WORDS_TAKEN) or not word.isascii() or not word.isprintable():
                raise UserError(f"{word!r} cannot be appended to the kernel's command line", where="--append")
        return words


@dataclass(frozen=True)
class TimeOptions:
    """How its time passes, and how much of it there is."""

    mode: Annotated[
        str,
        typer.Option(
            "--mode", metavar="fast|exact", help="Time as the host's, or by instructions: then runs are identical."
        ),
    ] = "fast"
    mips: Annotated[
        int,
        typer.Option(
            "--mips",
            metavar="N",
            help="In exact mode: million instructions a second; 1000 halved some times (500, 250, 125...).",
        ),
    ] = 500
    seed: Annotated[
        int,
        typer.Option(
            "--seed",
            metavar="N",
            min=0,
            max=2**31 - 1,
            help="Seed of what differs between samples.",
        ),
    ] = 0
    limit: Annotated[
        int,
        typer.Option(
            "--limit",
            metavar="SECONDS",
            min=1,
            max=86_400,
            help="Seconds, by the guest's clock, for the command.",
        ),
    ] = 300


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
                (
                    "txop guest run --mode exact --device mt7610u --record run -- /root/test.sh",
                    "for `txop guest debug`",
                ),
                ("txop guest run --module rtl8xxxu.ko --file test.sh -- /root/test.sh", "a driver of your own"),
                (
                    "txop guest run --mode exact --device ar9280 --timeline run.json.gz -- dut ping -c 9 10.80.210.1",
                    "everything on one clock, for `txop why`",
                ),
                (
                    "txop guest run --device rtl8188cus --program perf -- perf stat -a dut ping -c 3 10.80.210.1",
                    "look into the kernel",
                ),
            ],
            [
                "The command's exit status is txop's own, unless the guest itself fails (1, with its "
                "console), its virtual chip ends (72) or its testbed cannot be set up (73). "
                "What the command leaves in /txop/out comes back into the folder of --output.",
            ],
        ),
    )(grouped(run))
    group.command(
        name="shell",
        epilog=epilog(
            [
                ("txop guest shell", "a prompt; `exit` or Ctrl-A x ends the guest"),
                ("txop guest shell --device rtl8188cus --driver rtl8xxxu", "with a dongle plugged in and associated"),
            ]
        ),
    )(grouped(shell))


def run(
    command: Command = None,
    *,
    device: DeviceOptions,
    captures: CaptureOptions,
    time: TimeOptions,
    content: ContentOptions,
    output: OutputDir = None,
    record: RecordDir = None,
    wall_limit: WallLimit = 900.0,
    machine: MachineOptions,
    image: ImageOptions,
    json: JsonFlag = False,
) -> None:
    """Run a command in a guest, and end the guest."""
    from txop.guest.provenance import exactness_doubt
    from txop.guest.running import run_guest
    from txop.guest.scratch import scratch_folder

    if not command:
        raise UserError("there is no command", what_to_do="put it after --, or use `txop guest shell`")
    if record is not None:
        output = _record_output(record, output, time)
    if captures.to_keep and output is None:
        raise UserError("a capture needs a folder to go to", what_to_do="give --output DIR")
    check_timeline(captures, device.device, time.mode)
    chip = device.chip(captures)
    if output is not None and record is None:
        output.mkdir(parents=True, exist_ok=True)
    with errors_reported() as ending:
        computer = _computer(machine, time)
        files = content.files(chip)
        made, built_for = image.image()
        traced = command if captures.timeline is None else recorded_command(command)
        overlay = _overlay(traced, content, files, chip, made, built_for, ending)
        overlay = overlay.beside(content.program_files(chip, image.pinned()))
        if captures.timeline is not None:
            overlay = with_recorder(overlay)
        if record is not None:
            overlay = saving(overlay)
        pace = f"exact, {time.mips} million instructions a second" if computer.mode == "exact" else "fast"
        note(f"Booting Linux {made.release} ({pace}{', KVM' if computer.kvm else ''}).")
        doubt = exactness_doubt(computer)
        if doubt is not None:
            note(f"Warning: {doubt}.")
        _debugger_note(computer)
        with scratch_folder("results") as scratch:
            results = output or scratch
            ended = ending.run(
                run_guest(
                    made, overlay, computer, results=results, wall_limit_s=wall_limit, listener=_Terminal(quiet=json)
                )
                if record is None
                else recorded(record, made, overlay, computer, chip, wall_limit, _Terminal(quiet=json))
            )
            if captures.timeline is not None and chip is not None:
                write_timeline(captures.timeline, results, chip, ended.status)
                if record is not None:
                    keep_timeline(captures.timeline, record)
            if json:
                console.write_json(_document(made, computer, overlay, chip, ended, results))
    for line in ended.said:
        note(f"QEMU: {line}")
    note(f"The guest ended after {ended.seconds:.1f} s ({ended.guest_seconds:.1f} s by its clock).")
    if output is not None:
        note(f"In {output}: console, stdout, stderr, events, {', '.join(ended.files)}.")
    if ended.status == _TIMED_OUT:
        raise UserError(
            f"the command did not end within {time.limit} s of the guest's time",
            what_to_do="give it more with --limit",
            exit_code=ExitCode.VERDICT_NO,
        )
    if ended.status != 0:
        raise typer.Exit(ended.status)


def _record_output(record: Path, output: Path | None, time: TimeOptions) -> Path:
    """Where the output of a recorded run goes. Raises :class:`UserError`."""
    from txop.guest.recorded import RESULTS, check_record_folder

    if output is not None:
        raise UserError("the output of a recorded run is in the folder of --record", where="--output")
    if time.mode != "exact":
        raise UserError("only an exact guest is recorded", where="--record", what_to_do="add --mode exact")
    with errors_reported():
        check_record_folder(record)
    return record / RESULTS


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
        "emulator_said": list(ended.said),
        **{name: data.decode("utf-8", "replace") for name, data in said.items()},
    }


def _perturbation(seed: int, chip: Chip | None) -> dict[str, object]:
    """What the seed changed in this guest; ``None``: nothing, for the reason."""
    from txop.guest.perturbation import perturbation
    from txop.plan.devices import FUNCTIONS

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
"""Most bytes of an output that the JSON document has: its end."""

_TIMED_OUT = 124
"""What timeout(1) ends with."""


def shell(*, device: DeviceOptions, content: ContentOptions, machine: MachineOptions, image: ImageOptions) -> None:
    """Open a prompt in a guest."""
    from txop.guest.running import interactive_guest

    if not sys.stdin.isatty():
        raise UserError("a shell needs a terminal", what_to_do="use `txop guest run -- COMMAND`")
    size = shutil.get_terminal_size()
    chip = device.chip()
    with errors_reported() as ending:
        computer = _computer(machine, TimeOptions(), terminal=(size.lines, size.columns))
        files = content.files(chip)
        made, built_for = image.image()
        overlay = _overlay([], content, files, chip, made, built_for, ending)
        overlay = overlay.beside(content.program_files(chip, image.pinned()))
        note("Booting; `exit` ends the guest, Ctrl-A x kills it.")
        _debugger_note(computer)
        status = interactive_guest(made, overlay, computer)
    if status:
        raise typer.Exit(status)


def _overlay(
    command: list[str],
    content: ContentOptions,
    files: Mapping[str, Path],
    chip: Chip | None,
    image: Image,
    built_for: Lock | None,
    ending: Ending,
) -> Overlay:
    from txop.guest.driver_check import check_driver
    from txop.guest.rebuilt import modules_for
    from txop.guest_image.overlay import Overlay

    modules = tuple(content.module or ())
    if chip is None:
        return Overlay(command=tuple(command), files=files, modules=modules)
    found = modules_for(chip.device, chip.driver, modules, image, built_for, note, host=chip.sdio_host)
    modules = ending.run(found, at_once=True)
    check_driver(chip, image, modules)
    last = f"exec {shlex.join(command)}" if command else ":"
    return Overlay(script=f"txop-lab up || exit\n{last}", environment=chip.variables(), files=files, modules=modules)


def _computer(machine: MachineOptions, time: TimeOptions, *, terminal: tuple[int, int] | None = None) -> Computer:
    from txop.guest.qemu import Computer, Mode, check_kvm, debugger_socket, kvm_works, shift_of

    kvm = machine.kvm
    if time.mode not in set(Mode):
        raise UserError(f"unknown mode {time.mode!r}", what_to_do="give fast or exact")
    if kvm not in ("auto", "yes", "no"):
        raise UserError(f"{kvm!r} is not auto, yes or no", where="--kvm")
    exact = time.mode == Mode.EXACT
    if exact and kvm == "yes":
        raise UserError("an exact guest cannot run with KVM: only QEMU's translator counts instructions")
    if kvm == "yes":
        check_kvm()
    return Computer(
        mode=Mode(time.mode),
        memory_mb=machine.memory,
        shift=shift_of(time.mips),
        kvm=not exact and (kvm == "yes" or (kvm == "auto" and kvm_works())),
        seed=time.seed,
        limit_s=time.limit,
        shell=terminal is not None,
        terminal_size=terminal,
        append=machine.kernel_words,
        debugger=None if machine.gdb is None else debugger_socket(machine.gdb),
    )


def _debugger_note(computer: Computer) -> None:
    if computer.debugger is not None:
        where = shlex.quote(f"target remote {computer.debugger}")
        note(f"The guest waits for a debugger: gdb -ex {where} VMLINUX; `continue` there starts it.")


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

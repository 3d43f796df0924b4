"""The command line of QEMU for a guest, as a pure function; and whether KVM works here."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from txop.core.visible import visible
from txop.guest.perturbation import perturbation
from txop.guest_image.emulator.lock import find_emulator_lock
from txop.guest_image.emulator.qemu import emulator
from txop.guest_image.error import GuestError, MissingGuestToolError

CPU = "qemu64,+ssse3,+sse4.1,+sse4.2,+aes,+pclmulqdq"
"""The processor of a guest without KVM. It has AES as single instructions, for the kernel and for the virtual chip:
with CCMP a link is about six times as fast."""

FIRMWARE = "qboot.rom"
"""It starts the kernel and drives no USB, which SeaBIOS does for some seconds."""

PORTS = ("events", "stdout", "stderr", "files")
"""What the guest says on ports of their own, beside its console; see ``init``."""

MACHINE = "pc-i440fx-7.2"
"""A versioned machine, so that another QEMU is the same computer (QEMU, docs/system/i386/pc.rst)."""

CLOCK_START = "2026-01-01T00:00:00"
"""The date at which an exact guest's clock begins."""

RECORD = f"rr=record,rrfile={os.devnull}"
"""Option of ``-icount`` in exact mode: QEMU's main loop then waits until all instructions of the processor are counted.

Without it the main loop may find the processor halted before its last instructions are counted, and moves the clock
from a time that is too early: the guest's clock runs ahead, at a moment that depends on the host's load (QEMU 7.2,
softmmu/icount.c, icount_start_warp_timer; replay/replay-internal.c, replay_mutex_lock). The record itself is not kept.
"""

MAX_SHIFT = 10
"""Largest value of ``-icount shift``: one instruction takes 2^shift ns."""


class Mode(StrEnum):
    """How time passes in a guest."""

    FAST = "fast"
    """As the host's does."""
    EXACT = "exact"
    """With the instructions it executes; nothing from outside, two runs are identical."""


WATCHDOG_S = {Mode.EXACT: 30, Mode.FAST: 180}
"""A guest with a processor that runs no process for so long, by its clock, gets an NMI from its watchdog (i6300esb); at
the earliest a quarter sooner, as it is fed four times in that time. The kernel then panics with the stack of what the
processor was in: a loop with interrupts off reports itself in no other way (Linux arch/x86/kernel/nmi.c,
``unknown_nmi_panic``). In fast mode this machine's other work takes time from the guest."""


@dataclass(frozen=True)
class Computer:
    """The virtual computer."""

    mode: Mode = Mode.FAST
    memory_mb: int = 512
    shift: int = 1
    """In exact mode: one instruction takes 2^shift ns."""
    kvm: bool = False
    seed: int = 0
    """Seeds what differs between samples."""
    limit_s: int = 300
    """The command is ended after that time of the guest."""
    shell: bool = False
    """Interactive, on the terminal of QEMU."""
    terminal_size: tuple[int, int] | None = None
    """Rows and columns, for a shell."""
    append: tuple[str, ...] = ()
    """More words of the kernel's command line."""
    debugger: Path | None = None
    """Unix socket, made by QEMU, on which the guest waits for gdb before its first instruction."""
    record: Path | None = None
    """In exact mode: file for what QEMU's main loop does, and when, by the instructions executed."""
    replay: Path | None = None
    """In exact mode: such a file of the same guest. QEMU does then what is in it."""
    replay_from: str | None = None
    """Snapshot in QEMU's disk that a replay begins with, and goes back to; ``None``: the boot."""

    @property
    def instructions_per_second(self) -> int | None:
        """Speed of the virtual CPU in exact mode; ``None``: not fixed."""
        return 1_000_000_000 >> self.shift if self.mode is Mode.EXACT else None


TESTED_QEMU = ("10.0.13",)
"""Versions with which repeats of exact guests under load were identical (``bench/exact``)."""


def untested_qemu(said: str) -> str | None:
    """What has to be stated with exact figures from this QEMU; ``None``: it is one that was tested.

    ``said``: what QEMU says of its version.

    >>> untested_qemu("QEMU emulator version 10.0.13 (Debian 1:10.0.13+ds-0+deb13u1)") is None
    True
    """
    match = re.search(r"version (\d{1,3}(?:\.\d{1,3}){1,3})", said)
    version = match[1] if match else None
    if version in TESTED_QEMU:
        return None
    this = f"this is {version}" if version else "this one does not report its version"
    return f"exactness was tested with QEMU {', '.join(TESTED_QEMU)}; {this}: repeat runs before relying on it"


def qemu_version() -> str:
    """What the pinned QEMU says of itself. Raises :class:`GuestError`."""
    return find_emulator_lock().description


ANSWER_S = 120.0
"""For QEMU to make an empty virtual machine, on a machine with a lot of other work."""
SAME_ADDRESSES = "norandmaps"
"""Programs are at the same addresses each time (Linux mm/memory.c, ``disable_randmaps``). QEMU finds translated code by
its address, so it would otherwise translate every program again each time that it begins."""
KVM_TRIAL = ("-accel", "kvm", "-cpu", "host", "-nodefaults", "-display", "none", "-S", "-monitor", "stdio")
"""Arguments with which QEMU makes an empty virtual machine with KVM and waits for ``quit`` on its input."""
_KVM = Path("/dev/kvm")
KVM_PVM = Path("/sys/module/kvm_pvm")
"""Module of KVM without the processor's help. It interprets early kernel code, and does not know all instructions."""
KVM_PVM_TROUBLE = "this host's KVM (kvm_pvm) cannot boot Debian's kernel, as it lacks BMI2; the processor is emulated"
X86 = ("x86_64", "amd64")
"""What an x86-64 processor is called (uname(2))."""


def kvm_works() -> bool:
    """Whether a virtual machine can be made with KVM here. It is tried: the device alone proves nothing."""
    return kvm_trouble() is None


def check_kvm() -> None:
    """Raise :class:`MissingGuestToolError`, with the reason, where KVM does not work."""
    trouble = kvm_trouble()
    if trouble is not None:
        raise MissingGuestToolError(
            f"KVM does not work here: {trouble}",
            what_to_do="leave --kvm out: QEMU's translator does without, some times slower",
        )


def kvm_trouble() -> str | None:
    """Why KVM does not work here; ``None``: it does."""
    machine = platform.machine()
    if machine not in X86:
        return f"this is an {machine} machine, and guests are x86-64"
    if not _KVM.exists():
        return f"there is no {_KVM}"
    if not os.access(_KVM, os.R_OK | os.W_OK):
        return f"this user may not use {_KVM} (the group kvm may)"
    if KVM_PVM.exists():
        return KVM_PVM_TROUBLE
    try:
        tried = subprocess.run(
            [*emulator().argv(), *KVM_TRIAL],
            input=b"quit\n",
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=ANSWER_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"QEMU made no virtual machine with it within {ANSWER_S:g} s"
    if tried.returncode == 0:
        return None
    return complaint(tried.stderr.decode("utf-8", "replace")) or f"QEMU ended with {tried.returncode}"


def complaint(said: str) -> str | None:
    """The first line of QEMU's output that says what is wrong, not its monitor's greeting; ``None``: no such line.

    >>> complaint("QEMU 7.2.22 monitor - type 'help'\\n(qemu) qemu-system-x86_64: error: failed to set MSR 0x10a\\n")
    'error: failed to set MSR 0x10a'
    >>> complaint("Could not access KVM kernel module: No such file or directory\\n")
    'Could not access KVM kernel module: No such file or directory'
    """
    rows = [row.strip() for row in said.splitlines() if row.strip()]
    mine = "qemu-system-x86_64: "
    named = [row[row.index(mine) + len(mine) :] for row in rows if mine in row]
    others = [row for row in rows if "monitor - type" not in row and row != "(qemu)"]
    found = next(iter(named or others), None)
    return None if found is None else visible(found[:200])


def shift_of(mips: int) -> int:
    """The ``-icount`` shift of a virtual CPU with this many million instructions a second. Raises :class:`GuestError`.

    >>> shift_of(1000), shift_of(500), shift_of(125)
    (0, 1, 3)
    """
    speeds = {round(1000 / 2**shift): shift for shift in range(MAX_SHIFT + 1)}
    if mips not in speeds:
        raise GuestError(
            f"a virtual CPU cannot have {mips} million instructions a second: {', '.join(map(str, speeds))}"
        )
    return speeds[mips]


def arguments(
    computer: Computer,
    kernel: Path,
    initramfs: Path,
    folder: Path,
    *,
    devices: Sequence[str] = (),
    continued: bool = False,
) -> list[str]:
    """The arguments of QEMU.

    Args:
        computer: The computer.
        kernel: What it boots.
        initramfs: The same.
        folder: For the console and the ports, each a file of its name.
        devices: More arguments.
        continued: These files are there, and are appended to.
    """
    append = ",append=on" if continued else ""
    if computer.mode is Mode.EXACT and computer.kvm:
        raise GuestError("an exact guest cannot run with KVM: only QEMU's own translator counts instructions")
    if (computer.record or computer.replay) and (computer.mode is not Mode.EXACT or computer.shell):
        raise GuestError("only an exact guest that nobody types into is recorded and replayed")
    if not 0 <= computer.shift <= MAX_SHIFT:
        raise GuestError(f"the shift {computer.shift} is not between 0 and {MAX_SHIFT}")
    settings: dict[str, object] = {
        "mode": computer.mode.value,
        "limit": computer.limit_s,
        "seed": computer.seed,
        **perturbation(computer.seed).settings(),
    }
    if computer.shell:
        settings["shell"] = 1
        if computer.terminal_size is not None:
            settings["size"] = "{}x{}".format(*computer.terminal_size)
    line = [
        "console=ttyS0",
        "quiet",
        "panic=-1",
        "oops=panic",
        SAME_ADDRESSES,
        *(f"txop.{key}={value}" for key, value in settings.items()),
    ]
    if computer.shell:
        line.remove("oops=panic")
    watchdog = _watchdog_words(computer)
    line += watchdog
    if computer.debugger is not None and computer.replay is None:
        line.append("nokaslr")  # symbols are where VMLINUX has them
    line += computer.append
    argv = [
        *("-bios", FIRMWARE),
        *("-machine", MACHINE, "-m", str(computer.memory_mb), "-smp", "1"),
        *("-no-user-config", "-nodefaults", "-display", "none", "-nic", "none", "-no-reboot"),
        *("-kernel", str(kernel), "-initrd", str(initramfs), "-append", " ".join(line)),
    ]
    if computer.mode is Mode.EXACT:
        # an interactive guest takes what is typed, so there is nothing to keep exact
        record = "" if computer.shell else f",{_record(computer)}"
        argv += ["-accel", "tcg,thread=single", "-cpu", CPU, "-icount", f"shift={computer.shift},sleep=off{record}"]
        argv += ["-rtc", f"base={CLOCK_START},clock=vm", "-seed", str(computer.seed)]
    else:
        argv += ["-accel", "kvm", "-cpu", "host"] if computer.kvm else ["-accel", "tcg", "-cpu", CPU]
        argv += [
            "-object",
            "rng-random,id=rng0,filename=/dev/urandom",
            "-device",
            "virtio-rng-pci,disable-legacy=on,rng=rng0",
        ]
    if computer.shell:
        argv += ["-serial", "mon:stdio"]
    else:
        argv += ["-chardev", f"file,id=console,path={_escaped(folder / 'console')}{append}"]
        argv += ["-serial", "chardev:console"]
    # ioeventfd would hand the guest's writes to another thread, at a time of its own. The firmware gives legacy
    # drivers no I/O ports, and Linux 6.1 does without a device that lacks them.
    argv += ["-device", f"virtio-serial-pci,disable-legacy=on,max_ports={len(PORTS) + 2},ioeventfd=off"]
    for name in PORTS:
        argv += ["-chardev", f"file,id={name},path={_escaped(folder / name)}{append}"]
        argv += ["-device", f"virtserialport,chardev={name},name=txop.{name}"]
    argv += devices
    if watchdog:
        argv += ["-device", "i6300esb", "-action", "watchdog=inject-nmi"]
    if computer.debugger is not None:
        path = _escaped(computer.debugger)
        argv += ["-S", "-chardev", f"socket,id=gdb,path={path},server=on,wait=off", "-gdb", "chardev:gdb"]
    return argv


def _record(computer: Computer) -> str:
    """Options of ``-icount`` (QEMU, docs/system/replay.rst)."""
    if computer.replay is not None:
        begin = "" if computer.replay_from is None else f",rrsnapshot={computer.replay_from}"
        return f"rr=replay,rrfile={_escaped(computer.replay.absolute())}{begin}"
    return RECORD if computer.record is None else f"rr=record,rrfile={_escaped(computer.record.absolute())}"


def _watchdog_words(computer: Computer) -> list[str]:
    """Words of the kernel's command line for the watchdog; empty: there is none. Whoever sits at a prompt may stop the
    guest for as long as they like. With KVM the processor may have counters, with NMIs that are not always claimed."""
    if computer.shell or computer.kvm:
        return []
    seconds = WATCHDOG_S[computer.mode]
    # of a driver that is built in, modprobe cannot set a parameter
    return [f"txop.watchdog={seconds}", f"i6300esb.heartbeat={seconds}", "unknown_nmi_panic"]


def debugger_socket(path: Path) -> Path:
    """The place of a socket for gdb, absolute. Raises :class:`GuestError` where none can be made."""
    place = path.absolute()
    if len(os.fsencode(place)) > MAX_SOCKET_BYTES:
        raise GuestError(f"{place} is too long for a Unix socket", what_to_do="give a shorter path to --gdb")
    if not place.parent.is_dir():
        raise GuestError(f"{place.parent} is not a folder", what_to_do="create it, or give another path to --gdb")
    if place.exists() or place.is_symlink():
        raise GuestError(f"{place} exists", what_to_do="remove it, or give another path to --gdb")
    return place


MAX_SOCKET_BYTES = 107
"""Longest path of a Unix socket, in bytes (unix(7): sun_path without its terminating null)."""


def _escaped(path: Path) -> str:
    """A path in an option of QEMU, where a comma ends it."""
    return str(path).replace(",", ",,")

"""The table of what txop can do with a machine, what each thing needs, and how to get what is missing."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from txop.guest.qemu import KVM_PVM, KVM_PVM_TROUBLE, KVM_TRIAL, complaint
from txop.guest_image.cache import default_cache
from txop.guest_image.emulator.lock import find_emulator_lock
from txop.guest_image.emulator.qemu import ARCHITECTURE, Emulator
from txop.guest_image.emulator.trees import qemu_place
from txop.guest_image.error import GuestError
from txop.guest_image.own_kernel import ELF_HEADER, KERNEL_PROGRAMS, header_folders
from txop.guest_image.packages.archive import KEYRINGS
from txop.machine.distribution import Distribution, Packages
from txop.machine.probe import Machine

MINIMUM_RUST = (1, 85)
"""Oldest Rust toolchain that builds txop."""

SET_UP = "make setup"
"""What brings anything that txop itself consists of, in a clone."""

CLONE = Path(__file__).parents[3]
"""The clone that this module is of; an installed package has none, and no Makefile there."""


@dataclass(frozen=True)
class Answer:
    """What a check found: whether the capability is there, and a word on it (version, device, reason)."""

    present: bool
    detail: str = ""
    fix: Packages | str | None = None
    """What helps in this case, when it is not what the table says."""


Check = Callable[[Machine], Answer]


@dataclass(frozen=True)
class Capability:
    """One row of ``txop doctor``."""

    key: str
    """Stable name, for ``--json``."""
    title: str
    needed_for: str
    check: Check
    fix: Packages | str
    """Packages to install, or the command that helps (without sudo; it is added where needed)."""
    fix_needs_root: bool = True
    core: bool = False
    """Whether txop is of no use without it."""
    only_in_clone: bool = False
    """Whether it is of use in a clone alone: for building txop, and for its tests."""


@dataclass(frozen=True)
class Finding:
    """A capability, looked for on one machine."""

    capability: Capability
    present: bool
    detail: str
    fix: str | None
    """Command that brings it; ``None`` when present, or when none is known for this distribution or without a clone."""


@dataclass(frozen=True)
class Diagnosis:
    """Every capability, looked for on one machine."""

    distribution: Distribution
    findings: tuple[Finding, ...]

    @property
    def core_ready(self) -> bool:
        """Whether everything that txop cannot do without is there."""
        return all(finding.present for finding in self.findings if finding.capability.core)


def diagnose(machine: Machine, capabilities: Sequence[Capability] | None = None) -> Diagnosis:
    """Look for every capability on ``machine``, all at once, and keep the order of the table. Without a clone, those
    that only a clone needs are left out."""
    table = CAPABILITIES if capabilities is None else tuple(capabilities)
    if not _is_clone():
        table = tuple(capability for capability in table if not capability.only_in_clone)
    distribution = Distribution.of(machine.os_release())
    with ThreadPoolExecutor(max_workers=8) as pool:
        answers = list(pool.map(lambda capability: capability.check(machine), table))
    findings = tuple(
        Finding(
            capability,
            answer.present,
            answer.detail,
            _fix_command(capability, answer, distribution, as_root=machine.is_root),
        )
        for capability, answer in zip(table, answers, strict=True)
    )
    return Diagnosis(distribution, findings)


def _fix_command(capability: Capability, answer: Answer, distribution: Distribution, *, as_root: bool) -> str | None:
    if answer.present:
        return None
    fix = answer.fix or capability.fix
    if isinstance(fix, Packages):
        return fix.install_command(distribution, as_root=as_root)
    if fix == SET_UP and not _is_clone():
        return None
    return fix if as_root or not capability.fix_needs_root else f"sudo {fix}"


def _is_clone() -> bool:
    return (CLONE / "Makefile").is_file()


def first_version(text: str) -> str:
    """The first thing in ``text`` that looks like a version, or "".

    >>> first_version("TShark (Wireshark) 4.0.17 (Git v4.0.17 packaged as 4.0.17-0+deb12u1)")
    '4.0.17'
    >>> first_version("ping from iputils 20221126")
    '20221126'
    """
    match = re.search(r"\d+(?:\.\d+)+|\b\d{8}\b", text)
    return match.group() if match else ""


def _program(*names: str, version_option: str = "--version", must_report_version: bool = False) -> Check:
    """The first of several programs (alternatives) that is installed, with its version.

    ``must_report_version``: a program that reports none is a stand-in that only says how to install the real one.
    """

    def check(machine: Machine) -> Answer:
        for name in names:
            path = machine.find_program(name)
            if path is None:
                continue
            ran = machine.run([path, version_option])
            version = first_version(ran.output) if ran else ""
            if must_report_version and not version:
                continue
            return Answer(True, f"{name} {version}".rstrip())
        return Answer(False, " or ".join(names) + " not found")

    return check


def _programs(*names: str) -> Check:
    """Programs that are all needed."""

    def check(machine: Machine) -> Answer:
        missing = [name for name in names if machine.find_program(name) is None]
        return Answer(not missing, f"{', '.join(missing)} not found" if missing else ", ".join(names))

    return check


def _modules(*names: str) -> Check:
    def check(machine: Machine) -> Answer:
        broken = [name for name in names if not machine.imports(name)]
        return Answer(not broken, f"cannot import {', '.join(broken)}" if broken else ", ".join(names))

    return check


def _device(path: str, permission: str) -> Check:
    """A device that is there and open to this user; ``permission`` is the command that opens it."""

    def check(machine: Machine) -> Answer:
        if not machine.exists(path):
            return Answer(False, f"no {path}")
        return Answer(True, path) if machine.can_write(path) else Answer(False, f"no permission for {path}", permission)

    return check


def _qemu(machine: Machine) -> Answer:
    """The pinned QEMU, by whether it was unpacked; nothing but it is needed to compile its devices."""
    if machine.architecture != ARCHITECTURE:
        detail = f"guests run on a QEMU for {ARCHITECTURE}, and this machine is {machine.architecture}"
        return Answer(False, detail, Packages(None, None, None))
    try:
        lock = find_emulator_lock()
    except (GuestError, OSError) as error:
        return Answer(False, f"its lock cannot be read: {error}", "txop guest build --update-emulator")
    if _unpacked_qemu(machine) is not None:
        return Answer(True, f"QEMU {lock.version}, Debian's {lock.source_version}, pinned {lock.pinned or ''}".rstrip())
    return Answer(False, f"QEMU {lock.version} is not here yet: up to {lock.size_bytes / 1e6:.0f} MB to fetch")


def _unpacked_qemu(machine: Machine) -> Emulator | None:
    try:
        lock = find_emulator_lock()
    except (GuestError, OSError):
        return None
    qemu = Emulator(qemu_place(lock, default_cache()), lock.version, lock.source_version, lock.program_sha256)
    return qemu if machine.exists(str(qemu.program)) else None


def _kvm(machine: Machine) -> Answer:
    if machine.architecture != "x86_64":
        detail = f"guests are x86-64; KVM of {machine.architecture} cannot run them"
        return Answer(False, detail, Packages(None, None, None))
    answer = _device("/dev/kvm", 'usermod -aG kvm "$USER"')(machine)
    if answer.present and machine.exists(str(KVM_PVM)):
        return Answer(False, f"/dev/kvm does not work: {KVM_PVM_TROUBLE}", Packages(None, None, None))
    if answer.present:
        answer = Answer(True, f"/dev/kvm ({_kvm_kind(machine)})")
    elif not machine.exists("/dev/kvm"):
        return _no_kvm(machine)
    qemu = _unpacked_qemu(machine)
    if not answer.present or qemu is None:
        return answer
    tried = machine.run(["/bin/sh", "-c", 'echo quit | "$@"', "sh", *qemu.command(), *KVM_TRIAL])
    if tried is not None and tried.status == 0:
        return answer
    why = complaint("" if tried is None else tried.output) or "QEMU made no virtual machine with it"
    return Answer(False, f"/dev/kvm does not work: {why}", Packages(None, None, None))


_KVM_MODULES = {"kvm_intel": "vmx", "kvm_amd": "svm"}
"""What makes /dev/kvm (arch/x86/kvm), and the flag of the processor that it needs (/proc/cpuinfo)."""


def _kvm_kind(machine: Machine) -> str:
    """What is behind /dev/kvm: the module, and whether this is a virtual machine itself."""
    there = [name for name in _KVM_MODULES if machine.exists(f"/sys/module/{name}")]
    nested = "nested: this is a virtual machine itself" if "hypervisor" in _processor_flags(machine) else ""
    return ", ".join(each for each in ("".join(there[:1]) or "built into the kernel", nested) if each)


def _no_kvm(machine: Machine) -> Answer:
    """Why there is no /dev/kvm, and the module that makes it."""
    flags = _processor_flags(machine)
    module = next((name for name, flag in _KVM_MODULES.items() if flag in flags), None)
    if module is not None:
        return Answer(False, "no /dev/kvm", f"modprobe {module}")
    if not flags:
        return Answer(False, "no /dev/kvm")
    where = "the machine that this one is virtual on" if "hypervisor" in flags else "the processor, or its firmware,"
    return Answer(False, f"no /dev/kvm: {where} offers no virtualisation", Packages(None, None, None))


def _processor_flags(machine: Machine) -> frozenset[str]:
    ran = machine.run(["grep", "-m1", "^flags", "/proc/cpuinfo"])
    return frozenset(ran.output.partition(":")[2].split()) if ran is not None and ran.status == 0 else frozenset()


def _guest_packages(machine: Machine) -> Answer:
    """APT, what unpacks and starts, and the keys by which Debian's packages are verified, also on Ubuntu."""
    answer = _programs("apt-get", "apt-cache", "xz", "setpriv")(machine)
    if answer.present and not any(machine.exists(str(keyring)) for keyring in KEYRINGS):
        return Answer(False, "the keys of Debian's archive are not here")
    return answer


def _kernel_build(machine: Machine) -> Answer:
    """What a kernel's own scripts call, and the header of objtool."""
    answer = _programs(*KERNEL_PROGRAMS)(machine)
    if answer.present and not any(machine.exists(str(folder / ELF_HEADER[0])) for folder in header_folders()):
        return Answer(False, f"{ELF_HEADER[0]} not found")
    return answer


def _virtual_chips(machine: Machine) -> Answer:
    beside = str(Path(__file__).parents[1] / "guest" / "bin" / "txop-vusb")
    path = beside if machine.exists(beside) else machine.find_program("txop-vusb")
    library = Path(__file__).parents[1] / "guest" / "bin" / "libtxop_qemu.so"
    if path is None or not machine.exists(str(library)):
        return Answer(False, f"{'txop-vusb' if path is None else library.name} not found")
    return Answer(True, path)


def _usbmon(machine: Machine) -> Answer:
    if machine.exists("/dev/usbmon0"):
        return Answer(True, "/dev/usbmon0")
    if machine.exists("/sys/kernel/debug/usb/usbmon/0u"):
        return Answer(True, "/sys/kernel/debug/usb/usbmon")
    return Answer(False, "kernel module usbmon not loaded")


_APPARMOR_SWITCH = "kernel.apparmor_restrict_unprivileged_userns"
"""sysctl with which Ubuntu (23.10 and later) forbids unprivileged user namespaces."""


def _namespaces(*, rootless: bool) -> Check:
    """Try it: make an empty network namespace that lives as long as ``true`` runs."""

    def check(machine: Machine) -> Answer:
        if not rootless and not machine.is_root:
            return Answer(False, "not running as root")
        command = ["unshare", "-Urn" if rootless else "-n", "true"]
        ran = machine.run(command)
        if ran is None:
            return Answer(False, "unshare not found")
        reason = ran.output.strip().splitlines()
        if ran.status == 0:
            return Answer(True, f"{command[0]} {command[1]} works")
        restricted = machine.exists("/proc/sys/" + _APPARMOR_SWITCH.replace(".", "/"))
        return Answer(
            False,
            reason[-1] if reason else "refused by the kernel",
            f"sysctl -w {_APPARMOR_SWITCH}=0" if rootless and restricted else None,
        )

    return check


def _rust(machine: Machine) -> Answer:
    path = machine.find_program("cargo")
    ran = machine.run([path, "--version"]) if path else None
    if ran is None or ran.status != 0:
        return Answer(False, "cargo not found")
    version = first_version(ran.output)
    needed = ".".join(map(str, MINIMUM_RUST))
    new_enough = bool(version) and tuple(int(part) for part in version.split(".")[:2]) >= MINIMUM_RUST
    return Answer(new_enough, f"cargo {version}" if new_enough else f"cargo {version} is older than {needed}")


CAPABILITIES: tuple[Capability, ...] = (
    Capability(
        "read-captures", "Read and analyse captures", "txop air, txop demo",
        _modules("txop._native", "polars"), SET_UP, fix_needs_root=False, core=True,
    ),
    Capability(
        "reports", "HTML reports with plots", "--html, txop demo",
        _modules("altair", "vl_convert", "jinja2"), SET_UP, fix_needs_root=False, core=True,
    ),
    Capability(
        "live-capture", "Capture live (tcpdump)", "making captures to analyse",
        _program("tcpdump", "dumpcap"), Packages("tcpdump", "tcpdump", "tcpdump"),
    ),
    Capability(
        "iw", "Set up wireless interfaces", "monitor mode, association, link state",
        _program("iw"), Packages("iw", "iw", "iw"),
    ),
    Capability(
        "iperf3", "Throughput tests", "measuring TCP and UDP throughput",
        _program("iperf3"), Packages("iperf3", "iperf3", "iperf3"),
    ),
    Capability(
        "ping", "Round-trip times", "measuring latency",
        _program("ping", version_option="-V"), Packages("iputils-ping", "iputils", "iputils"),
    ),
    Capability(
        "irtt", "One-way delays", "measuring latency under load in each direction",
        _program("irtt", version_option="version"), Packages("irtt", "irtt", None),
    ),
    Capability(
        "hostapd", "Access point", "being the access point of a test",
        _program("hostapd", version_option="-v"), Packages("hostapd", "hostapd", "hostapd"),
    ),
    Capability(
        "wpa-supplicant", "Station with WPA", "associating to the access point of a test",
        _program("wpa_supplicant", version_option="-v"),
        Packages("wpasupplicant", "wpa_supplicant", "wpa_supplicant"),
    ),
    Capability(
        "usbmon", "Capture USB traffic", "what a USB driver does on the bus",
        _usbmon, "modprobe usbmon",
    ),
    Capability(
        "netns-root", "Network namespaces as root", "emulated links between namespaces",
        _namespaces(rootless=False), "sudo txop COMMAND", fix_needs_root=False,
    ),
    Capability(
        "netns-rootless", "Network namespaces without root", "emulated links, unprivileged",
        _namespaces(rootless=True), "sysctl -w user.max_user_namespaces=15000",
    ),
    Capability(
        "tun", "TUN devices", "emulated links that carry real packets",
        _device("/dev/net/tun", "chmod a+rw /dev/net/tun"), "modprobe tun",
    ),
    Capability(
        "qemu", "QEMU of the guests", "txop guest: one QEMU on every machine, with txop's devices; not installed",
        _qemu, "txop guest build", fix_needs_root=False,
    ),
    Capability(
        "guest-packages", "Packages for guests", "txop guest: Debian's kernels and programs, without installing them",
        _guest_packages, Packages("apt xz-utils util-linux debian-archive-keyring", None, None),
    ),
    Capability(
        "driver-build", "Building drivers", "txop guest module: drivers from the kernel's source",
        _programs("make", "git", "xz"), Packages("make git xz-utils", "make git xz", "make git xz"),
    ),
    Capability(
        "debugger", "gdb", "txop guest debug: a recorded run, forwards and backwards",
        _programs("gdb"), Packages("gdb", "gdb", "gdb"),
    ),
    Capability(
        "kernel-build", "Building kernels", "txop guest kernel: a kernel from your own tree",
        _kernel_build, Packages(" ".join([*KERNEL_PROGRAMS.values(), ELF_HEADER[1]]), None, None),
    ),
    Capability(
        "virtual-chips", "Virtual chips", "txop guest --device: chips that real drivers drive",
        _virtual_chips, SET_UP, fix_needs_root=False,
    ),
    Capability(
        "kvm", "Virtual machines with KVM", "guests in fast mode at full speed; exact mode does not use it",
        _kvm, "modprobe -a kvm_intel kvm_amd",
    ),
    Capability(
        "tshark", "tshark, to cross-check", "make test: comparing with Wireshark",
        _program("tshark"), Packages("tshark", "wireshark-cli", "wireshark-cli"), only_in_clone=True,
    ),
    Capability(
        "browser", "Headless browser", "make test: looking at the HTML pages",
        _program("chromium", "chromium-browser", "google-chrome", must_report_version=True),
        Packages("chromium", "chromium", "chromium", elsewhere={"ubuntu": "snap install chromium"}), only_in_clone=True,
    ),
    Capability(
        "rust", "Rust toolchain", "make setup: building txop",
        _rust, SET_UP, fix_needs_root=False, only_in_clone=True,
    ),
)  # fmt: skip
"""Every capability, in the order of ``txop doctor``: first what every user needs, last what developers need."""

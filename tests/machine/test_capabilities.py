"""``txop doctor`` on machines that exist only here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from txop.cli import console, doctor
from txop.guest.outside import LIBRARY
from txop.guest_image.cache import default_cache
from txop.guest_image.emulator.lock import find_emulator_lock
from txop.guest_image.emulator.recipe import PROGRAM
from txop.guest_image.emulator.trees import qemu_place
from txop.guest_image.own_kernel import KERNEL_PROGRAMS
from txop.machine import capabilities
from txop.machine.capabilities import CAPABILITIES, Diagnosis, Finding, diagnose, first_version
from txop.machine.distribution import Distribution, PackageManager
from txop.machine.probe import CommandResult, LocalMachine, Machine

DEBIAN = {"ID": "debian", "PRETTY_NAME": "Debian GNU/Linux 13 (trixie)"}
UBUNTU = {"ID": "ubuntu", "ID_LIKE": "debian", "PRETTY_NAME": "Ubuntu 24.04.3 LTS"}
FEDORA = {"ID": "fedora", "PRETTY_NAME": "Fedora Linux 42"}
ARCH = {"ID": "arch"}
UNKNOWN = {"ID": "plan9"}

ALL_MODULES = frozenset({"txop._native", "polars", "altair", "vl_convert", "jinja2"})

EMULATOR = find_emulator_lock()

REFUSED = CommandResult(1, "unshare: unshare failed: Operation not permitted\n")


@dataclass(frozen=True)
class FakeMachine:
    """A machine made of answers."""

    release: Mapping[str, str] = field(default_factory=lambda: DEBIAN)
    is_root: bool = False
    architecture: str = "x86_64"
    programs: Mapping[str, str] = field(default_factory=dict)
    """Program name -> what it prints when asked for its version."""
    modules: frozenset[str] = ALL_MODULES
    devices: Mapping[str, bool] = field(default_factory=dict)
    """Path -> whether this user may open it."""
    unshare: CommandResult | None = REFUSED
    kvm: CommandResult | None = field(default_factory=lambda: CommandResult(0, ""))
    processor: str = ""
    """Its flags."""

    def os_release(self) -> Mapping[str, str]:
        return self.release

    def find_program(self, name: str) -> str | None:
        return f"/usr/bin/{name}" if name in self.programs else None

    def run(self, command: Sequence[str]) -> CommandResult | None:
        if command[0] == "unshare":
            return self.unshare
        if command[0] == "/bin/sh":
            assert "-accel" in command
            return self.kvm
        if command[0] == "grep":
            return CommandResult(0, f"flags\t\t: {self.processor}\n") if self.processor else CommandResult(1, "")
        return CommandResult(0, self.programs[command[0].rpartition("/")[2]])

    def exists(self, path: str) -> bool:
        return path in self.devices

    def can_write(self, path: str) -> bool:
        return self.devices.get(path, False)

    def imports(self, module: str) -> bool:
        return module in self.modules


BARE = FakeMachine()
FULL = FakeMachine(
    is_root=True,
    programs={
        "tcpdump": "tcpdump version 4.99.5\nlibpcap version 1.10.5",
        "iw": "iw version 6.9",
        "iperf3": "iperf 3.18 (cJSON 1.7.15)",
        "ping": "ping from iputils 20240905",
        "irtt": "irtt version: 0.9.1",
        "hostapd": "hostapd v2.10",
        "wpa_supplicant": "wpa_supplicant v2.10",
        "tshark": "TShark (Wireshark) 4.4.7.",
        "chromium": "Chromium 140.0.7339.80 built on Debian",
        "cargo": "cargo 1.85.0 (d73d2caf9 2024-12-31)",
        **dict.fromkeys(("apt-get", "apt-cache", "xz", "setpriv", "make", "gcc", "ld", "git", "gdb", "txop-vusb"), ""),
        **dict.fromkeys(KERNEL_PROGRAMS, ""),
    },
    devices={
        "/dev/usbmon0": True,
        "/dev/net/tun": True,
        "/dev/kvm": True,
        "/usr/share/keyrings/debian-archive-keyring.gpg": True,
        "/usr/include/gelf.h": True,
        str(qemu_place(EMULATOR, default_cache()) / PROGRAM): True,
        str(Path(capabilities.__file__).parents[1] / "guest" / "bin" / LIBRARY): True,
    },
    unshare=CommandResult(0, ""),
)


def finding(diagnosis: Diagnosis, key: str) -> Finding:
    return next(found for found in diagnosis.findings if found.capability.key == key)


def test_a_machine_with_everything_needs_no_fix():
    diagnosis = diagnose(FULL)
    assert diagnosis.core_ready
    assert [f.capability.key for f in diagnosis.findings if not f.present] == []
    assert all(f.fix is None for f in diagnosis.findings)
    assert finding(diagnosis, "ping").detail == "ping 20240905"
    assert doctor.summary(diagnosis) == "Everything is there."


def test_a_bare_machine_is_ready_and_every_gap_has_a_command():
    diagnosis = diagnose(BARE)
    assert diagnosis.core_ready
    missing = [f for f in diagnosis.findings if not f.present]
    assert {f.capability.key for f in missing} == {c.key for c in CAPABILITIES if not c.core}
    assert all(f.fix for f in missing)
    assert "all optional" in doctor.summary(diagnosis)


@pytest.mark.parametrize(
    ("release", "root", "command"),
    [
        (DEBIAN, False, "sudo apt-get install -y tshark"),
        (DEBIAN, True, "apt-get install -y tshark"),
        (UBUNTU, False, "sudo apt-get install -y tshark"),
        (FEDORA, False, "sudo dnf install -y wireshark-cli"),
        (ARCH, True, "pacman -S --needed wireshark-cli"),
        (UNKNOWN, False, None),
    ],
)
def test_the_fix_is_in_the_words_of_the_distribution(release, root, command):
    assert finding(diagnose(replace(BARE, release=release, is_root=root)), "tshark").fix == command


@pytest.mark.parametrize("module", sorted(ALL_MODULES))
def test_the_core_is_not_ready_without_any_of_its_modules(module):
    diagnosis = diagnose(replace(FULL, modules=ALL_MODULES - {module}))
    assert not diagnosis.core_ready
    broken = [f for f in diagnosis.findings if not f.present]
    assert [f.detail for f in broken] == [f"cannot import {module}"]
    assert broken[0].fix == "make setup"
    assert "not ready" in doctor.summary(diagnosis)


def test_what_takes_a_clone_is_not_advised_without_one(monkeypatch, tmp_path):
    assert finding(diagnose(BARE), "virtual-chips").fix == "make setup"
    in_clone = {found.capability.key for found in diagnose(BARE).findings}
    monkeypatch.setattr(capabilities, "CLONE", tmp_path)
    installed = diagnose(BARE)
    assert finding(installed, "virtual-chips").fix is None
    assert finding(installed, "iw").fix is not None
    assert in_clone - {found.capability.key for found in installed.findings} == {"tshark", "browser", "rust"}


def test_ubuntu_browser_is_a_snap_and_its_stand_in_is_not_a_browser():
    stub = {"chromium-browser": "Command '/usr/bin/chromium-browser' requires the chromium snap to be installed."}
    browser = finding(diagnose(replace(BARE, release=UBUNTU, programs=stub)), "browser")
    assert not browser.present
    assert browser.fix == "sudo snap install chromium"


@pytest.mark.parametrize(
    ("version", "present"), [("1.84.1", False), ("1.85.0", True), ("1.100.0", True), ("2.0.0", True)]
)
def test_rust_must_be_new_enough(version, present):
    assert finding(diagnose(replace(BARE, programs={"cargo": f"cargo {version}"})), "rust").present is present


def test_a_device_without_permission_is_not_the_same_as_no_device():
    kvm = finding(diagnose(replace(BARE, devices={"/dev/kvm": False})), "kvm")
    assert not kvm.present
    assert kvm.detail == "no permission for /dev/kvm"
    assert kvm.fix == 'sudo usermod -aG kvm "$USER"'
    assert finding(diagnose(BARE), "kvm").fix == "sudo modprobe -a kvm_intel kvm_amd"


def test_ubuntu_forbids_rootless_namespaces_through_apparmor():
    switch = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns"
    rootless = finding(diagnose(replace(BARE, devices={switch: False})), "netns-rootless")
    assert rootless.detail == "unshare: unshare failed: Operation not permitted"
    assert rootless.fix == "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"


def test_what_building_drivers_lacks_is_named():
    build = finding(diagnose(replace(FULL, programs={"make": "", "xz": ""})), "driver-build")
    assert build.detail == "git not found"
    assert build.fix == "apt-get install -y make git xz-utils"


def test_what_building_kernels_lacks_is_named():
    here = replace(BARE, programs=dict.fromkeys(KERNEL_PROGRAMS, ""))
    build = finding(diagnose(here), "kernel-build")
    assert (build.present, build.detail) == (False, "gelf.h not found")
    assert build.fix == "sudo apt-get install -y flex bison bc make gcc libelf-dev"
    assert finding(diagnose(replace(here, devices={"/usr/include/gelf.h": True})), "kernel-build").present


@pytest.mark.parametrize("end", ["gpg", "pgp"])
def test_guests_take_the_keys_by_which_debian_packages_are_verified(end):
    tools = {"apt-get": "", "apt-cache": "", "xz": "", "setpriv": ""}
    without = finding(diagnose(replace(FULL, programs=tools, devices={})), "guest-packages")
    assert without.detail == "the keys of Debian's archive are not here"
    assert without.fix is not None
    assert "debian-archive-keyring" in without.fix
    keys = {f"/usr/share/keyrings/debian-archive-keyring.{end}": True}
    assert finding(diagnose(replace(FULL, programs=tools, devices=keys)), "guest-packages").present


def test_the_pinned_qemu_is_shown_with_its_version_or_with_what_has_to_be_fetched():
    assert EMULATOR.source_version in finding(diagnose(FULL), "qemu").detail
    absent = finding(diagnose(BARE), "qemu")
    assert f"{EMULATOR.size_bytes / 1e6:.0f} MB" in absent.detail
    assert absent.fix == "txop guest build"


def test_the_pinned_qemu_does_not_run_on_another_processor():
    found = finding(diagnose(replace(FULL, architecture="aarch64")), "qemu")
    assert not found.present
    assert found.fix is None


@pytest.mark.parametrize(
    ("kvm", "why"),
    [
        (CommandResult(1, "error: failed to set MSR 0x10a to 0x69\nmore"), "error: failed to set MSR 0x10a to 0x69"),
        (
            CommandResult(
                134, "QEMU 7.2.22 monitor - type 'help'\n(qemu) qemu-system-x86_64: error: failed to set MSR 0x10a\n"
            ),
            "error: failed to set MSR 0x10a",
        ),
        (CommandResult(134, "QEMU 7.2.22 monitor - type 'help'\n(qemu) \n"), "QEMU made no virtual machine with it"),
        (CommandResult(134, ""), "QEMU made no virtual machine with it"),
        (None, "QEMU made no virtual machine with it"),
    ],
)
def test_kvm_that_is_there_and_does_not_work_is_not_present(kvm, why):
    found = finding(diagnose(replace(FULL, kvm=kvm)), "kvm")
    assert (found.present, found.detail, found.fix) == (False, f"/dev/kvm does not work: {why}", None)


def test_kvm_that_boots_no_kernel_is_not_present():
    devices = {**FULL.devices, "/sys/module/kvm_pvm": True}
    found = finding(diagnose(replace(FULL, devices=devices)), "kvm")
    assert (found.present, found.fix) == (False, None)
    assert "kvm_pvm" in found.detail


def test_kvm_of_another_processor_is_of_no_use_and_has_no_fix():
    found = finding(diagnose(replace(FULL, architecture="aarch64")), "kvm")
    assert not found.present
    assert "x86-64" in found.detail
    assert found.fix is None


@pytest.mark.parametrize(
    ("processor", "module", "detail"),
    [
        ("fpu vmx sse", "kvm_intel", "kvm_intel"),
        ("fpu vmx hypervisor", "kvm_intel", "kvm_intel, nested: this is a virtual machine itself"),
        ("fpu svm", "kvm_amd", "kvm_amd"),
        ("fpu svm", "other", "built into the kernel"),
    ],
)
def test_what_is_behind_kvm_is_named(processor, module, detail):
    devices = {**FULL.devices, f"/sys/module/{module}": True}
    found = finding(diagnose(replace(FULL, processor=processor, devices=devices)), "kvm")
    assert (found.present, found.detail) == (True, f"/dev/kvm ({detail})")


@pytest.mark.parametrize(
    ("processor", "fix", "why"),
    [
        ("fpu vmx", "sudo modprobe kvm_intel", "no /dev/kvm"),
        ("fpu svm", "sudo modprobe kvm_amd", "no /dev/kvm"),
        ("fpu hypervisor", None, "the machine that this one is virtual on offers no virtualisation"),
        ("fpu sse", None, "the processor, or its firmware, offers no virtualisation"),
    ],
)
def test_the_module_that_makes_kvm_is_that_of_the_processor(processor, fix, why):
    found = finding(diagnose(replace(BARE, processor=processor)), "kvm")
    assert (found.present, found.fix) == (False, fix)
    assert why in found.detail


@pytest.mark.parametrize("machine", [BARE, FULL, replace(BARE, release=UNKNOWN)])
def test_json_has_no_null(machine):
    document = doctor.as_json(diagnose(machine))
    assert all(value is not None for row in document["capabilities"] for value in row.values())
    assert all(row["detail"] for row in document["capabilities"])
    assert all("fix" not in row for row in document["capabilities"] if row["present"])


def test_json_and_table_tell_the_same(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    diagnosis = diagnose(BARE)
    document = doctor.as_json(diagnosis)
    console.stdout().print(doctor.table(diagnosis))
    table = capsys.readouterr().out
    for row in document["capabilities"]:
        assert row["title"] in table
        assert row.get("fix", "") in table


def test_keys_are_unique():
    keys = [capability.key for capability in CAPABILITIES]
    assert len(keys) == len(set(keys))


def test_derivatives_use_the_package_manager_of_their_family():
    mint = Distribution.of({"ID": "linuxmint", "ID_LIKE": "ubuntu debian", "NAME": "Linux Mint"})
    assert mint.manager is PackageManager.APT


@pytest.mark.parametrize("text", ["", "no digits", "usage: irtt [command]"])
def test_no_version_is_an_empty_version(text):
    assert first_version(text) == ""


class TestLocalMachine:
    """The real probe, on what every machine has."""

    machine: Machine = LocalMachine()

    def test_finds_and_runs_programs(self):
        shell = self.machine.find_program("sh")
        assert shell is not None
        assert self.machine.run([shell, "-c", "echo out; echo err >&2; exit 3"]) == CommandResult(3, "out\nerr\n")

    def test_absence_is_an_answer(self):
        assert self.machine.find_program("no-such-program-anywhere") is None
        assert self.machine.run(["no-such-program-anywhere"]) is None
        assert not self.machine.exists("/no/such/path")
        assert not self.machine.can_write("/no/such/path")
        assert not self.machine.imports("no_such_module_anywhere")

    def test_a_program_that_hangs_is_given_up(self, monkeypatch):
        monkeypatch.setattr(LocalMachine, "_TIMEOUT_S", 0.2)
        assert self.machine.run(["sleep", "30"]) is None

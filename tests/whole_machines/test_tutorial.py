"""The tutorial of two machines, typed: this machine and a lab machine, each at its address of the tutorial, in a
network namespace of this one."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from lab_bench import CAMPAIGN_S, STARVED
from lab_image import PASSPHRASE, SSID
from lab_machine import SSH_PORT, LabMachine, Place
from txop.archive.counting import counting
from txop.archive.reader import read_archive

PAGE = (Path(__file__).parents[2] / "docs" / "tutorial-two-machines.md").read_text(encoding="utf-8")
NAMESPACE = "txop-tutorial"
HERE, THERE = "192.0.2.1", "192.0.2.20"
NOT_TYPED = {
    "sudo apt-get install iperf3": "both machines have it",
    "txop run first.toml -o first": "the same as with --blocks 1, for longer",
}
"""Beginnings of lines that are not typed, and why."""
ON_THE_LAB_MACHINE = ("sudo iw phy",)
"""The radio that listens is the lab machine's here."""

# What differs on this desk from the plan of the driver: all radios are the lab machine's and simulated, and its
# emulated processor is too slow for TCP.
DRIVER = {
    'interface = "wlan0"\naddress = "10.0.0.2"': 'interface = "wlan0"\naddress = "198.18.77.2"',
    'kind = "local"\naddress = "10.0.0.1"': 'SSH\nnamespace = "ap"\ninterface = "wlan1"\naddress = "198.18.77.1"',
    'kind = "local"\ninterface = "mon0"\nsudo = true': 'SSH\ninterface = "wlan2"',
    "dhcp = true": 'commands = ["ip address replace 198.18.77.2/24 dev wlan0"]',
    'kind = "tcp-tx"\nlatency = "ping"\n\n[[test]]\nname = "rx"\nkind = "tcp-rx"\n': (
        'kind = "udp-tx"\nrate_mbit_s = 1\nlatency = "ping"\nduration_s = 4\n'
    ),
    "[design]\nblocks = 10\n": "[design]\nblocks = 1\nwarm_up_s = 1\nidle_s = 1\ngap_s = 0\n",
    "[arm.module]": 'load = ["lab-up"]\nunload = ["lab-down"]\n[arm.module]\nparameters = { radios = 3 }',
    "rtl8xxxu.ko": "mac80211_hwsim.ko",
}
SSH = f'kind = "ssh"\nhost = "{THERE}"\nuser = "root"\nkey = "lab_key"\nknown_hosts = "lab_hosts"'
MACHINE = "[gates]\nmax_peer_cpu_percent = 100\n"
"""One machine is both ends."""


def plan(name: str) -> str:
    (found,) = (text for text in re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL) if text.startswith(f"# {name}"))
    return str(found)


def lines() -> list[str]:
    blocks = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    found = [line.partition("  #")[0].strip() for block in blocks for line in block.splitlines()]
    return [line for line in found if line]


@contextmanager
def network() -> Iterator[None]:
    """A namespace with the addresses of both machines. What comes from the lab machine is sent on by QEMU."""
    subprocess.run(["ip", "netns", "add", NAMESPACE], check=True)
    try:
        inside = ["ip", "-n", NAMESPACE]
        subprocess.run([*inside, "link", "set", "lo", "up"], check=True)
        for address in (HERE, THERE):
            subprocess.run([*inside, "address", "add", f"{address}/32", "dev", "lo"], check=True)
        ping = "net.ipv4.ping_group_range=0 2147483647"  # QEMU pings with a socket of a user
        subprocess.run(["ip", "netns", "exec", NAMESPACE, "sysctl", "-q", "-w", ping], check=True)
        yield
    finally:
        subprocess.run(["ip", "netns", "delete", NAMESPACE], check=True)


class Desk:
    """A terminal of this machine, at the tutorial's address."""

    def __init__(self, machine: LabMachine, folder: Path, program: Path, environment: dict[str, str]) -> None:
        self.machine, self.folder = machine, folder
        # The one who types lets the key in with an old one, where no key is named, and says yes to the host.
        tools = folder / "tools"
        tools.mkdir()
        config = tools / "config"
        config.write_text(
            f"Host *\n  IdentitiesOnly yes\n  UserKnownHostsFile {tools}/known\n  StrictHostKeyChecking accept-new\n"
        )
        ssh = tools / "ssh"
        ssh.write_text(
            f"#!/bin/sh\ncase $* in *'-i '*) ;; *) set -- -i {machine.image.key} \"$@\" ;; esac\n"
            f'exec {shutil.which("ssh")} -F {config} "$@"\n'
        )
        ssh.chmod(0o755)
        scan = tools / "ssh-keyscan"  # an emulated processor may take longer to answer than the 5 s that are usual
        scan.write_text(f'#!/bin/sh\nexec {shutil.which("ssh-keyscan")} -T 60 "$@"\n')
        scan.chmod(0o755)
        path = f"{tools}:{program.parent}:{os.environ['PATH']}"
        self._environment = {**environment, "PATH": path, "HOME": str(folder), "XDG_STATE_HOME": str(folder / "state")}

    def type(self, line: str) -> str:
        """What a line prints."""
        argv = [*self.machine.place.enter, "sh", "-c", line]
        done = subprocess.run(
            argv,
            cwd=self.folder / "desk" if (self.folder / "desk").is_dir() else self.folder,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=CAMPAIGN_S,
            check=False,
        )
        assert done.returncode == 0, f"{line}: {done.stdout}{done.stderr}"
        return done.stdout

    def write_plans(self) -> None:
        """The two plans of the page, and what they name."""
        desk = self.folder / "desk"
        first = plan("first.toml").replace("[gates]\n", MACHINE)
        (desk / "first.toml").write_text(first)
        text = plan("driver.toml")
        for old, new in DRIVER.items():
            assert old in re.sub(r" +#.*", "", text), old
            text = re.sub(r" +#.*", "", text).replace(old, new.replace("SSH", SSH))
        (desk / "driver.toml").write_text(f"{text}\n{MACHINE}")
        (desk / "wpa_supplicant.conf").write_text(f'network={{\n\tssid="{SSID}"\n\tpsk="{PASSPHRASE}"\n}}\n')
        find = "find /lib/modules/$(uname -r) -name 'mac80211_hwsim.ko*'"
        (place,) = self.machine.ssh(find).split()
        argv = [*self.machine.place.enter, "ssh", "-F", "/dev/null", "-i", str(self.machine.image.key)]
        argv += ["-o", f"UserKnownHostsFile={self.machine.known_hosts}", f"root@{THERE}", f"cat {place}"]
        module = subprocess.run(argv, check=True, capture_output=True, timeout=120).stdout
        for arm in ("vanilla", "patch-10"):
            (desk / arm).mkdir()
            (desk / arm / "mac80211_hwsim.ko").write_bytes(module)


@pytest.mark.skipif(os.geteuid() != 0, reason="the addresses of the tutorial need root, for a network namespace")
def test_every_command_of_the_tutorial(
    started_machine: Callable[..., AbstractContextManager[LabMachine]],
    tmp_path: Path,
    program: Path,
    plain_environment: dict[str, str],
) -> None:
    typed: dict[str, str] = {}
    left = dict(NOT_TYPED)
    place = Place(NAMESPACE, THERE, SSH_PORT)
    with network(), started_machine(tmp_path, place) as machine:
        desk = Desk(machine, tmp_path, program, plain_environment)
        for line in lines():
            why = next((beginning for beginning in left if line.startswith(beginning)), None)
            if why is not None:
                del left[why]
                continue
            if line.startswith(ON_THE_LAB_MACHINE):
                machine.ssh("modprobe mac80211_hwsim radios=3")
                typed[line] = machine.ssh(f"{line} && iw dev mon0 info; rmmod mac80211_hwsim")
                continue
            if line.startswith("mkdir desk && cd desk"):
                (tmp_path / "desk").mkdir()
                continue
            typed[line] = desk.type(line)
            if line.startswith("ssh -i lab_key"):
                desk.write_plans()
        assert machine.left_behind() == []
        release = machine.ssh("uname -r")
    assert left == {}, "lines that are not on the page any more"

    def printed(beginning: str) -> str:
        return next(text for line, text in typed.items() if line.startswith(beginning))

    assert printed("ssh -i lab_key") == release
    assert "type monitor" in printed("sudo iw phy")
    for name in ("first", "driver"):
        assert "nothing that was checked would void the runs" in printed(f"txop plan check {name}.toml --connect")
    assert "Mbit/s to 192.0.2.1, port 5210" in printed("txop plan check first.toml --connect")
    desk_folder = tmp_path / "desk"
    for name, runs in (("try", 2), ("noise", 2), ("driver", 2)):
        read = read_archive(desk_folder / name)
        assert read.finished, name
        assert len(counting(read, "tx").runs) == runs, name
        for run in read.runs:
            assert {cause.gate for cause in run.void} <= STARVED, run.void
        assert (desk_folder / name / "report.html").exists()
    assert "Finished" in printed("txop watch try")
    assert "mtu-600" in printed("txop compare try")
    assert "mtu-600" in printed("txop report try")

"""A lab machine in QEMU, reached over SSH on the loopback, as a machine on a desk is. It ends with the process that
started it."""

from __future__ import annotations

import shlex
import shutil
import socket
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from lab_image import ROUTER_PORT, LabImage, NoLabError
from txop.guest.qemu import CPU, kvm_works

BOOT_S = 900.0
"""Without KVM, beside other work."""
BUSY_S = 300.0
"""A machine that takes this long to boot has less than a fifth of a core: its clock runs away from its programs, and
what fails there says nothing. With a whole core it takes 55 s."""
SSH_S = 240.0
"""For one command, without KVM and beside other work."""
SSH_PORT = 22
FAST = "mitigations=off audit=0 cryptomgr.notests random.trust_cpu=on"
"""Spares a translated machine what only costs it time."""


LEFT = r"""
pgrep -a 'iperf3|ping|tcpdump|wpa_supplicant|hostapd|irtt'
pgrep -af 'txop-[0-9a-f]{12}' | grep -v pgrep
grep -oE "^(mac80211_hwsim|lab_[a-z]+)" /proc/modules
ls -d /run/txop/* /run/modprobe.d/txop* /tmp/txop* /tmp/*.txop.* 2>/dev/null
true
"""
"""Prints a line for each thing that a campaign may have left."""


def find_qemu() -> str:
    """QEMU of this machine: a lab machine has a disk and a network, which that of guests cannot give."""
    path = shutil.which("qemu-system-x86_64")
    if path is None:
        raise NoLabError("there is no qemu-system-x86_64: install qemu-system-x86")
    return path


@dataclass(frozen=True)
class Place:
    """Where a machine is on the network of this one: on the loopback, at a free port; or in a network namespace of this
    machine (``ip netns``), at an address and port of its own, and able to reach this machine there."""

    namespace: str | None = None
    address: str = "127.0.0.1"
    port: int | None = None

    @property
    def enter(self) -> list[str]:
        """What is put in front of a command that is to run there."""
        return ["ip", "netns", "exec", self.namespace] if self.namespace is not None else []

    def known_as(self, port: int) -> str:
        """Its name in a file of known hosts."""
        return self.address if port == SSH_PORT else f"[{self.address}]:{port}"


class LabMachine:
    """See the module. A context: the machine is gone when it ends."""

    def __init__(self, image: LabImage, folder: Path, place: Place | None = None) -> None:
        """``folder``: for its console and the files that reach it. ``place``: where it is on the network."""
        self.image = image
        self.folder = folder
        self.place = place or Place()
        self.port = self.place.port or _free_port()
        self.console = folder / "console.txt"
        self.known_hosts = folder / "known_hosts"
        self.router_port = _free_port()
        keys = {self.port: image.host_key, self.router_port: image.router_key}
        lines = (f"{self.place.known_as(port)} {key}\n" for port, key in keys.items())
        self.known_hosts.write_text("".join(lines), encoding="ascii")
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> LabMachine:
        """Raises :class:`~lab_image.NoLabError` where this machine is too busy."""
        self.power_on()
        try:
            took_s = self.wait_for_ssh()
            if took_s > BUSY_S:
                said = f"it took {took_s:.0f} s to boot, {BUSY_S:.0f} s at most are of use: this machine is too busy"
                raise NoLabError(said)
        except BaseException:
            self.power_off()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.power_off()

    def power_on(self) -> None:
        """Start it, without waiting for it to boot. What it wrote to its disk before is gone."""
        words = f"root=/dev/vda rw console=ttyS0 net.ifnames=0 quiet panic=1 {FAST}"
        accelerator = ["-accel", "kvm", "-cpu", "host"] if kvm_works() else ["-accel", "tcg", "-cpu", CPU]
        argv = [
            find_qemu(), *accelerator, "-smp", "1", "-m", "640", "-nodefaults", "-no-user-config", "-display", "none",
            "-kernel", str(self.image.kernel), "-initrd", str(self.image.initrd), "-append", words,
            "-drive", f"file={self.image.disk},if=virtio,format=raw,snapshot=on",
            "-netdev", f"user,id=n,restrict={'off' if self.place.namespace else 'on'}"
            f",hostfwd=tcp:{self.place.address}:{self.port}-:22"
            f",hostfwd=tcp:{self.place.address}:{self.router_port}-:{ROUTER_PORT}",
            "-device", "virtio-net-pci,netdev=n", "-device", "virtio-rng-pci",
            "-chardev", f"file,id=c,path={self.console},append=on", "-serial", "chardev:c",
        ]  # fmt: skip
        with (self.folder / "qemu.txt").open("ab") as said:
            self._process = subprocess.Popen(
                [*self.place.enter, "setpriv", "--pdeathsig", "KILL", "--", *argv],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=said,
                start_new_session=True,
            )

    def power_off(self) -> None:
        """As if its plug were pulled."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def ssh(
        self, command: str, *, timeout_s: float = SSH_S, check: bool = True, user: str = "root", stdin: bytes = b""
    ) -> str:
        """What a shell command prints there, with the SSH program of this machine."""
        argv = [*self.place.enter, *self._ssh_argv(user), command]
        ran = subprocess.run(argv, input=stdin, capture_output=True, timeout=timeout_s, check=False)
        if check and ran.returncode:
            said = ran.stderr.decode("utf-8", "replace").strip()
            raise AssertionError(f"`{command}` ended with {ran.returncode}: {said}")
        return ran.stdout.decode("utf-8", "replace")

    def ssh_line(self, command: str) -> str:
        """The same as a line of a shell script, for a hook."""
        return shlex.join([*self._ssh_argv("root"), command])

    def put(self, path: str, data: bytes, *, mode: int = 0o644) -> None:
        """A file there."""
        self.ssh(f"mkdir -p {path.rpartition('/')[0]} && cat >{path} && chmod {mode:o} {path}", stdin=data)

    def _ssh_argv(self, user: str) -> list[str]:
        argv = ["ssh", "-F", "/dev/null", "-i", str(self.image.key), "-p", str(self.port)]
        argv += ["-o", f"UserKnownHostsFile={self.known_hosts}", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10"]
        argv += ["-o", "KexAlgorithms=curve25519-sha256"]  # on a translated processor the default takes a second longer
        return [*argv, f"{user}@{self.place.address}"]

    def wait_for_ssh(self, timeout_s: float = BOOT_S) -> float:
        """Until it can be logged in to; how long that took, s."""
        begun = time.monotonic()
        while True:
            try:
                if self.ssh("echo here", timeout_s=30.0, check=False).strip() == "here":
                    return time.monotonic() - begun
            except subprocess.TimeoutExpired:
                pass
            took = time.monotonic() - begun
            if self._process is None or self._process.poll() is not None or took > timeout_s:
                said = (self.folder / "qemu.txt").read_text(errors="replace")[-500:]
                shown = self.console.read_text(errors="replace")[-1000:] if self.console.exists() else ""
                raise AssertionError(f"no lab machine after {took:.0f} s: {said}\n{shown}")
            time.sleep(1.0)

    def boot_id(self) -> str:
        """Changes with each boot."""
        return self.ssh("cat /proc/sys/kernel/random/boot_id").strip()

    def make_ready(self) -> None:
        """Running, with nothing of an earlier test: started again if it is not."""
        try:
            left = self.left_behind()
        except (AssertionError, subprocess.TimeoutExpired) as error:
            left = [str(error)]
        if left:
            self.power_off()
            self.power_on()
            self.wait_for_ssh()

    def left_behind(self) -> list[str]:
        """What a campaign may leave: processes, the module, addresses, files."""
        return self.ssh(LEFT).split("\n")[:-1]


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])

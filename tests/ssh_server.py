"""Real SSH servers to test against: each in a mount, process and network namespace of its own, in a root file system
that holds BusyBox and nothing else, at the other end of a veth pair.

Everything of a server is a child of one process in its own PID namespace, and that dies with pytest: nothing stays
behind, however the tests end.
"""

from __future__ import annotations

import contextlib
import ipaddress
import itertools
import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

SUBNETS = [str(net) for net in ipaddress.ip_network("198.18.0.0/15").subnets(new_prefix=30)]
"""RFC 2544's addresses, which no network here uses."""

NUMBERS = itertools.count(1)

APPLETS = """
[ ash awk basename cat chmod cp cut date dd df dmesg echo env expr false grep head hostname id ifconfig ip kill ln ls
mkdir mktemp mv nice nohup nproc ping ps pwd rm rmdir sed seq sh sleep sort stat stty tail test tr true uname wc which
yes
"""
"""What a small router has, by name. (Debian builds BusyBox so that its shell finds the other applets too.)"""

_ISOLATED = ["setpriv", "--pdeathsig", "KILL", "unshare", "--mount", "--net", "--pid", "--fork", "--kill-child"]

_SETUP = """
set -e
root=$1 address=$2 interface=$3
shift 3
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount -t sysfs sysfs "$root/sys" || true
for node in null zero urandom random tty; do mount --bind "/dev/$node" "$root/dev/$node"; done
ip link set lo up
echo ready
read -r go
ip address add "$address" dev "$interface"
ip link set "$interface" up
exec chroot "$root" "$@"
"""


def why_not(server: str = "openssh") -> str | None:
    """Why the servers cannot run here."""
    if os.geteuid() != 0:
        return "needs root (network namespaces)"
    program = {"openssh": "sshd", "dropbear": "dropbear"}[server]
    needed = [program, "busybox", "ssh-keygen", "ip", "unshare", "setpriv", "chroot", "ldd"]
    missing = [name for name in needed if _which(name) is None]
    if missing:
        return (
            f"needs {', '.join(missing)}; run: make setup-test-tools, or apt-get install openssh-server busybox-static"
        )
    if subprocess.run(["ldd", str(_which("busybox"))], capture_output=True).returncode == 0:
        return "needs a static BusyBox: apt-get install busybox-static"
    tried = subprocess.run(["unshare", "--mount", "--net", "--pid", "--fork", "true"], capture_output=True)
    return f"cannot make namespaces: {tried.stderr.decode().strip()}" if tried.returncode else None


def _which(name: str) -> str | None:
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")


@dataclass
class Keys:
    """A user's key pair, and the folder all the others are made in."""

    folder: Path
    user: Path = field(init=False)

    def __post_init__(self) -> None:
        self.user = self.make("user")

    def make(self, name: str) -> Path:
        """A new key pair; the public half has ``.pub``."""
        path = self.folder / name
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", path], check=True)
        return path


class Server:
    """One SSH server. ``with Server(keys) as server``; see the attributes."""

    def __init__(
        self,
        folder: Path,
        keys: Keys,
        *,
        server: str = "openssh",
        programs: Sequence[str] = (),
        applets: str = APPLETS,
        interface: str = "eth0",
        behind: Server | None = None,
        shell: str = "/bin/sh",
    ) -> None:
        """
        Args:
            folder: An empty folder for its root file system.
            keys: The user's public key is let in, as root.
            server: ``openssh`` or ``dropbear``.
            programs: Of this machine, to be there too, with their libraries: ``["iperf3", "ping"]``.
            applets: Of BusyBox, separated by blanks.
            interface: Name of its network interface.
            behind: The server through whose network alone it can be reached.
            shell: Login shell; another one than BusyBox's is copied from this machine.
        """
        self.number = next(NUMBERS)
        self.root = folder
        self.keys = keys
        self.kind = server
        self.interface = interface
        self.behind = behind
        self.port = 22
        net = ipaddress.ip_network(random.choice(SUBNETS))  # noqa: S311
        self.near_address, self.address = (str(host) for host in net.hosts())
        """Addresses of this end of the link, and of the server."""
        self.near_interface = f"txs{os.getpid() % 0xFFFF:x}n{self.number}"
        self.log = folder.with_name(f"{folder.name}.log")
        self.host_key = keys.make(f"host-{self.number}")
        self._process: subprocess.Popen[bytes] | None = None
        self._make_root(programs, applets, shell)

    @property
    def known_hosts_line(self) -> str:
        """For a file of known hosts."""
        return f"{self.address} {' '.join(self.host_key.with_suffix('.pub').read_text().split()[:2])}\n"

    def table(self, hosts_file: Path, **more: object) -> dict[str, object]:
        """What a plan has to say to use it as a target; ``hosts_file`` is
        written."""
        hosts_file.write_text(self.known_hosts_line)
        return {
            "kind": "ssh",
            "host": self.address,
            "user": "root",
            "key": str(self.keys.user),
            "known_hosts": str(hosts_file),
            "config": "/dev/null",
            "interface": self.interface,
            "address": self.address,
            **more,
        }

    # Life ----------------------------------------------------------------------------------------------------------

    def __enter__(self) -> Server:
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Also after :meth:`stop`: it comes back at the same address, with the same files."""
        command = {
            "openssh": ["/usr/sbin/sshd", "-D", "-e"],
            "dropbear": ["/usr/sbin/dropbear", "-F", "-E", "-r", "/etc/host_key"],
        }[self.kind]
        setup = ["sh", "-c", _SETUP, "setup", str(self.root), f"{self.address}/30", self.interface]
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [*_ISOLATED, *setup, *command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                cwd="/",
            )
        assert self._process.stdout is not None
        assert self._process.stdin is not None
        if self._process.stdout.readline() != b"ready\n":
            raise RuntimeError(f"the server did not start: {self.log.read_text()}")
        near = [] if self.behind is None else ["netns", str(self.behind.pid)]
        peer = ["peer", "name", self.interface, "netns", str(self.pid)]
        self._near(["link", "add", self.near_interface, *near, "type", "veth", *peer], here=True)
        self._near(["address", "add", f"{self.near_address}/30", "dev", self.near_interface])
        self._near(["link", "set", self.near_interface, "up"])
        self._process.stdin.write(b"go\n")
        self._process.stdin.flush()
        self._wait_for_port()

    def stop(self) -> None:
        """Like a power cut: everything there is gone at once."""
        process, self._process = self._process, None
        if process is None:
            return
        # The kernel takes the link away with the namespaces, but not at once.
        with contextlib.suppress(AssertionError):
            self._near(["link", "delete", self.near_interface], quiet=True)
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            assert pipe is not None
            pipe.close()

    @property
    def pid(self) -> int:
        """The identifier of a process in its network and mount namespaces, for ``nsenter``."""
        assert self._process is not None, "the server does not run"
        return self._process.pid

    # Harm ----------------------------------------------------------------------------------------------------------

    def cut_connections(self) -> None:
        """Kill every process of the server but the one that listens."""
        listener = min(self._inside(self.pid))
        for pid, line in self.processes().items():
            if pid != listener and re.match(r"sshd|/usr/sbin/(sshd|dropbear)", line):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    def set_link(self, *, up: bool) -> None:
        """Pull the cable, or put it back: packets vanish without a word."""
        self._near(["link", "set", self.near_interface, "up" if up else "down"])

    def new_host_key(self) -> None:
        """Another key, as after a new installation. Counts from the next connection on."""
        key = self.keys.make(f"other-{self.number}")
        self._install_host_key(key)
        if self.kind == "openssh":
            os.kill(min(self._inside(self.pid)), signal.SIGHUP)
            time.sleep(0.3)
            self._wait_for_port()

    # Looking -------------------------------------------------------------------------------------------------------

    def processes(self) -> dict[int, str]:
        """Process ids (as seen here) and command lines of all that runs there, zombies left out."""
        found = {}
        for pid in self._inside(self.pid):
            with contextlib.suppress(OSError):
                line = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
                if line:
                    found[pid] = line
        return found

    def commands(self) -> list[str]:
        """Command lines of all that runs there and is not the SSH server."""
        return [line for line in self.processes().values() if not re.match(r"sshd|/usr/sbin/(sshd|dropbear)", line)]

    def wait_for_no_commands(self, seconds: float) -> list[str]:
        """What still runs after at most ``seconds``."""
        deadline = time.monotonic() + seconds
        while (left := self.commands()) and time.monotonic() < deadline:
            time.sleep(0.05)
        return left

    # Inside --------------------------------------------------------------------------------------------------------

    def _inside(self, outer: int) -> list[int]:
        """Processes in the PID namespace of the child of ``outer``."""
        children = Path(f"/proc/{outer}/task/{outer}/children").read_text().split()
        if not children:
            return []
        namespace = Path(f"/proc/{children[0]}/ns/pid").readlink()
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdecimal():
                with contextlib.suppress(OSError):
                    if (entry / "ns" / "pid").readlink() == namespace:
                        found.append(int(entry.name))
        return found

    def _near(self, arguments: list[str], *, here: bool = False, quiet: bool = False) -> None:
        enter = [] if here or self.behind is None else ["nsenter", "-t", str(self.behind.pid), "-n"]
        result = subprocess.run([*enter, "ip", *arguments], capture_output=True, text=True)
        if result.returncode and not quiet:
            raise RuntimeError(f"ip {shlex.join(arguments)}: {result.stderr}")

    def _wait_for_port(self) -> None:
        deadline = time.monotonic() + 10
        listening = f":{self.port:04X} 00000000:0000 0A"
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError):
                if listening in Path(f"/proc/{self.pid}/net/tcp").read_text():
                    return
            assert self._process is not None
            if self._process.poll() is not None:
                break
            time.sleep(0.02)
        raise RuntimeError(f"the SSH server did not start: {self.log.read_text()}")

    def _make_root(self, programs: Sequence[str], applets: str, shell: str) -> None:
        for name in ("bin", "sbin", "dev", "proc", "sys", "tmp", "etc/ssh", "root/.ssh", "run/sshd", "var/empty"):
            (self.root / name).mkdir(parents=True)
        (self.root / "var/run").symlink_to("../run")
        (self.root / "tmp").chmod(0o1777)
        (self.root / "root").chmod(0o700)
        (self.root / "root/.ssh").chmod(0o700)
        for node in ("null", "zero", "urandom", "random", "tty"):
            (self.root / "dev" / node).touch()
        self._copy(str(_which("busybox")), "bin/busybox")
        for applet in applets.split():
            (self.root / "bin" / applet).symlink_to("busybox")
        for program in {"openssh": ["sshd"], "dropbear": ["dropbear"]}[self.kind] + list(programs):
            path = _which(program)
            if path is None:
                raise RuntimeError(f"there is no {program} on this machine")
            self._copy(path, f"usr/sbin/{program}" if "/sbin/" in path else f"usr/bin/{program}")
        for helper in ("sshd-session", "sshd-auth"):  # since OpenSSH 9.8 and 10.0
            path = f"/usr/lib/openssh/{helper}"
            if self.kind == "openssh" and Path(path).exists():
                self._copy(path, path[1:])
        if shell != "/bin/sh":
            self._copy(str(_which(Path(shell).name)), shell[1:])
        etc = self.root / "etc"
        (etc / "passwd").write_text(
            f"root:x:0:0:root:/root:{shell}\nsshd:x:101:65534::/run/sshd:/bin/false\nnobody:x:65534:65534::/:/bin/false\n"
        )
        (etc / "group").write_text("root:x:0:\nnogroup:x:65534:\n")
        (etc / "shadow").write_text("root:*:19000:0:99999:7:::\n")
        (etc / "shells").write_text(f"/bin/sh\n{shell}\n")
        (self.root / "root/.ssh/authorized_keys").write_bytes(self.keys.user.with_suffix(".pub").read_bytes())
        (etc / "ssh/sshd_config").write_text(
            f"Port {self.port}\nHostKey /etc/host_key\nUsePAM no\nPasswordAuthentication no\n"
            "KbdInteractiveAuthentication no\nPermitRootLogin yes\nStrictModes no\nPidFile none\nUseDNS no\n"
            "LogLevel ERROR\nSetEnv PATH=/bin:/sbin:/usr/bin\n"
        )
        self._install_host_key(self.host_key)

    def _install_host_key(self, key: Path) -> None:
        where = self.root / "etc/host_key"
        if self.kind == "openssh":
            shutil.copy(key, where)
            where.chmod(0o600)
            return
        convert = ["dropbearconvert", "openssh", "dropbear", str(key), str(where)]
        subprocess.run(convert, check=True, capture_output=True)

    def _copy(self, path: str, where: str) -> None:
        """A program with the libraries it names."""
        target = self.root / where
        if target.exists():
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
        listed = subprocess.run(["ldd", path], capture_output=True, text=True)
        libraries = re.findall(r"(/\S+) \(0x", listed.stdout) if listed.returncode == 0 else []
        # glibc opens this one when a thread is cancelled, as iperf3 does from 3.16 on; no program names it.
        unnamed = [str(Path(each).with_name("libgcc_s.so.1")) for each in libraries if "/libc.so" in each]
        for library in [*libraries, *(each for each in unnamed if Path(each).exists())]:
            place = self.root / library[1:]
            if not place.exists():
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(library, place)

#!/usr/bin/env python3
"""Tries the commands of the README on bare Debian systems, made of the distribution's packages in throw-away folders.

Each system runs in mount and process namespaces of its own: what it mounts is seen by nothing outside and goes with its
last process, however this script ends. It shares the network, takes this machine's APT sources (with the codename
replaced), certificates, and settings of pip and cargo, and starts no services. Needs root and mmdebstrap.

  make test-fresh                                        # Debian 12 and 13, each as root and as a user with sudo
  scripts/fresh_systems.py --release trixie --user root     # one of them
  scripts/fresh_systems.py --release noble --sources noble.sources --user tester    # Ubuntu 24.04
  scripts/fresh_systems.py --skip test                      # without `make test`, which takes longest
  scripts/fresh_systems.py --wheel dist/txop-*.whl          # install a wheel instead

Exit codes: 0 everything ended well; 1 something did not; 2 wrong use; 3 something is missing here; 130 interrupted.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

RELEASES = {"bookworm": "Debian 12", "trixie": "Debian 13", "noble": "Ubuntu 24.04"}
USUAL = ("bookworm", "trixie")
USERS = ("root", "tester")
REPOSITORY = Path(__file__).resolve().parents[1]
RESULTS = REPOSITORY / "build" / "fresh"
BUNDLE = "/srv/txop.bundle"
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
GUEST = (
    "guest run --mode exact --device rtl8188cus -- dut ping -c 3 10.80.210.1 >~/ping.txt"
    " && cat ~/ping.txt && sha256sum ~/ping.txt"
)
"""What a guest prints; its last line is compared between the systems."""
STEP_LIMIT_S = 2 * 3600

STEPS = {
    "packages": "apt-get update && apt-get install -y git make",
    "clone": f"git clone --quiet {BUNDLE} txop",
    "demo": "make demo",
    "test": "make test",
    "guest": f"make guest-image && .venv/bin/txop {GUEST}",
    "setup-again": "make setup guest-tools",
    "demo-again": "make demo",
    "guest-again": f"make guest-image && .venv/bin/txop {GUEST}",
    "clean": "make clean",
    "demo-after-clean": "make demo",
    "guest-after-clean": f"make guest-image && .venv/bin/txop {GUEST}",
}
"""What a newcomer types, in order. `demo-again` includes what the demo measures; `setup-again` is the set-up alone."""

WHEEL_FOLDER = "/srv/wheel"
TXOP = "~/.local/bin/txop"
WHEEL_STEPS = {
    "packages": "apt-get update && apt-get install -y --no-install-recommends pipx",
    "no-rust": "! command -v cargo && ! command -v rustc && ! command -v cc && ! command -v git",
    "install": f"pipx install {WHEEL_FOLDER}/*.whl",
    "version": f"{TXOP} --version",
    "doctor": f"{TXOP} doctor",
    "simulate": f"{TXOP} simulate two-stations --air air.pcapng",
    "air": f"{TXOP} air air.pcapng",
    "page": f"{TXOP} air air.pcapng --html air.html && test -s air.html",
    "history": f"{TXOP} history",
    "chips": "$(find ~/.local -name txop-vusb) --help",
    "man": "grep SYNOPSIS \"$(find ~/.local -path '*/share/man/man1/txop-air.1' | head -n 1)\"",
    "completion": "test -n \"$(find ~/.local -path '*/share/bash-completion/completions/txop')\"",
    "guest-packages": "apt-get install -y apt xz-utils util-linux debian-archive-keyring",
    "guest-build": f"{TXOP} guest build",
    "guest": f"{TXOP} {GUEST}",
    "uninstall": f"pipx uninstall txop && test ! -e {TXOP}",
}
"""What is typed to install and try a wheel, on a system without Rust, a compiler or a clone."""

PASSED_ON = re.compile(
    r"(PIP_(?!FIND_LINKS|CACHE|TARGET|PREFIX)|CARGO_(REGISTR|HTTP|NET|SOURCE)|RUSTUP_(DIST|UPDATE)|(?i:\w+_proxy$))"
)
"""Names of environment variables that say how registries are reached from this machine."""

ENTER = """
set -eu
mount --bind "$ROOT" "$ROOT"
mount -t proc proc "$ROOT/proc"
mount --rbind /sys "$ROOT/sys"
mount --rbind /dev "$ROOT/dev"
mount -t tmpfs -o mode=755 tmpfs "$ROOT/run"
cd "$ROOT"
pivot_root . .
umount -l .
cd /
"$@"
"""
"""Makes a folder the root, rather than changing into it: in a chroot the kernel allows no user namespaces."""


class MissingHereError(Exception):
    """Something of this machine is missing; its text says what."""


@dataclass(slots=True)
class Step:
    """One command of one system, and what happened to it."""

    name: str
    command: str
    status: int
    wall_s: float
    cpu_s: float
    closing: list[str]
    installed: list[str] = field(default_factory=list)
    """What the set-up scripts said they install, in order."""


@dataclass(slots=True)
class System:
    """A bare system in a folder, and the user who tries things in it."""

    release: str
    user: str
    root: Path
    steps: list[Step] = field(default_factory=list)
    packages: int = 0
    """How many packages there were in the end."""
    bare_packages: int = 0
    sources: Path | None = None
    """APT sources instead of this machine's."""
    wheel: Path | None = None
    """What is installed there, in place of a clone."""

    @property
    def home(self) -> str:
        """The user's home folder, as seen from inside."""
        return "/root" if self.user == "root" else f"/home/{self.user}"


def codename_beside(release: str, os_release: str) -> str:
    """The codename that os-release(5) names; "" where it is of another distribution than the release.

    Ubuntu's archive has no Debian: its sources with another codename would lead nowhere.
    """
    found = dict(re.findall(r'^(ID|VERSION_CODENAME)="?([\w.-]+)', os_release, re.MULTILINE))
    same = found.get("ID") == RELEASES[release].split()[0].lower()
    return found.get("VERSION_CODENAME", "") if same else ""


def sources_for(release: str, texts: list[str], codename: str) -> str:
    """This machine's APT sources of its own release, with the suites renamed to those of another: deb822 stanzas.

    Takes the texts of files in either form of sources.list(5). Only what distributes a release (its suites, of the
    component main) is taken. "" where there is none: mmdebstrap then knows where Debian is.
    """
    ours = [f"{codename}{suffix}" for suffix in ("", "-updates", "-security")] if codename else []
    stanzas = []
    for text in texts:
        for stanza in re.split(r"\n[ \t]*\n", text):
            plain = [line for line in stanza.splitlines() if line.strip() and not line.startswith("#")]
            found = dict(re.findall(r"^([\w-]+):[ \t]*(.*)$", "\n".join(plain), re.MULTILINE))
            fields = [found] if "Types" in found else [of_line(line) for line in plain]
            for each in fields:
                suites = [suite for suite in each.get("Suites", "").split() if suite in ours]
                if not suites or "deb" not in each["Types"].split() or each.get("Enabled", "yes").lower() == "no":
                    continue
                if "main" not in each.get("Components", "").split():
                    continue
                renamed = " ".join(suite.replace(codename, release, 1) for suite in suites)
                kept = {"Types": "deb", "URIs": each["URIs"], "Suites": renamed, "Components": "main"}
                # A keyring of one release does not have the keys of another.
                if "Signed-By" in each and codename not in each["Signed-By"]:
                    kept["Signed-By"] = each["Signed-By"]
                stanzas.append("".join(f"{name}: {value}\n" for name, value in kept.items()))
    return "\n".join(stanzas)


def of_line(line: str) -> dict[str, str]:
    """One line of a sources.list, with the names that deb822 gives its parts; {} for any other line."""
    found = re.match(r"(deb)\s+(?:\[([^\]]*)\]\s+)?(\S+)\s+(\S+)\s+(.+)", line)
    if found is None:
        return {}
    fields = dict(zip(("Types", "URIs", "Suites", "Components"), found.group(1, 3, 4, 5), strict=True))
    signed = re.search(r"signed-by=(\S+)", found[2] or "")
    return fields | ({"Signed-By": signed[1]} if signed else {})


def apt_sources(release: str) -> str:
    """What :func:`sources_for` makes of this machine's files."""
    folder = Path("/etc/apt")
    files = [folder / "sources.list", *sorted((folder / "sources.list.d").glob("*"))]
    wanted = [file for file in files if file.suffix in (".list", ".sources") and file.is_file()]
    codename = codename_beside(release, Path("/etc/os-release").read_text(encoding="utf-8"))
    return sources_for(release, [file.read_text(encoding="utf-8") for file in wanted], codename)


def make_system(system: System, scratch: Path) -> None:
    """Install the packages that every Debian has, and what a machine brings along: names, certificates, settings."""
    options = scratch / "apt.conf"
    dumped = subprocess.run(["apt-config", "dump", "Acquire"], capture_output=True, text=True, check=True).stdout
    options.write_text(dumped, encoding="utf-8")
    argv = ["mmdebstrap", "--mode=root", "--variant=minbase", "--include=apt", f"--aptopt={options}"]
    argv += [system.release, str(system.root)]
    sources = system.sources.read_text(encoding="utf-8") if system.sources else apt_sources(system.release)
    if sources:
        (scratch / "debian.sources").write_text(sources, encoding="utf-8")
        argv.append(str(scratch / "debian.sources"))
    # In namespaces as well: mmdebstrap mounts, too.
    made = subprocess.run([*namespaces(), *argv], capture_output=True, text=True, check=False, start_new_session=True)
    if made.returncode:
        raise MissingHereError(f"mmdebstrap could not make {system.release}:\n{made.stderr[-2000:]}")
    for name in ("resolv.conf", "hosts"):
        shutil.copyfile(Path("/etc") / name, system.root / "etc" / name)
    policy = system.root / "usr/sbin/policy-rc.d"
    policy.write_text("#!/bin/sh\nexit 101\n", encoding="utf-8")
    policy.chmod(0o755)
    if system.wheel is not None:
        folder = Path(f"{system.root}{WHEEL_FOLDER}")
        folder.mkdir()
        shutil.copy(system.wheel, folder)
    else:
        bundle = str(system.root) + BUNDLE
        git = ["git", "-C", str(REPOSITORY), "-c", f"safe.directory={REPOSITORY}"]
        subprocess.run([*git, "bundle", "create", "--quiet", bundle, "HEAD"], check=True)
    if system.user != "root":
        prepare(system, "apt-get -q update && apt-get -q install -y sudo", scratch / "sudo.log")
        prepare(system, f"useradd --create-home --shell /bin/bash {system.user}", scratch / "user.log")
        rule = system.root / "etc/sudoers.d" / system.user
        rule.write_text(f"{system.user} ALL=(ALL:ALL) NOPASSWD: ALL\n", encoding="utf-8")
        rule.chmod(0o440)
    bring_settings(system)
    system.bare_packages = count_packages(system)


def prepare(system: System, command: str, log: Path) -> None:
    """Run a command as root that has to succeed before a user can try anything; a second time where it fails."""
    for _ in range(2):
        status, _, _ = run_in(system, command, log, as_root=True)
        if status == 0:
            return
    said = log.read_text(encoding="utf-8", errors="replace")[-2000:]
    raise MissingHereError(f"{system.release}: `{command}` ended with {status}:\n{said}")


def bring_settings(system: System) -> None:
    """Copy this machine's settings of pip and cargo, which say how registries are reached."""
    home = Path.home()
    cargo = Path(os.environ.get("CARGO_HOME", home / ".cargo"))
    inside = system.root / system.home.lstrip("/")
    wanted = {
        Path("/etc/pip.conf"): system.root / "etc/pip.conf",
        home / ".config/pip/pip.conf": inside / ".config/pip/pip.conf",
        home / ".pip/pip.conf": inside / ".pip/pip.conf",
        cargo / "config.toml": inside / ".cargo/config.toml",
    }
    for source, target in wanted.items():
        if source.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
    if system.user != "root":
        run_in(system, f"chown -R {system.user}: {system.home}", Path(os.devnull), as_root=True)


def namespaces() -> list[str]:
    """The start of a command that runs in namespaces of its own and ends with this process."""
    return [
        "setpriv",
        "--pdeathsig",
        "KILL",
        "unshare",
        "--mount",
        "--propagation",
        "slave",
        "--pid",
        "--fork",
        "--kill-child",
    ]


def run_in(system: System, command: str, log: Path, *, as_root: bool = False) -> tuple[int, float, float]:
    """Run a command in the system, in the user's clone where there is one; its status, and wall and CPU time, s."""
    user = "root" if as_root else system.user
    home = "/root" if as_root else system.home
    path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    variables = {name: value for name, value in os.environ.items() if PASSED_ON.match(name)}
    variables |= {"HOME": home, "USER": user, "LOGNAME": user, "LANG": "C.UTF-8", "TERM": "dumb"}
    variables["PATH"] = path if user == "root" else "/usr/local/bin:/usr/bin:/bin"
    become = [] if user == "root" else ["setpriv", "--reuid", user, "--regid", user, "--init-groups"]
    text = f"cd {home}; [ ! -d txop ] || cd txop; {command}; exit $?"
    inner = [*become, "env", "-i", *(f"{name}={value}" for name, value in variables.items()), "sh", "-c", text]
    argv = [*namespaces(), "sh", "-c", ENTER, "enter", *inner]
    began = time.monotonic()
    with log.open("wb") as out:
        # A session of its own: Ctrl-C reaches only this script, which then ends the whole.
        process = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
            env={**os.environ, "ROOT": str(system.root)},
        )
        try:
            status, usage = wait_for(process, began + STEP_LIMIT_S)
        except BaseException:
            process.kill()
            process.wait()
            raise
    return status, time.monotonic() - began, usage


def wait_for(process: subprocess.Popen[bytes], until: float) -> tuple[int, float]:
    """The status of a process and the CPU time, s, of all that it waited for; 124 when it takes too long."""
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return process.returncode, usage.ru_utime + usage.ru_stime
        if time.monotonic() > until:
            process.kill()
            process.wait()
            return 124, 0.0
        time.sleep(0.2)


def count_packages(system: System) -> int:
    """How many packages are installed in a system."""
    text = (system.root / "var/lib/dpkg/status").read_text(encoding="utf-8", errors="replace")
    return text.count("\nStatus: install ok installed\n")


def bring_certificates(system: System) -> None:
    """Give the system this machine's certificates, once it has a package that reads them."""
    there = system.root / str(CERTIFICATES).lstrip("/")
    if CERTIFICATES.is_file() and there.parent.is_dir():
        shutil.copyfile(CERTIFICATES, there)


def try_steps(system: System, logs: Path, skipped: set[str]) -> bool:
    """Do the steps in order; the steps after one that failed are tried all the same, except without a clone."""
    well = True
    steps = STEPS if system.wheel is None else WHEEL_STEPS
    for number, (name, command) in enumerate(steps.items(), start=1):
        if any(name == each or name.startswith(f"{each}-") for each in skipped):
            continue
        if name == "packages" and system.user != "root":
            command = command.replace("apt-get", "sudo apt-get")
        label = f"{RELEASES[system.release]} as {'root' if system.user == 'root' else 'a user with sudo'}: {command}"
        print(f"{time.strftime('%H:%M:%S')} {label}", flush=True)
        log = logs / f"{number:02}-{name}.log"
        status, wall_s, cpu_s = run_in(system, command, log)
        lines = [
            line.rstrip() for line in log.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()
        ]
        installed = [line.split(": ", 1)[1] for line in lines if line.startswith("Installing system packages, ")]
        system.steps.append(Step(name, command, status, round(wall_s, 1), round(cpu_s, 1), lines[-5:], installed))
        print(f"         status {status} after {wall_s:.0f} s ({cpu_s:.0f} s of CPU time); log: {log}", flush=True)
        if status:
            well = False
            print("\n".join(f"         | {line}" for line in lines[-12:]), flush=True)
            if name in ("packages", "clone"):
                return False
        if name == "packages":
            bring_certificates(system)
    return well


def remove(root: Path) -> None:
    """Remove a system's folder; never through a mount that is still there."""
    left = [line.split()[1] for line in Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines()]
    mounted = [place for place in left if place == str(root) or place.startswith(f"{root}/")]
    if mounted:
        raise MissingHereError(f"not removing {root}: these are mounted in it: {', '.join(mounted)}")
    subprocess.run(["rm", "-rf", "--one-file-system", str(root)], check=False)


def table(systems: list[dict[str, Any]], names: Iterable[str] = STEPS) -> str:
    """A Markdown table: a row for each step, a column for each system, wall time and CPU time in it."""
    heads = [f"{RELEASES[each['release']]}, {'root' if each['user'] == 'root' else 'user'}" for each in systems]
    rows = ["| step | " + " | ".join(heads) + " |", "|---|" + "---|" * len(heads)]
    for name in names:
        cells = []
        for each in systems:
            step = next((step for step in each["steps"] if step["name"] == name), None)
            if step is None:
                cells.append("not run")
            elif step["status"]:
                cells.append(f"FAILED ({step['status']})")
            else:
                cells.append(f"{step['wall_s']:.0f} s ({step['cpu_s']:.0f} s)")
        if set(cells) != {"not run"}:
            rows.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(rows) + "\n"


def differing_guests(systems: list[dict[str, Any]]) -> list[str]:
    """What the guests of the systems printed, by its sum, where it is not the same in all.

    An exact guest knows nothing of the system around it.
    """
    sums: dict[str, list[str]] = {}
    for system in systems:
        for step in system["steps"]:
            if step["name"].startswith("guest") and step["status"] == 0 and "ping.txt" in "".join(step["closing"][-1:]):
                place = f"{RELEASES[system['release']]}, {system['user']}, {step['name']}"
                sums.setdefault(step["closing"][-1].split()[0], []).append(place)
    if len(sums) < 2:
        return []
    return [f"{digest}: {'; '.join(places)}" for digest, places in sums.items()]


def check_machine() -> None:
    """Fail, saying what to install, where systems cannot be made."""
    if os.geteuid() != 0:
        raise MissingHereError("making a bare system needs root: sudo make test-fresh")
    for program, package in (
        ("mmdebstrap", "mmdebstrap"),
        ("unshare", "util-linux"),
        ("setpriv", "util-linux"),
        ("git", "git"),
    ):
        if shutil.which(program) is None:
            raise MissingHereError(f"{program} is missing: apt-get install {package}")


def main() -> int:
    """Make the systems one after the other, and try the commands in each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--release", action="append", choices=list(RELEASES), help=f"default: {', '.join(USUAL)}")
    parser.add_argument(
        "--sources",
        type=Path,
        help="APT sources (deb822) of the release, where this machine's own are of another system",
    )
    parser.add_argument("--user", action="append", choices=USERS, help="default: both")
    parser.add_argument(
        "--skip", action="append", default=[], metavar="STEP", choices=[*STEPS, *WHEEL_STEPS], help="leave out a step"
    )
    parser.add_argument(
        "--folder", type=Path, help="where to make the systems, 10 GB each (default: a temporary folder)"
    )
    parser.add_argument("--wheel", type=Path, help="install this with pipx, rather than try a clone")
    parser.add_argument("--keep", action="store_true", help="leave the folders there")
    options = parser.parse_args()
    check_machine()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    signal.signal(signal.SIGHUP, lambda *_: sys.exit(129))
    results = RESULTS if options.wheel is None else RESULTS / "wheel"
    results.mkdir(parents=True, exist_ok=True)
    records: list[dict[str, Any]] = []
    well = True
    for release in options.release or USUAL:
        for user in options.user or USERS:
            scratch = Path(tempfile.mkdtemp(prefix=f"txop-fresh-{release}-", dir=options.folder))
            system = System(release, user, scratch / "root", sources=options.sources, wheel=options.wheel)
            logs = results / f"{release}-{user}"
            shutil.rmtree(logs, ignore_errors=True)
            logs.mkdir()
            try:
                print(f"{time.strftime('%H:%M:%S')} making a bare {RELEASES[release]} in {system.root}", flush=True)
                make_system(system, scratch)
                well &= try_steps(system, logs, set(options.skip))
                system.packages = count_packages(system)
            finally:
                if not options.keep:
                    remove(scratch)
            record = asdict(system)
            del record["root"], record["sources"], record["wheel"]
            records.append(record)
            (logs / "result.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    text = table(records, STEPS if options.wheel is None else WHEEL_STEPS)
    (results / "table.md").write_text(text, encoding="utf-8")
    print(f"\n{text}\nWritten to {results / 'table.md'}, with a log of each step beside it")
    differing = differing_guests(records)
    if differing:
        print("The same guest printed other bytes:\n" + "\n".join(differing))
    return 0 if well and not differing else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except MissingHereError as missing:
        print(missing, file=sys.stderr)
        sys.exit(3)
    except KeyboardInterrupt:
        print("interrupted; nothing is left mounted", file=sys.stderr)
        sys.exit(130)

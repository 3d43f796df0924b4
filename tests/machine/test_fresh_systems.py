"""The script that tries the README's commands on bare systems: its APT sources, and that it leaves nothing behind."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType

import pytest

REPOSITORY = Path(__file__).parents[2]
SCRIPT = REPOSITORY / "scripts" / "fresh_systems.py"
pytestmark = pytest.mark.skipif(not SCRIPT.is_file(), reason="these are tests of a clone")


@pytest.fixture(scope="module")
def fresh() -> ModuleType:
    spec = importlib.util.spec_from_file_location("fresh_systems", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


STANZAS = """\
Types: deb deb-src
# where it came from: bookworm
URIs: http://mirror.invalid/debian
Suites: bookworm bookworm-updates bookworm-backports
Components: main contrib
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: http://mirror.invalid/security
Suites: bookworm-security
Components: main
Signed-By: /usr/share/keyrings/debian-archive-bookworm-security.gpg

Enabled: no
Types: deb
URIs: http://off.invalid/debian
Suites: bookworm
Components: main

Types: deb
URIs: http://someone-else.invalid/apt
Suites: bookworm-theirs
Components: main
"""

RENAMED = """\
Types: deb
URIs: http://mirror.invalid/debian
Suites: trixie trixie-updates
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: http://mirror.invalid/security
Suites: trixie-security
Components: main
"""


def test_apt_sources_of_another_release_are_this_machines_with_the_suites_renamed(fresh):
    assert fresh.sources_for("trixie", [STANZAS], "bookworm") == RENAMED
    line = "deb [arch=amd64 signed-by=/k.gpg] http://mirror.invalid/debian bookworm main non-free\n"
    one_line = "Types: deb\nURIs: http://mirror.invalid/debian\nSuites: trixie\nComponents: main\nSigned-By: /k.gpg\n"
    assert (
        fresh.sources_for("trixie", ["# deb http://no.invalid x main\ndeb-src http://a b c\n" + line], "bookworm")
        == one_line
    )
    assert fresh.sources_for("trixie", [STANZAS, line], "noble") == ""
    assert fresh.sources_for("trixie", [STANZAS], "") == ""


@pytest.mark.parametrize(
    ("release", "system", "codename", "expected"),
    [
        ("trixie", "debian", "bookworm", "bookworm"),
        ("bookworm", "ubuntu", "noble", ""),  # where the workflows run
        ("noble", "ubuntu", "jammy", "jammy"),
        ("noble", "debian", "bookworm", ""),
    ],
)
def test_sources_of_another_distribution_are_not_taken(fresh, release, system, codename, expected):
    os_release = f'NAME="Any"\nVERSION_CODENAME={codename}\nID={system}\nID_LIKE=debian\n'
    assert fresh.codename_beside(release, os_release) == expected


def test_settings_of_registries_are_passed_on_and_paths_of_this_machine_are_not(fresh):
    names = ["PIP_INDEX_URL", "PIP_CERT", "CARGO_REGISTRIES_X_INDEX", "https_proxy", "NO_PROXY", "RUSTUP_DIST_SERVER"]
    kept_here = [
        "PIP_FIND_LINKS",
        "PIP_CACHE_DIR",
        "CARGO_HOME",
        "CARGO_TARGET_DIR",
        "HOME",
        "VIRTUAL_ENV",
        "MAKEFLAGS",
    ]
    assert [name for name in names + kept_here if fresh.PASSED_ON.match(name)] == names


def test_the_table_tells_what_failed_from_what_was_not_run(fresh):
    steps = [
        {"name": "demo", "status": 0, "wall_s": 557.2, "cpu_s": 61.0},
        {"name": "test", "status": 2, "wall_s": 9.0, "cpu_s": 8.0},
    ]
    shown = fresh.table(
        [
            {"release": "bookworm", "user": "root", "steps": steps},
            {"release": "trixie", "user": "tester", "steps": steps[:1]},
        ]
    )
    assert shown.splitlines() == [
        "| step | Debian 12, root | Debian 13, user |",
        "|---|---|---|",
        "| demo | 557 s (61 s) | 557 s (61 s) |",
        "| test | FAILED (2) | not run |",
    ]


def test_guests_that_print_other_bytes_are_named(fresh):
    def system(release, *sums):
        steps = [{"name": "guest", "status": 0, "closing": ["rtt", f"{each}  /root/ping.txt"]} for each in sums]
        return {"release": release, "user": "root", "steps": [*steps, {"name": "demo", "status": 0, "closing": []}]}

    assert fresh.differing_guests([system("bookworm", "aa"), system("trixie", "aa", "aa")]) == []
    different = fresh.differing_guests([system("bookworm", "aa"), system("trixie", "bb")])
    assert [line.split(":")[0] for line in different] == ["aa", "bb"]
    assert ["Debian 12" in line for line in different] == [True, False]


def mounts() -> list[str]:
    return Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines()


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("unshare") is None, reason="making a root folder needs root")
@pytest.mark.parametrize("end", [signal.SIGKILL, None])
def test_a_system_leaves_no_mount_and_no_process_even_when_the_script_is_killed(tmp_path, end):
    root = tmp_path / "root"
    for folder in ("proc", "sys", "dev", "run", "root", "bin", "tmp"):
        (root / folder).mkdir(parents=True)
    if shutil.which("busybox") is None:
        pytest.skip("busybox is not here to make a system of")
    shutil.copyfile(shutil.which("busybox"), root / "bin/busybox")
    (root / "bin/busybox").chmod(0o755)
    for name in ("sh", "env", "sleep", "umount", "mount"):
        (root / "bin" / name).symlink_to("busybox")
    marker = f"31{os.getpid()}"
    command = f"echo in; echo > /tmp/started; sleep {marker if end else 0}; exit 7"
    code = f"""
import sys
from pathlib import Path
sys.path.insert(0, {str(SCRIPT.parent)!r})
import fresh_systems as fresh
system = fresh.System("trixie", "root", Path({str(root)!r}))
status, wall_s, cpu_s = fresh.run_in(system, {command!r}, Path({str(tmp_path / "log")!r}))
sys.exit(status)
"""
    before = mounts()
    process = subprocess.Popen([sys.executable, "-c", code])
    deadline = time.monotonic() + 60
    while not (root / "tmp/started").exists():
        assert time.monotonic() < deadline, (tmp_path / "log").read_text(encoding="utf-8")
        assert process.poll() is None or end is None, (tmp_path / "log").read_text(encoding="utf-8")
        time.sleep(0.05)
    assert not [line for line in mounts() if str(tmp_path) in line]  # nor while it runs
    if end is None:
        assert process.wait(60) == 7
    else:
        process.send_signal(end)
        process.wait(60)
    while sleepers(marker):
        assert time.monotonic() < deadline, "what the system ran is still there"
        time.sleep(0.05)
    assert [line for line in mounts() if str(tmp_path) in line] == []
    assert len(mounts()) <= len(before)


def sleepers(marker: str) -> list[str]:
    return [
        folder.name
        for folder in Path("/proc").iterdir()
        if re.fullmatch(r"\d+", folder.name) and _command(folder) == ["sleep", marker]
    ]


def _command(folder: Path) -> list[str]:
    try:
        return (folder / "cmdline").read_bytes().decode(errors="replace").split("\0")[:-1]
    except OSError:
        return []

"""What sets txop up: one minimum Rust for everything, tests without lint, other package managers at work."""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from txop.machine.capabilities import MINIMUM_RUST

REPOSITORY = Path(__file__).parents[2]
SCRIPTS = REPOSITORY / "scripts"
pytestmark = pytest.mark.skipif(not SCRIPTS.is_dir(), reason="these are tests of a clone")


def minimum() -> tuple[int, ...]:
    manifest = tomllib.loads((REPOSITORY / "Cargo.toml").read_text(encoding="utf-8"))
    return version_of(manifest["workspace"]["package"]["rust-version"])


def version_of(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".")[:2])


def program(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def toolchain(folder: Path, version: str, *components: str) -> Path:
    """Programs that say they are of a version, and do nothing."""
    for name in ("cargo", "rustc", *(f"cargo-{component}" for component in components)):
        program(folder, name, f"echo {name} {version} '(0123456 2026-01-01)'")
    return folder


def run(script: str, *arguments: str, home: Path, path: Path) -> subprocess.CompletedProcess[str]:
    """Run a script as a user whose home folder is empty and whose PATH begins with the folder."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("CARGO", "RUST"))}
    environment = {**kept, "HOME": str(home), "PATH": f"{path}:/usr/bin:/bin", "CARGO_HOME": str(home / "cargo")}
    argv = [SCRIPTS / script, *arguments]
    return subprocess.run(argv, env=environment, capture_output=True, text=True, check=False, timeout=60)


def test_the_minimum_rust_is_the_same_wherever_it_is_said(tmp_path):
    said = run("minimum-rust.sh", home=tmp_path, path=tmp_path).stdout.strip()
    assert version_of(said) == minimum() == MINIMUM_RUST
    for document in ("CONTRIBUTING.md", "README.md"):
        text = (REPOSITORY / document).read_text(encoding="utf-8")
        for named in re.findall(r"Rust (1\.\d+)", text):
            assert version_of(named) == minimum(), document
    assert f"Rust {said}" in (REPOSITORY / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for script in (*SCRIPTS.glob("*.sh"), REPOSITORY / "Makefile"):
        code = re.sub(r"^\s*#.*", "", script.read_text(encoding="utf-8"), flags=re.MULTILINE)
        assert not re.search(r"\b1\.\d\d\b", code), f"{script.name} names a Rust version of its own"


def test_no_package_of_the_lock_needs_a_newer_rust():
    argv = [SCRIPTS / "with-rust.sh", "cargo", "metadata", "--locked", "--offline", "--format-version", "1"]
    argv += ["--filter-platform", "x86_64-unknown-linux-gnu"]
    ran = subprocess.run(argv, cwd=REPOSITORY, capture_output=True, text=True, check=False, timeout=120)
    if ran.returncode and "offline" in ran.stderr:
        pytest.skip("THE LOCK WAS NOT CHECKED: the packages of Cargo.lock are not all on this machine (make test-rust)")
    assert ran.returncode == 0, ran.stderr
    packages = json.loads(ran.stdout)["packages"]
    assert len(packages) > 50
    too_new = {
        f"{package['name']} {package['version']}": package["rust_version"]
        for package in packages
        if package["rust_version"] and version_of(package["rust_version"]) > minimum()
    }
    assert not too_new, "cargo update -p NAME resolves them for the minimum"
    ours = [package for package in packages if package["source"] is None]
    assert {package["rust_version"] for package in ours} == {".".join(map(str, minimum()))}


def test_a_toolchain_below_the_minimum_is_refused(tmp_path):
    major, minor = minimum()
    for version, taken in ((f"{major}.{minor - 1}.1", False), (f"{major}.{minor}.0", True), (f"{major}.100.0", True)):
        folder = toolchain(tmp_path / version, version)
        found = run("find-rust.sh", home=tmp_path, path=folder)
        assert (found.stdout.strip() == str(folder)) is taken, version


@pytest.mark.parametrize(
    ("there", "components", "wanted", "found"),
    [
        ("1.85.1", [], "1.85", True),
        ("1.95.0", ["fmt", "clippy"], "1.95.0", True),
        ("1.95.0", ["clippy"], "1.95.0", False),
        ("1.95.1", ["fmt", "clippy"], "1.95.0", False),
        ("1.850.0", ["fmt", "clippy"], "1.85", False),
    ],
)
def test_one_toolchain_is_told_from_another(tmp_path, there, components, wanted, found):
    folder = toolchain(tmp_path / "bin", there, *components)
    if shutil.which("rustup", path="/usr/bin:/bin"):
        program(folder, "rustup", "exit 1")
    asked = [wanted, *(["rustfmt", "clippy"] if components else [])]
    ran = run("exact-rust.sh", *asked, home=tmp_path, path=folder)
    if found:
        assert (ran.returncode, ran.stdout.strip()) == (0, str(folder))
    elif ran.stdout:  # one that the distribution installed
        assert ran.stdout.startswith("/usr/")
    else:
        assert ran.returncode == 1


def test_rustup_is_asked_for_the_toolchain_that_is_missing(tmp_path):
    folder = toolchain(tmp_path / "bin", "1.0.0")
    new = toolchain(tmp_path / "new", "1.2.3", "fmt", "clippy")
    program(
        folder,
        "rustup",
        f'echo "$@" >>{tmp_path}/asked\n'
        f'case "$1 $2" in "toolchain list") ;; "toolchain install") touch {tmp_path}/there ;;\n'
        f'"which --toolchain") [ -e {tmp_path}/there ] && echo {new}/cargo ;; esac',
    )
    ran = run("exact-rust.sh", "1.2.3", "rustfmt", "clippy", home=tmp_path, path=folder)
    assert (ran.returncode, ran.stdout.strip()) == (0, str(new))
    assert "Getting Rust 1.2.3 for this user" in ran.stderr
    asked = (tmp_path / "asked").read_text(encoding="utf-8")
    assert "install 1.2.3 --profile minimal --component rustfmt --component clippy --no-self-update" in asked


@pytest.mark.parametrize("there", [True, False])
def test_rustups_stable_toolchain_builds_and_the_default_stays(tmp_path, there):
    default = toolchain(tmp_path / "bin", "1.0.0")
    stable = toolchain(tmp_path / "stable", "1.999.0")
    if run("find-rust.sh", home=tmp_path, path=default).returncode == 0:
        pytest.skip("this machine has Rust where every user finds it")
    for name in ("cc", "apt-get", "apt-cache"):
        program(default, name, "exit 0")
    program(
        default,
        "rustup",
        f'echo "$@" >>{tmp_path}/asked\n'
        f'case "$1 $2" in "toolchain install") touch {tmp_path}/there ;;\n'
        f'"which --toolchain") [ -e {tmp_path}/there ] && echo {stable}/cargo ;; *) exit 1 ;; esac',
    )
    if there:
        (tmp_path / "there").touch()
    ran = run("setup-system.sh", home=tmp_path, path=default)
    assert ran.returncode == 0, ran.stderr
    assert run("find-rust.sh", home=tmp_path, path=default).stdout.strip() == str(stable)
    assert run("with-rust.sh", "cargo", "--version", home=tmp_path, path=default).stdout.startswith("cargo 1.999.0")
    asked = (tmp_path / "asked").read_text(encoding="utf-8")
    assert ("toolchain install stable" in asked) is not there
    assert not re.search("^default", asked, re.MULTILINE)


def test_the_chips_target_is_added_to_the_toolchain_that_builds_them(tmp_path):
    stable = toolchain(tmp_path / "toolchains" / "stable-x86_64-unknown-linux-gnu", "1.999.0")
    program(stable, "rustc", f"echo {stable}")
    program(stable, "cargo", "exit 9")
    program(stable, "rustup", f'echo "$@" >>{tmp_path}/asked')
    assert run("build-chips.sh", home=tmp_path, path=stable).returncode == 9
    wanted = "target add x86_64-unknown-linux-musl --toolchain stable-x86_64-unknown-linux-gnu\n"
    assert (tmp_path / "asked").read_text(encoding="utf-8") == wanted


def test_lint_without_its_toolchain_says_so_and_fails(tmp_path):
    folder = toolchain(tmp_path / "bin", "1.0.0", "fmt", "clippy")
    program(folder, "rustup", "echo no network >&2; exit 1")
    pinned = (REPOSITORY / ".ci" / "rust-version").read_text(encoding="utf-8").strip()
    ran = run("lint-rust.sh", home=tmp_path, path=folder)
    assert ran.returncode == 3
    assert f"NOT LINTED: Rust is linted and formatted with version {pinned} only" in ran.stderr
    assert "no network" in ran.stderr


def test_make_test_runs_tests_only_and_continuous_integration_lints_too(tmp_path):
    if shutil.which("make") is None:
        pytest.skip("make is not here")
    command = ["make", "--dry-run", "--no-print-directory", "test"]
    tests = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True, timeout=60).stdout
    assert "scripts/fast-tests.sh" in tests
    script = (SCRIPTS / "fast-tests.sh").read_text(encoding="utf-8")
    assert "cargo test --workspace --locked >" in script
    assert 'pytest -m "not slow"' in script
    assert not re.search("lint|clippy|fmt|ruff|mypy", tests)
    record = tmp_path / "asked"
    program(tmp_path / "bin", "make", f'echo "CI=$CI $@" >{record}')
    environment = {**os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    subprocess.run([REPOSITORY / ".ci" / "run"], env=environment, check=True, timeout=60)
    assert record.read_text(encoding="utf-8") == "CI=true test lint\n"


APT = f"""
apt_locks="{{lock}}" apt_wait_s={{wait_s}}
. "{SCRIPTS / "apt.sh"}"
as_root() {{{{ echo "$*"; }}}}
apt_install "to try it" one two
"""


@pytest.mark.skipif(not Path("/proc/locks").exists(), reason="locks are found in /proc/locks")
@pytest.mark.parametrize("held", [True, False])
def test_apt_waits_for_another_package_manager_and_says_for_which(tmp_path, held):
    lock = tmp_path / "lock"
    program(tmp_path / "bin", "apt-get", "exit 1")
    environment = {**os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    with lock.open("w") as file:
        if held:
            fcntl.lockf(file, fcntl.LOCK_EX)
        argv = ["sh", "-c", APT.format(lock=lock, wait_s=1)]
        ran = subprocess.run(argv, env=environment, capture_output=True, text=True, check=True, timeout=60)
    who = f"Waiting for another package manager to finish, for up to 1 s: {Path('/proc/self/comm').read_text().strip()}"
    assert (f"{who} (process {os.getpid()})" in ran.stderr) is held
    # apt-get waits for dpkg's locks itself, when it is told to.
    update, install = (line for line in ran.stdout.splitlines() if line.startswith("env DEBIAN_FRONTEND"))
    assert update.endswith("apt-get -o DPkg::Lock::Timeout=1 -q -q update")
    assert install.endswith("apt-get -o DPkg::Lock::Timeout=1 install -y --no-install-recommends one two")


def test_nothing_but_that_function_runs_apt_get():
    for script in SCRIPTS.glob("setup-*.sh"):
        text = script.read_text(encoding="utf-8")
        assert not re.search(r"^[^#\"]*\bapt-get (-|update|install)", text, re.MULTILINE), script.name


OFFERS: dict[str, tuple[dict[str, str | None], str]] = {
    "Debian 12": ({"cargo": "0.66.0+ds1-1", "cargo-web": "1.85.0+dfsg3-1", "rustup": None}, "cargo-web rustc-web"),
    "Debian 13": ({"cargo": "1.85.1+dfsg1-1", "rustup": "1.27.1-3"}, "cargo rustc"),
    "Ubuntu 24.04": (
        {"cargo": "1.75.0+dfsg0", "cargo-1.97": "1.97.1+dfsg", "cargo-1.85": "1.85.1+dfsg", "rustup": "1.26.0-5"},
        "cargo-1.97 rustc-1.97",
    ),
    "one with rustup only": ({"cargo": "1.75.0", "cargo-1.80": "1.80.1", "rustup": "1.26.0-5"}, "rustup"),
}


@pytest.mark.skipif(shutil.which("dpkg") is None or os.geteuid() != 0, reason="compares Debian's versions, as root")
@pytest.mark.parametrize("system", OFFERS)
def test_the_distributions_own_rust_is_installed_where_it_is_new_enough(tmp_path, system):
    offers, wanted = OFFERS[system]
    there = tmp_path / "bin"
    there.mkdir()
    if run("find-rust.sh", home=tmp_path, path=there).returncode == 0 or shutil.which("rustup", path="/usr/bin:/bin"):
        pytest.skip("this machine has Rust where every user finds it")
    for package, version in offers.items():
        (tmp_path / package).write_text(f"{package}:\n  Candidate: {version or '(none)'}\n", encoding="utf-8")
    listed = "\\n".join(f"{package} - Rust package manager" for package in offers if package.startswith("cargo-1"))
    program(
        there,
        "apt-cache",
        f"case $1 in policy) cat {tmp_path}/$2 2>/dev/null ;; search) printf '{listed}' | sed 's/$/ /' ;; esac",
    )
    program(there, "apt-get", f'echo "$@" >>{tmp_path}/asked')
    ran = run("setup-system.sh", home=tmp_path, path=there)
    assert ran.returncode == 3  # nothing was installed, after all
    installed = [
        line.split("recommends ")[1] for line in (tmp_path / "asked").read_text().splitlines() if "install" in line
    ]
    assert installed == [wanted]


def test_the_workflow_runs_targets_that_exist_on_supported_systems():
    workflow = (REPOSITORY / ".github" / "workflows" / "checks.yml").read_text(encoding="utf-8")
    makefile = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    targets = re.findall(r"run: (?:sudo )?make ([\w-]+)$", workflow, re.MULTILINE)
    assert {"test", "test-python", "test-minimum-rust", "lint", "dist", "test-slow", "test-fresh"} == set(targets)
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in targets)
    assert 'system: ["debian:12", "debian:13", "ubuntu:24.04"]' in workflow
    assert "Debian 12 or newer, or Ubuntu 24.04 or newer" in (REPOSITORY / "README.md").read_text(encoding="utf-8")
    pythons = re.search(r"python: \[(.*)\]", workflow)
    assert pythons is not None
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert f">={json.loads(f'[{pythons[1]}]')[0]}" == project["requires-python"]
    found = (SCRIPTS / "find-python.sh").read_text(encoding="utf-8")
    assert all(f"python{version}" in found for version in json.loads(f"[{pythons[1]}]"))

"""What is published: what has to be in a wheel and in the sources, what must not, and the same bytes twice."""

from __future__ import annotations

import base64
import csv
import hashlib
import importlib.util
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

REPOSITORY = Path(__file__).parents[2]
SCRIPT = REPOSITORY / "scripts" / "distribution.py"
pytestmark = pytest.mark.skipif(not SCRIPT.is_file(), reason="these are tests of a clone")

STEM = "txop-1.2.3"
WHOLE = {
    "txop/__init__.py": b"",
    "txop/_native.abi3.so": b"\x7fELF",
    "txop/guest/bin/txop-vusb": b"\x7fELF",
    "txop/guest/bin/libtxop_qemu.so": b"\x7fELF",
    f"{STEM}.data/data/share/man/man1/txop.1": b".TH",
    f"{STEM}.data/data/share/bash-completion/completions/txop": b"complete",
    f"{STEM}.data/data/share/zsh/site-functions/_txop": b"#compdef",
    f"{STEM}.data/data/share/fish/vendor_completions.d/txop.fish": b"complete",
    f"{STEM}.dist-info/licenses/LICENSE-MIT": b"MIT",
    f"{STEM}.dist-info/licenses/LICENSE-APACHE": b"Apache",
}


@pytest.fixture(scope="module")
def distribution() -> ModuleType:
    spec = importlib.util.spec_from_file_location("distribution", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def wheel_of(contents: dict[str, bytes], path: Path, mode: int = 0o755) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in contents.items():
            entry = zipfile.ZipInfo(name)
            entry.external_attr = (0o100000 | mode) << 16
            archive.writestr(entry, data)
    return path


def test_a_wheel_with_everything_is_taken(distribution, tmp_path):
    distribution.check_wheel(wheel_of(WHOLE, tmp_path / "a.whl"), (tmp_path,))


@pytest.mark.parametrize("missing", [name for name in WHOLE if name != "txop/__init__.py"])
def test_a_wheel_that_lacks_something_is_refused(distribution, tmp_path, missing):
    contents = {name: data for name, data in WHOLE.items() if name != missing}
    with pytest.raises(distribution.CheckFailedError, match=re.escape(missing)):
        distribution.check_wheel(wheel_of(contents, tmp_path / "a.whl"), ())


@pytest.mark.parametrize("name", ["tests/data/air.pcap", "txop/__pycache__/a.cpython-311.pyc", "conftest.py"])
def test_a_wheel_with_what_is_not_of_txop_is_refused(distribution, tmp_path, name):
    with pytest.raises(distribution.CheckFailedError, match="not of txop"):
        distribution.check_wheel(wheel_of(WHOLE | {name: b""}, tmp_path / "a.whl"), ())


def test_a_wheel_that_names_a_folder_of_the_machine_is_refused(distribution, tmp_path):
    for named in ("\0/home/a builder/crates/air", "file:///home/a%20builder/crates/air"):
        contents = WHOLE | {"txop/_native.abi3.so": f"\x7fELF{named}".encode()}
        with pytest.raises(distribution.CheckFailedError, match=r"_native.* names a folder .*/home/a.*builder/crates"):
            distribution.check_wheel(wheel_of(contents, tmp_path / "a.whl"), (Path("/home/a builder"),))


def test_chips_that_cannot_be_executed_are_refused(distribution, tmp_path):
    with pytest.raises(distribution.CheckFailedError, match="cannot be executed"):
        distribution.check_wheel(wheel_of(WHOLE, tmp_path / "a.whl", mode=0o644), ())


def test_what_is_rewritten_names_no_folder_and_its_record_is_right(distribution, tmp_path):
    bill = f"{STEM}.dist-info/sboms/txop.json"
    data = b'{"ref": "path+file:///srv/a%20build/crates/air#txop-air"}'
    record = "".join(f"{name},sha256=old,{len(data)}\n" for name in (*WHOLE, bill))
    contents = dict(reversed(WHOLE.items())) | {
        bill: data,
        f"{STEM}.dist-info/RECORD": f"{record}{STEM}.dist-info/RECORD,,\n".encode(),
    }
    made = distribution.rewritten(wheel_of(contents, tmp_path / "a.whl"), Path("/srv/a build"))
    with zipfile.ZipFile(made) as archive:
        assert archive.namelist() == sorted(contents)
        assert archive.getinfo("txop/guest/bin/txop-vusb").external_attr >> 16 & 0o777 == 0o755
        assert archive.read(bill) == b'{"ref": "path+file:///txop/crates/air#txop-air"}'
        rows = {row[0]: row[1:] for row in csv.reader(io.StringIO(archive.read(f"{STEM}.dist-info/RECORD").decode()))}
        assert rows[bill] == record_of(archive.read(bill))
    assert rows["txop/__init__.py"][0] == "sha256=old"


def record_of(data: bytes) -> list[str]:
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return [f"sha256={digest}", str(len(data))]


@pytest.mark.parametrize(
    ("needed", "offered", "well"),
    [
        ("manylinux_2_5_x86_64", "manylinux_2_17_x86_64", True),
        ("manylinux_2_17_x86_64", "manylinux_2_17_x86_64", True),
        ("manylinux_2_34_x86_64", "manylinux_2_17_x86_64", False),
        ("manylinux_2_5_x86_64", "musllinux_1_2_x86_64", False),
        ("manylinux_2_5_aarch64", "manylinux_2_17_x86_64", False),
        ("linux_x86_64", "manylinux_2_17_x86_64", False),
    ],
)
def test_a_wheel_needs_no_more_than_its_name_says(distribution, needed, offered, well):
    assert distribution.fulfils(needed, offered) is well


def test_the_sources_have_what_building_needs_and_no_tests(tmp_path):
    ran = build(SCRIPT, tmp_path, "--sources-only")
    archive = next((tmp_path / "dist").glob("*.tar.gz"))
    assert archive.name in ran.stdout
    with tarfile.open(archive) as tar:
        names = {member.name.partition("/")[2] for member in tar}
    assert {"Cargo.lock", "pyproject.toml", "LICENSE-MIT", "LICENSE-APACHE", "PKG-INFO"} <= names
    assert {"scripts/build-chips.sh", "scripts/build_backend.py", "crates/vusb/src/main.rs"} <= names
    share = "python/txop.data/data/share"
    assert {f"{share}/man/man1/txop-air.1", f"{share}/bash-completion/completions/txop"} <= names
    assert not [
        name for name in names if name.startswith(("tests/", "bench/", "fuzz/")) or name.endswith((".so", ".pyc"))
    ]
    sums = (tmp_path / "dist" / "SHA256SUMS").read_text(encoding="utf-8")
    assert sums == f"{hashlib.sha256(archive.read_bytes()).hexdigest()}  {archive.name}\n"


def build(script: Path, folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run the script of a clone; skips the test where this machine lacks what it needs."""
    argv = [sys.executable, str(script), "--out", str(folder / "dist"), "--work", str(folder / "work"), *options]
    ran = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=3600)
    if ran.returncode == 3:
        pytest.skip(f"NOT BUILT: {ran.stderr.strip()}")
    assert ran.returncode == 0, ran.stderr
    return ran


@pytest.mark.slow
def test_two_folders_make_the_same_bytes(tmp_path):
    if importlib.util.find_spec("ziglang") is None:
        pytest.skip("NOT BUILT: the tools of make dist are not in this environment")
    # One clone for both: the repository may get a commit while the first is built.
    commit = tmp_path / "commit"
    subprocess.run(["git", "clone", "--quiet", "--shared", str(REPOSITORY), str(commit)], check=True)
    made = []
    for name in ("one", "another folder"):
        folder = tmp_path / name
        clone = folder / "clone"
        subprocess.run(["git", "clone", "--quiet", str(commit), str(clone)], check=True)
        build(clone / "scripts" / "distribution.py", folder)
        made.append({file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in (folder / "dist").iterdir()})
        shutil.rmtree(folder / "work")
    assert made[0] == made[1]
    assert {Path(name).suffix for name in made[0]} == {".gz", ".whl", ""}


RELEASABLE = {
    "Cargo.toml": '[workspace.package]\nversion = "1.2.3"\n[workspace.dependencies]\n',
    "Cargo.lock": '[[package]]\nname = "txop-python"\nversion = "1.2.3"\n',
    "fuzz/Cargo.lock": '[[package]]\nname = "txop-wire"\nversion = "1.2.3"\n',
    "CHANGELOG.md": "# Changelog\n\n## [Unreleased]\n\n## [1.2.3] - 2026-01-02\n\n* An item.\n",
    "CITATION.cff": 'cff-version: 1.2.0\nversion: 1.2.3\ndate-released: "2026-01-02"\n',
}


def check_release(folder: Path, contents: dict[str, str], tag: str) -> subprocess.CompletedProcess[str]:
    for name in ("scripts", "fuzz"):
        (folder / name).mkdir()
    shutil.copy(REPOSITORY / "scripts" / "check-release.sh", folder / "scripts")
    for name, text in contents.items():
        (folder / name).write_text(text, encoding="utf-8")
    env = os.environ | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@example.org", "-C", str(folder)]
    for words in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "-m", "x"]):
        subprocess.run([*git, *words], check=True, env=env)
    argv = [folder / "scripts" / "check-release.sh", tag]
    return subprocess.run(argv, capture_output=True, text=True, check=False, env=env)


def test_a_commit_whose_versions_agree_is_ready(tmp_path):
    ran = check_release(tmp_path, RELEASABLE, "v1.2.3")
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "Ready to be released as v1.2.3\n", "")


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("Cargo.toml", "1.2.3", "1.2.4", "The tag is v1.2.3, but Cargo.toml says version 1.2.4."),
        ("Cargo.lock", "1.2.3", "1.2.2", "Cargo.lock has another version"),
        ("fuzz/Cargo.lock", "1.2.3", "1.2.2", "fuzz/Cargo.lock has another version"),
        ("CHANGELOG.md", "## [1.2.3] - 2026-01-02", "## [1.2.3]", "no heading"),
        ("CITATION.cff", "1.2.3", "1.2.2", "CITATION.cff has another version"),
        ("CITATION.cff", "01-02", "01-03", "CITATION.cff has another day"),
        ("CHANGELOG.md", "[Unreleased]\n", "[Unreleased]\n\n* Left here.\n", "items under [Unreleased] (1)"),
    ],
)
def test_a_commit_that_is_not_ready_is_refused(tmp_path, file, old, new, said):
    ran = check_release(tmp_path, RELEASABLE | {file: RELEASABLE[file].replace(old, new)}, "v1.2.3")
    assert ran.returncode == 1
    assert said in ran.stderr


def test_a_release_without_a_tag_is_refused_with_the_command(tmp_path):
    ran = check_release(tmp_path, RELEASABLE, "")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr == "Name the tag: make release-check TAG=v1.2.3\n"


def test_requirements_are_hashed_and_name_no_index():
    files = sorted((REPOSITORY / "requirements").glob("*.txt"))
    assert len(files) >= 4
    for file in files:
        text = file.read_text(encoding="utf-8")
        assert not re.search(r"^\s*(-i|--(extra-)?index-url|--find-links|-f)\b|://", text, re.MULTILINE), file.name
        pins = re.findall(r"^[a-z0-9][\w.\[\]-]*==.*\\$", text, re.MULTILINE)
        plain = [line for line in text.splitlines() if line and not line.startswith(("#", " ")) and line not in pins]
        assert pins, file.name
        assert not plain, file.name

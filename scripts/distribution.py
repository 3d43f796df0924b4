#!/usr/bin/env python3
"""Builds what is published: the sources, and of these a wheel that needs neither Rust nor a clone.

What is built is the last commit, not the files as they lie here. The same commit makes the same bytes in any folder:
the Rust toolchain (.ci/rust-version) and the tools (requirements/distribution.txt) are pinned, times are the commit's,
and folders of this machine are replaced in what the compilers write. The wheel is built of the unpacked sources, so
that these are known to build.

  make wheel                                       # dist/txop-VERSION-...manylinux...whl
  make dist                                        # the same, the sources, and SHA256SUMS
  scripts/distribution.py --platform musllinux     # for musl; not published, see docs/install.md

Exit codes: 0 built and checked; 1 what was built is not as it has to be; 2 wrong use; 3 something is missing here.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import os
import platform
import re
import shlex
import shutil
import stat
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
WORK = REPOSITORY / "build" / "distribution"
CHIPS = "txop/guest/bin/txop-vusb"
CHIPS_TARGET = "x86_64-unknown-linux-musl"
PLATFORMS = {
    # The oldest glibc that Rust's own library links with; numpy and scipy ask for a newer one.
    "manylinux": ("x86_64-unknown-linux-gnu", "manylinux_2_17"),
    "musllinux": (CHIPS_TARGET, "musllinux_1_2"),
}
"""The Rust target and the platform tag of a wheel."""

COMPLETIONS = {
    "bash": "bash-completion/completions/txop",
    "zsh": "zsh/site-functions/_txop",
    "fish": "fish/vendor_completions.d/txop.fish",
}
"""Where shells look for completions, below share."""

MATURIN = "\n[tool.maturin]\n"
DEVICES = "txop/guest/bin/libtxop_qemu.so"
"""Loaded by the pinned QEMU alone, which has a C library of its own: the platform of a wheel says nothing of it."""
BINARIES = (CHIPS, DEVICES, "txop/_native.abi3.so")
LICENCES = ("LICENSE-MIT", "LICENSE-APACHE")


class MissingHereError(Exception):
    """Something of this machine is missing; its text says what."""


class CheckFailedError(Exception):
    """What was built lacks something or has something that it must not have."""


def say(text: str) -> None:
    """One line of what goes on, at once."""
    print(text, flush=True)


def run(argv: list[str], *, cwd: Path, env: dict[str, str]) -> str:
    """Run a program and return what it printed; all it said is shown when it fails."""
    ran = subprocess.run(argv, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    if ran.returncode:
        said = f"{ran.stdout}\n{ran.stderr}".strip()
        raise CheckFailedError(f"{Path(argv[0]).name} ended with {ran.returncode}:\n{said[-4000:]}")
    return ran.stdout


def git(*words: str) -> str:
    """What git says of this repository."""
    argv = ["git", "-C", str(REPOSITORY), *words]
    try:
        ran = subprocess.run(argv, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise MissingHereError("git is missing: what is built is a commit") from None
    if ran.returncode:
        raise MissingHereError(f"a commit is built, and there is none here: {ran.stderr.strip()}")
    return ran.stdout.strip()


def toolchain() -> Path:
    """The folder of the pinned Rust toolchain's programs, with the target of the virtual chips."""
    pinned = (REPOSITORY / ".ci" / "rust-version").read_text(encoding="utf-8").strip()
    argv = [str(REPOSITORY / "scripts" / "exact-rust.sh"), pinned]
    ran = subprocess.run(argv, stdout=subprocess.PIPE, text=True, check=False)
    if ran.returncode:
        raise MissingHereError(f"packages are built with Rust {pinned} only, so that everyone gets the same bytes")
    return Path(ran.stdout.strip())


def need_targets(folder: Path, targets: set[str], sysroot: Path) -> None:
    """Get the library of each target where the toolchain lacks it, by rustup."""
    for target in sorted(targets):
        if (sysroot / "lib" / "rustlib" / target / "lib").is_dir():
            continue
        rustup = shutil.which("rustup", path=f"{folder}:{os.environ.get('PATH', '')}")
        if rustup is not None:
            argv = [rustup, "target", "add", target, "--toolchain", sysroot.name]
            if subprocess.run(argv, stdin=subprocess.DEVNULL, check=False).returncode == 0:
                continue
        raise MissingHereError(f"the Rust toolchain in {sysroot} lacks {target}, and rustup could not get it")


def tools_folder() -> Path:
    """Where maturin, auditwheel and ziglang are installed: beside this Python."""
    folder = Path(sys.executable).parent
    for name in ("maturin", "auditwheel"):
        if not (folder / name).is_file():
            raise MissingHereError(f"{name} is not beside {sys.executable}: run make wheel or make dist")
    return folder


def export(epoch: str, scratch: Path, env: dict[str, str]) -> Path:
    """A clone of the commit, with what txop writes of its own command line beside the package."""
    say(f"Taking commit {git('rev-parse', '--short', 'HEAD')}, whose time is {epoch}")
    if git("status", "--porcelain"):
        say("  what is not committed is not in it")
    clone = scratch / "clone"
    run(["git", "clone", "--quiet", "--shared", str(REPOSITORY), str(clone)], cwd=scratch, env=env)
    share = clone / "python" / "txop.data" / "data" / "share"
    version = tomllib.loads((clone / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]["version"]
    # The package need not be installed for its pages; they name its version, though.
    metadata = scratch / "metadata" / f"txop-{version}.dist-info" / "METADATA"
    metadata.parent.mkdir(parents=True)
    metadata.write_text(f"Metadata-Version: 2.4\nName: txop\nVersion: {version}\n", encoding="utf-8")
    env = env | {"PYTHONPATH": f"{scratch / 'metadata'}:{clone / 'python'}", "PYTHONDONTWRITEBYTECODE": "1"}
    txop = [sys.executable, "-m", "txop"]
    run([*txop, "man", str(share / "man" / "man1")], cwd=scratch, env=env)
    for shell, place in COMPLETIONS.items():
        (share / place).parent.mkdir(parents=True)
        (share / place).write_text(run([*txop, "completion", shell], cwd=scratch, env=env), encoding="utf-8")
    # maturin takes the folder only where it is named, and fails where it is named and not there: in a clone.
    settings = clone / "pyproject.toml"
    text = settings.read_text(encoding="utf-8")
    settings.write_text(text.replace(MATURIN, f'{MATURIN}data = "python/txop.data"\n', 1), encoding="utf-8")
    return clone


def build_sources(clone: Path, scratch: Path, env: dict[str, str]) -> Path:
    """The archive of the sources."""
    say("Packing the sources")
    out = scratch / "sources"
    run(["maturin", "sdist", "--out", str(out)], cwd=clone, env=env)
    return next(out.glob("*.tar.gz"))


def unpack(archive: Path, scratch: Path) -> Path:
    """The folder of the unpacked sources."""
    with tarfile.open(archive) as tar:
        tar.extractall(scratch / "unpacked", filter="data")
    folder = next((scratch / "unpacked").iterdir())
    # In the archive all files are of one old time, by which cargo would take what it built of others for theirs.
    for path in folder.rglob("*"):
        os.utime(path)
    return folder


def build_wheel(source: Path, name: str, scratch: Path, env: dict[str, str], sysroot: Path) -> Path:
    """A wheel of the sources, with the virtual chips in it."""
    target, tag = PLATFORMS[name]
    say("Building the virtual chips")
    run(["sh", "scripts/build-chips.sh"], cwd=source, env=env)
    say(f"Building the wheel for {tag} (minutes: it is optimised as a whole)")
    replaced = {sysroot: "/rust", cargo_home(): "/cargo", source: "/txop"}
    flags = [f"--remap-path-prefix={folder}={instead}" for folder, instead in replaced.items()]
    c_flags = [f"-ffile-prefix-map={folder}={instead}" for folder, instead in replaced.items()]
    env = env | {"CARGO_ENCODED_RUSTFLAGS": "\x1f".join(flags)}
    # A folder's name may have a space; the second is how the crate cc knows that the first is quoted.
    env = env | {"CFLAGS": shlex.join(c_flags), "CC_SHELL_ESCAPED_FLAGS": "1"}
    out = scratch / "wheel"
    argv = ["maturin", "build", "--profile", "dist", "--locked", "--zig", "--target", target]
    run([*argv, "--compatibility", tag, "--out", str(out)], cwd=source, env=env)
    return rewritten(next(out.glob("*.whl")), source)


def rewritten(wheel: Path, source: Path) -> Path:
    """The wheel without the sources' folder, which the list of its Rust packages names; entries in order of names."""
    with zipfile.ZipFile(wheel) as archive:
        entries = sorted(archive.infolist(), key=lambda entry: entry.filename)
        contents = {entry.filename: archive.read(entry) for entry in entries}
    changed = {}
    for name, data in contents.items():
        if "/sboms/" in name:
            changed[name] = contents[name] = data.replace(source.as_uri().encode(), b"file:///txop")
    record = next(name for name in contents if name.endswith(".dist-info/RECORD"))
    rows = [row.split(",") for row in contents[record].decode().splitlines()]
    for row in rows:
        if row[0] in changed:
            digest = hashlib.sha256(changed[row[0]]).digest()
            row[1:] = [f"sha256={base64.urlsafe_b64encode(digest).rstrip(b'=').decode()}", str(len(changed[row[0]]))]
    contents[record] = "".join(",".join(row) + "\n" for row in sorted(rows)).encode()
    out = wheel.parent / "rewritten" / wheel.name
    out.parent.mkdir()
    with zipfile.ZipFile(out, "w") as archive:
        for entry in entries:
            plain = zipfile.ZipInfo(entry.filename, entry.date_time)
            plain.external_attr = entry.external_attr
            archive.writestr(plain, contents[entry.filename], zipfile.ZIP_DEFLATED, 9)
    return out


def cargo_home() -> Path:
    """Where cargo unpacks what it builds."""
    return Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))


def check_wheel(wheel: Path, folders: tuple[Path, ...]) -> None:
    """Fail where the wheel lacks something, or names a folder of this machine."""
    with zipfile.ZipFile(wheel) as archive:
        entries = {entry.filename: entry for entry in archive.infolist()}
        lacking = [name for name in wanted_in_wheel(entries) if name not in entries]
        if lacking:
            raise CheckFailedError(f"{wheel.name} lacks {', '.join(lacking)}")
        if not entries[CHIPS].external_attr >> 16 & stat.S_IXOTH:
            raise CheckFailedError(f"{CHIPS} in {wheel.name} cannot be executed")
        foreign = [name for name in entries if not re.match(r"txop/|txop-[^/]*\.(dist-info|data)/", name)]
        if foreign or any("__pycache__" in name for name in entries):
            raise CheckFailedError(f"{wheel.name} has what is not of txop: {', '.join(foreign) or '__pycache__'}")
        for name in entries:
            check_text(archive.read(name), f"{name} in {wheel.name}", folders)


def wanted_in_wheel(names: dict[str, zipfile.ZipInfo]) -> list[str]:
    """The entries that a wheel has to have, with its own name of the version."""
    stem = next((name.partition(".dist-info/")[0] for name in names if ".dist-info/" in name), "txop")
    share = f"{stem}.data/data/share"
    licences = [f"{stem}.dist-info/licenses/{name}" for name in LICENCES]
    return [*BINARIES, *licences, f"{share}/man/man1/txop.1", *(f"{share}/{place}" for place in COMPLETIONS.values())]


def check_sources(archive: Path, folders: tuple[Path, ...]) -> None:
    """Fail where the sources have what is built, or name a folder of this machine."""
    with tarfile.open(archive) as tar:
        for member in tar:
            name = member.name.partition("/")[2]
            data = tar.extractfile(member)
            if data is None or name.endswith(".so") or name.startswith(("tests/", "python/txop/guest/bin/")):
                raise CheckFailedError(f"{name} must not be in {archive.name}")
            check_text(data.read(), f"{name} in {archive.name}", folders)


def check_text(data: bytes, where: str, folders: tuple[Path, ...]) -> None:
    """Fail where one of the folders is named."""
    # In a URL a space is %20.
    for name in {text for folder in folders for text in (f"{folder}/", f"{folder.as_uri()}/")}:
        at = data.find(os.fsencode(name))
        if at >= 0:
            said = data[at : at + 80].decode("utf-8", errors="replace").splitlines()[0]
            raise CheckFailedError(f"{where} names a folder of this machine: {said!r}")


def check_platform(wheel: Path, name: str, env: dict[str, str]) -> None:
    """Fail where auditwheel finds that the wheel needs more of a system than its name says."""
    if name != "manylinux":
        say(f"  not checked by auditwheel: on glibc it cannot read what {name} asks of a system")
        return
    tag = f"{PLATFORMS[name][1]}_x86_64"
    judged = wheel.parent / "judged" / wheel.name
    judged.parent.mkdir()
    with zipfile.ZipFile(wheel) as archive, zipfile.ZipFile(judged, "w") as without:
        # The guests' QEMU loads these, and brings a C library for them: they ask nothing of the system.
        # auditwheel opens what RECORD lists.
        for entry in archive.infolist():
            if entry.filename == DEVICES:
                continue
            data = archive.read(entry)
            if entry.filename.endswith(".dist-info/RECORD"):
                data = b"".join(row for row in data.splitlines(keepends=True) if not row.startswith(DEVICES.encode()))
            without.writestr(entry, data)
    said = " ".join(run(["auditwheel", "show", str(judged)], cwd=wheel.parent, env=env).split())
    found = re.search(r'consistent with the following platform tag: "([^"]+)"', said)
    if found is None or not fulfils(found[1], tag):
        raise CheckFailedError(f"auditwheel does not take {wheel.name} for {tag}: {said}")
    say(f"  auditwheel: consistent with {found[1]}")


def fulfils(needed: str, offered: str) -> bool:
    """Whether every system of the platform tag of a wheel has what it needs."""
    tags = [re.match(r"(manylinux|musllinux)_(\d+)_(\d+)_(\w+)$", tag) for tag in (needed, offered)]
    if tags[0] is None or tags[1] is None or tags[0].group(1, 4) != tags[1].group(1, 4):
        return False
    versions = [(int(tag[2]), int(tag[3])) for tag in tags if tag is not None]
    return versions[0] <= versions[1]


def hashed(file: Path) -> str:
    """The SHA-256 of a file, in hexadecimal digits."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def build(platform_name: str | None, out: Path, work: Path) -> list[Path]:
    """Build and check the sources, and a wheel unless there is no name of a platform; returns the files."""
    if platform.machine() != "x86_64":
        raise MissingHereError(f"packages are built on x86-64; this is {platform.machine()}")
    tools = tools_folder()
    rust = toolchain()
    epoch = os.environ.get("SOURCE_DATE_EPOCH") or git("log", "-1", "--format=%ct")
    work.mkdir(parents=True, exist_ok=True)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("RUSTFLAGS", "CARGO_ENCODED"))}
    env = kept | {
        "PATH": f"{rust}:{tools}:{os.environ.get('PATH', '')}",
        "SOURCE_DATE_EPOCH": epoch,
        "CARGO_TARGET_DIR": str(work / "target"),
        "CARGO_ZIGBUILD_CACHE_DIR": str(work / "zig" / "linkers"),
        "ZIG_GLOBAL_CACHE_DIR": str(work / "zig" / "libraries"),
        "LC_ALL": "C.UTF-8",
    }
    sysroot = Path(run(["rustc", "--print", "sysroot"], cwd=work, env=env).strip())
    with tempfile.TemporaryDirectory(prefix="build-", dir=work) as name:
        scratch = Path(name)
        clone = export(epoch, scratch, env)
        sources = build_sources(clone, scratch, env)
        private = (REPOSITORY, scratch, cargo_home(), sysroot, work)
        check_sources(sources, private)
        made = [sources]
        if platform_name is not None:
            need_targets(rust, {CHIPS_TARGET, PLATFORMS[platform_name][0]}, sysroot)
            wheel = build_wheel(unpack(sources, scratch), platform_name, scratch, env, sysroot)
            check_wheel(wheel, private)
            check_platform(wheel, platform_name, env)
            made.append(wheel)
        out.mkdir(parents=True, exist_ok=True)
        return [Path(shutil.copy2(file, out / file.name)) for file in made]


def main() -> int:
    """Build, check, and say what was made."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--platform", choices=list(PLATFORMS), default="manylinux", help="default: manylinux")
    parser.add_argument("--sources-only", action="store_true", help="no wheel")
    parser.add_argument("--wheel-only", action="store_true", help="leave the sources out of what is put there")
    parser.add_argument("--out", type=Path, default=REPOSITORY / "dist", help="where the files go (default: dist)")
    parser.add_argument("--work", type=Path, default=WORK, help=f"where it is built (default: {WORK.name} in build)")
    options = parser.parse_args()
    if options.sources_only and options.wheel_only:
        parser.error("--sources-only and --wheel-only leave nothing")
    made = build(None if options.sources_only else options.platform, options.out.resolve(), options.work.resolve())
    if options.wheel_only:
        made.pop(0).unlink()
    else:
        sums = "".join(f"{hashed(file)}  {file.name}\n" for file in made)
        (options.out / "SHA256SUMS").write_text(sums, encoding="utf-8")
    for file in made:
        say(f"{file}\n  {file.stat().st_size:,} bytes, SHA-256 {hashed(file)}")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except MissingHereError as missing:
        print(missing, file=sys.stderr)
        sys.exit(3)
    except CheckFailedError as wrong:
        print(wrong, file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)

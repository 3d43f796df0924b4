"""What goes wrong outside a guest, and guests that mean harm: a program takes QEMU's or APT's place."""

from __future__ import annotations

import asyncio
import errno
import gzip
import hashlib
import io
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from txop.guest import outside, qemu, running
from txop.guest.qemu import Computer, check_kvm
from txop.guest.running import Cause, GuestFailedError, run_guest
from txop.guest.scratch import sweep
from txop.guest_image.cache import new_folder, room
from txop.guest_image.error import GuestError, MissingGuestToolError
from txop.guest_image.image import KEPT_UNUSED_DAYS, Image, build_image
from txop.guest_image.locks import find_lock
from txop.guest_image.overlay import Overlay
from txop.guest_image.packages import archive as archive_module
from txop.guest_image.packages.lock import LockedPackage
from txop.guest_image.packages.store import PackageStore

VERSION = 'case "$*" in --version) echo "QEMU emulator version 8.2.0"; exit ;; esac\n'
PORTS = """
for word; do case $word in *path=*) path=${word##*path=}; name=${path##*/}; eval "$name=\\$path" ;; esac; done
"""


def program(folder: Path, name: str, text: str) -> None:
    """A shell script in the place of a program."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{text}")
    (folder / name).chmod(0o755)


QEMU = "qemu"
"""What the program in place of QEMU is called."""


@pytest.fixture
def stand_ins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder whose programs come first."""
    folder = tmp_path / "programs"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv(outside.VARIABLE, str(folder / QEMU))
    monkeypatch.setenv("TXOP_DEBIAN_MIRROR", "http://mirror.invalid/debian")
    monkeypatch.delenv("TXOP_DEBIAN_ARCHIVE", raising=False)
    keyring = tmp_path / "keyring.gpg"
    keyring.touch()
    monkeypatch.setattr(archive_module, "KEYRINGS", (keyring,))
    return folder


def small_image(folder: Path) -> Image:
    folder.mkdir(exist_ok=True)
    (folder / "vmlinuz").write_bytes(b"kernel")
    (folder / "initramfs.gz").write_bytes(gzip.compress(b"files" * 1000))
    return Image(folder, "6.12.1", folder, (), "key", cached=True)


def run(tmp_path: Path, *, results: Path | None = None) -> running.Ended:
    return asyncio.run(
        run_guest(
            small_image(tmp_path / "image"),
            Overlay(("true",)),
            Computer(),
            results=results or tmp_path / "results",
            wall_limit_s=300,
            cache=tmp_path / "cache",
        )
    )


# QEMU ----------------------------------------------------------------------------------------------------------------


def test_kvm_that_is_asked_for_and_does_not_work_says_why(
    stand_ins: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(qemu.platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(qemu, "_KVM", tmp_path / "none")
    monkeypatch.setattr(qemu, "KVM_PVM", tmp_path / "kvm_pvm")
    with pytest.raises(MissingGuestToolError, match=r"there is no .*/none"):
        check_kvm()
    (tmp_path / "kvm").touch()
    monkeypatch.setattr(qemu, "_KVM", tmp_path / "kvm")
    monkeypatch.setattr(qemu, "emulator", lambda: SimpleNamespace(argv=lambda: (str(stand_ins / QEMU),)))
    program(stand_ins, QEMU, "echo 'Could not access KVM kernel module: \x1b[1mno\x1b[0m' >&2; exit 1")
    with pytest.raises(MissingGuestToolError, match="Could not access KVM kernel module") as said:
        check_kvm()
    assert str(said.value).isprintable()
    program(stand_ins, QEMU, "cat >/dev/null")
    check_kvm()
    (tmp_path / "kvm_pvm").mkdir()
    with pytest.raises(MissingGuestToolError, match="kvm_pvm"):
        check_kvm()
    monkeypatch.setattr(qemu.platform, "machine", lambda: "aarch64")
    with pytest.raises(MissingGuestToolError, match="guests are x86-64"):
        check_kvm()


# A guest -------------------------------------------------------------------------------------------------------------


def test_what_qemu_complains_of_is_reported(stand_ins: Path, tmp_path: Path) -> None:
    program(stand_ins, QEMU, f"{VERSION}echo 'qemu: no machine \x1b[31mtoday' >&2; exit 1")
    with pytest.raises(GuestFailedError, match="QEMU ended with 1: qemu: no machine") as failed:
        run(tmp_path)
    assert failed.value.cause is Cause.HOST
    assert list((tmp_path / "cache" / "runs").iterdir()) == []


def test_what_qemu_and_its_devices_warn_of_is_kept_when_all_ends_well(stand_ins: Path, tmp_path: Path) -> None:
    say = 'printf \'end 2.0 0\n\' >"$events"; tar -cf "$files" -T /dev/null'
    program(stand_ins, QEMU, f"{VERSION}{PORTS}{say}; printf 'txop-vusb: the trace\033[2J is full\n' >&2")
    ended = run(tmp_path)
    assert (ended.status, ended.said) == (0, ("txop-vusb: the trace is full",))
    assert b"is full" in (tmp_path / "results" / running.SAID).read_bytes()
    program(stand_ins, QEMU, f"{VERSION}{PORTS}{say}")
    assert run(tmp_path).said == ()
    assert not (tmp_path / "results" / running.SAID).exists()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["console", "stdout", "stderr", "events", "files"])
def test_a_guest_that_never_stops_talking_is_ended(
    stand_ins: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setitem(running._LIMITS, name, 1 << 20)
    program(stand_ins, QEMU, f'{VERSION}{PORTS}exec yes "stage 1.0 words" >"${name}"')
    with pytest.raises(GuestFailedError, match=f"its {name} grew beyond 1 MB") as failed:
        run(tmp_path)
    assert failed.value.cause is Cause.FLOOD
    assert list((tmp_path / "cache" / "runs").iterdir()) == []


def test_a_guest_is_ended_before_the_disk_is_full(
    stand_ins: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "MIN_FREE_BYTES", 1 << 62)
    program(stand_ins, QEMU, f"{VERSION}exec sleep 1000")
    with pytest.raises(GuestFailedError, match=r"the disk that has .* is full") as failed:
        run(tmp_path)
    assert failed.value.cause is Cause.HOST


def test_the_end_that_a_guest_claims_is_taken_and_its_tricks_are_not(stand_ins: Path, tmp_path: Path) -> None:
    outside = tmp_path / "escaped"
    (tmp_path / "evil").mkdir()
    (tmp_path / "evil" / "inside").write_text("text")
    pack = f"tar -P -cf \"$files\" -C {tmp_path}/evil --transform 's,^inside$,../../escaped,' inside"
    say = "printf 'stage 1.0 \\033[2Jbooted\\nend 2.0 0\\n' >\"$events\"; printf '\\033]0;x\\007' >\"$console\""
    program(stand_ins, QEMU, f"{VERSION}{PORTS}{pack}; {say}")
    ended = run(tmp_path)
    assert ended.status == 0
    assert ended.files == ()
    assert all(event.words.isprintable() for event in ended.events)
    assert not outside.exists()


def test_a_guest_that_cannot_turn_itself_off_is_ended_with_its_results(
    stand_ins: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "OFF_S", 0.2)
    say = 'echo text >a; tar -cf "$files" a; printf \'stage 1.0 booted\nend 2.0 3\n\' >"$events"'
    program(stand_ins, QEMU, f"{VERSION}{PORTS}cd {tmp_path}; {say}; exec sleep 1000")
    ended = run(tmp_path)
    assert (ended.status, ended.files) == (3, ("a",))
    assert ended.seconds < 60
    assert list((tmp_path / "cache" / "runs").iterdir()) == []


INTERRUPTED = """
import sys
sys.path.insert(0, "tests/guest")
from pathlib import Path
from test_trouble import run
from txop.cli.app import end_in_order
end_in_order()
run(Path(sys.argv[1]))
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_a_guest_ends_with_the_program_that_runs_it(stand_ins: Path, tmp_path: Path, number: signal.Signals) -> None:
    program(
        stand_ins,
        QEMU,
        f"{VERSION}{PORTS}echo $$ >{tmp_path}/part; mv {tmp_path}/part {tmp_path}/pid; exec sleep 1000",
    )
    argv = [sys.executable, "-c", INTERRUPTED, str(tmp_path)]
    process = subprocess.Popen(argv, stderr=subprocess.PIPE, cwd=Path(__file__).parents[2])
    while not (tmp_path / "pid").exists():
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(number)
    process.communicate()
    guest = Path("/proc") / (tmp_path / "pid").read_text().strip() / "cmdline"
    for _ in range(600):
        if not guest.exists() or not guest.read_bytes():
            break
        time.sleep(0.1)
    else:
        pytest.fail("the guest goes on")
    runs = tmp_path / "cache" / "runs"
    if number != signal.SIGKILL:
        assert list(runs.iterdir()) == []
    sweep(runs)  # as the next guest does
    assert list(runs.iterdir()) == []


# Disks ---------------------------------------------------------------------------------------------------------------

ON_A_SMALL_DISK = """
mount -t tmpfs -o size="$1" none "$2" && exec "$3" -c '
import sys
sys.path.insert(0, "tests/guest")
from pathlib import Path
from test_trouble import run
run(Path(sys.argv[1]), results=Path(sys.argv[2]))' "$4" "$2/results"
"""


@pytest.mark.parametrize(("size", "all_of_it"), [("64k", True), ("9m", True), ("64k", False)])
def test_a_disk_that_is_full_is_named(tmp_path: Path, stand_ins: Path, size: str, all_of_it: bool) -> None:
    """``all_of_it``: the cache too is on the small disk; else only the folder of the results."""
    if subprocess.run(["unshare", "-Urm", "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("no disk could be made: this user may make no namespaces")
    say = 'echo \'end 1.0 0\' >"$events"; tar -cf "$files" -T /dev/null; head -c 3000000 /dev/zero >"$console"'
    program(stand_ins, QEMU, f"{VERSION}{PORTS}{say}; sleep 1")
    disk = tmp_path / "disk"
    disk.mkdir()
    argv = ["sh", "-c", ON_A_SMALL_DISK, "sh", size, str(disk), sys.executable, str(disk if all_of_it else tmp_path)]
    ran = subprocess.run(
        ["unshare", "-Urm", *argv], capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2]
    )
    last = ran.stderr.strip().splitlines()[-1]
    assert "is full" in last or f"no room is left for {disk}" in last, ran.stderr


def test_room_says_what_to_do_and_leaves_other_errors_alone(tmp_path: Path) -> None:
    with pytest.raises(GuestError, match="no room is left") as said, room(tmp_path):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert "XDG_CACHE_HOME" in (said.value.what_to_do or "")
    with pytest.raises(GuestError, match="Permission denied"), room(tmp_path / "not" / "there"):
        raise OSError(errno.EACCES, "Permission denied", str(tmp_path / "not"))
    for elsewhere in ("/elsewhere", str(tmp_path / "output")):
        with pytest.raises(PermissionError), room(tmp_path / "cache"):
            raise OSError(errno.EACCES, "Permission denied", elsewhere)


def test_a_cache_in_a_folder_that_may_not_be_searched_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forbidden(path: Path) -> bool:
        if path.is_relative_to(tmp_path / "closed") and path != tmp_path / "closed":
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return True

    monkeypatch.setattr(Path, "exists", forbidden)  # root may search everything
    cache = tmp_path / "closed" / "cache" / "txop"
    with pytest.raises(GuestError, match="closed/cache: Permission denied") as said, room(cache):
        raise PermissionError(errno.EACCES, "Permission denied", str(cache.parent))
    assert "XDG_CACHE_HOME" in (said.value.what_to_do or "")


# The cache -----------------------------------------------------------------------------------------------------------

FILLING = """
import sys, time
from pathlib import Path
from txop.guest_image.cache import new_folder
with new_folder(Path(sys.argv[1])) as work:
    (work / "half").write_text("x")
    print("filling", flush=True)
    time.sleep(1000)
"""


def test_what_a_killed_process_left_is_removed_and_never_taken_for_whole(tmp_path: Path) -> None:
    place = tmp_path / "place"
    process = subprocess.Popen([sys.executable, "-c", FILLING, str(place)], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"filling\n"
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert [path.name for path in tmp_path.iterdir()] == [f".place.{process.pid}.part"]
    (tmp_path / f".other.{process.pid}.part").mkdir()
    (tmp_path / ".other.1.part").mkdir()  # process 1 lives
    with new_folder(place) as work:
        (work / "whole").write_text("x")
    assert {path.name for path in tmp_path.iterdir()} == {".other.1.part", "place"}
    assert [path.name for path in place.iterdir()] == ["whole"]


BUILD = """
import sys
from pathlib import Path
from txop.guest_image.image import build_image
from txop.guest_image.locks import find_lock
print(build_image(find_lock("6.12"), cache=Path(sys.argv[1]), progress=lambda words: print(words, flush=True)).key)
"""


def building(cache: Path) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", BUILD, str(cache)], stdout=subprocess.PIPE, text=True)


@pytest.mark.slow
def test_builds_that_are_killed_damaged_or_at_the_same_time_end_with_the_same_image(
    image: Image, tmp_path: Path
) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    for name in ("packages", "unpacked"):  # what takes long is there
        (cache / name).symlink_to(image.folder.parents[1] / name)
    killed = building(cache)
    assert killed.stdout is not None
    while killed.stdout.readline() not in ("making the image\n", ""):
        pass
    killed.kill()
    killed.communicate()
    both = [building(cache) for _ in range(2)]
    keys = [process.communicate()[0].splitlines()[-1] for process in both]
    assert keys == [image.key, image.key]
    (folder,) = (cache / "images").iterdir()
    whole = (folder / "image.json").read_text()
    for damage in (
        lambda: os.truncate(folder / "vmlinuz", 1000),
        lambda: (folder / "initramfs.gz").write_bytes(b"x"),
        lambda: (folder / "image.json").write_text("{"),
        lambda: (folder / "image.json").write_text("[" * 200_000),
        lambda: (folder / "image.json").write_text(whole.replace('"modules": [', '"modules": 5, "x": [')),
    ):
        damage()
        again = build_image(find_lock("6.12"), cache=cache)
        assert again.key == image.key
        assert again.size_bytes == image.size_bytes
    assert [path.name for path in (cache / "images").iterdir()] == [folder.name]


def test_a_new_image_takes_the_place_of_those_that_no_guest_boots_any_more(image: Image, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    for name in ("packages", "unpacked"):
        (cache / name).symlink_to(image.folder.parents[1] / name)
    others = {name: cache / "images" / name for name in ("forgotten", "booted", "own-recent")}
    long_ago = time.time() - (KEPT_UNUSED_DAYS + 1) * 86_400
    for other in others.values():
        other.mkdir(parents=True)
        (other / "initramfs.gz").write_bytes(gzip.compress(b"archive"))
        if other.name != "own-recent":
            os.utime(other, (long_ago, long_ago))
    Image(others["booted"], "6.12.1", tmp_path, (), "key", cached=True).write_initramfs(io.BytesIO())
    made = build_image(find_lock("6.12"), cache=cache)
    left = {path.name for path in (cache / "images").iterdir()}
    assert left == {made.folder.name, "booted", "own-recent"}


# The archive ---------------------------------------------------------------------------------------------------------

CONTENT = b"a package"
PINNED = LockedPackage("iw", "5.19-1", "amd64", hashlib.sha256(CONTENT).hexdigest(), len(CONTENT), "image")


def archive(folder: Path, content: bytes, *, version: str = "5.19-1", complaint: str = "") -> None:
    """An APT that offers one version of one package."""
    digest = hashlib.sha256(content).hexdigest()
    entry = f"Package: iw\\nVersion: {version}\\nArchitecture: amd64\\nSize: {len(content)}\\nSHA256: {digest}\\n"
    program(folder, "apt-cache", f"printf '{entry}'")
    (folder / "content").write_bytes(content)
    get = f"cp {folder}/content iw_5.19-1_amd64.deb" if not complaint else f"echo 'E: {complaint}' >&2; exit 100"
    program(folder, "apt-get", f'case "$*" in *download*) {get} ;; esac')


def test_a_package_is_fetched_once_and_again_when_half_of_it_is_there(stand_ins: Path, tmp_path: Path) -> None:
    archive(stand_ins, CONTENT)
    store = PackageStore(tmp_path / "cache", lambda _: None, "debian-12")
    place = store.package(PINNED)
    assert place.read_bytes() == CONTENT
    place.write_bytes(CONTENT[:4])
    assert store.package(PINNED).read_bytes() == CONTENT
    archive(stand_ins, b"", complaint="no network")
    assert store.package(PINNED).read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("content", "version", "complaint", "words", "advice"),
    [
        (CONTENT, "6.1-1", "", "the archive has moved on: .* has 6.1-1 now", "--update"),
        (CONTENT, "5.19-1", "Failed to fetch x  404  Not Found", "the archive has moved on: .*404", "--update"),
        (b"another 1", "5.19-1", "", "is not the package that the lock pins", "--update"),
        (CONTENT, "5.19-1", "Temporary failure resolving", "cannot be fetched: Temporary failure", "--packages"),
    ],
)
def test_an_archive_that_lacks_the_package_says_the_way_forward(
    stand_ins: Path, tmp_path: Path, content: bytes, version: str, complaint: str, words: str, advice: str
) -> None:
    archive(stand_ins, content, version=version, complaint=complaint)
    with pytest.raises(GuestError, match=words) as said:
        PackageStore(tmp_path / "cache", lambda _: None, "debian-12").package(PINNED)
    assert advice in (said.value.what_to_do or "")
    assert not list((tmp_path / "cache" / "packages").iterdir())


def test_without_apt_the_way_round_is_named(stand_ins: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(stand_ins))
    with pytest.raises(MissingGuestToolError, match="there is no apt") as said:
        PackageStore(tmp_path / "cache", lambda _: None, "debian-12").package(PINNED)
    assert "copy" in (said.value.what_to_do or "")


def test_many_packages_are_fetched_at_once_and_only_those_that_the_lock_pins(stand_ins: Path, tmp_path: Path) -> None:
    contents = {f"p{number}": bytes([number]) * 100 for number in range(5)}
    pins = [
        LockedPackage(name, "1", "amd64", hashlib.sha256(data).hexdigest(), len(data), "image")
        for name, data in contents.items()
    ]
    (stand_ins / "debs").mkdir()
    for name, data in contents.items():
        (stand_ins / "debs" / f"{name}_1_amd64.deb").write_bytes(data if name != "p3" else b"x" * 100)
    entries = "".join(f"Package: {p.name}\\nVersion: 1\\nSize: 100\\nSHA256: {p.sha256}\\n\\n" for p in pins)
    program(stand_ins, "apt-cache", f"printf '{entries}'")
    get = f'echo "$*" >>{stand_ins}/calls; cp {stand_ins}/debs/*.deb .'
    program(stand_ins, "apt-get", f'case "$*" in *download*) {get} ;; esac')
    store = PackageStore(tmp_path / "cache", lambda _: None, "debian-12")
    store.fetch(pins)
    assert len((stand_ins / "calls").read_text().splitlines()) == 1
    have = {path.name.split("_")[0]: path.read_bytes() for path in (tmp_path / "cache" / "packages").iterdir()}
    assert have == {name: data for name, data in contents.items() if name != "p3"}


def test_a_machine_without_package_lists_gets_lists_of_its_own(stand_ins: Path, tmp_path: Path) -> None:
    pins = [
        LockedPackage(f"p{number}", "1", "amd64", hashlib.sha256(b"%d" % number).hexdigest(), 1, "image")
        for number in range(4)
    ]
    entries = "".join(f"Package: {p.name}\\nVersion: 1\\nSize: 1\\nSHA256: {p.sha256}\\n\\n" for p in pins)
    program(stand_ins, "apt-cache", f"case \"$*\" in *Dir::State::Lists=*) printf '{entries}' ;; esac")
    get = "for n in 0 1 2 3; do printf $n >p${n}_1_amd64.deb; done"
    program(stand_ins, "apt-get", f'echo "$*" >>{stand_ins}/calls; case "$*" in *download*) {get} ;; esac')
    said: list[str] = []
    store = PackageStore(tmp_path / "cache", said.append, "debian-12")
    store.fetch(pins)
    calls = (stand_ins / "calls").read_text().splitlines()
    assert [words.split()[-1] for words in calls] == ["update", "p3=1"]
    assert [store.package(pin).read_bytes() for pin in pins] == [b"0", b"1", b"2", b"3"]
    assert said == ["refreshing package lists of debian-12", "fetching 4 packages (0.0 MB)"]

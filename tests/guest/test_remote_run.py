"""A guest for another machine: run there only when it is the same, and what comes back is checked."""

from __future__ import annotations

import asyncio
import gzip
import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from txop.guest import remote_run as module
from txop.guest import saved_starts
from txop.guest.exactness import results_sha256
from txop.guest.inputs import inputs_of
from txop.guest.outside import GivenRun
from txop.guest.qemu import Computer, Mode
from txop.guest.remote_run import RemoteResult, RemoteRun, carried_out, remote_run, taken
from txop.guest.results import Event
from txop.guest.running import Cause, Ended, GuestFailedError
from txop.guest_image.error import GuestError
from txop.guest_image.image import Image
from txop.guest_image.locks import find_lock
from txop.guest_image.overlay import Overlay


class Guests:
    """In place of those that boot."""

    def __init__(self) -> None:
        self.scripts: list[str | None] = []
        self.status = 0
        self.fails: GuestError | None = None

    async def __call__(self, _: Image, overlay: Overlay, computer: Computer, *, results: Path, **__: Any) -> Ended:
        self.scripts.append(overlay.script)
        if self.fails is not None:
            raise self.fails
        (results / "files").mkdir(parents=True)
        (results / "events").write_text("end 30.0 0\n")
        (results / "files" / "a").write_bytes(overlay.files["/txop/faults.toml"].read_bytes())
        return Ended(self.status, (Event("end", 30.0, "0"),), (), 7.5)


@pytest.fixture
def guests(monkeypatch: pytest.MonkeyPatch) -> Guests:
    made = Guests()
    monkeypatch.setattr(module, "run_guest", made)
    return made


@pytest.fixture
def what(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RemoteRun:
    for name, data in (("library.so", b"devices"), ("vmlinuz", b"kernel"), ("faults.toml", b"[[fault]]")):
        (tmp_path / name).write_bytes(data)
    (tmp_path / "initramfs.gz").write_bytes(gzip.compress(b"files"))
    monkeypatch.setenv("TXOP_QEMU_DEVICES", str(tmp_path / "library.so"))
    image = Image(tmp_path, "6.12.117", tmp_path, (), "key", cached=True)
    monkeypatch.setattr(module, "build_image", lambda _: image)
    overlay = Overlay(script="true", files={"/txop/faults.toml": tmp_path / "faults.toml"})
    computer = Computer(mode=Mode.EXACT, seed=1)
    made = remote_run(find_lock("6.12"), image, overlay, computer, inputs_of(image, overlay, computer).key, 100.0, None)
    (tmp_path / "faults.toml").unlink()  # the other machine has no such file
    return pickle.loads(pickle.dumps(made))  # noqa: S301 - as it passes between machines


def test_what_is_left_there_is_what_is_here(guests: Guests, what: RemoteRun, tmp_path: Path) -> None:
    came = carried_out(what)
    ended = taken(what, came, tmp_path / "here")
    assert (ended.status, ended.guest_seconds) == (0, 30.0)
    assert (tmp_path / "here" / "files" / "a").read_bytes() == b"[[fault]]"
    assert len(results_sha256(tmp_path / "here")) == 64
    guests.status = 73
    assert taken(what, carried_out(what), tmp_path / "other").status == 73


@pytest.mark.parametrize("change", ["library.so", "vmlinuz", "initramfs.gz"])
def test_a_machine_with_something_else_runs_nothing(
    guests: Guests, what: RemoteRun, tmp_path: Path, change: str
) -> None:
    data = (tmp_path / change).read_bytes()
    (tmp_path / change).write_bytes(gzip.compress(b"other") if change.endswith("gz") else data + b"x")
    came = carried_out(what)
    assert guests.scripts == []
    with pytest.raises(GuestError, match="another guest"):
        taken(what, came, tmp_path / "here")
    assert not (tmp_path / "here").exists()


def test_a_guest_that_failed_there_failed_here(guests: Guests, what: RemoteRun, tmp_path: Path) -> None:
    guests.fails = GuestFailedError("the guest failed: it powered off", "Kernel panic", cause=Cause.OFF)
    with pytest.raises(GuestFailedError) as raised:
        taken(what, carried_out(what), tmp_path / "here")
    assert (raised.value.cause, raised.value.console) == (Cause.OFF, "Kernel panic")


def test_what_is_damaged_on_the_way_is_refused(guests: Guests, what: RemoteRun, tmp_path: Path) -> None:
    came = carried_out(what)
    for data in (came.data[:-1], came.data + b"x", came.data.replace(b"[[fault]]", b"[[defect]"), b"", b"x"):
        with pytest.raises(GuestError):
            taken(what, RemoteResult(data), tmp_path / "here")
    with pytest.raises(GuestError, match="damaged"):
        taken(replace(what, key="0" * 64), came, tmp_path / "here")


def test_the_threads_of_a_worker_share_saved_guests(
    guests: Guests, what: RemoteRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved: list[Path] = []

    async def save(*arguments: Any, results: Path, wall_limit_s: float) -> None:
        saved.append(arguments[3])
        await asyncio.sleep(0.05)
        arguments[3].mkdir(parents=True)

    async def restore(*arguments: Any, results: Path, run: GivenRun, **__: Any) -> Ended:
        assert arguments[3].is_dir()
        return await guests(*arguments[:3], results=results)

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(saved_starts, "save", save)
    monkeypatch.setattr(module, "restore", restore)
    overlay = Overlay(script=what.script, files={"/txop/faults.toml": tmp_path / "faults.toml"})
    (tmp_path / "faults.toml").write_bytes(b"[[fault]]")
    image = Image(tmp_path, "6.12.117", tmp_path, (), "key", cached=True)
    runs = [GivenRun(seed, None, "true") for seed in range(3)]
    keys = [inputs_of(image, overlay, what.computer, run=run).key for run in runs]
    with ThreadPoolExecutor(3) as threads:
        asked = [replace(what, run=run, key=key) for run, key in zip(runs, keys, strict=True)]
        assert [came.failed for came in threads.map(carried_out, asked)] == [""] * 3
    assert len(saved) == 1

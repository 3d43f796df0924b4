"""Exact runs that are kept: whole or not at all, and nothing that was changed is taken for one."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from txop.core.errors import UserError
from txop.guest import run_places, run_store
from txop.guest.exactness import left_files, results_sha256
from txop.guest.inputs import Inputs
from txop.guest.results import Event
from txop.guest.run_places import LocalPlace, StoreError
from txop.guest.run_store import MAGIC, RunStore
from txop.guest.running import Ended

ENDED = Ended(0, (Event("end", 30.0, "0"),), (), 7.5, ("QEMU: a word",))
FILES = {
    "console": b"boot\n",
    "events": b"stage 2.5 booted\nend 30.0 0\n",
    "files/a/b": bytes(range(256)) * 9,
    "stdout": b"",
}


def left(folder: Path, files: dict[str, bytes] = FILES) -> Path:
    """What a guest left."""
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


def inputs(seed: int = 1) -> Inputs:
    return Inputs({"seed": seed})


def path_of(folder: Path, key: str) -> Path:
    return folder / key[:2] / f"{key}.run"


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    made = RunStore.at(str(tmp_path / "runs"))
    made.put(inputs(), left(tmp_path / "left"), ENDED, checked=True)
    return made


def test_what_is_taken_is_what_was_left(store: RunStore, tmp_path: Path) -> None:
    kept = store.take(inputs().key, tmp_path / "taken")
    assert kept is not None
    assert results_sha256(tmp_path / "taken") == results_sha256(tmp_path / "left")
    assert left_files(tmp_path / "taken") == sorted(FILES)
    assert kept.guest_seconds == 30.0
    assert kept.header.checked
    assert kept.header.said == ["QEMU: a word"]
    assert store.take(inputs(2).key, tmp_path / "other") is None
    assert not (tmp_path / "other").exists()


def test_what_did_not_end_well_is_not_kept(store: RunStore, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="ended well"):
        store.put(inputs(3), tmp_path / "left", Ended(1, (), (), 1.0), checked=False)
    assert not store.has(inputs(3).key)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_a_file_that_is_damaged_anywhere_is_as_good_as_none(
    store: RunStore, tmp_path: Path, data: st.DataObject
) -> None:
    path = path_of(tmp_path / "runs", inputs().key)
    store.put(inputs(), tmp_path / "left", ENDED, checked=True)
    whole = bytearray(path.read_bytes())
    at = data.draw(st.integers(0, len(whole) - 1))
    how = data.draw(st.sampled_from(["bit", "cut", "more"]))
    if how == "bit":
        whole[at] ^= 1 << data.draw(st.integers(0, 7))
    damaged = whole[:at] if how == "cut" else whole + b"x" if how == "more" else whole
    path.write_bytes(damaged)
    taken = tmp_path / "taken"
    assert store.take(inputs().key, taken) is None
    assert not path.exists(), "it is removed, so that the run is kept again"
    assert left_files(taken) == [], "a guest that runs now finds nothing of it"


@pytest.mark.parametrize(
    "files",
    [
        [{"name": "../../outside", "size": 1}],
        [{"name": "files/../../outside", "size": 1}],
        [{"name": "/tmp/outside", "size": 1}],  # noqa: S108 - a name
        [{"name": "run.json", "size": 1}],
        [{"name": "console", "size": 1}, {"name": "console", "size": 1}],
        [{"name": "files/a", "size": 1}, {"name": "files/a/b", "size": 1}],
        [{"name": f"files/{'a' * 256}", "size": 1}],
        [{"name": "console", "size": 1 << 60}],
        [{"name": "console", "size": -1}],
    ],
)
def test_a_hostile_file_writes_nothing_elsewhere(tmp_path: Path, files: list[dict[str, object]]) -> None:
    store, key = RunStore.at(str(tmp_path / "runs")), inputs().key
    digest = hashlib.sha256(b"x").hexdigest()
    header = {
        "key": key, "inputs": {"seed": 1}, "made_at": "2026-11-30T00:00:00+00:00", "txop": "1", "seconds": 1.0,
        "said": [], "status": 0, "checked": True, "files": [{**each, "sha256": digest} for each in files],
    }  # fmt: skip
    line = json.dumps(header).encode() + b"\n"
    path = path_of(tmp_path / "runs", key)
    path.parent.mkdir(parents=True)
    path.write_bytes(f"{MAGIC} {hashlib.sha256(line).hexdigest()}\n".encode() + line + b"x" * len(files))
    taken = tmp_path / "taken"
    assert store.take(key, taken) is None
    assert [each for each in tmp_path.rglob("*") if each.is_file()] == []


def test_a_run_under_another_key_is_not_taken(store: RunStore, tmp_path: Path) -> None:
    other = path_of(tmp_path / "runs", inputs(2).key)
    other.parent.mkdir(exist_ok=True)
    other.write_bytes(path_of(tmp_path / "runs", inputs().key).read_bytes())
    assert store.take(inputs(2).key, tmp_path / "taken") is None


KILLED = """
import sys
from pathlib import Path
from txop.guest import run_places, run_store
from txop.guest.inputs import Inputs
from txop.guest.running import Ended
run_store.CHUNK = 1
store = run_store.RunStore.at(sys.argv[1])
print("begins", flush=True)
store.put(Inputs({"seed": 7}), Path(sys.argv[2]), Ended(0, (), (), 1.0), checked=False)
"""


def test_kill_9_leaves_no_half_of_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = left(tmp_path / "left", {"console": b"x", "events": b"end 1.0 0\n", "files/big": bytes(4 << 20)})
    command = [sys.executable, "-c", KILLED, str(tmp_path / "runs"), str(runs)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        shelf = path_of(tmp_path / "runs", inputs(7).key).parent
        deadline = time.monotonic() + 30
        while not [each for each in shelf.glob(".*.part") if each.stat().st_size > 4096]:
            assert process.poll() is None, "it ended before it was killed: nothing is shown"
            assert time.monotonic() < deadline
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
    store = RunStore.at(str(tmp_path / "runs"))
    assert store.take(inputs(7).key, tmp_path / "taken") is None
    assert store.entries() == []
    (part,) = shelf.glob(".*.part")
    store.put(inputs(7), runs, ENDED, checked=False)
    assert part.exists(), "another machine may be writing it"
    os.utime(part, (1.0, 1.0))
    store.put(inputs(7), runs, ENDED, checked=False)
    assert not part.exists()
    assert store.take(inputs(7).key, tmp_path / "taken") is not None


def test_a_place_that_cannot_be_written_to_says_so(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("a file")
    store = RunStore.at(str(tmp_path / "runs"))
    with pytest.raises(StoreError, match="runs"):
        store.put(inputs(), left(tmp_path / "left"), ENDED, checked=False)


def test_what_was_not_used_for_longest_goes_first(tmp_path: Path) -> None:
    store = RunStore.at(str(tmp_path / "runs"))
    runs = left(tmp_path / "left")
    for seed in range(4):
        store.put(inputs(seed), runs, ENDED, checked=False)
        os.utime(path_of(tmp_path / "runs", inputs(seed).key), (1000.0 + seed, 1000.0 + seed))
    assert [each.key for each in store.entries()] == [inputs(seed).key for seed in range(4)]
    store.take(inputs(0).key, tmp_path / "taken")
    size = store.entries()[0].size
    assert [each.key for each in store.prune(keep_bytes=2 * size)] == [inputs(1).key, inputs(2).key]
    assert [each.key for each in store.prune(unused_s=3600.0)] == [inputs(3).key]
    assert [each.key for each in store.entries()] == [inputs(0).key]


def test_a_folder_keeps_to_its_size_by_itself(tmp_path: Path) -> None:
    runs = left(tmp_path / "left")
    store = RunStore(LocalPlace(tmp_path / "runs"), keep_bytes=6000)
    for seed in range(4):
        store.put(inputs(seed), runs, ENDED, checked=False)
        os.utime(path_of(tmp_path / "runs", inputs(seed).key), (1000.0 + seed, 1000.0 + seed))
    kept = [each.key for each in store.entries()]
    assert kept
    assert set(kept) < {inputs(seed).key for seed in range(4)}
    assert inputs(3).key in kept


def test_ten_thousand_runs_are_looked_up_in_a_second(tmp_path: Path) -> None:
    store = RunStore.at(str(tmp_path / "runs"))
    keys = [inputs(seed).key for seed in range(10_000)]
    for key in keys:
        path = path_of(tmp_path / "runs", key)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    begun = time.process_time()
    assert all(store.has(key) for key in keys)
    assert len(store.entries()) == 10_000
    assert time.process_time() - begun < 1.0


def test_the_place_is_named_or_the_users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv(run_store.VARIABLE, raising=False)
    assert RunStore.at().where == str(tmp_path / "txop" / "runs")
    monkeypatch.setenv(run_store.VARIABLE, str(tmp_path / "team"))
    assert RunStore.at().where == str(tmp_path / "team")
    assert RunStore.at("here").where == "here"
    with pytest.raises(UserError):
        RunStore.at("no-such-store://bucket/runs")


REMOTE = """
import sys
from pathlib import Path
from txop.guest.inputs import Inputs
from txop.guest.exactness import results_sha256
from txop.guest.run_store import RunStore
from txop.guest.running import Ended
import fsspec
left, taken, address = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
store, made = RunStore.at(address), Inputs({"seed": 1})
assert not store.has(made.key) and store.entries() == [] and store.take(made.key, taken) is None
store.put(made, left, Ended(0, (), (), 1.0), checked=True)
again = RunStore.at(address)
assert again.has(made.key) and [each.key for each in again.entries()] == [made.key]
assert again.take(made.key, taken).header.checked
assert results_sha256(left) == results_sha256(taken)
system, path = fsspec.core.url_to_fs(address)
(name,) = system.find(path)
system.pipe_file(name, system.cat_file(name)[:-1])
assert again.take(made.key, taken) is None and not again.has(made.key)
store.put(made, left, Ended(0, (), (), 1.0), checked=True)
assert len(again.prune(keep_bytes=0)) == 1 and again.entries() == []
"""


@pytest.mark.slow
def test_an_address_of_fsspec_keeps_runs(tmp_path: Path) -> None:
    pins = Path(__file__).parents[2] / "requirements" / "cluster.txt"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes"]
    got = subprocess.run([*pip, "--target", tmp_path / "pins", "-r", pins], capture_output=True, text=True, check=False)
    if got.returncode:
        if os.environ.get("CI") == "true":
            pytest.fail(f"fsspec could not be installed: {got.stderr[-500:]}")
        pytest.skip(f"NOT CHECKED: fsspec could not be installed: {got.stderr[-200:]}")
    runs = left(tmp_path / "left")
    for number, address in enumerate((f"local://{tmp_path}/store", "memory://runs")):
        command = [sys.executable, "-c", REMOTE, str(runs), str(tmp_path / f"taken-{number}"), address]
        env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path / "pins"), os.environ.get("PYTHONPATH", "")])}
        subprocess.run(command, env=env, check=True)


def test_an_address_is_shown_without_what_is_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    class Store:
        def isfile(self, _: str) -> bool:
            raise OSError(f"cannot open {address}")

    address = "simplecache::sftp://ci:secret@host/runs?token=hidden"
    monkeypatch.setattr(run_places, "file_system", lambda asked: (Store(), "/runs") if asked == address else None)
    made = RunStore.at(address)
    assert made.where == "simplecache::sftp://host/runs"
    with pytest.raises(StoreError) as raised:
        made.has(inputs().key)
    assert all(word not in raised.value.what for word in ("ci:", "secret", "hidden"))

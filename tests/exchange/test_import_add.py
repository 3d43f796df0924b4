"""Files added to an archive of imported runs: all of it at one moment, or nothing."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

import pytest

import exchange_specimens as specimens
from txop.archive.layout import ArchiveError, ArchiveLock, Layout
from txop.archive.reader import read_archive
from txop.core.errors import UserError
from txop.exchange import add as adding
from txop.exchange.add import add
from txop.exchange.beside import folder_beside
from txop.exchange.imported import DataImportError, Direction
from txop.exchange.recognise import read_file
from txop.exchange.write import Source, write_archive

CAPTURED = Path(__file__).parents[1] / "formats" / "captured"
SAMPLE = Path(__file__).parents[1] / "data" / "archive-v1"
IPERF3 = (CAPTURED / "iperf3/v3.12-tcp-p3-client.txt").read_bytes()


def source(name: str, data: bytes, arm: str | None = None, told: Direction | None = None) -> Source:
    told = told or Direction()
    return Source(name, data, arm, read_file(data, told), told)


def state(root: Path) -> dict[str, str]:
    """Every file with what it holds, but for when it was made."""
    return {
        str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


@pytest.fixture
def theirs(tmp_path) -> Path:
    root = tmp_path / "theirs"
    write_archive(
        root, "theirs", [source("a.txt", IPERF3, "old"), source("wiki.txt", specimens.WIKI.encode())], ["x: half"]
    )
    (root / "board.toml").write_text("mine")
    return root


def test_what_was_there_keeps_its_names_and_what_is_added_is_there(theirs):
    before = {run.run: run.metrics for run in read_archive(theirs).runs}
    written = add(theirs, [source("ping.txt", specimens.PING.encode(), "new")])
    after = read_archive(theirs)
    assert after.damage == []
    now = {run.run: run.metrics for run in after.runs}
    assert {name: now[name] for name in before} == before
    assert written.runs == len(now) - len(before) == 1
    assert written.left_out == []
    assert after.plan.title == "theirs"
    assert "x: half" in str(after.plan.environment), "what could not be read then is still said"
    assert (theirs / "board.toml").read_text() == "mine"
    assert [path for path in theirs.parent.iterdir() if path.name.startswith(".")] == []


def test_an_archive_made_in_steps_is_as_one_made_at_once(tmp_path):
    files = [source("a.txt", IPERF3, "old"), source("ping.txt", specimens.PING.encode(), "new")]
    at_once, in_steps = tmp_path / "at-once", tmp_path / "in-steps"
    write_archive(at_once, "t", files, [])
    write_archive(in_steps, "t", files[:1], [])
    add(in_steps, files[1:])
    one, other = state(at_once), state(in_steps)
    assert one.keys() == other.keys()
    assert {name for name in one if one[name] != other[name]} <= {"archive.json"}


def test_what_was_said_beside_a_file_is_kept(tmp_path):
    root = tmp_path / "theirs"
    ttcp = source("ttcp.txt", specimens.TTCP.encode(), None, Direction(device="host"))
    write_archive(root, "t", [ttcp], [])
    before = {run.run for run in read_archive(root).runs}
    add(root, [source("ping.txt", specimens.PING.encode())])
    assert before <= {run.run for run in read_archive(root).runs}


@pytest.mark.parametrize("step", ["fill", "_exchange"])
def test_whatever_goes_wrong_the_archive_stays(theirs, monkeypatch, step):
    before = state(theirs)

    def fails(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(adding, step, fails)
    with pytest.raises(OSError, match="No space"):
        add(theirs, [source("ping.txt", specimens.PING.encode())])
    assert state(theirs) == before
    assert [path for path in theirs.parent.iterdir() if path.name.startswith(".")] == []


def test_what_cannot_be_added_to(theirs, tmp_path):
    before = state(theirs)
    with pytest.raises(DataImportError, match="already"):
        add(theirs, [source("again.txt", IPERF3, "other")])
    assert state(theirs) == before
    with pytest.raises(DataImportError, match="not an archive of imported files"):
        add(SAMPLE, [source("ping.txt", specimens.PING.encode())])
    with pytest.raises(ArchiveError):
        add(tmp_path, [source("ping.txt", specimens.PING.encode())])
    (theirs / "imported" / "001-a.txt").unlink()
    with pytest.raises(UserError, match="read again"):
        add(theirs, [source("ping.txt", specimens.PING.encode())])


def test_names_in_import_json_stay_in_their_folder(theirs):
    told = theirs / "imported" / "import.json"
    told.write_text(told.read_text().replace("001-a.txt", "../plan.toml"))
    with pytest.raises(DataImportError, match="outside"):
        add(theirs, [source("ping.txt", specimens.PING.encode())])


def _many(runs: int) -> str:
    head = specimens.TTCP.splitlines()[:4]
    return (
        "\n".join([*head, *(f">  {n}:   {600 + n}.00     300      {500 + n}.00   12000" for n in range(runs))]) + "\n"
    )


@pytest.mark.slow
@pytest.mark.parametrize("add_to", [False, True])
def test_a_kill_in_the_middle_leaves_the_archive_as_it_was(program, theirs, tmp_path, add_to):
    place = theirs if add_to else tmp_path / "fresh"
    before = state(place)
    (tmp_path / "many.txt").write_text(_many(1000))
    command = [program, "import", tmp_path / "many.txt", "-o", place, *(["--add"] if add_to else [])]
    beside = f".{place.name}.import-*"
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        while len([*tmp_path.glob(f"{beside}/runs/*/run.json")]) < 20:
            assert process.poll() is None, "it had ended before it could be killed"
        process.kill()
        process.wait()
    assert [*tmp_path.glob(beside)], "it was killed in the middle"
    assert state(place) == before
    assert place.exists() == add_to
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    had = sum(name.startswith("runs/") and name.endswith("/run.json") for name in before)
    assert len(read_archive(place).runs) == had + 1000
    assert [*tmp_path.glob(beside)] == [], "what the killed one left is removed by the next"


def test_what_another_import_is_at_work_in_stays(tmp_path):
    with folder_beside(tmp_path / "a") as first:
        (first / "x").write_text("mine")
        with folder_beside(tmp_path / "a"):
            assert (first / "x").read_text() == "mine"
        with folder_beside(tmp_path / "ab") as other:
            assert first.exists()
            assert other.exists()
    assert list(tmp_path.iterdir()) == []


def test_two_at_once_do_not_lose_what_one_added(theirs):
    before = state(theirs)
    with ArchiveLock(Layout(theirs)), pytest.raises(ArchiveError, match="another txop is writing"):
        add(theirs, [source("ping.txt", specimens.PING.encode())])
    assert state(theirs) == before


def test_the_command_adds_all_or_nothing(txop, theirs, tmp_path):
    before = state(theirs)
    (tmp_path / "ping.txt").write_text(specimens.PING)
    (tmp_path / "half.json").write_bytes(b'{"start": {"connected": [')
    done = txop("import", str(tmp_path / "ping.txt"), str(tmp_path / "half.json"), "--add", "-o", str(theirs))
    assert done.returncode == 2
    assert "Nothing was added" in done.stderr
    assert state(theirs) == before
    assert txop("import", str(tmp_path / "ping.txt"), "--add", "-o", str(theirs)).returncode == 0
    assert state(theirs) != before

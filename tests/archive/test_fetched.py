"""Archives and captures at addresses: a copy of what is read, hostile stores, and a real S3 server."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

import pytest

from txop.archive import fetched
from txop.archive.fetched import archive_at
from txop.archive.reader import ArchiveReader, read_archive
from txop.campaign.progress import read_progress
from txop.core import stores
from txop.core.errors import UserError

ARCHIVE = Path(__file__).parents[1] / "data" / "archive-v1"
PINS = Path(__file__).parents[2] / "requirements" / "stores.txt"


class Store:
    """What is asked of a store: names and contents."""

    def __init__(self, files: dict[str, bytes], broken: type[Exception] | None = None) -> None:
        self.files = files
        self.broken = broken
        self.got: list[str] = []

    def exists(self, name: str) -> bool:
        return name in self.files

    def find(self, root: str) -> list[str]:
        if self.broken is PermissionError:
            raise PermissionError("no key")
        return [name for name in self.files if name.startswith(root)]

    def get(self, names: list[str], paths: list[str]) -> None:
        if self.broken is not None:
            raise self.broken("the line is cut")
        for name, path in zip(names, paths, strict=True):
            Path(path).write_bytes(self.files[name])
            self.got.append(name)


def in_store(monkeypatch, files: dict[str, bytes], broken=None, root: str = "bucket/one") -> Store:
    store = Store(files, broken)
    monkeypatch.setattr(fetched, "file_system", lambda _: (store, root))
    return store


def archive_files(root: str = "bucket/one") -> dict[str, bytes]:
    return {f"{root}/{p.relative_to(ARCHIVE)}": p.read_bytes() for p in ARCHIVE.rglob("*") if p.is_file()}


def test_a_folder_is_itself():
    with archive_at(str(ARCHIVE)) as layout:
        assert (layout.root, layout.named) == (ARCHIVE, str(ARCHIVE))


@pytest.mark.parametrize("captures", [False, True])
def test_a_copy_has_what_is_read(monkeypatch, captures):
    files = archive_files() | {"bucket/one/derived/x.parquet": b"", "bucket/one/build/log": b""}
    store = in_store(monkeypatch, files)
    with archive_at("s3://bucket/one", captures=captures) as layout:
        copy, there = read_archive(layout), read_archive(ARCHIVE)
        assert (copy.plan, copy.events, copy.runs, copy.damage) == (there.plan, there.events, there.runs, there.damage)
        assert [copy.series(run) for run in copy.runs] == [there.series(run) for run in there.runs]
        assert layout.named == "s3://bucket/one"
        root = layout.root
    assert not root.exists()
    assert any(name.endswith(".pcapng") for name in files)
    assert any(name.endswith(".pcapng") for name in store.got) == captures
    assert not any("/derived/" in name or "/build/" in name for name in store.got)


@pytest.mark.parametrize(
    "name", ["../../etc/cron.d/x", "runs/../../x", "runs/001-a-tx/../../../x", "a\0b", "runs/..", ".."]
)
def test_a_name_that_leads_out_is_refused(monkeypatch, tmp_path, name):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    in_store(monkeypatch, archive_files() | {f"bucket/one/{name}": b"x"})
    with pytest.raises(UserError, match="leads out of it"), archive_at("s3://bucket/one"):
        pass
    assert not list(tmp_path.rglob("x"))


@pytest.mark.parametrize(
    ("files", "broken", "words"),
    [
        ({}, None, "is not an archive"),
        ({"bucket/one/plan.toml": b""}, None, "is not an archive"),
        (archive_files(), PermissionError, "cannot be listed: PermissionError: no key"),
        (archive_files(), ConnectionError, "cannot be read: ConnectionError: the line is cut"),
        (archive_files() | {"bucket/one/plan.toml": b"[[["}, None, "plan.toml cannot be read"),
    ],
)
def test_what_is_wrong_names_the_address(monkeypatch, files, broken, words):
    in_store(monkeypatch, files, broken)
    with pytest.raises(UserError) as raised, archive_at("s3://bucket/one") as layout:
        read_archive(layout)
    assert words in raised.value.what
    assert raised.value.where == "s3://bucket/one"


@pytest.mark.parametrize(
    "command",
    [
        ["compare", "s3://bucket/one"],
        ["report", "s3://bucket/one", "-o", "-", "--format", "markdown"],
        ["trend", "s3://bucket/one", "s3://bucket/two"],
        ["trend", "s3://bucket/*"],
        ["export", "s3://bucket/one", "-o", "out"],
        ["watch", "s3://bucket/one"],
        ["board", "s3://bucket/one"],
        ["board", "rtl8xxxu-gardena", "--capture", "s3://bucket/air.pcapng"],
        ["air", "s3://bucket/air.pcapng"],
        ["bus", "s3://bucket/usb.pcapng"],
        ["import", "a=s3://bucket/iperf3.json", "-o", "out"],
    ],
)
def test_an_address_without_fsspec_says_what_is_missing(txop, tmp_path, command):
    done = txop(*command, cwd=tmp_path)
    assert done.returncode == 3, done.stderr
    assert "txop[cluster]" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (["note", "s3://bucket/one", "x"], "appends to a journal"),
        (["resume", "s3://bucket/one"], "appends to a journal"),
        (["run", "plan.toml", "-o", "s3://bucket/one"], "appends to a journal"),
        (["ci", "--plan", "plan.toml", "--series", "x.mbox", "-o", "s3://bucket/one"], "appends to a journal"),
        (
            ["bisect", "--plan", "p.toml", "--good", "a", "--bad", "b", "-o", "s3://bucket/one"],
            "appends to a journal",
        ),
        (["bisect", "--resume", "s3://bucket/one"], "appends to a journal"),
        (["import", "x.json", "-o", "s3://bucket/one"], "by one renaming"),
        (["export", str(ARCHIVE), "-o", "s3://bucket/one"], "takes a path"),
        (["report", str(ARCHIVE), "-o", "s3://bucket/one"], "takes a path"),
        (["compare", str(ARCHIVE), "--csv", "s3://bucket/one"], "takes a path"),
        (["trend", str(ARCHIVE), str(ARCHIVE), "--html", "s3://bucket/one"], "takes a path"),
        (["air", "x.pcapng", "--html", "s3://bucket/one"], "takes a path"),
    ],
)
def test_what_has_to_be_on_this_machine_says_why(txop, tmp_path, command, why):
    done = txop(*command, cwd=tmp_path)
    said = done.stderr.replace("\n", " ")
    assert done.returncode == 2, done.stderr
    assert "s3://bucket/one: is an address" in said
    assert why in said
    assert list(tmp_path.iterdir()) == [], "no folder called s3:"


def test_a_page_of_an_archive_in_a_store_needs_a_name(txop):
    done = txop("report", "s3://bucket/one")
    assert done.returncode == 2
    assert "only read" in done.stderr


def test_a_capture_in_a_store_is_not_followed(txop):
    done = txop("air", "--follow", "s3://bucket/air.pcapng")
    assert done.returncode == 2
    assert "not followed" in done.stderr


class Files:
    """What is asked of a store for single files."""

    def __init__(self, broken: Exception | None = None) -> None:
        self.broken = broken

    def get_file(self, name: str, path: str) -> None:
        if self.broken is not None:
            raise self.broken
        Path(path).write_bytes(b"content")

    def cat_file(self, name: str, start: int, end: int) -> bytes:
        if self.broken is not None:
            raise self.broken
        return b"content"[start:end]

    def glob(self, name: str) -> list[str]:
        return [] if self.broken is not None else ["bucket/2", "bucket/1"]

    def unstrip_protocol(self, key: str) -> str:
        return f"s3://{key}"


@pytest.mark.parametrize("name", ["a/air.pcapng", "..", "a/../../etc/passwd", "a/" + 400 * "x", "a/b c\n;", ""])
def test_a_copy_of_a_file_stays_where_it_belongs(monkeypatch, tmp_path, name):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(stores, "file_system", lambda _: (Files(), name))
    with stores.local_file(f"s3://{name}") as path:
        assert Path(path).read_bytes() == b"content"
        assert Path(path).parent.parent == tmp_path
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("error", [FileNotFoundError(2, "No such file"), ValueError("what a store may raise")])
def test_a_file_that_cannot_be_had_is_an_os_error(monkeypatch, error):
    monkeypatch.setattr(stores, "file_system", lambda _: (Files(error), "a"))
    with pytest.raises(OSError, match=r"No such file|may raise"), stores.local_file("s3://a"):
        pass
    with pytest.raises(OSError, match=r"No such file|may raise"):
        stores.read_file("s3://a", 100)


def test_a_file_that_is_too_large_is_refused(monkeypatch):
    monkeypatch.setattr(stores, "file_system", lambda _: (Files(), "a"))
    assert stores.read_file("s3://a", 7) == b"content"
    with pytest.raises(OSError, match="larger than 6 bytes"):
        stores.read_file("s3://a", 6)


def test_wildcards_stand_for_what_is_there(monkeypatch):
    monkeypatch.setattr(stores, "file_system", lambda _: (Files(), "bucket/*"))
    assert stores.matching("s3://bucket/*") == ["s3://bucket/1", "s3://bucket/2"]
    assert stores.matching("s3://bucket/one") == ["s3://bucket/one"]
    assert stores.matching("zip://*::file:///a.zip") == ["zip://*::file:///a.zip"]
    monkeypatch.setattr(stores, "file_system", lambda _: (Files(ValueError()), "bucket/*"))
    with pytest.raises(UserError, match="nothing of that name"):
        stores.matching("s3://bucket/*")


def test_a_campaign_in_a_store_is_not_called_killed(monkeypatch, tmp_path):
    """Its process is on another machine: that none holds the lock here says nothing."""
    files = archive_files()
    lines = files["bucket/one/journal.jsonl"].splitlines(keepends=True)
    files["bucket/one/journal.jsonl"] = b"".join(line for line in lines if b"campaign-finished" not in line)
    in_store(monkeypatch, files)
    with archive_at("s3://bucket/one") as layout:
        _, now = read_progress(ArchiveReader(layout))
    assert (now.doing, now.archive, now.seconds_to_come) == ("not determined", "s3://bucket/one", None)
    in_store(monkeypatch, archive_files())
    with archive_at("s3://bucket/one") as layout:
        assert read_progress(ArchiveReader(layout))[1].doing == "finished"


# Real stores: fsspec, s3fs and moto in their pinned versions.


@pytest.fixture(scope="module")
def pinned(tmp_path_factory) -> dict[str, str]:
    """The environment in which programs find them."""
    place = tmp_path_factory.mktemp("stores")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target", place]
    done = subprocess.run([*pip, "--require-hashes", "-r", PINS], check=False, capture_output=True, text=True)
    if done.returncode:
        if os.environ.get("CI") == "true":
            pytest.fail(f"moto could not be installed: {done.stderr[-500:]}")
        pytest.skip(f"NOT CHECKED: moto could not be installed: {done.stderr[-200:]}")
    return {"PYTHONPATH": str(place)}


@contextlib.contextmanager
def s3_server(environment: dict[str, str], log: Path):
    """A bucket on this machine; yields the variables with which s3fs finds it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    keys = {
        **environment,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
    }
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    with log.open("w") as out, subprocess.Popen(command, env={**os.environ, **keys}, stdout=out, stderr=out) as server:
        try:
            until = time.monotonic() + 60
            while time.monotonic() < until:
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                    break
                assert server.poll() is None, log.read_text()
                time.sleep(0.1)
            yield keys
        finally:
            server.terminate()
            server.wait(30)


PUT = """
import sys, fsspec
system = fsspec.filesystem("s3")
system.mkdir("bucket")
system.put(sys.argv[1], "bucket/", recursive=True)
"""


@pytest.fixture
def campaign(tmp_path) -> Path:
    """An archive whose captures are captures."""
    from txop import _native

    shutil.copytree(ARCHIVE, tmp_path / "campaign")
    for path in sorted((tmp_path / "campaign").glob("runs/*-vanilla-*/air.pcapng")):
        _native.write_specimen(str(path), seed=1, seconds=0.5, scene="healthy")
    return tmp_path / "campaign"


def steps(trend: dict) -> list:
    """What a trend says, but for the names of its archives."""
    return [[*figure["points"], *({**step, "sentence": ""} for step in figure["steps"])] for figure in trend["figures"]]


def same_everywhere(txop, campaign: Path, address: str, environment: dict[str, str], tmp_path: Path) -> None:
    """Each command gives of the address what it gives of the folder."""

    def said(*arguments: str, code: int = 0) -> str:
        done = txop(*arguments, env=environment)
        assert done.returncode == code, done.stderr
        return str(done.stdout)

    for command in (["compare", "--json"], ["report", "--format", "markdown", "-o", "-"]):
        here, there = (said(command[0], place, *command[1:]) for place in (str(campaign), address))
        assert there.replace(address, str(campaign)) == here, command
    both = json.loads(said("compare", str(campaign), address, "--arm", "vanilla", "--json"))
    assert [source["path"] for source in both["sources"]] == [str(campaign), address]
    board = ("--board", "rtl8xxxu-gardena", "--arm", "vanilla", "--json")
    here, there = (json.loads(said("board", place, *board)) for place in (str(campaign), address))
    assert json.dumps(there).replace(address, str(campaign)) == json.dumps(here)
    assert any(line["answer"] == "shown" for each in there["certificates"] for line in each["lines"])
    page = tmp_path / "page.html"
    said("report", address, "-o", str(page))
    assert "txop-archive-" not in page.read_text()
    here, there = (json.loads(said("trend", str(campaign), place, "--json")) for place in (str(campaign), address))
    assert there["releases"][1]["path"] == address
    assert steps(there) == steps(here) != []
    for name, place in (("here", str(campaign)), ("there", address)):
        said("export", place, "--format", "flent", "-o", str(tmp_path / name), "--json")
    exported = [{p.name: p.read_bytes() for p in (tmp_path / name).iterdir()} for name in ("here", "there")]
    assert exported[0] == exported[1] != {}
    here, there = (said("watch", place, "--json") for place in (str(campaign), address))
    assert there.replace(address, str(campaign)) == here
    assert "Finished" in said("watch", address)


CAPTURE = "runs/001-vanilla-tx/air.pcapng"


def same_captures(txop, campaign: Path, address: str, environment: dict[str, str]) -> None:
    """A capture at an address gives what the file gives."""
    here, there = (txop("air", f"{place}/{CAPTURE}", "--json", env=environment).stdout for place in (campaign, address))
    assert there.replace(f"{address}/{CAPTURE}", f"{campaign}/{CAPTURE}") == here
    assert json.loads(there)["path"] == f"{address}/{CAPTURE}"
    board = ("board", "rtl8xxxu-gardena", "--capture", f"{address}/{CAPTURE}", "--json")
    done = txop(*board, env=environment)
    assert done.returncode == 0, done.stderr
    assert f"{address}/{CAPTURE}" in done.stdout
    assert "txop-file-" not in done.stdout
    wrong = txop("bus", f"{address}/plan.toml", env=environment)
    assert wrong.returncode == 2
    assert f"{address}/plan.toml" in wrong.stderr.replace("\n", "")
    assert "txop-file-" not in wrong.stderr
    missing = txop("air", f"{address}/nothing.pcapng", env=environment)
    assert missing.returncode == 2, missing.stderr
    assert f"{address}/nothing.pcapng: No such file" in missing.stderr.replace("\n", " ")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["local", "file", "zip", "tar"])
def test_archives_at_addresses_of_files(pinned, txop, campaign, tmp_path, kind):
    if kind in ("local", "file"):
        address = f"{kind}://{campaign}"
        same_captures(txop, campaign, address, pinned)
    else:
        packed = shutil.make_archive(str(tmp_path / "packed"), kind, campaign)
        address = f"{kind}://::file://{packed}"
    same_everywhere(txop, campaign, address, pinned, tmp_path)


@pytest.mark.slow
def test_a_zip_whose_names_lead_out(pinned, txop, tmp_path):
    path = tmp_path / "evil.zip"
    with zipfile.ZipFile(path, "w") as out:
        out.writestr("archive.json", (ARCHIVE / "archive.json").read_text())
        out.writestr("../../outside.txt", "x")
    done = txop("compare", f"zip://::file://{path}", env=pinned)
    assert done.returncode == 2
    assert "leads out of it" in done.stderr or "plan.toml" in done.stderr
    assert not list(tmp_path.parent.glob("**/outside.txt"))


@pytest.mark.slow
def test_an_object_store(pinned, txop, campaign, tmp_path):
    """An S3 server, an archive and captures in it, and a data set made there."""
    with s3_server(pinned, tmp_path / "moto.log") as store:
        subprocess.run([sys.executable, "-c", PUT, campaign], env={**os.environ, **store}, check=True)
        same_everywhere(txop, campaign, "s3://bucket/campaign", store, tmp_path)
        same_captures(txop, campaign, "s3://bucket/campaign", store)
        captures = "s3://bucket/campaign/runs"
        for read in (len([*ARCHIVE.glob("runs/*/air.pcapng")]), 0):
            done = txop("air", captures, "--to-parquet", "s3://bucket/air", "--json", env=store)
            assert done.returncode == 0, done.stderr
            said = json.loads(done.stdout)
            assert (said["read"], said["failed"]) == (read, [])
        done = txop("compare", "s3://bucket/nothing", env=store)
        assert done.returncode == 2
        assert "s3://bucket/nothing: is not an archive" in done.stderr.replace("\n", " ")
        done = txop("compare", "s3://no-such-bucket/campaign", env=store)
        assert done.returncode == 2, done.stderr
        assert "Traceback" not in done.stderr

"""Many captures as one Parquet data set: rows, resuming, bad captures, a cluster that loses a worker."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars
import pytest

from dying_reader import read_or_die
from txop.air import analyze
from txop.air.dataset import Settings, build, processes, tables
from txop.air.dataset.places import sources
from txop.core.errors import UserError

PINS = Path(__file__).parents[2] / "requirements" / "cluster.txt"
ONE = Settings(jobs=1)


def specimen(path: Path, seed: int = 1, seconds: float = 0.5, scene: str = "healthy") -> Path:
    from txop import _native

    path.parent.mkdir(parents=True, exist_ok=True)
    _native.write_specimen(str(path), seed=seed, seconds=seconds, scene=scene)
    return path


@pytest.fixture
def captures(tmp_path) -> Path:
    """Two good captures, one in a folder below, a cut one, one that is not a capture, and a file that is ignored."""
    folder = tmp_path / "captures"
    specimen(folder / "a.pcapng")
    specimen(folder / "below" / "b.pcap", seed=2, scene="ghosts")
    whole = specimen(tmp_path / "whole.pcapng", seed=3).read_bytes()
    (folder / "cut.pcapng").write_bytes(whole[: len(whole) // 2])
    (folder / "none.pcap").write_bytes(b"not a capture")
    (folder / "notes.txt").write_text("not a capture")
    return folder


def rows(out, table: str) -> polars.DataFrame:
    return polars.read_parquet(f"{out}/{table}/*.parquet")


def test_rows_are_those_of_the_reports(captures, tmp_path):
    out = tmp_path / "out"
    built = build([str(captures)], str(out), ONE)
    assert (built.captures, built.read, built.before) == (4, 3, 0)
    assert {done.kind for done in built.failed} == {"damaged", "unreadable"}
    read = {Path(name).name for name in rows(out, "captures")["capture"]}
    assert read == {"a.pcapng", "b.pcap", "cut.pcapng"}
    for name in ("a.pcapng", "below/b.pcap", "cut.pcapng"):
        report = analyze(captures / name)
        mine = polars.col("capture") == str(captures / name)
        for table in tables.OF_REPORTS:
            assert rows(out, table).filter(mine).drop("capture", "origin").equals(report.table(table))
        (facts,) = rows(out, "captures").filter(mine).to_dicts()
        assert (facts["frames"], facts["stations"]) == (report.frames, len(report.stations))
        assert facts["origin"] == report.origin
    assert set(rows(out, "captures")["origin"]) == {"simulated", "imported"}
    errors = {Path(row["capture"]).name: row for row in rows(out, "errors").to_dicts()}
    assert set(errors) == {"cut.pcapng", "none.pcap"}
    assert errors["cut.pcapng"]["kind"] == "damaged"
    assert errors["none.pcap"]["kind"] == "unreadable"


def test_what_is_done_is_left_out_and_what_changed_is_read_again(captures, tmp_path):
    out = tmp_path / "out"
    build([str(captures)], str(out), ONE)
    before = rows(out, "captures").sort("capture")
    again = build([str(captures)], str(out), ONE)
    assert (again.read, again.before, again.damaged_before) == (0, 3, 1)
    assert [done.kind for done in again.failed] == ["unreadable"], "what failed is tried again"
    assert rows(out, "captures").sort("capture").equals(before)
    specimen(captures / "a.pcapng", seed=9, seconds=1.0)
    specimen(captures / "none.pcap", seed=8)
    third = build([str(captures)], str(out), ONE)
    assert (third.read, third.before) == (2, 2)
    now = rows(out, "captures")
    assert now.height == 4
    assert now["capture"].n_unique() == 4, "the rows of a.pcapng as it was are gone"
    assert set(rows(out, "errors")["kind"]) == {"damaged"}


def test_an_interrupted_capture_is_read_again(captures, tmp_path):
    """Its row in captures comes last: without it nothing of it counts, and what was there is written again."""
    out = tmp_path / "out"
    build([str(captures)], str(out), ONE)
    whole = {table: rows(out, table).sort("capture") for table in tables.OF_REPORTS}
    for path in (out / "captures").glob("*-*.parquet"):
        path.unlink()
    next((out / "links").glob("*-*.parquet")).unlink()
    assert build([str(captures)], str(out), ONE).read == 3
    for table, was in whole.items():
        assert rows(out, table).sort("capture").equals(was)


def test_a_table_without_rows_can_be_asked(tmp_path):
    (tmp_path / "x.pcap").write_bytes(b"")
    out = tmp_path / "out"
    build([str(tmp_path / "x.pcap")], str(out), ONE)
    for table in tables.NAMES:
        found = rows(out, table)
        assert found.columns == list(tables.columns(table))
        assert found.height == (1 if table == "errors" else 0)


def test_a_capture_that_kills_its_process_costs_itself_only(captures, tmp_path, monkeypatch):
    monkeypatch.setattr(processes, "read_into", read_or_die)
    shutil.copy(captures / "a.pcapng", captures / "deadly.pcapng")
    out = tmp_path / "out"
    built = build([str(captures)], str(out), Settings(jobs=2))
    assert built.read == 3
    kinds = {Path(row["capture"]).name: row["kind"] for row in rows(out, "errors").to_dicts()}
    assert kinds["deadly.pcapng"] == "worker-died"
    assert rows(out, "captures").height == 3


def test_what_stands_for_nothing(tmp_path):
    (tmp_path / "empty").mkdir()
    for name in ("empty", "nothing"):
        with pytest.raises(UserError):
            sources([str(tmp_path / name)])
    specimen(tmp_path / "a.pcap")
    assert len(sources([str(tmp_path), str(tmp_path / "a.pcap")])) == 1, "each capture once"


def test_the_command(txop, captures, tmp_path):
    out = tmp_path / "out"
    done = txop("air", str(captures), "--to-parquet", str(out), "--jobs", "1", "--json")
    assert done.returncode == 4
    said = json.loads(done.stdout)
    assert (said["format"], said["captures"], said["read"]) == ("txop-air-dataset", 4, 3)
    assert {Path(each["address"]).name for each in said["failed"]} == {"cut.pcapng", "none.pcap"}
    for wrong in (["--csv", "x"], ["--packets"], ["--jobs", "0"]):
        assert txop("air", str(captures), "--to-parquet", str(out), *wrong).returncode == 2
    assert txop("air", str(captures / "a.pcapng"), "--jobs", "2").returncode == 2


# A real cluster: scheduler and workers are processes of Dask in its pinned version.


@pytest.fixture(scope="module")
def pinned(tmp_path_factory) -> Path:
    """A folder with the pinned packages, to be put on the path of programs."""
    place = tmp_path_factory.mktemp("cluster")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target", place]
    done = subprocess.run([*pip, "--require-hashes", "-r", PINS], check=False, capture_output=True, text=True)
    if done.returncode:
        if os.environ.get("CI") == "true":
            pytest.fail(f"Dask could not be installed: {done.stderr[-500:]}")
        pytest.skip(f"NOT CHECKED: Dask could not be installed: {done.stderr[-200:]}")
    return place


@contextlib.contextmanager
def started(*command: str, env: dict[str, str], log: Path):
    with log.open("w") as out, subprocess.Popen(command, env=env, stdout=out, stderr=out) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.terminate()
                try:
                    process.wait(30)
                except subprocess.TimeoutExpired:
                    process.kill()


def until(holds, process: subprocess.Popen, log: Path):
    while not holds():
        assert process.poll() is None, log.read_text()[-2000:]
        time.sleep(0.05)


@pytest.mark.slow
def test_a_cluster_of_which_a_worker_is_killed_gives_the_same(pinned, program, tmp_path):
    folder = tmp_path / "captures"
    for seed in range(24):
        specimen(folder / f"{seed:02d}.pcapng", seed=seed, seconds=1.5)
    (folder / "none.pcap").write_bytes(b"not a capture")
    build([str(folder)], str(tmp_path / "here"), Settings(jobs=2))
    env = {**os.environ, "PYTHONPATH": str(pinned), "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "3"}
    log, facts = tmp_path / "scheduler.log", tmp_path / "scheduler.json"
    scheduler = (sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0")
    worker = (sys.executable, "-m", "distributed.cli.dask_worker", "--scheduler-file", str(facts), "--nthreads", "1")
    with contextlib.ExitStack() as cluster:
        run = cluster.enter_context(
            started(*scheduler, "--no-dashboard", "--scheduler-file", str(facts), env=env, log=log)
        )
        until(lambda: facts.exists() and facts.stat().st_size, run, log)
        address = json.loads(facts.read_text())["address"]
        workers = [
            cluster.enter_context(
                started(
                    *worker,
                    "--no-nanny",
                    "--no-dashboard",
                    "--local-directory",
                    str(tmp_path / f"w{n}"),
                    env=env,
                    log=tmp_path / f"worker{n}.log",
                )
            )
            for n in range(3)
        ]
        for n, each in enumerate(workers):
            here = tmp_path / f"worker{n}.log"
            until(lambda here=here: "Registered to" in here.read_text(), each, here)
        out, said = tmp_path / "there", tmp_path / "txop.log"
        command = (str(program), "air", str(folder), "--to-parquet", str(out), "--cluster", address, "--json")
        client = cluster.enter_context(started(*command, env=env, log=said))
        until(lambda: len([*(out / "captures").glob("*-*.parquet")]) >= 2, client, said)
        workers[0].send_signal(signal.SIGKILL)
        done = len([*(out / "captures").glob("*-*.parquet")])
        assert done < 24, "the worker was killed when everything was done: nothing is shown"
        assert client.wait(600) == 4, said.read_text()
        text = said.read_text()
        assert json.loads(text[text.index("{\n") :])["read"] == 24
    assert workers[0].returncode == -signal.SIGKILL
    for table in tables.NAMES:
        here, there = (
            rows(tmp_path / place, table).select(polars.exclude("reading_s")).sort(polars.all())
            for place in ("here", "there")
        )
        assert here.equals(there), table


@pytest.mark.slow
def test_duckdb_reads_it(pinned, captures, tmp_path):
    out = tmp_path / "out"
    build([str(captures)], str(out), ONE)
    env = {**os.environ, "PYTHONPATH": str(pinned)}
    ask = (
        "import duckdb, sys\n"
        "sql = f\"SELECT count(*), sum(data_frames) FROM read_parquet('{sys.argv[1]}/links/*.parquet') AS l JOIN "
        "read_parquet('{sys.argv[1]}/captures/*.parquet') AS c USING (capture)\"\n"
        "print(*duckdb.sql(sql).fetchall()[0])\n"
    )
    asked = subprocess.run([sys.executable, "-c", ask, out], env=env, check=True, capture_output=True, text=True)
    links = rows(out, "links")
    assert asked.stdout.split() == [str(links.height), str(links["data_frames"].sum())]


@pytest.mark.slow
def test_an_address_of_fsspec(pinned, program, tmp_path):
    specimen(tmp_path / "store" / "a.pcapng")
    env = {**os.environ, "PYTHONPATH": str(pinned)}
    addresses = (f"local://{tmp_path}/store", "--to-parquet", f"local://{tmp_path}/out")
    for read in (1, 0):
        done = subprocess.run([program, "air", *addresses, "--json"], env=env, check=True, capture_output=True)
        assert json.loads(done.stdout)["read"] == read
    (name,) = rows(tmp_path / "out", "captures")["capture"]
    assert name.startswith("local://")
    assert rows(tmp_path / "out", "stations").height == len(analyze(tmp_path / "store" / "a.pcapng").stations)


def test_a_store_without_fsspec_says_what_is_missing(txop, tmp_path):
    done = txop("air", "s3://bucket/captures", "--to-parquet", str(tmp_path / "out"))
    assert done.returncode == 3
    assert "txop[cluster]" in done.stderr

"""Exact guests on the workers of a cluster: the same bytes as here, and a worker that is killed costs time only."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from txop.archive.reader import read_archive
from txop.cli.app import main

PINS = Path(__file__).parents[2] / "requirements" / "cluster.txt"
PLAN = """
title = "x"
[target.dut]
kind = "guest"
[target.peer]
kind = "guest"
[guest]
mips = 250
ap = "builtin"
start = "associated"
check_exact = "none"
[[arm]]
name = "whole"
[[arm]]
name = "narrow"
[arm.guest]
parameters = { swenc = 1 }
[[test]]
name = "tx"
kind = "tcp-tx"
duration_s = 1
warm_up_s = 0
[[test]]
name = "rtt"
kind = "latency"
duration_s = 1
warm_up_s = 0
[design]
blocks = 2
idle_s = 0
gap_s = 0
max_repeats = 0
"""


def test_without_dask_it_says_what_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "plan.toml").write_text(PLAN)
    with pytest.raises(SystemExit) as ended:
        main(["run", str(tmp_path / "plan.toml"), "-o", str(tmp_path / "out"), "--cluster", "tcp://127.0.0.1:1"])
    assert ended.value.code == 3
    assert "txop[cluster]" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["survey", "cycle", "explore"])
def test_trials_without_dask_say_what_is_missing(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["guest", command, "--cluster", "tcp://127.0.0.1:1"])
    assert ended.value.code == 3
    assert "txop[cluster]" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["survey", "cycle"])
def test_trials_there_are_exact(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["guest", command, "--mode", "fast", "--cluster", "tcp://127.0.0.1:1"])
    assert ended.value.code == 2
    assert "exact" in capsys.readouterr().err


def test_only_exact_guests_go_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = PLAN.replace('start = "associated"\n', 'mode = "fast"\n').replace("mips = 250\n", "")
    (tmp_path / "plan.toml").write_text(text.replace('check_exact = "none"\n', ""))
    with pytest.raises(SystemExit) as ended:
        main(["run", str(tmp_path / "plan.toml"), "-o", str(tmp_path / "out"), "--cluster", "tcp://127.0.0.1:1"])
    assert ended.value.code == 2
    assert "exact" in capsys.readouterr().err


@pytest.fixture
def pinned(tmp_path: Path) -> Path:
    """A folder with Dask."""
    place = tmp_path / "pins"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target", str(place)]
    done = subprocess.run([*pip, "--require-hashes", "-r", PINS], check=False, capture_output=True, text=True)
    if done.returncode:
        if os.environ.get("CI") == "true":
            pytest.fail(f"Dask could not be installed: {done.stderr[-500:]}")
        pytest.skip(f"NOT CHECKED: Dask could not be installed: {done.stderr[-200:]}")
    return place


@contextlib.contextmanager
def started(*command: str, env: dict[str, str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("wb") as out, subprocess.Popen(command, env=env, stdout=out, stderr=out) as process:
        try:
            yield process
        finally:
            process.kill()


def until(condition: Callable[[], object], process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 600
    while not condition():
        assert time.monotonic() < deadline, log.read_text()[-2000:]
        assert process.poll() is None, log.read_text()[-2000:]
        time.sleep(0.05)


def registered(log: Path) -> bool:
    return "Registered to" in log.read_text()


def children(pid: int) -> list[int]:
    """QEMU is a child of a worker's thread."""
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):
            found += [int(word) for word in (task / "children").read_text().split()]
    return found


@dataclass
class Cluster:
    """A scheduler of this machine with its workers."""

    address: str
    workers: list[subprocess.Popen[bytes]]
    env: dict[str, str]


@contextlib.contextmanager
def cluster_of(size: int, pinned: Path, tmp_path: Path) -> Iterator[Cluster]:
    path = os.pathsep.join([str(pinned), *filter(None, [os.environ.get("PYTHONPATH")])])
    env = {**os.environ, "PYTHONPATH": path, "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "3"}
    facts, log = tmp_path / "scheduler.json", tmp_path / "scheduler.log"
    scheduler = (sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0")
    worker = (sys.executable, "-m", "distributed.cli.dask_worker", "--scheduler-file", str(facts), "--nthreads", "1")
    with contextlib.ExitStack() as stack:
        given = (*scheduler, "--no-dashboard", "--scheduler-file", str(facts))
        run = stack.enter_context(started(*given, env=env, log=log))
        until(lambda: facts.exists() and facts.stat().st_size, run, log)
        workers = []
        for n in range(size):
            place = ("--no-nanny", "--no-dashboard", "--local-directory", str(tmp_path / f"w{n}"))
            own = tmp_path / f"worker{n}.log"
            workers.append(stack.enter_context(started(*worker, *place, env=env, log=own)))
            until(partial(registered, own), workers[-1], own)
        yield Cluster(json.loads(facts.read_text())["address"], workers, env)


def trials(folder: Path) -> dict[str, dict[str, object]]:
    """How the trials below a folder ended, without what they took here."""
    found = {}
    for path in sorted(folder.rglob("trial.json")):
        end = json.loads(path.read_text())
        found[path.parent.name] = {key: value for key, value in end.items() if key != "seconds"}
    return found


@pytest.mark.slow
@pytest.mark.usefixtures("image", "chips")
def test_trials_of_a_survey_end_there_as_here(pinned: Path, tmp_path: Path) -> None:
    survey = ("guest", "survey", "--driver", "rtl8xxxu", "--faults", "unplug", "--mips", "250", "--json")
    with cluster_of(1, pinned, tmp_path) as cluster:
        shown = {}
        for place, more in (("here", ()), ("there", ("--cluster", cluster.address))):
            program = (sys.executable, "-m", "txop", *survey, "-o", str(tmp_path / place), *more)
            done = subprocess.run(program, env=cluster.env, capture_output=True, text=True, check=False, timeout=1800)
            assert done.returncode == 0, done.stderr
            shown[place] = {(row["fault"], row["driver"]): row["verdicts"] for row in json.loads(done.stdout)["rows"]}
    assert shown["here"] == shown["there"]
    assert trials(tmp_path / "there") == trials(tmp_path / "here") != {}
    for path in (tmp_path / "here").rglob("console"):
        assert (tmp_path / "there" / path.relative_to(tmp_path / "here")).read_bytes() == path.read_bytes()


@pytest.mark.slow
@pytest.mark.usefixtures("image", "chips")
def test_three_workers_of_which_one_is_killed_give_the_same_bytes(
    pinned: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "plan.toml").write_text(PLAN)
    with contextlib.suppress(SystemExit):
        main(["run", str(tmp_path / "plan.toml"), "-o", str(tmp_path / "here"), "--no-report", "--no-cache", "-q"])
    with cluster_of(3, pinned, tmp_path) as cluster, contextlib.ExitStack() as stack:
        said = tmp_path / "txop.log"
        command = ("run", str(tmp_path / "plan.toml"), "-o", str(tmp_path / "there"), "--no-report", "--no-cache", "-q")
        program = (sys.executable, "-m", "txop", *command, "--cluster", cluster.address)
        client = stack.enter_context(started(*program, env=cluster.env, log=said))
        first = cluster.workers[0]
        until(lambda: children(first.pid), client, said)
        first.send_signal(signal.SIGKILL)
        assert client.wait(1800) == 0, said.read_text()
        assert first.wait(10) == -signal.SIGKILL
    here, there = (read_archive(tmp_path / place) for place in ("here", "there"))
    assert len(there.runs) == 8
    assert [run.void for run in there.runs] == [[]] * 8
    for one, other in zip(here.runs, there.runs, strict=True):
        assert one.run == other.run
        assert one.verified["guest_sha256"] == other.verified["guest_sha256"], one.run
        assert one.metrics == other.metrics

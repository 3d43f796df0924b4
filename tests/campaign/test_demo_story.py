"""Two demos, one on a machine as it is and one with twice as many busy processes as processors: both say the same."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping

import pytest

from txop.compare.result import CompareResult
from txop.process.held import DIES_WITH_PARENT

pytestmark = pytest.mark.slow

ENOUGH = 6
"""Pairs from which on the exact test can decide at 95 %."""


@pytest.fixture(autouse=True)
def _possible():
    missing = [program for program in ("iperf3", "ping", "nsenter") if shutil.which(program) is None]
    if missing or not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        pytest.skip(f"emulated links need {', '.join(missing) or '/dev/net/tun'}")


@contextlib.contextmanager
def busy_machine() -> Iterator[None]:
    hogs = [
        subprocess.Popen([*DIES_WITH_PARENT, sys.executable, "-c", "while True: pass"])
        for _ in range(2 * (os.cpu_count() or 1))
    ]
    try:
        yield
    finally:
        for hog in hogs:
            hog.kill()
            hog.wait()


def verdicts(result: CompareResult) -> dict[tuple[str, str, str], tuple[str, str]]:
    """Role and verdict of each comparison that had enough pairs: by figure, arm, and what it is compared with."""
    found: dict[tuple[str, str, str], tuple[str, str]] = {}
    for figure in result.figures:
        for row in figure.rows:
            if row.n >= ENOUGH:
                found[figure.name, row.arm, result.baseline] = figure.role, row.verdict
        for row in figure.direct:
            if row.n >= ENOUGH:
                found[figure.name, row.arm, row.against] = figure.role, row.verdict
    return found


def contradictions(
    one: Mapping[tuple[str, str, str], tuple[str, str]], other: Mapping[tuple[str, str, str], tuple[str, str]]
) -> list[str]:
    """Where one calls better what the other calls worse, and primary comparisons with any other verdict."""
    said = []
    for key in one.keys() & other.keys():
        (role, first), (_, second) = one[key], other[key]
        if {first, second} == {"better", "worse"} or (role == "primary" and first != second):
            said.append(f"{key}: {first}, {second}")
    return sorted(said)


def test_contradictions_are_found():
    key, exploratory = ("tx.throughput_mbit_s", "a", "b"), ("tx.rtt_p50_ms", "a", "b")
    assert contradictions({key: ("primary", "better")}, {key: ("primary", "equal")})
    assert contradictions({exploratory: ("secondary", "better")}, {exploratory: ("secondary", "worse")})
    assert not contradictions({exploratory: ("secondary", "better")}, {exploratory: ("secondary", "unclear")})


def test_a_busy_machine_tells_the_same_story(txop, tmp_path):
    stories = {}
    for name, load in (("as it is", contextlib.nullcontext()), ("busy", busy_machine())):
        with load:
            done = txop("demo", "-o", str(tmp_path / name), "--no-open", "--json", "--quiet", timeout=1800)
        assert done.returncode == 0, done.stderr
        stories[name] = CompareResult.model_validate(json.loads(done.stdout))
    one, other = (verdicts(stories[name]) for name in ("as it is", "busy"))
    primary = [key for key, (role, _) in one.items() if role == "primary" and key in other]
    late = [cause for result in stories.values() for void in result.voided for cause in void.causes]
    if not primary and late:
        pytest.skip(f"this machine is too busy for an emulated link: {late[0]}")
    assert len(primary) == 3, "aggregation and fewer-interrupts against vanilla, aggregation against fewer-interrupts"
    assert not contradictions(one, other)
    # What both call worse is at least half of what either does; the rest is not decided on one side.
    worse = [{key for key, (_, verdict) in story.items() if verdict == "worse"} for story in (one, other)]
    assert len(worse[0] & worse[1]) >= 0.5 * max(map(len, worse)), [sorted(each) for each in worse]

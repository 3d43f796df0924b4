"""A campaign, watched from another terminal."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time

import pytest

from txop.archive.damage import Code
from txop.archive.layout import ArchiveLock, lock_is_held
from txop.archive.reader import ArchiveReader, read_archive
from txop.campaign.engine import Campaign
from txop.campaign.progress import read_progress
from txop.core.errors import UserError

from .conftest import Noted

SLOW = """
import asyncio, sys
from pathlib import Path
sys.path[:0] = [{tests!r}]
from campaign.conftest import Bench, FakeTestbed, PLAN, Noted
from txop.archive.reader import ArchiveReader
from txop.campaign.engine import Campaign
bench = Bench(Path({root!r}), PLAN.replace("duration_s = 0.001", "duration_s = 1.0"))
asyncio.run(Campaign(bench.layout, bench.plan, FakeTestbed(lambda run: None), Noted([])).go())
"""


def test_the_lock_is_seen_without_trying_it(bench):
    assert lock_is_held(bench.layout) is False
    with ArchiveLock(bench.layout):
        assert lock_is_held(bench.layout) is True
    assert lock_is_held(bench.layout) is False


def test_a_complete_archive(bench, txop):
    bench.go(lambda run: "gate" if run == "001-new-rx" else None)
    done = txop("watch", str(bench.layout.root), "--json")
    assert done.returncode == 0, done.stderr
    now = json.loads(done.stdout)
    assert (now["format"], now["version"], now["doing"]) == ("txop-watch", 1, "finished")
    assert (now["valid"], now["void"], now["runs_to_come"], now["under_way"]) == (13, 1, 0, [])
    assert now["seconds_to_come"] is None
    done = txop("watch", str(bench.layout.root))
    assert done.returncode == 0
    assert "Finished: 13 valid and 1 void runs" in done.stdout


def test_each_moment_of_a_campaign(bench):
    seen = []

    class Watching(Noted):
        def phase(self, words, seconds):
            if words == "measure":
                _, now = read_progress(ArchiveReader(bench.layout.root))
                seen.append(now)

    asyncio.run(Campaign(bench.layout, bench.plan, bench.testbed, Watching([])).go())
    assert len(seen) == 12
    assert {now.doing for now in seen} == {"running"}
    assert [now.valid for now in seen] == list(range(12))
    assert [now.runs_to_come for now in seen] == list(range(12, 0, -1))
    assert [now.block for now in seen] == [1] * 4 + [2] * 4 + [3] * 4
    for now, before in zip(seen[1:], seen[:-1], strict=True):
        (run,) = before.under_way
        assert run.seconds is not None
        assert now.last == run.run
    assert all(now.seconds_to_come is not None and now.seconds_to_come >= 0 for now in seen)


def test_each_look_opens_what_is_new(bench):
    """Over the looks of a campaign, every run.json is opened once, the journal only when it has grown."""
    root = str(bench.layout.root)
    reader = ArchiveReader(bench.layout.root)
    opened: list[str] = []
    looking = False

    def note(event, arguments):
        if looking and event == "open" and str(arguments[0]).startswith(root) and os.path.exists(arguments[0]):  # noqa: PTH110
            opened.append(os.path.relpath(str(arguments[0]), root))

    sys.addaudithook(note)
    each: list[list[str]] = []

    def seen():
        nonlocal looking
        opened.clear()
        looking = True
        archive, now = read_progress(reader)
        looking = False
        each.append(list(opened))
        fresh = read_archive(bench.layout.root)
        assert (archive.plan, archive.events, archive.runs) == (fresh.plan, fresh.events, fresh.runs)
        assert archive.damage == fresh.damage
        return now

    class Watching(Noted):
        def phase(self, words, seconds):
            if words == "measure":
                seen()
                seen()

    asyncio.run(Campaign(bench.layout, bench.plan, bench.testbed, Watching([])).go())
    assert seen().doing == "finished"
    assert seen().valid == 12
    names = [name for looked in each for name in looked]
    runs = sorted(name for name in names if name.startswith("runs/"))
    assert runs == sorted(f"runs/{run.run}/run.json" for run in read_archive(bench.layout.root).runs)
    assert names.count("plan.toml") == 1
    assert [looked.count("journal.jsonl") for looked in each] == [1, 0] * 13
    assert all(looked == [] for looked in each[1::2]), "nothing had changed"


def test_what_was_replaced_is_read_again(bench):
    reader = ArchiveReader(bench.layout.root)
    bench.go()
    before = reader.read()
    journal = bench.layout.journal
    whole = journal.read_bytes()
    lines = whole.splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:-1]) + lines[-1][:20])
    assert reader.read().events == before.events[:-1]
    assert "cut short after 20 bytes" in reader.read().damage[0]
    with journal.open("ab") as end:
        end.write(lines[-1][20:])
    assert (reader.read().events, reader.read().damage) == (before.events, [])
    journal.write_bytes(b"".join(lines[1:]) + b"\n" * len(lines[0]))
    assert reader.read().events == before.events[1:], "another journal of the same size"
    journal.write_bytes(whole)
    run = bench.layout.run(before.runs[0].run)
    text = (run / "run.json").read_text()
    run.rename(run.with_name(f"{run.name}.interrupted-1"))
    assert reader.read().runs == before.runs[1:]
    run.mkdir()
    (run / "run.json").write_text(text.replace('"valid"', '"weird"', 1))
    assert [finding.code for finding in reader.read().findings] == [Code.RUN_MALFORMED]
    assert reader.read().damage == read_archive(bench.layout.root).damage
    (run / "run.json").write_text(text)
    assert (reader.read().runs, reader.read().damage) == (before.runs, [])
    plan = bench.layout.plan
    plan.write_text(plan.read_text() + "# changed\n[[[")
    with pytest.raises(UserError, match=r"plan\.toml"):
        reader.read()


def test_one_that_stopped_and_one_that_has_not_begun(bench, txop):
    assert read_progress(ArchiveReader(bench.layout.root))[1].doing == "not begun"
    bench.go(lambda run: "lost" if run == "002-old-tx" else None, answers=False)
    _, now = read_progress(ArchiveReader(bench.layout.root))
    assert (now.doing, now.reason) == ("stopped", "dut stopped responding")
    done = txop("watch", str(bench.layout.root))
    assert done.returncode == 4
    assert f"To continue: txop resume {bench.layout.root}" in done.stdout


def test_one_that_was_imported(tmp_path, txop):
    (tmp_path / "ping.txt").write_text(
        "PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.\n"
        "64 bytes from 192.0.2.1: icmp_seq=1 ttl=64 time=1.23 ms\n"
        "64 bytes from 192.0.2.1: icmp_seq=2 ttl=64 time=1.43 ms\n\n"
        "--- 192.0.2.1 ping statistics ---\n"
        "2 packets transmitted, 2 received, 0% packet loss, time 1001ms\n"
    )
    root = str(tmp_path / "theirs")
    assert txop("import", str(tmp_path / "ping.txt"), "-o", root).returncode == 0
    done = txop("watch", root)
    assert done.returncode == 0
    assert done.stdout.splitlines() == ["Imported, not a campaign: 1 run of other tools.", f"Next: txop compare {root}"]
    now = json.loads(txop("watch", root, "--json").stdout)
    assert (now["doing"], now["valid"], now["runs_to_come"]) == ("imported", 1, 0)


@pytest.mark.slow
@pytest.mark.parametrize("kill", [True, False])
def test_while_another_process_writes_it(tmp_path, txop, program, kill):
    root = tmp_path / "archive"
    tests = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120
    campaign = subprocess.Popen([sys.executable, "-c", SLOW.format(tests=tests, root=str(root))])
    journal = root / "journal.jsonl"
    until = time.monotonic() + 60
    while time.monotonic() < until and not (journal.exists() and "run-finished" in journal.read_text()):
        time.sleep(0.05)
    now = json.loads(txop("watch", str(root), "--json").stdout)
    assert now["doing"] == "running"
    assert now["seconds_to_come"] > 0
    watching = subprocess.Popen(
        [program, "watch", str(root)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    if kill:
        campaign.send_signal(signal.SIGKILL)
    assert campaign.wait(120) == (-9 if kill else 0)
    said, errors = watching.communicate(timeout=60)
    assert watching.returncode == (4 if kill else 0), errors
    assert ("it was killed" if kill else "Finished: 12 valid and 0 void") in said
    if not kill:
        assert "block 3 of 3: " in said

"""``txop import`` as it is used: the figures at once, folders and patterns, an archive of one arm."""

from __future__ import annotations

import json

import pytest

import exchange_specimens as specimens
from txop.cli.import_paths import files_of
from txop.core.errors import ExitCode, UserError

IPERF = """\
Client connecting to 10.1.0.9, TCP port 5001
[  3] local 10.1.0.4 port 40112 connected with 10.1.0.9 port 5001
[ ID] Interval       Transfer     Bandwidth
[  3]  0.0-10.0 sec  52.1 MBytes  {rate} Mbits/sec
"""


@pytest.fixture
def results(tmp_path):
    """A folder of results, some of which are none."""
    for folder, rates in (("before", ("43.7", "45.1", "44.3")), ("after", ("55.5", "57.1"))):
        for number, rate in enumerate(rates):
            path = tmp_path / folder / "deep" / f"{number}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(IPERF.format(rate=rate).replace("40112", f"4{number}112"))
    (tmp_path / "before" / ".hidden").write_text("x")
    (tmp_path / "after" / "notes.md").write_text("# what I did")
    (tmp_path / "empty").mkdir()
    return tmp_path


def said(done):
    return json.loads(done.stdout)


def test_the_figures_are_shown_at_once_and_nothing_is_written(txop, tmp_path):
    (tmp_path / "p.txt").write_text(specimens.PING)
    done = txop("import", "p.txt", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for words in ("RTT p50", "RTT mean", "4.5", "25", "ping (iputils), its summary"):
        assert words in done.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["p.txt"]


def test_folders_and_patterns_become_arms(txop, results):
    done = txop("import", "old=before", "new=after/*/*.txt", "-o", "theirs", "--json", cwd=results)
    assert done.returncode == 0, done.stderr
    assert said(done)["not_read"] == []
    assert said(done)["runs"] == 5
    figures = {(each["arm"], each["metric"]): each for each in said(done)["figures"]}
    old, new = figures["old", "throughput_mbit_s"], figures["new", "throughput_mbit_s"]
    assert (old["n"], old["median"], old["unit"]) == (3, 44.3, "Mbit/s")
    assert (new["n"], new["median"]) == (2, pytest.approx(56.3))
    assert old["sources"] == ["iperf 2 text, sender, one end"]


def test_what_a_folder_has_beside_results_is_named(txop, results):
    done = txop("import", "after", "empty", "none-*.txt", "--json", cwd=results)
    assert done.returncode == 4
    told = said(done)["not_read"]
    assert [line.partition(":")[0] for line in told] == ["empty", "none-*.txt", "after/notes.md"]


def test_the_same_bytes_are_one_run(txop, tmp_path):
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text(specimens.PING)
    done = txop("import", "a.txt", "b.txt", "--json", cwd=tmp_path)
    assert said(done)["runs"] == 1
    assert said(done)["not_read"] == ["b.txt: the same as a.txt, so it is left out"]


def test_an_archive_of_one_arm_shows_what_it_has(txop, results):
    assert txop("import", "old=before", "-o", "theirs", cwd=results).returncode == 0
    shown = txop("compare", "theirs", cwd=results).stdout
    assert "44.30" in shown
    assert "43.70 to 45.10" in shown
    assert txop("report", "theirs", cwd=results).returncode in (ExitCode.OK, ExitCode.UNDECIDED)
    assert "44.30" in (results / "theirs" / "report.html").read_text(encoding="utf-8")


def test_files_are_named_in_order_and_once(results, monkeypatch):
    monkeypatch.chdir(results)
    found, problems = files_of(["before", "before/deep/0.txt", "x=before/deep/0.txt", "missing"])
    assert problems == []
    assert [(each.arm, each.path) for each in found] == [
        *((None, f"before/deep/{number}.txt") for number in range(3)),
        ("x", "before/deep/0.txt"),
        (None, "missing"),
    ]


def test_a_file_may_have_the_name_of_a_pattern(results, monkeypatch):
    monkeypatch.chdir(results)
    (results / "a[1].txt").write_text(specimens.PING)
    assert [each.path for each in files_of(["a[1].txt"])[0]] == ["a[1].txt"]


def test_too_many_files_are_refused(results, monkeypatch):
    monkeypatch.setattr("txop.cli.import_paths.MOST_FILES", 2)
    with pytest.raises(UserError, match="more than 2 files"):
        files_of([str(results / "before")])


def test_adding_needs_an_archive(txop, tmp_path):
    (tmp_path / "p.txt").write_text(specimens.PING)
    done = txop("import", "p.txt", "--add", cwd=tmp_path)
    assert done.returncode == 2
    assert "--output" in done.stderr

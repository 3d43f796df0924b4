"""Other people's files become archives: labelled, compared only with their like, and there whole or not at all."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import exchange_specimens as specimens
from txop.archive.reader import read_archive
from txop.compare.archive import compare
from txop.compare.select import CompareError
from txop.compare.two import compare_two
from txop.core.origin import Origin
from txop.exchange.imported import DataImportError, Direction
from txop.exchange.recognise import read_file
from txop.exchange.write import Source, write_archive
from txop.formats.error import FormatError

CAPTURED = Path(__file__).parents[1] / "formats" / "captured"


def imported(root, files, told=None):
    sources = [Source(name, data, arm, read_file(data, told or Direction())) for arm, name, data in files]
    write_archive(root, "theirs", sources, [])
    return read_archive(root)


def figures(archive, key="throughput_mbit_s"):
    return {run.run: run.metrics[key].value for run in archive.runs}


def test_every_kind_of_file_becomes_runs(tmp_path):
    files = [
        ("old", "a.json", (CAPTURED / "iperf3/v3.12-tcp-p3-client.txt").read_bytes()),
        ("old", "b.txt", (CAPTURED / "iperf3/v3.21-text-bidir-client.txt").read_bytes()),
        ("old", "ping.txt", specimens.PING.encode()),
        ("old", "irtt.json", (CAPTURED / "irtt/v0.9.0.json").read_bytes()),
        ("old", "x.flent", specimens.flent_bytes(4)),
        (None, "ttcp.txt", specimens.TTCP.encode()),
        (None, "wiki.txt", specimens.WIKI.encode()),
    ]
    archive = imported(tmp_path / "a", files)
    assert archive.damage == []
    assert len(archive.runs) == 5 + 3 + 5
    assert {run.origin for run in archive.runs} == {Origin.IMPORTED}
    assert {arm.shown for arm in archive.plan.arm} >= {"old", "Old SDIO", "Linux 5, drv (patch 10)"}
    assert all(str(run.verified["imported_from"]).startswith("imported/00") for run in archive.runs)
    assert (tmp_path / "a" / "imported" / "003-ping.txt").read_text() == specimens.PING
    assert "SHA-256" in str(archive.plan.environment["imported_1"])


def test_flent_counts_raw_values_over_the_time_of_the_load(tmp_path):
    (run,) = imported(tmp_path / "a", [(None, "x.flent", specimens.flent_bytes(4))]).runs
    assert run.metrics["throughput_mbit_s"].value == pytest.approx(15.0)
    assert run.window_s == pytest.approx(8.0)
    assert run.metrics["probe_loss_percent"].value == pytest.approx(100 / 9), "the pings from 5 s to 13 s, one lost"
    assert run.metrics["rtt_p50_ms"].value == 5.0
    assert run.metrics["rtt_p99_ms"].infinite
    assert run.started_at.startswith("2014-05-13T16:53:25")


@pytest.mark.parametrize("version", [1, 2, 3])
def test_older_flent_files_give_the_same(tmp_path, version):
    (run,) = imported(tmp_path / "a", [(None, "x.flent", specimens.flent_bytes(version))]).runs
    assert run.metrics["throughput_mbit_s"].value == pytest.approx(15.0)


def test_the_lower_of_both_ends_and_its_context_switches(tmp_path):
    archive = imported(tmp_path / "a", [(None, "t.txt", specimens.TTCP.encode())])
    by_test = {run.test: run for run in archive.runs if run.block == 1}
    assert by_test["rx"].metrics["throughput_mbit_s"].value == pytest.approx(690.0 * 8e-3)
    assert by_test["rx"].metrics["dut_context_switches"].value == 12000
    assert by_test["tx"].metrics["dut_context_switches"].value == 290


def test_a_range_of_a_wiki_is_not_a_figure(tmp_path):
    archive = imported(tmp_path / "a", [(None, "w.txt", specimens.WIKI.encode())])
    vendor = next(run for run in archive.runs if run.arm == "linux-5-vendor")
    assert vendor.metrics["throughput_mbit_s"].value is None
    assert "23 to 27" in (vendor.metrics["throughput_mbit_s"].reason or "")


def test_both_ends_of_one_run_are_one_run(tmp_path):
    ends = [(CAPTURED / f"iperf3/v3.12-tcp-p3-{end}.txt").read_bytes() for end in ("client", "server")]
    sources = [Source(f"{n}.json", data, "a", read_file(data, Direction())) for n, data in enumerate(ends)]
    made = write_archive(tmp_path / "a", "t", sources, [])
    assert made.runs == 1
    assert made.left_out == ["1.json: the other end of the run in 0.json"]


def test_the_end_that_is_the_device_decides_the_direction(tmp_path):
    data = (CAPTURED / "iperf3/v3.12-tcp-p3-client.txt").read_bytes()
    for end, kind in (("client", "tcp-tx"), ("server", "tcp-rx")):
        archive = imported(tmp_path / end, [(None, "a", data)], Direction(dut=end))
        assert [test.kind for test in archive.plan.test] == [kind]


def test_text_that_does_not_say_who_sent_asks(tmp_path):
    with pytest.raises(FormatError, match="--direction"):
        read_file(specimens.PASTED.encode(), Direction())
    archive = imported(tmp_path / "a", [(None, "p.txt", specimens.PASTED.encode())], Direction(way="rx"))
    assert [test.kind for test in archive.plan.test] == ["tcp-rx"]
    assert list(figures(archive).values()) == [pytest.approx(41.9, rel=0.01)]


def test_imported_and_measured_figures_are_never_compared(tmp_path, golden):
    theirs = imported(tmp_path / "a", [("vanilla", "x.flent", specimens.flent_bytes(4))])
    with pytest.raises(CompareError, match="which cannot be compared with"):
        compare_two(read_archive(golden), theirs)
    run = theirs.runs[0].model_copy(update={"origin": Origin.HARDWARE})
    (tmp_path / "a" / "runs" / run.run / "run.json").write_text(run.model_dump_json())
    other = imported(tmp_path / "b", [("vanilla", "x.flent", specimens.flent_bytes(4))])
    with pytest.raises(CompareError):
        compare_two(read_archive(tmp_path / "a"), other)


def test_arms_of_one_import_are_compared_unpaired(tmp_path):
    slower = specimens.flent_bytes(4).replace(b'"val": 20.0', b'"val": 12.0')
    files = [("old", "a.flent", specimens.flent_bytes(4)), ("new", "b.flent", slower)]
    result = compare(imported(tmp_path / "a", files))
    row = result.figure("tcp_1up.throughput_mbit_s").rows[0]
    assert (row.paired, row.n, row.verdict) == (False, 1, "inconclusive")
    assert row.estimate == pytest.approx(100 * (11 / 15 - 1))
    assert result.design.state == "imported"


def test_an_archive_that_is_there_is_left_as_it_is(tmp_path, golden):
    place = tmp_path / "there"
    place.mkdir()
    (place / "note").write_text("mine")
    source = Source("p.txt", specimens.PING.encode(), None, read_file(specimens.PING.encode(), Direction()))
    with pytest.raises(DataImportError, match="exists already"):
        write_archive(place, "t", [source], [])
    assert [path.name for path in tmp_path.iterdir()] == ["there"]
    assert (place / "note").read_text() == "mine"


def test_an_import_that_fails_leaves_nothing(tmp_path, monkeypatch):
    source = Source("p.txt", specimens.PING.encode(), None, read_file(specimens.PING.encode(), Direction()))
    seen = []

    def full(self: Path, *arguments: object, **options: object) -> int:
        if self.name == "run.json":
            seen.append([path.name for path in tmp_path.iterdir()])
            raise OSError(28, os.strerror(28), str(self))
        return original(self, *arguments, **options)  # type: ignore[arg-type]

    original = Path.write_text
    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(OSError, match="No space"):
        write_archive(tmp_path / "a", "t", [source], [])
    assert seen == [[name for names in seen for name in names if name.startswith(".a.import-")]]
    assert list(tmp_path.iterdir()) == []


def test_an_empty_folder_may_become_the_archive(tmp_path):
    (tmp_path / "a").mkdir()
    assert imported(tmp_path / "a", [(None, "p.txt", specimens.PING.encode())]).runs


@pytest.mark.parametrize(
    "text", ["\x1b[2J", "a\x7fb", "\ud800", '"""', "\\", "=== x ===", "é" * 3000, "a" * 5000, "\u202e"]
)
def test_hostile_names_make_a_plan_that_can_be_read(tmp_path, text):
    wiki = specimens.WIKI.replace("Linux 5, vendor", text.replace("|", "")).encode("utf-8", "surrogatepass")
    source = Source(text + ".txt", wiki, None, read_file(wiki, Direction()))
    write_archive(tmp_path / "a", text, [source], [text])
    assert read_archive(tmp_path / "a").damage == []


def test_more_arms_than_a_plan_holds_are_named(tmp_path):
    head, row = specimens.WIKI.splitlines()[2:4]
    rows = [row.replace("(vanilla)", f"(patch {n})") for n in range(80)]
    text = "\n".join(["== TCP TX ==", head, *rows]).encode()
    made = write_archive(tmp_path / "a", "t", [Source("w", text, None, read_file(text, Direction()))], [])
    assert len(made.arms) == 64
    assert len(made.left_out) == 16
    assert "at most 64 arms" in made.left_out[0]


def test_the_command_reads_what_it_can_and_names_the_rest(txop, tmp_path):
    names = {
        "good.flent": specimens.flent_bytes(4),
        "future.flent": specimens.flent_bytes(5),
        "half.json": specimens.flent_bytes(4)[:700],
        "empty.txt": b"",
        "noise.bin": bytes(range(256)) * 40,
        "wiki.txt": specimens.WIKI.encode(),
    }
    for name, data in names.items():
        (tmp_path / name).write_bytes(data)
    done = txop("import", *names, "missing.txt", "-o", "theirs", "--json", cwd=tmp_path)
    assert done.returncode == 4
    said = json.loads(done.stdout)
    assert said["origin"] == "imported"
    assert said["runs"] == 6
    told = "\n".join(said["not_read"])
    for words in (
        "future.flent: a data file of flent of version 5",
        "half.json, line ",
        "empty.txt: it is empty",
        "noise.bin: of no format",
        "missing.txt: No such file",
        "wiki.txt, line 6: retries",
        "wiki.txt, line 7: the cell of the driver is empty",
    ):
        assert words in told
    plan = read_archive(tmp_path / "theirs").plan
    assert "version 5" in " ".join(str(value) for value in plan.environment.values())


def test_nothing_readable_makes_no_archive(txop, tmp_path):
    (tmp_path / "x.flent").write_bytes(specimens.flent_bytes(5))
    done = txop("import", "x.flent", "-o", "theirs", cwd=tmp_path)
    assert done.returncode == 2
    assert "version 5" in done.stderr
    assert not (tmp_path / "theirs").exists()


def test_words_near_what_was_meant(txop, tmp_path):
    (tmp_path / "p.txt").write_text(specimens.PING)
    assert 'Did you mean "server"' in txop("import", "p.txt", "-o", "a", "--dut", "servr", cwd=tmp_path).stderr
    assert 'Did you mean "flent"' in txop("export", "a", "-o", "b", "--format", "flnt", cwd=tmp_path).stderr


@pytest.mark.slow
def test_it_is_imported_wherever_it_is_shown(txop, tmp_path):
    for arm, data in (("old", specimens.flent_bytes(4)), ("new", specimens.flent_bytes(3))):
        (tmp_path / f"{arm}.flent").write_bytes(data)
    assert txop("import", "old=old.flent", "new=new.flent", "-o", "theirs", cwd=tmp_path).returncode == 0
    assert "imported" in txop("compare", "theirs", cwd=tmp_path).stdout
    for name in ("mail", "markdown", "dokuwiki", "csv", "json"):
        shown = txop("report", "theirs", "--format", name, "-o", "-", cwd=tmp_path)
        assert shown.returncode == 0, shown.stderr
        assert "imported" in shown.stdout, name
    assert txop("report", "theirs", cwd=tmp_path).returncode == 0
    assert "imported" in (tmp_path / "theirs" / "report.html").read_text(encoding="utf-8")

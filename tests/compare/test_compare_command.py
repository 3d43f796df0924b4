"""``txop compare`` from its arguments to its output and exit code."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest

from txop.cli import app
from txop.compare.result import CompareResult
from txop.core.errors import ExitCode


@pytest.fixture
def run(monkeypatch, capsys):
    def start(*arguments, columns=120):
        monkeypatch.setenv("COLUMNS", str(columns))
        with pytest.raises(SystemExit) as leaving:
            app.main(["compare", *map(str, arguments)])
        out = capsys.readouterr()
        return leaving.value.code, out.out, out.err

    return start


def test_everything_is_there_when_asked_for(run, golden):
    code, out, err = run(golden.layout.root, "--all", columns=400)
    assert (code, err) == (0, "")
    assert out.startswith("patch10 against vanilla: better in tx throughput +31.1 %")
    assert "003-patch10-tx (repeated in block 9): association-lost: disassociated for 12.0 s" in out
    assert "006-vendor-rx: throughput was still rising" in out
    assert "vendor vs vanilla, rx: MPDUs per PPDU" in out
    assert "TCP retransmissions" in out


@pytest.mark.parametrize("columns", [36, 60, 99, 100, 140])
@pytest.mark.parametrize("everything", [False, True])
def test_any_width_will_do(run, golden, columns, everything):
    _, out, _ = run(golden.layout.root, *(["--all"] if everything else []), columns=columns)
    lines = [line for line in out.splitlines() if not line.startswith("Report: ")]  # a path stays whole
    assert max(map(len, lines)) <= columns
    assert "throughput" in out


def test_json_is_the_whole_result(run, golden, golden_result):
    code, out, _ = run(golden.layout.root, "--json")
    assert code == 0
    assert CompareResult.model_validate(json.loads(out)).figures == golden_result.figures
    assert out.isascii()


def test_csv_has_a_row_per_figure_and_arm(run, golden, golden_result, tmp_path):
    _, out, _ = run(golden.layout.root, "--csv", "-")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert len(rows) == sum(len(figure.rows) for figure in golden_result.figures)
    run(golden.layout.root, "--csv", tmp_path / "rows.csv")
    assert (tmp_path / "rows.csv").read_text() == out
    assert run(golden.layout.root, "--json", "--csv", "-")[0] == 2


def test_worse_fails_when_asked(run, golden):
    root = golden.layout.root
    assert run(root, "--fail-on-worse")[0] == 0
    assert run(root, "--baseline", "vendor")[0] == 0
    code, out, _ = run(root, "--baseline", "vendor", "--fail-on-worse")
    assert code == 1
    assert "▼ worse" in out
    assert run(root, "--baseline", "vendor", "--fail-on-worse", "--figure", "tx.rtt_p50_ms")[0] == 0
    assert run(root, "--baseline", "vendor", "--fail-on-worse-in", "tx.rtt_p50_ms")[0] == 1
    assert run(root, "--baseline", "vendor", "--fail-on-worse-in", "tx.tcp_retransmits_per_s")[0] == 0
    assert run(root, "--fail-on-worse-in", "tx.nothing")[0] == 2


def test_an_arm_can_be_left_out(run, golden):
    code, out, _ = run(golden.layout.root, "--without", "vendor", "--json")
    assert code == 0
    assert [arm["name"] for arm in json.loads(out)["arms"]] == ["vanilla", "patch10"]
    assert run(golden.layout.root, "--without", "nobody")[0] == 2
    assert run(golden.layout.root, golden.layout.root, "--without", "vendor")[0] == 2


def test_what_cannot_be_compared_is_one_sentence(run, golden, tmp_path, sample):
    code, _, err = run(golden.layout.root, "--baseline", "nobody")
    assert code == 2
    assert "has no arm nobody. Choose from vanilla, patch10, vendor." in err
    code, _, err = run(tmp_path)
    assert code == 2
    assert "is not an archive" in err
    code, _, err = run(golden.layout.root, sample.single(tmp_path / "b"))
    assert code == 2
    assert "cannot be compared with each other" in err


def test_each_option_of_an_arm_has_one_meaning(run, golden):
    root = golden.layout.root
    for wrong in ([root, root, "--baseline", "patch10"], [root, "--arm", "patch10"]):
        assert run(*wrong)[0] == ExitCode.BAD_INPUT


def test_two_archives(run, golden):
    for more in ([], ["--all"]):
        code, out, _ = run(golden.layout.root, golden.layout.root, "--arm", "patch10", *more, columns=400)
        assert code == 0
        assert "unpaired, drift not controlled" in out


def test_damage_is_reported_and_the_rest_compared(run, copied):
    (copied / "runs" / "002-vendor-tx" / "run.json").write_bytes(b"\x00\xff{garbage")
    (copied / "runs" / "005-vanilla-rx" / "series.json").unlink()
    journal = (copied / "journal.jsonl").read_bytes()
    (copied / "journal.jsonl").write_bytes(journal[:-40])
    code, out, _ = run(copied)
    assert code == 4
    assert "\nPreliminary" in out
    assert "\nDamaged: journal.jsonl, line 172: cut short after 82 bytes and 1 more: --all" in out
    code, out, _ = run(copied, "--all", columns=400)
    assert code == 4
    assert out.startswith("Preliminary")
    assert "runs/002-vendor-tx/run.json" in out
    assert "journal.jsonl, line" in out
    assert "tx throughput" in out
    code, out, err = run(copied, "--json")
    assert code == 4
    assert "the archive is damaged in 2 places" in err
    assert [row["n"] for row in json.loads(out)["figures"][0]["rows"]] == [8, 7]


def test_hostile_journals_and_runs_are_survived(run, copied, change):
    with (copied / "journal.jsonl").open("a") as journal:
        values: tuple[Any, ...] = ([], {}, None, 1e308, "\x1b[2J")
        for value in values:
            event = {"event": "run-finished", "at": "x", "monotonic_s": 1, "run": value, "block": value}
            journal.write(json.dumps(event) + "\n")
            journal.write(json.dumps({**event, "event": "connected", "target": value, "provenance": value}) + "\n")
        journal.write('{"event": 1}\nnonsense\n')
    change(copied, "001-vanilla-tx", lambda run: run.update(run="../../etc"))
    change(
        copied, "002-vanilla-tx", lambda run: run["metrics"].update({"x\x1b": {"value": 1, "unit": "", "source": ""}})
    )
    change(copied, "003-vanilla-tx", lambda run: run["metrics"]["throughput_mbit_s"].update(value=1e308))
    change(copied, "004-vanilla-rx", lambda run: run["metrics"]["throughput_mbit_s"].update(value=-1))
    for more in ([], ["--all"]):
        code, out, err = run(copied, *more, columns=400)
        assert code == 4
        assert err == ""
        assert "belongs to another folder" in out or not more
        assert "Damaged: " in out or more
        assert "\x1b" not in out


def test_hostile_texts_do_not_act(run, poisoned):
    for columns in (60, 140, 400):
        for more in ([], ["--all"]):
            _, out, err = run(poisoned, *more, columns=columns)
            assert "\x1b" not in out + err
            assert "\u202e" not in out + err
            assert "<script>" in out


def test_an_archive_without_runs_is_no_answer(run, copied):
    (copied / "journal.jsonl").write_text("")
    for path in (copied / "runs").glob("*/run.json"):
        path.unlink()
    code, out, _ = run(copied)
    assert code in (1, 4)
    assert "nothing to compare" in out

"""``txop ci --quick``: it stops at the first look that decides, at a level that keeps the error rate of the whole."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from txop.archive.looks import last_look
from txop.archive.reader import read_archive
from txop.archive.run_file import Fault, RunFile
from txop.ci.looks import is_of_series
from txop.cli.app import main
from txop.compare.archive import compare
from txop.stats.sequential import looks

SERIES = """\
From: A <a@example.org>
Subject: [PATCH] wifi: rtl8xxxu: first

diff --git a/drivers/net/wireless/realtek/rtl8xxxu/core.c b/drivers/net/wireless/realtek/rtl8xxxu/core.c
--- a/drivers/net/wireless/realtek/rtl8xxxu/core.c
+++ b/drivers/net/wireless/realtek/rtl8xxxu/core.c
@@ -1,2 +1,2 @@
-one
+two
 end
"""


def judge(capsys, plan_file: Path, tmp_path: Path, *more: str) -> tuple[int, dict]:
    (tmp_path / "series.patch").write_text(SERIES)
    command = ["ci", "--series", str(tmp_path / "series.patch"), "--plan", str(plan_file), "--json", "--quick"]
    with pytest.raises(SystemExit) as ended:
        main([*command, "-o", str(tmp_path / "out"), *more])
    code = int(str(ended.value.code or 0))
    said = capsys.readouterr()
    return code, json.loads(said.out) if said.out.startswith("{") else {"error": said.err}


def blocks_of(tmp_path: Path) -> int:
    return max(run.block for run in read_archive(tmp_path / "out" / "archive").runs)


def test_a_clear_effect_ends_at_the_first_look(played, plan_file, tmp_path, capsys):
    played.mbit_s["series"] = 30.0
    code, found = judge(capsys, plan_file, tmp_path, "--blocks", "12")
    assert (code, found["state"]) == (1, "worse")
    planned = looks(12, 0.95, 1)
    assert blocks_of(tmp_path) == planned[0].blocks < 12
    archive = read_archive(tmp_path / "out" / "archive")
    assert archive.finished
    assert archive.damage == []
    look = last_look(archive.events)
    assert look is not None
    assert (look.blocks, look.planned) == (planned[0].blocks, tuple(each.blocks for each in planned))
    assert "--quick" in found["again"]
    # whoever compares the archive later gets what the look gave
    result = compare(archive)
    assert result.design.confidence == pytest.approx(planned[0].confidence)
    (row,) = [row for figure in result.figures if figure.role == "primary" for row in figure.rows]
    assert row.verdict == "worse"
    assert row.p_adjusted <= 1 - planned[0].confidence
    assert found["figures"][0]["n"] == planned[0].blocks


def test_what_is_not_clear_goes_on_to_the_end(played, plan_file, tmp_path, capsys):
    played.noise = 0.2
    code, found = judge(capsys, plan_file, tmp_path, "--blocks", "12")
    assert (code, found["state"]) == (0, "inconclusive")
    assert blocks_of(tmp_path) == 12
    look = last_look(read_archive(tmp_path / "out" / "archive").events)
    assert look is not None
    assert look.confidence == pytest.approx(looks(12, 0.95, 1)[-1].confidence)


KASAN = Fault(key="kernel-kasan", title="KASAN report", severity="critical", target="dut", count=1, lines=["BUG"])


def test_a_fault_in_every_run_ends_before_the_first_look(played, plan_file, tmp_path, capsys):
    """5 of 5 against 0 of 5 is the first with p below 0.05 / 12: by Fisher's exact test 1 / 252."""
    played.faults["series"] = [KASAN]
    code, found = judge(capsys, plan_file, tmp_path, "--blocks", "12")
    assert (code, found["state"]) == (1, "faults")
    assert blocks_of(tmp_path) == 5


@pytest.mark.parametrize(("series", "base", "is_of_it"), [(5, 5, True), (4, 5, False), (1, 5, False), (2, 60, False)])
def test_a_fault_now_and_then_may_be_of_either_build(series, base, is_of_it):
    """So many of 5 runs of the series have it, and none of so many of the base."""
    runs = [RunFile.model_construct(arm="series", faults=[KASAN] if at < series else []) for at in range(5)]
    runs += [RunFile.model_construct(arm="base", faults=[]) for _ in range(base)]
    assert is_of_series(runs, 0.05 / 12) is is_of_it


def test_a_campaign_that_was_decided_is_not_continued(played, plan_file, tmp_path, capsys):
    played.mbit_s["series"] = 30.0
    judge(capsys, plan_file, tmp_path, "--blocks", "12")
    runs = len(played.runs)
    assert judge(capsys, plan_file, tmp_path, "--blocks", "12")[1]["state"] == "worse"
    assert len(played.runs) == runs


def test_so_few_blocks_have_no_look(played, plan_file, tmp_path, capsys):
    code, found = judge(capsys, plan_file, tmp_path, "--blocks", "5")
    assert code == 2
    assert "5 blocks can decide nothing" in found["error"]


@pytest.mark.parametrize("noise", [0.0, 0.01, 0.05])
def test_looks_lose_nothing_that_the_whole_has(played, plan_file, tmp_path, capsys, noise):
    """A row is called different at a look only where its interval is on one side of 0."""
    played.noise, played.mbit_s["series"] = noise, 36.0
    _, found = judge(capsys, plan_file, tmp_path, "--blocks", "12")
    (row,) = found["figures"]
    if row["verdict"] == "worse":
        assert row["high"] < 0

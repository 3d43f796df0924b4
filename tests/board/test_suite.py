"""The suite that produces the evidence of a board: its plan and its board fit each other, and a guest really runs."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from guests_here import built_chips, built_image, rebuilt_driver
from txop.air import analyze
from txop.archive.layout import Layout
from txop.board.boards import LocatedBoard, find, read
from txop.board.model import Board, CaptureEvidence, FaultEvidence, NoEvidence, RunEvidence
from txop.board.weigh import weigh
from txop.plan.load import load_plan
from txop.plan_check.check import check

SUITE = Path(__file__).parents[2] / "examples" / "suite"
PLAN = SUITE / "guest-board.toml"
BOARD = SUITE / "guest-board.board.toml"
ARCHIVE = Path(__file__).parents[1] / "data" / "archive-v1"


def test_the_plan_is_one():
    loaded = load_plan(PLAN)
    assert not check(loaded, files=True).problems
    assert find(str(PLAN)).board.title == read(BOARD).title, "the board beside it is found"


def test_each_row_of_the_board_of_2021_has_its_test_or_says_why_not():
    plan, board, old = load_plan(PLAN).plan, read(BOARD), find("rtl8xxxu-gardena").board
    arms, tests = {arm.name for arm in plan.arm}, {test.name: test for test in plan.test}
    rows = [(task.line, task.task, task.state, task.claims, task.optional) for task in board.task]
    assert rows == [(task.line, task.task, task.state, task.claims, task.optional) for task in old.task]
    used = set()
    for task in board.task:
        assert task.evidence or task.check, task.task
        undecided = [evidence for evidence in task.evidence if isinstance(evidence, NoEvidence)]
        assert not undecided or (len(task.evidence) == 1 and task.check is None), task.task
        if task.check is not None:
            assert task.arm in arms, task.task
            used.add(task.arm)
        for evidence in task.evidence:
            assert not isinstance(evidence, CaptureEvidence)
            if isinstance(evidence, RunEvidence | FaultEvidence):
                assert evidence.arm in arms
                used.add(evidence.arm)
            if isinstance(evidence, RunEvidence) and evidence.test == "iw":
                assert re.search(rf"^ *say {evidence.metric} ", tests["iw"].command[2], re.MULTILINE)
    told = sum(not any(isinstance(each, NoEvidence) for each in task.evidence) for task in board.task)
    assert (told, len(board.task)) == (15, 19)
    contrasts = {"amsdu-aggregation", "lossy-bar"}
    assert arms - used == {"wide", *contrasts}, "a line of the certificates, and the contrasts of two rows"


def test_a_row_may_speak_of_another_arm_and_may_say_why_nothing_tells(tmp_path):
    shutil.copytree(ARCHIVE, tmp_path / "campaign")
    rows = [
        {"task": "a", "state": "s", "check": "wmm", "arm": "vendor"},
        {"task": "b", "state": "s", "check": "wmm"},
        {"task": "c", "state": "s", "check": "wmm", "arm": "nobody"},
        {"task": "d", "state": "s", "claims": "works", "evidence": [{"kind": "none", "because": "it is silicon"}]},
    ]
    made = {"format": "txop-board", "version": 1, "title": "t", "arm": "vanilla", "task": rows}
    board = LocatedBoard(Board.model_validate(made), "b", tmp_path, archive=Layout(tmp_path / "campaign"))
    judged = weigh(board, [], analyze)
    vendor, default, nobody, silicon = (row.outcomes for row in judged.rows)
    assert [each.sentence.split(":")[0] for each in vendor] == ["vendor"]
    assert [each.sentence.split(":")[0] for each in default] == ["vanilla"]
    assert [each.sentence for each in nobody] == [
        "can't be determined here, because no capture of a valid run of nobody was checked"
    ]
    assert [each.sentence for each in silicon] == ["can't be determined here, because it is silicon"]
    assert judged.rows[3].standing == "can't be determined"
    only = weigh(board, [], analyze, arm="vanilla")
    assert [each.answer for each in only.rows[0].outcomes] == ["can't be determined"]


@pytest.mark.slow
def test_a_guest_gives_evidence_of_several_rows(tmp_path, txop):
    """One arm, one test: what the real driver says of itself to iw, and its kernel log."""
    built_image("6.12")
    built_chips()
    rebuilt_driver("rtl8xxxu")
    text = PLAN.read_text()
    head, _, rest = text.partition("[[arm]]")
    mainline = rest.partition("[[arm]]")[0]
    iw = rest[rest.index('[[test]]\nname = "iw"') :]
    (tmp_path / "plan.toml").write_text(f"{head}[[arm]]{mainline}{iw}")
    done = txop("run", "plan.toml", "-o", "campaign", "--no-report", cwd=tmp_path, timeout=900)
    assert done.returncode in (0, 1), done.stderr
    said = txop(
        *("board", str(tmp_path / "campaign"), "--board", str(BOARD), "--json"),
    )
    rows = {row["line"]: row for row in json.loads(said.stdout)["tasks"]}
    assert {line: rows[line]["standing"] for line in (56, 62, 63, 66, 69, 70)} == {
        56: "works",  # the registers of the power differ by rate, as they did not in 2021
        62: "shown",  # iw shows a TX bitrate
        63: "shown",  # and antennas
        66: "shown",  # a limit changes no register
        69: "shown",  # the power it shows is the country's, not the chip's
        70: "works",  # no block of the firmware failed to be taken
    }
    for line in (62, 63, 69):
        (evidence,) = rows[line]["evidence"]
        assert evidence["origin"] == "guest-exact"
        assert "n = 1" in evidence["sentence"]
    assert rows[53]["standing"] == "can't be determined"

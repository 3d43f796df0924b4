"""``txop ci`` from a series to its mail, with guests that are played."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from driver_history import commit_all, git, history
from hypothesis import given, settings
from hypothesis import strategies as st

from txop.archive.run_file import Fault, RunFile, Voiding
from txop.board.outcome import Outcome
from txop.ci.board_rows import answers as board_rows_answers
from txop.ci.builds import warnings_in
from txop.ci.verdict import state_of
from txop.cli.app import main
from txop.plan.load import load_plan, parse_plan
from txop.plan.write import plan_text
from txop.plan_check.check import ensure
from txop.plan_check.exact_guest import exact_guest
from txop.stats.settings import ComparisonSettings
from txop.stats.verdict import compare_paired

FOLDER = "drivers/net/wireless/realtek/rtl8xxxu"
MBOX = """\
From 1111111111111111111111111111111111111111 Mon Sep 17 00:00:00 2001
From: =?UTF-8?q?J=C3=BCrgen?= <j@example.org>
Subject: [PATCH v2 2/2] wifi: rtl8xxxu: second
Content-Transfer-Encoding: quoted-printable

Words.
---
 core.c | 2 +-

diff --git a/{folder}/core.c b/{folder}/core.c
--- a/{folder}/core.c
+++ b/{folder}/core.c
@@ -1,2 +1,2 @@
-two
+three =3D 3
 end
--=20
2.39

From 2222222222222222222222222222222222222222 Mon Sep 17 00:00:00 2001
From: A <a@example.org>
Subject: [PATCH v2 1/2] wifi: rtl8xxxu: first

diff --git a/{folder}/core.c b/{folder}/core.c
--- a/{folder}/core.c
+++ b/{folder}/core.c
@@ -1,2 +1,2 @@
-one
+two
 end
diff --git a/MAINTAINERS b/MAINTAINERS
--- a/MAINTAINERS
+++ b/MAINTAINERS
@@ -1 +1 @@
-nobody
+somebody
--
2.39

From 3333333333333333333333333333333333333333 Mon Sep 17 00:00:00 2001
From: A <a@example.org>
Subject: [PATCH v2 0/2] wifi: rtl8xxxu: both

What they do.
"""


def mbox(tmp_path: Path) -> Path:
    path = tmp_path / "series.mbox"
    path.write_text(MBOX.format(folder=FOLDER))
    return path


def clone(tmp_path: Path) -> tuple[Path, list[str]]:
    root = tmp_path / "repo"

    def first(at: Path) -> None:
        (at / FOLDER).mkdir(parents=True)
        (at / FOLDER / "Makefile").write_text("obj-$(CONFIG_RTL8XXXU) += rtl8xxxu.o\n")
        (at / FOLDER / "core.c").write_text("one\nend\n")
        (at / "MAINTAINERS").write_text("nobody\n")

    return root, history(root, [], first)


def run(capsys, *arguments: str) -> tuple[int, dict]:
    with pytest.raises(SystemExit) as left:
        main(["ci", "--json", "--quiet", *arguments])
    out = capsys.readouterr()
    return int(left.value.code or 0), json.loads(out.out) if out.out else {"error": " ".join(out.err.split())}


def judge(capsys, plan_file: Path, tmp_path: Path, *more: str) -> tuple[int, dict]:
    return run(capsys, "--series", str(mbox(tmp_path)), "--plan", str(plan_file), "-o", str(tmp_path / "out"), *more)


def test_a_series_that_is_slower_is_worse(played, plan_file, tmp_path, capsys):
    played.mbit_s["series"] = 30.0
    code, found = judge(capsys, plan_file, tmp_path)
    assert (code, found["state"], found["ok"]) == (1, "worse", False)
    assert found["patches"] == ["wifi: rtl8xxxu: first", "wifi: rtl8xxxu: second"]
    assert found["headline"].startswith("Worse: tx.throughput_mbit_s: series is ")
    assert [(each["name"], each["verdict"], each["n"]) for each in found["figures"]] == [
        ("tx.throughput_mbit_s", "worse", 6)
    ]
    mail = (tmp_path / "out" / "mail.txt").read_text().splitlines()
    assert len(mail) <= 40
    assert max(map(len, mail)) <= 76
    text = "\n".join(mail).replace("\n  ", " ")
    assert "Verdict: worse." in text
    assert "Builds: base01234567 (base), series012345 (series); new compiler warnings: 0." in text
    assert "Again: txop ci --plan" in text
    assert json.loads((tmp_path / "out" / "ci.json").read_text()) == found
    assert (tmp_path / "out" / "archive" / "report.html").is_file()


def test_a_faster_one_is_better_and_the_second_time_nothing_is_run(played, plan_file, tmp_path, capsys):
    played.mbit_s["series"] = 44.0
    assert judge(capsys, plan_file, tmp_path)[0] == 0
    runs = len(played.runs)
    code, found = judge(capsys, plan_file, tmp_path)
    assert (code, found["state"]) == (0, "better")
    assert len(played.runs) == runs


def test_another_plan_does_not_go_into_the_same_folder(played, plan_file, tmp_path, capsys):
    judge(capsys, plan_file, tmp_path)
    code, found = judge(capsys, plan_file, tmp_path, "--blocks", "7")
    assert code == 2
    assert "has the runs of another series, base or plan" in found["error"]


def test_one_that_changes_nothing_is_equivalent(played, plan_file, tmp_path, capsys):
    code, found = judge(capsys, plan_file, tmp_path)
    assert (code, found["state"]) == (0, "equivalent")


def test_the_same_module_is_not_run(played, plan_file, tmp_path, capsys):
    played.same = True
    code, found = judge(capsys, plan_file, tmp_path)
    assert (code, found["state"], found["archive"]) == (0, "same module", None)
    assert played.runs == []
    assert "byte for byte" in (tmp_path / "out" / "mail.txt").read_text().replace("\n  ", " ")


def test_the_terminal_shows_the_mail(played, plan_file, tmp_path, capsys):
    played.same = True
    with pytest.raises(SystemExit):
        main(["ci", "--series", str(mbox(tmp_path)), "--plan", str(plan_file), "-o", str(tmp_path / "out")])
    assert capsys.readouterr().out == (tmp_path / "out" / "mail.txt").read_text()


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(0.1, 1e4), min_size=1, max_size=12))
def test_runs_that_are_the_same_are_never_better_or_worse(values):
    verdict = compare_paired(values, values, ComparisonSettings(scale="ratio", better="higher", margin=3.0)).verdict
    assert verdict in (("equivalent",) if len(values) >= 6 else ("equivalent", "inconclusive"))


def test_a_new_fault_goes_before_a_better_figure(played, plan_file, tmp_path, capsys):
    played.mbit_s["series"] = 50.0
    known = Fault(key="wifi-slow", title="slow", severity="error", target="dut", count=1, lines=["slow"])
    kasan = Fault(
        key="kernel-kasan", title="KASAN report", severity="critical", target="dut", count=1, lines=["BUG: KASAN: x"]
    )
    played.faults = {"base": [known], "series": [known, kasan]}
    code, found = judge(capsys, plan_file, tmp_path)
    assert (code, found["state"]) == (1, "faults")
    assert [(fault["key"], fault["runs"], fault["of"]) for fault in found["new_faults"]] == [("kernel-kasan", 6, 6)]
    mail = (tmp_path / "out" / "mail.txt").read_text()
    assert "KASAN report in 6 of 6 runs" in mail.replace("\n  ", " ")
    assert "BUG: KASAN: x" in mail
    assert len(mail.splitlines()) <= 40


def test_a_driver_that_does_not_come_up(played, plan_file, tmp_path, capsys):
    played.fails = {"series"}
    code, found = judge(capsys, plan_file, tmp_path)
    assert (code, found["state"]) == (1, "does not run")
    assert "no interface came up" in found["headline"]
    mail = " ".join((tmp_path / "out" / "mail.txt").read_text().split())
    assert "Verdict: Does not run: no run of the series is valid: txop-lab: no interface came up." in mail


@pytest.mark.parametrize(("gate", "state"), [("arm-load-failed", "does not run"), ("interrupted", "not measured")])
def test_a_run_in_which_txop_was_stopped_says_nothing_about_the_series(gate, state):
    facts = {"block": 1, "position": 1, "test": "tx", "origin": "emulated", "started_at": "", "seconds": 1.0}
    base = RunFile(run="001-base-tx", arm="base", state="valid", **facts)
    void = RunFile(run="001-series-tx", arm="series", state="void", void=[Voiding(gate=gate, cause="why")], **facts)
    design = SimpleNamespace(primary=["tx.throughput_mbit_s"], primary_by_default=True)
    result = SimpleNamespace(figures=[], tests=[SimpleNamespace(name="tx")], not_available=[], design=design)
    assert state_of(result, [base, void])[0] == state


def with_a_second_test(plan_file: Path) -> Path:
    second = '[[test]]\nname = "rx"\nkind = "tcp-rx"\nduration_s = 5\nwarm_up_s = 2\n[design]\n'
    plan_file.write_text(plan_file.read_text().replace("[design]\n", second).replace("blocks = 6", "blocks = 7"))
    return plan_file


@pytest.mark.parametrize("mbit_s", [40.0, 60.0])
def test_a_series_that_fails_in_one_test_does_not_run_however_fast_it_is_in_the_other(
    played, plan_file, tmp_path, capsys, mbit_s
):
    played.mbit_s["series"], played.fails_in = mbit_s, {("series", "rx")}
    code, found = judge(capsys, with_a_second_test(plan_file), tmp_path)
    assert (code, found["state"], found["ok"]) == (1, "does not run", False)
    assert "no run of the series is valid in rx: txop-lab: no interface came up" in found["headline"]


def test_where_the_base_does_not_run_nothing_is_measured_which_does_not_pass(played, plan_file, tmp_path, capsys):
    played.fails = {"base"}
    code, found = judge(capsys, plan_file, tmp_path)
    assert (code, found["state"], found["ok"], found["figures"]) == (5, "not measured", False, [])
    assert "(001-base-tx: txop-lab: no interface came up)" in found["headline"]
    mail = " ".join((tmp_path / "out" / "mail.txt").read_text().split())
    assert "Verdict: Not measured: tx.throughput_mbit_s has no pair of valid runs (001-base-tx: " in mail


@pytest.mark.parametrize("primary", ["", 'primary = ["tx.throughput_mbit_s", "rx.throughput_mbit_s"]\n'])
def test_one_judged_figure_of_two_is_not_enough_to_pass(played, plan_file, tmp_path, capsys, primary):
    played.fails_in = {("base", "rx")}
    with_a_second_test(plan_file).write_text(plan_file.read_text() + primary)
    code, found = judge(capsys, plan_file, tmp_path)
    assert (code, found["state"]) == (5, "not measured")
    assert found["headline"].startswith("Not measured: rx.")
    assert [(each["name"], each["verdict"]) for each in found["figures"]] == [("tx.throughput_mbit_s", "equivalent")]


def test_a_test_that_is_not_judged_may_lack(played, plan_file, tmp_path, capsys):
    played.fails_in = {("base", "rx")}
    with_a_second_test(plan_file).write_text(plan_file.read_text() + 'primary = ["tx.throughput_mbit_s"]\n')
    code, found = judge(capsys, plan_file, tmp_path)
    assert (code, found["state"]) == (0, "equivalent")


def test_worse_in_what_was_measured_is_worse_though_another_figure_lacks(played, plan_file, tmp_path, capsys):
    played.mbit_s["series"], played.fails_in = 20.0, {("base", "rx")}
    code, found = judge(capsys, with_a_second_test(plan_file), tmp_path)
    assert (code, found["state"]) == (1, "worse")


def test_inconclusive_passes_unless_asked_to_fail(played, plan_file, tmp_path, capsys):
    played.noise = 0.2
    code, found = judge(capsys, plan_file, tmp_path)
    assert (code, found["state"], found["ok"]) == (0, "inconclusive", True)
    code, found = judge(capsys, plan_file, tmp_path, "--fail-on-inconclusive")
    assert (code, found["state"], found["ok"]) == (5, "inconclusive", True)


@pytest.mark.parametrize(
    ("mbit_s", "expected"), [(40.0, (0, "equivalent")), (30.0, (1, "worse")), (50.0, (0, "better"))]
)
def test_a_clear_verdict_has_its_code_whatever_is_asked_of_inconclusive(
    played, plan_file, tmp_path, capsys, mbit_s, expected
):
    played.mbit_s["series"] = mbit_s
    code, found = judge(capsys, plan_file, tmp_path, "--fail-on-inconclusive")
    assert (code, found["state"]) == expected


def test_a_campaign_that_stopped_early_has_code_4_though_nothing_was_measured(played, plan_file, tmp_path, capsys):
    played.fails = {"base", "series"}
    code, found = judge(capsys, plan_file, tmp_path, "--fail-on-inconclusive")
    assert (code, found["state"], found["ok"]) == (4, "not measured", False)


def test_new_warnings_of_the_compiler(played, plan_file, tmp_path, capsys):
    old = "x/core.c:10:5: warning: unused variable 'a' [-Wunused-variable]\n"
    played.log = {"base": old, "series": old.replace("10", "12") + "x/core.c:3:1: warning: 'b' is used [-Wx]\n"}
    code, found = judge(capsys, plan_file, tmp_path)
    assert (code, found["state"], found["new_warnings"]) == (1, "compiler warnings", ["core.c: 'b' is used [-Wx]"])


def test_warnings_are_found_wherever_the_tree_is():
    log = "/a/b.c:1:2: warning: x\n./b.h:3: warning: y\nwarning: no file\n/a/b.c:1:2: error: z\n"
    assert warnings_in(log) == ["b.c: x", "b.h: y"]


@pytest.mark.parametrize(
    ("rejected", "state"),
    [(False, "does not build"), (True, "does not apply")],
)
def test_what_does_not_build_is_said(played, plan_file, tmp_path, capsys, rejected, state):
    played.broken, played.rejected = {"series": "whatever the tools say"}, rejected
    code, found = judge(capsys, plan_file, tmp_path)
    assert (code, found["state"]) == (1, state)
    assert played.runs == []


def test_a_base_that_does_not_build_is_not_the_series_fault(played, plan_file, tmp_path, capsys):
    played.broken = {"base": "the module could not be built: x"}
    code, found = judge(capsys, plan_file, tmp_path)
    assert code == 2
    assert "the base does not build" in found["error"]


def test_a_series_in_a_clone_is_applied_without_touching_it(played, plan_file, tmp_path, capsys):
    root, commits = clone(tmp_path)
    before = (git(root, "status", "--porcelain"), git(root, "count-objects", "-v"))
    code, found = judge(capsys, plan_file, tmp_path, "--source", str(root), "--base", commits[0])
    assert (code, found["state"]) == (0, "equivalent")
    base, series = (each.source / FOLDER / "core.c" for each in played.sources)
    assert (base.read_text(), series.read_text()) == ("one\nend\n", "three = 3\nend\n")
    assert found["notes"] == ["The series changes 1 file outside the driver (MAINTAINERS): not built, not measured"]
    assert (git(root, "status", "--porcelain"), git(root, "count-objects", "-v")) == before


def test_a_series_that_does_not_apply(played, plan_file, tmp_path, capsys):
    root, _ = clone(tmp_path)
    (root / FOLDER / "core.c").write_text("other\nend\n")
    head = commit_all(root, "other")
    code, found = judge(capsys, plan_file, tmp_path, "--source", str(root), "--base", head)
    assert (code, found["state"]) == (1, "does not apply")
    assert "patch 1 of 2 (0001-wifi-rtl8xxxu-first.patch) does not apply" in found["headline"]
    assert "does not apply" in (tmp_path / "out" / "mail.txt").read_text()


def test_a_branch_is_compared_with_where_it_left(played, plan_file, tmp_path, capsys):
    root, commits = clone(tmp_path)
    git(root, "checkout", "-q", "-b", "fix")
    (root / FOLDER / "core.c").write_text("mended\nend\n")
    commit_all(root, "wifi: rtl8xxxu: mend it")
    git(root, "checkout", "-q", "main")
    code, found = run(
        capsys, "--branch", "fix", "--source", str(root), "--plan", str(plan_file), "-o", str(tmp_path / "out")
    )
    assert (code, found["series"], found["patches"]) == (0, "wifi: rtl8xxxu: mend it", ["wifi: rtl8xxxu: mend it"])
    assert found["base"] == f"{commits[0][:12]}: as it was"
    assert [(each.source / FOLDER / "core.c").read_text()[:6] for each in played.sources] == ["one\nen", "mended"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give either --series FILE or --branch NAME"),
        (["--branch", "x"], "--base and --branch take --source DIR"),
        (["--series", "{mbox}", "--source", "{repo}"], "takes --base COMMIT"),
        (["--series", "{mbox}", "--arm", "other"], "has no arm other"),
        (["--series", "{plan}"], "line 1"),
        (["--series", "{nothing}"], "it has no patch"),
    ],
)
def test_what_makes_no_sense_is_said(played, plan_file, tmp_path, capsys, arguments, message):
    root, _ = clone(tmp_path)
    (tmp_path / "nothing.txt").write_text("words\n")
    names = {"mbox": mbox(tmp_path), "repo": root, "plan": plan_file, "nothing": tmp_path / "nothing.txt"}
    given = [argument.format(**names) for argument in arguments]
    code, found = run(capsys, *given, "--plan", str(plan_file), "-o", str(tmp_path / "out"))
    assert code == 2
    assert message in found["error"] or message == "line 1"


@pytest.mark.parametrize("path", sorted(Path("examples/plans").glob("*.toml")), ids=lambda path: path.stem)
def test_a_plan_that_is_written_is_the_plan_that_was_read(path):
    loaded = load_plan(path)
    assert parse_plan(plan_text(loaded.plan).encode(), path).plan == loaded.plan


@pytest.mark.parametrize("path", sorted(Path("examples/ci").glob("*.toml")), ids=lambda path: path.stem)
def test_the_shipped_plans_are_plans_of_exact_guests(path):
    loaded = load_plan(path)
    assert ensure(loaded).problems == ()
    assert exact_guest(loaded.plan).driver == "rtl8xxxu"


def test_a_plan_of_too_few_blocks_for_a_verdict_is_refused_and_run_when_asked_for(played, plan_file, tmp_path, capsys):
    plan_file.write_text(plan_file.read_text().replace("blocks = 6", "blocks = 5"))
    code, found = judge(capsys, plan_file, tmp_path)
    assert code == 2
    assert "5 blocks can give no verdict: at 95 % confidence it takes 6 to judge 1 figure" in found["error"]
    assert played.runs == []
    code, found = judge(capsys, plan_file, tmp_path, "--blocks", "2")
    assert (code, found["state"]) == (0, "inconclusive")


def test_the_plan_that_is_shipped_can_give_a_verdict(played, tmp_path, capsys):
    played.mbit_s["series"] = 30.0
    plan = Path(__file__).parents[2] / "examples/ci/plan.toml"
    code, found = judge(capsys, plan, tmp_path)
    assert (code, found["state"]) == (1, "worse")


BOARD = """\
format = "txop-board"
version = 1
title = "sending"
[[task]]
task = "sends"
state = "done"
evidence = [{ kind = "runs", arm = "mainline", test = "tx", metric = "throughput_mbit_s", at_least = 30 }]
[[task]]
task = "sends fast"
state = "open"
evidence = [{ kind = "runs", arm = "mainline", test = "tx", metric = "throughput_mbit_s", at_least = 50 }]
[[task]]
task = "is on the desk"
state = "done"
evidence = [{ kind = "text", file = "elsewhere.txt", fails = "x", works = "y" }]
"""


@pytest.mark.parametrize(
    ("series", "state", "code", "words"),
    [
        (20.0, "board rows lost", 1, "1 with neither, 1 lost, 1 not determined"),
        (60.0, "equivalent", 0, "1 work with both, 1 gained, 1 not determined"),
        (40.0, "equivalent", 0, "1 work with both, 1 with neither, 1 not determined"),
    ],
)
def test_the_rows_of_a_board(played, plan_file, tmp_path, capsys, series, state, code, words):
    # the margin is so wide that no figure decides
    plan_file.write_text(plan_file.read_text() + '[design.margins]\n"tx.throughput_mbit_s" = 300\n')
    (tmp_path / "board.toml").write_text(BOARD)
    played.mbit_s["series"] = series
    left, found = judge(capsys, plan_file, tmp_path, "--board", str(tmp_path / "board.toml"))
    assert (left, found["state"]) == (code, state)
    rows = {row["task"]: row for row in found["board"]["rows"]}
    assert rows["sends"]["base"] == "works"
    assert rows["sends"]["series"] == ("does not work" if series < 30 else "works")
    assert rows["is on the desk"]["base"] == rows["is on the desk"]["series"] == "can't be determined"
    text = " ".join((tmp_path / "out" / "mail.txt").read_text().split())
    assert f"Board (sending), 3 rows: {words}" in text
    assert "--board" in found["again"]
    if series == 20.0:
        assert "what works with the base does not with the series: sends (" in found["headline"]


def test_a_board_that_is_not_there_is_said_before_anything_is_built(played, plan_file, tmp_path, capsys):
    code, found = judge(capsys, plan_file, tmp_path, "--board", "no-such")
    assert code == 2
    assert "no such board" in found["error"]
    assert not played.sources


def test_a_row_that_some_runs_of_an_arm_show_to_fail_is_not_lost():
    failing = Outcome("fail", "series: fail in 1 of 7 runs that show it", n=7, disagreeing=6)
    assert board_rows_answers([Outcome("pass", "base: pass in 7 of 7 runs", n=7)], [failing])[:2] == (
        "works",
        "in part",
    )
    assert board_rows_answers([], [Outcome("fail", "", n=7)])[:2] == ("can't be determined", "does not work")


def test_a_board_of_which_runs_can_show_nothing_is_refused_before_anything_is_built(
    played, plan_file, tmp_path, capsys
):
    (tmp_path / "board.toml").write_text(BOARD[: BOARD.index("[[task]]")] + BOARD[BOARD.rindex("[[task]]") :])
    code, found = judge(capsys, plan_file, tmp_path, "--board", str(tmp_path / "board.toml"))
    assert code == 2
    assert "runs of this plan can show no row of the board" in found["error"]
    assert not played.sources


def test_rows_that_the_runs_do_not_show_are_not_measured(played, plan_file, tmp_path, capsys):
    text = BOARD.replace("throughput_mbit_s", "rtt_ms")
    (tmp_path / "board.toml").write_text(text)
    code, found = judge(capsys, plan_file, tmp_path, "--board", str(tmp_path / "board.toml"))
    assert (code, found["state"]) == (5, "not measured")
    assert "the campaign shows no row of the board for both builds" in found["headline"]


def test_a_fault_that_some_runs_have_is_shown_in_part(played, plan_file, tmp_path, capsys):
    fault = '{ kind = "faults", arm = "mainline", fault = "wifi-slow" }'
    other = '{ kind = "faults", arm = "other", fault = "wifi-slow" }'
    task = '[[task]]\ntask = "{}"\nstate = "done"\nevidence = [{}]\n'
    board = (
        BOARD[: BOARD.index("[[task]]")] + task.format("is quick", fault) + task.format("mixed", f"{fault}, {other}")
    )
    (tmp_path / "board.toml").write_text(board)
    slow = Fault(key="wifi-slow", title="slow", severity="warning", target="dut", count=1, lines=["slow"])
    played.faults = {"series": [slow]}
    _, found = judge(capsys, plan_file, tmp_path, "--board", str(tmp_path / "board.toml"))
    rows = {row["task"]: row for row in found["board"]["rows"]}
    assert rows["mixed"]["series"] == "can't be determined"
    assert "several arms" in rows["mixed"]["series_because"]
    assert rows["is quick"]["series"] == "does not work"

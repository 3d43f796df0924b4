"""A bisection from the command line to its result, over a real git repository, with guests that are played."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from driver_history import commit_all, git, history

from txop.bisect import start
from txop.bisect.request import Place
from txop.cli.app import main

FOLDER = "drivers/net/wireless/realtek/rtl8xxxu"


def source(level: int, more: str = "") -> dict[str, str]:
    return {"Makefile": "obj-$(CONFIG_RTL8XXXU) += rtl8xxxu.o\n", "core.c": f"/* level {level} */\n{more}"}


def write(root: Path, level: int, more: str = "") -> None:
    (root / FOLDER).mkdir(parents=True, exist_ok=True)
    for name, text in source(level, more).items():
        (root / FOLDER / name).write_text(text)


def repository(root: Path, levels: list[int | str]) -> list[str]:
    """A commit for each level; words are a broken driver."""

    def change(level: int | str, number: int):
        if isinstance(level, int):
            return lambda at: write(at, level, f"/* {number} */\n")
        return lambda at: write(at, 1, f"#error {number}\n")

    changes = [(f"change {n}", change(level, n)) for n, level in enumerate(levels[1:], 1)]
    return history(root, changes, change(levels[0], 0))


def run(capsys, *arguments: str) -> tuple[int, dict]:
    with pytest.raises(SystemExit) as left:
        main(["bisect", "--json", "--quiet", "--no-html", *arguments])
    out = capsys.readouterr()
    return int(left.value.code or 0), json.loads(out.out) if out.out else {"error": out.err}


def test_the_first_slow_commit_is_found_and_the_repository_is_left_alone(guests, plan_file, tmp_path, capsys):
    commits = repository(tmp_path / "repo", [40, 41, 40, 40, 40, 20, 20, 21, 20])
    before = git(tmp_path / "repo", "status", "--porcelain", "--branch")
    code, found = run(
        capsys, "--good", commits[0], "--bad", "main", "--source", str(tmp_path / "repo"), "--plan", str(plan_file),
        "-o", str(tmp_path / "out"), "-j", "3",
    )  # fmt: skip
    assert code == 0
    assert found["state"] == "found"
    assert found["candidates"][found["bad"]]["commit"] == commits[5]
    assert found["candidates"][found["good"]]["commit"] == commits[4]
    assert found["headline"].startswith(f"{commits[5][:12]} (change 5) made it worse: tx throughput −")
    assert found["step"]["verdict"] == "worse"
    assert found["step"]["n"] == 6
    assert guests.most_at_once == 3
    assert git(tmp_path / "repo", "status", "--porcelain", "--branch") == before
    assert "union" not in found["headline"]
    assert any("rests on one comparison" in text for text in found["sure"])


def test_the_same_module_is_not_run_twice(guests, plan_file, tmp_path, capsys):
    commits = repository(tmp_path / "repo", [40, 40, 40, 40, 40, 20, 20, 20, 20])
    run(
        capsys, "--good", commits[0], "--bad", "main", "--source", str(tmp_path / "repo"), "--plan", str(plan_file),
        "-o", str(tmp_path / "out"),
    )  # fmt: skip
    assert len(guests.runs) == 12, "6 of each of two modules"


def test_a_commit_that_does_not_build_is_skipped_and_its_log_kept(guests, plan_file, tmp_path, capsys):
    commits = repository(tmp_path / "repo", [40, 41, 42, "no", "no", 20, 21, 22])
    code, found = run(
        capsys, "--good", commits[0], "--bad", "main", "--source", str(tmp_path / "repo"), "--plan", str(plan_file),
        "-o", str(tmp_path / "out"),
    )  # fmt: skip
    assert code == 5
    assert found["state"] == "one-of"
    assert (found["good"], found["bad"]) == (2, 5)
    assert found["headline"].startswith(f"One of 3 made it worse: {commits[3][:12]}, {commits[4][:12]}, ")
    assert [found["candidates"][at]["standing"] for at in (3, 4)] == ["skipped", "skipped"]
    assert found["candidates"][3]["cause"] == "the module could not be built: core.c: #error"
    assert (tmp_path / "out" / found["candidates"][3]["log"]).read_text() == "core.c: #error\n"


def test_void_runs_skip_a_commit(guests, plan_file, tmp_path, capsys):
    commits = repository(tmp_path / "repo", [40, 41, 42, 43, 20, 21, 22])
    guests.void = lambda arm, block: arm == "c3"
    code, found = run(
        capsys, "--good", commits[0], "--bad", "main", "--source", str(tmp_path / "repo"), "--plan", str(plan_file),
        "-o", str(tmp_path / "out"),
    )  # fmt: skip
    assert (code, found["state"], found["good"], found["bad"]) == (5, "one-of", 2, 4)
    assert "runs void: the association was lost" in found["candidates"][3]["cause"]


def test_it_goes_on_after_it_was_stopped(guests, plan_file, tmp_path, capsys):
    commits = repository(tmp_path / "repo", [40, 41, 42, 43, 44, 20, 21, 22, 23])
    out = str(tmp_path / "out")
    guests.stop_after = 8
    code, _ = run(
        capsys, "--good", commits[0], "--bad", "main", "--source", str(tmp_path / "repo"), "--plan", str(plan_file),
        "-o", out,
    )  # fmt: skip
    assert code == 130
    with (tmp_path / "out" / "journal.jsonl").open("a") as journal:
        journal.write('{"event": "run-fin')  # as a power cut leaves it
    guests.stop_after = None
    code, found = run(capsys, "--resume", out)
    assert found["candidates"][found["bad"]]["commit"] == commits[5]
    assert code == 4, "the journal is damaged, which is said"
    assert len(guests.runs) == len(set(guests.runs)), "no run is done twice"
    assert any(path.name.endswith(".interrupted-1") for path in (tmp_path / "out" / "runs").iterdir())
    again = len(guests.runs)
    run(capsys, "--resume", out)
    assert len(guests.runs) == again, "a finished one is only shown"


def test_what_became_better_is_found(guests, plan_file, tmp_path, capsys):
    commits = repository(tmp_path / "repo", [20, 21, 20, 40, 41])
    code, found = run(
        capsys, "--good", commits[0], "--bad", "main", "--source", str(tmp_path / "repo"), "--plan", str(plan_file),
        "-o", str(tmp_path / "out"), "--better",
    )  # fmt: skip
    assert (code, found["bad"]) == (0, 3)
    assert "made it better" in found["headline"]


def test_ends_that_do_not_differ(guests, plan_file, tmp_path, capsys):
    commits = repository(tmp_path / "repo", [40, 40, 40, 40])
    code, found = run(
        capsys, "--good", commits[0], "--bad", "main", "--source", str(tmp_path / "repo"), "--plan", str(plan_file),
        "-o", str(tmp_path / "out"),
    )  # fmt: skip
    assert (code, found["state"], found["bad"]) == (5, "not-determined", None)
    words = "It can't be determined, because the bad end is not worse than the good one (tx"
    assert found["headline"].startswith(words)


def test_the_terminal_and_the_page_have_the_answer_and_every_tested_commit(guests, plan_file, tmp_path, capsys):
    commits = repository(tmp_path / "repo", [40, 41, "no", 40, 40, 20, 20, 21, 20])
    git(tmp_path / "repo", "commit", "-q", "--amend", "-m", "<script>alert(1)</script>\x1b[31m")
    with pytest.raises(SystemExit) as left:
        main(
            ["bisect", "--good", commits[0], "--bad", "main", "--source", str(tmp_path / "repo"),
             "--plan", str(plan_file), "-o", str(tmp_path / "out")]
        )  # fmt: skip
    assert left.value.code == 0
    out = capsys.readouterr()
    assert f"{commits[5][:12]} (change 5) made it worse" in out.out
    assert "\x1b[31m" not in out.out
    assert "bad (first)" in out.out
    assert "building" in out.err
    page = (tmp_path / "out" / "bisect.html").read_text()
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "<svg" in page


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--good", "nowhere", "--bad", "main"], "there is no commit 'nowhere'"),
        (["--good", "main", "--bad", "{0}"], "is not an ancestor of"),
        (["--good", "{0}"], "a bisection needs --good and --bad, or --series"),
        (["--good", "{0}", "--bad", "main", "--figure", "tx.speed"], "has no figure tx.speed"),
        (["--good", "{0}", "--bad", "main", "--arm", "other"], "has no arm other"),
        (["--good", "{0}", "--bad", "main", "--runs", "3"], "with 3 runs no verdict is possible"),
        (["--good", "main", "--bad", "main"], "changes drivers/net/wireless/realtek/rtl8xxxu"),
        (["--good", "{0}", "--bad", "main", "--figure", "tx.signal_dbm"], "explains and is never judged"),
    ],
)
def test_what_makes_no_sense_is_said_and_leaves_no_folder(guests, plan_file, tmp_path, capsys, arguments, message):
    commits = repository(tmp_path / "repo", [40, 41])
    given = [argument.format(*commits) for argument in arguments]
    code, found = run(
        capsys, *given, "--source", str(tmp_path / "repo"), "--plan", str(plan_file), "-o", str(tmp_path / "out")
    )
    assert code == 2
    assert message in " ".join(found["error"].split())
    assert not (tmp_path / "out").exists()


def test_a_plan_that_is_not_of_exact_guests_is_refused(guests, plan_file, tmp_path, capsys):
    plan_file.write_text(plan_file.read_text().replace("[guest]\n", '[guest]\nmode = "fast"\n'))
    code, found = run(capsys, "--good", "a", "--bad", "b", "--plan", str(plan_file), "-o", str(tmp_path / "out"))
    assert code == 2
    assert "exact guests" in found["error"]


def test_a_series_is_bisected_patch_by_patch(plan_file, tmp_path):
    for number in (1, 2, 3):
        (tmp_path / f"000{number}-x.patch").write_text(f"--- a/core.c\n+++ b/core.c\n@@ -1 +1 @@\n-a\n+{number}\n")
    from txop.plan.load import load_plan

    files = tuple(sorted(tmp_path.glob("*.patch")))
    made = start.begin(
        load_plan(plan_file), start.Range(series=files), start.JudgementOptions(), Place(tmp_path / "out")
    )
    assert [len(each.patches) for each in made.request.candidates] == [0, 1, 2, 3]
    assert [each.name for each in made.request.candidates] == ["base", "patch 1", "patch 2", "patch 3"]
    for file in files:
        file.unlink()
    assert all(Path(name).is_file() for name in made.request.candidates[3].patches), "they are kept"
    assert start.reopen(tmp_path / "out").request == made.request


def test_merges_are_remarked_on(plan_file, tmp_path):
    root = tmp_path / "repo"
    commits = repository(root, [40, 41])
    git(root, "checkout", "-q", "-b", "side", commits[0])
    (root / FOLDER / "side.c").write_text("/* side */\n")
    commit_all(root, "on the side")
    git(root, "checkout", "-q", "main")
    git(root, "merge", "-q", "-m", "merged", "side")
    from txop.plan.load import load_plan

    what = start.Range(commits[0], "main", root)
    made = start.begin(load_plan(plan_file), what, start.JudgementOptions(), Place(tmp_path / "out"))
    assert any("The history is not a line" in note for note in made.request.notes)


def test_a_folder_that_is_no_bisection_is_refused(tmp_path, capsys):
    code, found = run(capsys, "--resume", str(tmp_path))
    assert code == 2
    assert "is not a bisection" in found["error"]

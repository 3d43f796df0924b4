"""``txop ci --watch``: what is saved is judged, once for each edit."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from driver_history import commit_all, git

from txop.arms.repository import Repository
from txop.ci import judge
from txop.cli import ci_watch
from txop.cli.app import main

FOLDER = "drivers/net/wireless/realtek/rtl8xxxu"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "linux"
    (root / FOLDER).mkdir(parents=True)
    (root / FOLDER / "core.c").write_text("one\nend\n")
    (root / FOLDER / "Makefile").write_text("obj-$(CONFIG_RTL8XXXU) += rtl8xxxu.o\nrtl8xxxu-y := core.o\n")
    (root / FOLDER / "Kconfig").write_text('config RTL8XXXU\n\ttristate "x"\n')
    (root / "README").write_text("a tree\n")
    git(root, "init", "--quiet")
    commit_all(root, "first")
    return root


def test_an_edit_is_told_once_and_only_when_it_has_settled(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository = Repository.at(tree)
    core = tree / FOLDER / "core.c"
    steps: list[None] = []

    def later(_: float) -> None:
        steps.append(None)
        if len(steps) == 3:
            core.write_text("half")
        if len(steps) == 4:
            core.write_text("two\nend\n")
        if len(steps) == 8:
            (tree / "README").write_text("another file\n")
        if len(steps) == 12:
            core.write_text("one\nend\n")

    monkeypatch.setattr(ci_watch, "rest", later)
    told = list(islice(ci_watch.edits(repository, repository.commit("HEAD"), FOLDER), 3))
    assert told[0] == ""
    assert "+two" in told[1]
    assert "half" not in told[1]
    assert told[2] == "", "a file elsewhere is no edit of the driver"


def test_each_save_has_its_verdict(
    played, plan_file, tmp_path: Path, tree: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    played.mbit_s["series"] = 30.0
    waited: list[None] = []

    def later(_: float) -> None:
        waited.append(None)
        if len(waited) == 2:
            (tree / FOLDER / "core.c").write_text("two\nend\n")
        if len(waited) > 6:
            raise KeyboardInterrupt

    monkeypatch.setattr(ci_watch, "rest", later)
    sources: list[Any] = []
    monkeypatch.setattr(judge.SeriesJudgement, "build", recorded(judge.SeriesJudgement.build, sources))
    with pytest.raises(SystemExit) as ended:
        main(
            [
                "ci",
                "--watch",
                str(tree),
                "--folder",
                FOLDER,
                "--plan",
                str(plan_file),
                "-o",
                str(tmp_path / "out"),
                "-q",
            ]
        )
    assert ended.value.code == 130
    said = capsys.readouterr()
    assert "001: Worse: " in said.out
    assert said.out.count("\n") == 1, "one edit, one line"
    assert "core.c as saved" in (tmp_path / "out" / "001" / "mail.txt").read_text()
    (found,) = sources
    assert text_of(found.series_source) == "two\nend\n"
    assert text_of(found.base_source) == "one\nend\n"
    assert (tree / FOLDER / "core.c").read_text() == "two\nend\n", "the work tree is only read"


def text_of(source: Path) -> str:
    (core,) = source.rglob("core.c")
    return core.read_text()


def recorded(build, sources):
    async def and_build(self, progress):
        sources.append(self.found)
        await build(self, progress)

    return and_build


def test_what_is_watched_is_no_series(plan_file, tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["ci", "--watch", str(tree), "--series", "x", "--plan", str(plan_file)])
    assert ended.value.code == 2
    assert "--watch" in capsys.readouterr().err

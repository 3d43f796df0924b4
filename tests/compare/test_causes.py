"""Causes by intervention, in archives that have every combination of changes."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType

import pytest

from txop.archive.reader import Archive, read_archive
from txop.compare.archive import compare
from txop.compare.causes import causes_of, chosen_factorial
from txop.core.errors import ExitCode, UserError
from txop.plan_check.factorial import corners

MBIT_S = {"stock": 15.0, "with-7": 30.0, "with-10": 16.5, "with-9": 15.0, "with-7-10": 36.0,
          "with-7-9": 30.0, "with-10-9": 16.5, "all": 36.0}  # fmt: skip
PATCHES = {"stock": (), "with-7": (7,), "with-10": (10,), "with-9": (9,), "with-7-10": (7, 10),
           "with-7-9": (7, 9), "with-10-9": (10, 9), "all": (7, 10, 9)}  # fmt: skip


def made(
    sample: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    root: Path,
    names: tuple[str, ...] = tuple(MBIT_S),
    blocks: int = 7,
) -> Path:
    """An archive of these arms; patch 7 is the large cause, 9 does nothing."""
    text = sample.plan_of_tx(blocks=blocks)
    begin, end = text.index("[[arm]]"), text.index("[[test]]")
    arms = "".join(
        f'[[arm]]\nname = "{name}"\npatches = [{", ".join(f"{{ number = {number} }}" for number in PATCHES[name])}]\n\n'
        for name in names
    )
    for table in ("_RETRY_PERCENT", "_CPU_PERCENT", "_LOADED_MS", "_IDLE_MS", "_DRIVER", "_SRCVERSION"):
        known = getattr(sample, table)
        for name in names:
            monkeypatch.setitem(known, name, known["vanilla"])
    for name in names:
        monkeypatch.setitem(sample._MBIT_S["tx"], name, MBIT_S[name])
    monkeypatch.setattr(sample, "INFINITE_ARM", "none")
    return sample.make(root, plan_text=text[:begin] + arms + text[end:])  # type: ignore[no-any-return]


@pytest.fixture
def archive(sample: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Archive:
    return read_archive(made(sample, monkeypatch, tmp_path / "archive"))


def test_the_true_cause_is_first_and_shares_sum_to_the_whole(archive):
    chosen = chosen_factorial(archive, None, None)
    assert (chosen.arm, chosen.against, len(chosen.factors)) == ("all", "stock", 3)
    found = causes_of(archive, compare(archive), chosen)
    assert [cause.name for cause in found.causes] == ["patch-7", "patch-10", "patch-9"]
    assert len(found.blocks) == 7
    assert sum(cause.share.mean for cause in found.causes) == pytest.approx(found.whole.mean)
    assert found.whole.mean == pytest.approx(140, rel=0.1)
    first, second, third = found.causes
    assert first.alone.mean == pytest.approx(100, rel=0.1)
    assert first.last.mean == pytest.approx(130, rel=0.1)
    assert second.share.mean == pytest.approx(25, rel=0.4)
    assert third.share.low is not None
    assert third.share.high is not None
    assert third.share.low < 5
    assert third.share.high > -5
    assert found.together.mean == pytest.approx(30, abs=12)
    assert found.baseline is None


def test_a_figure_without_a_verdict_has_no_cause_in_the_headline(archive, txop):
    shown = txop("compare", str(archive.layout.root))
    assert "by intervention" not in shown.stdout


def test_the_headline_says_by_intervention(sample, monkeypatch, tmp_path, txop):
    place = str(made(sample, monkeypatch, tmp_path / "decided", blocks=12))
    shown = txop("compare", place)
    assert "Why all (by intervention): tx: of +1" in shown.stdout, shown.stdout
    assert "(correlation)" not in shown.stdout.split("Why all", 1)[1].split("\n", 1)[0]
    told = txop("why", place)
    assert told.returncode == 0, told.stderr
    assert told.stdout.startswith("tx.throughput_mbit_s: all against stock, by intervention (emulated)\nWhy all: of +1")
    document = json.loads(txop("why", place, "--arm", "all", "--figure", "tx.throughput_mbit_s", "--json").stdout)
    assert [cause["name"] for cause in document["causes"]] == ["patch-7", "patch-10", "patch-9"]
    assert txop("why", place, "--arm", "none").returncode == 2
    assert txop("why", place, "--figure", "tx.nothing").returncode == 2
    assert txop("why", place, "--packet", "1").returncode == 2


def test_what_is_missing_is_counted(sample, monkeypatch, tmp_path):
    root = made(sample, monkeypatch, tmp_path / "archive", ("stock", "with-7", "all"))
    archive = read_archive(root)
    with pytest.raises(UserError, match="no two arms have all combinations") as none:
        chosen_factorial(archive, None, None)
    assert none.value.exit_code is ExitCode.UNDECIDED
    with pytest.raises(UserError, match="5 of 8 combinations of all and stock are missing"):
        chosen_factorial(archive, "all", None)
    with pytest.raises(UserError, match="differ in 1 thing"):
        chosen_factorial(archive, "with-7", "stock")


def test_every_corner_has_its_arm(archive):
    chosen = chosen_factorial(archive, "all", "stock")
    assert len({chosen.arms[corner] for corner in corners(3)}) == 8

"""``txop report`` as people call it."""

from __future__ import annotations

import json
from concurrent.futures import Future
from pathlib import Path

import pytest

from txop.cli.app import _run


@pytest.fixture
def archive(sample, tmp_path) -> Path:
    return sample.single(tmp_path / "wiki")


@pytest.fixture
def drawn(monkeypatch):
    """The page without its plots: they have tests of their own."""
    nothing: Future[str] = Future()
    nothing.set_result("")
    monkeypatch.setattr("txop.present.chapters.svg", lambda *_, **__: nothing)
    monkeypatch.setattr("txop.present.plot.start_converter", lambda: None)


@pytest.mark.usefixtures("drawn")
def test_the_page_goes_into_the_archive(archive, capsys):
    assert _run(["report", str(archive)]) == 0
    out = capsys.readouterr().out
    assert str(archive / "report.html") in out.replace("\n", "")
    assert "n=1, which says nothing about chance" in " ".join(out.split())
    assert (archive / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("mail", "report.mail.txt"),
        ("mail-ascii", "report.mail.txt"),
        ("markdown", "report.md"),
        ("dokuwiki", "report.dokuwiki.txt"),
        ("csv", "report.csv"),
        ("json", "report.json"),
        ("parquet", "report-parquet/comparison.parquet"),
    ],
)
def test_every_other_format_is_written(archive, capsys, name, file):
    assert _run(["report", str(archive), "--format", name, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["format"] == name
    assert document["finished"] is True
    assert (archive / file).stat().st_size > 0


@pytest.mark.usefixtures("drawn")
def test_another_baseline_and_place(archive, tmp_path, capsys):
    assert _run(["report", str(archive), "--baseline", "vendor", "-o", str(tmp_path / "x.html")]) == 0
    assert "against vendor" in capsys.readouterr().out
    assert not (archive / "report.html").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--format", "pdf"], "unknown format pdf"),
        (["--baseline", "nobody"], "no arm nobody"),
        (["-o", "."], "is a folder"),
    ],
)
def test_what_is_wrong_is_said(archive, capsys, arguments, said):
    assert _run(["report", str(archive), *arguments]) == 2
    assert said in capsys.readouterr().err


def test_a_folder_that_is_no_archive(tmp_path, capsys):
    assert _run(["report", str(tmp_path)]) == 2
    assert "is not an archive" in capsys.readouterr().err


@pytest.mark.usefixtures("drawn")
def test_damage_has_its_exit_code(archive, capsys):
    (archive / "runs" / "001-vendor-tx" / "run.json").write_text("{", encoding="utf-8")
    assert _run(["report", str(archive)]) == 4
    assert "the archive is damaged in 1 place" in capsys.readouterr().err

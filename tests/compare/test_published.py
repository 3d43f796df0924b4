"""Figures of others beside those of a campaign: shown with the difference, in every form of the report."""

from __future__ import annotations

from pathlib import Path

import pytest

from txop.archive.reader import read_archive
from txop.compare.archive import compare
from txop.plan.load import parse_plan
from txop.plan_check.check import check
from txop.report.answer.published import beside
from txop.report.campaign import write_page
from txop.report.exports.dokuwiki import lines as dokuwiki
from txop.report.exports.markdown import lines as markdown

PUBLISHED = """
published = [
  { test = "tx", throughput_mbit_s = 20.0, retries_percent = 12, about = "<script>board</script> | x" },
  { test = "tx", throughput_mbit_s = 0 },
]
"""


@pytest.fixture
def published(copied: Path) -> Path:
    """An archive with a plan that has figures of others for its second arm."""
    plan = copied / "plan.toml"
    text = plan.read_text()
    head, arm, rest = text.partition('name = "patch10"\n')
    assert arm
    plan.write_text(head + arm + PUBLISHED + rest)
    return copied


def test_published_figures_stand_beside_the_median(published: Path) -> None:
    archive = read_archive(published)
    result = compare(archive)
    rows = beside(archive, result)
    figure = next(figure for figure in result.figures if figure.name == "tx.throughput_mbit_s")
    values = next(values for values in figure.arms if values.arm == "patch10")
    assert [(row.test, row.theirs_mbit_s, row.mbit_s, row.n) for row in rows] == [
        ("tx", 20.0, values.median, values.n),
        ("tx", 0.0, values.median, values.n),
    ]
    assert rows[0].theirs_retries_percent == 12


def test_every_report_has_them_and_shows_their_text_as_text(published: Path, tmp_path: Path) -> None:
    archive = read_archive(published)
    result = compare(archive)
    write_page(archive, result, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "Beside published figures" in page
    assert "<script>board" not in page
    wiki = "\n".join(dokuwiki(archive, result))
    assert "Beside published figures" in wiki
    assert "%%<script>board</script> | x%%" in wiki
    assert "Beside published figures" in "\n".join(markdown(archive, result))


def test_a_campaign_without_them_has_no_such_table(copied: Path) -> None:
    archive = read_archive(copied)
    assert beside(archive, compare(archive)) == []
    assert "Beside published figures" not in "\n".join(dokuwiki(archive, compare(archive)))


def test_a_figure_of_a_test_that_is_not_there_is_a_mistake() -> None:
    text = """
title = "x"
target = { dut = { kind = "guest" }, peer = { kind = "guest" } }
guest = {}
[[arm]]
name = "a"
published = [{ test = "rx", throughput_mbit_s = 1.0 }]
[[test]]
name = "tx"
kind = "tcp-tx"
"""
    loaded = parse_plan(text.encode(), Path("plan.toml"))
    assert [problem.key for problem in check(loaded, files=False).problems] == ["arm[0].published[0].test"]

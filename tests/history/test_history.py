"""What old documents let anybody conclude: checked against other intervals and known contradictions."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import mannwhitneyu

from txop.core.errors import UserError
from txop.history.contradictions import contradictions, remarks
from txop.history.documents import read, shipped
from txop.history.judge import cells, findings

DOCUMENTS = shipped()
SDIO = DOCUMENTS["ar6k-linux-sdio"]
WIKI = DOCUMENTS["rtl8xxxu-gardena-wiki"]


def by_rule(document, rule):
    return [f for f, c in zip(findings(document), document.conclusion, strict=True) if c.rule == rule]


def test_the_four_documents_are_there_with_their_figures():
    assert set(DOCUMENTS) == {
        *("ar6k-linux-sdio", "fq-codel-airtime-ath9k", "qmi-wwan-tx-aggregation", "rtl8xxxu-gardena-wiki"),
    }
    assert sum(len(table.sender_1000b_s) for table in SDIO.transfers) == 40
    assert len(WIKI.run) == 30
    assert all(document.figure for document in DOCUMENTS.values())


def test_the_conclusions_of_the_sdio_mail():
    (about,), (same,), (below,) = (by_rule(SDIO, rule) for rule in ("about", "same", "below"))
    assert (about.answer, same.answer, below.answer) == ("holds", "holds", "holds")
    assert about.change_percent == pytest.approx(-9.9, abs=0.05)
    assert below.high_percent is not None
    assert below.high_percent < -50
    assert same.low_percent is not None
    assert same.high_percent is not None
    assert -3 < same.low_percent < 0 < same.high_percent < 3
    for finding in (about, same, below):
        assert [basis.n for basis in finding.basis] == [10, 10]
        assert "n = 10 and 10" in finding.sentence
        assert "drift not controlled" in finding.sentence


@pytest.mark.parametrize("number", range(4))
def test_the_intervals_are_those_of_scipys_exact_test_inverted(number):
    """The interval of Mann-Whitney holds the shifts that its test does not refuse at 5 %."""
    finding = findings(SDIO)[number]
    x, y = (np.log(basis.values) for basis in finding.basis)
    low, high = (np.log1p(end / 100) for end in (finding.low_percent, finding.high_percent))

    def p(shift: float) -> float:
        return float(mannwhitneyu(y - shift, x, method="exact").pvalue)

    little = 1e-7
    assert p(low - little) < 0.05 < p(low + little)
    assert p(high + little) < 0.05 < p(high - little)
    shifts = np.sort((y[:, None] - x[None, :]).ravel())
    assert finding.change_percent == pytest.approx(100 * np.expm1(np.median(shifts)))


def test_a_conclusion_that_the_figures_refuse_does_not_hold():
    changed = SDIO.model_copy(
        update={"conclusion": [c.model_copy(update={"percent": -30.0}) for c in SDIO.conclusion if c.rule == "about"]}
    )
    assert [finding.answer for finding in findings(changed)] == ["does not hold"]
    narrow = SDIO.model_copy(
        update={"conclusion": [c.model_copy(update={"percent": 0.5}) for c in SDIO.conclusion if c.rule == "same"]}
    )
    assert [finding.answer for finding in findings(narrow)] == ["can't be determined"], (
        "the interval is wider than the margin"
    )


def test_single_runs_tell_nothing():
    told = by_rule(WIKI, "runs")
    assert len(told) == 7
    assert {finding.answer for finding in told} == {"can't be determined"}
    assert all("n = 1 and 1" in f.sentence or "n = 2 and 1" in f.sentence for f in told)
    gateway = [runs for runs in cells(WIKI).values() if runs[0].device == "gateway"]
    assert sorted(map(len, gateway)) == [1] * 11 + [2]
    assert any("11 of 12 cells are n = 1" in text and "30.6 and 42.5" in text for text in remarks(WIKI))


def test_ranges_that_the_tables_leave():
    found = by_rule(WIKI, "range")
    assert [finding.answer for finding in found] == ["does not hold", "does not hold"]
    assert "6 of 20 rows" in found[0].sentence
    assert "3.91 Mbit/s (line 193)" in found[1].sentence


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (192, "17.2 % retries in the table, 16 % in the name"),
        (207, "38.9 Mbit/s in the table, 37.2 in the name"),
        (190, '24 captures say "MBps"'),
        (210, "named after the figures of line 194"),
    ],
)
def test_the_contradictions_of_the_wiki(line, words):
    assert [each for each in contradictions(WIKI) if each.lines[0] == line and words in each.sentence]


def test_no_row_that_agrees_with_its_name_is_named():
    named = {each.lines[0] for each in contradictions(WIKI) if "in the name" in each.sentence}
    agree = {
        run.line
        for run in WIKI.run
        if run.capture and (run.mbit_s, run.retries_percent) == (run.capture.rate, run.capture.retries_percent)
    }
    assert not named & agree
    assert len(named | agree) == 24


def test_an_average_that_is_wrong_is_named():
    assert contradictions(SDIO) == []
    first = SDIO.transfers[0]
    wrong = first.model_copy(update={"average": [999.0, *first.average[1:]]})
    changed = SDIO.model_copy(update={"transfers": [wrong, *SDIO.transfers[1:]]})
    (found,) = contradictions(changed)
    assert f"Line {first.average_line}" in found.sentence


def test_every_sentence_has_figures_or_a_because():
    for document in DOCUMENTS.values():
        for finding in findings(document):
            assert finding.answer == "can't be determined" or finding.basis, finding.said
            assert finding.answer != "can't be determined" or "because" in finding.sentence


def test_the_command(txop):
    shown = txop("history", "ar6k-linux-sdio", "--figures")
    assert shown.returncode == 0, shown.stderr
    assert "-9.9 %" in shown.stdout
    assert "10.6/75.91/287/49.09 ms" in shown.stdout
    said = json.loads(txop("history", "--json").stdout)
    assert said["format"] == "txop-history-findings"
    assert [each["name"] for each in said["documents"]] == sorted(DOCUMENTS)
    assert {each["origin"] for each in said["documents"]} == {"imported"}


def test_names_and_files_that_are_wrong(txop, tmp_path):
    assert 'Did you mean "ar6k-linux-sdio"' in txop("history", "ar6k-linux-sdo").stderr
    assert txop("history", str(tmp_path / "none.toml")).returncode == 2
    bad = tmp_path / "bad.toml"
    for text, words in (
        ("not toml", "not TOML"),
        ('format = "txop-history"\nversion = 2\n', "version"),
        (
            'format = "txop-history"\nversion = 1\ntitle = "t"\nsource = "s"\nabout = "a"\nfigure = [{line = 0}]',
            "figure.0",
        ),
    ):
        bad.write_text(text)
        with pytest.raises(UserError, match=words):
            read(bad)

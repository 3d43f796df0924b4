"""The first screen of the page: its figures are those of the comparison, and no cost is hidden."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

from report_campaign.conftest import GOLDEN
from txop.archive.reader import read_archive
from txop.compare import words
from txop.compare.answer import answers, rows_between
from txop.compare.archive import compare
from txop.compare.result import Answer, ComparedFigure, CompareResult
from txop.core.metrics import METRICS, fact_of
from txop.present.format import MINUS, share
from txop.report.answer.air_digest import digest
from txop.report.answer.because import because
from txop.report.answer.scorecard import scorecard
from txop.report.answer.verdicts import MOST_NAMED, verdicts
from txop.report.campaign import page
from txop.report.campaign.plots.forest import forest


@pytest.fixture(scope="module")
def told() -> CompareResult:
    """What ``txop compare --json`` prints."""
    command = [sys.executable, "-m", "txop", "compare", str(GOLDEN), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    return CompareResult.model_validate(json.loads(done.stdout))


def _cells(text: str) -> list[list[str]]:
    """Rows of the scorecard as they stand on the page."""
    table = text[text.index('<table class="card">') :]
    body = table[table.index("<tbody>") : table.index("</tbody>")]
    rows = re.findall(r"<tr.*?</tr>", body, re.DOTALL)
    return [
        [" ".join(re.sub(r"<[^>]*>", " ", cell).split()) for cell in re.findall(r"<t[dh].*?</t[dh]>", row, re.DOTALL)]
        for row in rows
    ]


def test_the_scorecard_has_the_figures_of_compare(golden_page, told):
    card = scorecard(told)
    assert card is not None
    columns = [f"{f.metric.title}{f', {f.metric.unit}' if f.metric.unit else ''}" for f in told.figures]
    seen = 0
    for cells in _cells(golden_page.replace("&nbsp;", " ")):
        test, arm = cells[0], cells[1].removesuffix(" baseline")
        for column, cell in zip(card.columns, cells[2:], strict=True):
            found = [f for f, name in zip(told.figures, columns, strict=True) if f.test == test and name == column]
            if not found:
                assert cell == "–"
                assert "–: not measured in this test." in card.notes
                continue
            (figure,) = found
            values = next(values for values in figure.arms if values.arm == arm)
            assert values.median is not None
            number = float(cell.split()[0].replace(",", "").replace(MINUS, "-"))
            assert number == pytest.approx(values.median, abs=0.51 * 10**-figure.metric.digits)
            row = next((row for row in figure.rows if row.arm == arm), None)
            if row is not None:
                assert words.change(row) in cell
                assert cell.endswith(words.verdict(row))
                seen += 1
    assert seen > 12


def test_the_verdict_has_the_changes_of_compare(golden_page, told):
    flat = " ".join(
        re.sub(r"<[^>]*>", " ", golden_page[: golden_page.index('<details class="chapter subject">')])
        .replace("&nbsp;", " ")
        .split()
    )
    for line in verdicts(told).lines:
        assert f"{line.arm} against {line.against}: {line.text}" in flat
        for figure in told.figures:
            row = next((row for row in figure.rows if row.arm == line.arm), None)
            if figure.role == "primary" and row is not None:
                assert f"{words.label(figure)} {words.change(row)}" in line.text


def _made_worse(result: CompareResult, arm: str, most: int) -> CompareResult:
    """The comparison with the first ``most`` exploratory figures of an arm worse, each more so than the one before."""
    figures = []
    count = 0
    for figure in result.figures:
        rows = list(figure.rows)
        for at, row in enumerate(rows):
            if figure.role == "exploratory" and row.arm == arm and count < most:
                count += 1
                rows[at] = row.model_copy(
                    update={"verdict": "worse", "estimate": -count * row.margin, "infinite": None}
                )
        figures.append(figure.model_copy(update={"rows": rows}))
    assert count == most
    return _answered(result, figures)


def _answered(result: CompareResult, figures: list[ComparedFigure]) -> CompareResult:
    arms = [arm.name for arm in result.arms]
    found = answers(figures, result.baseline, arms, {(a.arm, a.against) for a in result.answers})
    return result.model_copy(update={"figures": figures, "answers": found})


def _of_vendor(result: CompareResult) -> tuple[Answer, str]:
    answer = next(a for a in result.answers if a.arm == "vendor" and a.against == result.baseline)
    return answer, next(line.text for line in verdicts(result).lines if line.arm == "vendor")


def test_every_cost_is_named_or_counted_and_each_quantity_once(golden_result):
    result = _made_worse(golden_result, "vendor", 9)
    answer, text = _of_vendor(result)
    worse = [
        figure
        for figure in result.figures
        if figure.role == "exploratory" and any(r.arm == "vendor" and r.verdict == "worse" for r in figure.rows)
    ]
    assert len(worse) == 9
    facts = {(figure.test, fact_of(figure.metric.key)[0]) for figure in worse}
    assert {(n.partition(".")[0], fact_of(n.partition(".")[2])[0]) for n in answer.costs} == facts
    assert len(answer.costs) == len(facts) > MOST_NAMED
    assert f"and {len(facts) - MOST_NAMED} more (exploratory" in text
    for name in answer.costs[:MOST_NAMED]:
        figure = result.figure(name)
        row = next(row for row in figure.rows if row.arm == "vendor")
        assert f"{words.label(figure)} {words.change(row)}" in text


def test_of_busy_and_idle_one_is_named(golden_result):
    figure = next(f for f in golden_result.figures if f.role == "exploratory" and f.rows)
    row = next(row for row in figure.rows if row.arm == "vendor")
    parts = [
        figure.model_copy(
            update={
                "name": f"{figure.test}.{key}",
                "metric": figure.metric.model_copy(update={"key": key, "title": METRICS[key].title}),
                "rows": [row.model_copy(update={"verdict": "worse", "estimate": -change, "margin": 2.0})],
            }
        )
        for key, change in (("cpu_busy_percent", 30.0), ("cpu_idle_percent", 31.0))
    ]
    answer, text = _of_vendor(_answered(golden_result, parts))
    assert (answer.costs, answer.looked_at) == ([f"{figure.test}.cpu_busy_percent"], 1)
    assert "CPU idle" not in text


def test_gains_and_costs_are_named_by_one_rule(golden_result):
    """Whatever is named has the verdict of its row, and whatever has a verdict is named under one of its names."""
    for answer in golden_result.answers:
        decided = {"better": answer.gains, "worse": answer.costs}
        for verdict, names in decided.items():
            rows = [
                figure.name
                for figure, row in rows_between(
                    golden_result.figures, answer.arm, answer.against, golden_result.baseline
                )
                if figure.role == "exploratory" and row.verdict == verdict
            ]
            assert set(names) <= set(rows)
            keys = {(n.partition(".")[0], fact_of(n.partition(".")[2])[0]) for n in names}
            assert keys == {(n.partition(".")[0], fact_of(n.partition(".")[2])[0]) for n in rows}


def test_idle_air_is_no_cause_where_a_capture_lacks_frames(golden, golden_result):
    """The runs' own limits say that gaps may be frames that were not captured."""

    def told(limits: list[str]) -> str:
        archive = read_archive(GOLDEN)
        for at, run in enumerate(archive.runs):
            if run.air is not None:
                share = {"vanilla": 0.5, "vendor": 0.01}.get(run.arm, 0.2)
                waterfall = [{"cause": "idle", "share": share}]
                mine = limits if run.arm == "vendor" else []
                archive.runs[at] = run.model_copy(update={"air": {**run.air, "waterfall": waterfall, "limits": mine}})
        return because(archive, golden_result, "vendor", "vanilla")[0].text

    assert "idle 50.0 % → 1.0 % of the time" in told([])
    for limit in ("frames-missing", "one-direction", "dropped"):
        assert "idle" not in told([limit])


def test_what_goes_with_the_verdict_has_the_figures_it_rests_on(golden, golden_result):
    (tx, _) = because(golden, golden_result, "vendor", "vanilla")
    assert tx.has_figures
    row = next(row for row in golden_result.figure("tx.air_ampdu_mpdus").rows if row.arm == "vendor")
    assert row.arm_median is not None
    assert row.baseline_median is not None
    assert f"MPDUs per PPDU {row.baseline_median:.2f} → {row.arm_median:.2f}" in tx.text
    counted = {p.run for v in golden_result.figure("tx.throughput_mbit_s").arms for p in v.points}
    shares = [
        digest(arm, [run for run in golden.runs if run.run in counted and run.arm == arm]).shares["retries"]
        for arm in ("vendor", "vanilla")
    ]
    assert f"retries {share(shares[1])} → {share(shares[0])} of the time" in tx.text
    assert f"n={row.n} runs of each arm" in tx.text
    assert "emulated" in tx.text
    assert "the bus can't be determined, because the plan asked for no capture of it" in tx.text


def test_without_captures_the_reason_stands_in_its_place(golden, golden_result):
    kept = [figure for figure in golden_result.figures if not figure.metric.key.startswith("air_")]
    result = golden_result.model_copy(update={"figures": kept})
    runs = [run.model_copy(update={"air": None}) for run in golden.runs]
    archive = read_archive(GOLDEN)
    archive.runs[:] = runs
    said = because(archive, result, "vendor", "vanilla")
    assert said
    for each in said:
        assert not each.has_figures
        assert "can't be determined, because" in each.text
        assert "there is no figure of a capture: of the air " in each.text
        assert "; of the bus the plan asked for no capture of it" in each.text
    collect = archive.plan.collect.model_copy(update={"air": False, "usbmon": False})
    archive.plan = archive.plan.model_copy(update={"collect": collect})
    for each in because(archive, result, "vendor", "vanilla"):
        none = "the plan asked for no capture, neither of the air (collect.air) nor of the bus (collect.usbmon)."
        assert each.text.endswith(none)
        assert "→" not in each.text


def test_an_inconclusive_arm_has_nothing_to_explain(golden, golden_result):
    assert [each.test for each in because(golden, golden_result, "patch10", "vanilla")] == ["tx"]


def test_one_run_for_each_arm_is_no_verdict(sample, tmp_path):
    archive = read_archive(sample.single(tmp_path / "wiki"))
    result = compare(archive)
    lines = verdicts(result).lines
    assert lines
    for line in lines:
        assert "n=1, which says nothing about chance" in line.text
        assert because(archive, result, line.arm, line.against) == []
    assert "<h1>" in page(archive, result, tmp_path / "x.html")


def test_ratios_are_on_a_linear_axis_unless_they_are_far_apart(golden_result):
    def axes(estimate: float) -> list[str | None]:
        figure = golden_result.figure("tx.throughput_mbit_s")
        rows = [row.model_copy(update={"estimate": estimate, "low": estimate, "high": estimate}) for row in figure.rows]
        drawn = forest([figure.model_copy(update={"rows": rows})], "x")
        return [json.loads(json.dumps(d.spec))["layer"][1]["encoding"]["x"]["scale"].get("type") for d in drawn]

    assert axes(203.0) == [None]
    assert axes(1314.0) == ["log"]


def test_differences_far_from_zero_stay_on_a_linear_axis(golden_result):
    drawn = forest([f for f in golden_result.figures if f.role == "exploratory"], "x")
    kinds = {d.name.split("-")[2]: d.spec["layer"][1]["encoding"]["x"]["scale"].get("type") for d in drawn}
    assert kinds["difference"] is None


def test_chapters_without_figures_give_their_reason_in_one_place(sample, tmp_path):
    archive = read_archive(sample.single(tmp_path / "wiki"))
    runs = [run.model_copy(update={"air": None}) for run in archive.runs]
    archive.runs[:] = runs
    text = page(archive, compare(archive), tmp_path / "x.html")
    assert '<section id="air">' not in text
    assert "On the air: No capture: " in text[text.index('<section id="missing">') :]


def test_captures_are_in_one_list(golden_page):
    links = [match.start() for match in re.finditer(r'href="\./', golden_page)]
    start = golden_page.index('<section id="runs">')
    end = golden_page.index("</section>", start)
    assert links
    assert all(start < at < end for at in links)

"""A comparison on one screen: every primary verdict, what else matters and what is wrong, in 25 lines."""

from __future__ import annotations

import dataclasses
import io
import itertools

import pytest
from rich.console import Console

from txop.cli import compare_screen
from txop.cli.compare import whys_of
from txop.compare import words
from txop.compare.archive import compare
from txop.compare.result import WarnedRun
from txop.report.answer import figures
from txop.report.answer.wording import SIGNS


def shown(result, whys=(), columns=100):
    """The lines of the screen."""
    text = io.StringIO()
    out = Console(file=text, width=columns, highlight=False, emoji=False)
    compare_screen.show(result, whys, out, everything="--all", report="report.html")
    return text.getvalue().splitlines()


def with_arms(result, number):
    """The same comparison with more arms, which have the figures of those that are there in turn."""
    baseline, *others = result.arms
    names = [f"variant{at}" if at % 2 else f"v{at}" for at in range(1, number)]

    def repeated(of, key="arm"):
        return [of[at % len(of)].model_copy(update={key: name}) for at, name in enumerate(names)] if of else []

    return result.model_copy(
        update={
            "arms": [baseline, *repeated(others, "name")],
            "answers": repeated(result.answers),
            "headline": ["a sentence"] * len(names),
            "figures": [
                figure.model_copy(
                    update={"arms": [figure.arms[0], *repeated(figure.arms[1:])], "rows": repeated(figure.rows)}
                )
                for figure in result.figures
            ],
        }
    )


def assert_fits(lines):
    assert len(lines) <= 25
    assert max(map(len, lines)) <= 100


def assert_has_primary_verdicts(lines, result):
    for figure in result.figures:
        if figure.role == "primary":
            (line,) = (line for line in lines if line.startswith(figures.label(figure.test, figure.metric) + " *"))
            signs = [SIGNS[row.verdict] for row in figure.rows]
            assert [letter for letter in line.partition("*")[2] if letter in "▲▼=?·"] == signs


def test_the_whole_answer_is_one_screen(golden, golden_result):
    lines = shown(golden_result, whys_of(golden, golden_result))
    assert_fits(lines)
    assert_has_primary_verdicts(lines, golden_result)
    assert lines[0] == "RTL8188CUS: interrupt reduction against vanilla and vendor (emulated)"
    assert lines[1] == "8 of 8 blocks complete · 1 block repeated · 75 runs (1 void) · 3 arms × 3 tests · finished"
    assert [word for word in lines[3].split(" ") if word] == ["vanilla", "patch10", "vendor"]
    text = "\n".join(lines)
    for row in golden_result.figure("tx.throughput_mbit_s").rows:
        assert f"{SIGNS[row.verdict]} {words.change(row):>8} {words.interval(row, unit=False)}".replace(
            "▲  ", "▲ "
        ) in (text.replace("▲  ", "▲ "))
    for label in ("tx RTT p50, ms", "tx RTT p95, ms", "latency RTT p95, ms", "tx retries (capture), %"):
        assert any(line.startswith(label) for line in lines)
    assert "Void: 1 run (of patch10 1; association-lost 1; block 3): --all" in lines
    assert "1 warning on 1 run, 1 note on primary figures, 9 figures not available: --all" in lines
    assert lines[-2:] == ["Everything: --all", "Report: report.html"]


def test_a_warning_of_several_runs_is_one(golden_result):
    runs = [each.run for arm in golden_result.figure("tx.throughput_mbit_s").arms for each in arm.points][:5]
    warned = [WarnedRun(run=run, warnings=["of all", f"of {run}"][: 1 + (run == runs[0])]) for run in runs]
    result = golden_result.model_copy(update={"run_warnings": warned})
    assert any(line.startswith("2 warnings on 5 runs") for line in shown(result))
    first, second = words.run_warning_lines(result)
    assert first == f"5 runs ({runs[0]}, {runs[1]}, {runs[2]} and 2 more): of all"
    assert second == f"{runs[0]}: of {runs[0]}"


def test_an_inconclusive_interval_without_zero_is_explained(golden_result):
    assert not any("not beyond its margin" in line for line in shown(golden_result))
    figure = golden_result.figure("rx.throughput_mbit_s")
    odd = [row.model_copy(update={"high": -0.5}) if row.verdict == "inconclusive" else row for row in figure.rows]
    figures = [figure.model_copy(update={"rows": odd}) if f.name == figure.name else f for f in golden_result.figures]
    text = " ".join(" ".join(shown(golden_result.model_copy(update={"figures": figures}))).split())
    assert "? inconclusive (not beyond its margin" in text


def test_why_is_that_of_the_page(golden, golden_result):
    whys = whys_of(golden, golden_result)
    text = " ".join(" ".join(shown(golden_result, whys)).split())
    facts = [fact for _, of_arm in whys for why in of_arm for fact in why.facts]
    assert len(facts) == 5
    for fact in facts:
        assert fact in text


@pytest.mark.parametrize("number", [4, 5, 6, 8, 10])
def test_several_arms_fit(golden_result, number):
    result = with_arms(golden_result, number)
    lines = shown(result)
    assert_fits(lines)
    assert_has_primary_verdicts(lines, result)
    left_out = number > 5
    assert any("intervals: --all" in " ".join(pair) for pair in itertools.pairwise(lines)) == left_out


def test_arms_that_do_not_fit_are_counted(golden_result):
    lines = shown(with_arms(golden_result, 40))
    assert_fits(lines)
    (line,) = (line for line in lines if "more arms: --all" in line)
    names = [word for word in lines[3].split(" ") if word]
    assert len(names) + int(line.split()[0]) == 39


def test_void_runs_and_damage_have_a_line_each(golden_result):
    voided = [
        golden_result.voided[0].model_copy(update={"run": f"{block:03}-vendor-tx", "arm": "vendor", "block": block,
                                                   "repeated_in": None, "gates": ["traffic-failed"]})
        for block in (4, 5)
    ]  # fmt: skip
    result = golden_result.model_copy(
        update={"voided": [*golden_result.voided, *voided], "damage": ["journal.jsonl, line 3: cut " * 9, "b", "c"]}
    )
    lines = shown(with_arms(result, 8))
    assert_fits(lines)
    (line,) = (line for line in lines if line.startswith("Void: "))
    assert line.startswith("Void: 3 runs (of vendor 2, patch10 1; traffic-failed 2, association-lost 1; blocks 3–5; 2 ")
    (line,) = (line for line in lines if line.startswith("Damaged: "))
    assert line.startswith("Damaged: journal.jsonl, line 3")
    assert line.endswith(" and 2 more: --all")


def test_harm_goes_before_other_figures(golden):
    result = compare(golden, "vendor")
    lines = shown(result)
    assert_has_primary_verdicts(lines, result)
    for answer in result.answers:
        named = [figures.label(f.test, f.metric) for f in result.figures if f.name in answer.costs]
        assert named
        told = "\n".join(lines)
        for label in named:
            assert label in told or f"worse in {label.split(',')[0]}" in told


def test_harm_without_room_is_named(golden):
    result = compare(golden, "vendor")
    extra = [
        figure.model_copy(update={"name": f"t{at}.throughput_mbit_s", "test": f"t{at}"})
        for figure in result.figures[:1]
        for at in range(11)
    ]
    lines = shown(result.model_copy(update={"figures": [*extra, *result.figures]}))
    text = " ".join(" ".join(lines).split())
    assert "Not in the table (exploratory; --all): vanilla worse in " in text


def test_bounds_and_infinite_figures_are_no_numbers(golden_result):
    figure = golden_result.figure("tx.rtt_p50_ms")
    none = {"estimate": None, "low": None, "high": None}
    bounds = {**none, "confidence": None, "bounds": (None, "at-least"), "verdict": "not-judged", "not_judged": "bounds"}
    bounded, infinite = figure.rows[0].model_copy(update=bounds), figure.rows[1].model_copy(
        update={**none, "infinite": "above", "low": 20.0, "high_infinite": "above", "verdict": "worse",
                "arm_median": None}
    )  # fmt: skip
    arms = [
        figure.arms[0],
        figure.arms[1].model_copy(update={"bound": "at-least"}),
        figure.arms[2].model_copy(update={"median": None, "median_infinite": True}),
    ]
    changed = figure.model_copy(update={"rows": [bounded, infinite], "arms": arms})
    figure_list = [changed if each is figure else each for each in golden_result.figures]
    lines = shown(golden_result.model_copy(update={"figures": figure_list}), columns=140)
    (line,) = (line for line in lines if line.startswith("tx RTT p50, ms"))
    assert line.split() == ["tx", "RTT", "p50,", "ms", "45.56", "at", "least", "33.19", "·", "∞", "▼", "+∞", "+20.0",
                            "to", "+∞"]  # fmt: skip
    assert "∞ probes were lost, which count as infinite RTT" in " ".join(" ".join(lines).split())


def test_one_arm_has_no_verdict(golden_result):
    alone = golden_result.model_copy(
        update={
            "arms": golden_result.arms[:1], "answers": [], "headline": ["vanilla is the only arm."], "changes": [],
            "figures": [f.model_copy(update={"arms": f.arms[:1], "rows": []}) for f in golden_result.figures],
        }
    )  # fmt: skip
    lines = shown(alone)
    assert_fits(lines)
    assert "vanilla is the only arm." in lines
    (line,) = (line for line in lines if line.startswith("tx throughput, Mbit/s *"))
    assert line.split()[4:] == ["15.45", "13.98", "to", "16.68"]
    assert any(line.startswith("* primary; median and range, n = ") for line in lines)
    assert not set("▲▼?") & set("".join(lines))


def worse(figure, arm):
    rows = [row.model_copy(update={"verdict": "worse"}) if row.arm == arm else row for row in figure.rows]
    return figure.model_copy(update={"rows": rows})


def test_a_cost_is_named_beside_another_view_of_it_that_is_not_worse(golden_result):
    """The 99th percentile is worse, and only the 95th is in the table."""
    known = {figure.name: figure for figure in golden_result.figures}
    p95, p99 = known["latency.rtt_p95_ms"], worse(known["latency.rtt_p99_ms"], "vendor")
    answers = [
        answer.model_copy(update={"costs": [p99.name] if answer.arm == "vendor" else []})
        for answer in golden_result.answers
    ]
    result = golden_result.model_copy(update={"answers": answers})
    assert len(figures.not_shown(result, "vendor", "vanilla", [p95])[1]) == 1
    assert figures.not_shown(result, "vendor", "vanilla", [worse(p95, "vendor")])[1] == []
    assert figures.not_shown(result, "vendor", "vanilla", [p95, p99])[1] == []


def test_the_range_of_an_arm_alone_has_its_infinite_run(golden_result):
    (figure,) = (each for each in golden_result.figures if each.name == "tx.rtt_p95_ms")
    values = figure.arms[0]
    first = dataclasses.replace(values.points[0], value=None, infinite=True)
    lossy = values.model_copy(update={"points": [first, *values.points[1:]]})
    alone = golden_result.model_copy(
        update={
            "arms": golden_result.arms[:1], "answers": [], "changes": [],
            "figures": [figure.model_copy(update={"arms": [lossy], "rows": []})],
        }
    )  # fmt: skip
    text = "\n".join(shown(alone))
    assert "to ∞" in text
    assert "count as infinite RTT" in " ".join(text.split())


def test_a_figure_that_is_too_wide_leaves_room_for_those_behind_it(golden_result):
    wide = "tx.rtt_p50_ms"
    wider = {"effect_unit": "an effect with a long unit"}
    figures_ = [
        figure.model_copy(update={"rows": [row.model_copy(update=wider) for row in figure.rows]})
        if figure.name == wide
        else figure
        for figure in golden_result.figures
    ]
    lines = shown(golden_result.model_copy(update={"figures": figures_}))
    assert_fits(lines)
    assert not any(line.startswith("tx RTT p50") for line in lines)
    assert any(line.startswith("tx RTT p95, ms") for line in lines)
    assert any(line.startswith("latency RTT p95, ms") for line in lines)

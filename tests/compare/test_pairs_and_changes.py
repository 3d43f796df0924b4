"""Pairs of arms: which blocks they share, which arms differ by one change, and what is then said of it."""

from __future__ import annotations

import html
import json
import math
import re
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest
from scipy import stats

from txop.archive.counting import counting
from txop.archive.layout import Layout
from txop.archive.reader import Archive, read_archive
from txop.archive.run_file import RunFile, Value, Voiding
from txop.cli import app
from txop.compare import words
from txop.compare.archive import compare
from txop.compare.select import CompareError
from txop.compare.table import comparison_rows
from txop.compare.together import _explains
from txop.compare.two import compare_two
from txop.core.metrics import DEPENDS_ON, describe
from txop.core.origin import Origin
from txop.plan.model import Plan
from txop.plan_check.changes import changes_of, comparisons
from txop.report.answer.scorecard import scorecard
from txop.report.answer.verdicts import Sentence, verdicts
from txop.report.campaign.document import page
from txop.report.exports.dokuwiki import lines as dokuwiki
from txop.report.exports.markdown import lines as markdown
from txop.stats.holm import holm

HEAD = """\
title = "pairs"
[target.dut]
kind = "local"
[target.peer]
kind = "local"
address = "192.0.2.2"
[[test]]
name = "tx"
kind = "tcp-tx"
latency = "ping"
[design]
blocks = 12
"""


def arm(name: str, *patches: int, more: str = "") -> str:
    listed = ", ".join(f'{{ number = {n}, description = "p{n}", file = "{n}.patch" }}' for n in patches)
    build = f'[arm.build]\nsource = "tree-{name}"\nmodule = "rtl8xxxu.ko"\n'
    return f'[[arm]]\nname = "{name}"\npatches = [{listed}]\n{more}{build}'


SERIES = HEAD + arm("vanilla") + arm("p10", 10) + arm("p10-7", 10, 7) + arm("p10-8-7-6", 10, 8, 7, 6)


def noise(seed: int, block: int) -> float:
    return math.sin(1 + 12.9898 * seed + 78.233 * block) / 50


def write(
    root: Path,
    plan_text: str,
    level: dict[str, float],
    *,
    void: frozenset[tuple[str, int]] | set[tuple[str, int]] = frozenset(),
    gate: str = "association-lost",
    replaces: dict[int, int] | None = None,
    p95_ms: dict[str, float] | None = None,
    blocks: int = 12,
) -> Path:
    """An archive: an arm's throughput by its level, with noise; ``void``: (arm, block)."""
    layout = Layout(root)
    layout.create(plan_text, Path("/campaigns/pairs"))
    plan = Plan.model_validate(tomllib.loads(plan_text))
    for block in [*range(1, blocks + 1), *sorted(replaces or {})]:
        for seed, each in enumerate(plan.arm):
            name = f"{block:03}-{each.name}-tx"
            figures = {"throughput_mbit_s": level[each.name] * math.exp(noise(seed, block))}
            if p95_ms:
                figures["rtt_p95_ms"] = p95_ms[each.name] * math.exp(noise(seed + 50, block))
            lost = (each.name, block) in void
            run = RunFile(
                run=name,
                block=block,
                replaces=(replaces or {}).get(block),
                position=seed + 1,
                arm=each.name,
                test="tx",
                origin=Origin.HARDWARE,
                state="void" if lost else "valid",
                void=[Voiding(gate=gate, cause="gone")] if lost else [],
                started_at=f"2026-03-02T{block % 24:02}:{seed:02}:00Z",
                seconds=40,
                metrics={key: Value(value=v, unit=describe(key).unit, source="test") for key, v in figures.items()},
            )
            folder = layout.run(name)
            folder.mkdir(parents=True)
            (folder / "run.json").write_text(run.model_dump_json())
    event = {"event": "campaign-finished", "at": "2026-03-02T09:00:00Z", "monotonic_s": 1, "reason": ""}
    layout.journal.write_text(json.dumps(event) + "\n")
    return root


def row(result, arm, figure="tx.throughput_mbit_s"):
    return next(row for row in result.figure(figure).rows if row.arm == arm)


LEVELS = {"vanilla": 15.0, "p10": 20.0, "p10-7": 12.0, "p10-8-7-6": 18.0}


# --- which blocks two arms share --------------------------------------------------------------------------------------


def test_a_flaky_arm_costs_the_other_arms_nothing(tmp_path):
    void = {("p10-8-7-6", block) for block in range(1, 12)}
    result = compare(read_archive(write(tmp_path / "a", SERIES, LEVELS, void=void)))
    assert row(result, "p10").n == row(result, "p10-7").n == 12
    flaky = row(result, "p10-8-7-6")
    assert flaky.n == 1
    assert flaky.excluded[0] == "block 1: p10-8-7-6: void (association-lost)"
    assert len(flaky.excluded) == 11
    assert result.design.blocks_complete == 1


def test_a_repeated_block_counts_once_for_every_pair(tmp_path):
    """Block 13 repeats 3 because of one arm: all pairs take it from there; in 14 another arm fails, so 5 splits."""
    void = {("p10", 3), ("p10", 5), ("p10-7", 14)}
    archive = read_archive(write(tmp_path / "a", SERIES, LEVELS, void=void, replaces={13: 3, 14: 5}))
    result = compare(archive)
    blocks = {name: [pair.block for pair in row(result, name).pairs] for name in ("p10", "p10-7", "p10-8-7-6")}
    assert blocks["p10"] == [1, 2, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14]
    assert blocks["p10-7"] == [1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]
    assert all(len(found) == 12 for found in blocks.values())
    assert row(result, "p10").excluded == []
    (direct,) = result.figure("tx.throughput_mbit_s").direct
    assert (direct.n, direct.excluded) == (11, ["block 5: valid runs in different attempts only"])
    count = counting(archive, "tx")
    used = {run.run for name in blocks for pair in count.pairing("vanilla", name).pairs for run in pair}
    assert used <= {run.run for run in count.runs}


def test_two_archives_take_every_valid_run_of_the_arm(tmp_path):
    void = {("p10", block) for block in range(1, 12)}
    first = read_archive(write(tmp_path / "a", SERIES, LEVELS, void=void))
    second = read_archive(write(tmp_path / "b", SERIES, {**LEVELS, "vanilla": 17.0}))
    assert compare_two(first, second, "vanilla").figure("tx.throughput_mbit_s").rows[0].n == 12


def test_an_arm_left_out_is_nowhere_and_changes_no_other_verdict(tmp_path):
    archive = read_archive(write(tmp_path / "a", SERIES, LEVELS, void={("p10-7", 2)}))
    whole, less = compare(archive), compare(archive, without=["p10-7"])
    assert "p10-7" not in less.model_dump_json(exclude={"warnings", "not_available"})
    assert row(less, "p10") == row(whole, "p10")
    assert row(less, "p10-8-7-6").p_adjusted == row(whole, "p10-8-7-6").p_adjusted
    assert any("Left out as asked: p10-7" in warning for warning in less.warnings)
    with pytest.raises(CompareError, match="has no arm nobody"):
        compare(archive, without=["nobody"])
    with pytest.raises(CompareError, match="is the baseline"):
        compare(archive, without=["vanilla"])


# --- what the headline says -------------------------------------------------------------------------------------------


def test_the_headline_names_every_harm_beside_the_gain(tmp_path):
    p95 = {"vanilla": 10.0, "p10": 16.3, "p10-7": 10.0, "p10-8-7-6": 5.0}
    result = compare(read_archive(write(tmp_path / "a", SERIES, LEVELS, p95_ms=p95)))
    p10, p7, rest = result.headline
    harm = row(result, "p10", "tx.rtt_p95_ms")
    assert (harm.verdict, harm.adjustment) == ("worse", "label-swaps")
    answers = {(a.arm, a.against): a for a in result.answers}
    assert answers["p10", "vanilla"].costs == ["tx.rtt_p95_ms"]
    assert answers["p10-8-7-6", "vanilla"].gains == ["tx.rtt_p95_ms"]
    assert not answers["p10-7", "vanilla"].costs
    cost = f"costs tx RTT p95 +{harm.estimate:.1f} % (+{harm.low:.1f} to +{harm.high:.1f} %)"
    assert cost in p10
    assert f"tx throughput +{row(result, 'p10').estimate:.1f} % (95 % CI " in p10
    assert "costs" not in p7 + rest
    assert "gains tx RTT p95 −49.9 %" in rest
    assert cost in result.changes[0].sentence


def test_harm_beside_what_is_no_gain_and_of_a_direct_comparison(tmp_path):
    p95 = {"vanilla": 10.0, "p10": 10.0, "p10-7": 16.3, "p10-8-7-6": 10.0}
    result = compare(read_archive(write(tmp_path / "a", SERIES, LEVELS, p95_ms=p95)))
    answers = {(a.arm, a.against): a for a in result.answers}
    for against in ("vanilla", "p10"):
        assert answers["p10-7", against].costs == ["tx.rtt_p95_ms"]
        assert not answers["p10-7", against].gains
    assert row(result, "p10-7").verdict == "worse"
    assert result.changes[1].sentence.startswith("patch 7 given patch 10 (p10-7 against p10): worse in tx throughput")
    assert "costs tx RTT p95 +6" in result.changes[1].sentence


COUNTS = "2 of 12 runs (vanilla), 1 of 12 (p10), 0 of 12 (p10-7) and 0 of 12 (p10-8-7-6)"
WRONG = f"tx went wrong in {COUNTS}; no figure includes them."


def test_runs_that_went_wrong_come_first(tmp_path):
    void = {("vanilla", 3), ("vanilla", 5), ("p10", 5)}
    for gate in ("traffic-failed", "guest-went-down"):
        archive = read_archive(write(tmp_path / gate, SERIES, LEVELS, void=void, gate=gate))
        result = compare(archive)
        assert result.headline[0] == WRONG
        assert [arm.went_wrong for arm in result.arms] == [2, 1, 0, 0]
        # where people read, too
        assert verdicts(result).lead == [Sentence(WRONG)]
        assert WRONG in " ".join("\n".join(markdown(archive, result)).replace("\\", "").split())
        # then they are in the figures
        assert "went wrong" not in " ".join(compare(archive, include_void=True).headline)
        assert "p10" not in compare(archive, without=["p10"]).headline[0].replace("p10-", "")


def test_another_reason_says_nothing_of_the_arm(tmp_path):
    result = compare(read_archive(write(tmp_path / "a", SERIES, LEVELS, void={("vanilla", 3)})))
    assert "went wrong" not in " ".join(result.headline)


def test_where_everything_went_wrong_that_is_the_answer(tmp_path):
    void = {(name, block) for name in LEVELS for block in range(1, 13)}
    result = compare(read_archive(write(tmp_path / "a", SERIES, LEVELS, void=void, gate="traffic-failed")))
    assert result.headline[0].startswith("tx went wrong in 12 of 12 runs (vanilla)")
    assert result.headline[1].startswith("No valid run")


def test_the_scorecard_says_that_no_run_counts(tmp_path):
    void = {("vanilla", block) for block in range(1, 13)}
    result = compare(read_archive(write(tmp_path / "a", SERIES, LEVELS, void=void, gate="traffic-failed")))
    card = scorecard(result)
    cells = {row.arm: [(score.text, score.change) for score in row.scores] for row in card.rows}
    assert cells["vanilla"][0] == ("not available: no run counts", "")
    assert cells["p10"][0][1] == "change not available: no run of vanilla counts"
    assert not [note for note in card.notes if "not measured in this test" in note]


def test_of_two_archives_it_says_which(tmp_path):
    first = read_archive(write(tmp_path / "a", SERIES, LEVELS))
    second = read_archive(write(tmp_path / "b", SERIES, LEVELS, void={("p10", 2)}, gate="traffic-failed"))
    said = "tx went wrong in 0 of 12 runs (A) and 1 of 12 (B); no figure includes them."
    assert said in compare_two(first, second, "p10").headline


# --- cycles that failed ----------------------------------------------------------------------------------------------


def with_cycles(folder: Path, failed: dict[str, float]) -> Archive:
    """Each arm's runs with so many cycles that failed, the same in all of them."""
    root = write(folder, SERIES, LEVELS)
    for path in root.glob("runs/*/run.json"):
        run = json.loads(path.read_text())
        value = failed[run["arm"]]
        run["metrics"]["cycles_failed"] = {"value": value, "unit": "", "source": "trial in the guest"}
        path.write_text(json.dumps(run))
    return read_archive(root)


def test_arms_that_fail_alike_are_not_unchanged_without_a_word(tmp_path: Path) -> None:
    archive = with_cycles(tmp_path / "a", dict.fromkeys(LEVELS, 1.0))
    said = "tx: a cycle failed in 12 of 12 runs (vanilla), 12 of 12 (p10), 12 of 12 (p10-7) and 12 of 12 (p10-8-7-6)."
    assert compare(archive).headline[0] == said
    assert compare(archive, include_void=True).headline[0] == said
    assert verdicts(compare(archive)).lead[0].text == said


def test_of_two_archives_the_failed_cycles_are_named_too(tmp_path: Path) -> None:
    first = with_cycles(tmp_path / "a", dict.fromkeys(LEVELS, 1.0))
    second = with_cycles(tmp_path / "b", dict.fromkeys(LEVELS, 0.0))
    said = "tx: a cycle failed in 12 of 12 runs (A) and 0 of 12 (B)."
    assert compare_two(first, second, "p10").headline[0] == said


def test_cycles_that_all_went_well_are_not_mentioned(tmp_path: Path) -> None:
    archive = with_cycles(tmp_path / "a", dict.fromkeys(LEVELS, 0.0))
    assert "a cycle failed" not in " ".join(compare(archive).headline)


@pytest.mark.parametrize(("both", "said"), [(1.0, "unchanged (1)"), (0.5, "unchanged (0.5)")])
def test_a_difference_of_nothing_without_an_interval_is_not_written_as_the_figure(
    tmp_path: Path, both: float, said: str
) -> None:
    result = compare(with_cycles(tmp_path / "a", dict.fromkeys(LEVELS, both)), metrics=["tx.cycles_failed"])
    (figure,) = (each for each in result.figures if each.name == "tx.cycles_failed")
    for row in figure.rows:
        assert words.changed(figure, row) == "tx failed module cycles 0", "it has an interval"
        single = row.model_copy(update={"confidence": None})
        assert words.changed(figure, single) == f"tx failed module cycles {said}"
        endless = single.model_copy(update={"arm_median": None, "baseline_median": None})
        assert words.changed(figure, endless) == "tx failed module cycles the same in both"


def test_an_arm_without_the_figure_is_not_one_without_a_failure(tmp_path: Path) -> None:
    archive = with_cycles(tmp_path / "a", dict.fromkeys(LEVELS, 1.0))
    for path in archive.layout.root.glob("runs/*/run.json"):
        run = json.loads(path.read_text())
        if run["arm"] == "p10":
            run["metrics"]["cycles_failed"] = {"value": None, "unit": "", "source": "trial", "reason": "it went down"}
        elif run["arm"] != "vanilla":
            del run["metrics"]["cycles_failed"]
        path.write_text(json.dumps(run))
    said = "tx: a cycle failed in 12 of 12 runs (vanilla)."
    assert compare(read_archive(archive.layout.root)).headline[0] == said


def test_what_does_not_depend_on_when_it_was_made_cannot_drift(tmp_path: Path) -> None:
    """Blocks of a guest with exact time are seeds."""
    root = write(tmp_path / "a", SERIES, LEVELS)
    said = {}
    for origin in ("hardware", "guest-fast", "guest-exact", "simulated"):
        for path in root.glob("runs/*/run.json"):
            run = json.loads(path.read_text())
            growth = run["block"] if run["arm"] == "p10" else 0
            run["origin"] = origin
            run["metrics"]["throughput_mbit_s"]["value"] = 50 + growth + 0.1 * (run["block"] % 3)
            path.write_text(json.dumps(run))
        rows = [
            row
            for figure in compare(read_archive(root)).figures
            for row in figure.rows
            if figure.name == "tx.throughput_mbit_s"
        ]
        said[origin] = any("from block to block" in words for row in rows for words in row.warnings)
    assert said == {"hardware": True, "guest-fast": True, "guest-exact": False, "simulated": False}


# --- arms that differ by one change -----------------------------------------------------------------------------------


def changes(text: str, baseline: str | None = None):
    found = changes_of(Plan.model_validate(tomllib.loads(text)), baseline)
    pairs = {(pair.arm, pair.against): (pair.change, pair.given) for pair in found.isolated}
    return pairs, [undecided.change for undecided in found.undecided]


def test_patches_are_told_apart_by_the_lists_of_patches():
    pairs, undecided = changes(SERIES)
    assert pairs == {("p10", "vanilla"): ("patch 10", ()), ("p10-7", "p10"): ("patch 7", ("patch 10",))}
    assert undecided == ["patch 8", "patch 6"]
    pairs, _ = changes(SERIES, "p10-7")
    assert pairs[("p10", "p10-7")] == ("without patch 7", ())
    assert pairs[("vanilla", "p10")] == ("without patch 10", ("without patch 7",))


@pytest.mark.parametrize(
    ("second", "third", "expected"),
    [
        # one parameter, and another on top of it
        (
            'module = { name = "m", parameters = { ht = 1 } }',
            'module = { name = "m", parameters = { ht = 1, ps = 0 } }',
            {
                ("b", "a"): ("ht 1 instead of not set", ()),
                ("c", "b"): ("ps 0 instead of not set", ("ht 1 instead of not set",)),
            },
        ),
        # two values of one key: each against the baseline's, not against each other
        (
            'module = { name = "m", parameters = { ht = 1 } }',
            'module = { name = "m", parameters = { ht = 2 } }',
            {("b", "a"): ("ht 1 instead of not set", ()), ("c", "a"): ("ht 2 instead of not set", ())},
        ),
        # what is only prepared or verified is not a change; another driver is one
        (
            'module = { name = "m" }\nblacklist = ["x"]\nverify = { version = "2" }\npatches = [{ number = 3 }]',
            'module = { name = "other" }',
            {("b", "a"): ("patch 3", ()), ("c", "a"): ("driver other instead of m", ())},
        ),
        # an arm that does the same as another one isolates nothing
        (
            'module = { name = "m" }',
            'module = { name = "m" }\npatches = [{ number = 3 }]',
            {("c", "a"): ("patch 3", ())},
        ),
    ],
)  # fmt: skip
def test_other_changes_are_read_from_the_keys_of_the_arms(second, third, expected):
    arms = (
        f'[[arm]]\nname = "a"\nmodule = {{ name = "m" }}\n[[arm]]\nname = "b"\n{second}\n[[arm]]\nname = "c"\n{third}\n'
    )
    assert changes(HEAD + arms)[0] == expected


def test_keys_of_an_emulated_link_carry_a_patch_or_are_the_change():
    link = HEAD.replace('kind = "local"\naddress = "192.0.2.2"', 'kind = "emulated"')
    link = link.replace('kind = "local"', 'kind = "emulated"') + "[link.wlan.dut]\nmcs = 7\nusb = { cost = 1 }\n"
    a, b = '[[arm]]\nname = "a"\n', '[[arm]]\nname = "b"\nemulated.wlan = { dut = { usb = { cost = 9 } } }\n'
    same = '[[arm]]\nname = "c"\nemulated.wlan = { dut = { mcs = 7, rts = true } }\n'
    assert changes(link + a + b + same)[0] == {
        ("b", "a"): ("wlan.dut.usb.cost 9 instead of 1", ()),
        ("c", "a"): ("wlan.dut.rts true instead of not set", ()),
    }
    assert changes(link + a + b + "patches = [{ number = 10 }]\n")[0] == {("b", "a"): ("patch 10", ())}


def test_edit_scripts_that_take_a_patch_out_are_read_the_other_way_round():
    plan = tomllib.loads(Path("examples/plans/guest-rtl8xxxu-patches.toml").read_text(encoding="utf-8"))
    found = changes_of(Plan.model_validate(plan))
    pairs = {(pair.arm, pair.against): (pair.change, pair.given) for pair in found.isolated}
    assert pairs[("p10", "vanilla")] == ("patch 10", ())
    assert pairs[("p10-7", "p10")] == ("patch 7", ("patch 10",))
    assert pairs[("mainline", "p10-8-7")] == ("patch 9", ("patch 7", "patch 8", "patch 10"))
    assert found.undecided == ()
    taken_out = changes_of(Plan.model_validate(plan), "mainline").isolated
    assert ("without-10", "mainline", "without patch 10") in {(p.arm, p.against, p.change) for p in taken_out}


def test_direct_comparisons_are_those_of_scipy_and_in_one_family_with_the_others(tmp_path):
    archive = read_archive(write(tmp_path / "a", SERIES, LEVELS))
    result = compare(archive)
    figure = result.figure("tx.throughput_mbit_s")
    (direct,) = figure.direct
    assert (direct.arm, direct.against, direct.change, direct.given) == ("p10-7", "p10", "patch 7", ["patch 10"])
    values = {each.arm: [point.value for point in each.points] for each in figure.arms}
    d = [math.log(a / b) for a, b in zip(values["p10-7"], values["p10"], strict=True)]
    assert direct.p == pytest.approx(stats.wilcoxon(d, method="exact").pvalue)
    assert direct.verdict == "worse"
    rows = [*figure.rows, direct]
    assert [r.p_adjusted for r in rows] == pytest.approx(list(holm([r.p for r in rows])))
    assert result.design.family == len(rows) == comparisons(archive.plan, 1) == 4


def test_a_direct_comparison_that_is_worse_fails_when_asked(tmp_path, capsys):
    # p10-7 is no worse than the baseline, and worse than p10: patch 7 takes away what patch 10 gave.
    levels = {"vanilla": 20.0, "p10": 40.0, "p10-7": 30.0, "p10-8-7-6": 45.0}
    root = write(tmp_path / "a", SERIES, levels)
    figure = compare(read_archive(root)).figure("tx.throughput_mbit_s")
    assert [row.verdict for row in figure.rows] == ["better"] * 3
    assert [row.verdict for row in figure.direct] == ["worse"]
    for wanted, arguments in (
        (0, ()),
        (1, ("--fail-on-worse",)),
        (1, ("--fail-on-worse-in", "tx.throughput_mbit_s")),
    ):
        with pytest.raises(SystemExit) as leaving:
            app.main(["compare", str(root), *arguments])
        assert leaving.value.code == wanted, arguments
    capsys.readouterr()


def test_table_markdown_wiki_and_csv_say_what_a_patch_does_given_the_others(tmp_path):
    archive = read_archive(write(tmp_path / "a", SERIES, LEVELS))
    result = compare(archive)
    sentences = [change.sentence for change in result.changes]
    assert sentences[0].startswith("patch 10 (p10 against vanilla): better in tx throughput +33.")
    assert sentences[1].startswith("patch 7 given patch 10 (p10-7 against p10): worse in tx throughput −40.")
    assert sentences[2:] == [
        f"patch {number}: cannot be determined, because no two arms differ by it alone" for number in (8, 6)
    ]
    wiki = "\n".join(dokuwiki(archive, result))
    told = next(line for line in wiki.splitlines() if line.startswith("| 7 |"))
    assert "patch 7 given patch 10" in told
    assert "+33" not in told  # that is patch 10's
    assert "cannot be determined" in next(line for line in wiki.splitlines() if line.startswith("| 8 |"))
    assert "patch 7 given patch 10 (p10-7 against p10)" in " ".join("\n".join(markdown(archive, result)).split())
    text = " ".join(re.sub(r"<[^>]+>", " ", page(archive, result, tmp_path / "page.html")).split())
    assert "What each change does, given the others" in text
    assert "patch 7 patch 10 p10-7 vs p10 tx throughput 12 −40." in text
    assert "can't be determined: no two arms differ by it alone" in html.unescape(text)
    table = [entry for entry in comparison_rows(result) if entry[2] == "p10-7" and entry[3] == "p10"]
    assert [entry[-2:] for entry in table] == [("patch 7", "patch 10")]


def test_a_comparison_that_cannot_be_made_still_counts_in_the_family(tmp_path):
    void = {("p10-8-7-6", block) for block in range(1, 13)}
    result = compare(read_archive(write(tmp_path / "a", SERIES, LEVELS, void=void)))
    assert result.design.family == 4
    assert row(result, "p10").p_adjusted == pytest.approx(min(1.0, 4 * row(result, "p10").p))


def draft(medians, low, high):
    """A row as far as its medians, effect and interval go."""
    comparison = SimpleNamespace(low=low, high=high, estimate=(low + high) / 2)
    return SimpleNamespace(judged=SimpleNamespace(comparison=comparison), medians=medians)


@pytest.mark.parametrize(("after", "explained"), [(1200.0, True), (1290.0, True), (1400.0, False), (900.0, False)])
def test_what_grows_with_the_throughput_is_explained_as_far_as_that_grew(after, explained):
    per_packet = DEPENDS_ON["context_switches_per_s"]
    counted = draft((1000.0, after), 1.0, 2.0)
    assert _explains(draft((100.0, 130.0), 25.0, 35.0), counted, per_packet) is explained
    assert not _explains(draft((100.0, 130.0), -5.0, 65.0), counted, per_packet)  # perhaps it did not grow
    assert not _explains(draft((100.0, 130.0), 25.0, 35.0), draft((0.0, after), 1.0, 2.0), per_packet)  # no ratio

"""A figure over several archives: change points, what changed beside them, n = 1, and what cannot be followed."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
import vl_convert
from scipy.stats import mannwhitneyu

from txop.archive.counting import counting, figure_value
from txop.archive.reader import read_archive
from txop.compare.select import CompareError
from txop.present.plot import INK
from txop.report.trend import follow
from txop.report.trend.page import page
from txop.report.trend.view import draw

SAMPLE = Path(__file__).parents[1] / "data" / "archive-v1"


def release(root: Path, month: str, factor: float = 1.0, kernel: str = "5.10.52", most: int = 99, **fields) -> Path:
    """An archive as the sample, of another month: throughput times ``factor``, at most ``blocks`` blocks."""
    place = root / month
    shutil.copytree(SAMPLE, place)
    journal = place / "journal.jsonl"
    assert "5.10.52" in journal.read_text()
    journal.write_text(journal.read_text().replace("5.10.52", kernel))
    for path in place.glob("runs/*/run.json"):
        run = json.loads(path.read_text())
        if run["block"] > most:
            shutil.rmtree(path.parent)
            continue
        run["started_at"] = run["started_at"].replace("2026-03", month)
        value = run["metrics"].get("throughput_mbit_s")
        if value and value.get("value"):
            value["value"] *= factor
        path.write_text(json.dumps({**run, **fields}))
    return place


def followed(*places: Path, **options):
    return follow([read_archive(place) for place in places], **options)


@pytest.fixture
def months(tmp_path) -> list[Path]:
    """The third is slower, and has another kernel; named out of order."""
    first = release(tmp_path, "2026-01")
    second = release(tmp_path, "2026-02", factor=1.002)
    return [release(tmp_path, "2026-03", factor=0.7, kernel="5.13.1"), first, second]


def test_a_change_point_and_what_changed_there(months):
    trend = followed(*months)
    assert [each.label for each in trend.releases] == ["2026-01", "2026-02", "2026-03"], "in order of time"
    by_name = {figure.name: figure for figure in trend.figures}
    throughput = by_name["tx.throughput_mbit_s"]
    assert [step.verdict for step in throughput.steps] == ["inconclusive", "worse"]
    assert throughput.steps[1].estimate == pytest.approx(-30.1, abs=0.2)
    assert throughput.whole is not None
    assert throughput.whole.verdict == "worse"
    assert {step.verdict for step in by_name["latency.rtt_p50_ms"].steps} <= {"equivalent", "inconclusive"}
    assert {each.name for each in trend.between[1].changed} == {"dut: kernel", "peer: kernel"}
    assert trend.between[0].changed == []
    assert "got worse" in trend.headline[0]
    assert "n = " in trend.headline[0]
    assert any("can't be determined" in sentence and "5.13.1" in sentence for sentence in trend.headline)


def test_seeds_and_hashes_of_results_are_no_change(tmp_path):
    """Each run draws its chances from a seed of its own, so seeds differ between any two campaigns."""

    def emulated(root: Path, month: str, mcs: int) -> Path:
        place = release(root, month)
        for number, path in enumerate(sorted(place.glob("runs/*/run.json"))):
            run = json.loads(path.read_text())
            link = {"wlan": {"dut": {"mcs": mcs}}, "run": {"seed": int(month[-1]) * 100 + number}}
            run["verified"] = {"link": link, "guest_sha256": f"{month}-{number}"}
            run["provenance"] = {"dut": {"emulated_link": link}}
            path.write_text(json.dumps(run))
        return place

    places = [emulated(tmp_path, f"2026-0{n}", 7 if n < 3 else 5) for n in (1, 2, 3)]
    trend = followed(*places)
    named = [{each.name for each in between.changed} for between in trend.between]
    assert named == [set(), {"arm: link.wlan.dut.mcs", "dut: emulated_link.wlan.dut.mcs"}]


def test_p_values_are_those_of_scipy_adjusted_by_hand(months):
    trend = followed(*months)
    archives = [read_archive(place) for place in sorted(months)]
    raw = []
    for figure in trend.figures:
        test, _, key = figure.name.partition(".")
        values = [[figure_value(run, key) for run in counting(archive, test).alone(trend.arm)] for archive in archives]
        for step in [*figure.steps, figure.whole]:
            assert step is not None
            p = mannwhitneyu(values[step.before], values[step.after], method="exact").pvalue
            if len({*values[step.before], *values[step.after]}) == step.n_before + step.n_after:  # exact without ties
                assert step.p == pytest.approx(p)
            raw.append(step)
    order = sorted(raw, key=lambda step: step.p)
    highest = 0.0
    for rank, step in enumerate(order):
        highest = max(highest, min(1.0, step.p * (len(order) - rank)))
        assert step.p_adjusted == pytest.approx(highest)


def test_a_single_run_is_no_change_point(tmp_path):
    places = [release(tmp_path, "2026-01", most=1), release(tmp_path, "2026-02", factor=0.3, most=1)]
    trend = followed(*places)
    assert {step.verdict for figure in trend.figures for step in figure.steps} <= {"inconclusive", "not-judged"}
    assert "n = 1, which says nothing" in trend.headline[0]
    assert all("can't be determined" in step.sentence for figure in trend.figures for step in figure.steps)


def test_many_small_steps_add_up(tmp_path):
    factors = (1.0, 0.95, 0.9025, 0.857, 0.815)
    places = [release(tmp_path, f"2026-0{n}", factor=factor) for n, factor in enumerate(factors, start=1)]
    trend = followed(*places, metrics=["tx.throughput_mbit_s"])
    (figure,) = trend.figures
    assert {step.verdict for step in figure.steps} == {"inconclusive"}
    assert figure.whole is not None
    assert figure.whole.verdict == "worse"
    assert "bit by bit" in trend.headline[0]


def test_other_tests_and_missing_figures_have_no_point(tmp_path):
    places = [release(tmp_path, f"2026-0{n}") for n in (1, 2, 3)]
    plan = places[1] / "plan.toml"
    text = plan.read_text()
    assert "duration_s = 30" in text
    plan.write_text(text.replace("duration_s = 30", "duration_s = 10"))
    trend = followed(*places, metrics=["tx.throughput_mbit_s"])
    (figure,) = trend.figures
    assert [point.release for point in figure.points] == [0, 2]
    assert "another one (duration_s" in figure.missing[0]
    assert [(step.before, step.after) for step in figure.steps] == [(0, 2)]
    assert figure.whole is None


def test_what_cannot_be_followed(tmp_path):
    first, other = release(tmp_path, "2026-01"), release(tmp_path, "2026-02", origin="hardware")
    with pytest.raises(CompareError, match="hardware"):
        followed(first, other)
    with pytest.raises(CompareError, match="two or more"):
        followed(first)
    second = release(tmp_path, "2026-03")
    with pytest.raises(CompareError, match="no arm"):
        followed(first, second, arm="vanila")
    with pytest.raises(CompareError, match="no figure"):
        followed(first, second, metrics=["tx.nothing"])


def test_text_of_an_archive_does_not_act_on_the_page(tmp_path):
    places = [release(tmp_path, "2026-01"), release(tmp_path, "2026-02", kernel="<script>alert(1)</script>")]
    text = page(followed(*places), "txop")
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert" in text
    assert text.count("<svg") >= 2


def test_the_command(txop, months, tmp_path):
    words = [str(place) for place in months]
    done = txop("trend", *words, "--html", str(tmp_path / "t.html"), "--json", "--fail-on-worse")
    assert done.returncode == 1, done.stderr
    said = json.loads(done.stdout)
    assert (said["format"], said["version"], said["arm"]) == ("txop-trend", 1, "vanilla")
    assert "2026-03" in (tmp_path / "t.html").read_text()
    assert txop("trend", words[0]).returncode == 2
    alone = txop("trend", *words, "--html", "-").stdout
    assert alone.startswith("<!doctype html>")
    assert alone.rstrip().endswith("</html>")


def test_every_archive_has_a_point_and_a_change_point_a_shape_of_its_own(tmp_path):
    archives = [read_archive(release(tmp_path, f"2026-0{n}", factor)) for n, factor in ((3, 1.0), (4, 1.0), (5, 0.5))]
    drawing = draw(follow(archives), "tx.throughput_mbit_s")
    assert drawing is not None
    text = vl_convert.vegalite_to_svg(json.dumps(drawing.spec))
    (group,) = re.findall(r'<g class="mark-symbol role-mark.*?</g>', text, re.DOTALL)
    colours = re.findall(r'<path [^>]*fill="(#\w+)"', group)
    assert [INK["one"], INK["one"], INK["bad"]] == colours
    assert [row["shape"] for row in drawing.spec["data"]["values"]] == ["circle", "circle", "triangle-down"]

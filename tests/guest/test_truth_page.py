"""docs/truth-rtl8188cus.md is what bench/truth.py makes of the public figures and of what was measured."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from txop.archive.reader import read_archive

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def truth() -> ModuleType:
    spec = importlib.util.spec_from_file_location("truth_bench", ROOT / "bench" / "truth.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_the_page_is_made_of_its_files(truth: ModuleType) -> None:
    facts = truth.read_facts()
    note = truth.read_measured(facts)
    truth.read_wiki(facts)
    assert truth.PAGE.read_text() == truth.page(facts, note), "make truth, or bench/truth.py --page"
    for figure in facts.figures:
        assert figure["why"] or figure["status"] == "no-run" or "arm" in figure, figure["what"]
    for source in facts.sources.values():
        assert source["url"].startswith("https://")
        assert source["date"]


@pytest.mark.parametrize(
    ("low", "high", "values", "expected"),
    [
        (10.0, None, [11.0, 13.0], "+2 (+20 %)"),
        (10.0, 12.0, [11.0], "within"),
        (10.0, 12.0, [6.0], "-4 (-40 %)"),
        (10.0, 12.0, [18.0], "+6 (+50 %)"),
        (0.0, None, [52.0], "+52"),
        (10.0, None, [], "can't be determined"),
        (None, None, [3.0], "can't be determined"),
    ],
)
def test_a_residual_is_from_the_nearest_public_value(
    truth: ModuleType, low: float | None, high: float | None, values: list[float], expected: str
) -> None:
    figure = {key: value for key, value in (("low", low), ("high", high)) if value is not None}
    assert truth.residual(figure, values) == expected


def test_a_row_of_the_wiki_has_both_of_its_figures_beside_it(truth: ModuleType) -> None:
    facts = truth.read_facts()
    facts.wiki = {"fast": {"vanilla": {"tx": {"mbit_s": [40.0, 42.0], "retry_percent": [9.0, 11.0]}}}}
    rows = [row for row in facts.figures if row.get("arm") == "vanilla" and row["computer"] == "fast"]
    assert rows
    facts.figures = [dict(rows[0], test="tx", low=50.0, retries=12.0, what="row", text="50 Mbit/s; 12%")]
    (line,) = [line for line in truth.page(facts, "").splitlines() if line.startswith("| row |")]
    assert [cell.strip() for cell in line.split("|")[3:5]] == [
        "41 Mbit/s (n = 2; 40 to 42); 10 %",
        "-9 (-18 %); retries -2.0",
    ]


def test_what_a_campaign_left_is_kept_run_by_run(truth: ModuleType, tmp_path: Path, sample: ModuleType) -> None:
    root = sample.make(tmp_path / "archive", plan_text=sample.plan_of_tx(7))
    truth.write_wiki([f"fast={root}"], tmp_path / "wiki.json")
    facts = truth.read_facts()
    truth.read_wiki(facts, tmp_path / "wiki.json")
    runs = [
        run for run in read_archive(root).runs if run.state == "valid" and run.arm == "vanilla" and run.test == "tx"
    ]
    kept = facts.wiki["fast"]["vanilla"]["tx"]["mbit_s"]
    assert kept == pytest.approx([run.metrics["throughput_mbit_s"].value for run in runs], abs=0.001)
    assert kept


def test_a_figure_that_names_what_is_not_there_is_refused(truth: ModuleType, tmp_path: Path) -> None:
    text = truth.FACTS.read_text()
    for right, wrong in (
        ('run = "lossy"\nmeasure = "up.mbit_s"', 'run = "lossy"\nmeasure = "down.mbit_s"'),
        ('measure = "up.mbit_s"', 'measure = "up.speed"'),
        ('source = "thread"', 'source = "hearsay"'),
        ('status = "open"', 'status = "fine"'),
    ):
        assert right in text
        path = tmp_path / "facts.toml"
        path.write_text(text.replace(right, wrong, 1))
        with pytest.raises(ValueError, match="names a source, run or measure that is not there"):
            truth.read_facts(path)

"""docs/truth-rtl8188cus.md is what bench/truth.py makes of the public figures and of what was measured."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

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
    assert truth.PAGE.read_text() == truth.page(facts, note), "make truth, or bench/truth.py --page"
    for figure in facts.figures:
        assert figure["why"] or figure["status"] == "no-run", figure["what"]
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

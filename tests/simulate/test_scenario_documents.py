"""What the documentation says of scenarios is so."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from txop.simulate import check, shipped
from txop.simulate.tables import TABLES

ROOT = Path(__file__).parents[2]
CALIBRATION = runpy.run_path(str(ROOT / "bench" / "calibration.py"))
MEASURED, table = CALIBRATION["MEASURED"], CALIBRATION["table"]


def test_the_reference_of_scenarios_is_what_the_sources_say():
    ran = subprocess.run(
        [sys.executable, ROOT / "scripts" / "scenario_reference.py", "--check"], capture_output=True, text=True
    )
    assert ran.returncode == 0, f"{ran.stderr} run scripts/scenario_reference.py"


def test_the_example_of_the_page_is_a_scenario(tmp_path):
    text = (ROOT / "docs" / "scenario.md").read_text(encoding="utf-8")
    examples = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    assert examples
    for example in examples:
        tomllib.loads(example)
        (tmp_path / "a.toml").write_text(example, encoding="utf-8")
        assert check(str(tmp_path / "a.toml"))["traffic"]


def test_the_scenarios_that_the_page_names_are_shipped():
    text = (ROOT / "docs" / "simulate.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^txop simulate ([\w-]+)", text, re.MULTILINE))
    assert {name for name in named if not name.startswith("-")} - {"link"} <= set(shipped())
    assert named > {"ap-airtime", "modem-both"}
    for build in MEASURED:
        assert {f"rtl8xxxu-{build}-tx", f"rtl8xxxu-{build}-rx"} <= set(shipped())
        assert check(f"rtl8xxxu-{build}-rx")["calibrated_from"]
    assert "flows" in TABLES


def test_examples_links_leads_to_the_shipped_scenarios():
    assert (ROOT / "examples" / "links").resolve() == ROOT / "python" / "txop" / "simulate" / "scenarios"


@pytest.mark.slow
def test_the_table_of_the_rtl8xxxu_builds_is_still_what_the_model_gives():
    text = (ROOT / "docs" / "simulate.md").read_text(encoding="utf-8")
    made = [re.findall(r"[\d.]+(?= \|)", line) for line in table().splitlines()[2:]]
    written = [re.findall(r"[\d.]+(?= \|)", line) for line in text.splitlines() if re.search(r"\| [TR]X \|", line)]
    assert len(made) == len(written) == 2 * len(MEASURED)
    for now, then in zip(made, written, strict=True):
        assert [float(value) for value in now] == pytest.approx([float(value) for value in then], rel=0.1, abs=1.5)

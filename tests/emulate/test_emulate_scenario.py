"""Scenarios: checked before anything is made."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from txop.emulate import EmulatedPair, check_scenario
from txop.simulate import ScenarioError


def test_defaults_are_filled_in() -> None:
    assert check_scenario({}) == check_scenario({"medium": {"channel": 36}, "dut": {"short_gi": True}})
    assert check_scenario({"ap": {"late_block_ack_us": 250}})["ap"]["late_block_ack_us"] == 250


@pytest.mark.parametrize(
    ("scenario", "key", "problem"),
    [
        ({"dut": {"mcs": 32}}, "dut.mcs", "32 is not in the range from 0 to 31"),
        ({"dut": {"msc": 3}}, "dut.msc", "there is no such key here; did you mean mcs?"),
        ({"ap": {"missing_ack_rate": -0.1}}, "ap.missing_ack_rate", "-0.1 is not in the range"),
        ({"medium": {"channel": 0}}, "medium.channel", "0 is not a 20 MHz channel"),
        ({"dut": {"mpdu_error_rate": float("nan")}}, "scenario", "a value of a kind"),
        ({"dut": {"rts": object()}}, "scenario", "a value of a kind"),
        ({"dut": []}, "dut", "is not a table"),
        ({"seed": -1}, "seed", "-1 is not a whole number of 0 or more"),
    ],
)
def test_a_wrong_scenario_is_refused_by_key(scenario: dict[str, object], key: str, problem: str) -> None:
    for refuse in (check_scenario, EmulatedPair):
        with pytest.raises(ScenarioError) as refused:
            refuse(scenario)
        assert refused.value.where == key
        assert refused.value.what.startswith(problem)


def test_the_emulator_refuses_a_wrong_file(tmp_path: Path) -> None:
    file = tmp_path / "link.toml"
    for text, complaint in [("[wlan.dut]\nmcs = 99\n", "wlan.dut.mcs: 99 is not"), ("[dut\n", "Expected ']'")]:
        file.write_text(text)
        ran = subprocess.run(
            [sys.executable, "-m", "txop.emulate", "--hosts", "[]", file],
            capture_output=True,
            text=True,
            check=False,
            timeout=30,
        )
        assert ran.returncode == 2
        assert ran.stdout == ""
        assert complaint in ran.stderr
        assert len(ran.stderr.splitlines()) == 1

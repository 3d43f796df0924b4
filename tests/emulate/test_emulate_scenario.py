"""Scenarios: checked before anything is made."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from txop.emulate import link_scenario, load_scenario
from txop.simulate import ScenarioError


def test_defaults_are_filled_in() -> None:
    plain = link_scenario({"wlan": {}})
    assert plain == link_scenario({"wlan": {"medium": {"channel": 36}, "dut": {"short_gi": True}}})
    late = link_scenario({"wlan": {"ap": {"late_block_ack_us": 250}}})
    assert late.settings["wlan"]["ap"]["late_block_ack_us"] == 250


@pytest.mark.parametrize(
    ("tables", "kind", "hosts", "air", "usb"),
    [
        ({"wlan": {}}, "wlan", ("server", "dut"), True, False),
        ({"wlan": {"dut": {"usb": {}}}}, "wlan", ("server", "dut"), True, True),
        ({"wlan": {"stations": [{"name": "a"}, {"name": "b", "usb": {}}]}}, "wlan", ("server", "a", "b"), True, True),
        ({"modem": {}}, "modem", ("server", "dut"), False, True),
        ({"sdio": {}, "path": {"delay_ms": 3}}, "sdio", ("server", "dut"), False, False),
        ({"pipe": {"stations": 2}}, "pipe", ("server", "station-1", "station-2"), False, False),
    ],
)
def test_every_kind_of_link_is_a_scenario(
    tables: dict[str, object], kind: str, hosts: tuple[str, ...], air: bool, usb: bool
) -> None:
    scenario = link_scenario(tables)
    assert (scenario.kind, scenario.hosts, scenario.has_air, scenario.has_usb) == (kind, hosts, air, usb)


@pytest.mark.parametrize(
    ("tables", "key", "problem"),
    [
        ({"wlan": {"dut": {"mcs": 32}}}, "wlan.dut.mcs", "32 is not in the range from 0 to 31"),
        ({"wlan": {"dut": {"msc": 3}}}, "wlan.dut.msc", "there is no such key here; did you mean mcs?"),
        ({"wlan": {"ap": {"missing_ack_rate": -0.1}}}, "wlan.ap.missing_ack_rate", "-0.1 is not in the range"),
        ({"wlan": {"medium": {"channel": 0}}}, "wlan.medium.channel", "0 is not a 20 MHz channel"),
        ({"wlan": {"dut": {"mpdu_error_rate": float("nan")}}}, "scenario", "a value of a kind"),
        ({"wlan": {"dut": {"rts": object()}}}, "scenario", "a value of a kind"),
        ({"wlan": {"dut": []}}, "wlan.dut", "is not a table"),
        ({"wlan": {"stations": [{}, {"mcs": 99}]}}, "wlan.stations.1.mcs", "99 is not in the range"),
        ({"modem": {"usb": {"speed": "low"}}}, "modem.usb.speed", '"low" is not a value'),
        ({"wlan": {}, "run": {"seed": -1}}, "run.seed", "-1 is not a whole number of 0 or more"),
        ({"wlan": {"seed": 1}}, "wlan.seed", "is not used in scenario files"),
        ({"wlan": {}, "pipe": {}}, "scenario", "there is more than one link"),
        ({}, "scenario", "there is no link"),
        ([], "scenario", "is not a table"),
        ({"base": "no-such-scenario"}, "base", "no-such-scenario: No such file"),
        ({"base": "/etc/passwd"}, "base", "must be the name of a file"),
        ({"base": "."}, "base", "is a folder"),
        ({"base": "ap-fifo", "wlan": {"ap": {"mcs": 40}}}, "wlan.ap.mcs", "40 is not in the range"),
    ],
)
def test_a_wrong_scenario_is_refused_by_key(tables: dict[str, object], key: str, problem: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        link_scenario(tables)
    assert refused.value.where == key
    assert refused.value.what.startswith(problem)


def test_tables_lie_over_the_file_that_they_are_based_on(tmp_path: Path) -> None:
    (tmp_path / "below.toml").write_text('base = "deeper.toml"\n[wlan.dut]\nmcs = 5\n')
    (tmp_path / "deeper.toml").write_text("[wlan.ap]\nmcs = 4\n[run]\nseed = 9\n")
    wlan = link_scenario({"base": "below.toml", "wlan": {"dut": {"rts": True}}}, tmp_path).settings["wlan"]
    assert (wlan["ap"]["mcs"], wlan["dut"]["mcs"], wlan["dut"]["rts"]) == (4, 5, True)
    (tmp_path / "deeper.toml").write_text("[wlan.ap]\nmcs = 44\n")
    with pytest.raises(ScenarioError, match=r"base: deeper.toml, line 2: wlan.ap.mcs: 44 is not"):
        link_scenario({"base": "below.toml"}, tmp_path)
    os.mkfifo(tmp_path / "pipe.toml")
    with pytest.raises(ScenarioError, match="not an ordinary file"):
        link_scenario({"base": "pipe.toml"}, tmp_path)


def test_a_shipped_scenario_is_the_same_by_both_ways() -> None:
    for name in ("ap-airtime", "modem-up", "sdio-polling", "pipe", "two-stations"):
        assert link_scenario({"base": name}) == load_scenario(name)


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

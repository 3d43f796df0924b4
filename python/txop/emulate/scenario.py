"""Scenarios: what a link is made of. The engine knows keys, ranges and defaults; see docs/emulated-link.md."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from txop import _native
from txop.emulate.error import ScenarioError


@dataclass(frozen=True)
class LinkScenario:
    """A checked scenario."""

    json: str
    """For the engine."""
    hosts: tuple[str, ...]
    """Names of the hosts, by number."""


def scenario_json(scenario: Mapping[str, Any]) -> str:
    """The JSON form of a scenario as TOML has it. Raises :class:`ScenarioError` for what JSON cannot hold."""
    try:
        return json.dumps(scenario, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise ScenarioError(f"scenario: a value of a kind that no key has: {error}") from None


def check_scenario(scenario: Mapping[str, Any]) -> dict[str, Any]:
    """Check a scenario of a station and its access point, and fill in its defaults.

    Raises :class:`ScenarioError`, with the key, for an unknown key or a value out of range.

    >>> check_scenario({"dut": {"tx_ampdu": False}})["dut"]["mcs"]
    7
    >>> check_scenario({"dut": {"mcs": 99}})
    Traceback (most recent call last):
      ...
    txop.emulate.error.ScenarioError: dut.mcs: 99 is not in the range from 0 to 31
    """
    try:
        checked: dict[str, Any] = json.loads(_native.check_link_scenario(scenario_json(scenario)))
    except ValueError as error:
        raise ScenarioError(str(error)) from None
    return checked


def station_scenario(scenario: Mapping[str, Any]) -> LinkScenario:
    """A station and its access point. Raises :class:`ScenarioError`."""
    check_scenario(scenario)
    return LinkScenario(scenario_json(scenario), ("server", "dut"))

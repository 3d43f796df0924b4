"""Scenarios: what a link is made of. The engine knows keys, ranges and defaults; see docs/emulated-link.md."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from txop import _native
from txop.simulate.error import ScenarioError


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
    txop.simulate.error.ScenarioError: dut.mcs: 99 is not in the range from 0 to 31.
    """
    try:
        checked: dict[str, Any] = json.loads(_native.check_link_scenario(scenario_json(scenario)))
    except ValueError as error:
        raise ScenarioError(str(error)) from None
    return checked


def laid_over(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Tables of ``above`` laid over those of ``below``, key by key.

    >>> laid_over({"dut": {"mcs": 7, "rts": True}}, {"dut": {"mcs": 3}})
    {'dut': {'mcs': 3, 'rts': True}}
    """
    merged = dict(below)
    for key, value in above.items():
        under = merged.get(key)
        merged[key] = laid_over(under, value) if isinstance(value, dict) and isinstance(under, dict) else value
    return merged


def station_scenario(scenario: Mapping[str, Any]) -> LinkScenario:
    """A station and its access point. Raises :class:`ScenarioError`."""
    checked = check_scenario(scenario)
    seed = checked.pop("seed")
    return _link_scenario(scenario_json({"wlan": checked, "run": {"seed": seed}}))


def load_scenario(name: str, settings: Sequence[tuple[str, str]] = ()) -> LinkScenario:
    """The scenario ``name``: a TOML file, or one that comes with txop (``txop simulate --list``).

    ``settings`` are dotted keys and TOML values to set over it. Its traffic is left out: real packets take its place.
    Raises :class:`ScenarioError`.

    >>> load_scenario("two-stations").hosts[0]
    'server'
    """
    from txop.simulate.shipped import Library

    library = Library(name)
    try:
        checked = _native.check_link(library.name, library.read, settings=list(settings))
    except ValueError as error:
        raise ScenarioError(str(error)) from None
    return _link_scenario(checked.decode())


def _link_scenario(text: str) -> LinkScenario:
    try:
        return LinkScenario(text, tuple(_native.scenario_hosts(text)))
    except ValueError as error:
        raise ScenarioError(str(error)) from None

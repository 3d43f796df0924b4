"""Scenarios of links that are emulated. The engine knows keys, ranges and defaults; see docs/scenario.md."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from txop import _native
from txop.plan.link_tables import KINDS
from txop.simulate.error import ScenarioError
from txop.simulate.shipped import Bases, Library


@dataclass(frozen=True)
class LinkScenario:
    """A checked scenario without its traffic: real packets take its place."""

    json: str
    """For the engine."""
    hosts: tuple[str, ...]
    """Names of the hosts, by number."""

    @cached_property
    def settings(self) -> dict[str, Any]:
        """The tables, every default filled in."""
        settings: dict[str, Any] = json.loads(self.json)
        return settings

    @property
    def kind(self) -> str:
        """``wlan``, ``modem``, ``sdio`` or ``pipe``."""
        return next(kind for kind in KINDS if kind in self.settings)

    @property
    def has_air(self) -> bool:
        """Whether there are frames in the air that a monitor could capture."""
        return self.kind == "wlan"

    @property
    def has_usb(self) -> bool:
        """Whether there is a USB bus to capture: of a modem, or of a radio that is reached over USB."""
        wlan = self.settings.get("wlan", {})
        radios = [wlan.get("ap"), wlan.get("dut"), *wlan.get("stations", [])]
        return self.kind == "modem" or any(radio.get("usb") is not None for radio in radios if radio is not None)


def load_scenario(name: str, settings: Sequence[tuple[str, str]] = ()) -> LinkScenario:
    """The scenario ``name``: a TOML file, or one that comes with txop (``txop simulate --list``).

    ``settings`` are dotted keys and TOML values to set over it. Raises :class:`ScenarioError`.

    >>> load_scenario("two-stations").hosts[0]
    'server'
    """
    library = Library(name)
    try:
        checked = _native.check_link(library.name, library.read, settings=list(settings))
    except ValueError as error:
        raise ScenarioError(str(error)) from None
    return _link_scenario(checked.decode())


def link_scenario(tables: Mapping[str, Any], folder: Path | None = None) -> LinkScenario:
    """The scenario of these tables, which may have a ``base``: a TOML file, relative to ``folder`` (default: the
    current one), or a scenario that comes with txop.

    Raises :class:`ScenarioError` for an unknown key or a value out of range, with the key; with ``base`` for what is
    wrong with a file.

    >>> link_scenario({"wlan": {"dut": {"tx_ampdu": False}}}).settings["wlan"]["dut"]["mcs"]
    7
    >>> link_scenario({"base": "ap-fifo"}).hosts
    ('server', 'fast-1', 'fast-2', 'slow')
    >>> link_scenario({"wlan": {"dut": {"mcs": 99}}})
    Traceback (most recent call last):
      ...
    txop.simulate.error.ScenarioError: wlan.dut.mcs: 99 is not in the range from 0 to 31.
    """
    try:
        text = json.dumps(tables, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise ScenarioError(f"scenario: a value of a kind that no key has: {error}") from None
    try:
        checked = _native.check_link_tables(text, Bases(folder or Path()).read)
    except ValueError as error:
        raise ScenarioError(str(error)) from None
    return _link_scenario(checked.decode())


def _link_scenario(text: str) -> LinkScenario:
    try:
        return LinkScenario(text, tuple(_native.scenario_hosts(text)))
    except ValueError as error:
        raise ScenarioError(str(error)) from None

"""The tables of an emulated link, as a plan and its arms have them: a scenario without traffic (docs/scenario.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

KINDS = ("wlan", "modem", "sdio", "pipe")
"""Tables of a link, of which a scenario has exactly one."""
_STATIONS = ("dut", "stations")
"""Keys of ``wlan`` of which there is one."""


def laid_over(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Tables of ``above`` laid over those of ``below``, key by key; everything else is replaced.

    >>> laid_over({"dut": {"mcs": 7, "rts": True}}, {"dut": {"mcs": 3}})
    {'dut': {'mcs': 3, 'rts': True}}
    """
    merged = dict(below)
    for key, value in above.items():
        under = merged.get(key)
        merged[key] = laid_over(under, value) if isinstance(value, dict) and isinstance(under, dict) else value
    return merged


def varied(link: Mapping[str, Any], variant: Mapping[str, Any] | None) -> dict[str, Any]:
    """The link with an arm's variant laid over it, as a scenario over its ``base``: a link of another kind takes the
    place of the one below, and so do stations of another kind.

    >>> varied({"wlan": {"ap": {"mcs": 7}}}, {"wlan": {"ap": {"queueing": {"kind": "airtime"}}}})
    {'wlan': {'ap': {'mcs': 7, 'queueing': {'kind': 'airtime'}}}}
    >>> varied({"wlan": {}, "path": {"delay_ms": 5}}, {"modem": {}})
    {'path': {'delay_ms': 5}, 'modem': {}}
    """
    variant = variant or {}
    below = _without_others(link, variant, KINDS)
    wlan, own = below.get("wlan"), variant.get("wlan")
    if isinstance(wlan, dict) and isinstance(own, dict):
        below["wlan"] = _without_others(wlan, own, _STATIONS)
    return laid_over(below, variant)


def _without_others(below: Mapping[str, Any], above: Mapping[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    """``below`` without those of ``keys`` that ``above`` replaces by another one."""
    replaced = any(key in above for key in keys)
    return {key: value for key, value in below.items() if not (replaced and key in keys and key not in above)}


def seeded(link: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """The link with the seed ``seed``, unless it has one of its own.

    >>> seeded({"wlan": {}}, 5)
    {'wlan': {}, 'run': {'seed': 5}}
    """
    run = link.get("run", {})
    if not isinstance(run, dict) or "seed" in run:
        return dict(link)
    return {**link, "run": {**run, "seed": seed}}

"""Links in the older form, before a plan's link was a scenario: only 802.11, its tables at the top of ``[link]``.

Archives keep such plans; :func:`with_current_links` gives what they would say today. A plan that is to be carried out
has to be rewritten: ``txop plan check`` says key by key what is to be written.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from txop.plan.link_tables import KINDS
from txop.plan.model import Plan

OF_WLAN = ("medium", "dut", "ap", "stations")
"""Now in ``wlan``."""
SEED = "seed"
"""Now in ``run``."""


def old_keys(tables: Mapping[str, Any]) -> list[str]:
    """Keys at the top of a link, or of an arm's variant of it, that are those of old.

    >>> old_keys({"dut": {"mcs": 7}, "path": {}, "seed": 1})
    ['dut', 'seed']
    """
    return [key for key in tables if key in (*OF_WLAN, SEED)]


def rewritten(tables: Mapping[str, Any]) -> dict[str, Any]:
    """The tables with old keys where they belong now.

    >>> rewritten({"dut": {"mcs": 7}, "seed": 1})
    {'wlan': {'dut': {'mcs': 7}}, 'run': {'seed': 1}}
    >>> rewritten({"dut": {}, "wlan": 5, "run": "x", "seed": 1})
    {'wlan': 5, 'run': 'x'}
    """
    found = {key: value for key, value in tables.items() if key not in (*OF_WLAN, SEED)}
    moved = {
        "wlan": {key: tables[key] for key in OF_WLAN if key in tables},
        "run": {SEED: tables[SEED]} if SEED in tables else {},
    }
    for name, keys in moved.items():
        before = found.get(name, {})
        if keys and isinstance(before, dict):  # a link has no settings that are not a table
            found[name] = {**before, **keys}
    return found


def with_current_links(plan: Plan) -> Plan:
    """The plan with its links written as they are now."""
    if plan.link is None:
        return plan
    link = rewritten(plan.link)
    if not any(key in link for key in (*KINDS, "base")):
        link["wlan"] = {}  # an empty table was a station and its access point with every default
    arms = [
        arm if arm.emulated is None else arm.model_copy(update={"emulated": rewritten(arm.emulated)})
        for arm in plan.arm
    ]
    return plan.model_copy(update={"link": link, "arm": arms})

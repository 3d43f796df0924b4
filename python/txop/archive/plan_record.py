"""Fingerprints of a plan's tables, as the journal records them, so that a plan which was edited later is noticed.

They are of the tables as they are written, not of the model, which grows with txop: an archive of an older txop keeps
its fingerprints. What only describes (titles, links) and what only says how a machine is reached is not in them.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Mapping
from typing import Any

from txop.archive.layout import Layout
from txop.archive.regular import read_regular
from txop.plan.access import ACCESS, MACHINES

_MAX_BYTES = 16 * 1024 * 1024
_DESCRIBES = frozenset({"title", "description", "environment"})
_DESCRIBES_ARM = frozenset({"title", "description", "link"})
_DESCRIBES_PATCH = frozenset({"description", "link", "upstream", "number"})

OVERRIDES = "overrides"
"""Name of what the command line changed; ``archive.json`` has it."""

DECIDES_PRIMARY = frozenset({"design", "arm", "test", OVERRIDES})
"""Tables on which it depends which figures are primary, and how many comparisons are judged together."""


def plan_record(layout: Layout) -> dict[str, str]:
    """The fingerprint of each table of the archive's plan; none where it cannot be read."""
    try:
        document = tomllib.loads(read_regular(layout.plan, _MAX_BYTES).decode("utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return fingerprints(document, layout.facts().get("overrides") or {})


def fingerprints(document: Mapping[str, Any], overrides: object) -> dict[str, str]:
    """The fingerprint of each table of a plan that says what is measured.

    >>> before = fingerprints({"title": "a", "design": {"blocks": 6}}, {})
    >>> before == fingerprints({"title": "b", "design": {"blocks": 6}}, {})
    True
    >>> sorted(before), before == fingerprints({"design": {"blocks": 7}}, {})
    (['design', 'overrides'], False)
    """
    meant = {key: value for key, value in document.items() if key not in _DESCRIBES}
    if isinstance(arms := meant.get("arm"), list):
        meant["arm"] = [_arm(arm) for arm in arms]
    if isinstance(targets := meant.get("target"), dict):
        meant["target"] = {name: _target(target) for name, target in targets.items()}
    meant[OVERRIDES] = overrides
    return {key: _digest(value) for key, value in meant.items()}


def _arm(arm: Any) -> Any:
    if not isinstance(arm, dict):
        return arm
    kept = {key: value for key, value in arm.items() if key not in _DESCRIBES_ARM}
    if isinstance(patches := kept.get("patches"), list):
        kept["patches"] = [
            {key: value for key, value in patch.items() if key not in _DESCRIBES_PATCH}
            if isinstance(patch, dict)
            else patch
            for patch in patches
        ]
    return kept


def _target(target: Any) -> Any:
    if not isinstance(target, dict) or target.get("kind") not in MACHINES:
        return target
    return {key: value for key, value in target.items() if key not in ACCESS}


def _digest(value: object) -> str:
    text = json.dumps(value, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]

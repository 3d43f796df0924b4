"""Whether the runs of an arm were made with that arm, by what was found loaded in each (``verified``)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from txop.archive.damage import Code, Finding
from txop.archive.run_file import RunFile
from txop.plan.arm import Arm
from txop.plan.model import Plan

_SAME = (
    "driver",
    "driver_module",
    "module",
    "srcversion",
    "build_id",
    "version",
    "parameters",
    "firmware_sha256",
    "qdisc",
    "link",
)
"""What does not differ between runs of one arm."""


def other_arms(plan: Plan, runs: Sequence[RunFile]) -> Iterator[Finding]:
    """Runs in which something else was loaded than their arm: than the plan asks for, else than in most runs of the
    arm. Where as many runs have one thing as another, which of them is the arm is not known."""
    usual: dict[tuple[str, str], str] = {}
    odd: list[tuple[RunFile, str, str, str, str]] = []
    for arm in plan.arm:
        mine = [run for run in runs if run.arm == arm.name]
        for key in _SAME:
            found = [(run, _text(key, run.verified[key])) for run in mine if run.verified.get(key) is not None]
            if not found:
                continue
            counts = Counter(text for _, text in found).most_common()
            asked = _asked(arm, key)
            expected, against = (counts[0][0], "most") if asked is None else (asked, "plan")
            usual[arm.name, key] = expected
            tied = asked is None and len(counts) > 1 and counts[0][1] == counts[1][1]
            for run, text in found:
                if text != expected:
                    odd.append((run, key, text, expected, "tie" if tied else against))
                elif tied:
                    odd.append((run, key, text, counts[1][0], "tie"))
    named: set[str] = set()
    for run, key, text, expected, against in odd:
        if run.run in named:
            continue
        named.add(run.run)
        like = next((name for (name, k), v in usual.items() if k == key and v == text and name != run.arm), None)
        facts = {"key": key, "value": text, "expected": expected, "against": against, "like": like}
        yield Finding(Code.RUN_ARM, run.run, facts)


def _asked(arm: Arm, key: str) -> str | None:
    """What the plan asks of what is loaded, in the same words."""
    asked = getattr(arm.verify, key, None) if key in ("srcversion", "build_id", "version") else None
    return None if asked is None else _text(key, asked)


def _text(key: str, value: Any) -> str:
    if key == "link" and isinstance(value, dict) and isinstance(run := value.get("run"), dict):
        value = {**value, "run": {name: each for name, each in run.items() if name != "seed"}}  # each run has its own
    if isinstance(value, str):
        return value.strip().lower() if key in ("srcversion", "build_id", "version") else value
    return json.dumps(value, sort_keys=True, default=str)

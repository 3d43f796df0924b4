"""Reports to draw: a made-up one with every part filled in, and variants of it."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from txop.air import AirReport

DATA = Path(__file__).parent.parent / "data"

HOSTILE = "<script>alert(1)</script>\"'&\x1b[2J\x07\u202egnp.exe\u2066{{7*7}}]]>\x00"
"""An SSID that tries HTML, a terminal escape, a bell, bidi overrides, a template and a NUL."""


@pytest.fixture
def document() -> dict[str, Any]:
    result: dict[str, Any] = json.loads((DATA / "air-v2.json").read_bytes())
    return result


@pytest.fixture
def report(document: dict[str, Any]) -> AirReport:
    return AirReport.parse(json.dumps(document))


@pytest.fixture
def good_report() -> AirReport:
    return AirReport.parse((DATA / "air-v2-good.json").read_bytes())


@pytest.fixture
def hostile_report(document: dict[str, Any]) -> AirReport:
    """Every text of the report that can come from outside is hostile."""
    changed = _poison(copy.deepcopy(document))
    changed["format"] = "txop-air"
    return AirReport.parse(json.dumps(changed))


@pytest.fixture
def empty_report(document: dict[str, Any]) -> AirReport:
    """What a capture with nothing in it gives: no lists, nothing available."""
    changed = _empty(copy.deepcopy(document))
    changed |= {"format": "txop-air", "version": 2}
    return AirReport.parse(json.dumps(changed))


def _poison(value: Any, name: str = "") -> Any:
    if isinstance(value, dict):
        return {key: _poison(inner, key) for key, inner in value.items()}
    if isinstance(value, list):
        return [_poison(inner, name) for inner in value]
    if isinstance(value, str) and name not in ("kind", "cause", "question", "answer", "role", "affects", "claimed"):
        return HOSTILE
    return value


def _empty(value: Any, name: str = "") -> Any:
    if name in ("kinds", "damage"):
        return None
    if isinstance(value, dict):
        return {key: _empty(inner, key) for key, inner in value.items()}
    if isinstance(value, list):
        return []
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return 0
    nullable = name in (
        "percent", "retry_percent", "busy_us", "busy_share", "observed_us", "span_us", "uncertainty_us",
        "stamp_meaning",        "confidence", "first_time_unix_s", "damage",
    )  # fmt: skip
    return None if nullable else value

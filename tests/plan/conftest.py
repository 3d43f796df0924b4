"""Plans to check: a good one, and changes to it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from txop.plan.load import LoadedPlan, parse_plan

GOOD = """\
title = "two builds"
[target.dut]
kind = "local"
interface = "wlan0"
[target.peer]
kind = "ssh"
host = "10.0.0.1"
address = "10.0.0.1"
[[arm]]
name = "a"
module = { name = "rtl8xxxu" }
[[arm]]
name = "b"
module = { name = "rtl8xxxu", parameters = { debug = 1 } }
[[test]]
name = "tx"
kind = "tcp-tx"
[[test]]
name = "idle"
kind = "latency"
"""

Parse = Callable[[str], LoadedPlan]


@pytest.fixture
def good() -> str:
    return GOOD


@pytest.fixture
def parse(tmp_path: Path) -> Parse:
    return lambda text: parse_plan(text.encode(), tmp_path / "plan.toml")

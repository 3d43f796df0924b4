"""Guests that are played: an arm is as fast as the test says, and logs what the test says."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from txop.archive.run_file import Fault
from txop.campaign import session
from txop.campaign.active_run import ActiveRun
from txop.campaign.placed_arm import ArmError, PlacedArm
from txop.campaign.testbed import Reachability
from txop.ci import judge
from txop.guest.driver import DriverBuildError
from txop.measure.instrument import Reading, RunContext, RunFacts
from txop.targets.contract import Targets

PLAN = """\
title = "sending"
[target.dut]
kind = "guest"
[target.peer]
kind = "guest"
[guest]
driver = "rtl8xxxu"
[[arm]]
name = "mainline"
[[test]]
name = "tx"
kind = "tcp-tx"
duration_s = 5
warm_up_s = 2
[design]
blocks = 6
idle_s = 0
gap_s = 0
"""


@dataclass
class Played:
    """What the two arms are."""

    mbit_s: dict[str, float] = field(default_factory=lambda: {"base": 40.0, "series": 40.0})
    noise: float = 0.0
    faults: dict[str, list[Fault]] = field(default_factory=dict)
    fails: set[str] = field(default_factory=set)
    """Arms that do not come up."""
    fails_in: set[tuple[str, str]] = field(default_factory=set)
    """The same of an arm in one test."""
    log: dict[str, str] = field(default_factory=dict)
    """What the compiler prints."""
    broken: dict[str, str] = field(default_factory=dict)
    rejected: bool = False
    """Arms that do not build, and why."""
    same: bool = False
    runs: list[str] = field(default_factory=list)
    sources: list[Any] = field(default_factory=list)


class Instrument:
    name = "played"
    essential = True

    def __init__(self, played: Played) -> None:
        self._played = played

    async def prepare(self, run: RunContext) -> None: ...

    async def start(self, run: RunContext) -> None: ...

    async def stop(self, run: RunContext) -> None: ...

    def read(self, facts: RunFacts) -> Reading:
        reading, arm = Reading(), facts.arm.name
        block = int(facts.folder.name[:3])
        share = random.Random(block).gauss(0, 0.02)  # noqa: S311 - noise
        own = random.Random(f"{arm}{block}").gauss(0, self._played.noise)  # noqa: S311 - noise
        reading.put("throughput_mbit_s", self._played.mbit_s[arm] * (1 + share) * (1 + own), "played")
        reading.faults += self._played.faults.get(arm, [])
        return reading


class Testbed:
    peer_address = "10.80.210.1"
    machine_per_run = True
    at_once = 2

    def __init__(self, played: Played) -> None:
        self._played = played
        self.targets = Targets()

    async def open(self) -> dict[str, dict[str, Any]]:
        return {"dut": {"machine": "guest", "kernel": "6.12"}}

    def instruments(self, test: Any) -> Sequence[Any]:
        return [Instrument(self._played)]

    @asynccontextmanager
    async def group(self, arm: Any, runs: int) -> AsyncIterator[Any]:
        async def carry_out(active: ActiveRun) -> None:
            self._played.runs.append(active.label.run)
            active.placed = PlacedArm(None, {}, clock="played")
            with active.voided_by_failures():
                if arm.name in self._played.fails or (arm.name, active.label.test) in self._played.fails_in:
                    raise ArmError("arm-load-failed", "txop-lab: no interface came up")
                active.began += active.instruments

        yield carry_out

    async def reach(self) -> Reachability:
        return Reachability()

    async def recover(self, target: str) -> bool:
        return True

    async def reset(self, target: str, *, cold: bool) -> bool:
        return True

    async def close(self) -> None: ...


@pytest.fixture
def played(monkeypatch, tmp_path) -> Played:
    made = Played()

    async def build(what: Any, lock: Any, **_: Any) -> SimpleNamespace:
        made.sources.append(what)
        arm = "base" if len(made.sources) % 2 else "series"
        if arm in made.broken:
            raise DriverBuildError(made.broken[arm], rejected=made.rejected)
        module, log = tmp_path / f"{arm}.ko", tmp_path / f"{arm}.log"
        module.write_text("same" if made.same else arm)
        log.write_text(made.log.get(arm, ""))
        return SimpleNamespace(module=module, log=log, info=SimpleNamespace(build_id=f"{arm}0123456789abcdef"))

    monkeypatch.setattr(judge, "build_driver", build)
    monkeypatch.setattr(session, "make_testbed", lambda *_: Testbed(made))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return made


@pytest.fixture
def plan_file(tmp_path) -> Path:
    path = tmp_path / "plan.toml"
    path.write_text(PLAN)
    return path

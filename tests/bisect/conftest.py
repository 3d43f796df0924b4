"""A driver of one file that says how fast it is, in a git repository, and guests that believe it."""

from __future__ import annotations

import asyncio
import os
import re
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from txop.archive.run_file import RunFile, Value, Voiding
from txop.bisect import engine
from txop.campaign.run import RunOutcome
from txop.guest.driver import DriverBuildError

FOLDER = "drivers/net/wireless/realtek/rtl8xxxu"

PLAN = """\
title = "sending"
[target.dut]
kind = "guest"
[target.peer]
kind = "guest"
[guest]
driver = "rtl8xxxu"
check_exact = "none"
[[arm]]
name = "mainline"
[[test]]
name = "tx"
kind = "tcp-tx"
duration_s = 5
warm_up_s = 2
[design]
blocks = 8
idle_s = 0
"""


@dataclass
class Guests:
    """What was done, and what goes wrong."""

    runs: list[tuple[str, int]] = field(default_factory=list)
    builds: list[float] = field(default_factory=list)
    at_once: int = 0
    most_at_once: int = 0
    stop_after: int | None = None
    """Ctrl-C comes with this run."""
    void: Callable[[str, int], bool] = lambda arm, block: False


@pytest.fixture
def guests(monkeypatch, tmp_path) -> Guests:
    made = Guests()

    async def build(what: Any, lock: Any, **_: Any) -> SimpleNamespace:
        text = (what.source / FOLDER / "core.c").read_text()
        for patch in what.patches:
            text = patch.read_text()
        if "#error" in text:
            log = tmp_path / "build.log"
            log.write_text("core.c: #error\n")
            raise DriverBuildError("the module could not be built: core.c: #error", log)
        level = float(re.findall(r"level (\d+)", text)[-1])
        made.builds.append(level)
        module = tmp_path / f"built-{level:g}.ko"
        module.write_bytes(f"{level}".encode())
        return SimpleNamespace(module=module)

    class Testbed:
        def __init__(self, plan: Any, folder: Path, reporter: Any, jobs: int, store: Any, workers: Any) -> None:
            self.plan = plan

        async def open(self) -> None:
            text = (Path(self.plan.arm[0].guest.source) / FOLDER / "core.c").read_text()
            self.level = float(re.findall(r"level (\d+)", text)[-1])

        @asynccontextmanager
        async def group(self, arm: Any, runs: int) -> AsyncIterator[Any]:
            yield None

    async def carry_out(testbed: Any, in_group: Any, plan: Any, label: Any, folder: Path, reporter: Any) -> RunOutcome:
        if made.stop_after is not None and len(made.runs) >= made.stop_after:
            folder.mkdir(parents=True)
            os.kill(os.getpid(), signal.SIGINT)
            await asyncio.sleep(60)
        made.at_once += 1
        made.most_at_once = max(made.most_at_once, made.at_once)
        await asyncio.sleep(0)
        folder.mkdir(parents=True)
        made.runs.append((label.arm, label.block))
        made.at_once -= 1
        void = made.void(label.arm, label.block)
        value = testbed.level * (1 + 0.01 * (label.block % 3)) + 0.001 * label.block
        file = RunFile(
            run=label.run, block=label.block, position=1, arm=label.arm, test=label.test, origin=plan.origin,
            state="void" if void else "valid", started_at="2026-01-01T00:00:00Z", seconds=1.0,
            void=[Voiding(gate="association-lost", cause="the association was lost")] if void else [],
            metrics={"throughput_mbit_s": Value(value=value, unit="Mbit/s", source="iperf3")},
        )  # fmt: skip
        return RunOutcome(file, None, arm_failed=False)

    monkeypatch.setattr(engine, "build_driver", build)
    monkeypatch.setattr(engine, "GuestTestbed", Testbed)
    monkeypatch.setattr(engine, "carry_out", carry_out)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return made


@pytest.fixture
def plan_file(tmp_path) -> Path:
    path = tmp_path / "plan.toml"
    path.write_text(PLAN)
    return path

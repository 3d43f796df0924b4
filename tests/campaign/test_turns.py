"""Campaigns that share an access point, one of them on the air at a time."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from txop.archive.reader import read_archive
from txop.campaign.ending import End
from txop.campaign.engine import Campaign
from txop.campaign.reporter import Reporter
from txop.campaign.turns import Turn
from txop.plan.load import parse_plan
from txop.plan_check.check import check

from .conftest import Bench, FakeTestbed, Noted


class Phases(Noted):
    """Keeps what a campaign says that it does now."""

    def __init__(self) -> None:
        super().__init__([])
        self.phases: list[str] = []

    def phase(self, words: str, seconds: float | None) -> None:
        self.phases.append(words)


class Slow(FakeTestbed):
    """A device whose arm takes a moment to load; all such devices note on one list what they do."""

    def __init__(self, name: str, noted: list[tuple[str, str]], turn: Turn | None) -> None:
        super().__init__(lambda run: "load" if run == "002-old-tx" and name == "a" else None)
        self.name, self.noted, self.turn = name, noted, turn

    async def place(self, arm, folder):
        self.noted.append((self.name, "on"))
        await asyncio.sleep(0.02)
        try:
            placed = await super().place(arm, folder)
        finally:
            await asyncio.sleep(0.02)
            self.noted.append((self.name, "off"))
        return placed


def both(tmp_path: Path, plan_text: str, turns: tuple[Turn | None, Turn | None]) -> tuple[list[tuple[str, str]], list]:
    noted: list[tuple[str, str]] = []
    benches = [Bench(tmp_path / name, plan_text) for name in ("a", "b")]
    reporters: list[Reporter] = [Phases(), Phases()]

    async def go() -> None:
        campaigns = [
            Campaign(bench.layout, bench.plan, Slow(name, noted, turn), reporter).go()
            for bench, name, turn, reporter in zip(benches, ("a", "b"), turns, reporters, strict=True)
        ]
        for outcome in await asyncio.gather(*campaigns):
            assert outcome.end is End.FINISHED

    asyncio.run(go())
    for bench in benches:
        assert len(read_archive(bench.layout.root).runs) >= 12
    return noted, reporters


def overlap(noted: list[tuple[str, str]]) -> bool:
    """Whether one device came on the air while the other one was."""
    on: set[str] = set()
    for name, what in noted:
        if what == "on":
            on.add(name)
        else:
            on.discard(name)
        if len(on) > 1:
            return True
    return False


def test_without_turns_both_are_on_the_air_at_once(tmp_path, plan_text):
    noted, _ = both(tmp_path, plan_text, (None, None))
    assert overlap(noted)


@pytest.mark.slow
def test_one_at_a_time_is_on_the_air_and_both_get_their_turns(tmp_path, plan_text):
    folder = tmp_path / "turns"
    noted, reporters = both(tmp_path, plan_text, (Turn("ap", folder), Turn("ap", folder)))
    assert not overlap(noted)
    names = [name for name, what in noted if what == "on"]
    changes = sum(one != other for one, other in pairwise(names))
    assert changes >= 10, f"they alternate: {names}"
    assert any("waiting for the turn of ap" in words for reporter in reporters for words in reporter.phases)


def test_other_words_are_other_turns(tmp_path, plan_text):
    folder = tmp_path / "turns"
    noted, _ = both(tmp_path, plan_text, (Turn("ap", folder), Turn("other", folder)))
    assert overlap(noted)


def test_a_killed_campaign_has_no_turn_any_more(tmp_path):
    code = (
        "import asyncio, sys, time; from pathlib import Path; from txop.campaign.turns import Turn\n"
        "asyncio.run(Turn('ap', Path(sys.argv[1])).take(None)); print('taken', flush=True); time.sleep(600)"
    )
    holder = subprocess.Popen([sys.executable, "-c", code, tmp_path], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "taken\n"

    async def take() -> Phases:
        turn, said = Turn("ap", tmp_path), Phases()
        taking = asyncio.create_task(turn.take(said))
        while not said.phases:
            await asyncio.sleep(0.01)
        assert not taking.done()
        os.kill(holder.pid, signal.SIGKILL)
        await taking
        await turn.take(said)  # held already
        await turn.leave()
        return said

    assert asyncio.run(take()).phases == ["waiting for the turn of ap"]
    holder.communicate()


@pytest.mark.parametrize("kind", ["emulated", "guest"])
def test_only_machines_take_turns(tmp_path, kind):
    text = (
        f'title = "t"\n[target.dut]\nkind = "{kind}"\n[target.peer]\nkind = "{kind}"\n[guest]\n[[arm]]\nname = "a"\n'
        '[[arm]]\nname = "b"\n[[test]]\nname = "tx"\nkind = "tcp-tx"\n[design]\nturn = "ap"\n'
    )
    problems = check(parse_plan(text.encode(), tmp_path / "plan.toml"), files=False).problems
    assert any(problem.key == "design.turn" and "no access point" in problem.message for problem in problems), problems

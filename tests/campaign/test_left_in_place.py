"""What a killed process of a campaign left on its targets, and how the next one takes it away."""

from __future__ import annotations

import asyncio
import json

import pytest

from fake_target import FakeTarget
from txop.archive.journal import Event
from txop.arms.arm_loader import undo_by_commands
from txop.campaign.ending import Cause, stopped
from txop.campaign.state import left_in_place
from txop.plan.load import parse_plan
from txop.targets.contract import Targets

PLAN = b"""
title = "t"
[target.dut]
kind = "local"
[target.peer]
kind = "local"
[[arm]]
name = "a"
load = ["hostapd -B"]
unload = ["first word", "second"]
[[arm]]
name = "b"
[bring_up]
down = ["radio off"]
[[test]]
name = "tx"
kind = "tcp-tx"
"""


def journal(*events: dict[str, object]) -> list[Event]:
    about = {"at": "2026-11-26T12:00:00.000Z", "monotonic_s": 1.0, "boot": "b"}
    return [Event.model_validate_json(json.dumps({**about, **event})) for event in events]


RUN = {"event": "run-started", "run": "001-a-tx", "block": 1, "arm": "a", "test": "tx"}


@pytest.mark.parametrize(
    ("then", "left"),
    [
        ([], "a"),
        ([{"event": "run-finished", "block": 1, "arm": "a", "test": "tx"}], "a"),  # it may stay for several tests
        ([{"event": "resumed"}], "a"),
        ([{"event": "campaign-stopped", **stopped(Cause.TARGET_LOST, target="dut").fields}], "a"),
        ([{"event": "campaign-stopped", **stopped(Cause.INTERRUPTED).fields}], None),
        ([{"event": "campaign-stopped", "reason": stopped(Cause.TARGET_LOST, target="dut").reason}], None),
        ([{"event": "campaign-stopped"}], None),
        ([{"event": "campaign-finished", "reason": ""}], None),
        ([{"event": "campaign-stopped", "reason": ""}, {"event": "resumed"}, {**RUN, "arm": "b"}], "b"),
    ],
)
def test_who_was_killed_or_lost_a_target_for_good_leaves_its_arm(then, left):
    assert left_in_place(journal({"event": "campaign-started"}, RUN, *then)) == left


def test_it_is_undone_by_the_commands_of_the_plan_in_their_order(tmp_path):
    plan = parse_plan(PLAN, tmp_path / "plan.toml").plan
    dut = FakeTarget()
    dut.connected = True
    dut.answer("radio")
    dut.answer("first", stderr="nothing to end\n", status=1)
    dut.answer("second")
    problems = asyncio.run(undo_by_commands(Targets({"dut": dut}), plan.find_arm("a"), plan))
    assert dut.ran == [("radio", "off"), ("first", "word"), ("second",)]
    assert dut.root == dut.ran
    assert problems == ["dut: left by an earlier start: `first word` ended with 1: nothing to end"]

"""A free command of the plan: figures from whatever it prints."""

from __future__ import annotations

import asyncio
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fake_target import FakeTarget
from instrument_bench import carry_out, context_of, make_plan, values
from txop.measure.traffic import command
from txop.measure.traffic.command import Command, figures
from txop.plan.measurement import CommandTest

JSON = '[[test]]\nname = "t"\nkind = "command"\ncommand = "boot --json"\nhigher_is_better = ["speed"]\nduration_s = 1\n'


def regex(pattern: str) -> CommandTest:
    return CommandTest(name="t", kind="command", command="x", parser="regex", pattern=pattern)


def go(folder, **answer):
    target = FakeTarget()
    target.connected = True
    target.answer("boot", **answer)
    plan = make_plan(JSON)
    probe = Command(plan.test[0])
    return asyncio.run(carry_out([probe], context_of(plan, folder, {"dut": target}), window_s=0))


def test_numbers_of_a_json_object(tmp_path):
    reading = go(tmp_path, stdout='{"speed": 3, "boot_s": "2.5", "name": "x", "ok": true, "n": null, "Bad Name": 1}')
    assert values(reading) == {"speed": 3.0, "boot_s": 2.5}
    assert "Bad Name" in reading.warnings[0]


@pytest.mark.parametrize("text", ["", "garbage", "[1]", "{", '{"speed": 1e999}', "[" * 100_000])
def test_what_is_no_object_of_numbers(tmp_path, text):
    reading = go(tmp_path, stdout=text)
    assert reading.metrics["speed"].value is None
    assert reading.metrics["speed"].reason == "not in the command's output"
    assert reading.warnings


def test_a_command_that_failed(tmp_path):
    with pytest.raises(ValueError, match="ended with 3"):
        go(tmp_path, status=3)


def test_a_pattern_is_searched_for_in_long_texts_too():
    text = "noise\n" * 10_000 + "took 3.5 s, 17 retries\n"
    test = regex(r"took (?P<boot_s>\S+) s, (?P<retries>\d+)")
    assert figures(test, text) == ({"boot_s": 3.5, "retries": 17.0}, None)
    assert figures(test, "nothing of the kind") == ({}, "the pattern is not in its output")
    assert figures(test, "nothing of the kind " * 3) == ({}, "the pattern is not in its output")


def test_a_pattern_that_takes_for_ever_is_given_up(monkeypatch):
    monkeypatch.setattr(command, "SEARCH_TIMEOUT_S", 0.5)
    begun = time.monotonic()
    found, problem = figures(regex(r"(?P<n>(a+)+)$"), "a" * 60 + "b")
    assert found == {}
    assert problem == "the search for the pattern took longer than 0.5 s"
    assert time.monotonic() - begun < 10


@settings(max_examples=30, deadline=None)
@given(st.text(max_size=60))
def test_any_output(text):
    values_, _ = figures(regex(r"(?P<n>\S+)"), text)
    assert all(isinstance(value, float) for value in values_.values())
    figures(CommandTest(name="t", kind="command", command="x"), text)

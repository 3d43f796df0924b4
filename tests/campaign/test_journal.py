"""The journal survives whatever is done to its end, and the state follows from it alone."""

from __future__ import annotations

import json
import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from txop.archive.journal import JournalWriter, read_journal
from txop.campaign.schedule import planned
from txop.campaign.state import State, gap_s
from txop.plan.model import Plan
from txop.plan.overrides import Overrides


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("journal")


def _plan(blocks=3):
    return Plan.model_validate(
        tomllib.loads(
            f"""
title = "t"
target.dut.kind = "local"
arm = [{{ name = "a" }}, {{ name = "b" }}]
test = [{{ name = "x", kind = "latency" }}]
design.blocks = {blocks}
"""
        )
    )


@settings(max_examples=60, deadline=None)
@given(events=st.lists(st.sampled_from(["resumed", "note", "campaign-stopped"]), max_size=6), cut=st.integers(0, 400))
def test_a_cut_journal_loses_its_last_lines_only(folder, events, cut):
    path = folder / "journal.jsonl"
    path.unlink(missing_ok=True)
    with JournalWriter(path) as journal:
        for number, event in enumerate(events):
            journal.write(event, number=number)
    whole = path.read_bytes()
    path.write_bytes(whole[: max(0, len(whole) - cut)])
    reading = read_journal(path)
    assert [event.event for event in reading.events] == events[: len(reading.events)]
    # A line that lacks its line feed only is whole; what it says happened.
    assert len(reading.events) in (path.read_bytes().count(b"\n"), path.read_bytes().count(b"\n") + 1)
    with JournalWriter(path) as journal:
        journal.write("resumed", after="the cut")
    again = read_journal(path)
    assert again.events[-1].get("after") == "the cut"
    assert [event.event for event in again.events[:-1]] == [event.event for event in reading.events]


@settings(max_examples=100, deadline=None)
@given(data=st.binary(max_size=2000))
def test_any_bytes_are_read_without_error(folder, data):
    path = folder / "garbage.jsonl"
    path.write_bytes(data)
    state = State.of(_plan(), read_journal(path).events)
    assert state.next_block() is not None


@settings(max_examples=100, deadline=None)
@given(
    fields=st.dictionaries(
        st.sampled_from(["block", "arms", "tests", "replaces", "arm", "test", "seconds", "cause"]),
        st.one_of(st.none(), st.integers(-3, 9), st.text(max_size=3), st.lists(st.text(max_size=2), max_size=2)),
    ),
    event=st.sampled_from(["block-started", "run-finished", "run-voided", "block-finished", "block-abandoned"]),
)
def test_events_that_make_no_sense_are_survived(folder, fields, event):
    path = folder / "nonsense.jsonl"
    common = {"at": "2026-01-01T00:00:00Z", "monotonic_s": 1.0}
    start = {"event": "block-started", "block": 1, "arms": ["a", "b"], "tests": ["x"], **common}
    path.write_text(json.dumps(start) + "\n" + json.dumps({**fields, "event": event, **common}) + "\n")
    state = State.of(_plan(), read_journal(path).events)
    state.next_block()
    assert state.runs_to_come() >= 0


def test_every_arm_once_in_every_block():
    blocks = planned(_plan(50))
    assert all(sorted(block.arms) == ["a", "b"] for block in blocks)
    assert [block.number for block in blocks] == list(range(1, 51))


def test_the_gap_between_boots_is_taken_from_the_wall_clock_and_never_negative(folder):
    def event(at, monotonic_s, boot):
        line = {"event": "note", "at": at, "monotonic_s": monotonic_s, "boot": boot}
        (folder / "one.jsonl").write_text(json.dumps(line) + "\n")
        return read_journal(folder / "one.jsonl").events[0]

    first = event("2026-01-01T00:00:00Z", 100.0, "x")
    assert gap_s(first, event("2030-01-01T00:00:00Z", 160.0, "x")) == 60
    assert gap_s(first, event("2026-01-01T00:02:00Z", 5.0, "y")) == 120
    assert gap_s(first, event("2025-01-01T00:00:00Z", 5.0, "y")) is None
    assert gap_s(first, event("nonsense", 5.0, "y")) is None


def test_aa_compares_the_baseline_with_itself():
    plan = Overrides(aa=True, blocks=7).apply(_plan())
    assert [arm.name for arm in plan.arm] == ["a-a", "a-b"]
    assert plan.baseline == "a-a"
    assert plan.design.blocks == 7
    assert plan.title.startswith("A/A")

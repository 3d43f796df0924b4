"""How long runs in guests take, and how many go on at once."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quiet_reporter import Quiet
from txop.archive.layout import Layout
from txop.campaign.engine import Campaign
from txop.campaign.guests import GuestTestbed
from txop.plan import guest_time
from txop.plan.guest_time import MeasuredTime, expected, guests_at_once, is_checked, is_known, remember
from txop.plan.model import Plan
from txop.plan_check.count import count


def plan(*, arms: int = 2, tests: int = 2, blocks: int = 3, **guest: object) -> Plan:
    return Plan.model_validate(
        {
            "title": "x",
            "target": {"dut": {"kind": "guest"}, "peer": {"kind": "guest"}},
            "guest": {"check_exact": "none", **guest},
            "arm": [{"name": f"a{n}"} for n in range(arms)],
            "test": [{"name": f"t{n}", "kind": "tcp-tx", "duration_s": 10, "warm_up_s": 2} for n in range(tests)],
            "design": {"blocks": blocks, "idle_s": 4, "gap_s": 0},
        }
    )


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path


def test_runs_done_here_take_the_place_of_the_first_guess() -> None:
    made = plan()
    test, spec = made.test[0], made.guest
    assert spec is not None
    assert not is_known(made, test)
    guessed = expected(made, test)
    assert guessed[0] < guessed[1] < guessed[2]
    for slowdown in (2.0, 3.0, 7.0):
        remember(spec, test, MeasuredTime(10 * slowdown, slowdown))
    assert is_known(made, test)
    guest_s = 4 + 2 + 10 + guest_time.TAIL_S
    assert expected(made, test) == (20 + 2 * guest_s, 30 + 3 * guest_s, 70 + 7 * guest_s)


def test_a_restored_guest_is_guessed_to_be_there_sooner() -> None:
    booted, restored = plan(), plan(start="associated")
    assert expected(restored, restored.test[0])[1] < expected(booted, booted.test[0])[1]


def test_a_slower_processor_is_another_sort_of_run() -> None:
    spec = plan().guest
    assert spec is not None
    remember(spec, plan().test[0], MeasuredTime(1, 1))
    assert not is_known(plan(mips=125), plan().test[0])
    assert not is_known(plan(mode="fast"), plan().test[0])
    assert expected(plan(mips=1000), plan().test[0])[1] > expected(plan(mips=250), plan().test[0])[1]


def test_only_the_last_runs_are_kept() -> None:
    spec = plan().guest
    assert spec is not None
    for number in range(3 * guest_time.KEPT):
        remember(spec, plan().test[0], MeasuredTime(number, 0))
    assert expected(plan(), plan().test[0])[0] == 2 * guest_time.KEPT


def test_guests_at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(8)))
    monkeypatch.setattr(guest_time, "MEMINFO", tmp_path / "meminfo")
    assert guests_at_once(plan(arms=3, tests=3)) == 8
    assert guests_at_once(plan()) == 4  # no more than a block has runs
    assert guests_at_once(plan(mode="fast")) == 1
    assert guests_at_once(plan(mode="fast", parallel=2)) == 2
    assert guests_at_once(plan(parallel=2), jobs=3) == 3
    (tmp_path / "meminfo").write_text(f"MemTotal: 16000000 kB\nMemAvailable: {3 * 712 * 1024 + 5} kB\n")
    assert guests_at_once(plan(arms=3, tests=3)) == 3
    assert guests_at_once(plan(arms=3, tests=3, memory_mb=8192)) == 1
    assert guests_at_once(plan(arms=3, tests=3), jobs=5) == 5


def test_the_time_of_a_campaign_is_that_of_its_rounds() -> None:
    for test in plan().test:
        remember(plan().guest, test, MeasuredTime(50, 2))  # type: ignore[arg-type]
    one = 50 + 2 * (16 + guest_time.TAIL_S)
    assert count(plan(parallel=1)).seconds_expected == pytest.approx(12 * one)
    assert count(plan(parallel=2)).seconds_expected == pytest.approx(6 * one)
    assert count(plan(parallel=4)).seconds_expected == pytest.approx(3 * one)
    # 4 runs in rounds of 3: the second round has one
    assert count(plan(parallel=3)).seconds_expected == pytest.approx(6 * one)


def test_runs_that_are_checked_take_twice_as_long() -> None:
    for test in plan().test:
        remember(plan().guest, test, MeasuredTime(50, 2))  # type: ignore[arg-type]
    one = 50 + 2 * (16 + guest_time.TAIL_S)
    assert count(plan(parallel=1, check_exact="first")).seconds_expected == pytest.approx((12 + 2) * one)
    assert count(plan(parallel=1, check_exact="all")).seconds_expected == pytest.approx(24 * one)
    assert count(plan(parallel=2, check_exact="all")).seconds_expected == pytest.approx(12 * one)
    assert sum(count(plan(parallel=1, check_exact="all")).per_run_s.values()) == pytest.approx(2 * one)


def test_one_run_of_every_arm_is_checked_where_the_plan_says_nothing() -> None:
    made = Plan.model_validate({**plan().model_dump(exclude_unset=True), "guest": {}})

    def checked(made: Plan) -> list[tuple[str, int]]:
        return [(test.name, block) for block in (1, 2, 3, 4) for test in made.test if is_checked(made, test, block)]

    # block 4 is a repeat of a void one
    assert checked(made) == [("t0", 1), ("t0", 4)]
    assert len(checked(plan(check_exact="all"))) == 8
    assert checked(plan(check_exact="none")) == []
    assert checked(plan(mode="fast", check_exact="all")) == []


def test_the_first_estimate_of_a_run_is_that_of_one_guest(tmp_path: Path) -> None:
    for test in plan().test:
        remember(plan().guest, test, MeasuredTime(50, 2))  # type: ignore[arg-type]
    made = plan(parallel=4)
    testbed = GuestTestbed(made, tmp_path, Quiet(), jobs=1)
    campaign = Campaign(Layout(tmp_path / "archive"), made, testbed, Quiet())
    assert campaign._run_seconds() == pytest.approx(50 + 2 * (16 + guest_time.TAIL_S))


def test_a_budget_is_spent_in_blocks() -> None:
    made = plan(blocks=10, parallel=1)
    design = made.design.model_copy(update={"time_budget_s": 1.0})
    counted = count(made.model_copy(update={"design": design}))
    assert counted.cut_by_budget
    assert counted.blocks_in_budget == 1


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=10,
)


@given(runs=JSON | st.dictionaries(st.just("exact 500 tcp-tx"), JSON))
def test_a_damaged_store_costs_its_contents_only(tmp_path_factory: pytest.TempPathFactory, runs: object) -> None:
    store = tmp_path_factory.mktemp("state") / "times.json"
    store.write_text(json.dumps({"format": "txop-guest-times", "version": 1, "runs": runs}))
    low, usual, high = expected(plan(), plan().test[0], store=store)
    assert 0 <= low <= usual <= high
    remember(plan().guest, plan().test[0], MeasuredTime(1, 1), store=store)  # type: ignore[arg-type]
    assert is_known(plan(), plan().test[0], store=store)

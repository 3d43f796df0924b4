"""Runs and time of a plan."""

from __future__ import annotations

import pytest

from txop.plan_check.count import COLLECT, MODULE, READY, count


def test_runs_and_what_they_are_made_of(parse, good):
    counted = count(parse(good).plan)
    assert (counted.runs, counted.blocks, counted.arms, counted.tests, counted.loads) == (40, 10, 2, 2, 40)
    per_run = 30 + 5 + 5 + 2 + COLLECT.expected + MODULE.expected + READY.expected
    assert counted.seconds_expected == pytest.approx(40 * per_run)
    assert sum(counted.per_run_s.values()) == pytest.approx(per_run)
    assert counted.seconds_low < counted.seconds_expected < counted.seconds_high
    assert counted.seconds_low >= 40 * (30 + 5 + 5 + 2)


def test_loading_once_per_block_takes_less(parse, good):
    by_arm = count(parse(good + '[design]\nreload = "arm"\n').plan)
    assert by_arm.loads == 20
    assert by_arm.runs == 40
    assert by_arm.seconds_expected < count(parse(good).plan).seconds_expected


def test_module_cycles_take_their_time(parse, good):
    text = good.replace('kind = "latency"', 'kind = "module-cycle"\ncycles = 10\npause_s = 3')
    more = count(parse(text).plan)
    assert more.seconds_low - count(parse(good).plan).seconds_low >= 20 * (10 * 3 - 30)
    assert more.seconds_high > more.seconds_expected > more.seconds_low


def test_a_time_budget_is_compared_with_the_expectation(parse, good):
    counted = count(parse(good + "[design]\ntime_budget_s = 500\n").plan)
    assert counted.cut_by_budget
    per_block = counted.seconds_expected / 10
    assert counted.blocks_in_budget == int(500 // per_block) + 1
    assert not count(parse(good + "[design]\ntime_budget_s = 50000\n").plan).cut_by_budget

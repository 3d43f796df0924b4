"""The search, against simulated drivers: with and without noise, with candidates that do not build or run."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from txop.bisect.judge import judge_of
from txop.bisect.search import (
    CandidateState,
    Found,
    Judgement,
    Limits,
    NotDetermined,
    Outcomes,
    Search,
    Work,
    least_blocks,
)
from txop.core.metrics import describe

THROUGHPUT = describe("throughput_mbit_s")


def search(confidence: float = 0.95, most: int = 11) -> Search:
    limits = Limits(least_blocks(confidence), max(most, least_blocks(confidence)))
    return Search(limits, judge_of(THROUGHPUT, confidence, looking_for="worse"))


def drawn(seed: str, sd: float) -> float:
    return random.Random(seed).gauss(0, sd)  # noqa: S311 - noise


@dataclass
class Drivers:
    """Candidates with a level each; what is measured has the block's own share, and noise."""

    levels: list[float]
    noise: float = 0.0
    seed: int = 1
    broken: set[int] = field(default_factory=set)
    void: set[tuple[int, int]] = field(default_factory=set)
    same: dict[int, int] = field(default_factory=dict)
    """Candidates that build the module of another."""
    ran: list[tuple[int, int]] = field(default_factory=list)

    def carry_out(self, known: Outcomes, work: Work) -> None:
        at = work.at
        assert work.blocks or at not in known.modules, "work is something to do"
        if at in self.broken:
            known.not_built(at, "it does not build")
            return
        known.built(at, f"module {self.same.get(at, at)}")
        for block in work.blocks:
            assert (at, block) not in self.ran, "no run is done twice"
            self.ran.append((at, block))
            if (at, block) in self.void:
                known.voided(at, block, "the association was lost")
                continue
            level = self.levels[self.same.get(at, at)]
            share = drawn(f"{self.seed} {block}", 0.02)
            own = drawn(f"{self.seed} {self.same.get(at, at)} {block}", self.noise)
            known.ran(at, block, level * (1 + share) * (1 + own))


def find(drivers: Drivers, how: Search | None = None, at_once: int = 1) -> tuple[Found | NotDetermined, Outcomes]:
    how = how or search()
    known = Outcomes(len(drivers.levels) - 1)
    for _ in range(10_000):
        step = how.next(known, at_once)
        if isinstance(step, (Found, NotDetermined)):
            return step, known
        assert step, "it never waits for nothing"
        for work in step:
            drivers.carry_out(known, work)
    pytest.fail("the search does not end")


def levels(first_bad: int, count: int, drop: float = 0.5) -> list[float]:
    return [40.0] * first_bad + [40.0 * drop] * (count - first_bad)


@settings(max_examples=25, deadline=None)
@given(count=st.integers(2, 70), data=st.data(), at_once=st.sampled_from([1, 2, 8, 32]))
def test_it_finds_the_first_bad_one(count, data, at_once):
    first = data.draw(st.integers(1, count - 1))
    drivers = Drivers(levels(first, count))
    found, known = find(drivers, at_once=at_once)
    assert found == Found(first - 1, first, Judgement.WORSE)
    if at_once < 12:
        assert len(known.modules) <= 2 + (count - 1).bit_length()


@settings(max_examples=15, deadline=None)
@given(count=st.integers(2, 40), seed=st.integers(0, 10_000), data=st.data())
def test_it_finds_the_first_bad_one_in_noise(count, seed, data):
    first = data.draw(st.integers(1, count - 1))
    found, _ = find(Drivers(levels(first, count, 0.8), noise=0.01, seed=seed))
    assert found == Found(first - 1, first, Judgement.WORSE)


@settings(max_examples=25, deadline=None)
@given(
    count=st.integers(3, 40),
    data=st.data(),
    broken=st.sets(st.integers(1, 39)),
    at_once=st.sampled_from([1, 16]),
)
def test_what_does_not_build_is_never_the_answer_and_the_range_is(count, data, broken, at_once):
    first = data.draw(st.integers(1, count - 1))
    broken = {at for at in broken if at < count - 1}
    found, known = find(Drivers(levels(first, count), broken=broken), at_once=at_once)
    assert isinstance(found, Found)
    assert found.good not in broken
    assert found.bad not in broken
    assert found.good < first <= found.bad
    assert set(range(found.good + 1, found.bad)) <= broken, "only those between that cannot be distinguished"
    assert all(search().standing(known, at) is CandidateState.SKIPPED for at in range(found.good + 1, found.bad))


@settings(max_examples=25, deadline=None)
@given(count=st.integers(2, 20), data=st.data())
def test_void_runs_cost_other_blocks_and_nothing_else(count, data):
    first = data.draw(st.integers(1, count - 1))
    void = data.draw(st.sets(st.tuples(st.integers(0, count - 1), st.integers(1, 8)), max_size=8))
    drivers = Drivers(levels(first, count), void=void)
    found, known = find(drivers)
    if isinstance(found, NotDetermined):
        ends = (0, count - 1)
        assert any(search().standing(known, end) is CandidateState.SKIPPED for end in ends)
    else:
        assert found.good < first <= found.bad
        for at in range(found.good + 1, found.bad):
            assert search().standing(known, at) is CandidateState.SKIPPED


def test_a_candidate_whose_runs_are_all_void_is_skipped_after_three():
    drivers = Drivers(levels(2, 5), void={(2, block) for block in range(1, 30)})
    found, known = find(drivers)
    assert found == Found(1, 3, Judgement.WORSE)
    assert not found.is_one
    assert search().cause(known, 2) == f"{len(known.runs(2).voids)} runs void: the association was lost"


def test_equal_modules_share_their_runs():
    drivers = Drivers(levels(6, 9), same=dict.fromkeys(range(1, 6), 0))
    found, _ = find(drivers)
    assert found == Found(5, 6, Judgement.WORSE)
    assert {at for at, _ in drivers.ran if at < 6} == {0}


def test_ends_that_do_not_differ_are_no_bisection():
    found, known = find(Drivers([40.0] * 9))
    assert found == NotDetermined("the bad end is not worse than the good one")
    assert set(known.modules) == {0, 8}


def test_ends_that_all_runs_do_not_settle_are_no_bisection():
    found, known = find(Drivers([40.0] * 8 + [39.2], noise=0.05, seed=4))
    assert found == NotDetermined("it is unclear whether the bad end is worse than the good one")
    assert len(known.runs(8).values) == 11


@pytest.mark.parametrize(("broken", "end"), [({0}, "good"), ({8}, "bad")])
def test_an_end_that_does_not_build_is_said(broken, end):
    found, _ = find(Drivers(levels(4, 9), broken=broken))
    assert found == NotDetermined(f"the {end} end cannot be measured: it does not build")


def test_two_steps_give_the_first():
    found, _ = find(Drivers([40.0] * 3 + [30.0] * 4 + [15.0] * 6))
    assert found == Found(2, 3, Judgement.WORSE)


def test_a_slow_decline_is_no_step():
    """Each commit costs 1 %: one of them crosses the margin against the good end, but is not a step by itself."""
    found, _ = find(Drivers([40.0 * 0.99**at for at in range(20)], noise=0.001))
    assert isinstance(found, Found)
    assert found.is_one
    assert found.step is not Judgement.WORSE


def test_runs_go_on_where_a_verdict_is_unclear():
    drivers = Drivers([40.0] * 4 + [38.0] * 5, noise=0.02, seed=3)
    found, known = find(drivers, search(most=30))
    assert found == Found(3, 4, Judgement.WORSE)
    assert max(len(known.runs(at).values) for at in range(9)) > 6


def test_noise_wider_than_the_margin_does_not_hide_a_large_step():
    """With the least number of runs: against the good end they settle nothing, against the bad end everything."""
    drivers = Drivers(levels(6, 9), noise=0.04, seed=8)
    found, known = find(drivers, search(most=6))
    assert found == Found(5, 6, Judgement.WORSE)
    assert any(search(most=6).before_the_change(known, at) for at in range(1, 6))
    assert max(len(known.runs(at).values) for at in range(9)) == 6


def test_a_candidate_that_neither_end_settles_stays_unclear():
    how, known = search(most=6), Outcomes(2)
    for at, values in enumerate(([40.0] * 6, [39.0, 37.2, 41.0, 37.5, 40.5, 38.5], [38.0] * 6)):
        known.built(at, f"module {at}")
        for block, value in enumerate(values):
            known.ran(at, block, value)
    assert how.standing(known, 2) is CandidateState.BAD
    assert how.standing(known, 1) is CandidateState.UNCLEAR
    assert not how.before_the_change(known, 1)


def test_limits_are_in_order():
    with pytest.raises(ValueError, match="at least 5 and at most 3"):
        Limits(5, 3)

"""The sentence of each cause for which a campaign process ends; every other test asks for the cause."""

from __future__ import annotations

import pytest

from txop.campaign.ending import Cause, End, Outcome, finished, stopped

SENTENCES = [
    (finished(), ""),
    (finished(Cause.NOTHING_LEFT), "before: there is nothing left to run"),
    (
        finished(Cause.VOID_RUNS_LEFT, blocks=2),
        "with void runs left in 2 block(s), the allowed repeats being used up",
    ),
    (finished(Cause.DECIDED, blocks=7), "at the look after 7 block(s), which decides it"),
    (stopped(Cause.TARGET_LOST, target="peer"), "peer stopped responding"),
    (stopped(Cause.TIME_BUDGET, budget_s=90.0), "the time budget of 90 s is used up"),
    (
        stopped(Cause.VOID_IN_A_ROW, runs=6, last="no such device"),
        "the last 6 runs were all void; the last one: no such device",
    ),
    (stopped(Cause.INTERRUPTED), "interrupted by the user"),
    (stopped(Cause.FAILED, error="dut: no route"), "dut: no route"),
    (stopped(Cause.DEFECT, error="KeyError: 'x'"), "a defect of txop: KeyError: 'x'"),
]


@pytest.mark.parametrize(("outcome", "sentence"), SENTENCES)
def test_the_journal_has_the_code_the_facts_and_the_sentence(outcome: Outcome, sentence: str) -> None:
    assert outcome.reason == sentence
    coded = {} if outcome.cause is None else {"code": outcome.cause.value, **outcome.facts}
    assert outcome.fields == {**coded, "reason": sentence}


def test_every_cause_has_a_sentence() -> None:
    assert {outcome.cause for outcome, _ in SENTENCES} == {None, *Cause}
    assert {outcome.end for outcome, _ in SENTENCES} == set(End)

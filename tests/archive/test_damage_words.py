"""The sentence of every kind of damage; every other test asks for the code and the facts."""

from __future__ import annotations

import pytest

from txop.archive.damage import Code, Finding
from txop.archive.damage_words import sentence

RUN = "001-old-tx"
FILE = f"runs/{RUN}/run.json: "
LOST = "; the run does not count"
SENTENCES = [
    (Finding(Code.JOURNAL_UNREADABLE, None, {"reason": "gone"}), "journal.jsonl: gone"),
    (
        Finding(Code.JOURNAL_LINE, None, {"line": 3, "problem": "cut", "bytes": 20}),
        "journal.jsonl, line 3: cut short after 20 bytes",
    ),
    (Finding(Code.JOURNAL_LINE, None, {"line": 3, "problem": "other"}), "journal.jsonl, line 3: not an event"),
    (Finding(Code.JOURNAL_EMPTY, None, {"runs": 4}), "journal.jsonl: it has no event, and there are 4 runs"),
    (
        Finding(Code.JOURNAL_REPEATED, None, {"number": 9, "event": "resumed", "first": 2}),
        "journal.jsonl: event 9, resumed, repeats event 2",
    ),
    (
        Finding(Code.JOURNAL_ORDER, None, {"number": 9, "event": "run-finished", "of": RUN}),
        f"journal.jsonl: event 9, run-finished of {RUN}, is not in the place where it was written",
    ),
    (
        Finding(Code.JOURNAL_STRANGE, None, {"number": 9, "event": "run-started"}),
        "journal.jsonl: event 9, run-started, is of no block, arm and test of the plan",
    ),
    (
        Finding(Code.JOURNAL_LACKS_END, None, {"runs": [RUN, "001-new-tx"]}),
        f"journal.jsonl does not have the end of {RUN}, 001-new-tx (2 in all); the run.json of each is whole, so they "
        "count",
    ),
    (
        Finding(Code.PLAN_EDITED, None, {"tables": ["design"], "primary_unknown": True}),
        "plan.toml is not the plan that the journal recorded when the campaign began (design differs); which figures "
        "were primary cannot be told any more",
    ),
    (
        Finding(Code.RUN_MISSING, RUN, {"reason": "no such file"}),
        f"{FILE}no such file, and the journal has the end of the run",
    ),
    (Finding(Code.RUN_UNREADABLE, RUN, {"reason": "not a regular file"}), f"{FILE}not a regular file"),
    (Finding(Code.RUN_MALFORMED, RUN, {"reason": "seconds: missing"}), f"{FILE}seconds: missing"),
    (Finding(Code.RUN_NEWER, RUN, {"version": 2}), f"{FILE}was made by a newer txop (version 2)"),
    (Finding(Code.RUN_MISPLACED, RUN), f"{FILE}belongs to another folder"),
    (Finding(Code.RUN_UNKNOWN, RUN), f"runs/{RUN}: belongs to no arm and test of the plan"),
    (
        Finding(Code.RUN_BLOCK, RUN, {"what": "position", "value": 1, "other": 2}),
        f"{FILE}it is number 1 of its block, but by the journal number 2{LOST}",
    ),
    (
        Finding(Code.RUN_END, RUN, {"state": "void", "journal": "valid"}),
        f"{FILE}it is void, but by the journal valid{LOST}",
    ),
    (Finding(Code.RUN_STATE, RUN, {"what": "no cause"}), f"{FILE}it is void, without a cause{LOST}"),
    (
        Finding(Code.RUN_UNIT, RUN, {"metric": "rtt_p50_ms", "unit": "s", "own": "ms"}),
        f"{FILE}the unit of rtt_p50_ms is 's', not 'ms'{LOST}",
    ),
    (
        Finding(Code.RUN_VALUE, RUN, {"metric": "retry_percent", "value": 101.0}),
        f"{FILE}retry_percent is 101.0, which no run can have{LOST}",
    ),
    (
        Finding(Code.RUN_WINDOW, RUN, {"window_s": 9.0, "seconds": 5.0}),
        f"{FILE}its window of 9.0 s is longer than the run, 5.0 s{LOST}",
    ),
    (
        Finding(Code.RUN_COPY, RUN, {"of": "002-old-tx"}),
        f"{FILE}it has the same figures as 002-old-tx, so one is a copy of the other{LOST}",
    ),
    (
        Finding(Code.RUN_ARM, RUN, {"key": "driver", "value": "a", "expected": "b", "against": "plan"}),
        f"{FILE}driver of the arm is a, but b by the plan{LOST}",
    ),
    (Finding(Code.SERIES_UNREADABLE, RUN), f"runs/{RUN}/series.json: cannot be read"),
]


@pytest.mark.parametrize(("finding", "text"), SENTENCES)
def test_a_finding_in_words(finding: Finding, text: str) -> None:
    assert sentence(finding) == text


def test_every_kind_has_a_sentence() -> None:
    assert {finding.code for finding, _ in SENTENCES} == set(Code)

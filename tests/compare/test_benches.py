"""Figures of guests with their device inside and of those with it outside are never compared with each other."""

from __future__ import annotations

from dataclasses import replace

import pytest

from txop.archive.journal import Event
from txop.archive.reader import Archive
from txop.compare.archive import compare
from txop.compare.select import CompareError, check_comparable
from txop.core.origin import Bench, Origin


def of(archive: Archive, *benches: Bench | None) -> Archive:
    """Its runs as those of guests, of a campaign that was begun and resumed on these benches; ``None``: it does not
    say."""
    runs = [run.model_copy(update={"origin": Origin.GUEST_EXACT}) for run in archive.runs]
    events = [event for event in archive.events if event.event != "connected"]
    for bench in benches:
        facts = {"machine": "guest"} if bench is None else {"machine": "guest", "bench": bench.value}
        found = {"event": "connected", "at": "", "monotonic_s": 0.0, "target": "dut", "provenance": facts}
        events.append(Event.model_validate(found))
    return replace(archive, runs=runs, events=events)


def test_two_archives_have_to_be_of_one_bench(golden: Archive) -> None:
    outside, inside, unsaid = of(golden, Bench.OUTSIDE), of(golden, Bench.INSIDE), of(golden, None)
    for one, other in ((outside, inside), (inside, outside), (unsaid, outside)):
        with pytest.raises(CompareError, match="two benches"):
            check_comparable(one, other)
    for one, other in ((outside, outside), (inside, unsaid)):
        assert check_comparable(one, other) is Origin.GUEST_EXACT


def test_a_campaign_that_was_resumed_on_another_bench_has_no_comparison(golden: Archive) -> None:
    compare(of(golden, Bench.OUTSIDE, Bench.OUTSIDE))
    with pytest.raises(CompareError, match="two benches"):
        compare(of(golden, None, Bench.OUTSIDE))

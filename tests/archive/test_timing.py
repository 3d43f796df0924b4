"""Where the time of a campaign went: sums, and no figure for what there was not."""

from __future__ import annotations

import json

from txop.archive.journal import Event
from txop.archive.run_file import RunFile, RunTiming
from txop.archive.timing import Timing, timing_of


def run(**timing: float) -> RunFile:
    return RunFile(
        run="001-a-t", block=1, position=1, arm="a", test="t", origin="guest-exact", state="valid", started_at="",
        seconds=1.0, timing=RunTiming(**timing) if timing else None,
    )  # fmt: skip


def event(**fields: object) -> Event:
    noted = {"event": "prepared", "at": "2026-11-30T00:00:00+00:00", "monotonic_s": 1.0, "boot": "", **fields}
    return Event.model_validate_json(json.dumps(noted))


def test_parts_are_summed_and_what_was_not_is_none() -> None:
    found = timing_of(
        [run(boot_s=1.5, traffic_s=3.0), run(traffic_s=2.0, reading_s=0.5), run()],
        [event(build_s=4.0, start_s=30.0), event(build_s=0.5)],
        build_s=10.0,
        wall_s=60.0,
    )
    assert found == Timing(build_s=14.5, start_s=30.0, boot_s=1.5, traffic_s=5.0, reading_s=0.5, wall_s=60.0)
    assert found.check_s is None
    assert timing_of([]) == Timing()


def test_a_journal_may_hold_anything() -> None:
    assert timing_of([], [event(build_s="long"), event(start_s=True), event()]) == Timing()

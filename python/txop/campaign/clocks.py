"""The clocks of a run's targets against this machine's monotonic clock."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass

from txop.campaign.gates import CLOCK_JUMP_S
from txop.measure.instrument import Clock, RunContext
from txop.measure.probes.windowed import ON_THIS_MACHINE
from txop.targets.contract import Target

QUESTIONS = 3
"""The answer that came soonest counts."""
STEP_S = 0.1
"""A time of day that moves by more than this against this machine's within a run, and by more than the uncertainty, was
set."""

_DATE = re.compile(r"(\d{1,12}\.\d{3,9})\s*")
_ADJTIMEX = re.compile(r"time\.tv_sec:\s*(?P<s>\d{1,12})\s+time\.tv_usec:\s*(?P<part>\d{1,9})")
_STATUS = re.compile(r"status:\s*(\d{1,9})")
_STA_NANO = 0x2000
"""Bit of the status: an NTP daemon has set the kernel to nanoseconds, which ``tv_usec`` then has (adjtimex(2))."""
_ASKED = (("date", "+%s.%N"), ("adjtimex",))
"""GNU's date and most BusyBoxes' have nanoseconds; BusyBox' adjtimex prints the time of day, to the microsecond."""


@dataclass(frozen=True)
class Uptime:
    """A target's uptime against this machine's monotonic clock."""

    minus_monotonic_s: float
    uncertainty_s: float
    """Half a round trip of a read of /proc/uptime."""


def started_again(before: Uptime, after: Uptime) -> bool:
    """Whether a target was restarted in between: its uptime fell behind by more than a slow machine's answers explain.

    >>> started_again(Uptime(100.0, 0.1), Uptime(98.0, 0.1)), started_again(Uptime(100.0, 0.1), Uptime(98.0, 3.0))
    (True, False)
    """
    behind_s = before.minus_monotonic_s - after.minus_monotonic_s
    return behind_s > CLOCK_JUMP_S + before.uncertainty_s + after.uncertainty_s


async def note_uptimes(run: RunContext, known: Mapping[str, Uptime] | None = None) -> dict[str, Uptime]:
    """Set each target's uptime against our clock. ``known``: what an earlier call found, which stays where it was more
    exact and the target was not started again."""
    found: dict[str, Uptime] = {}
    for name, target in run.targets.by_name.items():
        before = time.monotonic()
        text = await target.read("/proc/uptime", limit_bytes=64)
        after = time.monotonic()
        try:
            uptime = float((text or b"").split()[0])
        except (IndexError, ValueError):
            continue
        now = found[name] = Uptime(uptime - (before + after) / 2, (after - before) / 2)
        earlier = (known or {}).get(name)
        if earlier is None or now.uncertainty_s <= earlier.uncertainty_s or started_again(earlier, now):
            run.marks.uptime_minus_monotonic_s[name] = now.minus_monotonic_s
    return found


async def note_wall_clocks(run: RunContext) -> None:
    """Set the time of day of targets that stamp captures, and are other machines, against our clock. A second call
    finds out whether it was set in between."""
    for name in _stamping(run):
        found = await wall_clock(run.targets.by_name[name])
        known = run.marks.clocks.get(name)
        if known is None:
            if found is not None:
                run.marks.clocks[name] = found
            continue
        if found is None:
            continue
        step_s = found.wall_minus_monotonic_s - known.wall_minus_monotonic_s
        if abs(step_s) > STEP_S + found.uncertainty_s + known.uncertainty_s:
            run.marks.clocks[name] = known.model_copy(update={"problem": f"was set by {step_s:+.1f} s during the run"})


async def wall_clock(target: Target) -> Clock | None:
    """The time of day of a target; ``None`` when it cannot give it to better than a second."""
    for argv in _ASKED:
        best: Clock | None = None
        for _ in range(QUESTIONS):
            before = time.monotonic()
            ran = await target.run(list(argv), timeout_s=10.0)
            after = time.monotonic()
            wall_s = _time_of_day(ran.stdout) if ran.ok else None
            if wall_s is None:
                break
            clock = Clock(wall_minus_monotonic_s=wall_s - (before + after) / 2, uncertainty_s=(after - before) / 2)
            if best is None or clock.uncertainty_s < best.uncertainty_s:
                best = clock
        if best is not None:
            return best
    return None


def _time_of_day(text: str) -> float | None:
    """
    >>> _time_of_day("1714564800.250000000\\n"), _time_of_day("1714564800.N\\n")
    (1714564800.25, None)
    >>> _time_of_day("    time.tv_sec:  1714564800\\n    time.tv_usec: 250000\\n")
    1714564800.25
    >>> _time_of_day("status: 8193 (PLL)\\n time.tv_sec:  1714564800\\n time.tv_usec: 250000000\\n")
    1714564800.25
    """
    if (date := _DATE.fullmatch(text)) is not None:
        return float(date[1])
    found = _ADJTIMEX.search(text)
    if found is None:
        return None
    status = _STATUS.search(text)
    nano = status is not None and bool(int(status[1]) & _STA_NANO)
    return int(found["s"]) + int(found["part"]) / (1e9 if nano else 1e6)


def _stamping(run: RunContext) -> list[str]:
    """Targets with a clock that stamps a capture of the run and is not this machine's."""
    collect = run.plan.collect
    wanted = [name for name, on in (("sniffer", collect.air), ("dut", collect.usbmon)) if on]
    return [
        name
        for name in wanted
        if name in run.targets.by_name and run.plan.target[name].kind not in {*ON_THIS_MACHINE, "guest"}
    ]

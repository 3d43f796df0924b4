"""How long a run in a guest takes by this machine's clock: from runs done here, else from a first guess.

A guest's second is not one of this machine's: an idle one passes in a moment when instructions are counted, a busy one
takes several. So what a run costs follows from two figures that every run leaves: the time until the association,
and how many seconds the rest took for each of the guest's. They are kept in ``txop/guest-times.json`` of the user's
state folder; damage costs its contents and nothing else.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from txop.formats.error import FormatError
from txop.formats.proc_system import parse_meminfo
from txop.plan.guest import GuestSpec
from txop.plan.measurement import Test
from txop.plan.model import Plan
from txop.plan.stored import Stored, rewriting, state_folder

STORED = Stored("txop-guest-times", 1, "runs", max_bytes=1 << 20)
KEPT = 20
"""Runs kept of each sort, the last ones."""
MAX_SORTS = 200
MOST = 256
"""Guests at once."""
MEMINFO = Path("/proc/meminfo")
OVERHEAD_MB = 200
"""Memory of QEMU itself, beside the guest's memory."""
TAIL_S = 4.0
"""The guest's time after the window: tools end, files are output."""


FAULT_TRIAL_S = 60.0
"""As a rule, of a trial: the shipped scripts strike within 12 s; a driver that has to be brought back takes twice as
long."""
CYCLE_S = 6.0
"""As a rule, of one cycle: traffic, the driver away and back, association. Measured: 5.5 s, rtl8xxxu, WPA2."""
DEVICE_AWAY_S = 1.0
"""The virtual chip, when it is pulled out."""


@dataclass(frozen=True)
class MeasuredTime:
    """What one run took."""

    setup_s: float
    """By this machine's clock, from the start of QEMU to the association."""
    slowdown: float
    """Seconds of this machine's for one of the guest's, afterwards."""


FIRST_GUESS = {
    # mode, traffic: (least, as a rule, most)
    ("exact", True): (MeasuredTime(5, 0.6), MeasuredTime(15, 1.3), MeasuredTime(60, 8.0)),
    ("exact", False): (MeasuredTime(5, 0.1), MeasuredTime(15, 0.4), MeasuredTime(60, 3.0)),
    ("fast", True): (MeasuredTime(10, 1.0), MeasuredTime(25, 1.0), MeasuredTime(90, 1.2)),
    ("fast", False): (MeasuredTime(10, 1.0), MeasuredTime(25, 1.0), MeasuredTime(90, 1.2)),
}
"""Until runs have shown it: at 500 million instructions a second on a two-core x86-64 machine, with nothing else to do
and with a load of ten; what is between is a judgement."""
SAVED_SETUP_S = (0.4, 1.0, 5.0)
"""The same where a saved guest is restored (least, as a rule, most); it is booted once for a build."""


def guests_at_once(plan: Plan, jobs: int | None = None) -> int:
    """How many guests of a campaign run side by side on this machine.

    What is asked for counts (``jobs``, else the plan). Else: when instructions are counted, as many as there are
    processors, and memory for; one when the guest's time is this machine's, as a neighbour would be in the figures.
    Never more than a block has runs.
    """
    return max(1, min(side_by_side(plan.guest or GuestSpec(), jobs), len(plan.arm) * len(plan.test)))


def side_by_side(spec: GuestSpec, jobs: int | None = None) -> int:
    """How many guests run side by side where there is work for any number of them; see :func:`guests_at_once`."""
    asked = jobs or spec.parallel
    if asked is None:
        asked = min(len(os.sched_getaffinity(0)), _fit(spec.memory_mb)) if spec.mode == "exact" else 1
    return max(1, asked)


def is_checked(plan: Plan, test: Test, block: int) -> bool:
    """Whether a run is done twice, to see that both leave the same bytes."""
    spec = plan.guest or GuestSpec()
    if spec.mode != "exact" or spec.check_exact == "none":
        return False
    if spec.check_exact == "all":
        return True
    first = next((each.name for each in plan.test if not plan.guest_trial(each)), None)
    return test.name == first and (block == 1 or block > plan.design.blocks)


def _fit(memory_mb: int) -> int:
    """How many guests this machine's free memory holds; no limit where it does not report it."""
    try:
        free = parse_meminfo(MEMINFO.read_bytes()).get("MemAvailable")
    except (OSError, FormatError):
        free = None
    return MOST if free is None else max(1, free // ((memory_mb + OVERHEAD_MB) << 20))


def expected(plan: Plan, test: Test, *, store: Path | None = None) -> tuple[float, float, float]:
    """Seconds of this machine's that one run of ``test`` takes: at least, as a rule, at most. Nothing beside it."""
    spec = plan.guest or GuestSpec()
    known = _read(store or default_store()).get(sort_of(spec, test), [])
    seconds = guest_s(plan, test) + TAIL_S
    if known:
        setups, slowdowns = [each.setup_s for each in known], [each.slowdown for each in known]
        guesses = (
            MeasuredTime(min(setups), min(slowdowns)),
            MeasuredTime(median(setups), median(slowdowns)),
            MeasuredTime(max(setups), max(slowdowns)),
        )
    else:
        busy = test.kind not in ("latency", "command") and not plan.guest_trial(test)
        guesses = FIRST_GUESS[spec.mode, busy]
        if spec.mode == "exact":  # that many more or fewer instructions
            scale = spec.mips / 500
            before = SAVED_SETUP_S if spec.start == "associated" else tuple(each.setup_s for each in guesses)
            scaled = zip(before, guesses, strict=True)
            guesses = tuple(MeasuredTime(setup, each.slowdown * scale) for setup, each in scaled)  # type: ignore[assignment]
    low, usual, high = (each.setup_s + each.slowdown * seconds for each in guesses)
    return low, usual, high


def guest_s(plan: Plan, test: Test) -> float:
    """Seconds of the guest's, as a rule, from the association to the end of the test."""
    if (cycles := test.module_cycles) is not None:
        return cycles.cycles * (CYCLE_S + (cycles.pause_s if cycles.way == "reload" else DEVICE_AWAY_S))
    if test.trial == "always":
        return FAULT_TRIAL_S
    return plan.design.idle_s + plan.warm_up_s(test) + test.duration_s


def is_known(plan: Plan, test: Test, *, store: Path | None = None) -> bool:
    """Whether it comes from runs done here rather than from a first guess."""
    return sort_of(plan.guest or GuestSpec(), test) in _read(store or default_store())


def sort_of(spec: GuestSpec, test: Test) -> str:
    """What runs have to have in common for one to predict the other."""
    speed = f"{spec.mips}" if spec.mode == "exact" else "-"
    device = f" {spec.device}" if spec.is_function else ""
    start = f" {spec.start}" if spec.start != "boot" else ""
    return f"{spec.mode} {speed} {test.kind}{device}{start}"


def remember(spec: GuestSpec, test: Test, spent: MeasuredTime, *, store: Path | None = None) -> None:
    """Keep what a run took. Raises :class:`OSError`."""
    if not all(math.isfinite(value) and value >= 0 for value in (spent.setup_s, spent.slowdown)):
        return
    path = store or default_store()
    with rewriting(path, _read) as sorts:
        mine = sorts.pop(sort_of(spec, test), [])
        sorts[sort_of(spec, test)] = [*mine, spent][-KEPT:]
        newest = list(sorts.items())[-MAX_SORTS:]
        table = {sort: [[round(each.setup_s, 2), round(each.slowdown, 3)] for each in runs] for sort, runs in newest}
        STORED.write(path, table)


def default_store() -> Path:
    """The file in the user's state folder."""
    return state_folder() / "guest-times.json"


def _read(path: Path) -> dict[str, list[MeasuredTime]]:
    found: dict[str, list[MeasuredTime]] = {}
    for sort, entries in STORED.read(path).items():
        known = [spent for entry in (entries if isinstance(entries, list) else ()) if (spent := _spent(entry))]
        if known:
            found[sort] = known[-KEPT:]
    return found


def _spent(entry: Any) -> MeasuredTime | None:
    if not isinstance(entry, list) or len(entry) != 2:
        return None
    numbers = [value for value in entry if isinstance(value, int | float) and not isinstance(value, bool)]
    if len(numbers) != 2 or not all(math.isfinite(value) and value >= 0 for value in numbers):
        return None
    return MeasuredTime(float(numbers[0]), float(numbers[1]))

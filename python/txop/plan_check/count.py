"""How many runs a plan makes, and how long they take."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from txop.guest.driver import DriverBuild, was_built
from txop.guest.wireless_stack import StackBuild, was_built_with_debugfs
from txop.guest_image.error import GuestError
from txop.plan import guest_time
from txop.plan.arm import Arm
from txop.plan.guest import GuestSpec
from txop.plan.measurement import Test
from txop.plan.model import Plan
from txop.plan_check.guest_builds import builds_of, lock_of


@dataclass(frozen=True)
class Range:
    """Seconds: at least, as a rule, at most as long as nothing is lost or void."""

    low: float
    expected: float
    high: float

    def __add__(self, other: Range) -> Range:
        return Range(self.low + other.low, self.expected + other.expected, self.high + other.high)

    def __mul__(self, times: int) -> Range:
        return Range(self.low * times, self.expected * times, self.high * times)


MODULE = Range(2.0, 5.0, 30.0)
"""Removing and loading modules, and waiting for the interface. A judgement, not a measurement."""
FIRMWARE = Range(0.2, 1.0, 5.0)
"""Putting a firmware file in place and back."""
BOOT = Range(0.0, 45.0, 180.0)
"""Booting another kernel; nothing when it runs already."""
COMMAND = Range(0.05, 0.5, 10.0)
"""One free command."""
ASSOCIATION = Range(1.0, 4.0, 30.0)
"""wpa_supplicant until the link is up."""
DHCP = Range(0.5, 3.0, 20.0)
"""Until an address is there."""
READY = Range(0.1, 1.5, 10.0)
"""Until the peer answers."""
EMULATED = Range(0.2, 1.0, 5.0)
"""Setting an emulated link up."""
COLLECT = Range(0.5, 2.0, 10.0)
"""Starting and stopping tools, fetching their output."""
RUN_OVERHEAD_S = 3.0
"""What a run on a machine takes beside its phases, arms being put in place quickly."""
RECOVERY_SHARE = 0.2
"""Share of ``recover_s`` that a module cycle takes as a rule."""


@dataclass(frozen=True)
class RunCount:
    """What a campaign amounts to. Builds, voided runs and their repeats are not in it."""

    runs: int
    blocks: int
    arms: int
    tests: int
    loads: int
    """How often an arm is loaded."""
    builds: int
    """Modules that are built first: on machines one for each arm with a build, for guests those not built before."""
    seconds_low: float
    seconds_expected: float
    seconds_high: float
    per_run_s: dict[str, float]
    """Expected time per run by what it is spent on."""
    cut_by_budget: bool
    """The time budget ends the campaign before its blocks are done, as expected."""
    blocks_in_budget: int | None
    """Blocks that the budget allows, as expected; ``None`` without one."""


def count(plan: Plan, folder: Path | None = None) -> RunCount:
    """Count the runs of a plan and estimate their time.

    Args:
        plan: The plan.
        folder: What file names in it are relative to. ``None``: of guests' drivers none is taken as built before.

    Measured time (warm-up, window, idle, gap) is the plan's own; what lies between is estimated with the ranges of this
    module.
    """
    if plan.guest is not None:
        return _count_guests(plan, plan.guest, folder)
    blocks, arms, tests = plan.design.blocks, len(plan.arm), len(plan.test)
    loads_per_arm = tests if plan.design.reload == "run" else 1
    total = Range(0, 0, 0)
    parts = {"measured": 0.0, "warm-up": 0.0, "idle": 0.0, "gap": 0.0, "load": 0.0, "collect": 0.0}
    for arm in plan.arm:
        load = _load(plan, arm)
        total += load * (loads_per_arm * blocks)
        parts["load"] += load.expected * loads_per_arm
        for test in plan.test:
            window = _window(test)
            fixed = plan.warm_up_s(test) + plan.design.idle_s + plan.design.gap_s
            total += (window + Range(fixed, fixed, fixed) + COLLECT) * blocks
            parts["measured"] += window.expected
            parts["warm-up"] += plan.warm_up_s(test)
            parts["idle"] += plan.design.idle_s
            parts["gap"] += plan.design.gap_s
            parts["collect"] += COLLECT.expected
    runs = blocks * arms * tests
    budget = plan.design.time_budget_s
    per_block = total.expected / blocks
    return RunCount(
        runs=runs,
        blocks=blocks,
        arms=arms,
        tests=tests,
        loads=blocks * arms * loads_per_arm,
        builds=sum(arm.build is not None for arm in plan.arm),
        seconds_low=total.low,
        seconds_expected=total.expected,
        seconds_high=total.high,
        per_run_s={part: seconds / (arms * tests) for part, seconds in parts.items() if seconds},
        cut_by_budget=budget is not None and total.expected > budget,
        blocks_in_budget=None if budget is None else min(blocks, int(budget // per_block) + 1),
    )


def run_seconds(plan: Plan) -> float:
    """First guess of what one run takes with the pause after it, with nothing beside it, until there are runs."""
    if plan.guest is not None:
        counted = count(plan)
        return counted.seconds_expected * guest_time.guests_at_once(plan) / counted.runs
    design = plan.design
    phases_s = sum(design.idle_s + plan.warm_up_s(test) + test.duration_s for test in plan.test) / len(plan.test)
    return phases_s + design.gap_s + RUN_OVERHEAD_S


def _count_guests(plan: Plan, spec: GuestSpec, folder: Path | None) -> RunCount:
    """Every run boots a guest; several may do so at once. Images and drivers are made once, before."""
    blocks, arms, tests = plan.design.blocks, len(plan.arm), len(plan.test)
    at_once = guest_time.guests_at_once(plan)
    runs = {test.name: Range(*guest_time.expected(plan, test)) for test in plan.test}
    one_arm, twice = Range(0, 0, 0), Range(0, 0, 0)
    for test in plan.test:
        one_arm += runs[test.name]
        twice += runs[test.name] * sum(guest_time.is_checked(plan, test, block + 1) for block in range(blocks))
    in_block = one_arm * arms
    # the last run of a block may be alone on the machine
    rounds = math.ceil(arms * tests / at_once) / (arms * tests)
    low, usual, high = (seconds * rounds for seconds in (in_block.low, in_block.expected, in_block.high))
    again = twice * arms
    total = Range(low, usual, high) * blocks
    total += Range(again.low * rounds, again.expected * rounds, again.high * rounds)
    per_run = usual / (arms * tests)
    budget = plan.design.time_budget_s
    return RunCount(
        runs=blocks * arms * tests,
        blocks=blocks,
        arms=arms,
        tests=tests,
        loads=blocks * arms * tests,
        builds=_guest_builds(plan, spec, folder),
        seconds_low=total.low,
        seconds_expected=total.expected,
        seconds_high=total.high,
        per_run_s={
            "guest": per_run,
            **(
                {"second run, to check exactness": again.expected * rounds / (blocks * arms * tests)}
                if twice.high
                else {}
            ),
        },
        cut_by_budget=budget is not None and total.expected > budget,
        blocks_in_budget=None if budget is None else min(blocks, int(budget // max(1e-9, usual)) + 1),
    )


def _guest_builds(plan: Plan, spec: GuestSpec, folder: Path | None) -> int:
    """How many drivers have to be built: one for all arms that have the same, and none that is in the cache."""
    wanted: dict[tuple[object, ...], bool] = {}
    for arm in plan.arm:
        guest = spec.varied(arm.guest)
        try:
            builds = builds_of(arm, guest, folder)
        except (GuestError, OSError, RuntimeError):  # what is wrong with its files is said elsewhere
            builds = builds_of(arm, guest, None)
        for build in builds:
            if (key := (guest.kernel, guest.lock, build.what)) not in wanted:
                wanted[key] = folder is not None and _is_built(guest, build.what, folder)
    return sum(not built for built in wanted.values())


def _is_built(guest: GuestSpec, what: DriverBuild | StackBuild, folder: Path) -> bool:
    try:
        lock = lock_of(guest, folder)
        return was_built_with_debugfs(lock, what) if isinstance(what, StackBuild) else was_built(what, lock)
    except (GuestError, OSError, RuntimeError):
        return False


def _window(test: Test) -> Range:
    if (planned := test.module_cycles) is None:
        return Range(test.duration_s, test.duration_s, test.duration_s)
    cycle = Range(
        planned.pause_s + MODULE.low,
        planned.pause_s + MODULE.expected + RECOVERY_SHARE * planned.recover_s,
        planned.pause_s + MODULE.high + planned.recover_s,
    )
    cycles = cycle * planned.cycles
    return Range(*(max(test.duration_s, seconds) for seconds in (cycles.low, cycles.expected, cycles.high)))


def _load(plan: Plan, arm: Arm) -> Range:
    total = READY
    if plan.link is not None:
        total += EMULATED
    if arm.has_module or arm.remove:
        total += MODULE * max(1, len(arm.loads), len(arm.build.files) if arm.build is not None else 0)
    if arm.firmware is not None:
        total += FIRMWARE
    if arm.boot is not None:
        total += BOOT
    bring_up = plan.bring_up
    if bring_up.wpa_supplicant is not None:
        total += ASSOCIATION
    if bring_up.dhcp:
        total += DHCP
    commands = len(arm.load) + len(arm.unload) + len(arm.verify.commands) + len(bring_up.commands) + len(bring_up.down)
    commands += sum(len(on.load) + len(on.unload) for on in arm.on.values())
    return total + COMMAND * (commands + (arm.qdisc is not None))

"""Runs of a campaign that are trials in a guest: cycles of the driver or the chip, and fault scripts. They are those of
`txop guest cycle` and `txop guest survey`, by the same scripts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from txop.arms.bound_driver import BoundDriver
from txop.campaign.placed_arm import ArmError
from txop.guest.chips import Chip
from txop.guest.qemu import Computer
from txop.guest.running import FILES, Listener
from txop.guest_image.error import GuestError
from txop.guest_image.image import Image
from txop.guest_trials import endurance, survey
from txop.guest_trials.facts import Facts
from txop.guest_trials.trial import Place, Trial, run_trial, trial_overlay
from txop.measure.instrument import RunContext
from txop.measure.probes.guest_trial import FOLDER
from txop.plan.guest import GuestSpec
from txop.plan.measurement import Test
from txop.targets.contract import TargetError

LONGEST_WALL_S = 86_400.0
"""What a trial may take at most by this machine's clock."""


def limit_s(test: Test) -> int:
    """What a trial may take at most, by the guest's clock."""
    return survey.LIMIT_S if test.module_cycles is None else endurance.cycles_limit_s(test.module_cycles.cycles)


def driver_of(trial: Trial) -> BoundDriver | None:
    """The driver that had the interface; ``None`` when the trial did not get that far."""
    links = [trial.seen.facts.words(name) for name in ("driver", "driver-module")]
    return BoundDriver.of_links("\n".join(link or "" for link in links))


async def carry_out_trial(
    context: RunContext,
    spec: GuestSpec,
    image: Image,
    modules: tuple[Path, ...],
    chip: Chip,
    computer: Computer,
    wall_limit_s: float,
    listener: Listener,
) -> Trial:
    """Do the trial of a run in its folder, and set its marks by the guest's clock. A driver that does not recover is a
    result.

    Raises :class:`ArmError` when the testbed could not be set up or another driver has the chip, :class:`TargetError`
    when this machine ended the guest or the virtual chip ended.
    """
    script, settings = _what(context.test, spec)
    place = Place(image, computer, min(wall_limit_s, LONGEST_WALL_S), {spec.driver: modules})
    # captures have no end here: the cycles of a night fill no memory
    overlay = trial_overlay(script, replace(chip, air=None, usb=None), settings, place)
    results = context.folder / FOLDER
    try:
        trial = await run_trial(overlay, place, results, listener)
    except GuestError as error:
        raise TargetError("dut", error.what) from None
    seen = trial.seen
    if seen.void and trial.seconds is None:
        raise TargetError("dut", seen.failure or "the guest was ended")
    gone = seen.facts.find("no-chip")
    if gone is not None:
        raise TargetError("dut", f"the virtual chip has ended: {gone.words or 'no output'}")
    if seen.void:
        raise ArmError("arm-load-failed", _why(results, seen.facts))
    driver = driver_of(trial)
    if driver is not None and not driver.is_of(spec.driver):
        raise ArmError("arm-not-verified", f"the driver of the interface is {driver}, not {spec.driver}")
    events = list(seen.facts)
    if events:
        begun = seen.facts.find("begun") or events[0]
        context.marks.load = context.marks.window = begun.uptime_s
        context.marks.end = events[-1].uptime_s
    return trial


def _what(test: Test, spec: GuestSpec) -> tuple[str, dict[str, str]]:
    """Which script, and what it reads."""
    if (cycles := test.module_cycles) is not None:
        way = endurance.Removal(cycles.way)
        return endurance.SCRIPT, endurance.cycle_settings(way, cycles.cycles, cycles.pause_s, cycles.recover_s)
    return survey.SCRIPT, dict(survey.CONTROL_SETTINGS) if spec.faults is None else {}


def _why(results: Path, facts: Facts) -> str:
    """Why there was nothing to try, with the last words of the testbed."""
    known = {
        "no-interface": "the driver made no interface",
        "no-association": "it does not associate",
        "no-laboratory": "the testbed could not be set up",
    }
    what = next((words for name, words in known.items() if facts.find(name) is not None), "the trial did not begin")
    for path in (results / FILES / "steps.log", results / "stderr"):
        try:
            rows = path.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            continue
        said = [row for row in rows if row.startswith("txop-lab:")]
        if said:
            return f"{what}: {said[-1].removeprefix('txop-lab:').strip()[:300]}"
    return what

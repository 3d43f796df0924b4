"""The fault survey: every fault script against every driver, a guest for each, and what comes of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from txop.guest.chips import FAULTS, Chip
from txop.guest.shipped_faults import CONTROL, NONE, FaultScript
from txop.guest_image.overlay import Overlay
from txop.guest_trials.judgement import Judgement, Verdict, judge
from txop.guest_trials.kernel_lines import usual_forms
from txop.guest_trials.trial import Place, Trial, run_trial, trial_key, trial_overlay

SCRIPT = "survey.sh"
"""A script of ``trials``."""
LIMIT_S = 1200
"""By the guest's clock, of a trial: longer than all its waiting together."""
CONTROL_SETTINGS = {"WAIT_S": "8"}
"""Settings of a trial without faults: it is watched for as long as the others, and not until a fault happens."""
_ORDER = tuple(Verdict)


@dataclass(frozen=True)
class Case:
    """A fault script against a driver, once."""

    script: FaultScript
    driver: str
    seed: int

    @property
    def name(self) -> str:
        """Name of its folder."""
        return f"{self.driver}/{self.script.name}/{self.seed}"


@dataclass(frozen=True)
class Done:
    """A case and its outcome."""

    case: Case
    trial: Trial
    judgement: Judgement


@dataclass(frozen=True)
class Row:
    """A fault script against a driver, all samples together."""

    script: FaultScript
    driver: str
    done: tuple[Done, ...]

    @property
    def worst(self) -> Done:
        """The sample with the worst verdict."""
        return max(self.done, key=lambda done: _ORDER.index(done.judgement.verdict))

    @property
    def counts(self) -> dict[Verdict, int]:
        """How many samples of each verdict, the worst first."""
        verdicts = [done.judgement.verdict for done in self.done]
        return {verdict: verdicts.count(verdict) for verdict in reversed(_ORDER) if verdict in verdicts}


@dataclass(frozen=True)
class Survey:
    """What is to be done."""

    scripts: tuple[FaultScript, ...]
    drivers: tuple[str, ...]
    samples: int = 1
    security: str = "wpa2"

    def cases(self) -> list[Case]:
        """All of it, the controls first: what a driver's log has without faults is needed to read the others."""
        scripts = (CONTROL, *(script for script in self.scripts if script.name != NONE))
        seeds = range(1, self.samples + 1)
        return [Case(script, driver, seed) for script in scripts for seed in seeds for driver in self.drivers]


async def run_survey(
    survey: Survey, place: Place, folder: Path, *, jobs: int = 1, progress: Callable[[str], None] = lambda _: None
) -> list[Row]:
    """Run it, with this many guests at a time. ``folder``: for what the guests output. Raises :class:`GuestError`."""
    slots = asyncio.Semaphore(jobs)
    cases = survey.cases()
    ended = 0

    async def one(case: Case) -> Trial:
        nonlocal ended
        async with slots:
            progress(f"{case.driver}: {case.script.name}")
            trial = await run_case(case, survey.security, place, folder / case.name)
            ended += 1
            progress(f"[{ended}/{len(cases)}] {case.driver}: {case.script.name}: the guest has ended")
            return trial

    try:
        async with asyncio.TaskGroup() as group:
            tasks = {case: group.create_task(one(case)) for case in cases}
    except ExceptionGroup as several:
        raise several.exceptions[0] from None
    return rows_of({case: task.result() for case, task in tasks.items()})


async def run_case(case: Case, security: str, place: Place, results: Path, *, options: Sequence[str] = ()) -> Trial:
    """Run a case in a guest. ``options``: more of the chip's program. Raises :class:`GuestError`."""
    return await run_trial(_overlay(case, security, place, options), _seeded(case, place), results)


def case_key(case: Case, security: str, place: Place, options: Sequence[str] = ()) -> str:
    """A hash of all that a case is made of; see :func:`txop.guest_trials.trial.trial_key`."""
    return trial_key(_overlay(case, security, place, options), _seeded(case, place))


def _overlay(case: Case, security: str, place: Place, options: Sequence[str]) -> Overlay:
    faults = ("--faults", FAULTS) if case.script.name != NONE else ()
    chip = Chip(place.device, case.driver, security=security, options=(*faults, *options))
    settings = CONTROL_SETTINGS if case.script.name == NONE else {}
    return trial_overlay(SCRIPT, chip, settings, place, case.script.text if faults else "")


def _seeded(case: Case, place: Place) -> Place:
    return replace(place, computer=replace(place.computer, seed=case.seed))


def rows_of(trials: dict[Case, Trial]) -> list[Row]:
    """The trials judged, each against the control of its driver; a row for each script and driver."""
    own = {case: usual_of(trial) for case, trial in trials.items() if case.script.name == NONE}
    usual: dict[str, frozenset[str]] = {}
    for case, forms in own.items():
        usual[case.driver] = usual.get(case.driver, frozenset()) | forms
    grouped: dict[tuple[str, str], list[Done]] = {}
    for case, trial in trials.items():
        if case in own:
            judgement = judge_control(trial, own[case])
        else:
            judgement = judge(trial.seen, usual.get(case.driver, frozenset()))
        grouped.setdefault((case.script.name, case.driver), []).append(Done(case, trial, judgement))
    return [Row(done[0].case.script, done[0].case.driver, tuple(done)) for done in grouped.values()]


def usual_of(trial: Trial) -> frozenset[str]:
    """Forms of lines that a driver logs without a fault, by a trial without one."""
    return usual_forms(trial.seen.lines)


def judge_control(trial: Trial, own: frozenset[str]) -> Judgement:
    """The verdict on a trial without faults: none could be reached, and its own log (``own``: its forms) is what is
    usual."""
    judgement = judge(trial.seen, own)
    if judgement.verdict is not Verdict.NOT_REACHED:
        return judgement
    plain = judge(replace(trial.seen, facts=trial.seen.facts.with_number("struck-at-last", 1)), own)
    return replace(plain, struck=0)


def control_problems(rows: Sequence[Row]) -> list[str]:
    """Why the survey cannot be trusted: drivers that are in trouble without any fault."""
    return [
        f"{row.driver} without any fault: {row.worst.judgement.verdict.value} ({row.worst.judgement.why})"
        for row in rows
        if row.script.name == NONE and row.worst.judgement.verdict is not Verdict.UNAFFECTED
    ]

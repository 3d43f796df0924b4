"""Scripts tried in guests, one each: the trial of the survey, read for what an exploration needs."""

from __future__ import annotations

import asyncio
import hashlib
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from txop.guest.chips import OUT
from txop.guest.fault_check import check_faults
from txop.guest.running import FILES
from txop.guest.shipped_faults import CONTROL, FaultScript
from txop.guest_exploration.features import MAX_BYTES, VERSION, features
from txop.guest_exploration.finding import finding_of
from txop.guest_exploration.memory import text_key
from txop.guest_exploration.outcome import Outcome
from txop.guest_exploration.registers import registers_used
from txop.guest_exploration.script import read_script
from txop.guest_trials.judgement import Judgement, Verdict, judge
from txop.guest_trials.survey import Case, case_key, judge_control, run_case, usual_of
from txop.guest_trials.trial import Place, Trial

_TRACE = "trace.jsonl"
_COUNTERS = "chip.json"
_SEED = 1
"""The seed of every guest, which is the first that the survey uses."""
_TRACED = ("--trace", f"{OUT}/{_TRACE}")


@dataclass(frozen=True)
class Control:
    """A trial without faults."""

    judgement: Judgement
    registers: tuple[int, ...]
    """Those that the driver uses."""

    @property
    def problem(self) -> str | None:
        """Why nothing can be explored; ``None``: it can."""
        if self.judgement.verdict is Verdict.UNAFFECTED:
            return None
        return f"{self.judgement.verdict.value} ({self.judgement.why})"


class InGuests:
    """Runs scripts against one driver."""

    def __init__(
        self, driver: str, place: Place, folder: Path, *, security: str = "wpa2", failing: bool = False, jobs: int = 1
    ) -> None:
        """``folder``: for what guests hand out; ``failing``: that it fails cleanly is a finding, too."""
        self._driver = driver
        self._place = place
        self._folder = folder / "trials"
        self._security = security
        self._failing = failing
        self._slots = asyncio.Semaphore(jobs)
        self._usual: frozenset[str] = frozenset()
        self._without_faults: Outcome | None = None

    def made_of(self) -> dict[str, Any]:
        """What has to be the same for two outcomes to be comparable."""
        key = case_key(Case(CONTROL, self._driver, _SEED), self._security, self._place, _TRACED)
        return {
            "driver": self._driver,
            "kernel, security, mode, mips, module or the program of the chips": key,
            "also-failing": self._failing,
            "kind of features": VERSION,
        }

    async def control(self) -> Control:
        """Watch the driver without faults; has to come first. Raises :class:`GuestError`."""
        results = self._folder / CONTROL.name
        async with self._slots:
            trial = await run_case(
                Case(CONTROL, self._driver, _SEED), self._security, self._place, results, options=_TRACED
            )
        self._usual = usual_of(trial)
        judgement = judge_control(trial, self._usual)
        self._without_faults = await asyncio.to_thread(self._read, trial, judgement, CONTROL, results)
        return Control(judgement, await asyncio.to_thread(_registers, results / FILES / _TRACE))

    async def run(self, text: str, repeat: int) -> Outcome:
        """See :class:`txop.guest_exploration.exploration.Runner`. Raises :class:`GuestError`."""
        key = text_key(text, repeat)
        script = FaultScript(key, text)
        if not read_script(script) and self._without_faults is not None:
            return self._without_faults
        results = self._folder / key
        async with self._slots:
            await asyncio.to_thread(check_faults, (script,), "hostapd")
            trial = await run_case(Case(script, self._driver, _SEED), self._security, self._place, results)
        judgement = judge(trial.seen, self._usual)
        outcome = await asyncio.to_thread(self._read, trial, judgement, script, results)
        if outcome.finding is None and not outcome.void:
            await asyncio.to_thread(shutil.rmtree, results, ignore_errors=True)
        return outcome

    def _read(self, trial: Trial, judgement: Judgement, script: FaultScript, results: Path) -> Outcome:
        seen = trial.seen
        log = _bytes(results / FILES / "log") or _bytes(results / "console")
        return Outcome(
            verdict=judgement.verdict.value,
            why=judgement.why,
            back=judgement.back,
            line=judgement.line,
            struck=judgement.struck,
            finding=finding_of(judgement, seen.facts, seen.lines, self._usual, failing=self._failing),
            features=features(
                judgement,
                seen.facts,
                seen.lines,
                self._usual,
                read_script(script),
                _bytes(results / FILES / _COUNTERS, MAX_BYTES + 1),
            ),
            log_sha256=hashlib.sha256(log).hexdigest() if log else None,
            seconds=trial.seconds,
            guest_seconds=trial.guest_seconds,
            void=seen.void and judgement.verdict is Verdict.NOT_DETERMINED,
        )


def _registers(trace: Path) -> tuple[int, ...]:
    try:
        with trace.open("rb") as rows:
            return registers_used(iter(lambda: rows.readline(65_536), b""))
    except OSError:
        return ()


def _bytes(path: Path, most: int = 64 << 20) -> bytes:
    try:
        with path.open("rb") as source:
            return source.read(most)
    except OSError:
        return b""

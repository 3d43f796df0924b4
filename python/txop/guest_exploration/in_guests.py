"""Scripts tried in guests, one each: the trial of the survey, read for what an exploration needs."""

from __future__ import annotations

import asyncio
import hashlib
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from txop.guest.chips import OUT
from txop.guest.coverage.blocks import Block
from txop.guest.coverage.counts import COUNTS, MOST_BYTES, reached, read_counts
from txop.guest.coverage.instrument import Covered
from txop.guest.fault_check import check_faults
from txop.guest.running import FILES
from txop.guest.shipped_faults import CONTROL, FaultScript
from txop.guest_exploration.corpus import block_feature
from txop.guest_exploration.features import MAX_BYTES, VERSION, features
from txop.guest_exploration.finding import finding_of
from txop.guest_exploration.memory import text_key
from txop.guest_exploration.outcome import Outcome
from txop.guest_exploration.registers import registers_used
from txop.guest_exploration.script import read_script
from txop.guest_image.error import GuestError
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
    blocks: frozenset[Block] | None = None
    """Those of its code that it reaches; ``None``: they were not counted."""

    @property
    def problem(self) -> str | None:
        """Why nothing can be explored; ``None``: it can."""
        if self.judgement.verdict is Verdict.UNAFFECTED:
            return None
        return f"{self.judgement.verdict.value} ({self.judgement.why})"


class InGuests:
    """Runs scripts against one driver."""

    def __init__(
        self,
        driver: str,
        place: Place,
        folder: Path,
        *,
        security: str = "wpa2",
        failing: bool = False,
        jobs: int = 1,
        covered: Covered | None = None,
        name: str = "trials",
    ) -> None:
        """``folder``: for what guests output, in a folder ``name``; ``failing``: that it fails cleanly is a finding,
        too; ``covered``: the driver with counters in its blocks, in place of the one that ``place`` has."""
        self._driver = driver
        self._covered = covered
        self._place = place
        if covered is not None:
            modules = covered.in_place_of(place.modules.get(driver, ()))
            self._place = replace(place, modules={**place.modules, driver: modules})
        self._folder = folder / name
        self._security = security
        self._failing = failing
        self._slots = asyncio.Semaphore(jobs)
        self._usual: frozenset[str] = frozenset()
        self._usual_blocks: frozenset[Block] = frozenset()
        self._without_faults: Outcome | None = None
        self._first = asyncio.Lock()

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
        """Watch the driver without faults; what comes later is compared with it. Raises :class:`GuestError`."""
        results = self._folder / CONTROL.name
        async with self._slots:
            trial = await run_case(
                Case(CONTROL, self._driver, _SEED), self._security, self._place, results, options=_TRACED
            )
        self._usual = usual_of(trial)
        judgement = judge_control(trial, self._usual)
        blocks = await asyncio.to_thread(self._reached, results)
        if self._covered is not None and blocks is None and judgement.verdict is Verdict.UNAFFECTED:
            raise GuestError(
                f"{self._driver} without faults: the guest output no counts of blocks, or not all of them",
                what_to_do=f"look at {results / FILES / 'log'}",
            )
        self._usual_blocks = frozenset() if blocks is None else blocks
        self._without_faults = await asyncio.to_thread(self._read, trial, judgement, CONTROL, results)
        return Control(judgement, await asyncio.to_thread(_registers, results / FILES / _TRACE), blocks)

    async def run(self, text: str, repeat: int) -> Outcome:
        """See :class:`txop.guest_exploration.exploration.Runner`. Raises :class:`GuestError`."""
        async with self._first:
            if self._without_faults is None and (problem := (await self.control()).problem) is not None:
                raise GuestError(f"{self._driver} without counters is in trouble without any fault: {problem}")
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
        blocks = self._reached(results)
        more = () if blocks is None else (block_feature(block.name) for block in blocks - self._usual_blocks)
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
            ).union(more),
            log_sha256=hashlib.sha256(log).hexdigest() if log else None,
            blocks=None if blocks is None else len(blocks),
            seconds=trial.seconds,
            guest_seconds=trial.guest_seconds,
            void=seen.void and judgement.verdict is Verdict.NOT_DETERMINED,
        )

    def _reached(self, results: Path) -> frozenset[Block] | None:
        """Blocks that a trial has reached; ``None``: the guest has not output them, or they are damaged.

        Raises :class:`GuestError` when the trial without faults counts where no block is: it had other modules.
        """
        if self._covered is None:
            return None
        counts = read_counts(_bytes(results / FILES / COUNTS, MOST_BYTES))
        if counts is None:
            return None
        try:
            return frozenset(reached(self._covered.blocks, counts))
        except GuestError:
            if self._without_faults is None:
                raise
            return None  # a fault may damage the counts: they are the guest's


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

"""The exploration itself: which script is tried next, and what becomes of what it shows. It boots nothing.

Try k is chosen when the tries up to k - ``ahead`` are known, whatever else has ended by then: the course depends on
the seed, the scripts at the beginning and ``ahead``, and not on which guest is quicker. So an exploration that was
interrupted is run through again from its beginning, with the known outcomes in place of guests.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random
from typing import Protocol

from txop.guest_exploration.corpus import Corpus
from txop.guest_exploration.finding import file_name
from txop.guest_exploration.mutation import Mutator
from txop.guest_exploration.outcome import Outcome
from txop.guest_exploration.reduction import reduction
from txop.guest_exploration.script import Script, written

_ATTEMPTS = 50
"""At a script that was not tried yet."""


class Runner(Protocol):
    """Whatever tries a script."""

    async def run(self, text: str, repeat: int) -> Outcome:
        """What the script shows. The same text and ``repeat`` may be answered from memory; another one is a trial of
        its own."""


class Listener(Protocol):
    """Receives what happens, in order. Must not raise."""

    def tried(self, exploration: Exploration, number: int, script: Script, outcome: Outcome, new: int) -> None:
        """A script was tried."""

    def found(self, finding: Finding) -> None:
        """Something was found, made smaller or replayed."""


@dataclass(frozen=True)
class Begin:
    """A script to begin with."""

    name: str
    text: str
    script: Script


@dataclass(frozen=True)
class Request:
    """What is asked for."""

    seed: int = 1
    tries: int = 100
    """Scripts made by mutation; those at the beginning come on top."""
    reductions: int = 16
    """Trials, at most, in which one finding is made smaller."""
    ahead: int = 1
    """How many tries are under way without knowing of each other."""
    guided: bool = True


@dataclass
class Finding:
    """Something that a script shows."""

    key: str
    trial: int
    """Number of the trial that showed it first."""
    begin: str | None
    """Name of the script at the beginning that shows it; ``None``: a mutated one."""
    script: Script
    """The smallest so far that shows it."""
    text: str
    outcome: Outcome
    reductions: int = 0
    """Trials that making it smaller took."""
    smallest: bool = False
    """Nothing is left to be tried to make it smaller."""
    replay: str | None = None
    """:data:`EXACT`, :data:`OTHER_LOG`, :data:`NOT_AGAIN` or :data:`NOT_WITHOUT`; ``None``: it was not replayed yet."""

    @property
    def name(self) -> str:
        """For its file."""
        return file_name(self.key)


EXACT = "exact"
"""The finding again, and the same kernel log to the byte."""
OTHER_LOG = "another log"
"""The finding again, but with another kernel log."""
NOT_AGAIN = "not shown again"
NOT_WITHOUT = "not without coverage"
"""The driver as it is does not show it, only the one with counters in its blocks."""


@dataclass
class _Attempt:
    number: int
    script: Script
    text: str
    begin: Begin | None
    task: asyncio.Task[Outcome] = field(repr=False)


async def _tried(runner: Runner, text: str, repeat: int = 0) -> Outcome:
    outcome = await runner.run(text, repeat)
    if outcome.void:  # this machine's fault: once more
        outcome = await runner.run(text, repeat)
    return outcome


class Exploration:
    """One driver explored."""

    def __init__(
        self,
        request: Request,
        begin: Sequence[Begin],
        mutator: Mutator,
        runner: Runner,
        *,
        listener: Listener,
        replayer: Runner | None = None,
        comment: Callable[[Finding], str] = lambda finding: finding.key,
        stopping: Callable[[], bool] = lambda: False,
    ) -> None:
        """``comment``: what the file of a finding begins with; ``stopping``: whether no more trials are to begin;
        ``replayer``: tries what was found, where that is not ``runner``: the driver as it is, without counters."""
        self._request = request
        self._begin = begin
        self._mutator = mutator
        self._runner = runner
        self._replayer = replayer or runner
        self._listener = listener
        self._comment = comment
        self._stopping = stopping
        self._tried: set[str] = set()
        self._open: deque[Finding] = deque()
        self.corpus = Corpus(guided=request.guided)
        self.findings: dict[str, Finding] = {}
        self.trials = 0
        """Trials that showed something about the driver, those of making smaller and of replays included."""
        self.tries = 0
        """Scripts tried, those at the beginning included."""

    @property
    def total(self) -> int:
        """Scripts to be tried, in all."""
        return len(self._begin) + self._request.tries

    async def go(self) -> None:
        """Try them all, or those up to a moment when ``stopping`` says so. What a cancellation hits is lost."""
        pending: deque[_Attempt] = deque()
        number = 0
        try:
            while True:
                while number < self.total and len(pending) < self._request.ahead and not self._stopping():
                    started = self._start(number)
                    if started is None:
                        break
                    pending.append(started)
                    number += 1
                if not pending:
                    return
                done = pending.popleft()
                self.tries += 1
                self._take(done, await done.task)
                while self._open and not self._stopping():
                    await self._follow(self._open.popleft())
        finally:
            for waiting in pending:
                waiting.task.cancel()
            await asyncio.gather(*(waiting.task for waiting in pending), return_exceptions=True)

    def _start(self, number: int) -> _Attempt | None:
        begin = self._begin[number] if number < len(self._begin) else None
        if begin is not None:
            script, text = begin.script, begin.text
        elif self.corpus.entries:
            script, text = self._mutated(Random(f"{self._request.seed} {number}"))  # noqa: S311 - no secret
        else:
            return None
        self._tried |= {text, written(script)}
        return _Attempt(number, script, text, begin, asyncio.create_task(self._trial(text)))

    def _mutated(self, random: Random) -> tuple[Script, str]:
        parent = self.corpus.choose(random).script
        others = [entry.script for entry in self.corpus.entries]
        script = parent
        for _ in range(_ATTEMPTS):
            script = self._mutator.mutate(parent, others, random)
            if written(script) not in self._tried:
                break
        return script, written(script)

    async def _trial(self, text: str) -> Outcome:
        return await _tried(self._runner, text)

    async def _replayed(self, text: str, repeat: int = 0) -> Outcome:
        outcome = await _tried(self._replayer, text, repeat)
        self.trials += not outcome.void
        return outcome

    def _take(self, done: _Attempt, outcome: Outcome) -> None:
        entry = self._observe(done.script, done.text, outcome, done.begin)
        self._listener.tried(self, done.number, done.script, outcome, len(entry))

    def _observe(self, script: Script, text: str, outcome: Outcome, begin: Begin | None = None) -> frozenset[str]:
        """Everything that a trial showed; what of it is new."""
        if outcome.void:
            return frozenset()
        self.trials += 1
        entry = self.corpus.observe(
            self.trials, script, outcome.features, keep=begin is not None, blocks=outcome.blocks
        )
        self._record(script, text, outcome, begin)
        return frozenset() if entry is None else entry.new

    def _record(self, script: Script, text: str, outcome: Outcome, begin: Begin | None = None) -> None:
        """Remember a finding that is new."""
        if outcome.finding is not None and outcome.finding not in self.findings:
            name = None if begin is None else begin.name
            finding = Finding(outcome.finding, self.trials, name, script, text, outcome)
            self.findings[finding.key] = finding
            self._open.append(finding)
            self._listener.found(finding)

    async def _follow(self, finding: Finding) -> None:
        """Make a finding smaller, and replay it: with the driver as it is, whatever showed it first."""
        if self._replayer is not self._runner:
            plain = await self._replayed(finding.text)
            if plain.void:
                return
            self._record(finding.script, finding.text, plain)
            if plain.finding != finding.key:
                finding.replay = NOT_WITHOUT
                self._listener.found(finding)
                return
            finding.outcome = plain
        once = finding.outcome
        if finding.begin is not None and len(finding.script) <= 1:
            finding.smallest = True  # as it was given
        else:
            await self._reduce(finding)
            if self._stopping():
                return
            # what is replayed is the file, its comment included: another size of it is another guest
            finding.text = written(finding.script, self._comment(finding))
            once = await self._replayed(finding.text)
            if once.finding == finding.key:
                finding.outcome = once
        again = await self._replayed(finding.text, 1)
        if once.void or again.void:
            return
        if {once.finding, again.finding} != {finding.key}:
            finding.replay = NOT_AGAIN
        else:
            same = once.log_sha256 is not None and once.log_sha256 == again.log_sha256
            finding.replay = EXACT if same else OTHER_LOG
        self._listener.found(finding)

    async def _reduced(self, script: Script, text: str) -> Outcome:
        """What a smaller script shows. Without counters it is no script of this corpus, but what it finds counts."""
        if self._replayer is self._runner:
            self._tried.add(text)
            outcome = await _tried(self._runner, text)
            self._observe(script, text, outcome)
            return outcome
        outcome = await self._replayed(text)
        if not outcome.void:
            self._record(script, text, outcome)
        return outcome

    async def _reduce(self, finding: Finding) -> None:
        steps = reduction(finding.script)
        with suppress(StopIteration):
            candidate = next(steps)
            while finding.reductions < self._request.reductions:
                if self._stopping():
                    return
                text = written(candidate)
                outcome = await self._reduced(candidate, text)
                finding.reductions += 1
                same = outcome.finding == finding.key
                if same:
                    finding.script, finding.text, finding.outcome = candidate, text, outcome
                    self._listener.found(finding)
                candidate = steps.send(same)
            return
        finding.smallest = True

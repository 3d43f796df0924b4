"""The search for what is slow: which input is tried next, and how a slow one is made smaller. It boots nothing.

Inputs are kept by metric and by the kinds of what they change: of each the slowest one. An input is slow when a cost is
at least ``times`` that of the usual traffic, and it transferred, beside echo requests, at least a tenth of the packets:
one that transfers less is stalled, which ``txop guest explore`` without ``--slow`` looks for. A slow input is made
smaller. If what is left has the kinds of a finding that is there, or more than these, it is no other finding.

As in :mod:`txop.guest_exploration.exploration`, try k is chosen when the tries up to k - ``ahead`` are known.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import log
from random import Random
from typing import Protocol

from txop.guest_exploration.cost import Cost, Costs, Metric, costs_of, traffic_of
from txop.guest_exploration.exploration import Request, Runner
from txop.guest_exploration.outcome import Outcome
from txop.guest_exploration.slow.entry import Input, smaller_inputs

LEAST_TRAFFIC = 0.1
"""Share of the usual packets: an input that transfers less is stalled."""
KEPT_FROM = 1.2
"""An input is kept for its costs from so many times the usual on."""
_ATTEMPTS = 50


@dataclass(frozen=True)
class Begin:
    """An input to begin with."""

    name: str
    input: Input


@dataclass(frozen=True)
class Slow:
    """An input and its costs."""

    input: Input
    outcome: Outcome
    costs: Costs
    times: dict[Metric, float]
    """By metric: how many times those of the usual traffic."""


@dataclass
class SlowFinding:
    """A cost that an input raises."""

    metric: Metric
    trial: int
    """Number of the trial that showed it first."""
    begin: str | None
    """Name of the given input that shows it; ``None``: a mutated one."""
    slow: Slow
    reductions: int = 0
    smallest: bool = False
    """Nothing is left to be tried to make it smaller."""
    exact: bool | None = None
    """Whether a replay had the same costs, and the same kernel log to the byte; ``None``: it was not replayed yet."""

    @property
    def times(self) -> float:
        """How many times the usual cost."""
        return self.slow.times[self.metric]

    @property
    def key(self) -> str:
        """What it is: the metric, and what the input changes."""
        return f"{self.metric.value}: {'; '.join(sorted(self.slow.input.kinds))}"


class Listener(Protocol):
    """Receives what happens, in order. Must not raise."""

    def tried(self, search: SlowSearch, number: int, tried: Input, outcome: Outcome, slow: Slow | None) -> None:
        """An input was tried."""

    def found(self, finding: SlowFinding) -> None:
        """Something slow was found, made smaller and replayed."""


@dataclass
class _Attempt:
    number: int
    input: Input
    begin: Begin | None
    task: asyncio.Task[Outcome] = field(repr=False)


class SlowSearch:
    """One driver, and what makes it slow."""

    def __init__(
        self,
        request: Request,
        begin: Sequence[Begin],
        mutate: Callable[[Input, Sequence[Input], Random], Input],
        runner: Runner,
        usual: Cost,
        rest: Cost,
        instructions_per_s: float,
        *,
        times: float,
        listener: Listener,
        stopping: Callable[[], bool] = lambda: False,
    ) -> None:
        """``usual``: what the usual traffic costs; ``rest``: what echo requests alone do; ``times``: that many times
        the usual is slow; ``stopping``: whether no more trials are to begin.

        Raises:
            ValueError: The usual traffic transferred nothing.
        """
        self._request = request
        self._begin = begin
        self._mutate = mutate
        self._runner = runner
        self._rest = rest
        self._speed = instructions_per_s
        self._least_packets = LEAST_TRAFFIC * traffic_of(usual, rest)[0]
        self.usual = costs_of(usual, rest, instructions_per_s)
        """What the usual traffic costs."""
        self._times = times
        self._listener = listener
        self._stopping = stopping
        self._tried: set[str] = set()
        self._counted: set[tuple[str, int]] = set()
        self._kept: dict[tuple[Metric, frozenset[str]], Slow] = {}
        self.findings: list[SlowFinding] = []
        self.trials = 0
        """Trials that showed something about the driver, those of making smaller and of replays included."""
        self.tries = 0
        """Inputs tried, those at the beginning included."""
        self.stalled = 0
        """Trials that transferred too little to say what it costs."""
        self.troubled = 0
        """Trials with a crash, a hang or a WARN, or without any traffic."""
        self.highest: dict[Metric, float] = {}
        """By metric: the highest cost of any trial, in times of the usual."""

    @property
    def total(self) -> int:
        """Inputs to be tried, in all."""
        return len(self._begin) + self._request.tries

    @property
    def kept(self) -> int:
        """Inputs that others are made of."""
        return len({slow.input.text() for slow in self._kept.values()})

    async def go(self) -> None:
        """Try them all, or those up to a moment when ``stopping`` says so."""
        pending: deque[_Attempt] = deque()
        number = 0
        try:
            while True:
                while number < self.total and len(pending) < self._request.ahead and not self._stopping():
                    pending.append(self._start(number))
                    number += 1
                if not pending:
                    return
                done = pending.popleft()
                self.tries += 1
                await self._take(done, await done.task)
        finally:
            for waiting in pending:
                waiting.task.cancel()
            await asyncio.gather(*(waiting.task for waiting in pending), return_exceptions=True)

    def _start(self, number: int) -> _Attempt:
        begin = self._begin[number] if number < len(self._begin) else None
        tried = begin.input if begin is not None else self._mutated(Random(f"{self._request.seed} {number}"))  # noqa: S311 - no secret
        text = tried.text()
        self._tried.add(text)
        return _Attempt(number, tried, begin, asyncio.create_task(self._trial(text)))

    def _mutated(self, random: Random) -> Input:
        parent = self._parent(random)
        others = [slow.input for slow in self._kept.values()]
        tried = parent
        for _ in range(_ATTEMPTS):
            tried = self._mutate(parent, others, random)
            if tried.text() not in self._tried:
                break
        return tried

    def _parent(self, random: Random) -> Input:
        """Mostly one of those kept for a metric, slower ones more often; else the usual traffic."""
        metrics = sorted({metric for metric, _ in self._kept})
        if not metrics or random.random() < 0.15:
            return Input()
        metric = random.choice(metrics)
        kept = [slow for (of, _), slow in self._kept.items() if of is metric]
        return random.choices(kept, [log(slow.times[metric]) for slow in kept])[0].input

    async def _trial(self, text: str, repeat: int = 0) -> Outcome:
        outcome = await self._runner.run(text, repeat)
        return await self._runner.run(text, repeat) if outcome.void else outcome  # this machine's fault: once more

    def _count(self, text: str, repeat: int = 0) -> bool:
        """Whether it is a trial of its own: the same one again is answered from memory."""
        new = (text, repeat) not in self._counted
        self._counted.add((text, repeat))
        self.trials += new
        return new

    async def _take(self, done: _Attempt, outcome: Outcome) -> None:
        slow = self._observe(done.input, outcome)
        trial = self.trials
        self._listener.tried(self, done.number, done.input, outcome, slow)
        for metric in Metric if slow is not None else ():
            if slow is not None and self._is_new(metric, slow) and not self._stopping():
                name = None if done.begin is None else done.begin.name
                await self._follow(SlowFinding(metric, trial, name, slow))

    def _observe(self, tried: Input, outcome: Outcome) -> Slow | None:
        """What a trial cost, where that is known."""
        if outcome.void:
            return None
        new = self._count(tried.text())
        if outcome.cost is None:
            self.troubled += new
            return None
        packets, count = traffic_of(outcome.cost, self._rest)
        if packets < self._least_packets or count <= 0:
            self.stalled += new
            return None
        slow = self._slow(tried, outcome, outcome.cost)
        for metric, times in slow.times.items():
            self.highest[metric] = max(times, self.highest.get(metric, 0.0))
            cell = metric, tried.kinds
            if (
                times >= KEPT_FROM
                and tried.kinds
                and (cell not in self._kept or self._kept[cell].times[metric] < times)
            ):
                self._kept[cell] = slow
        return slow

    def _slow(self, tried: Input, outcome: Outcome, cost: Cost) -> Slow:
        costs = costs_of(cost, self._rest, self._speed)
        times = {}
        for metric in Metric:
            now, before = costs.of(metric), self.usual.of(metric)
            if now is not None and before:
                times[metric] = now / before
        return Slow(tried, outcome, costs, times)

    def _is_slow(self, metric: Metric, slow: Slow | None) -> bool:
        return slow is not None and slow.times.get(metric, 0.0) >= self._times

    def _is_new(self, metric: Metric, slow: Slow) -> bool:
        known = (finding.slow.input.kinds for finding in self.findings if finding.metric is metric)
        return self._is_slow(metric, slow) and not any(are_among(kinds, slow.input.kinds) for kinds in known)

    async def _follow(self, finding: SlowFinding) -> None:
        """Make it smaller, and replay it; it is left out when what is left is a finding that is there."""
        await self._reduce(finding)
        if self._stopping():
            return
        if not self._is_new(finding.metric, finding.slow):
            return
        self.findings.append(finding)
        replays = [await self._trial(finding.slow.input.text(), repeat) for repeat in (1, 2)]
        if not any(outcome.void for outcome in replays):
            for repeat in (1, 2):
                self._count(finding.slow.input.text(), repeat)
            finding.exact = all(
                outcome.log_sha256 == finding.slow.outcome.log_sha256 and outcome.cost == finding.slow.outcome.cost
                for outcome in replays
            )
        self._listener.found(finding)

    async def _reduce(self, finding: SlowFinding) -> None:
        steps = smaller_inputs(finding.slow.input)
        left_out = False
        try:
            candidate = next(steps)
            while finding.reductions < self._request.reductions:
                if self._stopping():
                    return
                text = candidate.text()
                self._tried.add(text)
                outcome = await self._trial(text)
                left_out = left_out or outcome.void
                slow = self._observe(candidate, outcome)
                finding.reductions += 1
                is_slow = self._is_slow(finding.metric, slow)
                if is_slow and slow is not None:
                    finding.slow = slow
                candidate = steps.send(is_slow)
        except StopIteration:
            finding.smallest = not left_out


def are_among(kinds: frozenset[str], others: frozenset[str]) -> bool:
    """Whether each of these kinds is among others, where one may say more: a direction, or that it is of a register.

    >>> are_among(frozenset({"stall endpoint 1"}), frozenset({"loss", "stall endpoint 1 in"}))
    True
    >>> are_among(frozenset({"stall endpoint 1"}), frozenset({"stall endpoint 12"}))
    False
    """
    return all(any(other == kind or other.startswith((f"{kind} ", f"{kind},")) for other in others) for kind in kinds)

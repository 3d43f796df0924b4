"""The search for the first candidate that is worse, as a pure function of what builds and runs have given.

Candidates are numbered in their order: 0 is good, the last is bad. Each is compared with 0, in blocks in which both
have a run. One that is neither clearly worse than 0 nor clearly within the margin of it is compared with the last, too:
where the last is clearly worse than the candidate, the change came after it, and it is good. A candidate that does not
build or run is skipped: it is neither good nor bad. So is one that its runs do not settle. Candidates that build the
same module share their runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from txop.present.format import plural

MAX_VOIDS = 3
"""A candidate with this many void runs and too few valid ones is skipped."""


class Judgement(StrEnum):
    """What a comparison of two candidates says."""

    WORSE = "worse"
    """Clear, and at least the margin."""
    NOT_WORSE = "not worse"
    """Equivalent, or better."""
    UNCLEAR = "unclear"


class CandidateState(StrEnum):
    """What is known of a candidate."""

    UNTESTED = "not tested"
    """Not yet: runs are missing."""
    GOOD = "good"
    """Within the margin of the good end, or not clearly outside it and clearly better than the bad end."""
    BAD = "bad"
    UNCLEAR = "unclear"
    """All its runs do not settle it."""
    SKIPPED = "skipped"
    """It does not build, or its runs are void."""


Judge = Callable[[Sequence[float], Sequence[float]], Judgement]
"""Compares a candidate with another, by the figures of both in the same blocks: the other's come first."""


@dataclass(frozen=True)
class Limits:
    """How many runs a candidate has."""

    least: int
    """Blocks that a verdict takes at least."""
    most: int
    """Blocks after which a candidate that is not settled is left."""

    def __post_init__(self) -> None:
        if not 1 <= self.least <= self.most:
            raise ValueError(f"at least {self.least} and at most {self.most} runs")


def least_blocks(confidence: float) -> int:
    """The fewest blocks with which the exact signed-rank test can reach a verdict: no p-value is below 2^(1 - n).

    >>> least_blocks(0.95), least_blocks(0.75)
    (6, 3)
    """
    return 1 + math.ceil(-math.log2(1 - confidence) - 1e-9)


@dataclass
class Runs:
    """The runs of one module."""

    values: dict[int, float] = field(default_factory=dict)
    """The figure by block."""
    voids: dict[int, str] = field(default_factory=dict)
    """Causes by block."""

    @property
    def tried(self) -> set[int]:
        """Blocks that have been run."""
        return self.values.keys() | self.voids.keys()

    def given_up(self, wanted: int) -> bool:
        """Whether there are too many void runs to go on for this number of valid ones."""
        return len(self.values) < wanted and len(self.voids) >= max(MAX_VOIDS, len(self.values) + 1)


@dataclass
class Outcomes:
    """What builds and runs have given so far."""

    last: int
    """Number of the last candidate, the bad one."""
    modules: dict[int, str] = field(default_factory=dict)
    """What each candidate builds, by its hash."""
    failed: dict[int, str] = field(default_factory=dict)
    """Why a candidate cannot be run: it does not build."""
    by_module: dict[str, Runs] = field(default_factory=dict)

    def built(self, at: int, module: str) -> None:
        """A candidate was built."""
        self.modules[at] = module

    def not_built(self, at: int, cause: str) -> None:
        """A candidate does not build."""
        self.failed[at] = cause

    def ran(self, at: int, block: int, value: float) -> None:
        """A run of a candidate gave the figure."""
        self._of(at).values[block] = value

    def voided(self, at: int, block: int, cause: str) -> None:
        """A run of a candidate was void."""
        self._of(at).voids[block] = cause

    def runs(self, at: int) -> Runs:
        """The runs of a candidate, and of all that build the same module."""
        module = self.modules.get(at)
        return Runs() if module is None else self.by_module.get(module, Runs())

    def pairs(self, against: int, at: int) -> tuple[list[float], list[float]]:
        """The figures of two candidates in the blocks that both have."""
        x, y = self.runs(against).values, self.runs(at).values
        blocks = sorted(x.keys() & y.keys())
        return [x[block] for block in blocks], [y[block] for block in blocks]

    def _of(self, at: int) -> Runs:
        return self.by_module.setdefault(self.modules[at], Runs())


@dataclass(frozen=True)
class Work:
    """A candidate to run in these blocks; without blocks, to build."""

    at: int
    blocks: tuple[int, ...]


@dataclass(frozen=True)
class Found:
    """Between ``good`` and ``bad`` it became worse: at ``bad``, or at one of those skipped between them."""

    good: int
    bad: int
    step: Judgement
    """``bad`` against ``good``, in the blocks that both have."""

    @property
    def is_one(self) -> bool:
        """Whether it is a single candidate."""
        return self.bad == self.good + 1


@dataclass(frozen=True)
class NotDetermined:
    """The bisection has no answer."""

    why: str


Next = Sequence[Work] | Found | NotDetermined


@dataclass(frozen=True)
class Search:
    """The rules of a bisection."""

    limits: Limits
    judge: Judge

    def standing(self, known: Outcomes, at: int) -> CandidateState:
        """What is known of a candidate."""
        if at in known.failed or known.runs(at).given_up(self.limits.least):
            return CandidateState.SKIPPED
        if at == 0:
            return CandidateState.GOOD
        judged = self._judged(known, 0, at)
        if judged is None:
            return CandidateState.UNTESTED
        if judged is Judgement.UNCLEAR:
            if self.before_the_change(known, at):
                return CandidateState.GOOD
            return CandidateState.UNCLEAR if self._pairs(known, 0, at) >= self.limits.most else CandidateState.UNTESTED
        return CandidateState.BAD if judged is Judgement.WORSE else CandidateState.GOOD

    def before_the_change(self, known: Outcomes, at: int) -> bool:
        """Whether a candidate that the good end does not settle is clearly better than the bad end."""
        return (
            0 < at < known.last
            and self._judged(known, 0, at) is Judgement.UNCLEAR
            and self._judged(known, at, known.last) is Judgement.WORSE
        )

    def next(self, known: Outcomes, at_once: int = 1) -> Next:
        """What to do now: candidates to build and run, which may go on side by side, or the answer.

        ``at_once``: how many runs go on side by side. With more than a candidate needs, several are tried at once.
        """
        if work := self._for_ends(known):
            return work
        for end, name in ((0, "good"), (known.last, "bad")):
            if self.standing(known, end) is CandidateState.SKIPPED:
                return NotDetermined(f"the {name} end cannot be measured: {self.cause(known, end)}")
        standing = self.standing(known, known.last)
        if standing is CandidateState.GOOD:
            return NotDetermined("the bad end is not worse than the good one")
        if standing is not CandidateState.BAD:
            return NotDetermined("it is unclear whether the bad end is worse than the good one")
        good, bad = self.bounds(known)
        if work := self._for_some(known, range(good + 1, bad), at_once):
            return work
        step = self._judged(known, good, bad) or Judgement.UNCLEAR
        if step is not Judgement.WORSE and (work := self._up_to(known, (0, good, bad), self.limits.most)):
            return work
        return Found(good, bad, step)

    def bounds(self, known: Outcomes) -> tuple[int, int]:
        """The first candidate known to be bad, and the last one before it known to be good."""
        bad = min(at for at in range(known.last + 1) if self.standing(known, at) is CandidateState.BAD)
        good = max(at for at in range(bad) if self.standing(known, at) is CandidateState.GOOD)
        return good, bad

    def cause(self, known: Outcomes, at: int) -> str:
        """Why a candidate is skipped."""
        if at in known.failed:
            return known.failed[at]
        voids = known.runs(at).voids
        return f"{plural(len(voids), 'run')} void: {voids[min(voids)]}" if voids else ""

    def _for_ends(self, known: Outcomes) -> list[Work]:
        ends = (0, known.last)
        if work := self._up_to(known, ends, self.limits.least):
            return work
        if self.standing(known, known.last) is CandidateState.UNTESTED:  # unclear so far
            return self._up_to(known, ends, self.limits.most)
        return []

    def _for_some(self, known: Outcomes, candidates: Iterable[int], at_once: int) -> list[Work]:
        """Work on candidates that are not settled; none where nothing more can be done about any."""
        between = [at for at in candidates if self.standing(known, at) is CandidateState.UNTESTED]
        begun = [at for at in between if self._pairs(known, 0, at) >= self.limits.least]
        if begun and (work := self._up_to(known, (0, *begun), self.limits.most)):  # unclear so far
            return work
        left = [at for at in between if at not in begun and self._up_to(known, (0, at), self.limits.least)]
        chosen = _spread(left, max(1, at_once // self.limits.least))
        return self._up_to(known, (0, *chosen), self.limits.least) if chosen else []

    def _up_to(self, known: Outcomes, candidates: Iterable[int], wanted: int) -> list[Work]:
        """What is missing for ``wanted`` blocks of each candidate that can be run, paired with those of 0."""
        chosen = list(dict.fromkeys(candidates))
        work: dict[int, Work] = {}
        more = wanted
        for at in sorted(chosen, reverse=True):
            if at == 0 or at in known.failed or known.runs(at).given_up(wanted):
                continue
            there, short = known.runs(0), wanted - self._pairs(known, 0, at)
            open_blocks = sorted(there.values.keys() - known.runs(at).tried)
            if at not in known.modules:
                work[at] = Work(at, ())  # it may build a module that has runs already
            elif short > 0 and open_blocks:
                work[at] = Work(at, tuple(open_blocks[:short]))
            more = max(more, len(there.values) + max(0, short - len(open_blocks)))
        if 0 in chosen or work:
            first = known.runs(0)
            if 0 not in known.failed and not first.given_up(more) and len(first.values) < more:
                blocks = _fresh(first.tried, more - len(first.values)) if 0 in known.modules else ()
                work[0] = Work(0, blocks)
        return _once_per_module(known, sorted(work.values(), key=lambda each: each.at))

    def _judged(self, known: Outcomes, against: int, at: int) -> Judgement | None:
        x, y = known.pairs(against, at)
        return None if len(x) < self.limits.least else self.judge(x, y)

    def _pairs(self, known: Outcomes, against: int, at: int) -> int:
        return len(known.pairs(against, at)[0])


def _fresh(tried: set[int], count: int) -> tuple[int, ...]:
    """The first blocks that have not been run."""
    found: list[int] = []
    block = 0
    while len(found) < count:
        block += 1
        if block not in tried:
            found.append(block)
    return tuple(found)


def _once_per_module(known: Outcomes, work: Iterable[Work]) -> list[Work]:
    """Keep the first of several candidates that build the same module."""
    seen: set[str] = set()
    kept = []
    for each in work:
        module = known.modules.get(each.at)
        if module is None or module not in seen:
            kept.append(each)
        if module is not None:
            seen.add(module)
    return kept


def _spread(candidates: Sequence[int], count: int) -> list[int]:
    """Up to ``count`` of the candidates, which cut them into parts of about the same length.

    >>> _spread(range(1, 8), 1), _spread(range(1, 12), 3)
    ([4], [3, 6, 9])
    """
    count = min(count, len(candidates))
    return [candidates[part * len(candidates) // (count + 1)] for part in range(1, count + 1)]

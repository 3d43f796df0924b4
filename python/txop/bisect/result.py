"""The outcome of a bisection, as ``txop bisect --json`` writes it: ``txop-bisect``, version 1."""

from __future__ import annotations

from statistics import median
from typing import Literal

from pydantic import BaseModel, ConfigDict

from txop.bisect.engine import Bisection
from txop.bisect.journal import Account
from txop.bisect.judge import comparison_of
from txop.bisect.search import CandidateState, Found, Judgement, NotDetermined
from txop.core.origin import Origin
from txop.present.format import plural, signed
from txop.stats.comparison import Comparison


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, ser_json_inf_nan="null")


class Effect(_Model):
    """A candidate against another one, in the blocks that both have."""

    against: str
    estimate: float
    """Hodges-Lehmann estimate; percent, or the figure's unit."""
    low: float | None
    high: float | None
    unit: str
    confidence: float
    n: int
    """Blocks."""
    p: float | None
    """Exact, two-sided."""
    verdict: str | None
    """``better``, ``worse``, ``equivalent``, ``inconclusive``."""
    text: str
    """The figures in words."""

    @classmethod
    def of(cls, comparison: Comparison) -> Effect:
        """From a comparison."""
        c = comparison
        unit = f" {c.unit}" if c.unit else ""
        interval = "" if c.low is None or c.high is None else f" ({signed(c.low)} to {signed(c.high)}{unit})"
        chance = "" if c.p is None else f", p = {c.p:.2g}"
        return cls(
            against=c.baseline_name, estimate=c.estimate, low=c.low, high=c.high, unit=c.unit,
            confidence=c.confidence, n=c.n, p=c.p, verdict=c.verdict,
            text=f"{signed(c.estimate)}{unit}{interval}, n = {c.n}{chance}",
        )  # fmt: skip


class Run(_Model):
    """A run of a candidate."""

    block: int
    value: float | None
    """``None``: void."""
    cause: str | None = None


class CandidateResult(_Model):
    """A candidate and what is known of it."""

    at: int
    """Place in the range, from 0, which is good."""
    name: str
    title: str
    author: str
    date: str
    commit: str | None
    standing: CandidateState
    cause: str
    """Why it is skipped; empty when it is not."""
    same_module_as: str | None
    """The first candidate that builds the same module, byte for byte: the runs are those."""
    median: float | None
    runs: list[Run]
    effect: Effect | None
    """Against the good end."""
    to_come: Effect | None = None
    """The bad end against this candidate, where that is what makes it good."""
    log: str | None = None
    """Log of the failed build, in the folder."""


class FigureFacts(_Model):
    """The figure that judged."""

    name: str
    """``TEST.METRIC``."""
    title: str
    unit: str
    better: str | None
    margin: float
    margin_unit: str


State = Literal["found", "one-of", "no-step", "not-determined", "unfinished"]


class BisectResult(_Model):
    """A bisection."""

    format: Literal["txop-bisect"] = "txop-bisect"
    version: Literal[1] = 1
    txop: str
    title: str
    origin: Origin
    repository: str | None
    folders: list[str]
    driver: str
    arm: str
    looking_for: str
    figure: FigureFacts
    confidence: float
    least: int
    most: int
    state: State
    """``found``: one candidate, and a step against the one before it. ``one-of``: skipped ones lie between.
    ``no-step``: it crosses the margin here, and not in one step. ``not-determined``; ``unfinished``."""
    headline: str
    sure: list[str]
    """How sure it is, and what it rests on."""
    good: int | None
    """The last good candidate, by its place; ``None`` without an answer."""
    bad: int | None
    """The first bad one."""
    ends: Effect | None
    """The bad end against the good one."""
    step: Effect | None
    """The first bad candidate against the last good one."""
    candidates: list[CandidateResult]
    notes: list[str]
    damage: list[str]
    runs: int
    """Valid and void."""
    builds: int
    seconds: float
    """By this machine's clock, over all processes."""


def result_of(bisection: Bisection, account: Account) -> BisectResult:
    """What is known so far, and what follows from it."""
    request, plan, metric = bisection.request, bisection.plan, bisection.metric
    known, last = account.known, len(request.candidates) - 1
    answer = bisection.search.next(known)
    rows = [_candidate(bisection, account, at) for at in range(last + 1)]
    ends = rows[last].effect
    step = _effect(bisection, account, answer.good, answer.bad) if isinstance(answer, Found) else None
    spec = plan.guest.varied(plan.find_arm(request.arm).guest) if plan.guest is not None else None
    state, headline = _headline(bisection, answer, rows, ends, step)
    return BisectResult(
        txop=request.txop,
        title=plan.title,
        origin=plan.origin,
        repository=request.repository,
        folders=request.folders,
        driver=spec.builds if spec is not None else "",
        arm=request.arm,
        looking_for=request.looking_for,
        figure=FigureFacts(
            name=request.figure, title=metric.title, unit=metric.unit, better=metric.better, margin=metric.margin,
            margin_unit="%" if metric.scale == "ratio" else metric.unit,
        ),
        confidence=plan.design.confidence,
        least=request.least,
        most=request.most,
        state=state,
        headline=headline,
        sure=_sure(bisection, answer, rows, ends, step),
        good=answer.good if isinstance(answer, Found) else None,
        bad=answer.bad if isinstance(answer, Found) else None,
        ends=ends,
        step=step,
        candidates=rows,
        notes=request.notes,
        damage=account.damage,
        runs=account.runs,
        builds=len(known.modules) + len(known.failed),
        seconds=round(account.seconds, 1),
    )  # fmt: skip


def _candidate(bisection: Bisection, account: Account, at: int) -> CandidateResult:
    known, candidate = account.known, bisection.request.candidates[at]
    runs = known.runs(at)
    module = known.modules.get(at)
    first = next((other for other in sorted(known.modules) if known.modules[other] == module), at)
    standing = bisection.search.standing(known, at)
    shown = [Run(block=block, value=value) for block, value in runs.values.items()]
    shown += [Run(block=block, value=None, cause=cause) for block, cause in runs.voids.items()]
    return CandidateResult(
        at=at,
        name=candidate.name,
        title=candidate.title,
        author=candidate.author,
        date=candidate.date,
        commit=candidate.commit,
        standing=standing,
        cause=bisection.search.cause(known, at) if standing is CandidateState.SKIPPED else "",
        same_module_as=None if module is None or first == at else bisection.request.candidates[first].name,
        median=median(runs.values.values()) if runs.values else None,
        runs=sorted(shown, key=lambda run: run.block),
        effect=None if at == 0 else _effect(bisection, account, 0, at),
        to_come=_effect(bisection, account, at, known.last) if bisection.search.before_the_change(known, at) else None,
        log=account.logs.get(at),
    )


def _effect(bisection: Bisection, account: Account, against: int, at: int) -> Effect | None:
    x, y = account.known.pairs(against, at)
    if not x:
        return None
    names = bisection.request.candidates[against].name, bisection.request.candidates[at].name
    return Effect.of(comparison_of(bisection.metric, bisection.plan.design.confidence, x, y, names))


def _headline(
    bisection: Bisection,
    answer: object,
    rows: list[CandidateResult],
    ends: Effect | None,
    step: Effect | None,
) -> tuple[State, str]:
    way, figure = (
        bisection.request.looking_for,
        f"{bisection.request.figure.partition('.')[0]} {bisection.metric.title}",
    )
    if isinstance(answer, NotDetermined):
        shown = f" ({figure}: {ends.text})" if ends is not None else ""
        return "not-determined", f"It can't be determined, because {answer.why.replace('worse', way)}{shown}."
    if not isinstance(answer, Found):
        return "unfinished", "It is not finished."
    bad = rows[answer.bad]
    effect = f"{figure} {step.text}" if step is not None else figure
    if not answer.is_one:
        between = [f"{row.name}" for row in rows[answer.good + 1 : answer.bad + 1]]
        return "one-of", (
            f"One of {len(between)} made it {way}: {_few(between)}; those before {bad.name} could not be tested. "
            f"{bad.name} against {rows[answer.good].name}, the last good one: {effect}."
        )
    who = f"{bad.name} ({bad.title})"
    if answer.step is not Judgement.WORSE:
        return "no-step", (
            f"At {who} it is {way} than the good end by the margin, and not a step against the one before it: "
            f"{effect}. The change came in small parts, or the runs do not settle it."
        )
    return "found", f"{who} made it {way}: {effect} against the one before it."


def _sure(
    bisection: Bisection, answer: object, rows: list[CandidateResult], ends: Effect | None, step: Effect | None
) -> list[str]:
    found: list[str] = []
    confidence = bisection.plan.design.confidence
    if ends is not None:
        found.append(f"The ends: {rows[-1].name} against {rows[0].name}, {ends.text}: {ends.verdict}.")
    if not isinstance(answer, Found):
        return found
    if (
        step is not None
        and ends is not None
        and ends.estimate
        and step.unit == ends.unit
        and step.estimate / ends.estimate > 0
    ):
        found.append(
            f"The step is {100 * step.estimate / ends.estimate:.0f} % as large as the difference of the ends"
            + (", which has other causes, too." if not 80 <= 100 * step.estimate / ends.estimate <= 125 else ".")
        )
    # candidates that build the same module share their verdict
    settled = [
        row
        for row in rows[1:]
        if row.standing in (CandidateState.GOOD, CandidateState.BAD) and row.same_module_as is None
    ]
    # one that had more runs than the least was judged twice, and so was one that was compared with both ends
    looks = len(settled) + sum(len(row.runs) > bisection.request.least for row in settled)
    looks += sum(row.to_come is not None for row in settled)
    wrong = looks * (1 - confidence)
    found.append(
        f"That {rows[answer.bad].name} is {bisection.request.looking_for} rests on one comparison; that it is the "
        f"first, on {plural(looks, 'verdict')} at {100 * confidence:g} % each"
        + (f": all are right with at least {100 * (1 - wrong):.0f} %." if 0 < wrong < 1 else ".")
    )
    found.append(
        "The spread over blocks is a modelled one (seeds of the guest): it says that the effect does not depend on "
        "such chances, not how large it is on hardware."
    )
    untested = sum(row.standing is CandidateState.UNTESTED for row in rows)
    found.append(
        f"Tested: {len(rows) - untested} of {len(rows)}. A bisection assumes that the others are as their neighbours."
    )
    return found


def _few(names: list[str]) -> str:
    return ", ".join(names) if len(names) <= 6 else f"{', '.join(names[:5])} and {len(names) - 5} more"

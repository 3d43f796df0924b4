"""Causes by intervention: an archive with every combination of what two arms differ in says what each of it does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean

from txop.archive.reader import Archive
from txop.compare.result import ComparedFigure, CompareResult
from txop.core.errors import ExitCode, UserError
from txop.core.nearest import did_you_mean
from txop.plan_check.factorial import Corner, Factorial, factorial, largest_factorial
from txop.present.format import plural
from txop.stats.shapley import Effect, alone, effect, last, shapley, together, whole


@dataclass(frozen=True)
class Cause:
    """What one difference does."""

    name: str
    words: str
    """As in patch 7."""
    share: Effect
    """Its Shapley value."""
    alone: Effect
    """Added to the arm that is compared with."""
    last: Effect
    """Added where all the others are there."""


@dataclass(frozen=True)
class Causes:
    """What makes two arms differ in a figure."""

    figure: str
    unit: str
    """Unit of the effects: % of the mean of ``against``, or the figure's unit."""
    confidence: float
    arm: str
    against: str
    blocks: tuple[int, ...]
    """Those in which every combination has a valid run; seeds, in exact guests."""
    left_out: int
    """Blocks in which one has none."""
    before: float
    """Mean of ``against``, in the figure's unit."""
    after: float
    """Mean of ``arm``."""
    whole: Effect
    causes: tuple[Cause, ...]
    """Those with the largest share first."""
    together: Effect
    """Beyond the sum of what each does alone."""
    baseline: str | None
    """The plan's baseline, where that is neither of the two."""
    residual: Effect | None
    """``against`` minus the baseline: what none of the causes explains."""
    origin: str

    @property
    def sentence(self) -> str:
        """The causes in one sentence."""
        shown = [f"{cause.name} alone {_signed(cause.alone.mean)}" for cause in self.causes]
        more = f", together beyond their sum {_signed(self.together.mean)}"
        unit = f" {self.unit}"
        return f"of {_signed(self.whole.mean)}{unit}: {', '.join(shown)}{more} (n = {len(self.blocks)})"


def proven(archive: Archive, compared: CompareResult, arm: str, against: str, figure: str) -> Causes | None:
    """The causes of a difference, where the archive has all combinations for it, and it is clear of 0; ``None``: no."""
    try:
        chosen = factorial(archive.plan, arm, against)
        if len(chosen.factors) < 2 or chosen.missing:
            return None
        largest = largest_factorial(archive.plan)
        if largest is None or len(largest.factors) > len(chosen.factors):
            return None  # a part of the whole
        found = causes_of(archive, compared, chosen, figure)
    except UserError:
        return None
    low, high = found.whole.low, found.whole.high
    return found if low is not None and high is not None and not low <= 0 <= high else None


def _signed(value: float) -> str:
    digits = 0 if abs(value) >= 9.95 else 1
    return f"{value:+.{digits}f}".replace("-", "\N{MINUS SIGN}")


def chosen_factorial(archive: Archive, arm: str | None, against: str | None) -> Factorial:
    """The arms that are explained: those given, or those of which all combinations are there.

    Raises:
        UserError: There are none, or combinations are missing.
    """
    plan, where = archive.plan, archive.layout.named
    if arm is None and against is not None:
        raise UserError("--against goes with --arm")
    largest = largest_factorial(plan) if against is None else None
    if largest is not None and arm in (None, largest.arm):
        return largest
    if arm is None:
        raise UserError(
            "no two arms have all combinations of what they differ in, so causes cannot be told apart",
            where=where,
            what_to_do="`txop plan causes PLAN --arm ARM` makes a plan that has them",
            exit_code=ExitCode.UNDECIDED,
        )
    chosen = factorial(plan, arm, against or plan.baseline)
    if len(chosen.factors) < 2:
        raise UserError(
            f"{arm} and {chosen.against} differ in {plural(len(chosen.factors), 'thing')}", where=where,
            what_to_do="`txop compare` says what one change does",
        )  # fmt: skip
    if chosen.missing:
        raise UserError(
            f"{len(chosen.missing)} of {2 ** len(chosen.factors)} combinations of {arm} and {chosen.against} are "
            "missing",
            where=where,
            what_to_do=f"`txop plan causes PLAN --arm {arm}` makes a plan that has them",
            exit_code=ExitCode.UNDECIDED,
        )
    return chosen


def causes_of(archive: Archive, compared: CompareResult, chosen: Factorial, figure: str | None = None) -> Causes:
    """What each difference does.

    Args:
        archive: The archive.
        compared: It compared.
        chosen: Arms that have all combinations.
        figure: ``TEST.METRIC``; default: the first primary one.

    Raises:
        UserError: There is no such figure, or not in all combinations.
    """
    found = _figure(compared.figures, figure, archive.layout.named)
    values = {values.arm: {point.block: point.value for point in values.points} for values in found.arms}
    samples: dict[int, dict[Corner, float]] = {}
    blocks = sorted({block for by_block in values.values() for block in by_block})
    for block in blocks:
        at = {corner: values.get(arm, {}).get(block) for corner, arm in chosen.arms.items()}
        if all(value is not None for value in at.values()):
            samples[block] = {corner: value for corner, value in at.items() if value is not None}
    if not samples:
        raise UserError(
            f"no block has a valid run of every combination with {found.name}",
            where=archive.layout.named,
            exit_code=ExitCode.UNDECIDED,
        )
    count = len(chosen.factors)
    nothing, everything = frozenset[int](), frozenset(range(count))
    before = fmean(sample[nothing] for sample in samples.values())
    relative = found.metric.scale == "ratio" and before > 0
    scale = 100 / before if relative else 1.0
    scaled = [{corner: value * scale for corner, value in sample.items()} for sample in samples.values()]
    confidence = archive.plan.design.confidence

    shares = [shapley(sample, count) for sample in scaled]
    causes = [
        Cause(
            factor.name,
            factor.words,
            effect([share[number] for share in shares], confidence),
            effect([alone(sample, number) for sample in scaled], confidence),
            effect([last(sample, number, count) for sample in scaled], confidence),
        )
        for number, factor in enumerate(chosen.factors)
    ]
    plan = archive.plan
    outside = plan.baseline if plan.baseline not in chosen.arms.values() else None
    return Causes(
        figure=found.name,
        unit="%" if relative else found.metric.unit,
        confidence=confidence,
        arm=chosen.arm,
        against=chosen.against,
        blocks=tuple(samples),
        left_out=len(blocks) - len(samples),
        before=before,
        after=fmean(sample[everything] for sample in samples.values()),
        whole=effect([whole(sample, count) for sample in scaled], confidence),
        causes=tuple(sorted(causes, key=lambda cause: -abs(cause.share.mean))),
        together=effect([together(sample, count) for sample in scaled], confidence),
        baseline=outside,
        residual=None if outside is None else _residual(values.get(outside, {}), samples, scale, confidence),
        origin=compared.origin.value,
    )


def _figure(figures: list[ComparedFigure], name: str | None, where: str) -> ComparedFigure:
    if name is None:
        chosen = next((each for each in figures if each.role == "primary"), None)
        if chosen is None:
            raise UserError("there is no primary figure", where=where, exit_code=ExitCode.UNDECIDED)
        return chosen
    chosen = next((each for each in figures if each.name == name), None)
    if chosen is None:
        raise UserError(f"has no figure {name}", where=where, what_to_do=did_you_mean(name, [f.name for f in figures]))
    return chosen


def _residual(
    baseline: Mapping[int, float | None], samples: Mapping[int, Mapping[Corner, float]], scale: float, confidence: float
) -> Effect | None:
    found = [
        (sample[frozenset()] - before) * scale
        for block, sample in samples.items()
        if (before := baseline.get(block)) is not None
    ]
    return effect(found, confidence) if found else None

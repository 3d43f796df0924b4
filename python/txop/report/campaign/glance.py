"""The first screen of the page: effects, time on the air and a line for each arm, readable in ten seconds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from txop.air.page.causes import ink
from txop.air.view.glyphs import glyph
from txop.archive.reader import Archive
from txop.compare import words
from txop.compare.answer import rows_between
from txop.compare.result import Answer, ComparedFigure, CompareResult, Row
from txop.present.format import share
from txop.report.answer.air_digest import LABELS, Digest, digest
from txop.report.answer.because import because
from txop.report.answer.figures import FigureRow, chosen, label, rows
from txop.report.answer.scorecard import Score
from txop.report.answer.setup import how_much, targets
from txop.report.answer.wording import SIGNS, TONES, listed
from txop.report.campaign.pieces import Tone

MOST_ROWS = 9
MOST_ARMS = 3
"""Arms beside the baseline in the table of effects; chapter 1 has them all."""
_MOST_BARS = 6
_MOST_NAMED = 3
_LEAST_SHARE = 0.005
_ROOM = 1.12
"""Length of an axis over the farthest end of an interval on it."""


@dataclass(frozen=True)
class Mark:
    """Where an effect is drawn, in percent of the width of its cell; the middle is no difference."""

    at: float
    start: float
    width: float
    band_start: float
    band_width: float
    """The margin."""


@dataclass(frozen=True)
class EffectCell:
    """An arm in a figure."""

    median: str
    change: str
    interval: str
    sign: str
    said: str
    tone: Tone
    mark: Mark | None
    """``None`` without an interval."""


@dataclass(frozen=True)
class EffectRow:
    """A figure in all arms."""

    label: str
    primary: bool
    baseline: str
    cells: Sequence[EffectCell]


@dataclass(frozen=True)
class BarStep:
    """A share of the time on the air."""

    cause: str
    label: str
    share: float


@dataclass(frozen=True)
class Bar:
    """The time on the air of an arm."""

    arm: str
    steps: Sequence[BarStep]


@dataclass(frozen=True)
class ArmLine:
    """An arm in a line: what it gains, what it costs, and why."""

    arm: str
    against: str
    sign: str
    tone: Tone
    gains: str
    costs: str
    undecided: str
    why: Sequence[str]


@dataclass(frozen=True)
class Glance:
    """The first screen."""

    strip: Sequence[str]
    baseline: str
    arms: Sequence[str]
    effects: Sequence[EffectRow]
    effects_note: str
    bars_test: str
    bars: Sequence[Bar]
    keys: Sequence[BarStep]
    """Causes of all bars, once."""
    lines: Sequence[ArmLine]


def glance(archive: Archive, result: CompareResult) -> Glance:
    """The first screen of a comparison; parts without figures are empty."""
    arms = [arm.name for arm in result.arms if arm.name != result.baseline][:MOST_ARMS]
    found, _ = rows(result, chosen(result)[:MOST_ROWS])
    effects = [_effect(row, result.baseline, arms) for row in found]
    test, bars = _bars(archive, result)
    return Glance(
        strip=_strip(archive, result),
        baseline=result.baseline,
        arms=arms,
        effects=effects,
        effects_note=_note(result, effects),
        bars_test=test,
        bars=bars,
        keys=_keys(bars),
        lines=[_line(archive, result, answer) for answer in result.answers if answer.against == result.baseline],
    )


def _strip(archive: Archive, result: CompareResult) -> list[str]:
    facts = how_much(result)
    for each in targets(archive):
        if each.name == "dut":
            facts += [part for part in (each.what, each.driver) if part]
    environment = {key: str(text) for key, text in result.environment.items()}
    facts += [
        f"{name} {environment[key]}" for key, name in (("ap", "AP"), ("channel", "channel")) if key in environment
    ]
    return [*facts, f"txop {result.txop}"]


def _effect(row: FigureRow, baseline: str, arms: Sequence[str]) -> EffectRow:
    known = {each.arm: each for each in row.figure.rows}
    ends = [abs(end) for arm in arms if (each := known.get(arm)) is not None for end in _ends(each)]
    reach = max([*ends, max((each.margin for each in known.values()), default=0.0)], default=0.0) * _ROOM
    return EffectRow(
        row.label,
        row.primary,
        row.scores[baseline].text if baseline in row.scores else "",
        [_cell(row.scores[arm], known.get(arm), reach) for arm in arms if arm in row.scores],
    )


def _ends(row: Row) -> list[float]:
    """Finite ends of an effect and its interval."""
    return [end for end in (row.low, row.estimate, row.high) if end is not None and math.isfinite(end)]


def _cell(score: Score, row: Row | None, reach: float) -> EffectCell:
    if row is None or score.verdict is None:
        return EffectCell(score.text, score.change, "", "", "", "", None)
    tone: Tone = TONES[row.verdict]
    mark = _mark(row, reach) if reach > 0 else None
    return EffectCell(score.text, score.change, score.interval, SIGNS[row.verdict], score.said, tone, mark)


def _mark(row: Row, reach: float) -> Mark | None:
    if row.estimate is None or row.low is None or row.high is None:
        return None

    def place(effect: float) -> float:
        return round(50 + 50 * max(-1.0, min(1.0, effect / reach)), 2)

    low, high = place(row.low), place(row.high)
    band = place(-row.margin), place(row.margin)
    return Mark(place(row.estimate), low, round(high - low, 2), band[0], round(band[1] - band[0], 2))


def _note(result: CompareResult, effects: Sequence[EffectRow]) -> str:
    more = len(result.arms) - 1 - MOST_ARMS
    parts = ["* primary" if any(row.primary for row in effects) else "", "grey: the margin"]
    parts.append(f"interval of {100 * result.design.confidence:g} % for the change against {result.baseline}")
    if more > 0:
        parts.append(f"{more} more arms in chapter 1")
    return "; ".join(part for part in parts if part)


def _bars(archive: Archive, result: CompareResult) -> tuple[str, list[Bar]]:
    """The first test with captures, declared ones first, and a bar for each arm."""
    main = dict.fromkeys(figure.test for figure in result.figures if figure.role == "primary")
    for test in [*main, *(test.name for test in result.tests if test.name not in main)]:
        counted = {p.run for f in result.figures if f.test == test for v in f.arms for p in v.points}
        found = [
            each
            for arm in result.arms[:_MOST_BARS]
            if (each := digest(arm.name, [r for r in archive.runs if r.run in counted and r.arm == arm.name])).shares
        ]
        if found:
            return test, [Bar(each.arm, _steps(each)) for each in found]
    return "", []


def _steps(of: Digest) -> list[BarStep]:
    causes = [*(cause for cause in LABELS if cause in of.shares), *sorted(of.shares.keys() - LABELS.keys())]
    return [BarStep(cause, of.label(cause), of.shares[cause]) for cause in causes if of.shares[cause] >= _LEAST_SHARE]


def _keys(bars: Sequence[Bar]) -> list[BarStep]:
    """Every cause of the bars with its largest share, in the order of the bars."""
    most: dict[str, BarStep] = {}
    for step in (step for bar in bars for step in bar.steps):
        if step.cause not in most or step.share > most[step.cause].share:
            most[step.cause] = step
    order = {cause: place for place, cause in enumerate(LABELS)}
    return sorted(most.values(), key=lambda step: order.get(step.cause, len(order)))


def _line(archive: Archive, result: CompareResult, answer: Answer) -> ArmLine:
    found = rows_between(result.figures, answer.arm, answer.against, result.baseline)
    named = {*answer.primary, *answer.gains, *answer.costs}
    known = {figure.name: (figure, row) for figure, row in found if figure.name in named}
    primary = [known[name] for name in answer.primary if name in known]

    def those(verdict: str, more: Sequence[str]) -> list[str]:
        pairs = [pair for pair in primary if pair[1].verdict == verdict]
        pairs += [known[name] for name in more if name in known]
        texts = [_changed(figure, row) for figure, row in pairs]
        left = len(texts) - _MOST_NAMED
        return [*texts[:_MOST_NAMED], *([f"{left} more"] if left > 0 else [])]

    reached = {row.verdict for _, row in primary}
    only = reached.pop() if len(reached) == 1 else None
    undecided = [_named(figure) for figure, row in primary if row.verdict == "inconclusive"]
    equal = [_named(figure) for figure, row in primary if row.verdict == "equivalent"]
    rest = [
        *([f"undecided: {listed(undecided)}"] if undecided else []),
        *([f"equivalent: {listed(equal)}"] if equal else []),
    ]
    return ArmLine(
        answer.arm,
        answer.against,
        "◆" if only is None else SIGNS[only],
        "" if only is None else TONES[only],
        "; ".join(those("better", answer.gains)),
        "; ".join(those("worse", answer.costs)),
        "; ".join(rest),
        [each.brief for each in because(archive, result, answer.arm, answer.against)],
    )


def _named(figure: ComparedFigure) -> str:
    return label(figure.test, figure.metric).rpartition(",")[0] or label(figure.test, figure.metric)


def _changed(figure: ComparedFigure, row: Row) -> str:
    return f"{_named(figure)} {words.change(row)}"


def drawn_with() -> dict[str, object]:
    """What the template needs to draw bars."""
    return {"ink": ink, "glyph": glyph, "share": share}

"""The figures that a small display shows of a comparison, each arm in the words of the scorecard."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from txop.compare.result import ComparedFigure, CompareResult, MetricFacts
from txop.core.metrics import fact_of
from txop.report.answer.scorecard import Score, score_of, usual_runs
from txop.report.answer.wording import unit

_SHORT = {
    "air_retry_percent": "retries (capture)",
    "retry_percent": "retries (driver)",
}
"""Titles that are longer elsewhere; retries are those of 802.11."""

_MATTER: tuple[tuple[str, ...], ...] = (
    ("throughput_mbit_s",),
    ("throughput_up_mbit_s",),
    ("throughput_down_mbit_s",),
    ("rtt_p50_ms",),
    ("rtt_p95_ms",),
    ("air_retry_percent", "retry_percent"),
)
"""What is shown beside the primary figures, and of each the metric that says most among those that runs have."""


@dataclass(frozen=True)
class FigureRow:
    """A figure in all arms."""

    figure: ComparedFigure
    label: str
    scores: Mapping[str, Score]
    """By arm."""

    @property
    def primary(self) -> bool:
        """Whether it was declared before the campaign."""
        return self.figure.role == "primary"


def label(test: str, metric: MetricFacts) -> str:
    """A figure in few letters: ``tx RTT p50, ms``."""
    return _name(test, metric) + unit(metric)


def _name(test: str, metric: MetricFacts) -> str:
    """A figure without its unit."""
    return f"{test} {_SHORT.get(metric.key, metric.title)}"


def _quantity(figure: ComparedFigure) -> tuple[str, str]:
    """What a figure is a view of: the test, and the quantity."""
    return figure.test, fact_of(figure.metric.key)[0]


def chosen(result: CompareResult) -> list[ComparedFigure]:
    """Figures, those first that matter most: the primary ones, those in which an arm is named as worse, throughput,
    round trips and retries, then those in which an arm is named as better."""
    known = {figure.name: figure for figure in result.figures if any(values.n for values in figure.arms)}
    order = [figure.name for figure in known.values() if figure.role == "primary"]
    order += [name for answer in result.answers for name in answer.costs]
    keys = {(figure.test, figure.metric.key) for figure in known.values()}
    for test in result.tests:
        for views in _MATTER:
            order += [f"{test.name}.{key}" for key in views if (test.name, key) in keys][:1]
    order += [name for answer in result.answers for name in answer.gains]
    return [known[name] for name in dict.fromkeys(order) if name in known]


def rows(result: CompareResult, figures: Sequence[ComparedFigure]) -> tuple[list[FigureRow], int | None]:
    """The figures in all arms, and how many runs all of them are of; ``None`` where these numbers differ, so that each
    score says its own."""
    usual = usual_runs(figures)
    return [
        FigureRow(
            figure,
            label(figure.test, figure.metric),
            {arm.name: score_of(result, figure, figure.test, figure.metric, arm.name, usual) for arm in result.arms},
        )
        for figure in figures
    ], usual


def not_shown(result: CompareResult, arm: str, against: str, shown: Sequence[ComparedFigure]) -> tuple[int, list[str]]:
    """Gains (counted) and costs (by name) of an arm that are in none of the figures shown, each quantity once.

    A cost is left out only where its own figure is shown, or another view of the quantity that is worse, too.
    """
    answer = next(each for each in result.answers if (each.arm, each.against) == (arm, against))
    known = {figure.name: figure for figure in result.figures}
    gains = [known[name] for name in answer.gains if name in known]
    costs = [known[name] for name in answer.costs if name in known]
    here = {_quantity(figure) for figure in shown}
    worse_here = {
        _quantity(figure) for figure in shown if any(row.arm == arm and row.verdict == "worse" for row in figure.rows)
    }
    names = {figure.name for figure in shown}
    absent = [each for each in costs if each.name not in names and _quantity(each) not in worse_here]
    return sum(_quantity(each) not in here for each in gains), [_name(each.test, each.metric) for each in absent]

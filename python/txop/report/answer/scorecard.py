"""The scorecard: each arm in throughput, latency, retries and CPU, as far as there are figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from txop.compare import words
from txop.compare.result import ComparedFigure, CompareResult, MetricFacts, Verdict
from txop.core.metrics import OF_THE_MACHINE
from txop.core.origin import Origin
from txop.present.format import NOT_AVAILABLE, capital, plural
from txop.report.answer.wording import median, unit

_KINDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("throughput", ("throughput_mbit_s",)),
    ("throughput", ("throughput_up_mbit_s",)),
    ("throughput", ("throughput_down_mbit_s",)),
    ("latency", ("rtt_p95_ms",)),
    ("802.11 retries", ("air_retry_percent", "retry_percent")),
    ("CPU", ("cpu_s_per_gbit", "cpu_total_s_per_gbit", "cpu_busy_percent")),
)
"""What is looked at, and of each the metric that says most among those that runs have."""

Absence = Literal["not-of-test", "unavailable"]
"""``not-of-test``: the test does not measure it, and nothing went wrong. ``unavailable``: it was to be there."""

_NOT_OF_TEST = "not measured in this test"

MOST_TESTS = 4
_MOST_DECLARED = 2


@dataclass(frozen=True)
class Score:
    """One figure of one arm."""

    text: str
    """The median; why there is none."""
    change: str = ""
    """Against the baseline; empty for the baseline itself."""
    verdict: Verdict | None = None
    said: str = ""
    """The verdict in words."""
    interval: str = ""
    """Of the change, without its unit; empty where there is none."""
    n: str = ""
    """What the median and the change are of, where it is not what the other figures are of."""
    absence: Absence | None = None
    """Why there is no median; ``None`` where there is one."""


@dataclass(frozen=True)
class ScoreRow:
    """An arm in a test."""

    test: str
    arm: str
    scores: Sequence[Score]


@dataclass(frozen=True)
class Scorecard:
    """Arms × figures."""

    columns: Sequence[str]
    rows: Sequence[ScoreRow]
    notes: Sequence[str]


def scorecard(result: CompareResult) -> Scorecard | None:
    """The scorecard of a comparison; ``None`` when no run has any of its figures."""
    metrics, absent = _chosen(result)
    if not metrics:
        return None
    known = {(figure.test, figure.metric.key): figure for figure in result.figures}
    declared = [test.name for test in result.tests if any(_is_main(f, test.name) for f in result.figures)]
    tests = [*declared, *(test.name for test in result.tests if test.name not in declared)]
    tests = [test for test in tests if any(_has_values(known.get((test, m.key))) for m in metrics)]
    usual = _usual(result, metrics, tests[:MOST_TESTS])
    rows = [
        ScoreRow(
            test, arm.name, [score_of(result, known.get((test, m.key)), test, m, arm.name, usual) for m in metrics]
        )
        for test in tests[:MOST_TESTS]
        for arm in result.arms
    ]
    how = f"n={plural(usual, 'run')} of each arm" if usual else "n in each cell"
    notes = [
        f"Medians ({how}); change against {result.baseline}: Hodges-Lehmann estimate.",
        origin_note(result),
    ]
    if any(score.absence == "not-of-test" for row in rows for score in row.scores):
        notes.append(f"{NOT_AVAILABLE}: {_NOT_OF_TEST}.")
    if len(tests) > MOST_TESTS:
        notes.append(f"{len(tests) - MOST_TESTS} more tests are in the tables of effects.")
    return Scorecard([f"{m.title}{unit(m)}" for m in metrics], rows, [*notes, *absent])


def origin_note(result: CompareResult) -> str:
    """The note that says what kind of figures these are."""
    return f"Origin: {result.origin.value}."


def _is_main(figure: ComparedFigure, test: str) -> bool:
    return figure.test == test and figure.role == "primary"


def _has_values(figure: ComparedFigure | None) -> bool:
    return figure is not None and any(values.n for values in figure.arms)


def _chosen(result: CompareResult) -> tuple[list[MetricFacts], list[str]]:
    """The metrics, and why a kind has none."""
    known = {figure.metric.key: figure.metric for figure in result.figures if _has_values(figure)}
    if result.origin is Origin.EMULATED:  # what the emulator costs its machine is no finding about a driver
        known = {key: metric for key, metric in known.items() if key not in OF_THE_MACHINE}
    everywhere = {
        key: sum(values.n for f in result.figures if f.metric.key == key for values in f.arms) for key in known
    }
    kinds = {key for _, keys in _KINDS for key in keys}
    declared = [f.metric.key for f in result.figures if f.role == "primary" and f.metric.key in known]
    chosen: dict[str, None] = {}
    absent: dict[str, str] = {}
    found: set[str] = set()
    for kind, keys in _KINDS:
        here = [key for key in keys if key in known]
        if here:
            chosen[max(here, key=lambda key: everywhere[key])] = None
            found.add(kind)
        elif not (result.origin is Origin.EMULATED and OF_THE_MACHINE.issuperset(keys)):
            absent.setdefault(kind, _reason(result, keys) or "not measured")
    chosen |= dict.fromkeys([key for key in dict.fromkeys(declared) if key not in kinds][:_MOST_DECLARED])
    notes = [f"{capital(kind)}: not available: {why}." for kind, why in absent.items() if kind not in found]
    return [known[key] for key in chosen], notes


def _reason(result: CompareResult, keys: Sequence[str], test: str = "", arm: str = "") -> str | None:
    """Why figures are missing, in the words of the comparison; ``None``: it says nothing of them."""
    for entry in result.not_available:
        of_test, _, key = entry.figure.rpartition(".")
        if key in keys and (not test or of_test == test) and (not arm or entry.arm in (None, arm)):
            return entry.reason
    return None


def _has_runs(result: CompareResult, test: str, arm: str) -> bool:
    """Whether any run of an arm counts in a test."""
    return any(v.n for figure in result.figures if figure.test == test for v in figure.arms if v.arm == arm)


def _usual(result: CompareResult, metrics: Sequence[MetricFacts], tests: Sequence[str]) -> int | None:
    """The number of runs that all figures shown are of; ``None`` when they are of different ones."""
    keys = {metric.key for metric in metrics}
    return usual_runs([figure for figure in result.figures if figure.test in tests and figure.metric.key in keys])


def usual_runs(shown: Sequence[ComparedFigure]) -> int | None:
    """The number of runs that all of these figures are of; ``None`` when they are of different ones."""
    numbers = {values.n for figure in shown for values in figure.arms if values.n}
    numbers |= {row.n for figure in shown for row in figure.rows}
    return numbers.pop() if len(numbers) == 1 else None


def score_of(
    result: CompareResult, figure: ComparedFigure | None, test: str, metric: MetricFacts, arm: str, usual: int | None
) -> Score:
    """A figure of a test in one arm; ``figure`` is ``None`` where no run has it. ``usual``: the number of runs that all
    figures shown are of."""
    values = next((v for v in figure.arms if v.arm == arm), None) if figure is not None else None
    if figure is None or values is None or not values.n:
        why = _reason(result, [metric.key], test, arm)
        if why is None and not _has_runs(result, test, arm):
            why = "no run counts"
        if why is None:
            return Score(NOT_AVAILABLE, absence="not-of-test")
        return Score(f"not available: {why}", absence="unavailable")
    row = next((row for row in figure.rows if row.arm == arm), None)
    n = "" if usual else f"n={values.n}" + (f", change n={row.n}" if row is not None and row.n != values.n else "")
    text = median(values, metric).text
    if row is None:
        why = _reason(result, [metric.key], test, arm)
        if why is None:
            counts = _has_runs(result, test, result.baseline)
            why = _NOT_OF_TEST if counts else f"no run of {result.baseline} counts"
        note = "" if arm == result.baseline else f"change not available: {why}"
        return Score(text, note, n=n)
    ends = words.interval(row, unit=False) or ""
    return Score(text, words.change(row), row.verdict, words.verdict(row), ends, n)

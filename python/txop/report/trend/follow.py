"""Follows the figures of an arm from archive to archive: exact, unpaired, and adjusted for the number of steps.

A change point is a step with the verdict better or worse. Each archive is one campaign, so what differs between two of
them may be the driver, and may be anything else: the facts that they record differently are named beside every step.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import PurePosixPath

from txop.archive.counting import counting, figure_value
from txop.archive.layout import Layout
from txop.archive.reader import Archive
from txop.archive.run_file import RunFile
from txop.compare.facts import plain
from txop.compare.infinite import JudgedComparison, compare_values
from txop.compare.select import CompareError, check_comparable, metric_of, one_origin, primary_of
from txop.core.metrics import Metric
from txop.core.nearest import did_you_mean
from txop.core.origin import NOT_RADIO, Origin
from txop.plan.measurement import Test
from txop.report import facts
from txop.report.trend.result import ArchiveDifference, Changed, FigureTrend, Point, Release, Step, Trend
from txop.report.trend.sentences import between_sentence, headline, step_sentence
from txop.stats.settings import ComparisonSettings
from txop.stats.verdict import with_holm

MOST_CHANGED = 30
"""How many facts between two archives are named."""

_NOT_RECORDED = "not recorded"
"""What stands for a fact that one of two archives lacks."""

_NOT_OF_A_RELEASE = ("boot", "time", "uptime", "clock", "seconds", "temperature")
"""Words in names of facts that differ between any two campaigns, and explain nothing."""
_OF_EACH_RUN = frozenset({"seed", "guest_sha256"})
"""Last parts of names of facts that differ between any two runs: what a run draws its chances from, and the hash of
what a guest gave."""


@dataclass
class _Draft:
    """A step before all steps are adjusted together."""

    figure: int
    before: int
    after: int
    judged: JudgedComparison


def follow(archives: Sequence[Archive], arm: str | None = None, metrics: Sequence[str] | None = None) -> Trend:
    """Follow the figures of ``arm`` through ``archives``.

    Args:
        archives: Two or more; they are put in the order in which their first runs began, where all record it.
        arm: Its name in all of them; default: the baseline of the first.
        metrics: ``TEST.METRIC``; default: the primary figures of the last archive.

    Raises:
        CompareError: fewer than two archives, figures of different origin, an archive without the arm, or a figure
            that none has.
    """
    if len(archives) < 2:
        where = archives[0].layout.named if archives else None
        what, to_do = "is one archive, and a trend has two or more", "name the archives of other releases, too"
        raise CompareError(what, where=where, what_to_do=to_do)  # type: ignore[arg-type] # there is one at least
    ordered, dated = _in_time(archives)
    origin = _one(ordered)
    name = arm or ordered[0].plan.baseline
    for archive in ordered:
        known = [each.name for each in archive.plan.arm]
        if name not in known:
            raise CompareError(f"has no arm {name}", where=archive.layout.named, what_to_do=did_you_mean(name, known))
    labels = _labels(ordered)
    releases = [
        Release(
            archive.layout.named, archive.plan.title, label, _began(archive), origin.value,
            sum(run.arm == name and run.state == "valid" for run in archive.runs),
        )
        for archive, label in zip(ordered, labels, strict=True)
    ]  # fmt: skip
    last = ordered[-1]
    chosen = list(metrics) if metrics else primary_of(last, last.runs)[0]
    figures, drafts = [], []
    for place, figure in enumerate(chosen):
        followed, mine = _figure(ordered, labels, name, figure, place)
        figures.append(followed)
        drafts += mine
    adjusted = with_holm([draft.judged.comparison for draft in drafts])
    for draft, comparison in zip(drafts, adjusted, strict=True):
        draft.judged = replace(draft.judged, comparison=comparison)
    between = [_between(ordered, labels, name, place) for place in range(1, len(ordered))]
    figures = [_with_steps(figure, place, drafts, labels) for place, figure in enumerate(figures)]
    warnings = ["Unpaired, drift not controlled: whatever changed between two archives is in the step between them."]
    if not dated:
        warnings.append("Not every archive records when it began: they are in the order in which they were named.")
    if origin in (Origin.GUEST_EXACT, Origin.GUEST_FAST):
        warnings.append(NOT_RADIO)
    return Trend(
        name, releases, figures, between, headline(name, figures, between, labels), warnings,
        [f"{label}: {sentence}" for archive, label in zip(ordered, labels, strict=True)
         for sentence in archive.damage],
    )  # fmt: skip


def _figure(
    archives: Sequence[Archive], labels: Sequence[str], arm: str, name: str, place: int
) -> tuple[FigureTrend, list[_Draft]]:
    test_name, _, key = name.partition(".")
    first: tuple[Test, Metric] | None = None
    points: list[Point] = []
    values: dict[int, list[float]] = {}
    missing = []
    for number, archive in enumerate(archives):
        test = next((each for each in archive.plan.test if each.name == test_name), None)
        if test is None:
            missing.append(f"{labels[number]}: its plan has no test {test_name}")
            continue
        if first is not None and (setting := _difference(first[0], test)) is not None:
            missing.append(f"{labels[number]}: its test {test_name} is another one ({setting})")
            continue
        runs = counting(archive, test_name).alone(arm)
        if any(run.metrics[key].bound for run in runs if key in run.metrics):
            missing.append(f"{labels[number]}: bounds, which are not compared")
            continue
        found = [value for run in runs if (value := figure_value(run, key)) is not None]
        if not found:
            missing.append(f"{labels[number]}: {_why_not(runs, key)}")
            continue
        first = first or (test, metric_of(archive.plan, test, key))
        values[number] = found
        finite = [value for value in found if math.isfinite(value)]
        median = statistics.median(found)
        points.append(
            Point(
                number, len(found), median if math.isfinite(median) else None, min(finite, default=None),
                max(finite, default=None), len(found) - len(finite),
            )
        )  # fmt: skip
    if first is None:
        raise CompareError(f"has no figure {name}, nor has any other archive", where=archives[0].layout.named)
    metric = first[1]
    there = [point.release for point in points]
    pairs = list(pairwise(there)) + ([(there[0], there[-1])] if len(there) > 2 else [])
    drafts = []
    for before, after in pairs:
        confidence = archives[-1].plan.design.confidence
        settings = ComparisonSettings.of(metric, labels[before], labels[after], confidence=confidence)
        judged = compare_values(values[before], values[after], settings, paired=False)
        drafts.append(_Draft(place, before, after, judged))
    title = f"{test_name} {metric.title}"
    return FigureTrend(name, title, metric.unit, metric.better, points, [], None, missing), drafts


def _with_steps(figure: FigureTrend, place: int, drafts: Sequence[_Draft], labels: Sequence[str]) -> FigureTrend:
    mine = [_step(draft, figure, labels) for draft in drafts if draft.figure == place]
    whole = mine.pop() if len(figure.points) > 2 else None
    return FigureTrend(
        figure.name, figure.title, figure.unit, figure.better, figure.points, mine, whole, figure.missing
    )


def _step(draft: _Draft, figure: FigureTrend, labels: Sequence[str]) -> Step:
    c, shown = draft.judged.comparison, draft.judged.shown
    unit = c.unit if c.scale == "ratio" else "pp" if figure.unit == "%" else figure.unit
    estimate, low, high = (_finite(shown(value)) for value in (c.estimate, c.low, c.high))
    step = Step(
        draft.before, draft.after, c.n_baseline, c.n_arm, unit, estimate, low, high, c.attained_confidence, c.p,
        c.p_adjusted, c.verdict or "not-judged", "",
    )  # fmt: skip
    sentence = step_sentence(figure.title, step, labels)
    return Step(**{**step.__dict__, "sentence": sentence})


def _between(archives: Sequence[Archive], labels: Sequence[str], arm: str, after: int) -> ArchiveDifference:
    one, other = (_facts(archives[number], arm) for number in (after - 1, after))
    names = [*one, *(name for name in other if name not in one)]
    changed = [
        Changed(name, one.get(name, _NOT_RECORDED), other.get(name, _NOT_RECORDED))
        for name in sorted(names, key=lambda name: not (name in one and name in other))
        if one.get(name) != other.get(name)
    ]
    known = changed[:MOST_CHANGED]
    return ArchiveDifference(
        after - 1, after, known, between_sentence(known, len(changed), labels[after - 1], labels[after])
    )


def _facts(archive: Archive, arm: str) -> dict[str, str]:
    """Everything an archive records of what was measured, by name."""
    found: dict[str, str] = {f"arm: {name}": text for name, text in facts.loaded_arms(archive).get(arm, [])}
    planned = archive.plan.find_arm(arm)
    found["arm: described as"] = ", ".join(part for part in (planned.shown, planned.description) if part)
    found["arm: patches"] = "; ".join(patch.description for patch in planned.patches) or "none"
    for target, entries in facts.targets(archive).items():
        found.update({f"{target}: {name}": text for name, text in entries})
    for run in archive.runs:
        if run.arm == arm and run.state == "valid":
            for target, inner in run.provenance.items():
                found.update({f"{target}: {name}": text for name, text in facts.flattened(inner)})
            break
    found.update({f"environment: {name}": plain(value) for name, value in archive.plan.environment.items()})
    return {name: text for name, text in found.items() if not _differs_anyway(name)}


def _differs_anyway(name: str) -> bool:
    """Whether a fact differs between campaigns of the very same thing.

    >>> [_differs_anyway(name) for name in ("arm: link.run.seed", "dut: uptime_s", "arm: link.seeds", "dut: kernel")]
    [True, True, False, False]
    """
    last = name.rpartition(": ")[2].rpartition(".")[2]
    return last in _OF_EACH_RUN or any(word in name.lower() for word in _NOT_OF_A_RELEASE)


def _in_time(archives: Sequence[Archive]) -> tuple[list[Archive], bool]:
    times = [_began(archive) for archive in archives]
    if any(time is None for time in times):
        return list(archives), False
    order = sorted(range(len(archives)), key=lambda number: (str(times[number]), number))
    return [archives[number] for number in order], True


def _began(archive: Archive) -> str | None:
    """The earliest start of a run."""
    return min((run.started_at for run in archive.runs if run.started_at), default=None)


def _one(archives: Sequence[Archive]) -> Origin:
    for archive in archives[1:]:
        check_comparable(archives[0], archive)
    return one_origin(archives[0])


def _labels(archives: Sequence[Archive]) -> list[str]:
    names = [_name(archive.layout) for archive in archives]
    if len(set(names)) == len(names):
        return names
    return [f"{number} ({name})" for number, name in enumerate(names, start=1)]


def _name(layout: Layout) -> str:
    return PurePosixPath(layout.named).name if layout.in_store else layout.root.resolve().name


def _why_not(runs: Sequence[RunFile], key: str) -> str:
    if not runs:
        return "no run of the arm counts"
    reasons = {value.reason for run in runs if (value := run.metrics.get(key)) is not None and value.reason}
    return f"no run has a figure {key}" + (f" ({sorted(reasons)[0]})" if reasons else "")


def _difference(test: Test, other: Test) -> str | None:
    a, b = test.model_dump(mode="json"), other.model_dump(mode="json")
    keys = [key for key in sorted(a.keys() | b.keys()) if a.get(key) != b.get(key)]
    return ", ".join(f"{key} {b.get(key)} in place of {a.get(key)}" for key in keys[:3]) or None


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None

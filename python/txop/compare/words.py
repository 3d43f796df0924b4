"""A comparison in words: the headline, the sentence of a row, how it was done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from txop.archive.looks import LookTaken
from txop.archive.run_file import Bound
from txop.compare.answer import rows_between
from txop.compare.result import Answer, ComparedFigure, CompareResult, DesignFacts, DirectRow, Infinity, Row, Verdict
from txop.core.metrics import describe
from txop.present.format import MINUS, NOT_AVAILABLE, plural, signed
from txop.present.format import figure as written
from txop.stats import wording
from txop.stats.label_swaps import DRAWS, EXACT_BLOCKS
from txop.stats.limits import MAX_BLOCKS

_NAMED = 6
"""How many figures one sentence of the headline names at most."""


MOST_NAMED = 3
"""Gains, and costs, that the headline names; the others are counted."""


def change(row: Row) -> str:
    """The estimate with its sign and unit: ``+31.2 %``."""
    return _effect(row.estimate, row.infinite, row.effect_unit)


def interval(row: Row, *, unit: bool = True) -> str | None:
    """The interval: ``+24.1 to +38.0 %``, or without its unit; ``None`` when there is none."""
    if row.confidence is None:
        return None
    low = _end(row.low, row.low_infinite, "below", row.effect_unit)
    high = _end(row.high, row.high_infinite, "above", row.effect_unit)
    return f"{low} to {high} {row.effect_unit if unit else ''}".rstrip()


def _end(value: float | None, infinite: Infinity | None, otherwise: Infinity, unit: str) -> str:
    """An end of an interval; one without a value is infinite, ``otherwise`` where its way was not recorded."""
    if value is not None:
        return _signed(value, unit)
    return "+∞" if (infinite or otherwise) == "above" else f"{MINUS}∞"


def p_value(p: float | None) -> str:
    """``0.008``, ``<0.001``: for a column of a table."""
    return NOT_AVAILABLE if p is None else wording.p_value(p)


def size(value: float | None, unit: str) -> str:
    """A size without a sign: ``4.1 %``."""
    return NOT_AVAILABLE if value is None else f"{_signed(abs(value), unit).lstrip('+')} {unit}".rstrip()


def label(figure: ComparedFigure) -> str:
    """A figure in words: ``tx throughput``."""
    return f"{figure.test} {figure.metric.title}"


def run_warnings(result: CompareResult) -> list[tuple[str, list[str]]]:
    """Warnings of runs that count, each once, with the runs that have it."""
    runs: dict[str, list[str]] = {}
    for run in result.run_warnings:
        for warning in dict.fromkeys(run.warnings):
            runs.setdefault(warning, []).append(run.run)
    return list(runs.items())


def run_warning_lines(result: CompareResult) -> list[str]:
    """A line for each warning of runs that count: ``001-vanilla-tx: ...``, or ``3 runs (001-vanilla-tx, ...): ...``."""
    return [
        f"{runs[0] if len(runs) == 1 else f'{len(runs)} runs ({_listed(runs, 3)})'}: {warning}"
        for warning, runs in run_warnings(result)
    ]


def unavailable(result: CompareResult) -> list[tuple[str, list[str]]]:
    """What could not be compared, by reason, in words: ``tx and rx RTT p50 (vanilla, vendor)``."""
    everyone = {arm.name for arm in result.arms}
    reasons: dict[str, dict[str, dict[str, set[str]]]] = {}
    for entry in result.not_available:
        test, _, key = entry.figure.rpartition(".")
        arms = reasons.setdefault(entry.reason, {}).setdefault(key, {}).setdefault(test, set())
        arms |= everyone if entry.arm is None else {entry.arm}
    found = []
    for reason, keys in reasons.items():
        names = []
        for key, tests in keys.items():
            title = "figures" if key == "*" else describe(key).title
            alike: dict[tuple[str, ...], list[str]] = {}
            for test, arms in tests.items():
                lacking = () if arms >= everyone else tuple(arm.name for arm in result.arms if arm.name in arms)
                alike.setdefault(lacking, []).append(test)
            for lacking, of in alike.items():
                whose = f" ({', '.join(lacking)})" if lacking else ""
                names.append(f"{_listed(of, len(of))} {title}{whose}".strip())
        found.append((reason, names))
    return found


def headline(
    figures: Sequence[ComparedFigure],
    answers: Sequence[Answer],
    baseline: str,
    design: DesignFacts,
    *,
    runs: int,
    failed: Sequence[str],
) -> list[str]:
    """The answer: a sentence per arm, and before them what limits all of them.

    Args:
        figures: Those that were compared.
        answers: Of each arm against the baseline.
        baseline: Its name.
        design: How it was done.
        runs: How many count.
        failed: Sentences about runs that no figure includes, and about cycles that failed.
    """
    sentences = [] if design.finished else [f"Preliminary, {design.state}."]
    sentences += failed
    if runs == 0:
        return [*sentences, "No valid run: there is nothing to compare."]
    if not answers:
        return [*sentences, f"{baseline} is the only arm: there is nothing to compare it with."]
    return [
        *sentences,
        *(f"{a.arm} against {a.against}: {said(figures, a, baseline, most=MOST_NAMED)}" for a in answers),
    ]


def said(
    figures: Sequence[ComparedFigure], answer: Answer, baseline: str, *, most: int | None = None, details: bool = False
) -> str:
    """An answer in a sentence.

    Args:
        figures: Those that were compared.
        answer: The answer.
        baseline: The baseline's name.
        most: Gains and costs named of each; ``None``: all.
        details: Also p of each primary figure that differs, and what n they are of.
    """
    rows = {f.name: (f, row) for f, row in rows_between(figures, answer.arm, answer.against, baseline)}
    primary = [rows[name] for name in answer.primary if name in rows]
    if not primary:
        parts = [f"no primary figure could be compared with {answer.against}"]
    elif all(row.n <= 1 for _, row in primary):
        parts = [f"{_listed([changed(f, r) for f, r in primary])} (n=1, which says nothing about chance)"]
    else:
        parts = [
            f"{intro} {_listed([_with_evidence(f, r, details=details) for f, r in of])}"
            for verdict, intro in _INTRODUCED
            if (of := [(figure, row) for figure, row in primary if row.verdict == verdict])
        ]
        if details and (judged := [row for _, row in primary if row.verdict != "not-judged"]):
            parts[-1] += f" ({_basis(judged)})"
    parts += _exploratory(rows, answer, most)
    unpaired = " Unpaired: drift is not controlled." if any(not row.paired for _, row in rows.values()) else ""
    return "; ".join(parts) + "." + unpaired


_INTRODUCED: tuple[tuple[Verdict, str], ...] = (
    ("better", "better in"),
    ("worse", "worse in"),
    ("equivalent", "equivalent in"),
    ("not-judged", "informational:"),
    ("inconclusive", "no verdict on"),
)


def _exploratory(rows: Mapping[str, tuple[ComparedFigure, Row]], answer: Answer, most: int | None) -> list[str]:
    """What else moved, by the same rule whichever way it did, and among how many figures."""
    if not answer.looked_at:
        return []
    looked = plural(answer.looked_at, "exploratory figure")
    named = [
        (word, [name for name in names if name in rows])
        for word, names in (("gains", answer.gains), ("costs", answer.costs))
    ]
    usual = max((row.n for f, row in rows.values() if f.role == "primary"), default=0)
    parts = [f"{word} {_some([_brief(*rows[n], usual) for n in names], most)}" for word, names in named if names]
    if parts:
        count = sum(len(names) for _, names in named)
        parts[-1] += f" (exploratory: {count} of {plural(answer.looked_at, 'figure')})"
        return parts
    if answer.can_name:
        return [f"no verdict on any of {looked}"]
    return [f"too few blocks, or too noisy primary figures, for a verdict on any of {looked}"]


def _brief(figure: ComparedFigure, row: Row, usual: int) -> str:
    """A gain or a cost with its interval, and its n where it is not that of the primary figures."""
    ends = interval(row)
    n = f"n = {row.n}" if usual and row.n != usual else ""
    inside = ", ".join(part for part in (ends, n) if part)
    return changed(figure, row) + (f" ({inside})" if inside else "")


def _some(items: Sequence[str], most: int | None) -> str:
    if most is None or len(items) <= most:
        return ", ".join(items)
    return f"{', '.join(items[:most])} and {len(items) - most} more"


def _bounded_value(value: float | None, bound: Bound | None, figure: ComparedFigure) -> str:
    return f"{bounded(bound)}{written(value, figure.metric.digits)}"


def _basis(rows: Sequence[Row]) -> str:
    """What the intervals and p-values of a sentence are, said once: ``95 % CI, p adjusted, n = 8``."""
    numbers = sorted({row.n for row in rows})
    n = f"n = {numbers[0]}" if len(numbers) == 1 else f"n = {numbers[0]} to {numbers[-1]}"
    adjusted = "p adjusted" if any(row.p_adjusted is not None for row in rows) else "p"
    return f"{wording.level(rows[0].asked_confidence)}, {adjusted}, {n}"


def _with_evidence(figure: ComparedFigure, row: Row, *, details: bool) -> str:
    """A primary figure with its interval, and what an open one needs."""
    if row.not_judged == "bounds":
        sides = zip((row.arm_median, row.baseline_median), reversed(row.bounds), strict=True)
        arm, against = (_bounded_value(value, bound, figure) for value, bound in sides)
        return f"{label(figure)} ({arm} against {against})"
    if row.verdict == "not-judged":
        return changed(figure, row)
    ends = interval(row)
    level = "" if details else f"{wording.level(row.asked_confidence)} "
    inside = [f"{level}{ends}" if ends else "no interval"]
    if details and row.verdict != "equivalent":
        p = row.p_adjusted if row.p_adjusted is not None else row.p
        inside.append("no p" if p is None else wording.p_is(p))
    if row.verdict == "inconclusive":
        if row.blocks_needed is not None:
            inside.append(f"about {row.blocks_needed} blocks needed")
        if row.beyond_limit:
            inside.append(f"more than {MAX_BLOCKS} blocks needed")
    return f"{changed(figure, row)} ({', '.join(inside)})"


def went_wrong(test: str, counts: Sequence[tuple[str, int, int]]) -> str:
    """A sentence about the void runs of a test in which the traffic failed, or the guest went down.

    ``counts``: of each arm its name, how many, and of how many runs.

    >>> went_wrong("tx", [("a", 2, 12), ("b", 0, 12)])
    'tx went wrong in 2 of 12 runs (a) and 0 of 12 (b); no figure includes them.'
    """
    return f"{test} went wrong in {_by_arm(counts)}; no figure includes them."


def cycles_failed(test: str, counts: Sequence[tuple[str, int, int]]) -> str:
    """A sentence about the runs in which a driver or a device did not come back. A comparison does not show it where
    both arms fail.

    ``counts``: of each arm its name, how many, and of how many runs.

    >>> cycles_failed("replug", [("ath6kl", 1, 1), ("libertas", 1, 1)])
    'replug: a cycle failed in 1 of 1 run (ath6kl) and 1 of 1 (libertas).'
    """
    return f"{test}: a cycle failed in {_by_arm(counts)}."


def _by_arm(counts: Sequence[tuple[str, int, int]]) -> str:
    (arm, bad, runs), *more = [each for each in counts if each[2]]
    listed = [f"{bad} of {plural(runs, 'run')} ({arm})", *(f"{bad} of {runs} ({arm})" for arm, bad, runs in more)]
    return _listed(listed, len(listed))


def compared(row: Row) -> str:
    """The arm of a row, and what it is compared with when that is not the baseline: ``patch10``, ``p10-7 vs p10``."""
    return f"{row.arm} vs {row.against}" if isinstance(row, DirectRow) else row.arm


def verdict(row: Row) -> str:
    """The verdict in words: ``better``, ``inconclusive, n=1``."""
    text = row.verdict.replace("-", " ")
    if row.not_judged == "bounds":
        text = "bounds, informational"
    elif row.not_judged == "depends":
        text = "informational: depends on what differs"
    if row.small_but_real:
        text += ", small but real"
    return f"{text}, n=1" if row.n <= 1 else text


def moved(row: Row, unit: str = "") -> str:
    """The change of a figure, with a unit that is given. A difference of 0 without an interval would read as the figure
    itself: ``unchanged (1)``."""
    if row.estimate != 0 or row.infinite is not None or interval(row) is not None:
        return change(row)
    if row.arm_median is None or row.baseline_median is None:
        return "the same in both"
    same = row.arm_median == row.baseline_median
    return "unchanged" + (f" ({f'{row.arm_median:,.6g} {unit}'.rstrip()})" if same else "")


def changed(figure: ComparedFigure, row: Row) -> str:
    """A figure with its change: ``tx throughput +31.2 %``, ``replug failed module cycles unchanged (1)``."""
    return f"{label(figure)} {moved(row, figure.metric.unit)}"


def _listed(items: Sequence[str], most: int = _NAMED) -> str:
    shown = list(items[:most])
    if len(items) > most:
        shown.append(f"{len(items) - most} more")
    return shown[0] if len(shown) == 1 else ", ".join(shown[:-1]) + " and " + shown[-1]


def row_sentence(figure: str, row: Row, baseline: str) -> str:
    """One row in a sentence, also when something in it is infinite."""
    inside = wording.evidence(
        confidence=row.asked_confidence,
        ends=interval(row),
        n_baseline=row.n_baseline,
        n_arm=row.n_arm,
        paired=row.paired,
        p=row.p,
        p_adjusted=row.p_adjusted,
    )
    return f"{figure}: {row.arm} against {baseline} {change(row)} ({inside}): {row.verdict}"


_BOUNDS: dict[Bound, str] = {"at-least": "at least ", "at-most": "at most "}


def bounded(bound: Bound | None) -> str:
    """What stands before a value that is a bound: ``at least ``."""
    return "" if bound is None else _BOUNDS[bound]


def bounds_sentence(figure: str, row: Row, baseline: str, digits: int) -> str:
    """A row of bounds in a sentence: what is known of each side, and nothing of their difference."""
    sides = []
    for name, value, bound in zip(
        (row.arm, baseline), (row.arm_median, row.baseline_median), reversed(row.bounds), strict=True
    ):
        known = NOT_AVAILABLE if value is None else f"{written(value, digits)}"
        sides.append(f"{name} {bounded(bound)}{known}")
    return f"{figure}: {', '.join(sides)} (n={row.n}): bounds, which are not compared"


def methods(design: DesignFacts, baseline: str, *, paired: bool, two_archives: bool, direct: bool = False) -> list[str]:
    """How it was done, sentence by sentence, in words for people who did not do it. ``direct``: arms that differ by one
    change were compared with each other."""
    confidence = f"{100 * design.confidence:g} %"
    if two_archives:
        first = [
            "The runs of two campaigns were compared as two independent samples: Hodges-Lehmann shift, exact interval "
            f"({confidence}) and exact two-sided Mann-Whitney test.",
            "Whatever changed between the campaigns is in the difference: drift is not controlled.",
        ]
    elif not paired:
        first = [
            "The runs share no blocks, so they were compared as independent samples: Hodges-Lehmann shift, exact "
            f"interval ({confidence}) and exact two-sided Mann-Whitney test; drift is not controlled.",
        ]
    else:
        left_out = f"{design.warm_up_s:g} s of warm-up that is left out, and one measured window"
        fresh = f"One run is one fresh load of the arm, link set-up, {left_out}"
        once = f"Each arm was loaded once per block; one run is {left_out}"
        first = [
            f"{fresh if design.reload == 'run' else once}, summarised to one number per figure.",
            f"Every block holds every arm once, in random order (seed {design.seed}); {design.blocks_planned} blocks "
            "were fixed before the start.",
            f"Each arm is compared with {baseline} within blocks: Hodges-Lehmann estimate of the difference (of the "
            f"logarithms for ratios), exact interval ({confidence}) and exact two-sided Wilcoxon signed-rank test.",
        ]
    names = ", ".join(design.primary)
    how = "the default for these tests" if design.primary_by_default else "declared in the plan"
    count = "one comparison is" if design.family == 1 else f"{design.family} comparisons are"
    declared = (
        f"Primary figures ({how}): {names}; their {count} adjusted together (Holm). All other figures are exploratory."
        if names
        else "No figure is primary: all are exploratory."
    )
    swapped = "among the runs of each test" if two_archives or not paired else "within blocks"
    drawn = two_archives or not paired or design.blocks_planned > EXACT_BLOCKS
    ways = f"in {DRAWS:,} random ways" if drawn else "in every possible way"
    error = f"{100 * (1 - design.confidence):g} %"
    if direct:
        first.append("Arms that differ by one declared change were compared with each other in the same way.")
    return [
        *first,
        declared,
        f"Exploratory p-values: the share of label swaps ({swapped}, {ways}) with which any figure of the two arms "
        f"looks as clear, times the number of pairs of arms. Without a difference, at most {error} of campaigns name "
        "anything.",
        "Better or worse: the interval excludes no difference, the adjusted p-value agrees, and the estimate is at "
        "least the margin. Equivalent: the whole interval is within the margin. Otherwise inconclusive. A figure is "
        "informational when it is a bound, or when the arms differ in what it depends on.",
        "A run is void only for a recorded cause, and its block is repeated at the end; no other run is left out. An "
        "infinite figure (a quantile among lost probes) counts as larger than any finite one.",
        "The smallest detectable effect is what a campaign of this size and noise finds four times out of five, "
        "adjusted as the primary figures are; the blocks needed would decide four of five campaigns like this one.",
    ]


def _effect(value: float | None, infinite: str | None, unit: str) -> str:
    if infinite is not None:
        return "+∞" if infinite == "above" else "−∞"
    return NOT_AVAILABLE if value is None else f"{_signed(value, unit)} {unit}".rstrip()


def _signed(value: float, unit: str) -> str:
    if unit in ("%", "pp") or 1 <= abs(value) < 1e6:
        return signed(value, 1) if abs(value) < 1e6 else f"{value:+.3g}"
    text = f"{value:+.3g}".replace("-", MINUS)
    return "0" if text.lstrip("+" + MINUS) == "0" else text


def sequential(look: LookTaken, declared: float, finished: int) -> str:
    """How a campaign with looks is judged. ``finished``: its blocks now."""
    planned = ", ".join(map(str, look.planned))
    said = (
        f"Looks were registered after {planned} blocks. This is the one after {look.blocks}, at"
        f" {100 * look.confidence:.2f} %, so that all of them together keep {100 * declared:g} %."
    )
    if finished == look.blocks:
        return said
    return (
        f"{said} There are {plural(finished, 'block')} now, which is no registered look: its verdicts go beyond that."
    )

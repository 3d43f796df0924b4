"""A comparison in words: the headline, the sentence of a row, how it was done."""

from __future__ import annotations

from collections.abc import Sequence

from txop.compare.result import ComparedFigure, CompareResult, DesignFacts, DirectRow, Row
from txop.core.metrics import describe
from txop.present.format import MINUS, NOT_AVAILABLE, plural, signed
from txop.stats.limits import MAX_BLOCKS

_NAMED = 6
"""How many figures one sentence of the headline names at most."""

HARM = "worse in"
EXPLORATORY = " (exploratory)"
"""Around what got worse beside the primary verdict."""


def change(row: Row) -> str:
    """The estimate with its sign and unit: ``+31.2 %``."""
    return _effect(row.estimate, row.infinite, row.effect_unit)


def interval(row: Row, *, unit: bool = True) -> str | None:
    """The interval: ``+24.1 to +38.0 %``, or without its unit; ``None`` when there is none."""
    if row.confidence is None:
        return None
    low = f"{MINUS}∞" if row.low is None else _signed(row.low, row.effect_unit)
    high = "+∞" if row.high is None else _signed(row.high, row.effect_unit)
    return f"{low} to {high} {row.effect_unit if unit else ''}".rstrip()


def p_value(p: float | None) -> str:
    """``0.008``, ``<0.001``."""
    if p is None:
        return NOT_AVAILABLE
    return "<0.001" if p < 0.001 else f"{p:.3f}" if p < 0.1 else f"{p:.2f}"


def size(value: float | None, unit: str) -> str:
    """A size without a sign: ``4.1 %``."""
    return NOT_AVAILABLE if value is None else f"{_signed(abs(value), unit).lstrip('+')} {unit}".rstrip()


def label(figure: ComparedFigure) -> str:
    """A figure in words: ``tx throughput``."""
    return f"{figure.test} {figure.metric.title}"


def unavailable(result: CompareResult) -> list[tuple[str, list[str]]]:
    """What could not be compared, by reason, in words: ``tx and rx median round trip (vanilla, vendor)``."""
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
    baseline: str,
    arms: Sequence[str],
    design: DesignFacts,
    *,
    runs: int,
    failed: Sequence[str],
) -> list[str]:
    """The answer: a sentence per arm, and before them what limits all of them.

    Args:
        figures: Those that were compared.
        baseline: Its name.
        arms: Names of the others.
        design: How it was done.
        runs: How many count.
        failed: Sentences about runs that no figure includes, and about cycles that failed.
    """
    sentences = [] if design.finished else [f"Preliminary, {design.state}."]
    sentences += failed
    if runs == 0:
        return [*sentences, "No run that counts: there is nothing to compare."]
    if not arms:
        return [*sentences, f"{baseline} is the only arm: there is nothing to compare it with."]
    primary = [figure for figure in figures if figure.role == "primary"]
    for arm in arms:
        rows = [(figure, row) for figure in primary for row in figure.rows if row.arm == arm]
        worse = harm(figures, arm)
        if rows:
            sentences.append(_about(arm, baseline, rows, worse))
        else:
            sentences.append(f"{arm}: no primary figure could be compared with {baseline}{beside(worse, gain=False)}.")
    return sentences


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


def beside(worse: Sequence[tuple[ComparedFigure, Row]], *, gain: bool) -> str:
    """What stands beside every verdict: all exploratory figures that are worse, however many."""
    if not worse:
        return ""
    link = "but " if gain else ""
    return f"; {link}{HARM} {_listed([with_interval(f, r) for f, r in worse], len(worse))}{EXPLORATORY}"


def _about(
    arm: str, baseline: str, rows: Sequence[tuple[ComparedFigure, Row]], worse: Sequence[tuple[ComparedFigure, Row]]
) -> str:
    def of(verdict: str) -> list[tuple[ComparedFigure, Row]]:
        return [(figure, row) for figure, row in rows if row.verdict == verdict]

    single = all(row.n <= 1 for _, row in rows)
    parts = []
    for verdict in ("better", "worse"):
        if found := of(verdict):
            parts.append(f"{verdict} in {_listed([with_interval(f, r) for f, r in found])}")
    if found := of("equivalent"):
        parts.append(f"equivalent in {_listed([f'{label(f)} ({change(r)})' for f, r in found])}")
    decided = [f"{arm} against {baseline}: " + "; ".join(parts)] if parts else []
    if parts and not of("equivalent") and len(parts) == 1:
        verdict = parts[0].split(" ", 1)[0]
        listed = _listed([with_interval(f, r) for f, r in of(verdict)])
        decided = [f"{arm} is {verdict} than {baseline}: {listed}"]
    if single:
        listed = _listed([with_interval(f, r) for f, r in rows])
        return f"{arm} against {baseline}, n=1, which says nothing about chance: {listed}."
    if found := of("not-judged"):
        decided.append(f"not judged: {_listed([changed(f, r) for f, r in found])}")
    if found := of("inconclusive"):
        shown = [_with_needed(f, r) for f, r in found]
        if decided:
            decided.append(f"no verdict on {_listed(shown)}")
        else:
            decided.append(f"{arm} against {baseline} is inconclusive: {_listed(shown)}")
    unpaired = " Unpaired: drift is not controlled." if any(not row.paired for _, row in rows) else ""
    return "; ".join(decided) + beside(worse, gain=bool(of("better"))) + "." + unpaired


def compared(row: Row) -> str:
    """Whose figure a row is, and against whom when that is not the baseline: ``patch10``, ``p10-7 vs p10``."""
    return f"{row.arm} vs {row.against}" if isinstance(row, DirectRow) else row.arm


def verdict(row: Row) -> str:
    """The verdict in words: ``better``, ``inconclusive, n=1``."""
    text = row.verdict.replace("-", " ")
    if row.small_but_real:
        text += ", small but real"
    return f"{text}, n=1" if row.n <= 1 else text


def harm(figures: Sequence[ComparedFigure], arm: str) -> list[tuple[ComparedFigure, Row]]:
    """The exploratory figures in which an arm is worse than the baseline."""
    return [
        (figure, row)
        for figure in figures
        if figure.role == "exploratory"
        for row in figure.rows
        if row.arm == arm and row.verdict == "worse"
    ]


def moved(row: Row, unit: str = "") -> str:
    """The change of a figure, whose unit is given. A difference of 0 without an interval would read as the figure
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


def with_interval(figure: ComparedFigure, row: Row) -> str:
    """A figure with its change and interval: ``tx throughput +31.2 % (+24.1 to +38.0 %)``."""
    ends = interval(row)
    return changed(figure, row) + (f" ({ends})" if ends else "")


def _with_needed(figure: ComparedFigure, row: Row) -> str:
    ends = interval(row)
    inside = [ends] if ends else ["no interval"]
    if row.blocks_needed is not None:
        inside.append(f"about {row.blocks_needed} blocks needed")
    if row.beyond_limit:
        inside.append(f"more than {MAX_BLOCKS} blocks needed")
    if row.small_but_real:
        inside.append("small but real")
    return f"{changed(figure, row)} ({', '.join(inside)})"


def _listed(items: Sequence[str], most: int = _NAMED) -> str:
    shown = list(items[:most])
    if len(items) > most:
        shown.append(f"{len(items) - most} more")
    return shown[0] if len(shown) == 1 else ", ".join(shown[:-1]) + " and " + shown[-1]


def row_sentence(figure: str, row: Row, baseline: str) -> str:
    """One row in a sentence, also when something in it is infinite."""
    ends = interval(row)
    inside = [f"{100 * row.confidence:.1f} % interval {ends}" if ends and row.confidence else "no interval"]
    inside.append(f"n={row.n} blocks" if row.paired else f"n={row.n_baseline} and {row.n_arm} runs, unpaired")
    if row.p is not None:
        inside.append(f"p {p_value(row.p)}")
    if row.p_adjusted is not None:
        inside.append(f"adjusted p {p_value(row.p_adjusted)}")
    return f"{figure}: {row.arm} against {baseline} {change(row)} ({', '.join(inside)}): {row.verdict}"


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
    names = ", ".join(design.primary) or "none"
    how = "the default for these tests" if design.primary_by_default else "declared in the plan"
    if direct:
        first.append("Arms that differ by one declared change were compared with each other in the same way.")
    return [
        *first,
        f"Primary figures ({how}): {names}; their {design.family} comparisons are adjusted together (Holm). All other "
        "figures are exploratory and not adjusted.",
        "Better or worse: the interval excludes no difference, the (adjusted) p-value agrees, and the estimate is at "
        "least the margin. Equivalent: the whole interval is within the margin. Otherwise inconclusive.",
        "A run is void only for a recorded cause, and its block is repeated at the end; no other run is left out. A "
        "figure beyond every number (a quantile among lost probes) counts as larger than any finite one.",
        "The smallest detectable effect is what a campaign of this size and noise finds four times out of five.",
    ]


def _effect(value: float | None, infinite: str | None, unit: str) -> str:
    if infinite is not None:
        return "infinitely more" if infinite == "above" else "infinitely less"
    return NOT_AVAILABLE if value is None else f"{_signed(value, unit)} {unit}".rstrip()


def _signed(value: float, unit: str) -> str:
    if unit in ("%", "pp") or 1 <= abs(value) < 1e6:
        return signed(value, 1) if abs(value) < 1e6 else f"{value:+.3g}"
    text = f"{value:+.3g}".replace("-", MINUS)
    return "0" if text.lstrip("+" + MINUS) == "0" else text

"""Judges the statements of a document by its own figures: it holds, it does not, or it can't be determined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from txop.core.metrics import METRICS, Better
from txop.history.model import BetweenRuns, BetweenTables, Document, InRange, Run, Share, Transfers, Undecided
from txop.stats.comparison import Comparison
from txop.stats.settings import ComparisonSettings
from txop.stats.verdict import compare_unpaired
from txop.stats.wording import p_is

Answer = Literal["holds", "does not hold", "can't be determined"]
UNDETERMINED: Literal["can't be determined"] = "can't be determined"

_UNITS = {"throughput": "Mbit/s", "switches": "context switches of the device per transfer", "retries": "%"}
_BETTER: dict[str, Better] = {"throughput": "higher", "switches": "lower", "retries": "lower"}
_MARGINS = {"throughput": METRICS["throughput_mbit_s"].margin, "switches": METRICS["context_switches_per_s"].margin}
_MOST_NAMED = 6


@dataclass(frozen=True)
class Basis:
    """A figure, or several, that a sentence rests on."""

    what: str
    values: tuple[float, ...]
    unit: str
    lines: tuple[int, ...]

    @property
    def n(self) -> int:
        """How many."""
        return len(self.values)


@dataclass(frozen=True)
class Finding:
    """A conclusion of a document, weighed."""

    line: int
    said: str
    answer: Answer
    sentence: str
    """Why, with figures and their n; or ``can't be determined, because ...``."""
    basis: tuple[Basis, ...]
    change_percent: float | None = None
    low_percent: float | None = None
    high_percent: float | None = None
    p: float | None = None
    """p-value of the comparison, where there is one; no correction for several conclusions of a document."""
    repeated: str = ""
    """What txop's own runs say of it; they decide nothing here."""


def findings(document: Document) -> list[Finding]:
    """Every conclusion of the document, in its order."""
    made = []
    for conclusion in document.conclusion:
        match conclusion:
            case BetweenTables():
                made.append(_between_tables(document, conclusion))
            case BetweenRuns():
                made.append(_between_runs(document, conclusion))
            case InRange():
                made.append(_in_range(document, conclusion))
            case Share():
                made.append(_share(document, conclusion))
            case Undecided():
                near = [figure for figure in document.figure if figure.line in conclusion.figures]
                basis = tuple(Basis(f.what, (f.low,), f.unit, (f.line,)) for f in near)
                made.append(_undecided(conclusion, conclusion.because, basis))
    return [replace(each, repeated=said.repeated) for each, said in zip(made, document.conclusion, strict=True)]


def _undecided(
    conclusion: BetweenTables | BetweenRuns | InRange | Share | Undecided, because: str, basis: tuple[Basis, ...]
) -> Finding:
    sentence = f"Can't be determined, because {because}."
    return Finding(conclusion.line, conclusion.said, "can't be determined", sentence, basis)


def _between_tables(document: Document, said: BetweenTables) -> Finding:
    tables = {table.group: table for table in document.transfers if table.way == said.way}
    missing = [name for name in (said.baseline, said.group) if name not in tables]
    if missing:
        return _undecided(said, f"there is no table of {', '.join(missing)}", ())
    sides = [_of_table(tables[name], said.quantity) for name in (said.baseline, said.group)]
    compared = _compare(said.quantity, sides, said.percent if said.rule == "same" else None)
    if compared is None or compared.low is None or compared.high is None:
        return _undecided(said, f"n = {sides[0].n} and {sides[1].n}, which give no interval", tuple(sides))
    low, high = compared.low, compared.high
    match said.rule:
        case "about":
            answer: Answer = "holds" if low <= said.percent <= high and not low <= 0 <= high else "does not hold"
        case "same":
            answer = (
                "holds"
                if compared.verdict == "equivalent"
                else "can't be determined"
                if low <= 0 <= high
                else "does not hold"
            )
        case "below":
            answer = "holds" if high < said.percent else "does not hold" if low >= said.percent else UNDETERMINED
        case "above":
            answer = "holds" if low > said.percent else "does not hold" if high <= said.percent else UNDETERMINED
    sentence = (
        f"{said.group} against {said.baseline}, {said.way} {said.quantity}: {compared.estimate:+.1f} % "
        f"({low:+.1f} to {high:+.1f} %, 95 %, exact), n = {sides[0].n} and {sides[1].n}, {_p(compared.p)}; unpaired, "
        "drift not controlled"
    )
    if said.rule == "same":
        sentence += (
            f"; the same within ±{said.percent:g} %" if answer == "holds" else f"; ±{said.percent:g} % is not shown"
        )
    if answer == "can't be determined":
        sentence = f"Can't be determined, because the interval leaves both open: {sentence}"
    return Finding(said.line, said.said, answer, f"{sentence}.", tuple(sides), compared.estimate, low, high, compared.p)


def _p(p: float | None) -> str:
    return "" if p is None else p_is(p)


def _of_table(table: Transfers, quantity: str) -> Basis:
    values = table.throughput_mbit_s if quantity == "throughput" else table.switches
    lines = tuple(range(table.line, table.line + len(values)))
    return Basis(f"{table.group}, {table.way}", tuple(values), _UNITS[quantity], lines)


def _compare(quantity: str, sides: Sequence[Basis], margin: float | None) -> Comparison | None:
    baseline, arm = sides
    if min(baseline.n, arm.n) < 2:
        return None
    return compare_unpaired(
        baseline.values,
        arm.values,
        ComparisonSettings(
            scale="ratio",
            better=_BETTER[quantity],
            margin=_MARGINS[quantity] if margin is None else margin,
            baseline_name=baseline.what,
            arm_name=arm.what,
        ),
    )


def _between_runs(document: Document, said: BetweenRuns) -> Finding:
    sides = []
    for chosen in (said.baseline, said.group):
        runs = [
            run
            for run in document.run
            if (run.device, run.distance_m, run.way) == (said.device, said.distance_m, said.way)
            and (run.driver, run.patches) == (chosen.driver, chosen.patches)
        ]
        if not runs:
            return _undecided(said, f"there is no run of {chosen.driver} with patches {chosen.patches}", ())
        if any(isinstance(_figure(run, said.quantity), list) for run in runs):
            return _undecided(said, "a range is given in place of a figure", ())
        values = tuple(value for run in runs if not isinstance(value := _figure(run, said.quantity), list))
        lines = tuple(run.line for run in runs)
        sides.append(Basis(f"{runs[0].shown}, {said.way}", values, _UNITS[said.quantity], lines))
    before, after = sides
    shown = f"{before.what}: {_listed(before)}; {after.what}: {_listed(after)}"
    most = max(before.n, after.n)
    spread = _repeated(document, said.quantity)
    if min(before.n, after.n) < 2:
        because = f"n = {before.n} and {after.n}: {shown}"
        because += ". The document's own repeats of one cell differ by " + spread if spread else ""
        return _undecided(said, because, tuple(sides))
    compared = (
        compare_unpaired(before.values, after.values, ComparisonSettings(scale="ratio", better=None, margin=3.0))
        if most > 1
        else None
    )
    if compared is None or compared.low is None or compared.high is None:
        return _undecided(said, f"{before.n} and {after.n} runs give no interval: {shown}", tuple(sides))
    more, less = compared.low > 0, compared.high < 0
    wanted = {"more": more, "less": less, "not more": not more}[said.claim]
    answer: Answer = "holds" if wanted else "does not hold" if more or less else "can't be determined"
    return Finding(
        said.line,
        said.said,
        answer,
        f"{shown}.",
        tuple(sides),
        compared.estimate,
        compared.low,
        compared.high,
        compared.p,
    )


def _figure(run: Run, quantity: str) -> float | list[float]:
    return run.mbit_s if quantity == "throughput" else run.retries_percent


def _listed(basis: Basis) -> str:
    return (
        f"{' and '.join(f'{value:g}' for value in basis.values)} {basis.unit} (line {', '.join(map(str, basis.lines))})"
    )


def _repeated(document: Document, quantity: str) -> str:
    """The largest ratio among runs of the same cell, in words; empty where no cell has two."""
    widest, shown = 0.0, ""
    for runs in cells(document).values():
        values = [(value, run.line) for run in runs if not isinstance(value := _figure(run, quantity), list)]
        if len(values) < 2:
            continue
        (low, first), (high, last) = min(values), max(values)
        if high / low > widest:
            widest = high / low
            shown = (
                f"a factor of up to {widest:.1f} ({low:g} and {high:g} {_UNITS[quantity]}, lines {first} and {last})"
            )
    return shown


def cells(document: Document) -> dict[tuple[object, ...], list[Run]]:
    """Runs by what must be the same for them to be runs of the same."""
    found: dict[tuple[object, ...], list[Run]] = {}
    for run in document.run:
        found.setdefault(run.cell, []).append(run)
    return found


def _in_range(document: Document, said: InRange) -> Finding:
    runs = [run for run in document.run if run.driver == said.driver]
    if not runs:
        return _undecided(said, f"there is no run of {said.driver}", ())
    outside = []
    for run in runs:
        for value, (low, high), unit in (
            (run.retries_percent, said.retries_percent, "% retries"),
            (run.mbit_s, said.mbit_s, "Mbit/s"),
        ):
            ends = value if isinstance(value, list) else [value, value]
            if ends[0] < low or ends[1] > high:
                described = f"{ends[0]:g}" if ends[0] == ends[1] else f"{ends[0]:g} to {ends[1]:g}"
                outside.append((run.line, f"{described} {unit} (line {run.line})"))
    basis = (
        Basis(
            f"{said.driver}, retries", tuple(_middle(r.retries_percent) for r in runs), "%", tuple(r.line for r in runs)
        ),
        Basis(
            f"{said.driver}, throughput", tuple(_middle(r.mbit_s) for r in runs), "Mbit/s", tuple(r.line for r in runs)
        ),
    )
    if not outside:
        return Finding(said.line, said.said, "holds", f"All {len(runs)} rows lie within.", basis)
    rows = len({line for line, _ in outside})
    named = ", ".join(text for _, text in outside[:_MOST_NAMED])
    more = f" and {len(outside) - _MOST_NAMED} more" if len(outside) > _MOST_NAMED else ""
    return Finding(
        said.line, said.said, "does not hold", f"{rows} of {len(runs)} rows lie outside: {named}{more}.", basis
    )


def _middle(value: float | list[float]) -> float:
    return sum(value) / 2 if isinstance(value, list) else value


def _share(document: Document, said: Share) -> Finding:
    by_name = {figure.what: figure for figure in document.figure}
    if said.part not in by_name or said.whole not in by_name:
        return _undecided(said, "the figures are not in the document", ())
    part, whole = by_name[said.part], by_name[said.whole]
    basis = tuple(Basis(f.what, (f.low,), f.unit, (f.line,)) for f in (part, whole))
    described = " ".join(text for text in (part.note, "about" if part.about else "") if text)
    sentence = (
        f"how often it was measured is not given: {described} {part.low:g} of {whole.low:g} {whole.unit} are "
        f"{100 * part.low / whole.low:.0f} % (lines {part.line} and {whole.line})"
    )
    return _undecided(said, " ".join(sentence.split()), basis)

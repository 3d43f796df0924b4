"""A report of counters in the terminal: what it means first, then the figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from txop.cli.console import safe_text
from txop.counters import words
from txop.counters.meanings import MEANINGS
from txop.counters.readings import Subject
from txop.present import format as fmt

if TYPE_CHECKING:
    from txop.counters.report import CountersReport, Figure, Finding

FIRST = frozenset(
    {
        "tx-packets", "rx-packets", "tx-mbit-s", "rx-mbit-s", "tx-retry-percent", "tx-failed-percent", "rx-drop-misc",
        "beacon-loss", "signal-dbm", "signal-average-dbm", "tx-rate", "rx-rate", "tx-airtime-percent",
        "rx-airtime-percent", "channel-busy-percent", "channel-tx-percent", "channel-rx-percent",
        "channel-own-rx-percent", "noise-dbm", "attempts-failed-percent", "ampdu-length", "wext-level-dbm",
        "wext-retry", "wext-misc", "tx-filtered", "subframes-retried-percent", "subframes-lost", "ampdu-single-percent",
        "block-ack-miss-percent",
    }
)  # fmt: skip
"""Figures that are shown without ``--all``."""
_NOTHING = "No conclusion: nothing that txop counters knows shows in these figures, or they are too few for it."
RATES_SHOWN = 6
COUNTERS_SHOWN = 8
SUBJECTS_SHOWN = 20
"""Peers, channels, interfaces."""
FINDINGS_SHOWN = 30


def show(out: Console, report: CountersReport, *, show_all: bool) -> None:
    """Everything, or what answers most questions."""
    out.print(safe_text(_heading(report), "bold"), soft_wrap=True)
    findings = FINDINGS_SHOWN if not show_all else len(report.conclusions) + len(report.implausible)
    for finding in report.conclusions[:findings]:
        out.print(safe_text(_said(finding)), soft_wrap=False)
    if report.pairings and not report.conclusions:
        out.print(_NOTHING)
    for finding in report.implausible[:findings]:
        out.print(safe_text(f"Not plausible: {_said(finding)}", "yellow"), soft_wrap=False)
    hidden = 0
    for number, figures in enumerate(_by_subject(report.figures)):
        if number >= SUBJECTS_SHOWN and not show_all:
            hidden += len(figures)
            continue
        shown, left_out = _chosen(figures, show_all=show_all)
        hidden += left_out
        if shown:
            out.print()
            out.print(_table(shown))
    if report.figures:
        out.print()
    if show_all and report.meanings:
        out.print(_meanings(report))
        out.print()
    for note in _notes(report, hidden, findings):
        out.print(safe_text(note, "dim"), soft_wrap=True)


def _heading(report: CountersReport) -> str:
    files = f"{report.before} to {report.after}" if report.before is not None else report.after
    seconds = [pairing.seconds for pairing in report.pairings if pairing.seconds is not None]
    over = f", {fmt.duration_us(1e6 * max(seconds))}" if seconds else ""
    driver = f" ({report.driver})" if report.driver is not None else ""
    return f"{files}{over}{driver}"


def _said(finding: Finding) -> str:
    if finding.subject is None:
        return finding.text
    named = words.subject_words(Subject(**finding.subject.model_dump()))
    return f"{named}: {finding.text}"


def _by_subject(figures: Sequence[Figure]) -> list[list[Figure]]:
    found: dict[tuple[object, ...], list[Figure]] = {}
    for figure in figures:
        found.setdefault(tuple(figure.subject.model_dump().values()), []).append(figure)
    return list(found.values())


def _chosen(figures: Sequence[Figure], *, show_all: bool) -> tuple[list[Figure], int]:
    """What is shown of a subject, and how much is not."""
    if show_all:
        return list(figures), 0
    if {figure.code for figure in figures} == {"noise-dbm"}:  # a channel that was only scanned
        return [], len(figures)
    shown = [figure for figure in figures if figure.code in FIRST]
    rates = [figure for figure in figures if figure.code == "rate-failed-percent"]
    counters = sorted(
        (figure for figure in figures if figure.code == "counter" and figure.value is not None),
        key=lambda figure: -(figure.value or 0),
    )
    shown += rates[:RATES_SHOWN]
    if not shown:
        shown += counters[:COUNTERS_SHOWN]
    return shown, len(figures) - len(shown)


def _table(figures: Sequence[Figure]) -> Table:
    named = words.subject_words(Subject(**figures[0].subject.model_dump()))
    tool = words.TOOLS[figures[0].subject.kind]
    title = named if named.startswith(tool) else f"{named} ({tool})"
    table = Table(title=safe_text(title), title_justify="left")
    table.add_column("Figure", overflow="fold")
    table.add_column("Value", justify="right")
    table.add_column("Unit")
    table.add_column("n", justify="right")
    table.add_column("Counted")
    for figure in figures:
        value, unit = _value(figure)
        table.add_row(
            safe_text(_title(figure)),
            safe_text(value),
            safe_text(unit),
            safe_text(_rests_on(figure)),
            safe_text(words.WINDOWS[figure.window] if figure.reason is None else words.REASONS[figure.reason]),
        )
    return table


def _rests_on(figure: Figure) -> str:
    if figure.n is None:
        return ""
    return fmt.duration_us(1e3 * figure.n) if figure.code.startswith("channel-") else fmt.count(figure.n)


def _title(figure: Figure) -> str:
    if figure.code == "counter":
        return figure.name or ""
    title = MEANINGS[figure.code].title
    if figure.name is None:
        return title
    return f"{figure.name}, {title}" if figure.code.startswith("rate-") else f"{title} ({figure.name})"


def _value(figure: Figure) -> tuple[str, str]:
    unit = "%" if figure.unit == "percent" else figure.unit
    if figure.value is None:
        return fmt.NOT_AVAILABLE, unit
    if figure.unit == "percent":
        return fmt.percent(figure.value).removesuffix(" %"), unit
    if figure.unit in ("Mbit/s", "MPDUs"):
        return fmt.figure(float(figure.value), 1), unit
    return fmt.count(figure.value).replace("-", fmt.MINUS), unit


def _meanings(report: CountersReport) -> Table:
    table = Table(title="What the figures mean", title_justify="left")
    for column in ("Figure", "Means", "Source"):
        table.add_column(column, overflow="fold")
    for meaning in report.meanings:
        table.add_row(
            safe_text(MEANINGS[meaning.code].title), safe_text(meaning.means), safe_text(meaning.source, "dim")
        )
    return table


def _notes(report: CountersReport, hidden: int, findings: int) -> Iterator[str]:
    more = max(0, len(report.conclusions) - findings) + max(0, len(report.implausible) - findings)
    if more:
        yield f"{fmt.plural(more, 'more finding')}: --all shows them."
    if hidden:
        yield f"{fmt.plural(hidden, 'more figure')}, and what each means: --all shows them."
    once = [each for each in report.pairings if each.unpaired is not None]
    if report.before is not None:
        for each in once[:6]:
            named = words.subject_words(Subject(**each.subject.model_dump()))
            yield f"No difference of {named}: {words.UNPAIRED[each.unpaired or '']}."
    for part in report.parts:
        if part.command is not None:
            file = "FILE" if part.file == "-" else part.file
            lines = (
                f"line {part.first_line}"
                if part.first_line == part.last_line
                else f"lines {part.first_line} to {part.last_line}"
            )
            yield f"{part.file}, {lines}: {words.TOOLS[part.kind]}. It is read by: {part.command} {file}"
    if report.lines_not_read:
        where = ", ".join(report.first_not_read[:3])
        yield f"{fmt.plural(report.lines_not_read, 'line')} of no tool that is known here ({where})."
    if report.cut:
        yield "The text is too long or cut short: its end was not looked at."

"""``txop compare ARCHIVE [ARCHIVE2]``: is one arm better than another, by how much, and how sure is that?"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from txop.cli import console, name_completion
from txop.cli.archive_place import refuse_address
from txop.cli.console import JsonFlag, safe_text
from txop.cli.examples import epilog
from txop.cli.shared_options import ArchiveArgument
from txop.core.errors import ExitCode, UserError
from txop.present.format import figure as written
from txop.present.format import plural
from txop.stats.limits import MAX_BLOCKS

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from txop.archive.reader import Archive
    from txop.archive.run_file import Bound
    from txop.cli.compare_screen import Whys
    from txop.compare.result import ComparedFigure, CompareResult, Row, TestFacts

_STDOUT = "-"
_ROOM_FOR_NAMES = 20
"""Columns that a table must leave for what can be folded."""

_STYLES = {"better": "bold green", "worse": "bold red", "inconclusive": "yellow"}

_MOST_NAMES = 3
"""How many of the figures that a note is about are named."""


def register(app: typer.Typer) -> None:
    """Add ``txop compare``."""
    app.command(
        name="compare",
        epilog=epilog(
            [
                ("txop compare campaign", "every arm against the baseline: verdict, tables, what was void"),
                ("txop compare campaign --baseline vendor --all", "against another arm, with every figure"),
                ("txop compare campaign --figure tx.throughput_mbit_s", "one figure"),
                ("txop compare campaign --fail-on-worse", "for CI: exit code 1 when a primary figure got worse"),
                ("txop compare campaign --fail-on-worse-in tx.rtt_p95_ms", "or this figure, primary or not"),
                ("txop compare campaign --without flaky", "one arm left out"),
                ("txop compare before after --arm vanilla", "one arm of two campaigns: unpaired"),
            ],
            [
                "Works while the campaign runs, and shows its progress.",
                "Exit codes: 0 compared; 1 worse (with --fail-on-worse or --fail-on-worse-in); 2 not comparable; "
                "4 compared, but parts of the archive are damaged; 5 nothing to compare.",
                "docs/compare.md explains each figure and verdict.",
            ],
        ),
    )(compare)


def compare(
    archive: ArchiveArgument,
    second: Annotated[
        str | None,
        typer.Argument(
            metavar="[ARCHIVE2]",
            help="Another campaign: compare the same arm in both.",
            show_default=False,
        ),
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            metavar="ARM",
            help="Compare with this arm; default: the plan's baseline.",
            autocompletion=name_completion.arms,
        ),
    ] = None,
    arm: Annotated[
        str | None,
        typer.Option(
            metavar="ARM",
            help="With two archives: compare this arm; default: the first plan's baseline.",
            autocompletion=name_completion.arms,
        ),
    ] = None,
    figure: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEST.METRIC",
            help="Show only this figure; may be repeated.",
            autocompletion=name_completion.figures,
        ),
    ] = None,
    without: Annotated[
        list[str] | None,
        typer.Option(metavar="ARM", help="Leave this arm out; may be repeated.", autocompletion=name_completion.arms),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Show every figure, and all that was not counted.")] = False,
    include_void: Annotated[
        bool, typer.Option("--include-void", help="Let void runs and repeated blocks count, to see what they would do.")
    ] = False,
    json: JsonFlag = False,
    csv: Annotated[str | None, typer.Option(metavar="FILE", help="Write the rows as CSV; - for stdout.")] = None,
    fail_on_worse: Annotated[
        bool,
        typer.Option(
            "--fail-on-worse", help="Exit with 1 when a primary figure is worse, also in a direct comparison."
        ),
    ] = False,
    fail_on_worse_in: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEST.METRIC",
            help="Exit with 1 when this figure is worse, judged by itself if it is exploratory; may be repeated.",
            autocompletion=name_completion.figures,
        ),
    ] = None,
) -> int:
    """Compare the arms of a campaign: effect, exact interval, verdict, and what was not counted."""
    if json and csv == _STDOUT:
        raise UserError("--json and --csv - both write to stdout", what_to_do="give --csv a file, or leave one out")
    if second is not None and include_void:
        raise UserError("--include-void goes with one archive", what_to_do="leave out the second archive")
    if second is not None and without:
        raise UserError("--without goes with one archive", what_to_do="leave out the second archive")
    if second is not None and baseline is not None:
        raise UserError("--baseline goes with one archive", what_to_do="name the arm to compare with --arm")
    if second is None and arm is not None:
        raise UserError("--arm goes with two archives", what_to_do="name the arm to compare with by --baseline")
    screen = not json and csv != _STDOUT
    result, whys = _compare(
        archive, second, baseline or arm, include_void=include_void, without=without or (), with_whys=screen
    )
    gates = _named(result, fail_on_worse_in or (), archive)
    result = _narrowed(result, figure, archive)
    code = _exit_code(result, gates, primary=fail_on_worse)
    if csv is not None:
        _write_csv(result, csv)
    if json:
        console.write_json(result.model_dump_json())
    elif screen:
        # A report is of all arms of one archive, with what counts.
        report = None
        if second is None and not without and not include_void:
            page = Path(archive) / "report.html"
            of = f" --baseline {baseline}" if baseline else ""
            report = str(page) if page.is_file() and not baseline else f"txop report {archive}{of} makes it"
        show(result, whys, console.stdout(), everything=everything or bool(figure), how="--all", report=report)
    if result.damage and (json or csv == _STDOUT):
        text = f"txop: the archive is damaged in {plural(len(result.damage), 'place')}: {result.damage[0]}"
        console.stderr().print(safe_text(text + (", ..." if len(result.damage) > 1 else "")), soft_wrap=True)
    return code


def _compare(
    first: str, second: str | None, arm: str | None, *, include_void: bool, without: Sequence[str], with_whys: bool
) -> tuple[CompareResult, Whys]:
    from txop.archive.fetched import archive_at
    from txop.archive.reader import read_archive
    from txop.compare.archive import compare as compare_arms
    from txop.compare.two import compare_two

    with ExitStack() as opened:
        archive = read_archive(opened.enter_context(archive_at(first)))
        if second is None:
            result = compare_arms(archive, arm, include_void=include_void, without=without)
            return result, whys_of(archive, result) if with_whys else ()
        return compare_two(archive, read_archive(opened.enter_context(archive_at(second))), arm), ()


def whys_of(archive: Archive, result: CompareResult) -> Whys:
    """What goes with the verdict on each pair of arms."""
    from txop.report.answer.because import because

    return [(each, because(archive, result, each.arm, each.against)) for each in result.answers]


def _named(result: CompareResult, names: Sequence[str], archive: str) -> list[ComparedFigure]:
    """Some figures of a result."""
    from txop.compare.archive import narrowed

    return narrowed(result.figures, result.not_available, names, archive) if names else []


def _narrowed(result: CompareResult, metrics: Sequence[str] | None, archive: str) -> CompareResult:
    if not metrics:
        return result
    figures = _named(result, metrics, archive)
    names = {figure.name for figure in figures}
    answers = [
        answer.model_copy(
            update={
                key: [name for name in getattr(answer, key) if name in names] for key in ("primary", "gains", "costs")
            }
        )
        for answer in result.answers
    ]
    return result.model_copy(update={"figures": figures, "answers": answers})


def _write_csv(result: CompareResult, name: str) -> None:
    from txop.core.whole_file import whole_file
    from txop.report.exports.csv import write_comparison

    if name == _STDOUT:
        write_comparison(result, sys.stdout)
        return
    refuse_address(Path(name), "compare")
    with whole_file(Path(name), newline="") as out:
        write_comparison(result, out)


def _exit_code(result: CompareResult, gates: Sequence[ComparedFigure], *, primary: bool) -> ExitCode:
    """``gates``: figures that fail when worse by themselves; ``primary``: also those that are judged together."""
    from txop.compare.answer import worse_alone

    rows = [row for figure in result.figures for row in figure.rows]
    worse = any(worse_alone(figure, row) for figure in gates for row in (*figure.rows, *figure.direct))
    if primary:
        declared = [figure for figure in result.figures if figure.role == "primary"]
        worse = worse or any(row.verdict == "worse" for f in declared for row in (*f.rows, *f.direct))
    if worse:
        return ExitCode.VERDICT_NO
    if result.damage:
        return ExitCode.PARTIAL
    return ExitCode.OK if rows else ExitCode.UNDECIDED


def _grouped(entries: Iterable[tuple[str, str]]) -> list[str]:
    """Each text once, with all figures that it is about."""
    names: dict[str, list[str]] = {}
    for name, text in entries:
        names.setdefault(text, []).append(name)
    return [f"{_some(of)}: {text}" for text, of in names.items()]


def _some(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMES
    return "; ".join(names[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def show(result: CompareResult, whys: Whys, out: Console, *, everything: bool, how: str, report: str | None) -> None:
    """Print a result: on one screen, or ``everything``.

    Args:
        result: What was compared.
        whys: What goes with the verdicts.
        out: Where to.
        everything: Every figure and everything that was not counted.
        how: The command or option that shows everything.
        report: Where the report is, or how to make it; ``None``: there is none of this comparison.
    """
    if everything:
        _show_everything(result, whys, out, report)
        return
    from txop.cli import compare_screen

    compare_screen.show(result, whys, out, everything=how, report=report)


def _show_everything(result: CompareResult, whys: Whys, out: Console, report: str | None) -> None:
    """Headline, figures, then what was not counted."""
    from rich.padding import Padding

    for sentence in result.headline:
        out.print(safe_text(sentence, style="bold"))
    out.print(safe_text(f"{result.title} ({result.origin.value}; {result.design.state})"))
    for warning in result.warnings:
        out.print(safe_text(f"Note: {warning}", style="yellow"))
    for test in result.tests:
        figures = [figure for figure in result.figures if figure.test == test.name and figure.rows]
        if not figures:
            _show_alone(result, test, out)
            continue
        out.print()
        title = f"{test.name} ({test.kind}, {test.length}), against {result.baseline}"
        if _fits(table := _table(title, figures), out):
            out.print(table)
        else:
            out.print(safe_text(title, style="bold"))
            for line in _lines(figures):
                out.print(Padding(line, (0, 0, 0, 2)))
    if any(change.against != result.baseline for change in result.changes):
        out.print()
        out.print(safe_text("What each change does, given the others (primary figures):", style="bold"))
        for change in result.changes:
            out.print(Padding(safe_text(change.sentence), (0, 0, 0, 2)))
    if any(of_pair for _, of_pair in whys):
        out.print()
        for heading, is_proven in (("by intervention", True), ("correlation, no proof", False)):
            told = [(answer, why) for answer, of_pair in whys for why in of_pair if why.is_proven is is_proven]
            if told:
                out.print(safe_text(f"Why ({heading}):", style="bold"))
            for answer, why in told:
                out.print(Padding(safe_text(f"{answer.arm} vs {answer.against}, {why.text}"), (0, 0, 0, 2)))
    _show_notes(result, out)
    if report is not None:
        out.print(safe_text(f"Report: {report}"), soft_wrap=True)


def _show_alone(result: CompareResult, test: TestFacts, out: Console) -> None:
    """The figures of a test that only one arm has."""
    from txop.cli.compare_alone import table_of

    figures = [figure for figure in result.figures if figure.test == test.name and figure.arms]
    if figures:
        out.print()
        out.print(table_of(f"{test.name} ({test.kind}, {test.length}), nothing to compare with", figures))


def _table(title: str, figures: list[ComparedFigure]) -> Table:
    from rich.table import Table

    from txop.compare import words

    table = Table(title=safe_text(title), title_justify="left")
    for name in ("Figure", "Arm"):
        table.add_column(name, overflow="fold")
    for name in ("n", "Baseline", "Median", "Change", "Interval", "p"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("Verdict")
    for figure in figures:
        for number, row in enumerate([*figure.rows, *figure.direct]):
            table.add_row(
                safe_text(_name(figure) if number == 0 else ""),
                safe_text(words.compared(row)),
                safe_text(_n(row)),
                safe_text(_median(row.baseline_median, figure, row.bounds[0])),
                safe_text(_median(row.arm_median, figure, row.bounds[1])),
                safe_text(words.change(row)),
                safe_text(words.interval(row, unit=False) or "none"),
                safe_text(words.p_value(row.p_adjusted if row.p_adjusted is not None else row.p)),
                safe_text(_verdict(row), style=_STYLES.get(row.verdict, "")),
            )
    return table


def _fits(table: Table, out: Console) -> bool:
    """Whether the terminal is wide enough for a table; if not, figures are shown as lines."""
    from rich.measure import Measurement

    return Measurement.get(out, out.options.update(width=1000), table).minimum + _ROOM_FOR_NAMES <= out.width


def _lines(figures: list[ComparedFigure]) -> list[Text]:
    from txop.compare import words
    from txop.stats.wording import p_is

    made: list[Text] = []
    for figure in figures:
        made.append(safe_text(_name(figure)))
        for row in [*figure.rows, *figure.direct]:
            line = safe_text(f"  {words.compared(row)}: {words.change(row)} ")
            line.append_text(safe_text(_verdict(row), style=_STYLES.get(row.verdict, "")))
            p = row.p_adjusted if row.p_adjusted is not None else row.p
            said_p = "no p" if p is None else p_is(p)
            ends = words.interval(row, unit=False) or "no interval"
            line.append_text(safe_text(f" ({ends}; {'n' if row.paired else 'unpaired, n'}={_n(row)}, {said_p})"))
            made.append(line)
    return made


def _name(figure: ComparedFigure) -> str:
    unit = f" [{figure.metric.unit}]" if figure.metric.unit else ""
    return f"{figure.metric.title}{unit}" + (" *" if figure.role == "primary" else "")


def _n(row: Row) -> str:
    return str(row.n) if row.paired else f"{row.n_baseline}, {row.n_arm}"


def _median(value: float | None, figure: ComparedFigure, bound: Bound | None) -> str:
    from txop.compare import words

    return "infinite" if value is None else f"{words.bounded(bound)}{written(value, figure.metric.digits)}"


def _verdict(row: Row) -> str:
    from txop.compare import words

    text = words.verdict(row)
    if row.beyond_limit:
        return f"{text}, more than {MAX_BLOCKS} blocks needed"
    return f"{text}, {row.blocks_needed} blocks needed" if row.blocks_needed is not None else text


def _show_notes(result: CompareResult, out: Console) -> None:
    """What a reader must know beside the figures."""
    notes: list[tuple[str, list[str]]] = []
    from txop.compare import words

    rows = [(figure, row) for figure in result.figures for row in (*figure.rows, *figure.direct)]
    notes.append(("Notes", [f"{f.name}, {words.compared(r)}: {w}" for f, r in rows for w in r.warnings]))
    notes.append(
        ("Blocks left out", _grouped((f"{f.name}, {words.compared(r)}", e) for f, r in rows for e in r.excluded))
    )
    voided = []
    for run in result.voided:
        causes = "; ".join(f"{gate}: {cause}" for gate, cause in zip(run.gates, run.causes, strict=True))
        again = f"repeated in block {run.repeated_in}" if run.repeated_in is not None else "not repeated"
        voided.append(f"{run.run} ({again}): {causes}")
    notes.append(("Void runs", voided))
    notes.append(("Warnings", words.run_warning_lines(result)))
    notes.append(("Not available", [f"{'; '.join(names)}: {reason}" for reason, names in words.unavailable(result)]))
    notes.append(("Damaged", result.damage))
    for title, sentences in notes:
        if not sentences:
            continue
        out.print()
        out.print(safe_text(f"{title}:", style="bold"))
        for sentence in sentences:
            out.print(safe_text(f"  {sentence}"))
    out.print()
    adjusted = ", p adjusted together (Holm)" if result.design.family > 1 else ""
    legend = (
        f"* primary{adjusted}; other figures are exploratory, p adjusted over all of them (label swaps).",
        "Change: Hodges-Lehmann estimate over the n blocks, not the ratio of the medians.",
        f"Interval: {100 * result.design.confidence:g} %, exact. docs/compare.md has the details.",
    )
    out.print(safe_text(" ".join(legend), style="dim"))

"""The report of ``txop air`` on the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from txop.cli import console
from txop.cli.air_options import ShownOptions
from txop.cli.capture_output import damaged
from txop.cli.window_options import nothing_inside
from txop.core.errors import ExitCode

if TYPE_CHECKING:
    from rich.console import Console

    from txop.air import AirReport
    from txop.air.outline import Outline

_ROWS = 3
"""Rows of the one table of a screen."""


def show(
    reports: Sequence[AirReport], shown: ShownOptions, *, only: tuple[str, ...], station: str | None, brief: bool
) -> None:
    """Print the report, or several side by side. ``only``: the sections asked for; ``brief``: no table."""
    from txop.air.view import headline, sections
    from txop.air.view.sections import without_content
    from txop.air.view.selection import chosen
    from txop.cli.air_headline import print_brief, print_headline
    from txop.cli.terminal_report import draw, print_sections
    from txop.present.format import capital
    from txop.present.window import described

    out = console.stdout()
    top = 10 if shown.top is None else shown.top
    if len(reports) > 1:
        from txop.air.compare import compare, different_pairs, letter
        from txop.air.view.side_by_side import grid

        comparison = compare(reports)
        if warning := different_pairs(reports):
            out.print(console.safe_text(warning, "yellow"))
            out.print()
        for index, report in enumerate(reports):
            out.print(console.safe_text(f"{letter(index)}  {report.path}", "bold"))
            if report.summary.window is not None:
                out.print(console.safe_text(f"   Window: {described(report.summary.window)}"))
            if (what := chosen(report)) is not None:
                out.print(console.safe_text(f"   Chosen: {what}"))
            first = headline(report)
            for flow in first.flows[:1]:
                out.print(console.safe_text(f"   {flow.title}: {flow.sentence}", "dim"))
            if first.captured:
                out.print(console.safe_text(f"   {first.captured}", "dim"))
        out.print(draw(grid(comparison), out.width, top))
        return
    report = reports[0]
    one_screen = not only and not shown.everything and shown.top is None
    if report.summary.window is not None:
        out.print(console.safe_text(f"Window: {described(report.summary.window)}", "bold"))
        if not one_screen:
            out.print()
    if (what := chosen(report)) is not None:
        out.print(console.safe_text(f"Chosen: {what}", "bold"))
        if not one_screen:
            out.print()
    if one_screen and (nothing := [each.text for each in report.summary.limits if each.code == "no-frames"]):
        out.print(console.safe_text(f"{capital(nothing[0])}."))
        return
    if one_screen:
        print_brief(out, headline(report, station), 0 if brief else lines_below(report, out.width))
        if not brief:
            _rest_of_screen(out, report, shown, station)
    elif not only or "waterfall" in only:
        print_headline(out, headline(report, station))
    asked = _asked_beside(report, shown) if one_screen else ()
    if not brief and (asked or not one_screen):
        parts = sections(
            report,
            list_ghosts=shown.ghosts,
            station=station,
            only=asked or only,
            beside=shown.beside,
            list_events="events" in (*only, *shown.beside),
        )
        print_sections(out, parts, top)
        out.print()
        if not only and (empty := without_content(report)):
            out.print(console.safe_text(f"Sections without content: {', '.join(empty)}.", "dim"))
        out.print(
            console.safe_text(
                "– means not available, never zero. What each figure counts: docs/air-json.md, --html.", "dim"
            )
        )


def _asked_beside(report: AirReport, shown: ShownOptions) -> tuple[str, ...]:
    """Sections that other options than --section ask for."""
    asked = [*shown.beside, *(["stations"] if shown.ghosts else []), *(["packets"] if report.traffic else [])]
    return tuple(asked)


def lines_below(report: AirReport, width: int) -> int:
    """Lines of a screen that :func:`_rest_of_screen` takes at most: a heading, two lines of column names, rows, what is
    left out, a note, the sections."""
    from txop.air.view import SECTION_NAMES
    from txop.cli.screen_lines import sections_named

    rows = min(_ROWS + 1, len(report.stations))
    return 1 + 2 + rows + 1 + len(sections_named(SECTION_NAMES, width))


def _rest_of_screen(out: Console, report: AirReport, shown: ShownOptions, station: str | None) -> None:
    """One table, what the capture cannot show, and which sections there are."""
    from txop.air.view import SECTION_NAMES, sections
    from txop.cli.screen_lines import filled, print_lines, print_sections_named
    from txop.cli.terminal_report import draw_short, first_table
    from txop.present.format import plural

    stations = sections(report, only=("stations",), list_ghosts=shown.ghosts, station=station)
    if (table := first_table(stations)) is not None:
        out.print(draw_short(table, out.width, _ROWS))
    summary = report.summary
    notes = [f"{plural(summary.unreadable, 'record')} cannot be read"] if summary.unreadable else []
    notes += [f"{plural(len(summary.limits), 'limit')} of what this capture can show"] if summary.limits else []
    if notes:
        print_lines(out, filled(f"{', '.join(notes)}: --section summary", out.width, "yellow", most=1))
    print_sections_named(out, SECTION_NAMES)


def warn(reports: Sequence[AirReport | Outline], *, following: bool) -> ExitCode:
    """Say what was empty or damaged; a file still being written may well end inside a record."""
    code = ExitCode.OK
    for report in reports:
        if report.frames == 0:
            why = nothing_inside(report.path, report.summary.window)
            console.warn(why or f"{report.path} has no 802.11 frames, so there is nothing to report.")
            code = code or ExitCode.UNDECIDED
        elif report.summary.unreadable == report.frames:
            first = next(iter(report.summary.unreadable_examples), "")
            console.warn(f"none of the {report.frames:,} records of {report.path} can be read. The first: {first}")
            code = code or ExitCode.UNDECIDED
        damage = report.summary.damage
        if damage is None or following:
            continue
        console.warn(damaged(report.path, damage.offset, damage.message))
        code = ExitCode.PARTIAL
    return code

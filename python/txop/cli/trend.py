"""``txop trend ARCHIVE...``: how figures went from release to release, and what else changed where they did."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from txop.cli import console, name_completion
from txop.cli.browser import show
from txop.cli.console import JsonFlag, safe_text
from txop.cli.examples import epilog
from txop.cli.page_output import check_page, is_stdout, write_page
from txop.cli.shared_options import HtmlOption, OpenFlag
from txop.core.errors import ExitCode
from txop.core.stores import is_address, matching

if TYPE_CHECKING:
    from txop.report.trend.result import Trend


def register(app: typer.Typer) -> None:
    """Add ``txop trend``."""
    app.command(
        name="trend",
        epilog=epilog(
            [
                ("txop trend 2026-01 2026-02 2026-03", "the same plan, run for three releases: where it changed"),
                ("txop trend releases/* --arm vanilla --html trend.html", "one page with a plot per figure"),
                ("txop trend releases/* --figure tx.rtt_p95_ms", "another figure than the primary ones"),
                ('txop trend "s3://bucket/releases/*"', "archives in a store"),
                ("txop trend releases/* --fail-on-worse", "for CI: exit code 1 when the last step is worse"),
                ("txop trend releases/* --json | jq '.figures[].steps[] | {after, estimate, verdict}'", "for scripts"),
            ],
            [
                "Each archive is compared with the one before it, unpaired and exact, and the last with the first; all"
                " p-values are adjusted together. One run in an archive gives no verdict.",
                "Exit codes: 1 worse (with --fail-on-worse); 2 not comparable; 4 parts of an archive are damaged."
                " docs/trend.md explains the rest.",
            ],
        ),
    )(trend)


def trend(
    archives: Annotated[
        list[str],
        typer.Argument(metavar="ARCHIVE...", help="Two archives or more, in folders or at addresses; sorted by date."),
    ],
    arm: Annotated[
        str | None,
        typer.Option(
            metavar="ARM",
            help="The arm to follow; default: the baseline of the first archive.",
            autocompletion=name_completion.arms,
        ),
    ] = None,
    figure: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEST.METRIC",
            help="Follow this figure; may be repeated. Default: the primary figures.",
            autocompletion=name_completion.figures,
        ),
    ] = None,
    html: HtmlOption = None,
    open_page: OpenFlag = False,
    fail_on_worse: Annotated[
        bool, typer.Option("--fail-on-worse", help="Exit with 1 when a figure's last step, or all of them, is worse.")
    ] = False,
    json: JsonFlag = False,
) -> int:
    """Follow an arm's figures over several archives: change points, and what else changed there."""
    check_page(html, json=json, open_page=open_page)
    found = _follow(archives, arm, figure)
    if html is not None:
        from txop.core.version import program_version
        from txop.report.trend.page import page

        write_page(page(found, f"txop {program_version()}"), html)
        if open_page:
            show(html)
    if json:
        console.write_json(asdict(found))
    elif not is_stdout(html):
        from txop.cli.terminal_report import print_sections
        from txop.report.trend.view import sections

        screen = console.stdout()
        for sentence in found.headline:
            screen.print(safe_text(sentence, "bold"), soft_wrap=True)
        for sentence in found.warnings:
            screen.print(safe_text(sentence, "yellow"), soft_wrap=True)
        print_sections(screen, sections(found), 0)
    for sentence in found.damage:
        console.warn(sentence)
    if fail_on_worse and any(
        step.verdict == "worse" for figure in found.figures for step in (*figure.steps[-1:], figure.whole) if step
    ):
        return ExitCode.VERDICT_NO
    return ExitCode.PARTIAL if found.damage else ExitCode.OK


def _follow(places: Sequence[str], arm: str | None, figures: Sequence[str] | None) -> Trend:
    from txop.archive.fetched import archive_at
    from txop.archive.reader import read_archive
    from txop.report.trend import follow

    each = [place for word in places for place in (matching(word) if is_address(word) else [word])]
    with ExitStack() as opened:
        return follow([read_archive(opened.enter_context(archive_at(place))) for place in each], arm, figures)

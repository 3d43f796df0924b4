"""The mail of a series: its verdict, builds and new faults, and then the mail of the campaign; in forty lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from txop.ci.judge import SeriesJudgement
from txop.ci.result import BoardFacts, CiResult
from txop.ci.verdict import State
from txop.present.format import plural
from txop.report.exports.mail import Cover, cover_lines, lines

_REASONS_BELOW = frozenset(
    {State.WORSE, State.BOARD, State.WARNINGS, State.BETTER, State.EQUIVALENT, State.INCONCLUSIVE}
)
"""Where the mail of the campaign, the list of warnings or that of rows has the reasons."""


_STANDS = {
    ("works", "works"): "work with both",
    ("does not work", "does not work"): "with neither",
    ("works", "does not work"): "lost",
    ("does not work", "works"): "gained",
}
"""How a row stands, by what the base and the series show."""
_SENTENCE = 130
"""Characters of a row's evidence."""


def mail(judged: SeriesJudgement, result: CiResult) -> list[str]:
    """The mail, line by line."""
    cover = Cover(tuple(_paragraphs(result)), (result.again,))
    if judged.archive is None or judged.comparison is None:
        return [*cover_lines(cover), "", *cover_lines(Cover((f"Again: {result.again}",), ()))]
    return lines(judged.archive, judged.comparison, cover=cover)


def _paragraphs(result: CiResult) -> Iterator[str]:
    yield f"{result.series}"
    below = result.state in _REASONS_BELOW and not result.new_faults
    yield f"Verdict: {result.state.value}." if below else f"Verdict: {result.headline}."
    yield f"Base: {result.base}. Driver: {result.driver}, {result.origin.value}."
    if result.base_build is not None and result.series_build is not None:
        ids = [(build.build_id or build.sha256)[:12] for build in (result.base_build, result.series_build)]
        yield f"Builds: {ids[0]} (base), {ids[1]} (series); new compiler warnings: {len(result.new_warnings)}."
    if result.reused_runs:
        yield f"{result.reused_runs} of {plural(result.runs, 'run')} from the cache of exact runs."
    yield from (f"* warning: {warning}" for warning in result.new_warnings[:3])
    for fault in result.new_faults[:3]:
        yield f"* new fault ({fault.severity}): {fault.title}, {fault.runs} of {fault.of} runs: {fault.line}"
    if result.board is not None:
        yield from _board(result.board)
    yield from (f"* {note}" for note in result.notes)


def _board(board: BoardFacts) -> Iterator[str]:
    """How many rows stand how, and the first three that differ, the lost ones first."""
    counts = Counter(_STANDS.get((row.base, row.series)) for row in board.rows)
    said = [f"{counts[words]} {words}" for words in _STANDS.values() if counts[words]]
    left = counts[None]
    said += [f"{left} not determined, or shown in part"] if left else []
    yield f"Board ({board.title}), {plural(len(board.rows), 'row')}: {', '.join(said)}."
    differing = [row for row in board.rows if {row.base, row.series} == {"works", "does not work"}]
    for row in sorted(differing, key=lambda row: row.series)[:3]:
        yield f"* {row.task}: {row.base} with the base: {_short(row.base_because)}"
        yield f"  {row.series} with the series: {_short(row.series_because)}"


def _short(sentence: str) -> str:
    """As much of it as two lines of a mail take."""
    return sentence if len(sentence) <= _SENTENCE else sentence[: _SENTENCE - 3] + "..."

"""The mail of a series: its verdict, builds and new faults, and then the mail of the campaign; in forty lines."""

from __future__ import annotations

from collections.abc import Iterator

from txop.ci.judge import Judged
from txop.ci.result import CiResult
from txop.ci.verdict import State
from txop.report.exports.mail import Cover, cover_lines, lines

_REASONS_BELOW = frozenset({State.WORSE, State.WARNINGS, State.BETTER, State.EQUIVALENT, State.INCONCLUSIVE})
"""Where the mail of the campaign, or the list of warnings, has the reasons."""


def mail(judged: Judged, result: CiResult) -> list[str]:
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
    yield from (f"* warning: {warning}" for warning in result.new_warnings[:3])
    for fault in result.new_faults[:3]:
        yield f"* new fault ({fault.severity}): {fault.title}, {fault.runs} of {fault.of} runs: {fault.line}"
    yield from (f"* {note}" for note in result.notes)

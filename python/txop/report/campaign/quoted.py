"""Sentences about captures on the page: of one run per arm, named with the command that says the same.

A sentence has the figures of one capture in it, so it is true of one run and not of an arm.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, TypeGuard

from txop.archive.run_file import RunFile
from txop.present.blocks import Lines
from txop.report.campaign.pieces import Fold, Paragraph, Piece

_MOST_TEXTS = 6
"""As many as a run's record keeps."""
_MOST_CHARACTERS = 500
_MOST_LINES = 80
_CHOSEN_BY = "throughput_mbit_s"


def run_to_quote(runs: Sequence[RunFile]) -> RunFile | None:
    """The run in the middle by its throughput, the lower of two; the first one where none has any."""
    known = [
        (value.value, run)
        for run in runs
        if (value := run.metrics.get(_CHOSEN_BY)) is not None and value.value is not None
    ]
    known.sort(key=lambda each: each[0])
    return known[(len(known) - 1) // 2][1] if known else next(iter(runs), None)


@dataclass(frozen=True)
class _Conclusion:
    """A conclusion: what it is, of what, in words."""

    heading: str
    subject: str
    text: str


def quoted(title: str, arms: Sequence[tuple[str, Sequence[RunFile]]], part: str, keys: Sequence[str]) -> Fold | None:
    """What one run of each arm says in ``part`` (``air``, ``bus``) of its record; ``None`` when none says anything.

    ``keys``: where a record of an older txop has sentences without headings and subjects.
    """
    pieces: list[Piece] = []
    commands: list[str] = []
    for name, runs in arms:
        run = run_to_quote([each for each in runs if isinstance(getattr(each, part), Mapping)])
        if run is None:
            continue
        digest: Mapping[str, Any] = getattr(run, part)
        said = _conclusions(digest, keys)
        for (heading, subject), same in groupby(said, key=lambda each: (each.heading, each.subject)):
            above = " - ".join(part for part in (heading, subject) if part)
            pieces.append(Lines([each.text for each in same], f"{name}: {above}" if above else name))
        window = digest.get("window")
        command = window.get("command") if isinstance(window, Mapping) else None
        place = f", in its folder: {command[:_MOST_CHARACTERS]}" if isinstance(command, str) else ""
        if said:
            commands.append(f"{name} is run {run.run}{place}")
    if not pieces:
        return None
    origin = "Each arm's sentences are of one run, the one in the middle by its throughput, and of its measured window."
    return Fold(title, [Paragraph(origin), *pieces[:_MOST_LINES], Lines(commands[:_MOST_LINES], "The runs")])


def _conclusions(digest: Mapping[str, Any], keys: Sequence[str]) -> list[_Conclusion]:
    listed = digest.get("conclusions")
    if isinstance(listed, list):
        found = [each for each in listed if isinstance(each, Mapping)][: 2 * _MOST_TEXTS]
        parts = [[each.get(key) for key in ("heading", "subject", "text")] for each in found]
        return [_Conclusion(*(text[:_MOST_CHARACTERS] for text in each)) for each in parts if _all_text(each)]
    return [_Conclusion("", "", text) for key in keys for text in _texts(digest.get(key))]


def _all_text(values: Sequence[object]) -> TypeGuard[Sequence[str]]:
    return all(isinstance(value, str) for value in values)


def _texts(value: object) -> list[str]:
    texts = value[:_MOST_TEXTS] if isinstance(value, list) else []
    return [text[:_MOST_CHARACTERS] for text in texts if isinstance(text, str)]

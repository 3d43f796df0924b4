"""Looks at a campaign before its end, as its journal has them: after how many blocks, and at what level."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from txop.archive.journal import Event

EVENT = "look"


@dataclass(frozen=True)
class LookTaken:
    """A look."""

    blocks: int
    confidence: float
    """What comparisons are asked for there, so that all looks together keep to the plan's."""
    planned: tuple[int, ...]
    """All looks that were registered when the campaign began."""


def last_look(events: Iterable[Event]) -> LookTaken | None:
    """The last look of a campaign; ``None``: it has none, and is judged at its end only."""
    found = None
    for event in events:
        if event.event == EVENT:
            found = _of(event) or found
    return found


def _of(event: Event) -> LookTaken | None:
    blocks, confidence, planned = (event.get(key) for key in ("blocks", "confidence", "planned"))
    if not _is_count(blocks) or not isinstance(confidence, float) or not math.isfinite(confidence):
        return None
    if not 0 < confidence < 1 or not isinstance(planned, list) or not all(map(_is_count, planned)):
        return None
    return LookTaken(int(str(blocks)), confidence, tuple(planned))


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value <= 1000

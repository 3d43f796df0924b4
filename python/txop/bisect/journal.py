"""The journal of a bisection, read into outcomes. Every event is on the disk before the next step, so that a bisection
continues after any interruption."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from txop.archive.journal import Event
from txop.bisect.search import Outcomes

BUILT = "built"
NOT_BUILT = "not-built"
RAN = "run-finished"
VOIDED = "run-voided"


@dataclass
class Account:
    """What the journal has beside the knowledge of the search."""

    known: Outcomes
    seconds: float = 0.0
    """Time that bisecting took, over all processes."""
    runs: int = 0
    reused: int = 0
    """Runs that were not run, as an exact guest with the same inputs had been."""
    damage: list[str] = field(default_factory=list)
    logs: dict[int, str] = field(default_factory=dict)
    """Log of a failed build, by candidate."""


def account_of(events: Iterable[Event], last: int) -> Account:
    """What a journal's events say. An event that is invalid is damage, and passed over."""
    account = Account(Outcomes(last))
    begun: float | None = None
    boot = ""
    latest = 0.0
    for number, event in enumerate(events, 1):
        if event.event in ("bisection-started", "resumed") or event.boot != boot:
            account.seconds += 0.0 if begun is None else max(0.0, latest - begun)
            begun, boot = event.monotonic_s, event.boot
        latest = event.monotonic_s
        if event.event in _KINDS and not _apply(account, event):
            account.damage.append(f"event {number} ({event.event}) is invalid")
    account.seconds += 0.0 if begun is None else max(0.0, latest - begun)
    return account


def _apply(account: Account, event: Event) -> bool:
    known, at, block = account.known, event.get("at_candidate"), event.get("block")
    if not isinstance(at, int) or not 0 <= at <= known.last:
        return False
    cause = event.get("cause")
    if event.event == BUILT:
        module = event.get("module")
        if not isinstance(module, str):
            return False
        known.built(at, module)
        return True
    if event.event == NOT_BUILT:
        known.not_built(at, str(cause))
        log = event.get("log")
        if isinstance(log, str):
            account.logs[at] = log
        return True
    if not isinstance(block, int) or at not in known.modules:
        return False
    account.runs += 1
    account.reused += event.get("reused") is True
    if event.event == VOIDED:
        known.voided(at, block, str(cause))
        return True
    value = event.get("value")
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return False
    known.ran(at, block, float(value))
    return True


_KINDS = frozenset({BUILT, NOT_BUILT, RAN, VOIDED})

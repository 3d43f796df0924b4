"""The journal of an exploration. Each outcome is on the disk before the next step, so that the same command
continues it after any interruption."""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from pydantic import ValidationError

from txop.archive.journal import Event, JournalWriter, read_journal
from txop.guest_exploration.exploration import Runner
from txop.guest_exploration.outcome import Outcome
from txop.guest_image.error import GuestError

_BEGUN = "exploration-started"
_RESUMED = "resumed"
_TRIED = "tried"
_VOID = "void"
FILE = "journal.jsonl"
_REPLAY = "-replay"
"""How keys of the other runner end."""
TRIES = 2
"""How often a trial is tried that this machine ends."""


def text_key(text: str, repeat: int) -> str:
    """A name for a trial of a script.

    >>> text_key("", 0), text_key("", 1)
    ('e3b0c44298fc1c149afb', 'e3b0c44298fc1c149afb-1')
    """
    return hashlib.sha256(text.encode()).hexdigest()[:20] + (f"-{repeat}" if repeat else "")


def _begun(events: Sequence[Event], made_of: dict[str, Any], folder: Path) -> dict[str, Any] | None:
    """What the exploration in the journal is made of, which has to be the same; ``None``: it has not begun."""
    other = "give another folder (--output)"
    found = [event.get("made_of") for event in events if event.event == _BEGUN]
    if not found:
        if any(event.event in (_TRIED, _VOID) for event in events):
            raise GuestError(f"{folder / FILE} does not say what its outcomes are of", what_to_do=other)
        return None
    for begun in found:
        if not isinstance(begun, dict):
            raise GuestError(f"{folder / FILE} does not say what its outcomes are of", what_to_do=other)
        if begun != made_of:
            odd = next((name for name in {**made_of, **begun} if begun.get(name) != made_of.get(name)), "format")
            raise GuestError(f"{folder} was begun with other options ({odd})", what_to_do=other)
    return made_of


class Memory:
    """A runner that has another one run only what it does not remember."""

    def __init__(self, folder: Path, made_of: dict[str, Any], runner: Runner, replayer: Runner | None = None) -> None:
        """``made_of``: what has to be the same for the outcomes to count; ``replayer``: another runner, with outcomes
        that are remembered apart.

        Raises:
            GuestError: The folder was begun with something else.
            OSError: It cannot be written to.
        """
        self._runner = runner
        self.replayer: Runner | None = None if replayer is None else _SeparateRunner(self, replayer)
        """Has the other runner run only what is not remembered of it."""
        self._known: dict[str, Outcome] = {}
        self._void: Counter[str] = Counter()
        self._at_work: dict[str, asyncio.Lock] = {}
        self.damage: list[str] = []
        self.used = 0
        """Outcomes that were asked for and remembered."""
        path = folder / FILE
        begun: dict[str, Any] | None = None
        if path.exists():
            reading = read_journal(path)
            self.damage += reading.damage
            begun = _begun(reading.events, made_of, folder)
            for number, event in enumerate(reading.events, 1):
                if event.event in (_TRIED, _VOID):
                    self._remember(event.event, event.get("key"), event.get("outcome"), number)
        self._journal = JournalWriter(path)
        if begun is None:
            self._journal.write(_BEGUN, made_of=made_of)
        else:
            self._journal.write(_RESUMED)

    def _remember(self, event: str, key: object, outcome: object, number: int) -> None:
        try:
            known = Outcome.model_validate(outcome)
        except ValidationError:
            self.damage.append(f"event {number} ({event}) is invalid")
            return
        self._keep(str(key), known)

    def _keep(self, key: str, outcome: Outcome) -> None:
        """One that this machine ended twice is left out for good: the course must not depend on when it is resumed."""
        if outcome.void:
            self._void[key] += 1
        if not outcome.void or self._void[key] >= TRIES:
            self._known[key] = outcome

    async def run(self, text: str, repeat: int) -> Outcome:
        """See :class:`Runner`."""
        return await self.recalled(self._runner, text, repeat, "")

    async def recalled(self, runner: Runner, text: str, repeat: int, end: str) -> Outcome:
        """The outcome that is remembered, or the runner's. ``end``: of the key, for each runner another."""
        key = text_key(text, repeat) + end
        async with self._at_work.setdefault(key, asyncio.Lock()):  # the same script twice is one guest
            if (known := self._known.get(key)) is not None:
                self.used += 1
                return known
            outcome = await runner.run(text, repeat)
            shown = outcome.model_dump() | {"features": sorted(outcome.features)}
            self._journal.write(_VOID if outcome.void else _TRIED, key=key, script=text, outcome=shown)
            self._keep(key, outcome)
            return outcome

    def outcome(self, text: str) -> Outcome | None:
        """What is known of a script, tried once; ``None``: nothing."""
        known = self._known.get(text_key(text, 0))
        return None if known is None or known.void else known

    @property
    def tried(self) -> tuple[Outcome, ...]:
        """Those of :attr:`outcomes` that are of no replay."""
        return tuple(known for key, known in self._known.items() if not known.void and not key.endswith(_REPLAY))

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """All that is known of the driver."""
        return tuple(outcome for outcome in self._known.values() if not outcome.void)

    @property
    def left_out(self) -> int:
        """Trials that this machine ended as often as they were tried."""
        return sum(outcome.void for outcome in self._known.values())

    def close(self) -> None:
        """Close the journal."""
        self._journal.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _SeparateRunner:
    """A runner with a memory of its own in the same journal."""

    def __init__(self, memory: Memory, runner: Runner) -> None:
        self._memory = memory
        self._runner = runner

    async def run(self, text: str, repeat: int) -> Outcome:
        return await self._memory.recalled(self._runner, text, repeat, _REPLAY)

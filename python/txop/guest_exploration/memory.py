"""What is known of an exploration: its journal. Each outcome is on the disk before the next step, so that the same
command goes on after anything."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any, Self

from pydantic import ValidationError

from txop.archive.journal import JournalWriter, read_journal
from txop.guest_exploration.exploration import Runner
from txop.guest_exploration.outcome import Outcome
from txop.guest_image.error import GuestError

_BEGUN = "exploration-started"
_RESUMED = "resumed"
_TRIED = "tried"
FILE = "journal.jsonl"


def text_key(text: str, repeat: int) -> str:
    """A name for a trial of a script.

    >>> text_key("", 0), text_key("", 1)
    ('e3b0c44298fc1c149afb', 'e3b0c44298fc1c149afb-1')
    """
    return hashlib.sha256(text.encode()).hexdigest()[:20] + (f"-{repeat}" if repeat else "")


class Memory:
    """A runner that has another one run only what it does not remember."""

    def __init__(self, folder: Path, made_of: dict[str, Any], runner: Runner) -> None:
        """``made_of``: what has to be the same for the outcomes to count.

        Raises:
            GuestError: The folder was begun with something else.
            OSError: It cannot be written to.
        """
        self._runner = runner
        self._known: dict[str, Outcome] = {}
        self.damage: list[str] = []
        self.used = 0
        """Outcomes that were asked for and remembered."""
        path = folder / FILE
        begun: dict[str, Any] | None = None
        if path.exists():
            reading = read_journal(path)
            self.damage += reading.damage
            for number, event in enumerate(reading.events, 1):
                if event.event == _BEGUN:
                    begun = event.get("made_of")
                elif event.event == _TRIED:
                    self._remember(event.get("key"), event.get("outcome"), number)
        if begun is not None and begun != made_of:
            odd = next((name for name in made_of if begun.get(name) != made_of[name]), "format")
            raise GuestError(
                f"{folder} was begun with other options ({odd})", what_to_do="give another folder (--output)"
            )
        self._journal = JournalWriter(path)
        if begun is None:
            self._journal.write(_BEGUN, made_of=made_of)
        else:
            self._journal.write(_RESUMED)

    def _remember(self, key: object, outcome: object, number: int) -> None:
        try:
            known = Outcome.model_validate(outcome)
        except ValidationError:
            self.damage.append(f"event {number} ({_TRIED}) is invalid")
            return
        self._known[str(key)] = known

    async def run(self, text: str, repeat: int) -> Outcome:
        """See :class:`Runner`."""
        key = text_key(text, repeat)
        if (known := self._known.get(key)) is not None:
            self.used += 1
            return known
        outcome = await self._runner.run(text, repeat)
        if not outcome.void:
            self._known[key] = outcome
            shown = outcome.model_dump() | {"features": sorted(outcome.features)}
            self._journal.write(_TRIED, key=key, script=text, outcome=shown)
        return outcome

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """All that is known."""
        return tuple(self._known.values())

    def close(self) -> None:
        """Close the journal."""
        self._journal.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

"""Facts and packet counts that a trial in a guest wrote down. From an untrusted machine."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from txop.core.visible import visible

MAX_BYTES = 4 << 20

_FACT = re.compile(r"(\d{1,9}\.\d{1,6}) ([a-z0-9-]{1,40})(?: (.{0,400}))?")
_SAMPLE = re.compile(r"(\d{1,9}\.\d{1,6}) (-?\d{1,15}) (\d{1,15})")


@dataclass(frozen=True)
class Fact:
    """Something that was seen."""

    uptime_s: float
    name: str
    words: str


class Facts:
    """All that was seen, in order."""

    def __init__(self, facts: list[Fact]) -> None:
        self._facts = facts

    def __iter__(self) -> Iterator[Fact]:
        return iter(self._facts)

    def find(self, name: str) -> Fact | None:
        """The last one of a name."""
        return next((fact for fact in reversed(self._facts) if fact.name == name), None)

    def all(self, name: str) -> list[Fact]:
        """Every one of a name."""
        return [fact for fact in self._facts if fact.name == name]

    def words(self, name: str) -> str | None:
        """What the last one of a name says."""
        fact = self.find(name)
        return None if fact is None else fact.words

    def with_number(self, name: str, number: int) -> Facts:
        """The same and one more."""
        last_s = self._facts[-1].uptime_s if self._facts else 0.0
        return Facts([*self._facts, Fact(last_s, name, str(number))])

    def number(self, name: str) -> int | None:
        """What the last one of a name says, where that is a number."""
        text = self.words(name)
        return int(text) if text is not None and re.fullmatch(r"\d{1,9}", text, re.ASCII) else None


def read_facts(data: bytes) -> Facts:
    """The facts in a file; other lines are left out.

    >>> read_facts(b"12.50 struck 3\\nnonsense\\n").number("struck")
    3
    """
    matches = (_FACT.fullmatch(row) for row in data[:MAX_BYTES].decode("utf-8", "replace").split("\n"))
    return Facts([Fact(float(m[1]), m[2], visible(m[3] or "")) for m in matches if m])


@dataclass(frozen=True)
class Sample:
    """The interface's counters at one moment."""

    uptime_s: float
    received: int | None
    """Packets; ``None``: there was no interface."""
    sent: int


def read_samples(data: bytes) -> list[Sample]:
    """The samples in a file; other lines are left out."""
    matches = (_SAMPLE.fullmatch(row) for row in data[:MAX_BYTES].decode("utf-8", "replace").split("\n"))
    return [Sample(float(m[1]), int(m[2]) if int(m[2]) >= 0 else None, int(m[3])) for m in matches if m]


def longest_silence_s(samples: list[Sample], from_s: float, until_s: float) -> float | None:
    """The longest time without a received packet, s, between two moments, at least; ``None`` without samples there."""
    inside = [sample for sample in samples if from_s <= sample.uptime_s <= until_s]
    if not inside:
        return None
    longest, heard_s, before = 0.0, inside[0].uptime_s, inside[0].received
    for sample in inside[1:]:
        if sample.received is not None and sample.received != before:
            heard_s = sample.uptime_s
        longest = max(longest, sample.uptime_s - heard_s)
        before = sample.received
    return longest

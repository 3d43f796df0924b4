"""What one piece of evidence shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Answer = Literal["pass", "fail", "can't be determined", "not there"]
"""``not there``: the evidence that the board names does not exist, or cannot be read."""


@dataclass(frozen=True)
class Outcome:
    """One piece of evidence, looked up."""

    answer: Answer
    sentence: str
    """With the figures and their n, or with the reason."""
    source: str = ""
    """File, capture or archive, as it was named."""
    origin: str | None = None
    """Where the figures come from; ``None``: not known."""
    n: int | None = None
    """Frames, lines or runs that it rests on."""
    disagreeing: int = 0
    """How many of several runs show the other answer; where the runs decide nothing, how many fail."""


def decided(works: bool, sentence: str, n: int) -> Outcome:
    """A check that has an answer."""
    return Outcome("pass" if works else "fail", sentence, n=n)


def undecided(because: str, n: int | None = None) -> Outcome:
    """A check that has none."""
    return Outcome("can't be determined", f"can't be determined here, because {because}", n=n)

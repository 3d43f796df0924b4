"""A sentence of a report with the figures it rests on. Mirrors ``sentence.rs`` of the analyzer."""

from __future__ import annotations

from txop.present.document import Model


class Figure(Model):
    """A figure that a sentence rests on."""

    name: str
    """What it is, as the sentence's template names it."""
    value: float
    """Its value in `unit`."""
    unit: str
    """`count`, `%`, `µs`, `s`, `Mbit/s`, `MPDUs/PPDU`, `MPDUs/bin`, `bytes`, `standard deviations`."""
    n: int
    """How many observations it is made of: the denominator of a count or share, the sample of a median."""


class Sentence(Model):
    """A statement that cannot be made without its figures."""

    text: str
    """In words."""
    figures: list[Figure]
    """What the words rest on, in the order of the text."""

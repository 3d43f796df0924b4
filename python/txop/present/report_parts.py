"""What the reports of several engines have in common.

Made by scripts/contract.py from docs/schema: change the structs in Rust instead.
"""

from __future__ import annotations

from txop.present.document import Model


class DamageNote(Model):
    """Where reading stopped."""

    offset: int
    """Byte offset in the (decompressed) file."""
    message: str
    """What was expected and what was there."""


class Figure(Model):
    """A figure that a sentence rests on."""

    name: str
    """What it is, as the sentence's template names it."""
    value: float
    """Its value in `unit`."""
    unit: str
    """`count`, `record`, `%`, `µs`, `ms`, `s`, `Mbit/s`, `per second`, `MPDUs/PPDU`, `MPDUs/bin`,
    `datagrams/transfer`, `packets/transfer`, `commands/packet`, `bytes`, `standard deviations`."""
    n: int
    """How many observations it is made of: the denominator of a count or share, the sample of a median."""


class Sentence(Model):
    """A statement that cannot be made without its figures."""

    text: str
    """In words."""
    figures: list[Figure]
    """What the words rest on, in the order of the text."""


class Window(Model):
    """The part of a capture that the figures are of: records from one moment on and before another. An end that was
    not given is null, and open."""

    from_unix_s: float | None
    """First moment inside, Unix seconds; null also without an absolute clock."""
    to_unix_s: float | None
    """First moment after it, Unix seconds."""
    from_us: float | None
    """First moment inside, from the first record of the capture on; negative when it lies before."""
    to_us: float | None
    """First moment after it, from the first record of the capture on."""
    records_before: int
    """Records before the window."""
    records_inside: int
    """Records in it."""
    records_after: int
    """Records at its end or later."""
    records_without_time: int
    """Records that have no time and are left out."""
    capture_first_unix_s: float | None
    """Time of the first record of the capture."""
    capture_last_unix_s: float | None
    """Latest time of a record of the capture."""

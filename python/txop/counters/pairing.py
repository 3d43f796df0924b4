"""The earlier and the later reading of each subject.

Two files: the last reading before, the first one after. One file: its first and its last reading of a subject, where
the text names it; what the text does not name may be two things.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from txop.counters.readings import Reading, Subject

Unpaired = Literal["one-reading", "only-before", "only-after", "not-named", "other-counters"]


@dataclass(frozen=True)
class Pair:
    """A subject with its readings."""

    subject: Subject
    before: Reading | None
    after: Reading
    unpaired: Unpaired | None
    """Why there is no ``before``; ``only-before``: ``after`` is the reading of the first file."""


def pair(before: Sequence[Reading] | None, after: Sequence[Reading]) -> list[Pair]:
    """The pairs of two files, or of one (``before`` is ``None``), in the order of ``after``."""
    return _within(after) if before is None else _across(before, after)


def _within(readings: Sequence[Reading]) -> list[Pair]:
    found: list[Pair] = []
    by_subject: dict[Subject, list[Reading]] = {}
    unnamed = 0
    for each in readings:
        if each.named:
            by_subject.setdefault(each.subject, []).append(each)
        else:
            unnamed += 1
            subject = Subject(
                each.subject.kind, each.subject.interface, each.subject.station, each.subject.frequency_mhz, unnamed
            )
            by_subject[subject] = [each]
    for subject, each_of in by_subject.items():
        first, last = each_of[0], each_of[-1]
        if len(each_of) > 1:
            found.append(_pair(subject, first, last))
        else:
            found.append(Pair(subject, None, last, "one-reading" if last.named else "not-named"))
    return found


def _across(before: Sequence[Reading], after: Sequence[Reading]) -> list[Pair]:
    found: list[Pair] = []
    taken: set[Subject] = set()
    counts = [Counter(_group(each.subject) for each in readings) for readings in (before, after)]
    earlier = {each.subject: each for each in before}
    for each in after:
        subject = each.subject
        if subject in taken:
            continue
        taken.add(subject)
        was = earlier.get(subject)
        if was is None:
            found.append(Pair(subject, None, each, "only-after"))
        elif (each.named and was.named) or all(count[_group(subject)] == 1 for count in counts):
            found.append(_pair(subject, was, each))
        else:
            found.append(Pair(subject, None, each, "not-named"))
    found += [Pair(subject, None, each, "only-before") for subject, each in earlier.items() if subject not in taken]
    return found


def _group(subject: Subject) -> tuple[str, str | None]:
    return subject.kind, subject.interface


def _pair(subject: Subject, before: Reading, after: Reading) -> Pair:
    if isinstance(before.value, dict) and isinstance(after.value, dict) and before.value.keys() != after.value.keys():
        return Pair(subject, None, after, "other-counters")
    return Pair(subject, before, after, None)

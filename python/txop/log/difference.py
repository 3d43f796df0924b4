"""The lines of a kernel log that an earlier copy did not have."""

from __future__ import annotations

from collections.abc import Sequence

from txop.log.forms import LineParser
from txop.log.record import Kind, Record

_TORN = 3
"""Among this many last lines at least one is whole."""

Same = tuple[object, ...]
"""Lines with equal keys are the same record."""


def difference(before: str, after: str) -> list[str]:
    """The lines of the log ``after`` a run that were not in the log ``before`` it, as they are.

    The two are copies of the kernel's ring buffer, printed the same way (``dmesg`` in any format, ``/dev/kmsg``,
    ``journalctl -k``). In between, old lines may have been overwritten, the buffer cleared, or the machine rebooted:
    then everything that is left of the later log is new.

    >>> difference("[ 1.0] a\\n[ 2.0] b\\n", "[ 2.0] b\\n[ 3.0] b\\n")
    ['[ 3.0] b']
    """
    old, new = _records(before), _records(after)
    if not old or not new:
        return [record.raw for record in new]
    old_keys, new_keys = [_key(record) for record in old], [_key(record) for record in new]
    known = _overlap(old_keys, new_keys)
    if known == 0:
        known = _known_by_clock(old, old_keys, new_keys)
    return [record.raw for record in new[known:]]


def _records(text: str) -> list[Record]:
    parser = LineParser()
    records = (parser.parse(line.removesuffix("\r")) for line in text.split("\n"))
    return [record for record in records if record.kind is not Kind.EMPTY and not _is_heading(record)]


def _is_heading(record: Record) -> bool:
    """``-- Logs begin at ...``: written by the tool each time."""
    return record.kind is Kind.MARK and record.message.startswith(
        ("-- Logs", "-- Journal", "-- No entries", "-- cursor")
    )


def _key(record: Record) -> Same:
    if record.sequence is not None:
        return (record.sequence, record.message)
    if record.time_s is not None:
        return (record.time_s, record.message)
    if record.form in ("dmesg-ctime", "dmesg-iso", "dmesg-reltime"):  # recomputed from the clock of today
        return (record.message,)
    return (record.raw,)


def _overlap(old: Sequence[Same], new: Sequence[Same]) -> int:
    """How many of the first of ``new`` are the last of ``old``: the most that fit (prefix function, linear)."""
    borders = [0] * len(new)
    for place in range(1, len(new)):
        length = borders[place - 1]
        while length and new[place] != new[length]:
            length = borders[length - 1]
        borders[place] = length + 1 if new[place] == new[length] else length
    matched = 0
    for key in old:
        while matched and (matched == len(new) or key != new[matched]):
            matched = borders[matched - 1]
        if key == new[matched]:
            matched += 1
    return matched


def _known_by_clock(old: Sequence[Record], old_keys: Sequence[Same], new_keys: Sequence[Same]) -> int:
    """How many of the first of ``new`` are old when the two do not join exactly, as when a copy was cut inside a line.

    The buffer is contiguous: if anything of the old copy is left in the new one, then its last lines are. Otherwise
    nothing is known to be old.
    """
    stamped = [key for key, record in zip(old_keys, old, strict=True) if _is_stamped(record)]
    last = set(stamped[-_TORN:])
    places = (place for place, key in enumerate(new_keys, 1) if key in last)
    return max(places, default=0)


def _is_stamped(record: Record) -> bool:
    """Whether the record says where in its boot it is. Many boots have the same lines at time 0."""
    return record.sequence is not None or bool(record.time_s)

"""``/proc/interrupts`` and ``/proc/softirqs``: a table of counters per CPU; and the difference of two of them.

The head names the CPUs that are online (``CPU0 CPU2`` when CPU1 is not). Rows such as ``ERR`` have one count for all.
Counters per interrupt are 32 bits wide in the kernel (``struct irq_desc``), so they wrap.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from txop.core.visible import visible
from txop.formats.error import FormatError, quoted_start
from txop.formats.proc_stat import increase
from txop.formats.reading import lines_of, text_of, whole

_ROW = re.compile(r" *([^:\s]{1,32}):(.*)")
_MAX_CPUS = 65_536


@dataclass(frozen=True, slots=True)
class InterruptRow:
    """One interrupt line, or one kind of softirq."""

    label: str
    """``24``, ``LOC``, ``NET_RX``, ..."""

    counts: tuple[int, ...]
    """Per CPU in the order of `InterruptTable.cpus`; a single one when the kernel keeps one for all."""

    description: str
    """Controller, kind and names, as printed; for a softirq nothing."""

    @property
    def total(self) -> int:
        """Over all CPUs."""
        return sum(self.counts)

    @property
    def names(self) -> tuple[str, ...]:
        """The handlers' names, or for ``LOC:`` and its like what the row is about."""
        if not self.label.isdigit():
            return (self.description,) if self.description else ()
        # The names come last, separated by ", "; only the first can have the controller before it.
        first, *others = self.description.split(", ")
        words = first.split()
        return (words[-1], *others) if words else ()


@dataclass(frozen=True, slots=True)
class InterruptTable:
    """One snapshot."""

    cpus: tuple[int, ...]
    rows: Mapping[str, InterruptRow]
    """By label, in the file's order."""


@dataclass(frozen=True, slots=True)
class InterruptIncrease:
    """What one row counted between two snapshots."""

    label: str
    description: str
    total: int | None
    """``None`` when a counter went back, or a CPU came or went."""

    per_cpu: Mapping[int, int] | None
    """By CPU number; ``None`` also for rows with one count for all CPUs."""


def parse(data: str | bytes, what: str = "/proc/interrupts") -> InterruptTable:
    """One table. Raises FormatError without the line that names the CPUs."""
    text = text_of(data, what)
    cpus: tuple[int, ...] | None = None
    rows: dict[str, InterruptRow] = {}
    for _, line in lines_of(text):
        if cpus is None:
            if line.strip():
                cpus = _head(line, what, text)
            continue
        row = _ROW.match(line)
        if row is None:
            continue
        counts: list[int] = []
        rest = row[2]
        while len(counts) < len(cpus):
            word = rest.split(maxsplit=1)
            count = whole(word[0]) if word else None
            if count is None:
                break
            counts.append(count)
            rest = word[1] if len(word) > 1 else ""
        if counts:
            rows[row[1]] = InterruptRow(row[1], tuple(counts), visible(" ".join(rest.split())))
    if cpus is None:
        raise FormatError(f"{what} expected; {quoted_start(text)}")
    return InterruptTable(cpus, rows)


def _head(line: str, what: str, text: str) -> tuple[int, ...]:
    words = line.split()
    numbers = [whole(word[3:], most=_MAX_CPUS) if word.startswith("CPU") else None for word in words[:_MAX_CPUS]]
    known = [number for number in numbers if number is not None]
    if not known or len(known) != len(words):
        raise FormatError(f"{what} expected; {quoted_start(text)}")
    return tuple(known)


def difference(before: InterruptTable, after: InterruptTable) -> tuple[InterruptIncrease, ...]:
    """Per row of ``after`` that is also in ``before`` with the same description, how much it grew."""
    increases = []
    for label, row in after.rows.items():
        old = before.rows.get(label)
        if old is None or old.description != row.description:
            continue
        per_cpu: dict[int, int] | None = None
        total: int | None = None
        one_count = len(row.counts) == len(old.counts) == 1 and min(len(before.cpus), len(after.cpus)) > 1
        if one_count:
            total = increase(old.total, row.total)
        elif before.cpus == after.cpus and len(old.counts) == len(row.counts) == len(after.cpus):
            steps = [increase(was, now) for was, now in zip(old.counts, row.counts, strict=True)]
            known = [step for step in steps if step is not None]
            if len(known) == len(steps):
                per_cpu, total = dict(zip(after.cpus, known, strict=True)), sum(known)
        increases.append(InterruptIncrease(label, row.description, total, per_cpu))
    return tuple(increases)

"""The kernel log of a trial: which of its lines say what went wrong."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from txop.core.visible import visible
from txop.log import name_faults, shipped_rules
from txop.log.forms import LineParser
from txop.log.record import Kind
from txop.log.report import Fault, LogReport

MAX_BYTES = 16 << 20
CRASHES = frozenset(
    {"kernel-oops", "kernel-bug", "kernel-panic", "kernel-memory-checker", "kernel-out-of-memory", "kernel-locking"}
)
"""Rules of :mod:`txop.log` after which the kernel is not to be trusted any more."""
LOCKED_UP = "kernel-watchdog-nmi"
"""The rule of a guest with a watchdog ended that it."""
HANGS = frozenset({"kernel-hung-task", "kernel-soft-lockup", "kernel-rcu-stall", LOCKED_UP})
WARNS = frozenset({"kernel-warning", "kernel-atomic-sleep"})

_NUMBERS = re.compile(r"0x[0-9a-f]+|[0-9a-f]{2}(?::[0-9a-f]{2})+|\d+")
_MAX_LINE = 500


@dataclass(frozen=True)
class KernelLine:
    """One message."""

    time_s: float
    level: int | None
    """0 (emergency) to 7 (debug); ``None``: not known."""
    text: str

    @property
    def form(self) -> str:
        """The message without its numbers: what is the same in two runs."""
        return _NUMBERS.sub("#", self.text)


def read_kernel_lines(data: bytes) -> list[KernelLine]:
    """The messages in ``dmesg -r``, ``dmesg`` or a console.

    >>> read_kernel_lines(b"<4>[   12.500000] usb 1-1: no")[0]
    KernelLine(time_s=12.5, level=4, text='usb 1-1: no')
    """
    parser = LineParser()
    records = (parser.parse(row) for row in data[:MAX_BYTES].decode("utf-8", "replace").splitlines())
    return [
        KernelLine(record.time_s, record.level, visible(record.message[:_MAX_LINE]))
        for record in records
        if record.kind is Kind.KERNEL and record.time_s is not None
    ]


@dataclass(frozen=True)
class Trouble:
    """Trouble in a kernel log."""

    keys: frozenset[str]
    """Rules of :mod:`txop.log` of severity error that name something in it."""
    line: KernelLine | None
    """The most informative line; ``None``: there is none that a run without faults has not, too."""
    serious: bool
    """The line is a warning or an error."""


def unusual(lines: Iterable[KernelLine], usual: frozenset[str]) -> list[KernelLine]:
    """The lines with a form that is not among those of a run without faults."""
    return [line for line in lines if line.form not in usual]


def usual_forms(lines: Iterable[KernelLine]) -> frozenset[str]:
    """Forms of lines that a driver logs without a fault. Reports of a WARN, a hang or a crash are never usual."""
    return frozenset(line.form for line in lines if not trouble([line]).keys & (CRASHES | HANGS | WARNS))


def named(lines: Iterable[KernelLine]) -> LogReport:
    """What :mod:`txop.log` names in them."""
    return name_faults(f"[{line.time_s:12.6f}] {line.text}" for line in lines)


def deadlocks(report: LogReport) -> list[Fault]:
    """The hangs that are known: those that a rule tells from any task that hangs."""
    rules = shipped_rules().rules
    return [fault for fault in report.faults if fault.key in rules and HANGS.intersection(rules[fault.key].also)]


def trouble(lines: list[KernelLine], usual: frozenset[str] = frozenset()) -> Trouble:
    """Trouble in a log. ``usual``: forms of lines that a run without faults has, too."""
    odd = unusual(lines, usual)
    keys = frozenset(fault.key for fault in named(odd).faults if fault.severity == "error")
    ranked = [(rank, at) for at, line in enumerate(odd) if (rank := _rank(line)) is not None]
    if not ranked:
        return Trouble(keys, None, serious=False)
    rank, at = min(ranked)
    return Trouble(keys, odd[at], serious=rank < _TELLING)


_TELLING = 5
"""Ranks from here on are not warnings."""


def _rank(line: KernelLine) -> int | None:
    """How informative a line is, 0 the most; ``None``: not at all."""
    severity = _severity(line.text)
    if severity == "error":
        return 0
    if line.level is not None and line.level <= 3:
        return 1
    if severity == "warning":
        return 2
    if line.level == 4:
        return 3
    if "fail" in line.text.lower() or "error" in line.text.lower():
        return 4
    if severity == "info" or re.search(r"usb |rtl|wlan", line.text):
        return 5
    return None


@lru_cache(maxsize=4096)
def _severity(text: str) -> str | None:
    worst = name_faults([f"[    0.000000] {text}"]).worst()
    return None if worst is None else str(worst)

"""Links faults to an earlier fault that explains them."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from fnmatch import fnmatchcase

from txop.log import clock
from txop.log.record import Record
from txop.log.rule_files import Rule

WITHIN_S = 60.0
"""A consequence comes within this time."""

WITHIN_LINES = 100
"""A consequence comes within this many lines, where the log has no times."""

_KEPT = 64


@dataclass(frozen=True, slots=True)
class _PastFault:
    rule: Rule
    root: Rule
    """The rule of what explains it itself, or its own."""
    device: str | None
    boot: int
    line: int
    at_s: float | None


def when(record: Record) -> float | None:
    """Seconds on the clock that the log has."""
    if record.time_s is not None:
        return record.time_s
    return None if record.clock is None else clock.seconds(record.clock)


class Causes:
    """Remembers the last faults that can explain others."""

    def __init__(self) -> None:
        self._past: OrderedDict[tuple[str, str | None], _PastFault] = OrderedDict()

    def cause_of(self, rule: Rule, device: str | None, boot: int, record: Record) -> Rule | None:
        """The rule of the fault that explains one of ``rule``, the first of a chain; and ``rule`` is remembered when it
        explains others."""
        found: Rule | None = None
        if self._past:
            at_s = when(record)
            for past in reversed(self._past.values()):
                another = (past.rule.key, past.device) != (rule.key, device)
                if another and past.boot == boot and _near(past, record.line, at_s) and _explains(past, rule, device):
                    found = past.root
                    break
        if rule.explains:
            self._past.pop((rule.key, device), None)
            self._past[rule.key, device] = _PastFault(rule, found or rule, device, boot, record.line, when(record))
            if len(self._past) > _KEPT:
                self._past.popitem(last=False)
        return found


def _near(past: _PastFault, line: int, at_s: float | None) -> bool:
    if past.at_s is not None and at_s is not None:
        return 0 <= at_s - past.at_s <= WITHIN_S
    return 0 <= line - past.line <= WITHIN_LINES


def _explains(past: _PastFault, rule: Rule, device: str | None) -> bool:
    for what in past.rule.explains:
        if what == "all" or (what.startswith("device:") and _is_on(what.removeprefix("device:"), device, past)):
            if rule.severity != "info":
                return True
        elif fnmatchcase(rule.key, what) and not _is_a_neighbour(past.device, device):
            return True
    return False


_SEPARATE = ("usb", "pci", "mmc")
"""Buses on which devices fail for themselves."""


def _is_a_neighbour(one: str | None, other: str | None) -> bool:
    """Whether these are two devices, such as two cards: a fault of one explains none of the other."""
    return bus_of(one) in _SEPARATE and bus_of(other) in _SEPARATE and one != other


def _is_on(kind: str, device: str | None, past: _PastFault) -> bool:
    if device is None:
        return False
    if kind == "same":
        return device == past.device
    if kind == "wifi":
        return device.startswith(("phy", "wl", "ap", "mesh", "mon"))
    return device.startswith(f"{kind} ")


def bus_of(device: str | None) -> str | None:
    """The bus of a device, as ``do_on`` of a rule calls it."""
    if device is None:
        return None
    if device.startswith("mmc"):
        return "mmc"
    kind = device.partition(" ")[0]
    return kind if kind in ("usb", "pci", "platform") and kind != device else None

"""Counts faults: one :class:`~txop.log.report.Fault` per rule, device, driver and identifying values."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from txop.log.causes import bus_of, when
from txop.log.device import without_origin
from txop.log.names import Name, errno_name, reason_name, status_name, usb_errno_name
from txop.log.record import Record
from txop.log.report import SEVERITIES, BootCount, Cause, Fault, Moment, Rate, Value
from txop.log.rule_files import Rule

MAX_FAULTS = 2000
"""Most different faults that are kept apart."""

MAX_EXAMPLES = 3
MAX_VALUES = 6
"""Values listed of each name."""

_MAX_TEXT = 256
_MAX_EXAMPLE = 1024
_ABOUT = frozenset({"device", "driver", "function"})


@dataclass
class Occurrence:
    """One time that a rule named a message."""

    rule: Rule
    record: Record
    moment: Moment
    device: str | None
    driver: str | None
    groups: dict[str, str]
    function: str | None = None
    frames: list[str] = field(default_factory=list)
    cause: Rule | None = None
    """The rule of the fault that explains it."""
    suppressed: int = 0
    """How often the kernel says that it left the message out before."""


_BURST_S = 10.0


@dataclass
class _Pace:
    """When the occurrences of one boot came."""

    first_s: float | None = None
    last_s: float | None = None
    burst_from_s: float = 0.0
    burst: int = 0
    busiest: int = 0

    def note(self, at_s: float | None, times: int) -> None:
        if at_s is None:
            return
        if self.first_s is None:
            self.first_s = at_s
        self.last_s = max(at_s, self.last_s) if self.last_s is not None else at_s
        if not self.burst or not 0 <= at_s - self.burst_from_s < _BURST_S:
            self.burst_from_s, self.burst = at_s, 0
        self.burst += times
        self.busiest = max(self.busiest, self.burst)


@dataclass
class _Entry:
    fault: Fault
    seen: set[tuple[str, str]]
    counts: dict[int, int]
    paces: dict[int, _Pace] = field(default_factory=dict)
    causes: Counter[tuple[str, str]] = field(default_factory=Counter)

    def rate(self) -> Rate | None:
        spans = [
            pace.last_s - pace.first_s
            for pace in self.paces.values()
            if pace.first_s is not None and pace.last_s is not None
        ]
        count = sum(self.counts.values())
        if count < 2 or (over_s := sum(spans)) <= 0:
            return None
        busiest = max(pace.busiest for pace in self.paces.values())
        return Rate(over_s=round(over_s, 6), per_s=count / over_s, busiest_10_s=busiest)


class Tally:
    """All the faults of a log."""

    def __init__(self) -> None:
        self._entries: dict[tuple[str | None, ...], _Entry] = {}
        self.left_out = 0

    def add(self, occurrence: Occurrence) -> Fault | None:
        """Count ``occurrence`` (``record.repeats`` times); None when there are too many different faults."""
        rule, record = occurrence.rule, occurrence.record
        values = {name: text[:_MAX_TEXT] for name, text in occurrence.groups.items() if name not in _ABOUT}
        # a task that hangs may be reported in another function the next time
        where = (None, None, None) if rule.lasts else (occurrence.device, occurrence.driver, occurrence.function)
        identity = (
            rule.key,
            *where,
            *(values.get(name) for name in rule.identity),
        )
        entry = self._entries.get(identity)
        if entry is None:
            if len(self._entries) >= MAX_FAULTS:
                self.left_out += record.repeats
                return None
            entry = self._entries[identity] = _Entry(_new_fault(occurrence), set(), {})
        fault = entry.fault
        boot = occurrence.moment.boot
        entry.counts[boot] = entry.counts.get(boot, 0) + record.repeats
        entry.paces.setdefault(boot, _Pace()).note(when(record), record.repeats)
        if occurrence.cause is not None:
            entry.causes[occurrence.cause.key, occurrence.cause.title] += record.repeats
        fault.suppressed += occurrence.suppressed
        fault.last = max(fault.last, occurrence.moment, key=lambda moment: moment.line)
        self._add_values(entry, rule, values)
        if len(fault.examples) < MAX_EXAMPLES and record.raw and (line := record.raw[:_MAX_EXAMPLE].rstrip()):
            fault.examples.append(line)
        if not fault.frames:
            fault.frames = occurrence.frames
        return fault

    def repeat(self, fault: Fault, moment: Moment, times: int) -> None:
        """``fault`` came ``times`` more, in a row."""
        for entry in self._entries.values():
            if entry.fault is fault:
                entry.counts[moment.boot] = entry.counts.get(moment.boot, 0) + times
                fault.last = moment

    def faults(self) -> list[Fault]:
        """The worst first, then by first line; what is a consequence follows its cause."""
        for entry in self._entries.values():
            fault = entry.fault
            fault.counts = [BootCount(boot=boot, count=count) for boot, count in sorted(entry.counts.items())]
            fault.count = sum(entry.counts.values())
            fault.rate = entry.rate()
            fault.after = [Cause(key=key, title=title, count=n) for (key, title), n in entry.causes.most_common()]
        return _causes_first([entry.fault for entry in self._entries.values()])

    def _add_values(self, entry: _Entry, rule: Rule, values: dict[str, str]) -> None:
        for name, text in values.items():
            if (name, text) in entry.seen:
                continue
            if sum(1 for seen, _ in entry.seen if seen == name) >= MAX_VALUES:
                entry.fault.values_left_out += 1
                continue
            entry.seen.add((name, text))
            entry.fault.values.append(Value(name=name, text=text, meaning=meaning(name, text, usb=rule.usb)))


def _causes_first(faults: list[Fault]) -> list[Fault]:
    """The worst first, then by first line, where a cause is as bad as the worst of what it explains."""
    by_key: dict[str, Fault] = {}
    for fault in sorted(faults, key=lambda fault: fault.first.line):
        by_key.setdefault(fault.key, fault)

    def root(fault: Fault) -> Fault:
        seen = {fault.key}
        while fault.is_consequence() and (cause := by_key.get(fault.after[0].key)) is not None:
            if cause.key in seen or cause.first.line > fault.first.line:
                break
            seen.add(cause.key)
            fault = cause
        return fault

    roots = {id(fault): root(fault) for fault in faults}
    places = {id(fault): place for place, fault in enumerate(faults)}
    worst: dict[int, int] = {}
    for fault in faults:
        of = id(roots[id(fault)])
        worst[of] = min(worst.get(of, len(SEVERITIES)), SEVERITIES.index(fault.severity))

    def rank(fault: Fault) -> tuple[int, int, int, bool, int, int, str]:
        first = roots[id(fault)]
        own = SEVERITIES.index(fault.severity)
        return (
            worst[id(first)],
            first.first.line,
            places[id(first)],
            fault is not first,
            own,
            fault.first.line,
            fault.key,
        )

    return sorted(faults, key=rank)


_NEGATIVE = re.compile(r"0x[f]{5}[0-9a-f]{3}")
"""A small negative number that was printed as unsigned."""


def meaning(name: str, text: str, *, usb: bool) -> str | None:
    """What a value means, for the names that carry numbers: ``errno...``, ``reason...``, ``status...``.

    >>> meaning("errno", "-71", usb=False), meaning("reason", "7", usb=False), meaning("address", "1c00", usb=False)
    ('EPROTO', 'INVALID_CLASS3_FRAME (a frame that needs association came from a station without it)', None)
    """
    if name.startswith("errno") and _NEGATIVE.fullmatch(text):
        text = str(int(text, 16) - (1 << 32))
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 9):
        return None
    number = int(text)
    found: Name | None = None
    if name.startswith("errno"):
        found = usb_errno_name(number) if usb else errno_name(number)
    elif name.startswith("reason"):
        found = reason_name(number)
    elif name.startswith("status"):
        found = status_name(number)
    return None if found is None else str(found)


def _new_fault(occurrence: Occurrence) -> Fault:
    rule = occurrence.rule
    return Fault(
        key=rule.key,
        title=rule.title,
        severity=rule.severity,
        subsystem=rule.subsystem,
        driver=occurrence.driver,
        device=occurrence.device,
        values=[],
        values_left_out=0,
        count=0,
        counts=[],
        message=without_origin(occurrence.record.message)[:_MAX_EXAMPLE],
        first=occurrence.moment,
        last=occurrence.moment,
        examples=[],
        function=occurrence.function,
        frames=[],
        known=rule.known,
        do=rule.do_on.get(bus_of(occurrence.device), rule.do),  # type: ignore[call-overload]
        source=rule.source,
    )

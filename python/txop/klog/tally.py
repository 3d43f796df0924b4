"""Counts faults: one :class:`~txop.klog.report.Fault` per rule, device, driver and identifying values."""

from __future__ import annotations

from dataclasses import dataclass, field

from txop.klog.names import Name, errno_name, reason_name, status_name, usb_errno_name
from txop.klog.record import Record
from txop.klog.report import SEVERITIES, BootCount, Fault, Moment, Value
from txop.klog.rule_files import Rule

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


@dataclass
class _Entry:
    fault: Fault
    seen: set[tuple[str, str]]
    lines: set[str]
    counts: dict[int, int]


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
            entry = self._entries[identity] = _Entry(_new_fault(occurrence), set(), set(), {})
        fault = entry.fault
        entry.counts[occurrence.moment.boot] = entry.counts.get(occurrence.moment.boot, 0) + record.repeats
        fault.last = occurrence.moment
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
        """The worst first, then by first line."""
        for entry in self._entries.values():
            entry.fault.counts = [BootCount(boot=boot, count=count) for boot, count in sorted(entry.counts.items())]
            entry.fault.count = sum(entry.counts.values())
        found = [entry.fault for entry in self._entries.values()]
        return sorted(found, key=lambda fault: (SEVERITIES.index(fault.severity), fault.first.line, fault.key))

    def _add_values(self, entry: _Entry, rule: Rule, values: dict[str, str]) -> None:
        for name, text in values.items():
            if (name, text) in entry.seen:
                continue
            if sum(1 for seen, _ in entry.seen if seen == name) >= MAX_VALUES:
                entry.fault.values_left_out += 1
                continue
            entry.seen.add((name, text))
            entry.fault.values.append(Value(name=name, text=text, meaning=meaning(name, text, usb=rule.usb)))


def meaning(name: str, text: str, *, usb: bool) -> str | None:
    """What a value means, for the names that carry numbers: ``errno...``, ``reason...``, ``status...``.

    >>> meaning("errno", "-71", usb=False), meaning("reason", "7", usb=False), meaning("address", "1c00", usb=False)
    ('EPROTO', 'INVALID_CLASS3_FRAME (a frame that needs association came from a station without it)', None)
    """
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
        first=occurrence.moment,
        last=occurrence.moment,
        examples=[],
        function=occurrence.function,
        frames=[],
        known=rule.known,
        do=rule.do,
        source=rule.source,
    )

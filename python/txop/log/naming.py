"""From lines to named faults: the one pass over a log."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO

from txop.log import device as devices
from txop.log.boots import BootCounter
from txop.log.causes import Causes
from txop.log.crash import OpenReport
from txop.log.forms import FORMS, LineParser
from txop.log.lines import MAX_LINE, Damage, read_lines
from txop.log.record import Kind, Record
from txop.log.report import Fault, FormCount, Lines, LogReport
from txop.log.rule_files import MATCHED, Rule, RuleSet, shipped_rules
from txop.log.tally import Occurrence, Tally
from txop.log.unnamed import PROGRAMS, UnnamedCounter
from txop.log.usb_ports import SettledMessage, UsbPorts
from txop.log.usb_speed import SpeedWatch

_BANNER = "Linux version "  # init/version.c, the first message of a boot
_FRONT = 64
_NO_ORIGIN = devices.Origin()
_SAME_REPORT_S, _SAME_REPORT_LINES = 1.0, 100
"""What comes so shortly after the first line of a report may belong to it."""
_CUT_HERE = "------------[ cut here"
_CUT_LINES = 3
"""At most this many lines stand between ``cut here`` and the first line of a report."""
_TEXT_REPORTS = frozenset({"kernel-warning", "kernel-bug"})
_TEXTS = frozenset({"wifi-invalid-rate", "wifi-no-rate", "rtw88-deep-power"})
"""Rules about what an author writes in a WARN."""
_SUPPRESSED = re.compile(r"[\w.-]{1,64}: (?P<n>\d{1,9}) (?:callbacks|messages) suppressed")
_COUNTED = {
    Kind.KERNEL: "kernel",
    Kind.BARE: "bare",
    Kind.OTHER_PROGRAM: "other_programs",
    Kind.MARK: "marks",
    Kind.REPEAT: "marks",
    Kind.EMPTY: "empty",
    Kind.JUNK: "not_understood",
}


class LogNamer:
    """Takes the lines of one log in order, and returns the faults they report. Memory does not depend on the log."""

    def __init__(self, rules: RuleSet | None = None) -> None:
        self._rules = shipped_rules() if rules is None else rules
        self._parser = LineParser()
        self._boots = BootCounter()
        self._tally = Tally()
        self._speeds = SpeedWatch()
        self._kinds: Counter[Kind] = Counter()
        self._forms: Counter[str] = Counter()
        self._lines = 0
        self._recognised = False
        self._cut = 0
        self._open: tuple[Occurrence, OpenReport] | None = None
        self._by_frames: list[Occurrence] = []
        self._last: list[Fault] = []
        self._unnamed = UnnamedCounter()
        self._causes = Causes()
        self._resetters = frozenset(
            driver
            for (_, detector), rule in self._rules.instead.items()
            if detector == "usb-reset-in-probe"
            for driver in rule.drivers
        )
        self._ports = UsbPorts(self._resetters)
        self._skipped = 0
        self._suppressed = 0
        self._cut_here: list[Record] | None = None
        self._last_report: Record | None = None

    def feed(self, line: str) -> None:
        """The next line, with or without its end."""
        self._lines += 1
        if len(line) >= MAX_LINE:
            self._cut += 1
            line = line[:MAX_LINE]
        record = self._parser.parse(line)
        record.line = self._lines
        if record.starts:
            self._begin_where_a_message_begins(record)
        self._take(record)

    def _take(self, record: Record) -> None:
        self._kinds[record.kind] += 1
        self._skipped += record.skipped
        if record.kind in (Kind.KERNEL, Kind.BARE):
            self._forms[record.form] += 1
            self._recognised = self._recognised or _is_certain(record)
            self._kernel_message(record)
        elif record.kind is Kind.MARK:
            self._boots.feed(record)
        elif record.kind is Kind.REPEAT:
            for fault in self._last:
                self._tally.repeat(fault, self._boots.moment(record), record.repeats)
        elif record.kind is Kind.OTHER_PROGRAM:
            self._last = []
            self._program_message(record)

    def _begin_where_a_message_begins(self, record: Record) -> None:
        """Leave out what stands in front of ``record`` when a known message or device comes after it."""
        whole = record.message[:MATCHED]
        if record.kind is Kind.OTHER_PROGRAM:  # a time in front, and perhaps no program
            start = record.starts[0]
            named = self._rules.naming(start[:MATCHED]) if record.program not in self._rules.programs else []
            if any(match.start() == 0 or record.program in rule.drivers for rule, match in named):
                record.kind, record.program, record.message = Kind.KERNEL, None, start
            return
        if devices.origin(whole).device is not None:
            return
        named = self._rules.naming(whole, anyone=True)
        if any(match.start() == 0 for _, match in named):
            return
        starts = [start for start in record.starts if devices.origin(start[:MATCHED]).device is not None]
        if not starts and not named and self._rules.may_name(whole):
            starts = [start for start in record.starts if self._rules.naming(start[:MATCHED], anyone=True)]
        if starts:
            record.message = starts[0]
            record.skipped = starts[0] not in record.starts[: record.known_starts]

    def report(self, source: str, damage: str | None = None) -> LogReport:
        """What the lines so far say. ``source`` is the name of the log."""
        if (last := self._parser.finish()) is not None:  # in place of the mark that its last line was
            self._kinds[Kind.MARK] -= 1
            last.line = self._lines
            self._take(last)
        self._close_report()
        self._settle(self._ports.finish())
        self._drop_cut_here()
        self._boots.finish()
        counts = dict.fromkeys(_COUNTED.values(), 0)
        for kind, number in self._kinds.items():
            counts[_COUNTED[kind]] += number
        faults = self._tally.faults()
        return LogReport(
            source=source,
            lines=Lines(read=self._lines, cut=self._cut, prefix_skipped=self._skipped, **counts),
            recognised=self._recognised or bool(faults),
            forms=[FormCount(form=form, title=FORMS[form], lines=n) for form, n in self._forms.most_common()],
            boots=self._boots.boots,
            gaps=self._boots.gaps,
            gaps_left_out=self._boots.gaps_not_listed,
            faults=faults,
            faults_left_out=self._tally.left_out,
            unnamed=self._unnamed.result(),
            damage=damage,
        )

    def _kernel_message(self, record: Record) -> None:
        record.message = record.message[:MATCHED]
        if self._boots.feed(record):
            self._close_report()
            self._settle(self._ports.finish())
            self._speeds, self._ports, self._causes = SpeedWatch(), UsbPorts(self._resetters), Causes()
        self._unnamed.note_level(record)
        named = self._rules.naming(record.message, anyone=record.kind is Kind.BARE)
        # names of USB devices have a hyphen, and the others are not asked for here
        origin = devices.origin(record.message) if "-" in record.message[:_FRONT] else _NO_ORIGIN
        if settled := self._ports.feed(record, origin.device, origin.driver):
            self._settle(settled)
        speed_before = self._speeds.feed(record.message)
        in_report = self._feed_open_report(record, named)
        self._last = []
        counted = bool(named) and self._count_named(record, named, speed_before, in_report=in_report)
        if self._suppressed or "suppressed" in record.message:
            self._note_suppressed(record)
        if not counted and not in_report:
            self._note_unnamed(record)

    def _count_named(
        self,
        record: Record,
        named: list[tuple[Rule, re.Match[str]]],
        speed_before: str | None,
        *,
        in_report: bool,
    ) -> bool:
        """Count the faults that ``record`` reports; whether a rule is about it, and not only about its report."""
        counted = False
        for rule, match in named:
            if rule.frames or rule.instead_of:
                continue
            if rule.detector == "report-fragment":
                counted = True
                if not in_report and not self._just_after_a_report(record):
                    self._add(record, rule, match)
            elif rule.detector is not None:
                if speed_before is not None:
                    self._add_speed(record, rule, match, speed_before)
            elif not (in_report and self._open is not None and rule.key in self._absorbed()):
                counted = True
                self._add(record, rule, match)
        if self._open is not None and self._open[0].record is record:
            self._by_frames = [self._occurrence(record, rule, match) for rule, match in named if rule.frames]
        return counted

    def _program_message(self, record: Record) -> None:
        """A message of another program: those about the network are looked at."""
        if record.program is None:
            return
        record.message = record.message[:MATCHED]
        known = record.program in self._rules.programs
        named = self._rules.naming(record.message, record.program) if known else []
        for rule, match in named:
            self._add(record, rule, match)
        if not named and record.program.lower() in PROGRAMS:
            self._unnamed.note(record)

    def _note_suppressed(self, record: Record) -> None:
        """The kernel says how often it left a message out just before it prints it the next time."""
        found = _SUPPRESSED.match(record.message)
        self._suppressed = int(found["n"]) if found else 0

    def _note_unnamed(self, record: Record) -> None:
        """What stands behind ``cut here`` is the text of the report that follows, if one does."""
        if _CUT_HERE in record.message:
            self._drop_cut_here()
            self._cut_here = []
        elif self._cut_here is not None and len(self._cut_here) < _CUT_LINES:
            self._cut_here.append(record)
        else:
            self._drop_cut_here()
            self._unnamed.note(record)

    def _drop_cut_here(self) -> None:
        for record in self._cut_here or ():
            self._unnamed.note(record)
        self._cut_here = None

    def _just_after_a_report(self, record: Record) -> bool:
        """Whether ``record`` may belong to a report that seemed to have ended."""
        last, self._last_report = self._last_report, record
        if last is None:
            return False
        if last.time_s is not None and record.time_s is not None:
            return abs(record.time_s - last.time_s) < _SAME_REPORT_S
        return record.line - last.line < _SAME_REPORT_LINES

    def _absorbed(self) -> set[str]:
        if self._open is None:
            return set()
        occurrence, report = self._open
        return set() if report.in_trace or report.frames else {occurrence.rule.key, *occurrence.rule.absorbs}

    def _feed_open_report(self, record: Record, named: list[tuple[Rule, re.Match[str]]]) -> bool:
        """Whether ``record`` is part of the report that is open."""
        if self._open is None:
            return False
        occurrence, report = self._open
        begins = any(
            rule.report
            and rule.detector is None
            and (rule.key not in self._absorbed() or _another(occurrence, rule, match))
            for rule, match in named
        )
        if not begins:
            report.feed(
                record, may_be_text=not any(rule.severity != "info" for rule, _ in named if rule.key not in _TEXTS)
            )
        if begins or report.ended:
            self._close_report()
        return not begins

    def _close_report(self) -> None:
        if self._open is None:
            return
        occurrence, report = self._open
        self._open = None
        self._last_report = occurrence.record
        for special in self._by_frames:
            if report.symbols.issuperset(special.rule.frames):
                special.frames = report.frames
                self._tally.add(special)
        self._by_frames = []
        occurrence.function = occurrence.groups.get("function") or report.function or next(iter(report.frames), None)
        if occurrence.function is not None:
            occurrence.function = occurrence.function.partition(" [")[0]
        occurrence.driver = occurrence.driver or report.module or _module(report.frames)
        occurrence.frames = report.frames
        if report.text is not None and occurrence.rule.key in _TEXT_REPORTS:
            occurrence.groups["text"] = report.text
        self._tally.add(occurrence)

    def _occurrence(self, record: Record, rule: Rule, match: re.Match[str]) -> Occurrence:
        groups = _groups(match)
        origin = devices.origin(record.message)
        device = _named_device(groups) or origin.device
        if device is None and record.device_hint is not None:
            device = devices.from_journal(record.device_hint)
        driver = groups.get("driver") or (rule.drivers[0] if len(rule.drivers) == 1 else origin.driver)
        moment = self._boots.moment(record)
        cause = self._causes.cause_of(rule, device, moment.boot, record)
        found = Occurrence(rule, record, moment, device, driver, groups, groups.get("function"), cause=cause)
        found.suppressed = self._suppressed
        return found

    def _add(self, record: Record, rule: Rule, match: re.Match[str]) -> None:
        occurrence = self._occurrence(record, rule, match)
        if rule.report:
            self._close_report()
            text = " ".join(before.message for before in self._cut_here or ()) or None
            self._cut_here = None
            self._open = (occurrence, OpenReport(record, text))
        elif self._ports.hold(occurrence):
            pass
        elif (fault := self._tally.add(occurrence)) is not None:
            self._last.append(fault)

    def _add_speed(self, record: Record, rule: Rule, match: re.Match[str], before: str) -> None:
        port = match["device"]
        groups = {**_groups(match), "before": before, "now": self._speeds.speed_of(port) or ""}
        self._tally.add(Occurrence(rule, record, self._boots.moment(record), devices.normal_device(port), None, groups))

    def _settle(self, settled: list[SettledMessage]) -> None:
        """Count messages that were held, as what they turned out to be."""
        for one in settled:
            occurrence = one.occurrence
            rule = self._rules.instead.get((occurrence.rule.key, one.detector)) if one.detector else None
            if rule is None:
                if not one.in_addition:
                    self._tally.add(occurrence)
                continue
            groups = {**occurrence.groups, **one.values}
            driver = one.values.get("driver", occurrence.driver)
            cause = None if one.in_addition else occurrence.cause
            self._tally.add(replace(occurrence, rule=rule, groups=groups, driver=driver, cause=cause))


def _another(occurrence: Occurrence, rule: Rule, match: re.Match[str]) -> bool:
    """Whether a message of the rule with an open report is about something else: of that report only the first line
    was kept, as ``grep`` does."""
    groups = _groups(match)
    return rule is occurrence.rule and any(groups.get(name) != occurrence.groups.get(name) for name in rule.by)


def _is_certain(record: Record) -> bool:
    """Whether a message cannot well be anything but the kernel's, before a rule has looked at it."""
    if record.kind is Kind.KERNEL:
        return True
    return record.message.startswith(_BANNER) or devices.origin(record.message[:MATCHED]).device is not None


def _groups(match: re.Match[str]) -> dict[str, str]:
    """The named groups that took part. A digit at the end only distinguishes branches: ``errno2`` is ``errno``."""
    names = _group_names(match.re)
    return {names[name]: text for name, text in match.groupdict().items() if text is not None}


@lru_cache(maxsize=4096)
def _group_names(pattern: re.Pattern[str]) -> dict[str, str]:
    return {name: name.rstrip("0123456789") for name in pattern.groupindex}


def _named_device(groups: dict[str, str]) -> str | None:
    if (name := groups.get("device")) is None:
        return None
    return devices.normal_device(name) or name[:64]


def _module(frames: list[str]) -> str | None:
    """The module of the innermost frame that names one."""
    for frame in frames:
        if frame.endswith("]"):
            return frame.rpartition("[")[2].removesuffix("]")
    return None


def name_faults(lines: Iterable[str], *, rules: RuleSet | None = None, source: str = "lines") -> LogReport:
    """The faults that ``lines`` of a kernel log report. Any text is accepted; nothing in it raises.

    >>> report = name_faults(["kernel: rtl8xxxu: probe of 1-1.5.4:1.0 failed with error -11"])
    >>> [(fault.key, fault.device, fault.values[0].meaning) for fault in report.faults]
    [('probe-failed', 'usb 1-1.5.4', 'EAGAIN')]
    """
    namer = LogNamer(rules)
    for line in lines:
        namer.feed(line)
    return namer.report(source)


def read_log(
    log: BinaryIO | str | os.PathLike[str], *, rules: RuleSet | None = None, source: str | None = None
) -> LogReport:
    """The faults in a kernel log: a file, or a binary stream, of any kind that
    :func:`~txop.log.lines.read_lines` takes. Memory is bounded, whatever comes.

    ``source`` names the log in the report; by default the path, or ``-`` for a stream.

    Raises:
        OSError: the file cannot be read. Nothing in the log itself raises.
    """
    if isinstance(log, (str, os.PathLike)):
        with Path(log).open("rb") as stream:
            return read_log(stream, rules=rules, source=source or str(log))
    namer = LogNamer(rules)
    damage = Damage()
    for line in read_lines(log, damage):
        namer.feed(line)
    return namer.report(source or "-", damage.text)

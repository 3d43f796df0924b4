"""Which boot a message belongs to, and where messages are known to be missing."""

from __future__ import annotations

import re

from txop.log.record import Kind, Record
from txop.log.report import Boot, Gap, Moment

MAX_BOOTS = 256
"""Most boots that are kept apart; what comes after belongs to the last."""

MAX_GAPS = 64
"""Gaps that are listed; the others are only counted."""

SEQUENCE_GAP = "records missing in the sequence of /dev/kmsg"
"""Kind of a gap."""
_CLOCK_SLACK_S = 1.0
"""The monotonic clock may step back so far within a boot: CPUs stamp their records before they queue them."""

_START_LINES = 8
"""At most this many messages of a boot come before ``Linux version``."""

_KERNEL_VERSION = re.compile(r"Linux version (\S{1,128})")
_SUPPRESSED = re.compile(r"(?:(?P<what>[\w.-]{1,64}): )?(?P<n>\d{1,9}) (?:callbacks|messages|output lines) suppressed")
_DROPPED = re.compile(r"\*\* (?P<n>\d{1,12}) printk messages? dropped")
_MISSED = re.compile(r"Missed (?P<n>\d{1,12}) kernel messages|/dev/kmsg buffer overrun, some messages lost")


class BootCounter:
    """Follows one log from boot to boot."""

    def __init__(self) -> None:
        self.boots: list[Boot] = []
        self.gaps: list[Gap] = []
        self.gaps_not_listed = 0
        self._boot: Boot | None = None
        self._last_s: float | None = None
        self._last_sequence: int | None = None
        self._boot_id: str | None = None
        self._marked = False
        self._records = 0
        self._latest: Record | None = None

    @property
    def current(self) -> int:
        """Index of the boot of the last record."""
        return max(len(self.boots) - 1, 0)

    def feed(self, record: Record) -> bool:
        """Place ``record``; true when it begins a new boot."""
        if record.kind is Kind.MARK:
            self._note_mark(record)
            return False
        begins = self._begins(record)
        if begins is not None and (len(self.boots) < MAX_BOOTS or self._boot is None):
            self._start(record, begins)
        boot = self._boot
        assert boot is not None
        self._note(record, boot)
        self._find_gaps(record)
        if record.time_s is not None:
            self._last_s = record.time_s if begins or self._last_s is None else max(record.time_s, self._last_s)
        if record.sequence is not None:
            self._last_sequence = record.sequence
        return begins is not None

    def moment(self, record: Record) -> Moment:
        """Where ``record`` is in the log."""
        return Moment(boot=self.current, line=record.line, time_s=record.time_s, clock=record.clock)

    def _note_mark(self, record: Record) -> None:
        if record.message.startswith(("-- Boot ", "-- Reboot")):
            if record.boot_id is None or record.boot_id != self._boot_id:
                self._marked = True
            self._boot_id = record.boot_id

    def _begins(self, record: Record) -> str | None:
        """Why ``record`` is the first of a boot, None when it is not."""
        if self._boot is None:
            self._boot_id = record.boot_id or self._boot_id
            self._marked = False
            return "first line of the log"
        if self._marked:
            self._marked = False
            return "mark of the journal"
        if record.boot_id is not None and record.boot_id != self._boot_id:
            changed, self._boot_id = self._boot_id is not None, record.boot_id
            if changed:
                return "boot id of the journal"
        if record.sequence is not None and self._last_sequence is not None:
            if record.sequence < self._last_sequence:
                return "sequence numbers start again"
        elif record.time_s is not None and self._last_s is not None and record.time_s < self._last_s - _CLOCK_SLACK_S:
            return "the kernel's clock starts again"
        if self._records >= _START_LINES or self._boot.kernel is not None:
            if record.message.startswith("Linux version ") and not (self._records < _START_LINES and self._last_s == 0):
                return '"Linux version"'
            if record.message.startswith("Booting Linux on "):
                return '"Booting Linux"'
        return None

    def finish(self) -> None:
        """Bring the last boot up to date."""
        if self._boot is not None and self._latest is not None:
            self._boot.lines = self._records
            self._boot.last = self.moment(self._latest)

    def _start(self, record: Record, begins: str) -> None:
        self.finish()
        self._boot = Boot(
            index=len(self.boots),
            begins=begins,
            kernel=None,
            id=self._boot_id,
            from_the_start=False,
            lines=0,
            first=Moment(boot=len(self.boots), line=record.line, time_s=record.time_s, clock=record.clock),
            last=Moment(boot=len(self.boots), line=record.line, time_s=record.time_s, clock=record.clock),
        )
        self.boots.append(self._boot)
        self._last_s = self._last_sequence = None
        self._records = 0

    def _note(self, record: Record, boot: Boot) -> None:
        self._records += 1
        self._latest = record
        if boot.first.clock is None and boot.first.time_s is None and (record.clock or record.time_s is not None):
            boot.first = self.moment(record)
        if (
            boot.kernel is None
            and record.message.startswith("Linux version ")
            and (found := _KERNEL_VERSION.match(record.message))
        ):
            boot.kernel = found[1]
            boot.from_the_start = True

    def _find_gaps(self, record: Record) -> None:
        if record.sequence is not None and self._last_sequence is not None:
            lost = record.sequence - self._last_sequence - 1
            if lost > 0:
                self._gap(record, SEQUENCE_GAP, lost)
        message = record.message
        if "suppressed" in message and (found := _SUPPRESSED.search(message)):
            self._gap(record, "the kernel left out repeated messages (rate limit)", int(found["n"]))
        elif "messages dropped" in record.raw and (found := _DROPPED.search(record.raw[:200])):
            self._gap(record, "the console was too slow and dropped messages", int(found["n"]))
        elif ("Missed " in message or "kmsg buffer overrun" in message) and (found := _MISSED.search(message)):
            self._gap(record, "the logger was too slow and missed messages", int(found["n"]) if found["n"] else None)

    def _gap(self, record: Record, kind: str, lost: int | None) -> None:
        if len(self.gaps) >= MAX_GAPS:
            self.gaps_not_listed += 1
            return
        self.gaps.append(Gap(where=self.moment(record), kind=kind, lost=lost))

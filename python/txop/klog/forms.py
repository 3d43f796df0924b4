"""The ways a kernel log is written, and how a line of each becomes a :class:`~txop.klog.record.Record`.

Formats: ``dmesg`` of util-linux (sys-utils/dmesg.c) and BusyBox (util-linux/dmesg.c), ``/dev/kmsg``
(Documentation/ABI/testing/dev-kmsg), ``journalctl -o`` (man journalctl), syslog (RFC 3164, RFC 5424), ``logread`` of
OpenWrt.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime

from txop.klog.record import Kind, Record

FORMS: dict[str, str] = {
    "dmesg": "dmesg",
    "dmesg-raw": "dmesg with <priority>",
    "dmesg-ctime": "dmesg -T",
    "dmesg-iso": "dmesg --time-format iso",
    "dmesg-reltime": "dmesg -H or -e",
    "dmesg-notime": "dmesg without time",
    "kmsg": "/dev/kmsg",
    "journal-json": "journalctl -o json",
    "journal-monotonic": "journalctl -o short-monotonic",
    "journal": "journalctl",
    "syslog": "syslog (RFC 3164)",
    "syslog-iso": "syslog or journal with ISO time",
    "syslog-5424": "syslog (RFC 5424)",
    "openwrt": "OpenWrt logread",
    "kernel-prefix": 'only "kernel:" in front',
    "bare": "message text only",
}
"""Every form, and how it is called in tables."""

LEVELS = ("emerg", "alert", "crit", "err", "warn", "notice", "info", "debug")
"""Names of the levels 0 to 7."""

_LEVEL_NUMBERS = {name: number for number, name in enumerate(LEVELS)} | {
    "warning": 4,
    "error": 3,
    "panic": 0,
}

_ANSI = re.compile(r"\x1b\[[0-9;]{0,16}[A-Za-z]")
_QUOTED = re.compile(r"(?:[>|] ?){1,8}(?=[\[<\d{A-Z]|\w+ *:)")  # quoted in a mail
_NOT_TEXT = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\x80-\x9f\ufffd]|\\x[0-9a-f]{2}")
_JUNK_SHARE = 8
"""A bare line is junk when more than one character in this many does not belong in text."""

_STAMP = r"\[ {0,8}(?P<time>\d{1,12}\.\d{1,9})(?: {0,2}<[ \d.]{0,30}>| {1,30})?\]"
_CALLER = r"(?: ?\[ {0,8}[TC]\d{1,10}\])?"
_DAY = r"(?:[^\W\d]{2,4}\.? )?"
_MONTH = r"[^\W\d]{3,5}\.?"

_MONOTONIC = re.compile(rf"(?:<(?P<pri>\d{{1,4}})>)?{_STAMP}{_CALLER} ?(?P<text>.*)", re.DOTALL)
_CTIME = re.compile(
    rf"(?:<(?P<pri>\d{{1,4}})>)?\[(?P<clock>{_DAY}{_MONTH} [ \d]\d \d\d:\d\d:\d\d \d{{4}})"
    rf"(?: < {{0,12}}[\d.]{{1,20}}>)?\]{_CALLER} ?(?P<text>.*)",
    re.DOTALL,
)
_RELTIME = re.compile(
    rf"\[(?:(?P<clock>{_MONTH} ?\d\d? \d\d:\d\d)| {{0,8}}\+\d{{1,9}}\.\d{{1,9}})\]{_CALLER} ?(?P<text>.*)", re.DOTALL
)
_ISO_DMESG = re.compile(
    rf"(?P<clock>\d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\d,\d{{6}}[+-]\d\d:?\d\d){_CALLER} ?(?P<text>.*)", re.DOTALL
)
_PRIORITY = re.compile(r"<(?P<pri>\d{1,4})>(?P<text>.*)", re.DOTALL)
_DECODED = re.compile(r"(?P<facility>[a-z][a-z0-9]{1,8}) *:(?P<level>[a-z]{3,7}) *: (?P<text>.*)", re.DOTALL)
_KMSG = re.compile(
    r"(?P<pri>\d{1,6}),(?P<sequence>\d{1,20}),(?P<time_us>\d{1,20}),[-a-z+](?:,[^;]{0,200})?;(?P<text>.*)", re.DOTALL
)
_ORIGIN = (
    r"(?:(?P<host>[^\s:\[\]]{1,255}) )??(?:(?P<facility>[a-z]\w{1,9})\.(?P<level>[a-z]{3,7}) )?"
    r"(?P<program>[^\s:\[\]]{1,255})(?:\[(?P<pid>\d{1,10})\])?: ?(?P<text>.*)"
)
_SYSLOG = re.compile(
    rf"(?:<(?P<pri>\d{{1,4}})>)?(?P<clock>{_MONTH} [ \d]\d \d\d:\d\d:\d\d(?:\.\d{{1,9}})?) {_ORIGIN}", re.DOTALL
)
_SYSLOG_ISO = re.compile(
    r"(?:<(?P<pri>\d{1,4})>)?"
    r"(?P<clock>\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z| ?[+-]\d\d:?\d\d| [A-Z]{2,5})?|\d{9,11}\.\d{6}) "
    rf"{_ORIGIN}",
    re.DOTALL,
)
_FULL = re.compile(
    r"(?P<clock>[^\W\d]{2,4} \d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,9})?(?: [A-Z+-][A-Z\d:+-]{1,9})?) " + _ORIGIN,
    re.DOTALL,
)
_OPENWRT = re.compile(
    r"(?P<clock>[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}) "
    r"(?P<facility>[a-z]\w{1,9})\.(?P<level>[a-z]{3,7}) (?P<program>[^\s:\[\]]{1,255})(?:\[\d{1,10}\])?: ?(?P<text>.*)",
    re.DOTALL,
)
_RFC5424 = re.compile(
    r"(?:<(?P<pri>\d{1,4})>)?1 (?P<clock>-|\d{4}-\d\d-\d\dT[\d:.]{8,18}(?:Z|[+-]\d\d:\d\d)) "
    r"(?P<host>\S{1,255}) (?P<program>\S{1,48}) \S{1,128} \S{1,32} (?:-|\[[^\n]{0,2000}?\]) ?(?P<text>.*)",
    re.DOTALL,
)
_PREFIXED = re.compile(r"(?P<front>[^\[\]{}]{0,100}?)\bkernel: ?(?P<text>.*)", re.DOTALL)
_HOST_KERNEL = re.compile(r"(?P<host>[\w.-]{1,255}) kernel: (?P<text>.*)", re.DOTALL)
_TIME_OF_DAY = re.compile(r"\d:\d\d:\d\d")
_DROPPED = re.compile(r"\*\* \d{1,12} printk messages? dropped \*\* (?=[\[<])")
_HOST_AND_PROGRAM = re.compile(
    r"(?P<host>[\w.-]{1,255}) (?P<program>[^\s:\[\]]{1,255})(?:\[\d{1,10}\])?: (?P<text>.*)", re.DOTALL
)
_REPEATED = re.compile(r"message repeated (?P<n>\d{1,9}) times: \[ ?(?P<text>.*)\]$", re.DOTALL)
_MARK = re.compile(
    r"-- (?:Boot (?P<boot>[0-9a-f]{32})|Reboot|Logs begin|Journal begins|No entries|cursor|Logs? ).{0,200}", re.DOTALL
)
_LAST_REPEATED = re.compile(r"last message (?:buffered|repeated) (?P<n>\d{1,9}) times")


class LineParser:
    """Reads line after line of one log. The form of the last line is tried first on the next."""

    def __init__(self) -> None:
        self._last: Callable[[str, str], Record | None] | None = None
        self._after_kmsg = False
        self._host: str | None = None
        self._ways: tuple[Callable[[str, str], Record | None], ...] = (
            self._monotonic,
            self._kmsg,
            self._syslog,
            self._syslog_iso,
            self._ctime,
            self._journal_json,
            self._iso_dmesg,
            self._decoded,
            self._openwrt,
            self._rfc5424,
            self._full,
            self._reltime,
            self._priority,
            self._prefixed,
        )
        """Methods that read one form each; none takes a line that another one reads better."""

    def parse(self, raw: str) -> Record:
        """The line as a record. Never fails: what is not understood is :attr:`Kind.BARE` or :attr:`Kind.JUNK`."""
        text = raw
        if "\x1b" in text:
            text = _ANSI.sub("", text)
        text = text.rstrip("\r\n \t\x00")
        if not text:
            return Record(Kind.EMPTY, raw)
        if self._after_kmsg and text[0] == " " and "=" in text:  # SUBSYSTEM=usb
            return Record(Kind.MARK, raw, text, "kmsg")
        if text[0] in " \t\x00\x1e\ufeff":
            text = text.lstrip(" \t\x00\x1e\ufeff") or " "
        if text[0] == "*" and (dropped := _DROPPED.match(text)):  # the console puts it before the next message
            text = text[dropped.end() :]
        if self._last is not None and (record := self._last(raw, text)) is not None:
            return record
        record = self._understand(raw, text)
        if record is None and text[0] in ">|" and (quote := _QUOTED.match(text)):
            text = text[quote.end() :]
            record = (self._last(raw, text) if self._last is not None else None) or self._understand(raw, text)
        self._after_kmsg = record is not None and record.form == "kmsg"
        return record or _after_kernel(raw, text) or _bare(raw, text)

    def _understand(self, raw: str, text: str) -> Record | None:
        for way in self._ways:
            if way is not self._last and (record := way(raw, text)) is not None:
                if record.kind is not Kind.JUNK:
                    self._last = way
                return record
        return None

    def _monotonic(self, raw: str, text: str) -> Record | None:
        if text[0] not in "[<" or (found := _MONOTONIC.match(text)) is None:
            return None
        pri, stamp, message = found.groups()
        record = Record(Kind.KERNEL, raw, message, "dmesg", float(stamp))
        if pri is not None:
            record.form = "dmesg-raw"
            _set_priority(record, int(pri))
        elif " kernel: " in message and (origin := _HOST_KERNEL.match(message)):
            self._host = origin["host"]
            record.form, record.message = "journal-monotonic", origin["text"]
        elif self._host is not None and message.startswith(self._host) and (other := _HOST_AND_PROGRAM.match(message)):
            record.form = "journal-monotonic"
            if other["host"] == self._host:
                record.kind = Kind.OTHER_PROGRAM
        return record

    def _kmsg(self, raw: str, text: str) -> Record | None:
        if not "0" <= text[0] <= "9" or (found := _KMSG.match(text)) is None:
            return None
        record = Record(Kind.KERNEL, raw, _unescape(found["text"]), "kmsg", int(found["time_us"]) / 1e6)
        record.sequence = int(found["sequence"])
        _set_priority(record, int(found["pri"]))
        self._after_kmsg = True
        return record

    def _ctime(self, raw: str, text: str) -> Record | None:
        if text[0] not in "[<" or (found := _CTIME.match(text)) is None:
            return None
        record = Record(Kind.KERNEL, raw, found["text"], "dmesg-ctime", clock=found["clock"])
        if found["pri"] is not None:
            _set_priority(record, int(found["pri"]))
        return record

    def _reltime(self, raw: str, text: str) -> Record | None:
        if text[0] != "[" or (found := _RELTIME.match(text)) is None:
            return None
        return Record(Kind.KERNEL, raw, found["text"], "dmesg-reltime", clock=found["clock"])

    def _iso_dmesg(self, raw: str, text: str) -> Record | None:
        if not "0" <= text[0] <= "9" or (found := _ISO_DMESG.match(text)) is None:
            return None
        return Record(Kind.KERNEL, raw, found["text"], "dmesg-iso", clock=found["clock"])

    def _decoded(self, raw: str, text: str) -> Record | None:
        if not "a" <= text[0] <= "z" or (found := _DECODED.match(text)) is None:
            return None
        if (level := _LEVEL_NUMBERS.get(found["level"])) is None or not (rest := found["text"]):
            return None
        record: Record | None = None
        for way in (self._monotonic, self._ctime, self._iso_dmesg, self._reltime):
            if (record := way(raw, rest)) is not None:
                break
        if record is None:
            record = Record(Kind.KERNEL, raw, rest, "dmesg-notime")
        record.level = level
        if found["facility"] != "kern":
            record.kind = Kind.OTHER_PROGRAM
        return record

    def _priority(self, raw: str, text: str) -> Record | None:
        if text[0] != "<" or (found := _PRIORITY.match(text)) is None:
            return None
        record = Record(Kind.KERNEL, raw, found["text"], "dmesg-notime")
        _set_priority(record, int(found["pri"]))
        return record

    def _syslog(self, raw: str, text: str) -> Record | None:
        found = _SYSLOG.match(text)
        return _from_logger(raw, found, "syslog") if found else None

    def _syslog_iso(self, raw: str, text: str) -> Record | None:
        if text[0] not in "<0123456789":
            return None
        found = _SYSLOG_ISO.match(text)
        return _from_logger(raw, found, "syslog-iso") if found else None

    def _full(self, raw: str, text: str) -> Record | None:
        found = _FULL.match(text)
        return _from_logger(raw, found, "journal") if found else None

    def _openwrt(self, raw: str, text: str) -> Record | None:
        found = _OPENWRT.match(text)
        return _from_logger(raw, found, "openwrt") if found else None

    def _rfc5424(self, raw: str, text: str) -> Record | None:
        if text[0] not in "<1":
            return None
        found = _RFC5424.match(text)
        return _from_logger(raw, found, "syslog-5424") if found else None

    def _prefixed(self, raw: str, text: str) -> Record | None:
        if not text.startswith("kernel:"):
            return None
        return _after_kernel(raw, text)

    def _journal_json(self, raw: str, text: str) -> Record | None:
        if text[0] != "{":
            return None
        if (entry := _json_object(text)) is None:
            return None
        return _from_journal(raw, entry)


def _after_kernel(raw: str, text: str) -> Record | None:
    """The message after ``kernel:``, whatever stands before it; None when that word is not near the beginning."""
    if "kernel:" not in text or (found := _PREFIXED.match(text)) is None:
        return None
    record = Record(Kind.KERNEL, raw, found["text"], "kernel-prefix")
    if _TIME_OF_DAY.search(found["front"]):
        record.clock = found["front"].strip()
    _take_inner(record)
    return record


def _bare(raw: str, text: str) -> Record:
    if mark := _MARK.match(text):
        return Record(Kind.MARK, raw, text, boot_id=mark["boot"])
    if text[0] == "{" or len(_NOT_TEXT.findall(text[:1024])) * _JUNK_SHARE > min(len(text), 1024):
        return Record(Kind.JUNK, raw)
    if "last message " in text and (again := _LAST_REPEATED.search(text[:400])):
        return Record(Kind.REPEAT, raw, repeats=int(again["n"]))
    return Record(Kind.BARE, raw, text, "bare")


def _set_priority(record: Record, priority: int) -> None:
    record.level = priority & 7
    if priority >> 3:  # facility: 0 is the kernel, others were written to /dev/kmsg by a program
        record.kind = Kind.OTHER_PROGRAM


def _from_logger(raw: str, found: re.Match[str], form: str) -> Record:
    """A line that a logger wrote: who it is from, and what the kernel had in front of the message itself."""
    parts = found.groupdict()
    record = Record(Kind.KERNEL, raw, parts["text"], form, clock=parts["clock"])
    if record.clock == "-":
        record.clock = None
    if parts.get("pri") is not None:
        record.level = int(parts["pri"]) & 7
    if parts.get("level") is not None:
        record.level = _LEVEL_NUMBERS.get(parts["level"])
    if parts["program"] == "kernel":
        _take_inner(record)
    else:
        record.kind = Kind.OTHER_PROGRAM
    return record


def _take_inner(record: Record) -> None:
    """Take off what the kernel itself put in front of the message, and count what the logger folded."""
    if record.message.startswith("message repeated ") and (again := _REPEATED.match(record.message)):
        record.repeats, record.message = int(again["n"]), again["text"]
    if record.message[:1] in ("[", "<") and (inner := _MONOTONIC.match(record.message)):
        record.time_s, record.message = float(inner["time"]), inner["text"]
        if inner["pri"] is not None:
            record.level = int(inner["pri"]) & 7
    elif record.message[:1] == "<" and (inner := _PRIORITY.match(record.message)):
        record.level, record.message = int(inner["pri"]) & 7, inner["text"]


def _json_object(text: str) -> dict[str, object] | None:
    try:
        entry = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return entry if isinstance(entry, dict) else None


def _from_journal(raw: str, entry: dict[str, object]) -> Record | None:
    if "__REALTIME_TIMESTAMP" not in entry and "_TRANSPORT" not in entry and "SYSLOG_IDENTIFIER" not in entry:
        return None
    record = Record(Kind.KERNEL, raw, _journal_text(entry.get("MESSAGE")), "journal-json")
    if entry.get("SYSLOG_IDENTIFIER", entry.get("_TRANSPORT")) != "kernel":
        record.kind = Kind.OTHER_PROGRAM
    source_us = _number(entry.get("_SOURCE_MONOTONIC_TIMESTAMP"))
    monotonic_us = source_us if source_us is not None else _number(entry.get("__MONOTONIC_TIMESTAMP"))
    if monotonic_us is not None:
        record.time_s = monotonic_us / 1e6
    realtime_us = _number(entry.get("__REALTIME_TIMESTAMP"))
    if realtime_us is not None and realtime_us < 253_402_300_800_000_000:  # the year 10000
        record.clock = datetime.fromtimestamp(realtime_us // 1_000_000, UTC).strftime("%Y-%m-%dT%H:%M:%S")
        record.clock += f".{realtime_us % 1_000_000:06}Z"
    record.level = _number(entry.get("PRIORITY"))
    boot_id, device = entry.get("_BOOT_ID"), entry.get("_KERNEL_DEVICE")
    record.boot_id = boot_id[:64] if isinstance(boot_id, str) else None
    record.device_hint = device[:200] if isinstance(device, str) else None
    return record


def _journal_text(message: object) -> str:
    if isinstance(message, str):
        return message
    if isinstance(message, list):  # not UTF-8: the journal gives bytes
        numbers = (number for number in message if isinstance(number, int) and 0 <= number < 256)
        return bytes(numbers).decode("utf-8", "backslashreplace")
    return ""


def _number(value: object) -> int | None:
    if isinstance(value, str) and len(value) <= 20 and value.isascii() and value.isdigit():
        return int(value)
    return None


_KMSG_ESCAPE = re.compile(r"\\x([0-9a-f]{2})")


def _unescape(text: str) -> str:
    """``/dev/kmsg`` writes what does not print, and the backslash, as ``\\x5c``; only what prints is taken back."""
    if "\\x" not in text:
        return text
    return _KMSG_ESCAPE.sub(lambda found: _printable(found), text)


def _printable(found: re.Match[str]) -> str:
    character = chr(int(found[1], 16))
    return character if " " <= character <= "~" or character == "\t" else found[0]

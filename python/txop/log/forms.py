"""The ways a kernel log is written, and how a line of each becomes a :class:`~txop.log.record.Record`.

Formats: ``dmesg`` of util-linux (sys-utils/dmesg.c) and BusyBox (util-linux/dmesg.c), ``/dev/kmsg``
(Documentation/ABI/testing/dev-kmsg), ``journalctl -o`` (man journalctl), syslog (RFC 3164, RFC 5424), ``logread`` of
OpenWrt.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from txop.log import device as devices
from txop.log import journal
from txop.log.entries import Entries
from txop.log.record import Kind, Record
from txop.log.wrapping import MAX_LAYERS, Wrapping, undressed, unwrapped

FORMS: dict[str, str] = {
    "dmesg": "dmesg",
    "dmesg-raw": "dmesg with <priority>",
    "dmesg-ctime": "dmesg -T",
    "dmesg-iso": "dmesg --time-format iso",
    "dmesg-reltime": "dmesg -H or -e",
    "dmesg-notime": "dmesg without time",
    "kmsg": "/dev/kmsg",
    "dmesg-json": "dmesg -J",
    "journal-json": "journalctl -o json",
    "journal-entry": "journalctl -o export, verbose or json-pretty",
    "logcat": "Android logcat",
    "wrapped": "prefix of another tool",
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

_NOT_TEXT = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\x80-\x9f\ufffd]|\\x[0-9a-f]{2}")
_JUNK_SHARE = 8
"""A bare line is junk when more than one character in this many does not belong in text."""

_STAMP = r"\[ {0,12}(?P<time>\d{1,12}\.\d{1,9})(?: {0,2}<[ \d.]{0,30}>| {1,30})?\]"
_CALLER = (
    r"(?: {0,2}(?:\[ {0,8}[TC]\d{1,10}(?:@C?\d{1,3})?\]|\[\d{1,3}: {0,20}[^\[\]]{1,40}: {0,10}\d{1,10}\]"
    r"|-?\(\d{1,3}\)\[\d{1,10}:[^\[\]]{1,40}\]|\[pid:\d{1,10},cpu\d{1,3},[^\[\]]{1,60}\]|c\d{1,3} {1,8}\d{1,10}(?= )))?"
)
"""Who printed: of CONFIG_PRINTK_CALLER, and what vendors of Android devices print there."""
_DAY = r"(?:[^\W\d]{2,4}\.? )?"
_MONTH = r"[^\W\d]{3,5}\.?"

_MONOTONIC = re.compile(rf"(?:<(?P<pri>\d{{1,4}})>)?{_STAMP}{_CALLER} ?(?P<text>.*)", re.DOTALL)
_CTIME = re.compile(
    rf"(?:<(?P<pri>\d{{1,4}})>)?\[(?P<clock>{_DAY}{_MONTH} {{1,2}}\d{{1,2}} \d\d:\d\d:\d\d \d{{4}})"
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
    r"(?P<program>[^\s:\[\]{}\"]{1,255})(?:\[(?P<pid>\d{0,10})\])?: ?(?P<text>.*)"
)
_SYSLOG = re.compile(
    rf"(?:<(?P<pri>\d{{1,4}})>)?(?P<clock>{_MONTH} {{1,2}}\d{{1,2}} \d\d:\d\d:\d\d(?:\.\d{{1,9}})?) {_ORIGIN}",
    re.DOTALL,
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
    r"(?P<clock>[A-Z][a-z]{2} [A-Z][a-z]{2} {1,2}\d{1,2} \d\d:\d\d:\d\d \d{4}) "
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
_PROGRAM = re.compile(r"(?P<program>[^\s:\[\]]{1,64})(?:\[\d{0,10}\])?: (?P<text>.*)", re.DOTALL)
_PROGRAM_AND_PID = re.compile(r"(?P<program>[A-Za-z][\w.@/-]{1,63})\[\d{1,10}\]: (?P<text>.*)", re.DOTALL)
_SOME_STAMP = re.compile(r"\[ {0,12}\d{1,9}\.\d{3,9}\]")
_SEPARATOR = re.compile(r"[ \t]+")
_MAX_STARTS = 12
_SHORT = 4
"""Shorter lines may open an entry of several lines."""
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
        self._entries = Entries()
        self._in_entry = False
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
        if (self._in_entry or raw[:1] in "_{" or len(raw) < _SHORT or "[s=" in raw) and (
            entry := self._entry(raw)
        ) is not None:
            return entry
        text = undressed(raw).rstrip("\r\n \t\x00")
        if not text:
            return Record(Kind.EMPTY, raw)
        if self._after_kmsg and text[0] == " " and "=" in text:  # SUBSYSTEM=usb
            return Record(Kind.MARK, raw, text, "kmsg")
        if text[0] in " \t\x00\x1e\ufeff":
            text = text.lstrip(" \t\x00\x1e\ufeff") or " "
        if text[0] == "*" and (dropped := _DROPPED.match(text)):  # the console puts it before the next message
            text = text[dropped.end() :]
        record = self._directly(raw, text)
        if record is None and (wrapping := unwrapped(text)) is not None:
            record = self._wrapped(raw, wrapping)
        self._after_kmsg = record is not None and record.form == "kmsg"
        return record or self._after_unknown(raw, text)

    def finish(self) -> Record | None:
        """The last message of a form in which messages take several lines, when it is not yet returned."""
        self._in_entry = False
        fields = self._entries.finish()
        return None if fields is None else _from_entry("", fields)

    def _entry(self, raw: str) -> Record | None:
        """A line of a form in which a message takes several lines; None when it is none."""
        taken = self._entries.feed(raw.rstrip("\r\n"))
        self._in_entry = taken is not False
        if taken is False:
            return None
        record = None if taken is True else _from_entry(raw, taken)
        return record or Record(Kind.MARK, raw, raw, "journal-entry")

    def _directly(self, raw: str, text: str) -> Record | None:
        """A line with nothing unusual in front."""
        if self._last is not None and (record := self._last(raw, text)) is not None:
            return record
        return self._understand(raw, text)

    def _wrapped(self, raw: str, wrapping: Wrapping) -> Record | None:
        """A line behind prefixes of other tools."""
        clock, level = wrapping.clock, wrapping.level
        starts: list[str] = []
        shown = raw.strip()
        for _ in range(MAX_LAYERS):
            text = wrapping.rest.strip(" \t")
            if not text:
                break
            record = self._directly(raw, text)
            if record is None and wrapping.program is not None:
                kind = Kind.KERNEL if wrapping.program == "kernel" else Kind.OTHER_PROGRAM
                program = None if kind is Kind.KERNEL else wrapping.program
                record = Record(kind, raw, text, "logcat", program=program)
            record = record or _after_kernel(raw, text) or _of_program(raw, text)
            if record is not None:
                record.clock, record.level = record.clock or clock, level if record.level is None else record.level
                return record
            starts.append(text)
            shown = text if wrapping.clock is not None else shown
            if (inner := unwrapped(text)) is None:
                break
            wrapping = inner
            clock, level = wrapping.clock or clock, level if wrapping.level is None else wrapping.level
        record = self._stamped(raw, starts[-1]) if starts else None
        if record is None and starts:
            record = _after_kernel(raw, starts[-1]) or _bare(raw, shown)
            record.starts, record.known_starts = (*starts, *_starts(starts[-1])), len(starts)
            record.clock, record.level = clock, level
        return record

    def _after_unknown(self, raw: str, text: str) -> Record:
        """A line in front of which something stands that is not known, or nothing."""
        if (record := _after_kernel(raw, text) or _of_program(raw, text)) is not None:
            return record
        record = self._stamped(raw, text) or _bare(raw, text)
        if record.kind is Kind.BARE:
            record.starts = _starts(text)
        return record

    def _stamped(self, raw: str, text: str) -> Record | None:
        """The message behind a time since boot that stands somewhere near the front."""
        found = _SOME_STAMP.search(text, 1, 240)
        if found is None or (record := self._monotonic(raw, text[found.start() :])) is None:
            return None
        record.skipped = True
        return record

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
        if message[:1] == "[" and (inner := _MONOTONIC.match(message)) is not None:  # a console that stamps, too
            stamp, message = inner["time"], inner["text"]
        record = Record(Kind.KERNEL, raw, message, "dmesg", float(stamp))
        if pri is not None:
            record.form = "dmesg-raw"
            _set_priority(record, int(pri))
        elif " kernel: " in message and (named := _HOST_KERNEL.match(message)):
            self._host = named["host"]
            record.form, record.message = "journal-monotonic", named["text"]
        elif self._host is not None and message.startswith(self._host) and (other := _HOST_AND_PROGRAM.match(message)):
            record.form = "journal-monotonic"
            if other["host"] == self._host:
                record.kind, record.program, record.message = Kind.OTHER_PROGRAM, other["program"], other["text"]
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
            _take_program(record)
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
        if (entry := journal.json_object(text)) is None:
            return None
        return journal.from_fields(raw, entry)


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
        _take_program(record)


def _take_program(record: Record) -> None:
    """A message that a program wrote to /dev/kmsg, with its name in front."""
    record.kind = Kind.OTHER_PROGRAM
    if found := _PROGRAM.match(record.message):
        record.program, record.message = found["program"], found["text"]


def _of_program(raw: str, text: str) -> Record | None:
    """A line that begins with a program and its number: ``NetworkManager[1650]: ...``."""
    found = _PROGRAM_AND_PID.match(text)
    if found is None or found["program"] == "systemd-journald":  # which tells of kernel messages that it lost
        return None
    return Record(Kind.OTHER_PROGRAM, raw, found["text"], "wrapped", program=found["program"])


def _from_entry(raw: str, fields: dict[str, object]) -> Record | None:
    record = journal.from_fields(raw, fields)
    if record is not None:
        record.form = "dmesg-json" if record.form == "dmesg-json" else "journal-entry"
        record.raw = record.message
    return record


def _starts(text: str) -> tuple[str, ...]:
    """Where the message may begin when something unknown stands in front of it."""
    ends = [found.end() for found in _SEPARATOR.finditer(text, 0, 160)]
    return tuple(text[end:] for end in ends[:_MAX_STARTS] if end < len(text))


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
    if record.level is None and parts.get("host") in _LEVEL_NUMBERS:  # Turris: "err kernel[]:"
        record.level = _LEVEL_NUMBERS[parts["host"]]
    if parts["program"] == "kernel":
        _take_inner(record)
        return record
    if parts.get("facility") is None and parts.get("pid") is None:
        rest = found.string[found.end("clock") :].lstrip(" ")
        if devices.origin(rest).device is not None:  # a time in front of a kernel message, and no program
            record.message = rest
            return record
        record.starts = () if parts.get("host") else (rest,)
    record.kind, record.program = Kind.OTHER_PROGRAM, parts["program"]
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


_KMSG_ESCAPE = re.compile(r"\\x([0-9a-f]{2})")


def _unescape(text: str) -> str:
    """``/dev/kmsg`` writes what does not print, and the backslash, as ``\\x5c``; only what prints is taken back."""
    if "\\x" not in text:
        return text
    return _KMSG_ESCAPE.sub(lambda found: _printable(found), text)


def _printable(found: re.Match[str]) -> str:
    character = chr(int(found[1], 16))
    return character if " " <= character <= "~" or character == "\t" else found[0]

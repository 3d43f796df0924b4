"""Logs in which a message takes several lines: ``journalctl -o export``, ``verbose`` and ``json-pretty``, ``dmesg -J``.

Only the fields that say something about a message are kept, so that memory does not depend on the log.
"""

from __future__ import annotations

import json
import re

MAX_FIELD = 8192
"""Characters of a field that are kept."""

_FIELDS = frozenset(
    {
        "MESSAGE",
        "PRIORITY",
        "SYSLOG_IDENTIFIER",
        "_TRANSPORT",
        "_BOOT_ID",
        "_KERNEL_DEVICE",
        "_SOURCE_MONOTONIC_TIMESTAMP",
        "__MONOTONIC_TIMESTAMP",
        "__REALTIME_TIMESTAMP",
        "_COMM",
        "pri",
        "time",
        "msg",
        "fac",
    }
)
_EXPORT_FIRST = re.compile(r"__(?:CURSOR|REALTIME_TIMESTAMP|MONOTONIC_TIMESTAMP)=")
_ASSIGNED = re.compile(r"(?P<name>_{0,2}[A-Z][A-Z0-9_]{0,63})=(?P<text>.*)", re.DOTALL)
_FIELD_NAME = re.compile(r"_{0,2}[A-Z][A-Z0-9_]{0,63}")
_LENGTH = re.compile(r"(?:\\x[0-9a-f]{2}|[\x00-\x7f]){8}", re.DOTALL)
_VERBOSE_FIRST = re.compile(
    r"(?:\w{2,4}\.? )?\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,9})? ?[\w+:-]{0,8} \[s=[0-9a-f]{1,32};"
)
_VERBOSE_FIELD = re.compile(r"[ \t]{1,8}(?P<name>_{0,2}[A-Z][A-Z0-9_]{0,63})=(?P<text>.*)", re.DOTALL)
_PAIR = re.compile(
    r"""\s{0,16}"(?P<name>\w{1,64})"\s{0,4}:\s{0,4}(?P<value>"(?:[^"\\]|\\.){0,8192}"|-?\d{1,20}(?:\.\d{1,9})?|null)\s{0,4},?\s{0,4}$"""
)
_OPENS = re.compile(r"\s{0,16}(?:\}\s{0,4},?\s{0,4})?\{\s{0,4}$")
_CLOSES = re.compile(r"\s{0,16}\}\s{0,4}[,\]]?\s{0,4}(?:\{\s{0,4})?$")
_LIST = re.compile(r'\s{0,16}(?:"\w{1,64}"\s{0,4}:\s{0,4})?\[\s{0,4}(?:\{\s{0,4})?$|\s{0,16}[\]}]\s{0,4},?\s{0,4}$')


class Entries:
    """Collects the fields of one entry after the other."""

    def __init__(self) -> None:
        self._mode: str | None = None
        self._fields: dict[str, object] = {}
        self._bytes_of: str | None = None

    def feed(self, line: str) -> dict[str, object] | bool:
        """The fields of an entry that this line ends; else whether the line is part of an entry."""
        if self._mode is None:
            return self._begin(line)
        ways = {"export": self._export, "verbose": self._verbose, "pretty": self._pretty}
        taken = ways[self._mode](line)
        if taken is False:
            self._mode, self._fields = None, {}
            return self._begin(line)
        return taken

    def finish(self) -> dict[str, object] | None:
        """The last entry, when it is open."""
        self._mode = None
        return self._take()

    def _take(self) -> dict[str, object] | None:
        fields, self._fields = self._fields, {}
        return fields if "MESSAGE" in fields or "msg" in fields else None

    def _keep(self, name: str, value: object) -> None:
        if name in _FIELDS:
            self._fields[name] = value[:MAX_FIELD] if isinstance(value, str) else value

    def _begin(self, line: str) -> bool:
        first = line[:1]
        if first == "_" and _EXPORT_FIRST.match(line):
            self._mode = "export"
            self._export(line)
            return True
        if (first.isalnum()) and "[s=" in line and _VERBOSE_FIRST.match(line):
            self._mode = "verbose"
            return True
        if line.strip() in ("{", "[", "[{") or (first in ' \t"' and _LIST.match(line) and "[" in line):
            self._mode = "pretty"
            return True
        return False

    def _export(self, line: str) -> dict[str, object] | bool:
        if not line.strip():
            return self._take() or True
        if self._bytes_of is not None:  # eight bytes of length, then the field
            name, self._bytes_of = self._bytes_of, None
            self._keep(name, _LENGTH.sub("", line, count=1))
            return True
        if (found := _ASSIGNED.match(line)) is None:
            self._bytes_of = line if _FIELD_NAME.fullmatch(line) else None
            return self._bytes_of is not None
        if found["name"] == "__CURSOR" and self._fields:  # the empty line between entries was lost
            ended = self._take()
            return ended or True
        self._keep(found["name"], found["text"])
        return True

    def _verbose(self, line: str) -> dict[str, object] | bool:
        if _VERBOSE_FIRST.match(line):
            return self._take() or True
        if found := _VERBOSE_FIELD.match(line):
            self._keep(found["name"], found["text"])
            return True
        return line[:1] in " \t"

    def _pretty(self, line: str) -> dict[str, object] | bool:
        if found := _PAIR.match(line):
            try:
                self._keep(found["name"], json.loads(found["value"]))
            except ValueError:
                return False
            return True
        if _OPENS.match(line) or _CLOSES.match(line) or _LIST.match(line):
            return self._take() or True
        return not line.strip() or line.lstrip()[:1] in '"]'

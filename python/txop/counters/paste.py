"""A pasted text to its parts: which lines are the output of which tool.

A part begins with a line that only one tool prints, and goes on for as long as the lines can be that tool's. Commands
between the parts (with or without a prompt, or in a heading) tell what the next one is about. What is a kernel log or
the output of a tool that measures is named with the command that reads it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Literal, get_args

from txop.formats import (
    ath9k_debugfs,
    ath10k_debugfs,
    ethtool,
    iw_station,
    iw_survey,
    mac80211_debugfs,
    minstrel,
    mt76_debugfs,
    proc_wireless,
)
from txop.log.forms import LineParser
from txop.log.record import Kind as LogKind

CounterKind = Literal[
    "iw-station",
    "iw-survey",
    "ethtool",
    "ethtool-driver",
    "rc-stats",
    "proc-net-wireless",
    "ath9k-xmit",
    "mt76-tx-stats",
    "ath10k-fw-stats",
    "mac80211-airtime",
    "mac80211-aqm",
    "mac80211-aql",
]
OtherKind = Literal["kernel-log", "measurement"]
PartKind = CounterKind | OtherKind
COUNTER_KINDS: tuple[CounterKind, ...] = get_args(CounterKind)

NOT_NAMED = "not named"
"""Stands for the address of the only peer of a station dump without its first line."""
MAX_LINES = 500_000
"""Lines of a text that are looked at."""
MAX_PARTS = 2_000
_LINE_LIMIT = 600
_GAP = 3
"""Lines of something else that may stand inside a kernel log."""

_ANSI = re.compile(r"\x1b\[[0-9;]{0,16}[A-Za-z]")
_QUOTED = re.compile(r"(?:> ?){1,8}")
_LOG_STAMP = re.compile(r"(?:<[0-9]{1,3}>)?\[ {0,8}[0-9]{1,12}\.[0-9]{1,9}\]")
_COMMAND = re.compile(
    r"\biw (?:dev )?(?P<iw>[\w.-]{1,32}) (?P<what>station|survey) (?:dump|get)"
    r"|\bethtool (?:-S|-i|--statistics|--driver) (?P<ethtool>[\w.-]{1,32})"
    r"|/sys/kernel/debug/ieee80211/(?P<phy>[\w*?.-]{1,32})/"
    r"(?:netdev:(?P<debugfs>[^/\s]{1,64})/)?(?:stations/(?P<station>[^/\s]{1,64})/)?"
    r"|/proc/net/wireless"
)
_PROMPT = re.compile(r"(?:[\w@:~/\[\]. -]{0,80})?[#$] [\w./-]{1,80}(?: .*)?")
_NO_HINT: tuple[str | None, str | None, str | None] = (None, None, None)
"""Interface, station and radio that the command in front names."""
_STATION_KEYS = re.compile(
    r"(?:(?:last |avg )?ack signal|inactive time|[rt]x (?:bytes|packets|retries|failed|duration|bitrate|drop misc|"
    r"mpdus|fcs errors)|beacon (?:loss|rx|signal avg|interval)|signal(?: avg)?|airtime weight|expected throughput|"
    r"mesh [\w -]{1,24}|authorized|authenticated|associated(?: at(?: \[boottime\])?)?|preamble|WMM/WME|MFP|TDLS peer|"
    r"DTIM period|CTS protection|short (?:preamble|slot time)|connected (?:time|to (?:gate|auth server))|current time|"
    r"Link [0-9]{1,2}|address|MSDU|TXQs|Toffset|rx AMPDU|TID stats)\s*:.{0,300}"
)
_TID_ROW = re.compile(r"(?:TID\b.*|[0-9]{1,2}(?:\s+[0-9]{1,20}){2,12}(?:\s+0x.*)?)")
_SURVEY_KEYS = re.compile(r"(?:frequency|noise|(?:extension )?channel [a-zA-Z ]{4,24}time)\s*:.{0,100}")
_STATISTIC = re.compile(r"[^\n:]{1,128}?(?::[^\n:]{1,40})? *: *-?[0-9]{1,20}(?:\.[0-9]{1,9})?")
_DRIVER_KEYS = re.compile(
    r"(?:driver|version|firmware-version|expansion-rom-version|bus-info|supports-[\w-]{1,30}): ?.*"
)
_MEASURED = re.compile(
    r"\[ ?ID\] Interval|\[ {0,3}[0-9]{1,3}\] +[0-9.]{1,9}- *[0-9.]{1,9} +sec|Connecting to host \S+, port"
    r"|[0-9]{1,5} bytes from \S|PING \S+ |\s*\"(?:intervals|sum_sent)\":"
)


@dataclass
class Part:
    """Lines that one tool printed."""

    kind: PartKind
    first: int
    """Line of the text, from 1."""
    last: int
    lines: list[str] = field(default_factory=list)
    """Cleaned of terminal colours and quote signs; empty for what txop counters does not read."""
    interface: str | None = None
    """That the command in front names."""
    station: str | None = None
    phy: str | None = None

    @property
    def text(self) -> str:
        """Its lines."""
        return "\n".join(self.lines)


@dataclass
class Paste:
    """A text and its parts."""

    name: str
    lines: int = 0
    parts: list[Part] = field(default_factory=list)
    not_read: list[int] = field(default_factory=list)
    """Lines that belong to no part and are no command, heading or blank line; the first ones."""
    not_read_count: int = 0
    cut: bool = False
    """There were more lines than are looked at."""

    def of(self, kinds: Iterable[PartKind]) -> list[Part]:
        """The parts of some kinds."""
        wanted = set(kinds)
        return [part for part in self.parts if part.kind in wanted]


_STARTS: tuple[tuple[CounterKind, Callable[[str], bool]], ...] = (
    ("iw-station", iw_station.is_head),
    ("iw-survey", iw_survey.is_head),
    ("ethtool", lambda line: line.strip() == "NIC statistics:"),
    ("ethtool-driver", ethtool.is_driver),
    ("rc-stats", lambda line: minstrel.is_title(line) or minstrel.is_head(line) or minstrel.is_csv(line)),
    ("proc-net-wireless", proc_wireless.is_head),
    ("ath9k-xmit", ath9k_debugfs.is_head),
    ("mt76-tx-stats", mt76_debugfs.is_head),
    ("ath10k-fw-stats", ath10k_debugfs.is_head),
    ("mac80211-airtime", mac80211_debugfs.is_airtime),
    ("mac80211-aqm", mac80211_debugfs.is_aqm),
    ("mac80211-aql", mac80211_debugfs.is_aql),
)


def _station_goes_on(line: str) -> bool:
    stripped = line.strip()
    return _STATION_KEYS.fullmatch(stripped) is not None or _TID_ROW.fullmatch(stripped) is not None


_GOES_ON: dict[PartKind, Callable[[str], bool]] = {
    "iw-station": _station_goes_on,
    "iw-survey": lambda line: _SURVEY_KEYS.fullmatch(line.strip()) is not None,
    "ethtool": lambda line: _STATISTIC.fullmatch(line.strip()) is not None,
    "ethtool-driver": lambda line: _DRIVER_KEYS.fullmatch(line.strip()) is not None,
    "rc-stats": minstrel.is_row,
    "proc-net-wireless": proc_wireless.is_row,
    "ath9k-xmit": ath9k_debugfs.is_row,
    "mt76-tx-stats": mt76_debugfs.is_row,
    "ath10k-fw-stats": ath10k_debugfs.is_row,
    "mac80211-airtime": mac80211_debugfs.is_airtime_row,
    "mac80211-aqm": mac80211_debugfs.is_aqm_row,
    "mac80211-aql": mac80211_debugfs.is_aql_row,
}
_MANY_HEADS = frozenset({"iw-station", "iw-survey", "rc-stats", "proc-net-wireless", "ath10k-fw-stats", "mac80211-aqm"})
"""Kinds of which one output has several first lines: of several peers, channels, tables, lines of CSV or of a head."""


def split(name: str, lines: Iterable[str]) -> Paste:
    """The parts of a text. Never fails."""
    splitter = _Splitter(name)
    for line in lines:
        if splitter.paste.lines >= MAX_LINES:
            splitter.paste.cut = True
            break
        splitter.take(line)
    return splitter.paste


class _Splitter:
    def __init__(self, name: str) -> None:
        self.paste = Paste(name)
        self._open: Part | None = None
        self._heads: set[str] = set()
        """First lines of the open part, to see where the next output of the same command begins."""
        self._hint = _NO_HINT
        self._of_filter = False
        """The last command was a station dump through a filter (``| grep tx``), which leaves the first line out."""
        self._log = LineParser()

    def take(self, raw: str) -> None:
        self.paste.lines += 1
        line = _clean(raw)
        if not line.strip() or line.strip().startswith("```"):
            return
        if _LOG_STAMP.match(line.strip()) is not None:
            self._other(line)
            return
        if self._filtered(line):
            return
        kind = next((kind for kind, starts in _STARTS if starts(line)), None)
        if kind is not None and not self._same_output(kind, line):
            self._begin(kind)
        if self._open is not None and self._surveyed_again(line) and self._open.lines:
            head = self._open.lines.pop()
            self._open.last = self.paste.lines - 2
            self._begin("iw-survey")
            self._open.lines.append(head)
            self._open.first -= 1
            self._heads.add(" ".join(line.replace("[in use]", "").split()))
        if self._open is not None and (kind is not None or _GOES_ON[self._open.kind](line)):
            if kind is not None:
                self._heads.add(" ".join(line.split()))
            self._open.lines.append(line)
            self._open.last = self.paste.lines
            return
        self._close()
        if (found := _COMMAND.search(line)) is not None:
            interface = found["iw"] or found["ethtool"] or found["debugfs"]
            self._hint = (_one(interface), _one(found["station"]), _one(found["phy"]))
            self._of_filter = found["what"] == "station" and "|" in line
        elif _PROMPT.fullmatch(line.strip()) is None:
            self._other(line)

    def _filtered(self, line: str) -> bool:
        """Take a line of a station dump without its first line. Where a name comes again, there are several peers, and
        which one they are of is not known."""
        if not self._of_filter:
            return False
        if iw_station.is_head(line) or not _station_goes_on(line):
            self._of_filter = False
            return False
        name = line.strip().partition(":")[0]
        part = self._open
        if part is None:
            interface = self._hint[0]
            part = self._begin("iw-station") if interface is not None else None
            if part is None:
                return False
            part.lines.append(f"Station {NOT_NAMED} (on {interface})")
        elif name in self._heads:
            self._of_filter = False
            self.paste.not_read_count += self.paste.lines - part.first + 1
            self.paste.not_read.append(part.first)
            self.paste.parts.pop()
            self._close()
            return True
        self._heads.add(name)
        part.lines.append(line)
        part.last = self.paste.lines
        return True

    def _same_output(self, kind: CounterKind, line: str) -> bool:
        if self._open is None or self._open.kind != kind or kind not in _MANY_HEADS:
            return False
        if kind == "rc-stats":
            last = self._open.lines[-1]
            return (minstrel.is_csv(line) and minstrel.is_csv(last)) or (
                minstrel.is_head(line) and minstrel.is_title(last)
            )
        if kind == "proc-net-wireless":
            return not proc_wireless.is_row(self._open.lines[-1])
        if kind == "mac80211-aqm":
            return mac80211_debugfs.is_codel(self._open.lines[-1]) and not mac80211_debugfs.is_codel(line)
        if kind == "ath10k-fw-stats":
            return " ".join(line.split()) not in self._heads
        return kind == "iw-survey" or " ".join(line.split()) not in self._heads or not _address_known(line)

    def _surveyed_again(self, line: str) -> bool:
        """Whether ``line`` is a channel that the open survey has already, so that another survey began a line ago."""
        if self._open is None or self._open.kind != "iw-survey" or not line.strip().startswith("frequency:"):
            return False
        channel = " ".join(line.replace("[in use]", "").split())
        again = channel in self._heads
        self._heads.add(channel)
        return again

    def _begin(self, kind: CounterKind) -> Part | None:
        self._open = None
        self._heads = set()
        if len(self.paste.parts) >= MAX_PARTS:
            self.paste.cut = True
            return None
        interface, station, phy = self._hint
        self._hint = _NO_HINT  # a second output of one command is of something else
        number = self.paste.lines
        self._open = Part(kind, number, number, interface=interface, station=station, phy=phy)
        self.paste.parts.append(self._open)
        return self._open

    def _close(self) -> None:
        if self._open is not None:
            self._hint = _NO_HINT
        self._open = None
        self._heads = set()

    def _other(self, line: str) -> None:
        """A line of no part: of a kernel log, of a tool that measures, or not read."""
        number = self.paste.lines
        last = self.paste.parts[-1] if self.paste.parts else None
        record = self._log.parse(line)
        kind: OtherKind | None = None
        if record.kind is LogKind.KERNEL:
            kind = "kernel-log"
        elif _MEASURED.match(line) is not None:
            kind = "measurement"
        if kind is None:
            self.paste.not_read_count += 1
            if len(self.paste.not_read) < 20:
                self.paste.not_read.append(number)
            return
        self._open = None
        if last is not None and last.kind == kind and number - last.last <= _GAP:
            last.last = number
        elif len(self.paste.parts) < MAX_PARTS:
            self.paste.parts.append(Part(kind, number, number))


def _one(name: str | None) -> str | None:
    """The name, unless it is a pattern that stands for several."""
    return None if name is None or set("*?[$") & set(name) else name


def _address_known(line: str) -> bool:
    return re.search(r"Station [0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){5} ", line) is not None


def _clean(raw: str) -> str:
    line = raw[:_LINE_LIMIT].rstrip("\r\n \t\x00").removeprefix("\ufeff")
    if "\x1b" in line:
        line = _ANSI.sub("", line)
    if line.startswith(">") and (quote := _QUOTED.match(line)) is not None:
        line = line[quote.end() :]
    return line

"""Messages that no rule names and that look like trouble, by their level or by their words."""

from __future__ import annotations

import re

from txop.log.literals import kind_of
from txop.log.record import Kind, Record
from txop.log.report import Unnamed
from txop.log.rule_files import MATCHED

MAX_EXAMPLES = 20
"""Different messages that are kept."""

PROGRAMS = frozenset(
    {
        "hostapd", "wpa_supplicant", "wpad", "netifd", "procd", "iwd", "networkmanager", "modemmanager", "connmand",
        "dhcpcd", "udhcpc", "eapol_test", "usb_modeswitch", "systemd-networkd", "wifihal", "wificond", "rfkill",
    }
)  # fmt: skip
"""Programs with messages that are about the network, in lower case; other programs are not looked at."""

_ERROR = 3  # KERN_ERR

_WORDS = (
    "fail(?:s|ed|ing|ure|ures)?", "errors?", "err", "time-?d?[ -]?outs?", "refused", "reject(?:ed|ing|s)?", "denied",
    "stopped", "reset(?:ting)?", "warn(?:ing)?", "bug", "unable", "cannot", "can.t", "couldn.t", "invalid",
    "corrupt(?:ed|ion)?", "abort(?:ed|ing|s)?", "crash(?:ed|es|ing)?", "panic", "oops", "fatal", "hangs?", "hung",
    "stuck", "dead", "died", "dying", "lost", "loss", "drop(?:ped|ping|s)?", "missing", "missed", "mismatch\\w*",
    "overruns?", "underruns?", "overflow\\w*", "exceed\\w*", "unsupported", "unexpected\\w*", "illegal", "giving up",
    "give up", "stall(?:ed|s)?", "lockup", "faults?", "exception", "out of (?:memory|range|sync)", "deadlock",
    "violation", "broken", "inconsistent", "bad", "wrong", "busy", "unplugged", "gone", "leak(?:ed|s)?", "exhausted",
    "inactivity", "unreachable", "disassociated", "deauthenticated", "radar", "downgrad\\w*",
    "disabl(?:ed|ing) (?:due|because|as)", "too (?:many|long|short|small|big|large|late|old|slow)",
    "(?:did|does|do|is|was|are|has|have|could|can|will|would)(?:n.t| not)",
    "not (?:respond|answer|ready|found|supported|accepting|enough|valid|present|load|allow|access)\\w*",
    "not (?:availab|initiali|communicat)\\w*",
    "no (?:response|reply|answer|memory|such|valid|suitable|supported|resource|space)\\w*",
)  # fmt: skip
_LOOKS = re.compile(rf"\b(?:{'|'.join(_WORDS)})\b", re.ASCII)
"""Words of trouble in a message in lower case. One expression of these and of the next takes three times as long."""
_ENDS = re.compile(r"[a-z0-9]_?(?:err|error|fail|failed|failure|timeout|timedout)\b", re.ASCII)
"""Names that end in one of them."""
_ERRNO_AT_END = re.compile(r"[-=(: ]-\d{1,3}\b\)?\.?$", re.ASCII)
_END = 9
"""Characters that an errno at the end takes at most."""

_HARMLESS = re.compile(
    r"^(?:kernel )?command line:|^configuration file: |: link is not ready$|using dummy regulator$"
    r"|^unknown kernel command line parameters|\berrors=(?:remount|continue|panic)|\b(?:no|without) errors?\b"
    r"|\berror (?:handling|handler|recovery|correction|log|reporting|count)s?\b|fault[- ]inject"
    r"|^watchdog: (?:delayed|enabled)|\bregistered new|no_console_suspend|\bmodules linked in|^x86/fpu|^spectre"
    r"|mitigation",
    re.ASCII,
)
_NOTHING = re.compile(r" = 0$|\b0 errors?\b", re.ASCII)
"""Counts of errors that say that there were none."""

_COUNTER = re.compile(
    r"\s{0,16}[a-z]{2,12}(?: [a-z]{2,12}){0,3}:(?:\t| {2,20})\d{1,20}\s{0,4}$|\s{1,16}\w{2,60}: \d{1,20}\s{0,4}$",
    re.ASCII,
)
"""Lines of ``iw station dump`` and of ``ethtool -S``, such as ``tx failed:   4``, which are no messages."""

_MAX_KNOWN = 4096
_known: dict[bytes, bool] = {}
"""What the words say, by message without its digits: messages of one kind differ in their digits only."""

_NEUTRAL = re.compile(r"0x[0-9a-f]+|[0-9a-f]{2}(?::[0-9a-f]{2})+|\d+")


def looks_like_trouble(message: str) -> bool:
    """Whether the words of ``message`` are those of an error.

    >>> looks_like_trouble("foo 1-1: MCU timed out"), looks_like_trouble("usb 1-1: Product: WiFi")
    (True, False)
    """
    if (looks := _known.get(kind := kind_of(message))) is None:
        lower = message.lower()
        looks = _has_words_of_trouble(lower) and _HARMLESS.search(lower) is None
        if len(_known) >= _MAX_KNOWN:
            _known.clear()
        _known[kind] = looks
    return looks and _NOTHING.search(message.lower()) is None


def _has_words_of_trouble(lower: str) -> bool:
    return (
        _LOOKS.search(lower) is not None
        or (("err" in lower or "fail" in lower or "time" in lower) and _ENDS.search(lower) is not None)
        or _ERRNO_AT_END.search(lower[-_END:]) is not None
    )


class UnnamedCounter:
    """Counts them, and keeps the first of each."""

    def __init__(self) -> None:
        self._count = 0
        self._by_level = 0
        self._levels = False
        self._examples: dict[str, str] = {}
        self._times: dict[str, int] = {}

    def note_level(self, record: Record) -> None:
        """``record`` is one of the log."""
        self._levels = self._levels or record.level is not None

    def note(self, record: Record) -> None:
        """No rule names ``record``."""
        message = record.message[:MATCHED]
        if record.kind is Kind.BARE and _COUNTER.match(record.raw[:MATCHED]):
            return
        by_level = record.level is not None and record.level <= _ERROR
        if not message or not (by_level or looks_like_trouble(message)):
            return
        self._count += record.repeats
        self._by_level += record.repeats if by_level else 0
        alike = _NEUTRAL.sub("#", message)
        if alike in self._times:
            self._times[alike] += record.repeats
        elif len(self._times) < MAX_EXAMPLES:
            self._times[alike] = record.repeats
            self._examples[alike] = record.raw[:MATCHED].rstrip()

    def result(self) -> Unnamed | None:
        """None when the log has no levels and nothing looks like trouble."""
        if not self._levels and not self._count:
            return None
        return Unnamed(
            count=self._count,
            by_level=self._by_level if self._levels else None,
            examples=list(self._examples.values()),
            times=list(self._times.values()),
        )

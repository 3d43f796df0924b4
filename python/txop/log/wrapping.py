"""Removes what a terminal, a web page or a tool put around the lines of a log.

:func:`undressed` takes off colours, HTML and Markdown. :func:`unwrapped` takes off one prefix: of ``cat -n`` and
``grep -n``, of a container or a CI service, of a serial terminal, of Android's logcat, of a shell's prompt.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass

MAX_LAYERS = 4
"""Prefixes that are taken off one after the other."""

_ESCAPES = re.compile(
    r"(?:\x1b|\^\[|\\x1[bB]|\\033|\\e|\u241b)(?:\[[0-9;?]{0,16}[A-Za-z]|\][^\x07\x1b]{0,80}(?:\x07|\x1b\\))"
)
"""Colours of a terminal: the escape character, or how editors and pagers print it (``^[``, ``\\x1b``, ``\\033``)."""
_COLOUR_REST = re.compile(r"\[\d{1,2}(?:;\d{1,3}){0,4}m")
"""Colours with an escape character that was lost on the way."""
_COLOUR_LOST = re.compile(r"\[(?:\d{1,2}(?:;\d{1,3}){0,4})m(?=[\[<(\w])")
_ENTITY = re.compile(r"&(?:lt|gt|amp|quot|apos|nbsp|#\d{1,5}|#x[0-9a-fA-F]{1,4});")
_TAG = re.compile(r"</?(?:span|br|pre|code|div|font|td|tr|li|strong|em|samp|tt)(?: [^<>]{0,200})?/?>", re.IGNORECASE)
_BACKSLASH = re.compile(r"\\([\[\]_*#<>`~|.!(){}+-])")
_SPACES = str.maketrans({"\xa0": " ", "\u2007": " ", "\u202f": " ", "\u200b": None, "\u2060": None, "\ufeff": None})


def undressed(text: str) -> str:
    """``text`` without colours, HTML entities and tags, and Markdown's escapes.

    >>> undressed("^[[32m[    1.5] ^[[0musb 1-1: a&lt;b"), undressed(r"\\[    1.5\\] rtw\\_8822ce: x")
    ('[    1.5] usb 1-1: a<b', '[    1.5] rtw_8822ce: x')
    """
    if "\x1b" in text or "^[" in text or "\u241b" in text or ("\\" in text and "[" in text):
        text = _ESCAPES.sub("", text)
    if text[:1] == "[" and _COLOUR_LOST.match(text):
        text = _COLOUR_REST.sub("", text)
    if "&" in text and _ENTITY.search(text):
        text = html.unescape(text)
        if "&" in text and _ENTITY.search(text):
            text = html.unescape(text)
    if "<" in text and ">" in text:
        text = _TAG.sub("", text)
    if "\\" in text and ("\\[" in text or "\\_" in text or "\\<" in text):
        text = _BACKSLASH.sub(r"\1", text)
    return text if text.isascii() else text.translate(_SPACES)


@dataclass(frozen=True, slots=True)
class Wrapping:
    """One prefix that was taken off."""

    rest: str
    clock: str | None = None
    """Wall-clock time in the prefix."""
    level: int | None = None
    """Level in the prefix."""
    program: str | None = None
    """Who wrote the line, where the prefix says so; ``kernel`` for the kernel."""


_LETTERS = {"V": 7, "D": 7, "I": 6, "W": 4, "E": 3, "F": 2, "A": 2, "S": 7}
_WORDS = {"DEBUG": 7, "INFO": 6, "NOTICE": 5, "WARN": 4, "WARNING": 4, "ERROR": 3, "ERR": 3, "FATAL": 2, "CRIT": 2}
_DAY_TIME = r"\d\d:\d\d:\d\d(?:[.,]\d{1,9})?"
_DATE = r"(?:\d{4}[-/.]\d\d[-/.]\d\d|\d\d?[-/.]\d\d?[-/.]\d{2,4})"

_LOGCAT_THREAD = re.compile(
    r"(?P<clock>(?:\d{4}-)?\d\d-\d\d \d\d:\d\d:\d\d\.\d{3,9})(?: [+-]\d{4})? +(?:\S{1,20} +)??"
    r"(?P<pid>\d{1,7}) +(?P<tid>\d{1,7}) +"
    r"(?P<letter>[VDIWEFAS])\b ?(?P<rest>.*)",
    re.DOTALL,
)
_LOGCAT_TAG = re.compile(
    r"(?:(?P<clock>(?:\d{4}-)?\d\d-\d\d \d\d:\d\d:\d\d\.\d{3,9}): ?| *)?(?P<letter>[VDIWEFAS])/"
    r"(?P<tag>[^()\[\]]{0,60}?) *\( *(?P<pid>\d{1,7})(?::0x[0-9a-f]+)?\): ?(?P<rest>.*)",
    re.DOTALL,
)
_LOGCAT_TIMED_TAG = re.compile(
    r"(?P<clock>(?:\d{4}-)?\d\d-\d\d \d\d:\d\d:\d\d\.\d{3,9}) +(?P<letter>[VDIWEFAS])/"
    r"(?P<tag>[^()\[\]]{0,60}?) *\( *(?P<pid>\d{1,7})\): ?(?P<rest>.*)",
    re.DOTALL,
)
_LOGCAT_SHORT = re.compile(r"(?P<letter>[VDIWEFAS])/(?P<tag>(?i:kernel|dmesg|klog) *): (?P<rest>.*)", re.DOTALL)
_TAG_FRONT = re.compile(r"(?P<tag>[\w.@/-]{0,60}) {0,40}: (?P<rest>.*)", re.DOTALL)

_COUNTED = re.compile(
    r"(?:(?P<file>[\w./~-]{1,120})[:-])?\d{1,8}(?:[:)|]|-(?=\W)|\.(?=[ \t])|(?=[ \t]{1,8}\D)|\t) {0,8}\t?(?P<rest>.+)",
    re.DOTALL,
)
"""``cat -n``, ``grep -n``, ``grep -nH``, ``nl``, and numbered listings of web pages."""
_BRACKETED_TIME = re.compile(
    rf"\[(?P<clock>(?:{_DATE}[T ])?{_DAY_TIME}(?:Z| ?[+-]\d\d:?\d\d| [A-Z]{{2,5}})?)\] ?(?P<rest>.+)", re.DOTALL
)
"""minicom, tio, picocom, qubes."""
_BARE_TIME = re.compile(
    rf"(?P<clock>{_DATE}[T ,]{{1,2}}\d\d?:\d\d(?::\d\d(?:[.,]\d{{1,9}})?)?(?: ?[AP]M)?"
    rf"(?:Z| ?[+-]\d\d:?\d\d| [A-Z]{{2,5}}(?= ))?|{_DAY_TIME}|\d{{9,11}}\.\d{{1,9}})"
    r"(?:[ \t]{1,8}(?:[>|:-] )?|: )(?P<rest>.+)",
    re.DOTALL,
)
"""GitHub Actions, docker logs -t, ts (moreutils), serial terminals, a desktop's log viewer."""
_WORD_LEVEL = re.compile(
    r"(?P<word>DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|ERR|FATAL|CRIT)(?: +\d{1,7} +\d{1,7})? +(?P<rest>.+)", re.DOTALL
)
_BRACKETED_PROGRAM = re.compile(
    r"\[(?P<program>kernel|dmesg|kmsg|klogd)\] ?:? ?(?P<rest>.+)", re.DOTALL | re.IGNORECASE
)
_PIPED = re.compile(r"[\w./@-]{1,60} {0,40}\| {0,2}(?P<rest>.+)", re.DOTALL)
"""docker compose."""
_POD = re.compile(r"\[(?:pod/)?[\w.-]{1,80}(?:/[\w.-]{1,80}){1,3}\] (?P<rest>.+)", re.DOTALL)
_PROMPT = re.compile(r"(?:\[?[\w.-]{1,40}@[\w.-]{1,60}[: ][^#$%\n]{0,80}\]?[#$%]|[#$%]) (?P<rest>.+)", re.DOTALL)
_QUOTE = re.compile(r"(?:[>|*`~+!]{1,3} {0,4}|- )(?P<rest>.+)", re.DOTALL)
"""Quoting of a mail or of Markdown, list marks, code marks, and what diff puts in front."""
_PROGRAM_COLUMN = re.compile(r"(?P<program>kernel|[\w-]{2,40})\t(?P<rest>.+)", re.DOTALL)


def unwrapped(text: str) -> Wrapping | None:
    """``text`` without the prefix that a tool put in front; None when no known prefix is there.

    >>> unwrapped("kernel-1  | [    1.5] usb 1-1: x").rest
    '[    1.5] usb 1-1: x'
    >>> unwrapped("E/KERNEL  (    0): usb 1-1: x")
    Wrapping(rest='usb 1-1: x', clock=None, level=3, program='kernel')
    """
    first = text[0]
    if first.isdigit():
        return _logcat(text) or _timed(_BARE_TIME.match(text)) or _plain(_COUNTED.match(text))
    if first == "[":
        return (
            _timed(_BRACKETED_TIME.match(text)) or _program(_BRACKETED_PROGRAM.match(text)) or _plain(_POD.match(text))
        )
    if first in ">|*`~+!-":
        found = _QUOTE.match(text)
        if found is None:
            return None
        rest = found["rest"].rstrip()
        return Wrapping(rest.rstrip(first) if first in "`*|" and rest.endswith(first) else rest)
    if first in "VDIWEFAS" and (record := _logcat(text) or _word(text)) is not None:
        return record
    return (
        _word(text)
        or _plain(_PROMPT.match(text))
        or _plain(_PIPED.match(text))
        or _program(_PROGRAM_COLUMN.match(text))
        or _plain(_COUNTED.match(text))
    )


def _plain(found: re.Match[str] | None) -> Wrapping | None:
    return None if found is None else Wrapping(found["rest"])


def _timed(found: re.Match[str] | None) -> Wrapping | None:
    return None if found is None else Wrapping(found["rest"], clock=found["clock"])


def _program(found: re.Match[str] | None) -> Wrapping | None:
    if found is None:
        return None
    program = found["program"].lower()
    return Wrapping(found["rest"], program="kernel" if program in _KERNEL_TAGS else program)


def _word(text: str) -> Wrapping | None:
    found = _WORD_LEVEL.match(text)
    return None if found is None else Wrapping(found["rest"], level=_WORDS[found["word"]])


_KERNEL_TAGS = frozenset({"", "-", "kernel", "dmesg", "kmsg", "klogd", "klog"})


def _logcat(text: str) -> Wrapping | None:
    """A line of Android's logcat: the formats brief, time, tag and threadtime."""
    if found := _LOGCAT_THREAD.match(text):
        rest = found["rest"]
        level = _LETTERS[found["letter"]]
        tagged = _TAG_FRONT.match(rest)
        if int(found["pid"]) == 0:  # the kernel's buffer; the tag is what stood before the first colon, or nothing
            if tagged is not None and tagged["tag"].lower() in _KERNEL_TAGS:
                rest = tagged["rest"]
            return Wrapping(rest, found["clock"], level, "kernel")
        if tagged is None:
            return Wrapping(rest, found["clock"], level)
        return Wrapping(tagged["rest"], found["clock"], level, _tag(tagged["tag"]))
    if found := _LOGCAT_TIMED_TAG.match(text) or _LOGCAT_TAG.match(text):
        program = "kernel" if int(found["pid"]) == 0 else _tag(found["tag"])
        return Wrapping(found["rest"], found["clock"], _LETTERS[found["letter"]], program)
    if found := _LOGCAT_SHORT.match(text):
        return Wrapping(found["rest"], None, _LETTERS[found["letter"]], "kernel")
    return None


def _tag(tag: str) -> str:
    tag = tag.strip()
    return "kernel" if tag.lower() in _KERNEL_TAGS else tag

"""What one end of a ttcp transfer prints when it is over::

    ttcp-t: 16777216 bytes in 1.43 real seconds = 11457.34 KB/sec +++
    ttcp-t: 2048 I/O calls, msec/call = 0.72, calls/sec = 1432.17
    ttcp-t: 0.0user 0.1sys 0:01real 9% 0i+0d 384maxrss 0+2pf 34+1csw

The context switches are those of the process, voluntary and involuntary (getrusage(2), as ``ttcp.c`` prints them).
``txop-vusb ttcp`` prints one more line, with those of the whole machine.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from txop.formats.error import FormatError, quoted_start
from txop.formats.reading import lines_of, text_of

_WHAT = "the end of a ttcp transfer"
_LONGEST_LINE = 500
_BYTES = re.compile(
    r"ttcp(?P<end>-[rt])?: (?P<bytes>[0-9]{1,18}) bytes in (?P<s>[0-9]{1,9}(?:\.[0-9]{1,9})?) .{0,20}seconds\b.*"
)
_CALLS = re.compile(r"ttcp(?:-[rt])?: (?P<calls>[0-9]{1,18}) I/O calls\b.*")
_SWITCHES = re.compile(r"ttcp(?:-[rt])?: .*\s(?P<voluntary>[0-9]{1,12})\+(?P<involuntary>[0-9]{1,12})csw")
_MACHINE = re.compile(r"ttcp(?:-[rt])?: (?P<machine>[0-9]{1,15}) csw of the machine")


@dataclass(frozen=True, slots=True)
class TransferEnd:
    """One end of a transfer. What it did not print is ``None``."""

    end: Literal["transmitter", "receiver"] | None
    bytes: int
    seconds: float
    calls: int | None
    voluntary_switches: int | None
    """Context switches of the process: it waited."""
    involuntary_switches: int | None
    """Context switches of the process: another one was to run."""
    machine_switches: int | None
    """Context switches of the whole machine in that time."""


def parse(data: str | bytes) -> TransferEnd:
    """What ttcp printed at one end. Raises :class:`FormatError` where it printed no outcome.

    >>> end = parse("ttcp-r: 16777216 bytes in 22.50 real seconds = 728.18 KB/sec +++\\n"
    ...             "ttcp-r: 0.1user 2.8sys 0:22real 13% 0i+0d 0maxrss 0+0pf 5170+12csw\\n")
    >>> end.end, end.bytes, end.seconds, end.voluntary_switches, end.machine_switches
    ('receiver', 16777216, 22.5, 5170, None)
    """
    text = text_of(data, _WHAT)
    outcome: re.Match[str] | None = None
    calls: int | None = None
    switches: tuple[int, int] | None = None
    machine: int | None = None
    for _, whole_line in lines_of(text):
        line = whole_line[:_LONGEST_LINE].strip()
        if (found := _BYTES.fullmatch(line)) is not None:
            outcome = found
        elif (found := _CALLS.fullmatch(line)) is not None:
            calls = int(found["calls"])
        elif (found := _MACHINE.fullmatch(line)) is not None:
            machine = int(found["machine"])
        elif (found := _SWITCHES.fullmatch(line)) is not None:
            switches = int(found["voluntary"]), int(found["involuntary"])
    if outcome is None:
        raise FormatError(f"{_WHAT} expected; {quoted_start(text)}")
    voluntary, involuntary = switches if switches is not None else (None, None)
    end: Literal["transmitter", "receiver"] | None = None
    if outcome["end"] is not None:
        end = "transmitter" if outcome["end"] == "-t" else "receiver"
    return TransferEnd(end, int(outcome["bytes"]), float(outcome["s"]), calls, voluntary, involuntary, machine)

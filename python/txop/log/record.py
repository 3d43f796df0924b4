"""One message of a kernel log, and what a line that is not a message is called."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    """What a line is."""

    KERNEL = "kernel"
    """A kernel message, with something in front that says so: a time, a level, or ``kernel:``."""
    BARE = "bare"
    """Text with nothing in front: a kernel message as ``dmesg -t`` prints it, or a remark between pasted lines."""
    OTHER_PROGRAM = "other_program"
    """A message of another program in the same journal or syslog."""
    MARK = "mark"
    """A line of the reading tool itself: ``-- Boot ... --``, or a property of a /dev/kmsg record."""
    REPEAT = "repeat"
    """``last message repeated 3 times``: the line before, repeated as often."""
    EMPTY = "empty"
    """Nothing but white space."""
    JUNK = "junk"
    """Not text: control characters, or JSON that is not a journal entry."""

    def __hash__(self) -> int:  # that of Enum asks for the name, and each line is counted by its kind
        return id(self)


@dataclass(slots=True)
class Record:
    """A line of a kernel log, understood as far as possible. What the line does not give is None."""

    kind: Kind
    raw: str
    """The line as it was read."""
    message: str = ""
    """The message without anything in front."""
    form: str = ""
    """How the line is written; a key of :data:`txop.log.forms.FORMS`."""
    time_s: float | None = None
    """Seconds since boot, on the kernel's monotonic clock."""
    clock: str | None = None
    """Wall-clock time, as the log gives it."""
    level: int | None = None
    """0 emergency, 1 alert, 2 critical, 3 error, 4 warning, 5 notice, 6 info, 7 debug (include/linux/kern_levels.h)."""
    sequence: int | None = None
    """Number of the record in the kernel's ring buffer."""
    boot_id: str | None = None
    """The journal's name for the boot."""
    device_hint: str | None = None
    """The device as the journal names it: ``+usb:1-1.5``, ``n3``."""
    program: str | None = None
    """Who wrote it, where that is another program."""
    starts: tuple[str, ...] = ()
    """Where the message may begin instead, when something unknown stands in front."""
    skipped: bool = False
    """Whether something that is not known stood in front, and was left out."""
    known_starts: int = 0
    """How many of ``starts`` stand behind a prefix that is known."""
    repeats: int = 1
    """How often the message came in a row where the logger counts instead of repeating."""
    line: int = 0
    """Number of the line in the log, from 1."""

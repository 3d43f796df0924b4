"""A kernel log, analysed, as typed objects: version 1 of the ``txop-log`` JSON format (``docs/kernel-log.md``)."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field

FORMAT: Final = "txop-log"
VERSION: Final = 1

Severity = Literal["error", "warning", "info"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")
"""The worst first."""


class Model(BaseModel):
    """Tolerant of fields that a newer version of the same layout adds."""

    model_config = ConfigDict(extra="ignore", allow_inf_nan=False)


class Moment(Model):
    """A place in the log."""

    boot: int
    """Index of the boot, from 0."""
    line: int
    """Line number in the log, from 1."""
    time_s: float | None
    """Seconds since boot on the kernel's clock; null when the log has none."""
    clock: str | None
    """Wall-clock time as the log gives it; null when it gives none."""


class Boot(Model):
    """One run of a kernel."""

    index: int
    """From 0, in the order of the log."""
    begins: str
    """Why a boot is taken to begin here."""
    kernel: str | None
    """Version out of ``Linux version``; null when that line is not in the log."""
    id: str | None
    """The journal's name for the boot; null when there is none."""
    from_the_start: bool
    """Whether the log has this boot from its first lines."""
    lines: int
    """Kernel messages."""
    first: Moment
    """First message."""
    last: Moment
    """Last message."""


class Gap(Model):
    """Where messages are known to be missing."""

    where: Moment
    """The line that shows it."""
    kind: str
    """Why they are missing."""
    lost: int | None
    """How many; null when it is not said."""


class Value(Model):
    """Something that the message of a fault says."""

    name: str
    """What: the name of the group in the rule, such as ``errno``, ``reason``, ``address``."""
    text: str
    """As it stands in the message."""
    meaning: str | None
    """Name of the number and what it says, such as ``EAGAIN``; null where there is nothing to add."""


class BootCount(Model):
    """How often in one boot."""

    boot: int
    """Index of the boot."""
    count: int
    """How often."""


class Rate(Model):
    """How fast something came, where the log has times."""

    over_s: float
    """Seconds between the first and the last time, summed over the boots."""
    per_s: float
    """Times a second over that span."""
    busiest_10_s: int
    """Most times in 10 seconds."""


class Cause(Model):
    """Another fault after which this one came, so that it is probably the reason."""

    key: str
    """Key of its rule."""
    title: str
    """What happened."""
    count: int
    """How many times of this fault came shortly after it."""


class Fault(Model):
    """One thing that happened, once or many times: same rule, device, driver and identifying values."""

    key: str
    """Key of the rule."""
    title: str
    """What happened, in a few words."""
    severity: Severity
    """How bad."""
    subsystem: str
    """Part of the kernel: ``usb``, ``wifi``, ``firmware``..."""
    driver: str | None
    """The driver, where the message or the rule names one."""
    device: str | None
    """The device: ``usb 1-1.5.4``, ``pci 0000:03:00.0``, ``mmc0``, ``wlan0``, ``phy0``; null when not named."""
    values: list[Value]
    """What the messages say; where it differs between them, the first few of each name."""
    values_left_out: int
    """Values beyond those listed."""
    count: int
    """How often."""
    counts: list[BootCount]
    """The same by boot; boots without it are left out."""
    suppressed: int = 0
    """How often in addition the kernel says that it left the message out (rate limit)."""
    rate: Rate | None = None
    """How fast; null when it came once, or the log has no times."""
    after: list[Cause] = Field(default_factory=list)
    """Faults shortly after which it came, and which probably are its cause."""
    first: Moment
    """First time."""
    last: Moment
    """Last time."""
    message: str = ""
    """The first message, whole, without what the log puts in front."""
    examples: list[str]
    """The first lines, as they are in the log."""
    function: str | None
    """Function that failed, for reports with registers and call trace; null otherwise."""
    frames: list[str]
    """First frames of the call trace of the first report; empty when there is none."""
    known: str
    """What is known of it."""
    do: str
    """What to do about it."""
    source: str
    """Where the message comes from."""

    def is_consequence(self) -> bool:
        """Whether it came shortly after another fault each time."""
        return self.count > 0 and sum(cause.count for cause in self.after) >= self.count


class Lines(Model):
    """How many lines there were of each kind; they add up to ``read``."""

    read: int = 0
    """All."""
    kernel: int = 0
    """Kernel messages with a time, level or ``kernel:`` in front."""
    bare: int = 0
    """Text with nothing in front, taken as kernel messages."""
    other_programs: int = 0
    """Messages of other programs."""
    marks: int = 0
    """Lines of the reading tool, and properties of /dev/kmsg records."""
    empty: int = 0
    """Empty lines."""
    not_understood: int = 0
    """Lines that are not text."""
    prefix_skipped: int = 0
    """Kernel messages in front of which something stood that is not known; they are among those above."""
    cut: int = 0
    """Lines that were too long to be kept whole."""


class FormCount(Model):
    """Lines of one form."""

    form: str
    """Key of the form."""
    title: str
    """What it is called."""
    lines: int
    """How many."""


class Unnamed(Model):
    """Messages that no rule names, of level error or worse or with the words of an error."""

    count: int
    """How many."""
    by_level: int | None = None
    """How many of them are of level error or worse; null when the log has no levels."""
    examples: list[str]
    """The first of them, without repetitions."""
    times: list[int] = Field(default_factory=list)
    """How often each of the examples came, numbers aside."""


class LogReport(Model):
    """A whole log."""

    format: Literal["txop-log"] = FORMAT
    """Always ``"txop-log"``."""
    version: Literal[1] = VERSION
    """Layout version."""
    source: str
    """File name, or ``-``."""
    lines: Lines
    """What was read."""
    recognised: bool = True
    """Whether any line is certainly a kernel message: something in front says so, it names a device as the kernel does,
    or a rule names it. False: perhaps not a kernel log at all, so that no fault means nothing."""
    forms: list[FormCount]
    """How the lines are written, the most frequent form first."""
    boots: list[Boot]
    """In the order of the log."""
    gaps: list[Gap]
    """Where messages are known to be missing."""
    gaps_left_out: int
    """Gaps beyond those listed."""
    faults: list[Fault]
    """The worst first, then by first line."""
    faults_left_out: int
    """Occurrences not listed because there were too many different faults."""
    unnamed: Unnamed | None
    """Messages without a rule that look like trouble; null when there are none and the log has no levels."""
    damage: str | None = Field(default=None)
    """Why reading ended early; null when the log is whole."""

    def worst(self) -> Severity | None:
        """The worst severity among the faults, None when there is none."""
        return min((fault.severity for fault in self.faults), key=SEVERITIES.index, default=None)

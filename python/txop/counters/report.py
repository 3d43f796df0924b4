"""Counters, read and explained, as typed objects: version 1 of the ``txop-counters`` JSON format (docs/counters.md)."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import BaseModel, ConfigDict

FORMAT: Final = "txop-counters"
VERSION: Final = 1

Window = Literal["difference", "since-connected", "since-unknown", "now"]
"""``difference``: from the earlier reading to the later one; ``since-connected``: since the peer associated;
``since-unknown``: since a moment that the driver chose; ``now``: at the later reading."""

Field = str | float | int | bool | None


class Record(BaseModel):
    """Tolerant of fields that a newer version of the same layout adds."""

    model_config = ConfigDict(extra="ignore", allow_inf_nan=False)


class Subject(Record):
    """What a figure is about; null where the text does not say."""

    kind: str
    """What it is the output of: ``iw-station``, ``iw-survey``, ``ethtool``, ``rc-stats``, ``proc-net-wireless``,
    ``ath9k-xmit``, ``mt76-tx-stats``, ``ath10k-fw-stats``, ``mac80211-airtime``, ``mac80211-aqm``,
    ``mac80211-aql``."""
    interface: str | None
    """The interface; of debugfs of a driver the radio, such as ``phy0``."""
    station: str | None
    """The peer's address as it is printed, which may be masked."""
    frequency_mhz: float | None
    """The channel, of a survey."""
    ordinal: int
    """Tells subjects apart that the text does not; 1 for the first."""


class Figure(Record):
    """One figure."""

    code: str
    """What it is: a row of ``meanings``, or ``counter`` for one that only the driver names."""
    name: str | None
    """Of ``counter``: as the driver calls it. Of figures of a rate: the rate."""
    subject: Subject
    """What it is about."""
    value: float | int | None
    """Null when it is not available."""
    unit: str
    """``packets``, ``bytes``, ``percent``, ``dBm``, ``Mbit/s``, ``ms``, ``MPDUs``, ``attempts``, ``events`` ..."""
    n: int | None
    """What the figure rests on: packets, attempts, ms; null where that has no meaning."""
    window: Window
    """When it was counted."""
    reason: str | None
    """Code of why it is not available."""


class Finding(Record):
    """A statement: a code, its fields, and the sentence made of both."""

    code: str
    """What it is."""
    subject: Subject | None
    """What it is about; null for the input as a whole."""
    fields: dict[str, Field]
    """The figures that it rests on, with their n."""
    text: str
    """The sentence."""


class Meaning(Record):
    """What a figure means."""

    code: str
    """Of the figure."""
    means: str
    """What is counted."""
    source: str
    """Kernel file that says so."""


class Part(Record):
    """Lines of the input that belong together."""

    file: str
    """File name, or ``-``."""
    kind: str
    """As in ``subject.kind``; also ``ethtool-driver``, ``kernel-log``, ``measurement``."""
    first_line: int
    """From 1."""
    last_line: int
    """From 1."""
    command: str | None
    """The command that reads it, where it is not ``txop counters``."""


class Pairing(Record):
    """Whether a subject was read twice."""

    subject: Subject
    """What was read."""
    before_line: int | None
    """First line of the earlier reading; null when there is none."""
    after_line: int
    """First line of the later one."""
    unpaired: str | None
    """Code of why there is no earlier one; null when there is."""
    seconds: float | None
    """From the earlier to the later reading, where the text says it."""


class CountersReport(Record):
    """Everything that the text has."""

    format: Literal["txop-counters"] = FORMAT
    """Always ``"txop-counters"``."""
    version: Literal[1] = VERSION
    """Layout version."""
    before: str | None
    """File name of the earlier text; null with one file."""
    after: str
    """File name of the later text, or ``-``."""
    driver: str | None
    """That ``ethtool -i`` names; null when it is not there."""
    conclusions: list[Finding]
    """What the figures explain."""
    implausible: list[Finding]
    """What cannot be true as it stands, or is not what it looks like."""
    figures: list[Figure]
    """All figures."""
    pairings: list[Pairing]
    """What was read, and whether twice."""
    meanings: list[Meaning]
    """What the figures mean that the report has."""
    parts: list[Part]
    """Which lines are the output of which tool."""
    lines_not_read: int
    """Lines that belong to no part."""
    first_not_read: list[str]
    """Where the first of them are: file and line."""
    cut: bool
    """The text was too long, and its end was not looked at."""

    @property
    def readable(self) -> bool:
        """Whether there was any output of a tool that is read here."""
        return bool(self.pairings)

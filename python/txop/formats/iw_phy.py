"""``iw phy`` and ``iw list``: what a radio can do, in brief.

Kept: bands with their channels and generations (HT, VHT, HE, EHT) and the capability words that iw prints in
hexadecimal, interface modes, antennas, and the extended features that decide how a driver queues: ``TXQS``
(mac80211's FQ-CoDel), ``AIRTIME_FAIRNESS`` and ``AQL``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from txop.formats.iw_failure import not_iw
from txop.formats.reading import lines_of, real, text_of, whole

_WHAT = "iw phy"
_WIPHY = re.compile(r"Wiphy (?P<name>[^ \n]{1,64})")
_BAND = re.compile(r"\tBand (?P<number>[0-9]{1,2}):")
_FREQUENCY = re.compile(
    r"\* (?P<mhz>[0-9]{1,6}(?:\.[0-9]{1,3})?) MHz(?: \[(?P<channel>[0-9]{1,4})\])?(?P<rest>[^\n]{0,200})"
)
_POWER = re.compile(r"\((?P<dbm>-?[0-9]{1,3}(?:\.[0-9]{1,2})?) dBm\)")
_WORD = re.compile(r"(?P<what>Capabilities|VHT Capabilities|HE MAC Capabilities|HE PHY Capabilities|"
                   r"EHT MAC Capabilities|EHT PHY Capabilities):? \(?(?P<hex>0x[0-9a-f]{1,64})\)?:?")  # fmt: skip
_STREAMS = re.compile(r"(?P<streams>[1-8]) streams: MCS 0-(?P<mcs>[0-9]{1,2})")
_HT_MCS = re.compile(r"HT (?:TX/RX |RX )?MCS rate indexes supported: (?P<list>[0-9, -]{1,80})")
_FEATURE = re.compile(r"\* \[ (?P<name>[A-Z0-9_]{1,80}) \]:[^\n]{0,300}")
_ANTENNAS = re.compile(
    r"(?P<kind>Available|Configured) Antennas: TX (?P<tx>0x[0-9a-f]{1,8}|0) RX (?P<rx>0x[0-9a-f]{1,8}|0)"
)


@dataclass(frozen=True, slots=True)
class PhyChannel:
    """One channel of a band."""

    frequency_mhz: float
    number: int | None
    max_tx_power_dbm: float | None
    disabled: bool
    flags: tuple[str, ...]
    """``no IR``, ``radar detection``, ..."""


@dataclass(frozen=True, slots=True)
class Band:
    """One band (iw's number: 1 is 2.4 GHz, 2 is 5 GHz, 3 is 60 GHz, 4 is 6 GHz, 5 is below 1 GHz)."""

    number: int
    ht: bool
    vht: bool
    he: bool
    eht: bool
    max_streams: int | None
    """The most of any generation; ``None`` when iw prints no set of rates."""

    capability_words: tuple[tuple[str, str], ...]
    """As printed: what, and hexadecimal digits, once each."""

    channels: tuple[PhyChannel, ...]


@dataclass(frozen=True, slots=True)
class Wiphy:
    """One radio."""

    name: str
    index: int | None
    bands: tuple[Band, ...]
    interface_modes: tuple[str, ...]
    extended_features: tuple[str, ...]
    available_antennas_tx: int | None
    """A bit per antenna; 0 from a driver that does not say."""

    available_antennas_rx: int | None
    ciphers: tuple[str, ...]
    commands: tuple[str, ...]

    @property
    def txqs(self) -> bool:
        """mac80211's per-station FQ-CoDel queues are in use."""
        return "TXQS" in self.extended_features

    @property
    def airtime_fairness(self) -> bool:
        """Stations are scheduled by airtime."""
        return "AIRTIME_FAIRNESS" in self.extended_features

    @property
    def airtime_queue_limits(self) -> bool:
        """AQL: the airtime that waits below mac80211 is limited."""
        return "AQL" in self.extended_features


def parse(data: str | bytes) -> tuple[Wiphy, ...]:
    """Every radio in the text. Raises FormatError when there is none."""
    text = text_of(data, _WHAT)
    radios: list[_Radio] = []
    for _, line in lines_of(text):
        if (head := _WIPHY.fullmatch(line)) is not None:
            radios.append(_Radio(head["name"]))
        elif radios:
            radios[-1].take(line[:400])
    if not radios:
        raise not_iw(_WHAT, text)
    return tuple(radio.wiphy() for radio in radios)


@dataclass
class _BandLines:
    number: int
    generations: set[str] = field(default_factory=set)
    streams: list[int] = field(default_factory=list)
    words: dict[tuple[str, str], None] = field(default_factory=dict)
    channels: list[PhyChannel] = field(default_factory=list)

    def take(self, line: str) -> None:
        """One line of the band, without its indentation."""
        if (word := _WORD.match(line)) is not None:
            self.words[(word["what"], word["hex"])] = None
            self.generations.add("HT" if word["what"] == "Capabilities" else word["what"].split()[0])
        elif (streams := _STREAMS.match(line)) is not None:
            self.streams.append(int(streams["streams"]))
        elif (ht := _HT_MCS.match(line)) is not None:
            indexes = [int(index) for index in re.findall(r"[0-9]{1,3}", ht["list"]) if int(index) < 32]
            if indexes:
                self.streams.append(max(indexes) // 8 + 1)
        elif (found := _FREQUENCY.match(line)) is not None and (mhz := real(found["mhz"])) is not None:
            notes = re.findall(r"\(([^()]{1,80})\)", found["rest"])
            power = _POWER.search(found["rest"])
            self.channels.append(
                PhyChannel(
                    mhz,
                    whole(found["channel"]),
                    real(power["dbm"], least=-100, most=200) if power is not None else None,
                    "disabled" in notes,
                    tuple(note for note in notes if not note.endswith(" dBm") and note != "disabled"),
                )
            )

    def band(self) -> Band:
        return Band(
            self.number,
            "HT" in self.generations,
            "VHT" in self.generations,
            "HE" in self.generations,
            "EHT" in self.generations,
            max(self.streams, default=None),
            tuple(self.words),
            tuple(self.channels),
        )


@dataclass
class _Radio:
    name: str
    index: int | None = None
    bands: list[_BandLines] = field(default_factory=list)
    lists: dict[str, list[str]] = field(default_factory=dict)
    features: list[str] = field(default_factory=list)
    antennas: tuple[int, int] | None = None
    section: str = ""

    def take(self, line: str) -> None:
        """One line of the radio. One tab: a heading or a fact; more: below the last heading."""
        if (band := _BAND.fullmatch(line)) is not None:
            self.bands.append(_BandLines(int(band["number"])))
            self.section = "band"
        elif line.startswith("\t\t"):
            stripped = line.strip()
            if self.section == "band":
                self.bands[-1].take(stripped)
            elif (feature := _FEATURE.fullmatch(stripped)) is not None:
                self.features.append(feature["name"])
            elif stripped.startswith("* "):
                self.lists.setdefault(self.section, []).append(stripped[2:])
        elif line.startswith("\t"):
            self.section = line.strip().rstrip(":")
            if self.section.startswith("wiphy index: "):
                self.index = whole(self.section.removeprefix("wiphy index: "))
            elif (antennas := _ANTENNAS.match(self.section)) is not None and antennas["kind"] == "Available":
                self.antennas = int(antennas["tx"], 16), int(antennas["rx"], 16)

    def wiphy(self) -> Wiphy:
        return Wiphy(
            name=self.name,
            index=self.index,
            bands=tuple(band.band() for band in self.bands),
            interface_modes=tuple(self.lists.get("Supported interface modes", ())),
            extended_features=tuple(self.features),
            available_antennas_tx=self.antennas[0] if self.antennas else None,
            available_antennas_rx=self.antennas[1] if self.antennas else None,
            ciphers=tuple(cipher.partition(" (")[0] for cipher in self.lists.get("Supported Ciphers", ())),
            commands=tuple(self.lists.get("Supported commands", ())),
        )

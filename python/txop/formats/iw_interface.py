"""``iw dev``, ``iw dev X info`` and ``iw dev X link``: interfaces, their channel, and what a station is connected
to.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from txop.formats.error import FormatError, quoted_start
from txop.formats.iw_failure import not_iw
from txop.formats.iw_rate import Rate, parse_rate
from txop.formats.iw_ssid import unescaped_ssid
from txop.formats.reading import lines_of, real, text_of, whole

_PHY = re.compile(r"phy#(?P<number>[0-9]{1,5})")
_INTERFACE = re.compile(r"(?:Interface (?P<name>[^ \n]{1,64})|(?P<unnamed>Unnamed/non-netdev interface))")
_CHANNEL = re.compile(
    r"channel (?P<channel>[0-9]{1,4}) \((?P<frequency>[0-9]{1,6}(?:\.[0-9]{1,3})?) MHz\)"
    r"(?:, width: (?P<width>80\+80|[0-9]{1,4}) MHz)?"
)
_CENTER = re.compile(r", center(?P<which>[12]): (?P<mhz>[0-9]{1,6}(?:\.[0-9]{1,3})?) MHz")
_CONNECTED = re.compile(
    r"(?P<how>Connected to|Joined IBSS|Authenticated with|Joined OCB) (?P<address>[0-9a-f:]{17}) "
    r"\(on (?P<interface>[^)\n]{1,64})\)"
)
_COUNTED = re.compile(r"(?P<bytes>[0-9]{1,20}) bytes \((?P<packets>[0-9]{1,20}) packets\)")
_SIGNAL = re.compile(r"-?[0-9]{1,4}(?= dBm)")


@dataclass(frozen=True, slots=True)
class Channel:
    """The channel in use."""

    number: int
    frequency_mhz: float
    width_mhz: int | None
    """80+80 MHz is 160."""

    ht: bool
    """False for ``20 MHz (no HT)``."""

    center1_mhz: float | None
    center2_mhz: float | None


@dataclass(frozen=True, slots=True)
class MulticastQueue:
    """The TXQ of frames to groups."""

    backlog_bytes: int | None
    backlog_packets: int | None
    flows: int | None
    drops: int | None
    ecn_marks: int | None
    over_limit: int | None
    hash_collisions: int | None
    tx_bytes: int | None
    tx_packets: int | None


@dataclass(frozen=True, slots=True)
class Interface:
    """One interface of ``iw dev`` or ``iw dev X info``."""

    name: str | None
    """``None``: a P2P device, which has no network interface."""

    phy: int | None
    index: int | None
    address: str | None
    mode: str | None
    """``managed``, ``AP``, ``monitor``, ``P2P-device``, ..."""

    ssid: bytes | None
    channel: Channel | None
    tx_power_dbm: float | None
    four_address: bool
    multicast_queue: MulticastQueue | None


@dataclass(frozen=True, slots=True)
class Link:
    """``iw dev X link`` of a station that is connected (or has joined an IBSS)."""

    interface: str
    bssid: str
    how: str
    """iw's words: ``Connected to``, ``Joined IBSS``, ..."""

    ssid: bytes | None
    frequency_mhz: float | None
    rx_bytes: int | None
    rx_packets: int | None
    tx_bytes: int | None
    tx_packets: int | None
    signal_dbm: int | None
    rx_rate: Rate | None
    tx_rate: Rate | None
    bss_flags: tuple[str, ...]
    dtim_period: int | None
    beacon_interval_tu: int | None


def parse_interfaces(data: str | bytes) -> tuple[Interface, ...]:
    """``iw dev`` or ``iw dev X info``; none when there is no wireless interface. Raises FormatError for other text."""
    what = "iw dev"
    text = text_of(data, what)
    phy: int | None = None
    blocks: list[_Block] = []
    for _, line in lines_of(text):
        stripped = line.strip("\t")
        if (found := _PHY.fullmatch(stripped)) is not None:
            phy = int(found["number"])
        elif (found := _INTERFACE.fullmatch(stripped)) is not None:
            blocks.append(_Block(found["name"], phy))
        elif blocks:
            blocks[-1].take(stripped[:400])
    if not blocks and text.strip() and phy is None:
        raise not_iw(what, text)
    return tuple(block.interface() for block in blocks)


@dataclass
class _Block:
    name: str | None
    phy: int | None
    fields: dict[str, str] = field(default_factory=dict)
    channel: Channel | None = None
    queue: MulticastQueue | None = None
    in_queue: bool = False

    def take(self, line: str) -> None:
        """One line of the interface, without its tabs."""
        key, _, value = line.partition(" ")
        if line.startswith("multicast TXQ:"):
            self.in_queue = True
        elif self.in_queue and line[:1].isdigit():
            cells = [whole(cell) for cell in re.split(r"\t+", line)]
            if len(cells) == 9:
                self.queue = MulticastQueue(*cells)
        elif key == "channel":
            self.channel = self.channel or _channel(line)
        elif key in ("ifindex", "addr", "type", "wiphy", "txpower", "ssid", "4addr:"):
            self.fields.setdefault(key, value)

    def interface(self) -> Interface:
        said = self.fields
        power = said.get("txpower", "")
        wiphy = whole(said.get("wiphy"))
        return Interface(
            name=self.name,
            phy=self.phy if wiphy is None else wiphy,
            index=whole(said.get("ifindex")),
            address=said.get("addr", "")[:17] or None,
            mode=said.get("type", "")[:32] or None,
            ssid=unescaped_ssid(said["ssid"]) if "ssid" in said else None,
            channel=self.channel,
            tx_power_dbm=real(power.removesuffix(" dBm"), least=-200, most=200) if power.endswith(" dBm") else None,
            four_address=said.get("4addr:", "").strip() == "on",
            multicast_queue=self.queue,
        )


def _channel(line: str) -> Channel | None:
    found = _CHANNEL.match(line)
    frequency = real(found["frequency"]) if found is not None else None
    if found is None or frequency is None:
        return None
    centers = {center["which"]: real(center["mhz"]) for center in _CENTER.finditer(line)}
    width = found["width"]
    return Channel(
        number=int(found["channel"]),
        frequency_mhz=frequency,
        width_mhz=160 if width == "80+80" else whole(width),
        ht="(no HT)" not in line,
        center1_mhz=centers.get("1"),
        center2_mhz=centers.get("2"),
    )


def parse_link(data: str | bytes) -> Link | None:
    """``iw dev X link``; ``None`` when iw says ``Not connected.`` Raises FormatError for other text."""
    what = "iw link"
    text = text_of(data, what)
    head: re.Match[str] | None = None
    fields: dict[str, str] = {}
    for _, line in lines_of(text):
        if line.startswith("Not connected"):
            return None
        if head is None:
            head = _CONNECTED.match(line)
            continue
        key, colon, value = line.strip("\t")[:400].partition(":")
        if colon:
            fields.setdefault(key, value[1:] if value.startswith((" ", "\t")) else value)
    if head is None:
        raise not_iw(what, text)
    received, sent = _COUNTED.search(fields.get("RX", "")), _COUNTED.search(fields.get("TX", ""))
    signal = _SIGNAL.search(fields.get("signal", ""))
    frequency = fields.get("freq", "").split()
    if len(head["address"].split(":")) != 6:
        raise FormatError(f"{what}: an invalid BSSID; {quoted_start(text)}")
    return Link(
        interface=head["interface"],
        bssid=head["address"],
        how=head["how"],
        ssid=unescaped_ssid(fields["SSID"]) if "SSID" in fields else None,
        frequency_mhz=real(frequency[0]) if frequency else None,
        rx_bytes=whole(received["bytes"]) if received is not None else None,
        rx_packets=whole(received["packets"]) if received is not None else None,
        tx_bytes=whole(sent["bytes"]) if sent is not None else None,
        tx_packets=whole(sent["packets"]) if sent is not None else None,
        signal_dbm=whole(signal[0], least=-200, most=100) if signal is not None else None,
        rx_rate=parse_rate(fields.get("rx bitrate", "")),
        tx_rate=parse_rate(fields.get("tx bitrate", "")),
        bss_flags=tuple(fields.get("bss flags", "").split()),
        dtim_period=whole(fields.get("dtim period")),
        beacon_interval_tu=whole(fields.get("beacon int")),
    )

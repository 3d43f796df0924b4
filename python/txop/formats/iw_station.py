"""``iw dev X station dump`` (also ``station get`` and ``-v``): the counters that the driver keeps per peer.

Facts of iw's ``station.c``, and of runs of 5.19 and 6.9. Which
lines there are depends on the driver; what it does not report is
``None``.

- ``tx retries`` and ``tx failed`` are MSDUs or MPDUs as the driver counts them.
- ``expected throughput`` is printed as Mbit and, after the point, *unpadded* kbit: ``63.15Mbps`` is 63.015 Mbit/s.
- Multi-link peers repeat the figures per link, indented (``Link 0:``).

Pasted text has blanks for tabs, and addresses that people masked; an address is then what stands in its place.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from txop.formats.iw_failure import not_iw
from txop.formats.iw_rate import Rate, parse_rate
from txop.formats.proc_stat import increase
from txop.formats.reading import lines_of, real, text_of, whole

_WHAT = "iw station dump"
_STATION = re.compile(r"\s{0,16}Station (?P<address>[^()\n]{1,64}?) {0,8}\(on (?P<interface>[^)\n]{1,64})\)")
_LINK = re.compile(r"Link (?P<link>[0-9]{1,2}):")
_FIELD = re.compile(r"(?P<key>[A-Za-z][A-Za-z0-9 /\[\]-]{1,40}):[ \t]*(?P<value>[^\n]{0,300})")
_SIGNAL = re.compile(r"(?P<dbm>-?[0-9]{1,4})(?: \[(?P<chains>[-0-9, ]{1,60})\])? *dBm")
_THROUGHPUT = re.compile(r"(?P<mbit>[0-9]{1,7})\.(?P<kbit>[0-9]{1,3})Mbps")
_LEADING_NUMBER = re.compile(r"-?[0-9]{1,20}(?:\.[0-9]{1,9})?")
_ADDRESS = re.compile(r"[0-9a-f]{2}(?::[0-9a-f]{2}){5}")


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkFigures:
    """What is counted per peer, or per link of a multi-link peer."""

    inactive_ms: int | None
    rx_bytes: int | None
    rx_packets: int | None
    tx_bytes: int | None
    tx_packets: int | None
    tx_retries: int | None
    tx_failed: int | None
    beacon_loss: int | None
    beacon_rx: int | None
    rx_drop_misc: int | None
    signal_dbm: int | None
    signal_per_chain_dbm: tuple[int, ...]
    signal_average_dbm: int | None
    signal_average_per_chain_dbm: tuple[int, ...]
    beacon_signal_average_dbm: int | None
    last_ack_signal_dbm: int | None
    ack_signal_average_dbm: int | None
    tx_rate: Rate | None
    rx_rate: Rate | None
    tx_duration_us: int | None
    """Airtime, where the driver reports it; 0 from drivers that do not is taken as said."""

    rx_duration_us: int | None
    airtime_weight: int | None
    expected_throughput_mbit_s: float | None
    dtim_period: int | None
    beacon_interval_tu: int | None
    connected_s: int | None


@dataclass(frozen=True, slots=True)
class StationLink:
    """One link of a multi-link peer."""

    link_id: int
    address: str | None
    figures: LinkFigures


@dataclass(frozen=True, slots=True)
class TidCounters:
    """With ``-v``: MSDUs per traffic identifier; 16 stands for frames without one."""

    tid: int
    rx_msdus: int | None
    tx_msdus: int | None
    tx_retries: int | None
    tx_failed: int | None


@dataclass(frozen=True, slots=True)
class Station:
    """One peer."""

    address: str
    """As printed; see :attr:`address_known`."""
    interface: str
    figures: LinkFigures
    authorized: bool | None
    authenticated: bool | None
    associated: bool | None
    short_preamble: bool | None
    wmm: bool | None
    management_frame_protection: bool | None
    tdls_peer: bool | None
    short_slot_time: bool | None
    associated_at_boottime_s: float | None
    current_time_ms: int | None
    """When iw ran, since 1970; older versions do not say."""

    tids: tuple[TidCounters, ...]
    links: tuple[StationLink, ...]

    @property
    def address_known(self) -> bool:
        """Whether it is an address, and not what somebody put in place of one."""
        return _ADDRESS.fullmatch(self.address.lower()) is not None


@dataclass(frozen=True, slots=True)
class Sent:
    """What was sent to one peer, or to several, between two looks."""

    packets: int
    retries: int
    failed: int | None

    @property
    def attempts(self) -> int:
        """Packets and retries."""
        return self.packets + self.retries

    @property
    def retry_percent(self) -> float | None:
        """Retries in percent of the attempts; ``None``: nothing was sent."""
        return 100 * self.retries / self.attempts if self.attempts else None


MANY_PACKETS = 10_000
"""A driver that counts no retry in this many packets may count none at all."""


def sent_between(before: LinkFigures, after: LinkFigures) -> Sent | None:
    """What was sent from one look at a peer to a later one; ``None``: the driver does not count it, or a counter went
    back."""
    packets, retries = increase(before.tx_packets, after.tx_packets), increase(before.tx_retries, after.tx_retries)
    if packets is None or retries is None:
        return None
    return Sent(packets, retries, increase(before.tx_failed, after.tx_failed))


def is_head(line: str) -> bool:
    """Whether ``line`` is the first of a peer."""
    return _STATION.match(line[:200]) is not None


def parse(data: str | bytes) -> tuple[Station, ...]:
    """Every peer, in the order printed; none for an interface without peers (iw prints nothing).

    Raises FormatError for text that is neither empty nor a station dump, such as iw's own errors.
    """
    text = text_of(data, _WHAT)
    blocks: list[_Block] = []
    for _, line in lines_of(text):
        if (head := _STATION.match(line[:200])) is not None:
            blocks.append(_Block(head["address"], head["interface"]))
        elif blocks:
            blocks[-1].take(line)
    if not blocks and text.strip():
        raise not_iw(_WHAT, text)
    return tuple(block.station() for block in blocks)


class _Block:
    """The lines of one peer."""

    def __init__(self, address: str, interface: str) -> None:
        self.address, self.interface = address, interface
        self.fields: dict[str, str] = {}
        self.links: list[tuple[int, dict[str, str]]] = []
        self.tids: list[TidCounters] = []
        self.table: str | None = None
        self.link_indent = 0

    def take(self, line: str) -> None:
        stripped = line.strip()
        if (link := _LINK.fullmatch(stripped)) is not None:
            self.links.append((int(link["link"]), {}))
            self.table = None
            self.link_indent = _indent(line)
        elif stripped in ("MSDU:", "TXQs:"):
            self.table = stripped
        elif self.table is not None and (stripped[:1].isdigit() or stripped.startswith("TID")):
            words = stripped.split()
            if self.table == "MSDU:" and len(words) == 5 and words[0] != "TID":
                tid, rx, tx, retries, failed = (whole(word) for word in words)
                if tid is not None:
                    self.tids.append(TidCounters(tid, rx, tx, retries, failed))
        elif (found := _FIELD.fullmatch(stripped[:400])) is not None:
            self.table = None
            inside = bool(self.links) and _indent(line) > self.link_indent
            fields = self.links[-1][1] if inside else self.fields
            fields.setdefault(found["key"].strip(), found["value"].strip())

    def station(self) -> Station:
        fields = self.fields
        boot = _LEADING_NUMBER.match(fields.get("associated at [boottime]", ""))
        return Station(
            address=self.address,
            interface=self.interface,
            figures=_figures(fields),
            authorized=_yes(fields.get("authorized")),
            authenticated=_yes(fields.get("authenticated")),
            associated=_yes(fields.get("associated")),
            short_preamble={"short": True, "long": False}.get(fields.get("preamble", "")),
            wmm=_yes(fields.get("WMM/WME")),
            management_frame_protection=_yes(fields.get("MFP")),
            tdls_peer=_yes(fields.get("TDLS peer")),
            short_slot_time=_yes(fields.get("short slot time")),
            associated_at_boottime_s=real(boot[0]) if boot is not None else None,
            current_time_ms=_number(fields, "current time"),
            tids=tuple(self.tids),
            links=tuple(
                StationLink(
                    number,
                    address[0] if (address := _ADDRESS.match(said.get("address", ""))) is not None else None,
                    _figures(said),
                )
                for number, said in self.links
            ),
        )


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _figures(fields: dict[str, str]) -> LinkFigures:
    signal, chains = _signal(fields.get("signal"))
    average, average_chains = _signal(fields.get("signal avg"))
    return LinkFigures(
        inactive_ms=_number(fields, "inactive time"),
        rx_bytes=_number(fields, "rx bytes"),
        rx_packets=_number(fields, "rx packets"),
        tx_bytes=_number(fields, "tx bytes"),
        tx_packets=_number(fields, "tx packets"),
        tx_retries=_number(fields, "tx retries"),
        tx_failed=_number(fields, "tx failed"),
        beacon_loss=_number(fields, "beacon loss"),
        beacon_rx=_number(fields, "beacon rx"),
        rx_drop_misc=_number(fields, "rx drop misc"),
        signal_dbm=signal,
        signal_per_chain_dbm=chains,
        signal_average_dbm=average,
        signal_average_per_chain_dbm=average_chains,
        beacon_signal_average_dbm=_signal(fields.get("beacon signal avg"))[0],
        last_ack_signal_dbm=_signal(fields.get("last ack signal"))[0],
        ack_signal_average_dbm=_signal(fields.get("avg ack signal"))[0],
        tx_rate=parse_rate(fields.get("tx bitrate", "")),
        rx_rate=parse_rate(fields.get("rx bitrate", "")),
        tx_duration_us=_number(fields, "tx duration"),
        rx_duration_us=_number(fields, "rx duration"),
        airtime_weight=_number(fields, "airtime weight"),
        expected_throughput_mbit_s=_throughput(fields.get("expected throughput")),
        dtim_period=_number(fields, "DTIM period"),
        beacon_interval_tu=_number(fields, "beacon interval"),
        connected_s=_number(fields, "connected time"),
    )


def _number(fields: dict[str, str], key: str) -> int | None:
    found = _LEADING_NUMBER.match(fields.get(key, ""))
    return whole(found[0]) if found is not None else None


def _signal(value: str | None) -> tuple[int | None, tuple[int, ...]]:
    found = _SIGNAL.match(value or "")
    if found is None:
        return None, ()
    chains = [whole(part, least=-200, most=100) for part in (found["chains"] or "").split(",")]
    return whole(found["dbm"], least=-200, most=100), tuple(chain for chain in chains if chain is not None)


def _throughput(value: str | None) -> float | None:
    found = _THROUGHPUT.match(value or "")
    return int(found["mbit"]) + int(found["kbit"]) / 1000 if found is not None else None


def _yes(value: str | None) -> bool | None:
    return {"yes": True, "no": False}.get(value or "")

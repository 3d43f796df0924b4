"""What was sent between two snapshots of a wireless interface: retries, losses, and what rate control made of
it. Each figure comes with the reason where there is none. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from txop.formats import minstrel
from txop.formats.iw_station import MANY_PACKETS, LinkFigures, Sent, sent_between
from txop.formats.minstrel import RateTable
from txop.formats.proc_stat import increase
from txop.measure.instrument import Points, Reading
from txop.measure.probes.wireless_snapshot import IW, WirelessSnapshot

RATES = "mac80211 debugfs, rc_stats_csv"
OTHER_PEER = "the peer was another one at the end"

Peers = Mapping[str, LinkFigures]
"""Counters by address of the peer."""


def retry_percent(before: Peers, after: Peers) -> tuple[float | None, str | None]:
    """Retries in percent of packets and retries, over all peers that were there both times; or why not."""
    both = [(figures, after[address]) for address, figures in before.items() if address in after]
    if not both:
        return None, OTHER_PEER
    if any(now.tx_retries is None or now.tx_packets is None for _, now in both):
        return None, "the driver does not count retries"
    sent = [each for was, now in both if (each := sent_between(was, now)) is not None]
    if len(sent) < len(both):
        return None, "the driver's counters went back"
    percent = Sent(sum(each.packets for each in sent), sum(each.retries for each in sent), None).retry_percent
    return percent, None if percent is not None else "nothing was sent"


def counted_retry_percent(before: Peers, after: Peers) -> tuple[float | None, str | None]:
    """The same over a whole window: a share of 0 of many packets is none, as many drivers count no retries at all."""
    percent, why = retry_percent(before, after)
    both = [(was, after[address]) for address, was in before.items() if address in after]
    packets = sum(increase(was.tx_packets, now.tx_packets) or 0 for was, now in both)
    if percent == 0 and packets >= MANY_PACKETS:
        return None, f"the driver counted no retry in {packets} packets; many do not count them at all"
    return percent, why


def failed_percent(before: LinkFigures, after: LinkFigures) -> tuple[float | None, str | None]:
    """Packets that were lost after all retries, in percent of those sent to one peer; or why not."""
    if None in (before.tx_failed, after.tx_failed, before.tx_packets, after.tx_packets):
        return None, "the driver does not count losses"
    packets, failed = increase(before.tx_packets, after.tx_packets), increase(before.tx_failed, after.tx_failed)
    if packets is None or failed is None:
        return None, "the driver's counters went back"
    if not packets:
        return None, "nothing was sent"
    if failed > packets:
        return None, f"the driver counts {failed} lost of {packets} packets"
    return 100 * failed / packets, None


def success_percent(before: Mapping[str, RateTable], after: Mapping[str, RateTable]) -> tuple[float | None, str | None]:
    """Attempts that were acknowledged, in percent of all, at all rates and to all peers that were there both times; or
    why not."""
    both = [(table, after[address]) for address, table in before.items() if address in after]
    if not both:
        return None, OTHER_PEER
    grown = [each for was, now in both if (each := minstrel.between(was, now)) is not None]
    if len(grown) < len(both):
        return None, "the table of rates started again"
    rates = [rate for table in grown for rate in table.rates]
    wrong = next((rate for rate in rates if rate.successes > rate.attempts), None)
    if wrong is not None:
        return None, f"{wrong.label} has {wrong.successes} successes of {wrong.attempts} attempts"
    attempts = sum(rate.attempts for rate in rates)
    return (100 * sum(rate.successes for rate in rates) / attempts, None) if attempts else (None, "nothing was sent")


def put_success(
    reading: Reading,
    key: str,
    snapshots: Sequence[WirelessSnapshot],
    inside: Sequence[WirelessSnapshot],
    address: str | None,
) -> None:
    """The share of attempts that succeeded, from the tables of minstrel; ``address``: of one peer."""

    def tables(of: Sequence[WirelessSnapshot]) -> list[tuple[float, Mapping[str, RateTable]]]:
        wanted = ((snapshot.at_s, {a: t for a, t in snapshot.rates.items() if address in (None, a)}) for snapshot in of)
        return [(at_s, found) for at_s, found in wanted if found]

    everywhere, within = tables(snapshots), tables(inside)
    if not everywhere:
        reading.put(key, None, RATES, "no table of minstrel: the driver has rate control of its own, or no debugfs")
        return
    points: Points = [
        (round((was[0] + now[0]) / 2, 3), round(percent, 3))
        for was, now in pairwise(everywhere)
        if (percent := success_percent(was[1], now[1])[0]) is not None
    ]
    if points:
        reading.series[key] = points
    if len(within) < 2:
        reading.put(key, None, RATES, "fewer than two tables of rates within the window")
        return
    percent, why = success_percent(within[0][1], within[-1][1])
    reading.put(key, percent, RATES, why)


def put_access_point(
    reading: Reading,
    snapshots: Sequence[WirelessSnapshot],
    inside: Sequence[WirelessSnapshot],
    address: str | None,
    *,
    is_access_point: bool,
) -> None:
    """What an access point counts of the device under test, with an address that is ``address``."""
    if not is_access_point:
        put_no_access_point(reading, "the interface of the peer is not one of an access point")
        return
    if address is None:
        put_no_access_point(reading, "the address of the device under test is not known")
        return
    seen = [snapshot for snapshot in inside if address in snapshot.peers]
    if len(seen) < 2:
        few = "the access point named the device under test in fewer than two looks within the window"
        put_no_access_point(reading, few)
        return
    before, after = seen[0].peers[address], seen[-1].peers[address]
    was, now = {address: before}, {address: after}
    percent, why = counted_retry_percent(was, now)
    reading.put("ap_retry_percent", percent, IW, why)
    percent, why = failed_percent(before, after)
    reading.put("ap_failed_percent", percent, IW, why)
    for key in ("ap_signal_dbm", "ap_tx_bitrate_mbit_s"):
        values = [
            value
            for snapshot in seen
            if (value := value_of(key.removeprefix("ap_"), snapshot.peers[address])) is not None
        ]
        mean = sum(values) / len(values) if values else None
        reading.put(key, mean, IW, None if values else "the driver does not report it")
    put_success(reading, "ap_rate_success_percent", snapshots, inside, address)


OF_ACCESS_POINT = {
    "ap_retry_percent": IW,
    "ap_failed_percent": IW,
    "ap_signal_dbm": IW,
    "ap_tx_bitrate_mbit_s": IW,
    "ap_rate_success_percent": RATES,
}
"""Figures of :func:`put_access_point`, and their source."""


def put_no_access_point(reading: Reading, why: str) -> None:
    """None of them, and why."""
    for key, source in OF_ACCESS_POINT.items():
        reading.put(key, None, source, why)


def value_of(key: str, peer: LinkFigures) -> float | None:
    """``signal_dbm``, ``tx_bitrate_mbit_s`` or ``rx_bitrate_mbit_s`` in a snapshot. A signal of 0 dBm or more is none,
    and so is a rate of 0: the driver does not report it."""
    if key == "signal_dbm":
        levels = (peer.signal_dbm, peer.signal_average_dbm)
        return next((level for level in levels if level is not None and level < 0), None)
    rate = peer.tx_rate if key == "tx_bitrate_mbit_s" else peer.rx_rate
    return None if rate is None or not rate.mbit_s else rate.mbit_s

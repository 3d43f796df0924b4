"""The figures of one peer: ``iw station dump``."""

from __future__ import annotations

from dataclasses import dataclass, fields

from txop.counters.account import Account, percent
from txop.counters.pairing import Pair
from txop.counters.readings import Subject
from txop.counters.report import Window
from txop.formats.iw_station import MANY_PACKETS, LinkFigures, Sent, Station, sent_between

MOST_ATTEMPTS = 4 * 31
"""Attempts that mac80211 can have reported of one packet: IEEE80211_TX_MAX_RATES rates of a count of 5 bits each
(struct ieee80211_tx_rate in include/net/mac80211.h). Drivers make far fewer."""
LEAST_LOST = 30
"""So many lost packets have been tried again: a driver that counts more of them than retries counts something else."""
LEAST_FAILED = 1_000
"""That many may have failed beside the packets: management frames count as failed, and not as packets."""
SHORTEST_S = 2.0
"""A time between two readings that is shorter gives no rate: the connected time is known to a second."""


@dataclass(frozen=True)
class StationFacts:
    """What conclusions may rest on."""

    subject: Subject
    window: Window
    sent: Sent | None
    signal_dbm: int | None
    """Average where there is one."""
    chains_dbm: tuple[int, ...]
    """Average of each antenna."""
    beacon_loss: int | None
    seconds: float | None


def put_station(pair: Pair, account: Account, driver_counts_retries: bool) -> StationFacts:
    """All figures of the peer of ``pair``."""
    now = pair.after.value
    assert isinstance(now, Station)
    was = pair.before.value if pair.before is not None else None
    before = was if isinstance(was, Station) else None
    if before is not None and _swapped(before, now):
        account.doubt("files-swapped", pair.subject)
        before = None
    elif before is not None and _reconnected(before.figures, now.figures):
        account.doubt("reconnected", pair.subject, before_s=before.figures.connected_s, after_s=now.figures.connected_s)
        before = None
    elif before is not None and before == now:
        account.doubt("identical", pair.subject)
    window: Window = "difference" if before is not None else "since-connected"
    seconds = _seconds(before, now) if before is not None else _known_s(now.figures.connected_s)
    grown = _grown(account, pair.subject, before.figures if before is not None else None, now.figures)
    sent = _sent(account, pair.subject, before, now, driver_counts_retries)
    _put_counts(account, pair.subject, window, grown, sent, seconds)
    _put_airtime(account, pair.subject, window, before, now, seconds)
    _put_now(account, pair.subject, now.figures, no_signal=pair.after.no_signal)
    average = now.figures.signal_average_dbm if _signal_known(now.figures) else None
    signal = average if average is not None else now.figures.signal_dbm
    return StationFacts(
        subject=pair.subject,
        window=window,
        sent=sent,
        signal_dbm=signal if signal is not None and signal < 0 else None,
        chains_dbm=now.figures.signal_average_per_chain_dbm if _signal_known(now.figures) else (),
        beacon_loss=grown["beacon_loss"],
        seconds=seconds,
    )


def seconds_of(pair: Pair) -> float | None:
    """From the earlier to the later reading."""
    if pair.before is None or not isinstance(pair.before.value, Station) or not isinstance(pair.after.value, Station):
        return None
    return _seconds(pair.before.value, pair.after.value)


def _swapped(before: Station, after: Station) -> bool:
    """Whether the later reading is certainly the earlier one."""
    if before.current_time_ms is not None and after.current_time_ms is not None:
        return after.current_time_ms < before.current_time_ms
    same = before.associated_at_boottime_s is not None
    same = same and before.associated_at_boottime_s == after.associated_at_boottime_s
    return same and _reconnected(before.figures, after.figures)


def _reconnected(before: LinkFigures, after: LinkFigures) -> bool:
    return before.connected_s is not None and after.connected_s is not None and after.connected_s < before.connected_s


def _seconds(before: Station, after: Station) -> float | None:
    if before.current_time_ms is not None and after.current_time_ms is not None:
        return _known_s((after.current_time_ms - before.current_time_ms) / 1000)
    if before.figures.connected_s is not None and after.figures.connected_s is not None:
        return _known_s(after.figures.connected_s - before.figures.connected_s)
    return None


def _known_s(seconds: float | None) -> float | None:
    return float(seconds) if seconds is not None and seconds >= SHORTEST_S else None


_COUNTERS = ("rx_packets", "tx_packets", "rx_bytes", "tx_bytes", "tx_retries", "tx_failed", "beacon_loss", "beacon_rx",
             "rx_drop_misc")  # fmt: skip
_WIDE = frozenset({"rx_bytes", "tx_bytes", "rx_drop_misc", "beacon_rx"})
"""Counters of 64 bits (include/uapi/linux/nl80211.h, enum nl80211_sta_info)."""
assert {each.name for each in fields(LinkFigures)} >= set(_COUNTERS)


def _grown(account: Account, subject: Subject, before: LinkFigures | None, now: LinkFigures) -> dict[str, int | None]:
    if before is None:
        return {name: getattr(now, name) for name in _COUNTERS}
    return {
        name: account.step(subject, name, getattr(before, name), getattr(now, name), narrow=name not in _WIDE)
        for name in _COUNTERS
    }


def _sent(
    account: Account,
    subject: Subject,
    before: Station | None,
    now: Station,
    driver_counts_retries: bool,
) -> Sent | None:
    if before is not None:
        sent = sent_between(before.figures, now.figures)
    elif now.figures.tx_packets is not None and now.figures.tx_retries is not None:
        sent = Sent(now.figures.tx_packets, now.figures.tx_retries, now.figures.tx_failed)
    else:
        sent = None
    if sent is None:
        return None
    if not driver_counts_retries:
        account.doubt("driver-counts-no-retries", subject, packets=sent.packets)
        return None
    if sent.retries > MOST_ATTEMPTS * sent.packets and sent.retries > MOST_ATTEMPTS:
        account.doubt("retries-over-limit", subject, packets=sent.packets, retries=sent.retries, most=MOST_ATTEMPTS)
        return None
    if sent.retries == 0 and sent.packets >= MANY_PACKETS:
        account.doubt("retries-never-counted", subject, packets=sent.packets)
        return None
    if sent.failed is not None and sent.failed > sent.packets + LEAST_FAILED:
        account.doubt("failed-over-packets", subject, packets=sent.packets, failed=sent.failed)
        return None
    if sent.failed is not None and sent.failed >= LEAST_LOST and sent.failed > sent.retries:
        account.doubt("failed-over-retries", subject, retries=sent.retries, failed=sent.failed)
        return None
    return sent


def _put_counts(
    account: Account,
    subject: Subject,
    window: Window,
    grown: dict[str, int | None],
    sent: Sent | None,
    seconds: float | None,
) -> None:
    packets = grown["tx_packets"]
    account.put(subject, "tx-packets", packets, window)
    account.put(subject, "tx-bytes", grown["tx_bytes"], window)
    account.put(subject, "rx-packets", grown["rx_packets"], window)
    account.put(subject, "rx-bytes", grown["rx_bytes"], window)
    if seconds is not None and window == "difference":
        for code, counter in (("tx-mbit-s", "tx_bytes"), ("rx-mbit-s", "rx_bytes")):
            count = grown[counter]
            account.put(subject, code, None if count is None else 8e-6 * count / seconds, window)
    account.put(subject, "tx-retries", grown["tx_retries"], window)
    if sent is not None:
        account.put(subject, "tx-retry-percent", sent.retry_percent, window, n=sent.attempts)
    elif grown["tx_retries"] is not None:
        account.put(subject, "tx-retry-percent", None, window, reason="not-counted")
    account.put(subject, "tx-failed", grown["tx_failed"], window)
    failed = grown["tx_failed"]
    believed = sent is not None or grown["tx_retries"] is None
    if believed and failed is not None and packets is not None and failed <= packets:  # management frames count, too
        account.put(subject, "tx-failed-percent", percent(failed, packets), window, n=packets)
    account.put(subject, "rx-drop-misc", grown["rx_drop_misc"], window)
    account.put(subject, "beacon-loss", grown["beacon_loss"], window)
    account.put(subject, "beacon-rx", grown["beacon_rx"], window)


def _put_airtime(
    account: Account, subject: Subject, window: Window, before: Station | None, now: Station, seconds: float | None
) -> None:
    for code, name in (("tx-airtime-percent", "tx_duration_us"), ("rx-airtime-percent", "rx_duration_us")):
        value = getattr(now.figures, name)
        if before is not None:
            value = account.step(subject, name, getattr(before.figures, name), value, narrow=False)
        if value and seconds is not None:
            share = value / seconds / 1e4
            if share > 100:
                account.doubt("airtime-over-time", subject, counter=name, us=value, seconds=seconds)
            else:
                account.put(subject, code, share, window)
    interval_tu, beacons = now.figures.beacon_interval_tu, now.figures.beacon_rx
    if before is not None and beacons is not None and before.figures.beacon_rx is not None and interval_tu:
        due = None if seconds is None else seconds / (1024e-6 * interval_tu)
        grown = beacons - before.figures.beacon_rx
        if due is not None and due >= 10 and 0 <= grown <= 1.1 * due:
            account.put(subject, "beacon-rx-percent", min(100.0, 100 * grown / due), window, n=int(due))


def _signal_known(now: LinkFigures) -> bool:
    """Whether the levels are some: a driver with a signal that is 0 dBm or more prints something else as its levels."""
    return now.signal_dbm is None or now.signal_dbm < 0


def _put_now(account: Account, subject: Subject, now: LinkFigures, *, no_signal: bool) -> None:
    if no_signal:
        account.doubt("signal-not-known", subject, dbm=-256)
    known = _signal_known(now)
    for code, value in (
        ("signal-dbm", now.signal_dbm),
        ("signal-average-dbm", now.signal_average_dbm),
        ("ack-signal-dbm", now.last_ack_signal_dbm),
    ):
        if value is not None and value >= 0:
            if code == "signal-dbm":
                account.doubt("signal-not-known", subject, dbm=value)
        elif known:
            account.put(subject, code, value, "now")
    for code, rate in (("tx-rate", now.tx_rate), ("rx-rate", now.rx_rate)):
        if rate is None or rate.mbit_s is None:
            continue
        if rate.mbit_s == 0:
            account.doubt("rate-zero", subject, direction=code.removesuffix("-rate"))
        else:
            account.put(subject, code, rate.mbit_s, "now", name=rate.printed)
    account.put(subject, "expected-throughput", now.expected_throughput_mbit_s, "now")

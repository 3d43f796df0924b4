"""The figures that drivers have by themselves: ``ethtool -S``, ``/proc/net/wireless``, debugfs of ath9k, ath10k and
mt76."""

from __future__ import annotations

from collections.abc import Mapping

from txop.counters.account import Account, grown, percent
from txop.counters.of_station import LEAST_LOST
from txop.counters.pairing import Pair
from txop.counters.report import Window
from txop.formats import ath10k_debugfs
from txop.formats.ethtool import signed_dbm
from txop.formats.mt76_debugfs import TransmitStatistics
from txop.formats.proc_wireless import WirelessCounters

MOST_COUNTERS = 400
"""Counters of a driver that become figures; those that moved, and are not of the list below."""

MAC80211: dict[str, str] = {
    "tx_packets": "tx-packets",
    "rx_packets": "rx-packets",
    "tx_bytes": "tx-bytes",
    "rx_bytes": "rx-bytes",
    "tx_retries": "tx-retries",
    "tx_retry_failed": "tx-failed",
    "tx_filtered": "tx-filtered",
    "rx_dropped": "rx-drop-misc",
    "rx_duplicates": "rx-duplicates",
}
"""Counters that mac80211 has for every driver (net/mac80211/ethtool.c), over all peers of the interface."""
_OF_MOMENT = frozenset({"sta_state", "txrate", "rxrate", "signal", "channel", "noise"})
_CHANNEL_TIMES = ("ch_time", "ch_time_busy", "ch_time_ext_busy", "ch_time_rx", "ch_time_tx")
_OF_MAC80211 = frozenset({"tx_retries", "tx_retry_failed", "sta_state", "ch_time"})


def put_statistics(pair: Pair, account: Account) -> None:
    """``ethtool -S``."""
    now = pair.after.value
    assert isinstance(now, Mapping)
    was = pair.before.value if pair.before is not None else None
    before = was if isinstance(was, Mapping) else None
    window: Window = "difference" if before is not None else "since-unknown"
    of_mac80211 = now.keys() >= _OF_MAC80211
    if before is not None and not grown(before, now) and any(now.values()):
        account.doubt("identical", pair.subject)
    listed = 0
    for name, value in now.items():
        if of_mac80211 and (name in _OF_MOMENT or name in _CHANNEL_TIMES):
            continue
        if of_mac80211 and name in MAC80211:
            narrow = "bytes" not in name
            step = value if before is None else account.step(pair.subject, name, before.get(name), value, narrow=narrow)
            account.put(pair.subject, MAC80211[name], step, window)
        elif listed < MOST_COUNTERS and value is not None:
            step = _step(before, now, name)  # what goes down may be a level
            listed += 1
            if step != 0:
                reason = "went-down" if step is None else None
                account.put(pair.subject, "counter", step, window, name=name, reason=reason)
    if not of_mac80211:
        return
    packets = _step(before, now, "tx_packets")
    retries, failed = _step(before, now, "tx_retries"), _step(before, now, "tx_retry_failed")
    if packets is not None and retries:
        attempts = packets + retries
        account.put(pair.subject, "tx-retry-percent", percent(retries, attempts), window, n=attempts)
    if failed is not None and retries is not None and failed >= LEAST_LOST and failed > retries:
        account.doubt("failed-over-retries", pair.subject, retries=retries, failed=failed)
    elif failed is not None and packets is not None and failed <= packets:
        account.put(pair.subject, "tx-failed-percent", percent(failed, packets), window, n=packets)
    account.put(pair.subject, "signal-average-dbm", signed_dbm(now.get("signal")), "now")
    account.put(pair.subject, "noise-dbm", signed_dbm(now.get("noise")), "now")
    for name, code in (("txrate", "tx-rate"), ("rxrate", "rx-rate")):
        if bit_s := now.get(name):
            account.put(pair.subject, code, bit_s / 1e6, "now")
    active = _step(before, now, "ch_time")
    busy = _step(before, now, "ch_time_busy")
    if active and busy is not None and busy > active:
        account.doubt("over-active", pair.subject, counter="ch_time_busy", ms=busy, active_ms=active)
    elif active:
        account.put(pair.subject, "channel-active", active, window)
        account.put(pair.subject, "channel-busy-percent", percent(busy, active), window, n=active)
        for name, code in (("ch_time_rx", "channel-rx-percent"), ("ch_time_tx", "channel-tx-percent")):
            value = _step(before, now, name)
            if value is not None and value <= active:
                account.put(pair.subject, code, percent(value, active), window, n=active)


def put_wireless(pair: Pair, account: Account) -> None:
    """``/proc/net/wireless``."""
    now = pair.after.value
    assert isinstance(now, WirelessCounters)
    was = pair.before.value if pair.before is not None else None
    before = was if isinstance(was, WirelessCounters) else None
    window: Window = "difference" if before is not None else "since-connected"
    if now.level is not None and now.level < 0:
        account.put(pair.subject, "wext-level-dbm", now.level, "now")
    else:
        account.doubt("signal-not-known", pair.subject, dbm=now.level if now.level is not None else -256)
    for code, name in (
        ("wext-retry", "discarded_retry"),
        ("wext-misc", "discarded_misc"),
        ("wext-beacon", "missed_beacons"),
    ):
        value: int = getattr(now, name)
        step = value if before is None else account.step(pair.subject, name, getattr(before, name), value, narrow=True)
        account.put(pair.subject, code, step, window)


def put_xmit(pair: Pair, account: Account) -> None:
    """``xmit`` of ath9k."""
    now = pair.after.value
    assert isinstance(now, Mapping)
    was = pair.before.value if pair.before is not None else None
    before = was if isinstance(was, Mapping) else None
    window: Window = "difference" if before is not None else "since-unknown"
    steps: dict[str, int | None] = {}
    for name, value in now.items():
        before_value = None if before is None else before.get(name)
        steps[name] = value if before is None else account.step(pair.subject, name, before_value, value, narrow=True)
    if before is not None and not grown(before, now) and any(now.values()):
        account.doubt("identical", pair.subject)
    completed, retried = steps.get("AMPDUs Completed"), steps.get("AMPDUs Retried")
    if completed is not None and retried is not None:
        attempts = completed + retried
        account.put(pair.subject, "subframes-retried-percent", percent(retried, attempts), window, n=attempts)
    account.put(pair.subject, "subframes-lost", steps.get("AMPDUs XRetried"), window)
    for name, step in steps.items():
        if step:
            account.put(pair.subject, "counter", step, window, name=name)


OF_FIRMWARE: dict[str, str] = {
    "MSDU queued": "firmware-msdus",
    "MPDU queued": "firmware-mpdus",
    "MPDUs requed": "firmware-mpdus-again",
    "Excessive retries": "firmware-excessive-retries",
    "Dropped due to SW retries": "firmware-dropped",
    "MPDU errors (FCS, MIC, ENC)": "firmware-mpdu-errors",
}
"""Counters of ath10k's firmware that have a meaning of their own; the others are shown as it names them."""


def put_fw_stats(pair: Pair, account: Account) -> None:
    """``fw_stats`` of ath10k."""
    now = pair.after.value
    assert isinstance(now, Mapping)
    was = pair.before.value if pair.before is not None else None
    before = was if isinstance(was, Mapping) else None
    window: Window = "difference" if before is not None else "since-unknown"
    if before is not None and not grown(before, now) and any(now.values()):
        account.doubt("identical", pair.subject)
    noise = now.get(ath10k_debugfs.NOISE)
    account.put(pair.subject, "noise-dbm", noise if noise is not None and -130 <= noise < 0 else None, "now")
    for name, value in now.items():
        if name in ath10k_debugfs.LEVELS or name in ath10k_debugfs.CYCLES:
            continue
        step = value if before is None else account.step(pair.subject, name, before.get(name), value, narrow=True)
        if name in OF_FIRMWARE:
            account.put(pair.subject, OF_FIRMWARE[name], step, window)
        elif step:
            account.put(pair.subject, "counter", step, window, name=name)


def put_tx_stats(pair: Pair, account: Account) -> None:
    """``tx_stats`` of mt76."""
    now = pair.after.value
    assert isinstance(now, TransmitStatistics)
    was = pair.before.value if pair.before is not None else None
    before = was if isinstance(was, TransmitStatistics) and was.longest == now.longest else None
    window: Window = "difference" if before is not None else "since-unknown"
    counts = []
    for number, count in enumerate(now.counts):
        name = f"Count of up to {now.longest[number]}"
        step = count if before is None else account.step(pair.subject, name, before.counts[number], count, narrow=True)
        counts.append(step)
    known = [count for count in counts if count is not None]
    if len(known) < len(counts):
        return
    ampdus = sum(known)
    account.put(pair.subject, "ampdu-count", ampdus, window)
    account.put(pair.subject, "ampdu-single-percent", percent(known[0], ampdus), window, n=ampdus or None)
    misses = now.block_ack_misses
    if before is not None:
        misses = account.step(pair.subject, "BA miss count", before.block_ack_misses, misses, narrow=True)
    if misses is not None and ampdus and misses > ampdus:
        account.doubt("misses-over-ampdus", pair.subject, misses=misses, ampdus=ampdus)
    else:
        account.put(pair.subject, "block-ack-miss-percent", percent(misses, ampdus), window, n=ampdus or None)


def _step(before: Mapping[str, int | None] | None, now: Mapping[str, int | None], name: str) -> int | None:
    value = now.get(name)
    if before is None or value is None:
        return value
    was = before.get(name)
    return None if was is None or value < was else value - was

"""The sentences for codes. Only here do findings become words."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from txop.counters.account import Fact
from txop.counters.readings import Subject
from txop.counters.report import Field
from txop.present import format as fmt

WINDOWS: dict[str, str] = {
    "difference": "between the readings",
    "since-connected": "since it connected",
    "since-unknown": "since the driver began to count",
    "now": "at the last reading",
}
UNPAIRED: dict[str, str] = {
    "one-reading": "read once",
    "only-before": "only in the first file",
    "only-after": "only in the second file",
    "not-named": "the text does not name it, so two readings may be of two things",
    "other-counters": "the two readings have other counters",
}
REASONS: dict[str, str] = {
    "not-counted": "the driver does not count retries, or they cannot be true",
    "went-down": "it went down, so it is a level, or it was reset",
}
TOOLS: dict[str, str] = {
    "iw-station": "iw station dump",
    "iw-survey": "iw survey dump",
    "ethtool": "ethtool -S",
    "ethtool-driver": "ethtool -i",
    "rc-stats": "rc_stats",
    "proc-net-wireless": "/proc/net/wireless",
    "ath9k-xmit": "xmit of ath9k",
    "mt76-tx-stats": "tx_stats of mt76",
    "ath10k-fw-stats": "fw_stats of ath10k",
    "mac80211-airtime": "airtime of mac80211",
    "mac80211-aqm": "aqm of mac80211",
    "mac80211-aql": "aql of mac80211",
    "kernel-log": "a kernel log",
    "measurement": "output of a tool that measures",
}

_Say = Callable[[Mapping[str, Field]], str]


def _number(value: Field) -> float:
    return float(value) if isinstance(value, (int, float)) else 0.0


def _count(value: Field) -> str:
    return fmt.count(_number(value))


def _percent(value: Field) -> str:
    return fmt.percent(_number(value), 0) if _number(value) >= 10 else fmt.percent(_number(value))


def _dbm(value: Field) -> str:
    return fmt.dbm(_number(value))


def _seconds(ms: Field) -> str:
    return fmt.duration_us(1000 * _number(ms))


def _when(fields: Mapping[str, Field]) -> str:
    window = str(fields.get("window"))
    return f" {WINDOWS[window]}" if window in ("since-connected", "since-unknown") else ""


def _overshoots(f: Mapping[str, Field]) -> str:
    gain = f["better_by_percent"]
    more = "everything" if gain is None else f"{_percent(gain)} more"
    return (
        f"{_percent(f['failed_percent'])} of {_count(f['attempts'])} attempts at {f['rate']} fail, while "
        f"{f['better_rate']} ({_percent(f['better_failed_percent'])} of {_count(f['better_attempts'])} fail) carried "
        f"{more} for its time on the air: rate control overshoots"
    )


def _fails(f: Mapping[str, Field]) -> str:
    return (
        f"{_percent(f['failed_percent'])} of {_count(f['attempts'])} attempts at {f['rate']} failed{_when(f)}; "
        f"{_percent(f['share_percent'])} of all attempts were made at it"
    )


def _of_others(f: Mapping[str, Field]) -> str:
    own = f"{'at most ' if f['own_at_most'] else ''}{_percent(f['own_percent'])}"
    return (
        f"The channel was busy for {_percent(f['busy_percent'])} of {_seconds(f['active_ms'])}{_when(f)}, the own "
        f"network for {own}: most of it is others' use or interference"
    )


def _of_own(f: Mapping[str, Field]) -> str:
    return (
        f"The channel was busy for {_percent(f['busy_percent'])} of {_seconds(f['active_ms'])}{_when(f)}, the own "
        f"network for {_percent(f['own_percent'])}: most of it is own use"
    )


def _busy(f: Mapping[str, Field]) -> str:
    return (
        f"The channel was busy for {_percent(f['busy_percent'])} of {_seconds(f['active_ms'])}{_when(f)}; the driver's "
        f"counters do not show who used it"
    )


def _retries(f: Mapping[str, Field]) -> str:
    text = f"{_percent(f['retry_percent'])} of {_count(f['attempts'])} attempts were retries{_when(f)}"
    if f["signal_strong"]:
        text += (
            f", at a signal of {_dbm(f['signal_dbm'])}: distance alone does not explain this; interference, "
            "collisions and rates that are too high can"
        )
    return text


def _lost(f: Mapping[str, Field]) -> str:
    return (
        f"{_percent(f['failed_percent'])} of {_count(f['packets'])} packets were lost after all "
        f"retries{_when(f)}; TCP takes these for congestion"
    )


def _beacons(f: Mapping[str, Field]) -> str:
    seconds = f["seconds"]
    over = f" in {fmt.duration_us(1e6 * _number(seconds))}" if seconds is not None else ""
    return f"Beacons stayed away {_count(f['events'])} times{over}{_when(f)}, each time for several beacon intervals"


CONCLUSIONS: dict[str, _Say] = {
    "rate-overshoots": _overshoots,
    "rate-fails": _fails,
    "channel-of-others": _of_others,
    "channel-of-own": _of_own,
    "channel-busy": _busy,
    "retries-many": _retries,
    "frames-lost": _lost,
    "signal-weak": lambda f: f"The signal is weak ({_dbm(f['signal_dbm'])}): low rates and losses are to be expected",
    "antenna-weak": lambda f: (
        f"One antenna receives {_dbm(f['weakest_dbm'])}, another {_dbm(f['strongest_dbm'])}: check that all "
        "are connected"
    ),
    "beacons-lost": _beacons,
}

IMPLAUSIBLE: dict[str, _Say] = {
    "identical-files": lambda _: (
        "Both files have the same counters: one of them was saved twice, or nothing was counted"
    ),
    "identical": lambda _: "Both readings are the same: nothing was counted, or one of them was pasted twice",
    "files-swapped": lambda _: (
        "The later reading is older than the earlier one, by its own clock: they are in the wrong order; the figures "
        "are those since it connected"
    ),
    "reconnected": lambda f: (
        f"The peer was connected for {_count(f['before_s'])} s, later for {_count(f['after_s'])} s: it associated "
        "again, or the files are swapped; the figures are those since it connected"
    ),
    "went-back": lambda f: (
        f"{f['counter']} went back from {_count(f['before'])} to {_count(f['after'])}: it was reset, or the "
        "files are swapped"
    ),
    "wrapped": lambda f: (
        f"{f['counter']} went from {_count(f['before'])} to {_count(f['after'])}: it has 32 bits and started again"
    ),
    "table-started-again": lambda _: (
        "The sums of the table went back, or its rates are others: the peer associated again; the figures are those "
        "since it connected"
    ),
    "successes-over-attempts": lambda f: (
        f"{f['rate']} has {_count(f['successes'])} successes in {_count(f['attempts'])} attempts"
    ),
    "retries-over-limit": lambda f: (
        f"{_count(f['retries'])} retries for {_count(f['packets'])} packets: mac80211 reports at most "
        f"{_count(f['most'])} for each"
    ),
    "retries-never-counted": lambda f: (
        f"No retry in {_count(f['packets'])} packets: this driver probably does not count them"
    ),
    "driver-counts-no-retries": lambda _: "This driver reports every frame as sent at the first attempt",
    "failed-over-packets": lambda f: f"{_count(f['failed'])} packets failed of {_count(f['packets'])} sent",
    "failed-over-retries": lambda f: (
        f"{_count(f['failed'])} packets failed with {_count(f['retries'])} retries: a lost packet has been tried "
        "again, so this driver counts something else"
    ),
    "airtime-over-time": lambda f: (
        f"{f['counter']} is {fmt.duration_us(_number(f['us']))} in {fmt.duration_us(1e6 * _number(f['seconds']))}"
    ),
    "signal-not-known": lambda f: (
        f"A signal of {_count(f['dbm'])} dBm is none: the driver does not report it"
    ),
    "rate-zero": lambda f: f"A {f['direction']} rate of 0 is none: the driver does not report it",
    "over-active": lambda f: (
        f"{f['counter']} ({_seconds(f['ms'])}) is longer than the radio was on the channel ({_seconds(f['active_ms'])})"
    ),
    "transmit-over-busy": lambda f: (
        f"The radio sent for {_seconds(f['transmit_ms'])} and the channel was busy for {_seconds(f['busy_ms'])}: this "
        "driver does not count own transmission as busy"
    ),
    "pending-below-zero": lambda f: (
        f"The airtime of {f['category']} in the driver is {_count(f['us'])} µs, which is less than none"
    ),
    "misses-over-ampdus": lambda f: (
        f"{_count(f['misses'])} A-MPDUs without a Block Ack of {_count(f['ampdus'])} sent"
    ),
}  # fmt: skip


def sentence(fact: Fact) -> str:
    """The sentence of a finding."""
    say = CONCLUSIONS.get(fact.code) or IMPLAUSIBLE[fact.code]
    return f"{say(fact.fields)}."


def subject_words(subject: Subject) -> str:
    """What a figure is about, for tables.

    >>> subject_words(Subject("iw-survey", "wlan0", None, 5180.0))
    'wlan0, 5180 MHz'
    """
    parts = []
    if subject.interface is not None:
        parts.append(subject.interface)
    if subject.station is not None:
        parts.append(f"peer {subject.station}")
    if subject.frequency_mhz is not None:
        parts.append(f"{subject.frequency_mhz:g} MHz")
    named = ", ".join(parts) or TOOLS[subject.kind]
    return f"{named} (no. {subject.ordinal})" if subject.ordinal > 1 else named

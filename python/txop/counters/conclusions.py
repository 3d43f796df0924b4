"""What the figures explain. A conclusion needs enough to rest on; where that lacks there is none."""

from __future__ import annotations

import math
from collections.abc import Sequence

from txop.counters.account import Account
from txop.counters.of_channel import ROUNDING_MS, ChannelFacts
from txop.counters.of_rates import RateFacts
from txop.counters.of_station import LEAST_LOST, StationFacts
from txop.formats.minstrel import RateCount

LEAST_ATTEMPTS = 500
"""Attempts that a rate needs before a conclusion about its failures."""
LEAST_SHARE = 0.1
"""Share of all attempts; rate control only samples a rate that is tried less often."""
LEAST_OF_BETTER = 100
"""Attempts at the rate that is reported as better."""
BETTER_BY = 1.1
"""The better rate carries at least this much more, at the near ends of both intervals."""
Z_99 = 2.576
LEAST_ACTIVE_MS = 5_000
"""On the channel, between two readings."""
LEAST_ACTIVE_SINCE_MS = 60_000
"""On the channel, with one reading."""
BUSY_SHARE = 0.5
OWN_SHARE = 0.7
LEAST_PACKETS = 1_000
MANY_RETRIES_PERCENT = 30.0
MANY_LOST_PERCENT = 1.0
STRONG_DBM = -65
WEAK_DBM = -78
LEAST_CHAIN_DB = 20
NO_CHAIN_DBM = -110
"""At and below it an antenna is not connected to the receiver at all."""
LEAST_BEACON_LOSSES = 3
RARE_S = 3_600.0
"""Fewer beacon losses than one in this time are nothing unusual."""


NEEDS: dict[str, str] = {
    "rate-overshoots": (
        f"two readings; a rate with {LEAST_ATTEMPTS} attempts and {LEAST_SHARE:.0%} of all, of which certainly (99 %) "
        f"more than half fail; and a slower rate with {LEAST_OF_BETTER} attempts that certainly carried at least "
        f"{BETTER_BY - 1:.0%} more for its time on the air"
    ),
    "rate-fails": "the same without the slower rate, or with one reading",
    "channel-of-others": (
        f"the channel in use, {LEAST_ACTIVE_MS // 1000} s between two readings or {LEAST_ACTIVE_SINCE_MS // 1000} s in "
        f"one, busy for {BUSY_SHARE:.0%}; own transmission and reception are at most half of that (reception of any "
        "network where the driver does not tell its own)"
    ),
    "channel-of-own": f"the same, with at least {OWN_SHARE:.0%} of it own use, where the driver counts that",
    "channel-busy": "the same, where the counters do not show who used it",
    "retries-many": f"{LEAST_PACKETS} packets, and retries of {MANY_RETRIES_PERCENT:g} % of the attempts",
    "frames-lost": f"{LEAST_PACKETS} packets, of which {LEAST_LOST} and {MANY_LOST_PERCENT:g} % were lost",
    "signal-weak": f"a signal (average, where there is one) of {WEAK_DBM} dBm or less",
    "antenna-weak": f"averages of two antennas that differ by {LEAST_CHAIN_DB} dB",
    "beacons-lost": f"{LEAST_BEACON_LOSSES} beacon losses, and one an hour where the time is known",
}
"""What each conclusion rests on, at least."""


def interval(successes: int, attempts: int, z: float = Z_99) -> tuple[float, float]:
    """Wilson's interval of a share.

    >>> [round(end, 3) for end in interval(320, 1000)]
    [0.283, 0.359]
    """
    share = successes / attempts
    middle = share + z * z / (2 * attempts)
    half = z * math.sqrt(share * (1 - share) / attempts + z * z / (4 * attempts * attempts))
    scale = 1 + z * z / attempts
    return max(0.0, (middle - half) / scale), min(1.0, (middle + half) / scale)


def conclude(
    account: Account,
    stations: Sequence[StationFacts],
    channels: Sequence[ChannelFacts],
    tables: Sequence[RateFacts],
) -> None:
    """Everything that can be concluded."""
    for table in tables:
        _rates(account, table)
    for channel in channels:
        _channel(account, channel)
    for station in stations:
        _station(account, station)


def _rates(account: Account, facts: RateFacts) -> None:
    rates = facts.table.rates
    total = sum(each.attempts for each in rates)
    for rate in sorted(rates, key=lambda each: each.successes - each.attempts):
        if rate.attempts < LEAST_ATTEMPTS or rate.attempts < LEAST_SHARE * total:
            continue
        high = interval(rate.successes, rate.attempts)[1]
        if high >= 0.5:
            continue
        fields: dict[str, str | float | int | bool | None] = {
            "rate": rate.label,
            "attempts": rate.attempts,
            "failed_percent": 100 * (rate.attempts - rate.successes) / rate.attempts,
            "share_percent": 100 * rate.attempts / total,
        }
        better = _better(rate, high, rates) if facts.window == "difference" else None
        if better is None:
            account.conclude("rate-fails", facts.subject, **fields, window=facts.window)
            continue
        fields |= {
            "better_rate": better.label,
            "better_attempts": better.attempts,
            "better_failed_percent": 100 * (better.attempts - better.successes) / better.attempts,
            "better_by_percent": _gain(rate, better),
        }
        account.conclude("rate-overshoots", facts.subject, **fields)


def _better(rate: RateCount, high: float, rates: Sequence[RateCount]) -> RateCount | None:
    """The slower rate that certainly carried more per time on the air, the best one; ``None``: none is known to."""
    if not rate.airtime_us:
        return None
    found: list[tuple[float, RateCount]] = []
    for each in rates:
        if each.attempts < LEAST_OF_BETTER or not each.airtime_us or each.airtime_us <= rate.airtime_us:
            continue
        carried = interval(each.successes, each.attempts)[0] / each.airtime_us
        if carried > BETTER_BY * high / rate.airtime_us:
            found.append((carried, each))
    return max(found, key=lambda pair: pair[0])[1] if found else None


def _gain(rate: RateCount, better: RateCount) -> float | None:
    """How much more ``better`` carried for its time on the air, in percent; ``None``: ``rate`` carried nothing."""
    if not rate.successes or not rate.airtime_us or not better.airtime_us:
        return None
    was = rate.successes / rate.attempts / rate.airtime_us
    return 100 * (better.successes / better.attempts / better.airtime_us / was - 1)


def _channel(account: Account, facts: ChannelFacts) -> None:
    least = LEAST_ACTIVE_MS if facts.window == "difference" else LEAST_ACTIVE_SINCE_MS
    if not facts.in_use or facts.busy_ms is None or facts.active_ms < least:
        return
    active, busy = facts.active_ms, facts.busy_ms
    if busy < BUSY_SHARE * active:
        return
    own, bound = _own_ms(facts)
    fields: dict[str, str | float | int | bool | None] = {
        "busy_percent": 100 * busy / active,
        "active_ms": active,
        "window": facts.window,
    }
    if own is None:
        code = "channel-busy"
    elif own <= busy / 2:
        code = "channel-of-others"
    elif not bound and own >= OWN_SHARE * busy:
        code = "channel-of-own"
    else:
        code = "channel-busy"
    if own is not None and code != "channel-busy":
        fields |= {"own_percent": 100 * own / active, "own_at_most": bound}
    account.conclude(code, facts.subject, **fields)


def _own_ms(facts: ChannelFacts) -> tuple[int | None, bool]:
    """The own network's part of the busy time, and whether it is only known to be at most that. Reception of any
    network is at least that of the own. A time of 0 may be one that the driver does not count."""
    if not facts.transmit_ms or facts.busy_ms is None or facts.transmit_ms > facts.busy_ms + ROUNDING_MS:
        return None, False
    if facts.own_bss_ms:
        own, bound = facts.transmit_ms + facts.own_bss_ms, False
    elif facts.receive_ms:
        own, bound = facts.transmit_ms + facts.receive_ms, True
    else:
        return None, False
    return (own, bound) if own <= facts.busy_ms + ROUNDING_MS else (None, False)


def _station(account: Account, facts: StationFacts) -> None:
    sent = facts.sent
    if sent is not None and sent.packets >= LEAST_PACKETS:
        percent = sent.retry_percent
        if percent is not None and percent >= MANY_RETRIES_PERCENT:
            account.conclude(
                "retries-many",
                facts.subject,
                retry_percent=percent,
                attempts=sent.attempts,
                signal_dbm=facts.signal_dbm,
                signal_strong=None if facts.signal_dbm is None else facts.signal_dbm >= STRONG_DBM,
                window=facts.window,
            )
        failed = sent.failed
        if failed is not None and failed >= LEAST_LOST and 100 * failed >= MANY_LOST_PERCENT * sent.packets:
            account.conclude(
                "frames-lost",
                facts.subject,
                failed=failed,
                packets=sent.packets,
                failed_percent=100 * failed / sent.packets,
                window=facts.window,
            )
    if facts.signal_dbm is not None and facts.signal_dbm <= WEAK_DBM:
        account.conclude("signal-weak", facts.subject, signal_dbm=facts.signal_dbm)
    chains = [dbm for dbm in facts.chains_dbm if NO_CHAIN_DBM < dbm < 0]
    if len(chains) >= 2 and max(chains) - min(chains) >= LEAST_CHAIN_DB:
        account.conclude("antenna-weak", facts.subject, strongest_dbm=max(chains), weakest_dbm=min(chains))
    often = facts.seconds is None or (facts.beacon_loss or 0) * RARE_S >= facts.seconds
    if facts.beacon_loss is not None and facts.beacon_loss >= LEAST_BEACON_LOSSES and often:
        account.conclude(
            "beacons-lost", facts.subject, events=facts.beacon_loss, seconds=facts.seconds, window=facts.window
        )

"""The figures of one channel: ``iw survey dump``."""

from __future__ import annotations

from dataclasses import dataclass

from txop.counters.account import Account
from txop.counters.pairing import Pair
from txop.counters.readings import Subject
from txop.counters.report import Window
from txop.formats.iw_survey import SurveyChannel

ROUNDING_MS = 5
"""Times are printed in whole milliseconds, and read one after the other."""


@dataclass(frozen=True)
class ChannelFacts:
    """Times on one channel, in ms. ``None``: not counted, or not to be believed."""

    subject: Subject
    window: Window
    in_use: bool
    active_ms: int
    busy_ms: int | None
    transmit_ms: int | None
    receive_ms: int | None
    own_bss_ms: int | None


def put_channel(pair: Pair, account: Account) -> ChannelFacts | None:
    """All figures of the channel; ``None``: it was not used, or its times are not counted."""
    now = pair.after.value
    assert isinstance(now, SurveyChannel)
    was = pair.before.value if pair.before is not None else None
    before = was if isinstance(was, SurveyChannel) else None
    window: Window = "difference" if before is not None else "since-unknown"
    account.put(pair.subject, "noise-dbm", now.noise_dbm, "now")

    def grown(name: str) -> int | None:
        value: int | None = getattr(now, name)
        if before is None:
            return value
        return account.step(pair.subject, name, getattr(before, name), value, narrow=False)

    active = grown("active_ms")
    if before is not None and before == now and now.active_ms:
        if now.in_use:
            account.doubt("identical", pair.subject)
        return None
    if not active:
        return None
    account.put(pair.subject, "channel-active", active, window)
    busy = _within(account, pair.subject, "busy_ms", grown("busy_ms"), active)
    transmit = _within(account, pair.subject, "transmit_ms", grown("transmit_ms"), active)
    receive = _within(account, pair.subject, "receive_ms", grown("receive_ms"), active)
    own = _within(account, pair.subject, "receive_from_own_bss_ms", grown("receive_from_own_bss_ms"), active)
    if busy is not None and transmit is not None and transmit > busy + ROUNDING_MS:
        account.doubt("transmit-over-busy", pair.subject, transmit_ms=transmit, busy_ms=busy)
    for code, value in (
        ("channel-busy-percent", busy),
        ("channel-tx-percent", transmit),
        ("channel-rx-percent", receive),
        ("channel-own-rx-percent", own),
    ):
        account.put(pair.subject, code, None if value is None else 100 * value / active, window, n=active)
    return ChannelFacts(pair.subject, window, now.in_use, active, busy, transmit, receive, own)


def _within(account: Account, subject: Subject, counter: str, value: int | None, active_ms: int) -> int | None:
    """A time, unless it is longer than the radio was there."""
    if value is None or value <= active_ms:
        return value
    if value > active_ms + ROUNDING_MS:
        account.doubt("over-active", subject, counter=counter, ms=value, active_ms=active_ms)
        return None
    return active_ms

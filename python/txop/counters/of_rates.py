"""The figures of one station's table of rates: ``rc_stats`` of minstrel."""

from __future__ import annotations

from dataclasses import dataclass

from txop.counters.account import Account, percent
from txop.counters.pairing import Pair
from txop.counters.readings import Subject
from txop.counters.report import Window
from txop.formats.minstrel import RateTable, between


@dataclass(frozen=True)
class RateFacts:
    """A table with sums that add up."""

    subject: Subject
    window: Window
    table: RateTable


def put_rates(pair: Pair, account: Account) -> RateFacts | None:
    """All figures of the table; ``None``: its sums cannot be true, or nothing was sent."""
    now = pair.after.value
    assert isinstance(now, RateTable)
    was = pair.before.value if pair.before is not None else None
    table, window = now, "since-connected"
    if isinstance(was, RateTable):
        difference = between(was, now)
        if difference is None:
            account.doubt("table-started-again", pair.subject)
        elif was == now:
            account.doubt("identical", pair.subject)
            return None
        else:
            table, window = difference, "difference"
    bad = next((each for each in table.rates if each.successes > each.attempts), None)
    if bad is not None:
        account.doubt(
            "successes-over-attempts", pair.subject, rate=bad.label, successes=bad.successes, attempts=bad.attempts
        )
        return None
    used: Window = "difference" if window == "difference" else "since-connected"
    attempts = sum(each.attempts for each in table.rates)
    if not attempts:
        return None
    failed = attempts - sum(each.successes for each in table.rates)
    account.put(pair.subject, "attempts-failed-percent", 100 * failed / attempts, used, n=attempts)
    for each in sorted(table.rates, key=lambda rate: -rate.attempts):
        if each.attempts:
            account.put(pair.subject, "rate-attempts", each.attempts, used, name=each.label)
            share = percent(each.attempts, attempts)
            account.put(pair.subject, "rate-share-percent", share, used, n=attempts, name=each.label)
            lost = percent(each.attempts - each.successes, each.attempts)
            account.put(pair.subject, "rate-failed-percent", lost, used, n=each.attempts, name=each.label)
    account.put(pair.subject, "ampdu-length", table.ampdu_length, "now")
    if table.ideal_packets is not None and table.sample_packets is not None:
        packets = table.ideal_packets + table.sample_packets
        account.put(pair.subject, "sample-percent", percent(table.sample_packets, packets), used, n=packets or None)
    return RateFacts(pair.subject, used, table)

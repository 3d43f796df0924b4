"""From one or two pasted texts to a report."""

from __future__ import annotations

from collections.abc import Sequence

from txop.counters import words
from txop.counters.account import Account, Fact, model_of
from txop.counters.conclusions import conclude
from txop.counters.meanings import NO_RETRIES, meaning_of
from txop.counters.of_channel import ChannelFacts, put_channel
from txop.counters.of_driver import put_fw_stats, put_statistics, put_tx_stats, put_wireless, put_xmit
from txop.counters.of_queues import put_airtime, put_limits, put_queues
from txop.counters.of_rates import RateFacts, put_rates
from txop.counters.of_station import StationFacts, put_station, seconds_of
from txop.counters.pairing import Pair, pair
from txop.counters.paste import Paste
from txop.counters.readings import Readings, read
from txop.counters.report import CountersReport, Finding, Meaning, Pairing, Part

COMMANDS = {"kernel-log": "txop log", "measurement": "txop import"}
"""What reads the parts that are not counters."""


def analyse(before: Paste | None, after: Paste) -> CountersReport:
    """The report of two texts, or of one (``before`` is ``None``)."""
    earlier = read(before) if before is not None else None
    later = read(after)
    pairs = pair(earlier.readings if earlier is not None else None, later.readings)
    driver = later.driver or (earlier.driver if earlier is not None else None)
    account = Account()
    _put(pairs, account, driver)
    pastes = [each for each in (before, after) if each is not None]
    doubts = account.implausible
    if earlier is not None and _same(earlier, later):
        doubts = [Fact("identical-files", None, {}), *(each for each in doubts if each.code != "identical")]
    used = dict.fromkeys(figure.code for figure in account.figures)
    return CountersReport(
        before=before.name if before is not None else None,
        after=after.name,
        driver=driver,
        conclusions=[_finding(each) for each in account.conclusions],
        implausible=[_finding(each) for each in doubts],
        figures=account.figures,
        pairings=[_pairing(each) for each in pairs],
        meanings=[_meaning(code, driver) for code in used],
        parts=[_part(paste, number) for paste in pastes for number in range(len(paste.parts))],
        lines_not_read=sum(paste.not_read_count for paste in pastes),
        first_not_read=[f"{paste.name}:{line}" for paste in pastes for line in paste.not_read[:10]],
        cut=any(paste.cut for paste in pastes) or later.cut or (earlier is not None and earlier.cut),
    )


def _put(pairs: Sequence[Pair], account: Account, driver: str | None) -> None:
    stations: list[StationFacts] = []
    channels: list[ChannelFacts] = []
    tables: list[RateFacts] = []
    for each in pairs:
        match each.subject.kind:
            case "iw-station":
                stations.append(put_station(each, account, driver not in NO_RETRIES))
            case "iw-survey":
                if (channel := put_channel(each, account)) is not None:
                    channels.append(channel)
            case "rc-stats":
                if (table := put_rates(each, account)) is not None:
                    tables.append(table)
            case "ethtool":
                put_statistics(each, account)
            case "proc-net-wireless":
                put_wireless(each, account)
            case "ath9k-xmit":
                put_xmit(each, account)
            case "mt76-tx-stats":
                put_tx_stats(each, account)
            case "ath10k-fw-stats":
                put_fw_stats(each, account)
            case "mac80211-airtime":
                put_airtime(each, account)
            case "mac80211-aqm":
                put_queues(each, account)
            case "mac80211-aql":
                put_limits(each, account)
    conclude(account, stations, channels, tables)


def _same(before: Readings, after: Readings) -> bool:
    return bool(after.readings) and [each.value for each in before.readings] == [each.value for each in after.readings]


def _finding(fact: Fact) -> Finding:
    subject = None if fact.subject is None else model_of(fact.subject)
    return Finding(code=fact.code, subject=subject, fields=fact.fields, text=words.sentence(fact))


def _pairing(pair: Pair) -> Pairing:
    return Pairing(
        subject=model_of(pair.subject),
        before_line=pair.before.part.first if pair.before is not None else None,
        after_line=pair.after.part.first,
        unpaired=pair.unpaired,
        seconds=seconds_of(pair),
    )


def _meaning(code: str, driver: str | None) -> Meaning:
    means, source = meaning_of(code, driver)
    return Meaning(code=code, means=means, source=source)


def _part(paste: Paste, number: int) -> Part:
    part = paste.parts[number]
    return Part(
        file=paste.name,
        kind=part.kind,
        first_line=part.first,
        last_line=part.last,
        command=COMMANDS.get(part.kind),
    )

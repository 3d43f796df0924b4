"""``rc_stats`` and ``rc_stats_csv``: what minstrel, the rate control of mac80211, counts for each rate of a station.

``/sys/kernel/debug/ieee80211/phyN/netdev:X/stations/MAC/rc_stats``. Forms: minstrel_ht with and without ``sd(prob)``
(net/mac80211/rc80211_minstrel_ht_debugfs.c), minstrel of stations without HT (rc80211_minstrel_debugfs.c), the tables
of Linux 3.x (``eprob``, ``ewma prob``), and the CSV of both. The sums count since the station associated; an attempt is
one MPDU on the air, retransmissions included.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from txop.formats.error import FormatError, quoted_start
from txop.formats.reading import lines_of, real, text_of, whole

_WHAT = "rc_stats of minstrel"
_MAX_RATES = 2_000
_LINE_LIMIT = 400
_COLUMNS = re.compile(
    r"name|idx|airtime|max_tp|sd\(prob\)|[^\s\[|(]{1,4}\((?:tp|prob)\)|prob\.|retry|suc|att|#success|#attempts"
)
_AVERAGE = re.compile(r"(?!sd).{1,4}\((tp|prob)\)")
_OF_TABLE = {"airtime", "avg(tp)", "avg(prob)", "#success", "#attempts"}
_MODE = re.compile(r"(?:VHT|HT)[0-9]{2,3}|CCK|OFDM")
_NAME = re.compile(r"MCS[0-9]{1,3}(?:/[0-9])?|[0-9]{1,3}(?:\.[0-9])?M?")
_MARKS = re.compile(r"[A-Za-z*]{1,8}")
_OLD_HEAD = re.compile(r"(?:type +)?rate +(?:tpt|throughput|tp) +e?wma prob|type +rate +tpt +eprob")
_OLD_ROW = re.compile(
    r"(?P<front>[^\n]{0,40}?)(?P<name>MCS[0-9]{1,3}(?:/[0-9])?|[0-9]{1,3}(?:\.[0-9])?M?) +"
    r"(?P<tp>[0-9]{1,5}\.[0-9]) +(?P<prob>[0-9]{1,3}\.[0-9]) +[0-9]{1,3}\.[0-9] +(?:[0-9]{1,3} +)?"
    r"(?P<suc>[0-9]{1,10})\( *(?P<att>[0-9]{1,10})\) +(?P<sucs>[0-9]{1,20})(?:\( *| +)(?P<atts>[0-9]{1,20})\)?"
)
_TITLE = re.compile(r"best +_{2,40}rate_{2,40}")
_TOTAL = re.compile(r"Total packet count:: +ideal +(?P<ideal>[0-9]{1,10}) +lookaround +(?P<look>[0-9]{1,10})")
_AMPDU = re.compile(r"Average # of aggregated frames per A-MPDU: (?P<length>[0-9]{1,5}\.[0-9])")
_CSV = re.compile(
    r"(?:(?:(?:VHT|HT)[0-9]{2,3}|CCK|OFDM),[A-Z]{0,3},[0-9],)?[A-Za-z]{0,8}, ?(?:MCS[0-9]|[0-9])[^,]{0,9},[0-9]"
)


@dataclass(frozen=True, slots=True)
class RateCount:
    """One rate. ``None``: this form does not print it."""

    mode: str | None
    """``HT20``, ``VHT80``, ``CCK``, ``OFDM``; ``None`` for the rates of a station without HT."""
    guard: str | None
    """``LGI`` or ``SGI``; of CCK the preamble, ``LP`` or ``SP``."""
    streams: int | None
    name: str
    """``MCS7``, ``MCS9/2`` (VHT: MCS and streams), ``5.5M``, ``54`` (Mbit/s)."""
    marks: str
    """``A`` to ``D``: the rates of best throughput, from the best; ``P``: the one of best probability."""
    airtime_us: int | None
    """What a packet of minstrel's average size takes at it, without retransmissions."""
    throughput_mbit_s: float | None
    """What minstrel expects of it."""
    probability_percent: float | None
    """Moving average of the share of attempts that were acknowledged."""
    last_successes: int
    """In minstrel's last interval."""
    last_attempts: int
    successes: int
    """Since the station associated."""
    attempts: int

    @property
    def label(self) -> str:
        """The rate by all that tells it from others of a table.

        >>> RateCount("VHT80", "SGI", 2, "MCS9/2", "", None, None, None, 0, 0, 0, 0).label
        'VHT80 SGI MCS9/2'
        """
        return " ".join(part for part in (self.mode, self.guard, self.name) if part)


@dataclass(frozen=True, slots=True)
class RateTable:
    """A station's table."""

    rates: tuple[RateCount, ...]
    ideal_packets: int | None
    """Packets that were sent at the rates chosen for throughput."""
    sample_packets: int | None
    """Packets that tried another rate."""
    ampdu_length: float | None
    """Moving average of MPDUs in an A-MPDU."""


def parse(data: str | bytes) -> RateTable:
    """A table in any of the forms. Raises FormatError when there is none."""
    text = text_of(data, _WHAT)
    columns: list[str] = []
    rates: list[RateCount] = []
    ideal = sample = ampdu = None
    old = False
    for _, line in lines_of(text):
        if len(rates) >= _MAX_RATES:
            break
        row = line[:_LINE_LIMIT].strip()
        found: RateCount | None = None
        if (named := _columns(row)) is not None:
            columns = named
        elif _OLD_HEAD.search(row) is not None:
            old = True
        elif is_csv(row):
            found, totals = _csv(row)
            ideal, sample, ampdu = totals if totals is not None else (ideal, sample, ampdu)
        elif (total := _TOTAL.search(row)) is not None:
            ideal, sample = whole(total["ideal"]), whole(total["look"])
        elif (length := _AMPDU.search(row)) is not None:
            ampdu = real(length["length"])
        elif columns:
            found = _row(row, columns)
        elif old:
            found = _old(row)
        if found is not None:
            rates.append(found)
    if not rates:
        raise FormatError(f"{_WHAT} expected; {quoted_start(text)}")
    return RateTable(tuple(rates), ideal, sample, ampdu)


def is_head(line: str) -> bool:
    """Whether ``line`` is the line of a table that names its columns."""
    return _columns(line[:_LINE_LIMIT]) is not None or _OLD_HEAD.search(line[:_LINE_LIMIT]) is not None


def is_title(line: str) -> bool:
    """Whether ``line`` is the one above that, which groups the columns."""
    return _TITLE.match(line[:_LINE_LIMIT].strip()) is not None


def is_csv(line: str) -> bool:
    """Whether ``line`` is one of ``rc_stats_csv``."""
    return line.count(",") >= 12 and _CSV.match(line[:_LINE_LIMIT].strip()) is not None


def is_row(line: str) -> bool:
    """Whether ``line`` can be one of the body of a table: a rate, or what stands below them."""
    row = line[:_LINE_LIMIT].strip()
    if _TOTAL.search(row) is not None or _AMPDU.search(row) is not None:
        return True
    words = row.split()
    return (len(words) >= 9 and words[-1].isdigit() and words[-2].isdigit()) or _OLD_ROW.fullmatch(row) is not None


def between(before: RateTable, after: RateTable) -> RateTable | None:
    """What was counted from one table to a later one of the same station; ``None`` when a sum went back, or the
    tables have not the same rates."""
    was = {_key(rate): rate for rate in before.rates}
    if set(was) != {_key(rate) for rate in after.rates} or len(was) != len(before.rates):
        return None
    grown = []
    for now in after.rates:
        then = was[_key(now)]
        if now.attempts < then.attempts or now.successes < then.successes:
            return None
        grown.append(
            RateCount(
                now.mode,
                now.guard,
                now.streams,
                now.name,
                now.marks,
                now.airtime_us,
                now.throughput_mbit_s,
                now.probability_percent,
                now.last_successes,
                now.last_attempts,
                now.successes - then.successes,
                now.attempts - then.attempts,
            )
        )
    return RateTable(
        tuple(grown),
        _step(before.ideal_packets, after.ideal_packets),
        _step(before.sample_packets, after.sample_packets),
        after.ampdu_length,
    )


def _key(rate: RateCount) -> tuple[str | None, str | None, int | None, str]:
    return (rate.mode, rate.guard, rate.streams, rate.name)


def _step(before: int | None, after: int | None) -> int | None:
    return None if before is None or after is None or after < before else after - before


def _columns(row: str) -> list[str] | None:
    if "#attempts" not in row or "name" not in row:
        return None
    # Averages were once marked with a slashed o.
    names = [_AVERAGE.sub(r"avg(\1)", name) for name in _COLUMNS.findall(row)]
    return names[names.index("name") + 1 :] if set(names) >= _OF_TABLE else None


def _row(row: str, columns: list[str]) -> RateCount | None:
    words = row.split()
    if len(words) <= len(columns) or _NAME.fullmatch(name := words[-len(columns) - 1]) is None:
        return None
    return _rate(words[: -len(columns) - 1], name, dict(zip(columns, words[-len(columns) :], strict=True)))


def _old(row: str) -> RateCount | None:
    found = _OLD_ROW.fullmatch(row)
    if found is None:
        return None
    values = {
        "avg(tp)": found["tp"],
        "avg(prob)": found["prob"],
        "suc": found["suc"],
        "att": found["att"],
        "#success": found["sucs"],
        "#attempts": found["atts"],
    }
    return _rate(found["front"].replace("/", " ").split(), found["name"], values)


def _csv(row: str) -> tuple[RateCount | None, tuple[int | None, int | None, float | None] | None]:
    cells = [cell.strip() for cell in row.split(",")]
    has_mode = _MODE.fullmatch(cells[0]) is not None
    front, rest = (cells[:4], cells[4:]) if has_mode else (cells[:1], cells[1:])
    behind = 3 if has_mode else 2
    if not 10 + behind <= len(rest) <= 14 + behind:
        return None, None
    values = dict(zip(("idx", "airtime", "max_tp", "avg(tp)", "avg(prob)"), rest[1:6], strict=True))
    counts = rest[-behind - 4 : -behind]
    values |= dict(zip(("suc", "att", "#success", "#attempts"), counts, strict=True))
    length = real(rest[-1]) if has_mode else None
    return _rate(front, rest[0], values), (whole(rest[-behind]), whole(rest[1 - behind]), length)


def _rate(front: list[str], name: str, values: Mapping[str, str]) -> RateCount | None:
    successes, attempts = whole(values["#success"]), whole(values["#attempts"])
    last_successes, last_attempts = whole(values["suc"]), whole(values["att"])
    if successes is None or attempts is None or last_successes is None or last_attempts is None:
        return None
    if _NAME.fullmatch(name) is None:
        return None
    mode = next((word for word in front if _MODE.fullmatch(word) is not None), None)
    guard = next((word for word in front if word in ("LGI", "SGI", "LP", "SP")), None)
    streams = next((whole(word) for word in front if word.isdigit()), None)
    marks = "".join(word for word in front if word not in (mode, guard) and _MARKS.fullmatch(word) is not None)
    return RateCount(
        mode=mode,
        guard=guard,
        streams=streams,
        name=name,
        marks=marks,
        airtime_us=whole(values.get("airtime")),
        throughput_mbit_s=real(values.get("avg(tp)")),
        probability_percent=real(values.get("avg(prob)"), most=100.0),
        last_successes=last_successes,
        last_attempts=last_attempts,
        successes=successes,
        attempts=attempts,
    )

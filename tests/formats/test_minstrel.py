"""``rc_stats`` in the forms of several kernels. The texts are our own, laid out as the kernels' format strings do."""

from __future__ import annotations

import pytest

from counter_specimens import (
    RATES_CSV,
    RATES_CSV_LEGACY,
    RATES_CSV_NEW,
    RATES_LEGACY,
    RATES_NEW,
    RATES_OLD,
    RATES_WITH_DEVIATION,
)
from txop.formats import minstrel
from txop.formats.error import FormatError


def sums(text: str) -> dict[str, tuple[int, int]]:
    return {rate.label: (rate.successes, rate.attempts) for rate in minstrel.parse(text).rates}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (RATES_NEW, {"CCK LP 1.0M": (0, 0), "VHT80 LGI MCS8/2": (84000, 150000), "VHT80 LGI MCS5/2": (31000, 32000)}),
        (RATES_WITH_DEVIATION, {"HT20 LGI MCS3": (700, 800), "HT40 SGI MCS15": (9000, 10000)}),
        (RATES_LEGACY, {"12": (40, 50), "54": (9000, 9500)}),
        (RATES_OLD, {"HT20 LGI MCS0": (10, 12), "HT40 SGI MCS7": (4000, 4400)}),
        (RATES_CSV, {"HT20 LGI MCS4": (3000, 3100), "VHT80 SGI MCS7/2": (500000, 600000)}),
        (RATES_CSV_NEW, {"VHT80 SGI MCS7/2": (500000, 600000)}),
        (RATES_CSV_LEGACY, {"54": (9000, 9500)}),
    ],
)
def test_sums_of_each_form(text: str, expected: dict[str, tuple[int, int]]) -> None:
    assert sums(text) == expected
    assert sums(text.replace("\n", "\r\n")) == expected


def test_what_else_a_table_has() -> None:
    table = minstrel.parse(RATES_NEW)
    assert (table.ideal_packets, table.sample_packets, table.ampdu_length) == (9400, 600, 11.7)
    best = table.rates[1]
    assert (best.marks, best.streams, best.airtime_us) == ("A", 2, 90)
    assert (best.throughput_mbit_s, best.probability_percent) == (51.0, 57.2)
    assert (best.last_successes, best.last_attempts) == (310, 620)
    assert table.rates[2].marks == "BP"
    assert minstrel.parse(RATES_CSV).rates[1].marks == minstrel.parse(RATES_CSV_LEGACY).rates[0].marks == "AP"
    assert minstrel.parse(RATES_CSV_NEW).ampdu_length == 12.4
    assert minstrel.parse(RATES_LEGACY).ampdu_length is None
    assert minstrel.parse(RATES_OLD).rates[1].airtime_us is None


def test_legacy_rates_beside_ht() -> None:
    row = "OFDM       1  A       6.0M     4    1648     5.3       5.0      97.0       2     0 0            30   31\n"
    text = RATES_NEW.replace("\nTotal", f"{row}\nTotal")
    assert sums(text)["OFDM 6.0M"] == (30, 31)
    csv = "OFDM,,1,A,6.0M,4,1648,5.3,5.0,97.0,2,0,0,30,31,9400,600,11.7\n"
    (rate,) = minstrel.parse(csv).rates
    assert (rate.label, rate.marks, rate.successes, rate.attempts) == ("OFDM 6.0M", "A", 30, 31)


def test_averages_with_a_slashed_o() -> None:
    old = RATES_WITH_DEVIATION.replace("[avg(tp) avg(prob)", "[ \u00f8(tp) \u00f8(prob)")
    assert minstrel.parse(old) == minstrel.parse(RATES_WITH_DEVIATION)
    assert minstrel.parse(old.encode("utf-8").decode("latin-1")) == minstrel.parse(old)


def test_a_difference() -> None:
    later = RATES_NEW.replace("84000   150000", "84100   150900").replace("ideal 9400", "ideal 9500")
    difference = minstrel.between(minstrel.parse(RATES_NEW), minstrel.parse(later))
    assert difference is not None
    assert [(rate.successes, rate.attempts) for rate in difference.rates] == [(0, 0), (100, 900), (0, 0)]
    assert (difference.ideal_packets, difference.sample_packets) == (100, 0)
    assert minstrel.between(minstrel.parse(later), minstrel.parse(RATES_NEW)) is None
    assert minstrel.between(minstrel.parse(RATES_NEW), minstrel.parse(RATES_CSV)) is None


def test_other_text_is_refused() -> None:
    for text in ("", "Station 00:11:22:33:44:55 (on wlan0)\n", RATES_NEW.splitlines()[2]):
        with pytest.raises(FormatError):
            minstrel.parse(text)

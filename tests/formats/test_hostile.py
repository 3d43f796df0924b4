"""Whatever the text, a parser gives a result or a FormatError, and soon."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import counter_specimens
import exchange_specimens
from txop.exchange.imported import Direction
from txop.exchange.recognise import read_file
from txop.formats import (
    ath9k_debugfs,
    ath10k_debugfs,
    betterspeedtest,
    crusader,
    driver_table,
    ethtool,
    flent,
    fping,
    iperf2,
    iperf2_bounceback,
    iperf2_csv,
    iperf3,
    irtt,
    irtt_text,
    iw_interface,
    iw_ssid,
    iw_station,
    iw_survey,
    mac80211_debugfs,
    minstrel,
    mmc_ios,
    mt76_debugfs,
    netperf,
    nuttcp,
    ping,
    ping_windows,
    proc_interrupts,
    proc_net,
    proc_stat,
    proc_system,
    proc_wireless,
    reading,
    speedtest,
    ttcp,
    usb,
)
from txop.formats.error import FormatError

FOLDER = Path(__file__).with_name("captured")
AIRTIME = b"RX: 1 us\nTX: 2 us\nWeight: 256\nVirt-T: VO: 5 us VI: 5 us BE: 5 us BK: 5 us\n"
AQM = b"target 1us interval 2us ecn yes\ntid ac \n0 2 3028 2 17 5 1 0 3 42 12 0x0(RUN)\n"
RATES = b"HT20,LGI,1,ABCDPS,MCS0 ,0,1477,5.6,4.9,92.1,1,7,8,11268,14026,16582,885,12.4\n"
IOS = b"clock:\t\t50000000 Hz\nbus width:\t2 (4 bits)\n"
USB = b"/sys/bus/usb/devices/1-1/speed:480\n/sys/bus/usb/devices/1-1:1.0/bInterfaceClass:ff\n"


def seeds(pattern: str) -> list[bytes]:
    found = [path.read_bytes() for path in sorted(FOLDER.glob(pattern)) if path.stat().st_size < 60_000]
    assert found, pattern
    return found


def survey_use(text: str | bytes) -> object:
    channels = iw_survey.parse(text)
    return [iw_survey.channel_use(one, two) for one in channels for two in channels[:3]]


def interrupts(text: str | bytes) -> object:
    table = proc_interrupts.parse(text)
    return proc_interrupts.difference(table, table), [row.names for row in table.rows.values()]


def stat(text: str | bytes) -> object:
    snapshot = proc_stat.parse(text)
    return proc_stat.difference(snapshot, snapshot)


def replies(text: str | bytes) -> object:
    result = ping.parse(text)
    return result.resolution_ms, result.rtts_ms(), result.lost_count


def goodput(text: str | bytes) -> object:
    return [iperf3.goodput_mbit_s(result, "client_to_server") for result in iperf3.parse_all(text)]


TEXTS: dict[str, bytes] = {
    name: getattr(exchange_specimens, name).encode()
    for name in (
        *("WINDOWS", "BSD", "FPING", "IRTT", "NUTTCP", "NETPERF", "SPEEDTEST", "BETTER", "IPERF2_CSV", "BOUNCE"),
    )
}

IMPORTED = [
    *TEXTS.values(),
    *(text.encode() for text in (exchange_specimens.TTCP, exchange_specimens.WIKI, exchange_specimens.PASTED)),
    *(exchange_specimens.PING.encode(), exchange_specimens.flent_bytes(4)),
    *(seeds("iperf3/v3.12-tcp*") + seeds("irtt/*.json") + seeds("iperf2/*") + seeds("crusader/*")),
]


def attributes_of(dump: str) -> dict[str, str]:
    return {path: value for path, _, value in (line.rpartition(":") for line in dump.splitlines())}


PARSERS: dict[str, tuple[Callable[[bytes], object], list[bytes]]] = {
    "iperf3": (goodput, seeds("iperf3/*")),
    "iperf 2": (iperf2.parse_all, seeds("iperf2/*")),
    "crusader": (crusader.parse, seeds("crusader/*")),
    "ping": (replies, seeds("ping/*")),
    "irtt": (irtt.parse, seeds("irtt/*")),
    "proc_stat": (stat, seeds("proc/stat*")),
    "proc_interrupts": (interrupts, seeds("proc/interrupts*") + seeds("proc/softirqs*")),
    "proc_net dev": (proc_net.parse_dev, seeds("proc/net-dev*")),
    "meminfo": (proc_system.parse_meminfo, seeds("proc/meminfo*")),
    "iw dev": (iw_interface.parse_interfaces, seeds("iw/*dev*") + seeds("iw/*info*")),
    "iw link": (iw_interface.parse_link, seeds("iw/*link*")),
    "iw station": (iw_station.parse, seeds("iw/*station*")),
    "iw survey": (survey_use, seeds("iw/*survey*")),
    "ethtool -S": (ethtool.parse_statistics, seeds("ethtool/S-*")),
    "usb": (lambda dump: usb.devices(attributes_of(dump.decode(errors="replace"))), [USB]),
    "mmc ios": (mmc_ios.parse, [IOS]),
    "flent": (flent.parse, [exchange_specimens.flent_bytes(version) for version in (1, 2, 3, 4)]),
    "ttcp": (ttcp.parse, [exchange_specimens.TTCP.encode()]),
    "driver table": (driver_table.parse, [exchange_specimens.WIKI.encode()]),
    "import": (lambda data: read_file(data, Direction(way="tx")), IMPORTED),
    "several pings": (ping.parse_all, [TEXTS["BSD"], *seeds("ping/*")]),
    "fping": (fping.parse_all, [TEXTS["FPING"], *seeds("ping/fping*")]),
    "ping of Windows": (ping_windows.parse_all, [TEXTS["WINDOWS"]]),
    "irtt text": (irtt_text.parse_all, [TEXTS["IRTT"]]),
    "nuttcp": (nuttcp.parse_all, [TEXTS["NUTTCP"]]),
    "netperf": (netperf.parse_all, [TEXTS["NETPERF"]]),
    "speed test": (speedtest.parse_json, [TEXTS["SPEEDTEST"]]),
    "text of a speed test": (speedtest.parse_text, [TEXTS["BETTER"]]),
    "betterspeedtest": (betterspeedtest.parse_all, [TEXTS["BETTER"]]),
    "iperf 2 CSV": (iperf2_csv.parse_all, [TEXTS["IPERF2_CSV"]]),
    "bounce-back": (iperf2_bounceback.parse_all, [TEXTS["BOUNCE"]]),
    "airtime": (mac80211_debugfs.parse_airtime, [AIRTIME]),
    "rc_stats": (
        minstrel.parse,
        [RATES, *(text.encode() for text in (counter_specimens.RATES_NEW, counter_specimens.RATES_OLD))],
    ),
    "proc_net wireless": (proc_wireless.parse, [counter_specimens.WIRELESS.encode()]),
    "ath9k xmit": (ath9k_debugfs.parse_xmit, [counter_specimens.XMIT.encode()]),
    "ath10k fw_stats": (ath10k_debugfs.parse_fw_stats, [counter_specimens.FW_STATS.encode()]),
    "aql": (mac80211_debugfs.parse_aql, [counter_specimens.AQL.encode()]),
    "mt76 tx_stats": (mt76_debugfs.parse_tx_stats, [counter_specimens.TX_STATS.encode()]),
}
NAMES = sorted(PARSERS)


def survives(name: str, data: bytes, *, seconds: float = 5.0) -> None:
    started = time.process_time()
    try:
        PARSERS[name][0](data)
    except FormatError as error:
        message = str(error)
    else:
        message = "read"
    assert message
    assert message.isprintable()
    assert time.process_time() - started < seconds, name


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=25, deadline=None)
@given(data=st.one_of(st.binary(max_size=400), st.text(max_size=400).map(lambda text: text.encode(errors="replace"))))
def test_any_text(name: str, data: bytes) -> None:
    survives(name, data)


NUMBERS = [
    *(b"-1", b"0", b"nan", b"-nan", b"inf", b"1e999", b"18446744073709551615", b"99999999999999999999999999", b"-"),
    *(b"9" * 5000, b"true", b"null", b"[]", b"{}", b'""', b"\xff\xfe", b"\x1b[2J", b"\r", b"\0", b"\xe2\x80\xae"),
]


def mutated(data: bytes, dice: random.Random) -> bytes:
    for _ in range(dice.randint(1, 6)):
        at, length = dice.randrange(len(data) + 1), dice.choice([0, 1, 1, 2, 5, 40, 400])
        match dice.randrange(6):
            case 0:
                data = data[:at] + data[at + length :]
            case 1:
                data = data[:at] + dice.choice(NUMBERS) + data[at + length :]
            case 2:
                data = data[:at] + data[at : at + length] * dice.randint(2, 20) + data[at + length :]
            case 3:
                data = data[:at]
            case 4:
                lines = data.split(b"\n")
                dice.shuffle(lines)
                data = b"\n".join(lines)
            case _:
                # A number becomes another one.
                digits = [place for place in range(len(data)) if data[place : place + 1].isdigit()]
                if digits:
                    place = dice.choice(digits)
                    data = data[:place] + dice.choice(NUMBERS) + data[place + 1 :]
    return data


def damaged(name: str, seed: int) -> None:
    dice = random.Random(seed)  # noqa: S311 - which damage, not a secret
    survives(name, mutated(dice.choice(PARSERS[name][1]), dice))


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(min_value=0, max_value=2**32))
def test_captured_text_that_was_damaged(name: str, seed: int) -> None:
    damaged(name, seed)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_captured_text_that_was_damaged_in_many_ways(name: str) -> None:
    for seed in range(2000):
        damaged(name, seed)


UNITS = [
    *(
        b"[",
        b"{",
        b'{"a":',
        b"(",
        b" ",
        b"\t",
        b"\n",
        b"0",
        b"9 ",
        b"a",
        b"a:",
        b": ",
        b",",
        b"-",
        b"\\x",
        b"/",
        b"//:",
    ),
    *(b"[  5]", b"cpu", b"* ", b"\x1b[", b".", b"{}\n", b"[]\n", b"Wiphy a\n", b"64 bytes from ", b"tid ac "),
    *(
        b"qdisc a 0:\n",
        b'"',
        b"a=",
        b"Station ",
        b"= 1, ",
        b"1.0 ",
        b": - ",
        b"PING ",
        b"=1 ",
        b"nuttcp -r ",
        b"Driver ",
    ),
]


@pytest.mark.parametrize("name", NAMES)
def test_long_repetitions_take_linear_time(name: str) -> None:
    """20 kB each: what is quadratic takes tens of seconds."""
    started = time.process_time()
    for unit in UNITS:
        survives(name, PARSERS[name][1][0][:60] + unit * (20_000 // len(unit)))
    assert time.process_time() - started < 20


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_very_long_repetitions_take_linear_time(name: str) -> None:
    for unit in UNITS:
        for start in (b"", PARSERS[name][1][0][:60]):
            survives(name, start + unit * (300_000 // len(unit)), seconds=10)


def test_text_beyond_the_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(FormatError, match="more than 1 MiB of text, refused"):
        reading.text_of("x" * (2**20 + 1), "it", limit_bytes=2**20)
    monkeypatch.setattr(reading, "JSON_LIMIT_BYTES", 2**20)
    with pytest.raises(FormatError, match="of JSON, refused"):
        list(reading.json_documents("{" * (2**20 + 1), "it"))


def test_deep_json_is_refused() -> None:
    with pytest.raises(FormatError, match="nested too deeply"):
        iperf3.parse('{"start":' + "[" * 100_000)


@given(octets=st.binary(max_size=32))
def test_every_ssid_survives_iws_escaping(octets: bytes) -> None:
    def printed_by_iw(ssid: bytes) -> str:
        shown = ""
        for index, octet in enumerate(ssid):
            inner_space = octet == 32 and 0 < index < len(ssid) - 1
            plain = (33 <= octet <= 126 and octet != ord("\\")) or inner_space
            shown += chr(octet) if plain else f"\\x{octet:02x}"
        return shown

    assert iw_ssid.unescaped_ssid(printed_by_iw(octets)) == octets

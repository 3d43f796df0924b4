"""iw 5.19 and 6.9 on mac80211_hwsim (Linux 6.12); lines of other drivers and versions as iw's sources print them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from txop.formats import iw_interface, iw_rate, iw_ssid, iw_station, iw_survey
from txop.formats.error import FormatError

Read = Callable[[str], str]
SSID = b"caf\xc3\xa9 \x1b\n\\"
"""What hostapd was told to use: UTF-8, an escape, a line feed and a backslash."""


def test_an_ssid_of_any_octets_comes_back(captured: Read) -> None:
    for name in ("5.19-info", "6.9-info-sta"):
        (interface,) = iw_interface.parse_interfaces(captured(f"iw/{name}.txt"))
        assert interface.ssid == SSID
    link = iw_interface.parse_link(captured("iw/5.19-link.txt"))
    assert link is not None
    assert link.ssid == SSID


def test_ssids_at_the_edges() -> None:
    assert iw_ssid.unescaped_ssid("") == b""
    assert iw_ssid.unescaped_ssid(r"\x20a\x20") == b" a "
    assert iw_ssid.unescaped_ssid(r"\x00" * 32) == b"\0" * 32
    assert iw_ssid.unescaped_ssid("a" * 33) is None
    assert iw_ssid.unescaped_ssid(r"\xZZ") == b"\\xZZ"


def test_interfaces(captured: Read) -> None:
    access_point = {each.name: each for each in iw_interface.parse_interfaces(captured("iw/6.9-dev-ap.txt"))}["wlan0"]
    assert (access_point.mode, access_point.phy, access_point.index) == ("AP", 0, 2)
    assert access_point.channel is not None
    assert (access_point.channel.number, access_point.channel.frequency_mhz) == (36, 5180)
    assert (access_point.channel.width_mhz, access_point.channel.center1_mhz) == (80, 5210)
    assert access_point.tx_power_dbm == 23
    assert access_point.multicast_queue is not None
    assert access_point.multicast_queue.tx_packets is not None
    station = iw_interface.parse_interfaces(captured("iw/6.9-dev-sta.txt"))
    assert [each.name for each in station] == [None, "wlan1"]
    assert station[0].mode == "P2P-device"
    monitor = {each.name: each for each in iw_interface.parse_interfaces(captured("iw/6.9-dev-monitor.txt"))}["mon0"]
    assert monitor.channel is not None
    assert (monitor.mode, monitor.channel.width_mhz, monitor.channel.ht) == ("monitor", 20, False)
    assert iw_interface.parse_interfaces("") == ()
    (info,) = iw_interface.parse_interfaces(captured("iw/6.9-info-sta.txt"))
    assert info.phy == 1


def test_a_split_channel() -> None:
    text = "Interface wlan0\n\tchannel 36 (5180 MHz), width: 80+80 MHz, center1: 5210 MHz, center2: 5775 MHz\n"
    (interface,) = iw_interface.parse_interfaces(text)
    assert interface.channel is not None
    assert (interface.channel.width_mhz, interface.channel.center2_mhz) == (160, 5775)


def test_links(captured: Read) -> None:
    assert iw_interface.parse_link(captured("iw/6.9-link-idle.txt")) is None
    old, new = (iw_interface.parse_link(captured(f"iw/{name}.txt")) for name in ("5.19-link", "6.9-link-sta"))
    assert old is not None
    assert new is not None
    assert old.bssid == new.bssid == "02:00:00:00:00:00"
    assert old.frequency_mhz == new.frequency_mhz == 5180  # "5180" and "5180.0"
    assert old.bss_flags == new.bss_flags == ("short-slot-time",)
    assert (new.signal_dbm, new.dtim_period, new.beacon_interval_tu) == (-27, 2, 100)
    assert new.rx_rate is not None
    assert old.rx_rate is not None
    assert old.rx_rate.mode == "VHT"


def test_stations_at_both_ends(captured: Read) -> None:
    (client,) = iw_station.parse(captured("iw/6.9-station-ap.txt"))
    assert (client.address, client.interface) == ("02:00:00:00:01:00", "wlan0")
    assert client.figures.tx_packets == 608
    assert client.figures.tx_rate is not None
    assert (client.figures.tx_rate.mbit_s, client.figures.tx_rate.nss) == (26.0, 4)
    assert client.figures.expected_throughput_mbit_s == 17.211
    assert client.authorized is True
    assert client.short_preamble is False
    assert client.management_frame_protection is False
    assert client.figures.airtime_weight is None
    (access_point,) = iw_station.parse(captured("iw/6.9-station-sta.txt"))
    assert access_point.figures.beacon_loss == 0
    assert access_point.figures.beacon_rx is not None
    assert access_point.figures.beacon_rx > 100
    assert access_point.figures.beacon_interval_tu == 100
    (older,) = iw_station.parse(captured("iw/5.19-station-ap.txt"))
    assert older.figures.tx_failed == 1
    assert older.figures.tx_packets == client.figures.tx_packets + 1
    assert older.associated_at_boottime_s == client.associated_at_boottime_s == 24.477


def test_counters_per_traffic_identifier(captured: Read) -> None:
    (verbose,) = iw_station.parse(captured("iw/6.9-station-ap-v.txt"))
    assert [each.tid for each in verbose.tids] == list(range(17))
    assert (verbose.tids[0].rx_msdus, verbose.tids[0].tx_msdus) == (610, 602)
    assert sum(each.tx_msdus or 0 for each in verbose.tids) == verbose.figures.tx_packets
    assert verbose.figures.beacon_interval_tu == 100  # what follows the tables is still read


IW_MULTI_LINK = """\
Station 00:11:22:33:44:55 (on wlan0)
\tauthorized:\tyes
\tinactive time:\t4 ms
\trx bytes:\t9000
\tsignal:  \t-45 [-47, -45] dBm
\texpected throughput:\t63.15Mbps
\tcurrent time:\t1795314461406 ms

\tLink 0:
\t\taddress: 00:11:22:33:44:56
\t\trx bytes:\t4000
\t\ttx retries:\t7
\t\tbeacon rx:\t120
\t\tsignal:  \t-60 dBm
\t\ttx bitrate:\t286.8 MBit/s 20MHz HE-MCS 11 HE-NSS 2 HE-GI 0 HE-DCM 0
\tLink 1:
\t\taddress: 00:11:22:33:44:57
\t\trx bytes:\t5000
\t\tlast ack signal:-51 dBm
\t\tavg ack signal:\t-52 dBm
\t\tairtime weight: 256
\t\ttx bitrate:\t2882.4 MBit/s 160MHz EHT-MCS 13 EHT-NSS 2 EHT-GI 0
"""


def test_a_paste_with_blanks_for_tabs() -> None:
    (tabs,) = iw_station.parse(IW_MULTI_LINK)
    (blanks,) = iw_station.parse(IW_MULTI_LINK.replace("\t", "        "))
    assert blanks == tabs


@pytest.mark.parametrize(
    "mask", ["xx:xx:xx:xx:xx:xx", "00:11:22:**:**:**", "[REDACTED]", "<MAC C-01>", "AA:BB:CC:DD:EE:FF"]
)
def test_a_masked_address_loses_no_figure(mask: str) -> None:
    text = IW_MULTI_LINK.replace("00:11:22:33:44:55", mask)
    (station,) = iw_station.parse(text)
    assert station.address == mask
    assert station.address_known is (mask == "AA:BB:CC:DD:EE:FF")
    assert station.figures == iw_station.parse(IW_MULTI_LINK)[0].figures


def test_what_was_sent_between_two_looks() -> None:
    text = "Station 00:11:22:33:44:55 (on wlan0)\n\ttx packets:\t{}\n\ttx retries:\t{}\n\ttx failed:\t{}\n"
    (before,), (after,) = (iw_station.parse(text.format(*each)) for each in ((100, 50, 1), (400, 150, 3)))
    sent = iw_station.sent_between(before.figures, after.figures)
    assert sent == iw_station.Sent(300, 100, 2)
    assert sent is not None
    assert sent.retry_percent == 25
    assert iw_station.sent_between(after.figures, before.figures) is None
    assert iw_station.Sent(0, 0, None).retry_percent is None


def test_a_multi_link_peer() -> None:
    (station,) = iw_station.parse(IW_MULTI_LINK)
    assert station.figures.rx_bytes == 9000
    assert station.figures.signal_per_chain_dbm == (-47, -45)
    assert station.figures.expected_throughput_mbit_s == 63.015  # kbit without leading zeros
    first, second = station.links
    assert (first.link_id, first.address, first.figures.rx_bytes) == (0, "00:11:22:33:44:56", 4000)
    assert (first.figures.tx_retries, first.figures.beacon_rx) == (7, 120)
    assert (second.figures.last_ack_signal_dbm, second.figures.ack_signal_average_dbm) == (-51, -52)
    assert second.figures.airtime_weight == 256
    assert second.figures.tx_rate is not None
    assert (second.figures.tx_rate.mode, second.figures.tx_rate.mcs, second.figures.tx_rate.width_mhz) == (
        "EHT",
        13,
        160,
    )
    assert station.figures.tx_retries is None


@pytest.mark.parametrize(
    ("printed", "mode", "mcs", "nss", "width", "guard"),
    [
        ("54.0 MBit/s", "legacy", None, None, None, None),
        ("1.0 MBit/s", "legacy", None, None, None, None),
        ("65.0 MBit/s MCS 7", "HT", 7, 1, 20, 0.8),
        ("300.0 MBit/s MCS 15 40MHz short GI", "HT", 15, 2, 40, 0.4),
        ("866.7 MBit/s VHT-MCS 9 80MHz short GI VHT-NSS 2", "VHT", 9, 2, 80, 0.4),
        ("1733.3 MBit/s VHT-MCS 9 80P80MHz short GI VHT-NSS 2", "VHT", 9, 2, 160, 0.4),
        ("1200.9 MBit/s 80MHz HE-MCS 11 HE-NSS 2 HE-GI 0 HE-DCM 0", "HE", 11, 2, 80, 0.8),
        ("144.1 MBit/s 80MHz HE-MCS 1 HE-NSS 2 HE-GI 2 HE-DCM 1", "HE", 1, 2, 80, 3.2),
        ("5764.7 MBit/s 320MHz EHT-MCS 13 EHT-NSS 2 EHT-GI 0", "EHT", 13, 2, 320, 0.8),
        ("(unknown)", None, None, None, None, None),
        ("(unknown) MCS 3", "HT", 3, 1, 20, 0.8),
    ],
)
def test_rates(
    printed: str, mode: str | None, mcs: int | None, nss: int | None, width: int | None, guard: float | None
) -> None:
    rate = iw_rate.parse_rate(printed)
    assert rate is not None
    assert (rate.mode, rate.mcs, rate.nss, rate.width_mhz, rate.guard_interval_us) == (mode, mcs, nss, width, guard)
    assert rate.printed == printed
    if not printed.startswith("(unknown)"):
        assert rate.mbit_s == float(printed.split()[0])


def test_dual_carrier_and_resource_units() -> None:
    rate = iw_rate.parse_rate("8.6 MBit/s HE-MCS 0 HE-NSS 1 HE-GI 1 HE-DCM 1 HE-RU-ALLOC 2")
    assert rate is not None
    assert (rate.dual_carrier, rate.ru_allocation, rate.guard_interval_us) == (True, 2, 1.6)
    assert iw_rate.parse_rate("nonsense") is None


def test_survey(captured: Read) -> None:
    for name in ("5.19-survey", "6.9-survey-ap", "6.9-survey-sta"):
        channels = iw_survey.parse(captured(f"iw/{name}.txt"))
        assert channels
        assert all(channel.noise_dbm == -92 for channel in channels)
        assert all(channel.receive_ms is None for channel in channels)
    text = (
        "Survey data from wlan0\n\tfrequency:\t\t\t2437 MHz [in use]\n\tnoise:\t\t\t\t-95 dBm\n"
        "\tchannel active time:\t\t{} ms\n\tchannel busy time:\t\t{} ms\n\textension channel busy time:\t9 ms\n"
        "\tchannel receive time:\t\t{} ms\n\tchannel transmit time:\t\t{} ms\n"
    )
    (before,) = iw_survey.parse(text.format(1000, 400, 100, 50))
    (after,) = iw_survey.parse(text.format(3000, 1400, 600, 250))
    assert before.in_use
    use = iw_survey.channel_use(before, after)
    assert use is not None
    assert (use.active_ms, use.busy_share, use.receive_share, use.transmit_share) == (2000, 0.5, 0.25, 0.1)
    assert iw_survey.channel_use(after, before) is None
    assert iw_survey.channel_use(before, before) is None
    assert iw_survey.parse("") == ()


@pytest.mark.parametrize(
    "parse",
    [iw_interface.parse_interfaces, iw_interface.parse_link, iw_station.parse, iw_survey.parse],
)  # fmt: skip
def test_iws_own_errors_are_reported(parse: Callable[[str], object], captured: Read) -> None:
    with pytest.raises(FormatError, match=r"iw failed: No such device \(-19\)"):
        parse(captured("iw/6.9-nodev.txt"))
    with pytest.raises(FormatError, match="nl80211 not found"):
        parse("nl80211 not found.\n")
    with pytest.raises(FormatError, match="expected; it starts with"):
        parse("bash: iw: command not found\n")

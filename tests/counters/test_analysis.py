"""From pasted text to figures and findings. The figures are worked out by hand beside the specimens."""

from __future__ import annotations

import pytest

import counter_specimens as specimens
from txop.counters import CountersReport, analyse, split
from txop.counters.report import Figure, Finding


def report(after: str, before: str | None = None) -> CountersReport:
    earlier = split("before", before.split("\n")) if before is not None else None
    return analyse(earlier, split("after", after.split("\n")))


def figures(found: CountersReport, kind: str) -> dict[str, Figure]:
    return {each.code: each for each in found.figures if each.subject.kind == kind and each.name is None}


def codes(findings: list[Finding]) -> list[str]:
    return [each.code for each in findings]


def one(findings: list[Finding], code: str) -> Finding:
    (found,) = [each for each in findings if each.code == code]
    return found


def test_a_peer_between_two_readings() -> None:
    found = report(specimens.STATION_AFTER, specimens.STATION_BEFORE)
    of = figures(found, "iw-station")
    assert (of["tx-packets"].value, of["tx-retries"].value, of["tx-failed"].value) == (100_000, 100_000, 2_000)
    assert (of["tx-retry-percent"].value, of["tx-retry-percent"].n) == (50, 200_000)
    assert (of["tx-failed-percent"].value, of["tx-failed-percent"].n) == (2, 100_000)
    assert of["tx-mbit-s"].value == 50
    assert of["rx-mbit-s"].value == pytest.approx(1.6)
    assert of["tx-airtime-percent"].value == 40
    assert of["beacon-rx-percent"].value == pytest.approx(195 / (20 / 0.1024) * 100)
    assert {each.window for code, each in of.items() if code in ("tx-packets", "tx-retry-percent")} == {"difference"}
    assert of["signal-dbm"].window == "now"
    (pairing,) = found.pairings
    assert (pairing.seconds, pairing.unpaired) == (20, None)
    assert found.implausible == []
    retries = one(found.conclusions, "retries-many")
    assert (retries.fields["retry_percent"], retries.fields["signal_strong"]) == (50, True)
    lost = one(found.conclusions, "frames-lost")
    assert (lost.fields["failed"], lost.fields["packets"]) == (2_000, 100_000)


def test_a_peer_read_once() -> None:
    found = report(specimens.STATION_BEFORE)
    of = figures(found, "iw-station")
    assert of["tx-retry-percent"].value == pytest.approx(100 * 3_000 / 33_000)
    assert of["tx-retry-percent"].window == "since-connected"
    assert "tx-mbit-s" not in of
    assert found.conclusions == []


def test_two_readings_in_one_file() -> None:
    text = f"before:\n{specimens.STATION_BEFORE}\nafter iperf:\n{specimens.STATION_AFTER}"
    assert figures(report(text), "iw-station")["tx-packets"].value == 100_000
    directly = specimens.STATION_BEFORE + specimens.STATION_AFTER
    assert figures(report(directly), "iw-station")["tx-packets"].value == 100_000


def test_peers_with_one_mask_are_not_taken_for_each_other() -> None:
    masked = specimens.station(address="xx:xx:xx:xx:xx:xx")
    other = specimens.station(address="xx:xx:xx:xx:xx:xx", tx_packets=90_000)
    found = report(masked + other)
    assert [each.unpaired for each in found.pairings] == ["not-named", "not-named"]
    assert [each.value for each in found.figures if each.code == "tx-packets"] == [30_000, 90_000]
    found = report(masked + other, masked + other)
    assert [each.unpaired for each in found.pairings] == ["not-named", "not-named"]
    alone = report(specimens.STATION_AFTER.replace("02:00:00:aa:bb:01", "<MAC C-01>"),
                   specimens.STATION_BEFORE.replace("02:00:00:aa:bb:01", "<MAC C-01>"))  # fmt: skip
    assert figures(alone, "iw-station")["tx-packets"].value == 100_000


def test_a_channel_of_others() -> None:
    found = report(specimens.SURVEY_AFTER, specimens.SURVEY_BEFORE)
    used = {each.code: each for each in found.figures if each.subject.frequency_mhz == 5180}
    assert used["channel-active"].value == 20_000
    assert [used[f"channel-{name}-percent"].value for name in ("busy", "rx", "tx")] == [83, 6, 6]
    conclusion = one(found.conclusions, "channel-of-others")
    assert (conclusion.fields["busy_percent"], conclusion.fields["own_percent"]) == (83, 12)
    assert conclusion.fields["own_at_most"] is True  # reception is that of any network
    assert codes(found.conclusions) == ["channel-of-others"]
    unused = [each for each in found.figures if each.subject.frequency_mhz == 2412]
    assert codes(found.implausible) == []
    assert [each.code for each in unused] == ["noise-dbm"]


OWN = "channel BSS receive time:\t{} ms\n"


@pytest.mark.parametrize(
    ("receive", "transmit", "own", "code"),
    [
        (21_200, 11_200, None, "channel-of-others"),
        (32_000, 11_200, None, "channel-busy"),  # reception may be the own network's
        (32_000, 11_200, 1_000, "channel-of-others"),  # it is not
        (24_000, 18_000, 4_000, "channel-of-own"),  # 8 s and 4 s of 16.6
        (21_200, 10_000, None, "channel-busy"),  # 0 ms sent: perhaps not counted
    ],
)
def test_whose_use_of_the_channel_it_was(receive: int, transmit: int, own: int | None, code: str) -> None:
    before = specimens.SURVEY_BEFORE + (f"\t{OWN.format(0)}" if own is not None else "")
    after = specimens.SURVEY.format(active=120_000, busy=56_600, receive=receive, transmit=transmit)
    after += f"\t{OWN.format(own)}" if own is not None else ""
    assert codes(report(after, before).conclusions) == [code]


def test_times_that_cannot_be() -> None:
    over = specimens.SURVEY.format(active=120_000, busy=90_000, receive=21_200, transmit=11_200)
    found = report(over, specimens.SURVEY_BEFORE)
    doubt = one(found.implausible, "over-active")
    assert (doubt.fields["counter"], doubt.fields["ms"], doubt.fields["active_ms"]) == ("busy_ms", 50_000, 20_000)
    assert codes(found.conclusions) == []
    sent = specimens.SURVEY.format(active=120_000, busy=52_000, receive=21_200, transmit=25_000)
    found = report(sent, specimens.SURVEY_BEFORE)
    assert codes(found.implausible) == ["transmit-over-busy"]
    assert codes(found.conclusions) == ["channel-busy"]


def test_rate_control_overshoots() -> None:
    found = report(specimens.RATES_AFTER, specimens.RATES_NEW)
    conclusion = one(found.conclusions, "rate-overshoots")
    assert (conclusion.fields["rate"], conclusion.fields["attempts"]) == ("VHT80 LGI MCS8/2", 10_000)
    assert conclusion.fields["failed_percent"] == 68
    assert conclusion.fields["better_rate"] == "VHT80 LGI MCS5/2"
    # 0.98 of 128 us against 0.32 of 90 us
    assert conclusion.fields["better_by_percent"] == pytest.approx(100 * (0.98 / 128 / (0.32 / 90) - 1))
    rates = {(each.code, each.name): each for each in found.figures if each.code.startswith("rate-")}
    assert rates["rate-failed-percent", "VHT80 LGI MCS5/2"].value == 2
    assert rates["rate-share-percent", "VHT80 LGI MCS8/2"].value == pytest.approx(100 * 10_000 / 15_000)
    assert ("rate-attempts", "CCK LP 1.0M") not in rates


def test_a_fast_rate_that_fails_and_still_carries_more_is_no_overshoot() -> None:
    # 0.45 of 40 us is more than 0.98 of 128 us
    before = specimens.RATES_NEW.replace("     90    88.3", "     40    88.3")
    after = specimens.RATES_AFTER.replace("     90    88.3", "     40    88.3").replace(
        "87200   160000", "88500   160000"
    )
    found = report(after, before)
    conclusion = one(found.conclusions, "rate-fails")
    assert conclusion.fields["failed_percent"] == 55


@pytest.mark.parametrize(("attempts", "successes"), [(160_000, 89_100), (150_400, 84_100)])
def test_few_attempts_or_half_of_them_conclude_nothing(attempts: int, successes: int) -> None:
    after = specimens.RATES_AFTER.replace("87200   160000", f"{successes}   {attempts}")
    assert report(after, specimens.RATES_NEW).conclusions == []


def test_rates_read_once_do_not_overshoot() -> None:
    assert codes(report(specimens.RATES_NEW.replace("84000 ", "34000 ")).conclusions) == ["rate-fails"]


def test_two_unnamed_tables_in_one_file_are_two_peers() -> None:
    found = report(specimens.RATES_NEW + specimens.RATES_AFTER)
    assert [each.unpaired for each in found.pairings] == ["not-named", "not-named"]
    path = "$ cat /sys/kernel/debug/ieee80211/phy0/netdev:wlan0/stations/02:00:00:aa:bb:01/rc_stats\n"
    named = report(path + specimens.RATES_NEW + path + specimens.RATES_AFTER)
    (pairing,) = named.pairings
    assert (pairing.unpaired, pairing.subject.station) == (None, "02:00:00:aa:bb:01")
    assert codes(named.conclusions) == ["rate-overshoots"]
    glob = path.replace("02:00:00:aa:bb:01", "*")
    assert len(report(glob + specimens.RATES_NEW + glob + specimens.RATES_AFTER).pairings) == 2


def test_sums_that_cannot_be() -> None:
    found = report(specimens.RATES_NEW.replace("84000   150000", "184000   150000"))
    assert one(found.implausible, "successes-over-attempts").fields["rate"] == "VHT80 LGI MCS8/2"
    assert found.figures == []
    again = report(specimens.RATES_NEW, specimens.RATES_AFTER)
    assert codes(again.implausible) == ["table-started-again"]
    assert figures(again, "rc-stats")["attempts-failed-percent"].window == "since-connected"


def test_statistics_of_mac80211() -> None:
    found = report(specimens.ETHTOOL_AFTER, specimens.ETHTOOL_BEFORE)
    of = figures(found, "ethtool")
    assert (of["tx-packets"].value, of["tx-retries"].value, of["tx-failed"].value) == (3_000, 1_000, 6)
    assert (of["tx-retry-percent"].value, of["tx-retry-percent"].n) == (25, 4_000)
    assert of["tx-failed-percent"].value == pytest.approx(0.2)
    assert (of["signal-average-dbm"].value, of["noise-dbm"].value) == (-57, -95)
    assert (of["channel-busy-percent"].value, of["channel-busy-percent"].n) == (25, 10_000)
    assert "channel-tx-percent" not in of  # all ones: not counted
    assert {each.name: each.value for each in found.figures if each.code == "counter"} == {"d_tx_ampdu_retries_BE": 83}


def test_the_other_forms() -> None:
    later = specimens.WIRELESS.replace(" 31      7", " 40      9")
    of = figures(report(later, specimens.WIRELESS), "proc-net-wireless")
    assert (of["wext-retry"].subject.interface, of["wext-beacon"].value) == ("wlp2s0", 0)
    found = report(later, specimens.WIRELESS)
    steps = {(each.subject.interface, each.code): each.value for each in found.figures}
    assert (steps["wlan0", "wext-retry"], steps["wlan0", "wext-misc"]) == (9, 2)
    assert steps["wlan0", "wext-level-dbm"] == -62
    of = figures(report(specimens.XMIT), "ath9k-xmit")
    assert (of["subframes-retried-percent"].n, of["subframes-lost"].value) == (10_100, 12)
    assert of["subframes-retried-percent"].value == pytest.approx(100 * 2_000 / 10_100)
    of = figures(report(specimens.TX_STATS), "mt76-tx-stats")
    assert (of["ampdu-count"].value, of["ampdu-single-percent"].value, of["block-ack-miss-percent"].value) == (
        10_000,
        60,
        2.5,
    )


STATION_FOLDER = "# cat /sys/kernel/debug/ieee80211/phy0/netdev:wlan0/stations/02:00:00:aa:bb:01/"


def test_the_queues_of_a_peer() -> None:
    before = f"{STATION_FOLDER}airtime\n{specimens.AIRTIME}{STATION_FOLDER}aqm\n{specimens.AQM}"
    later = before.replace("TX: 9000000", "TX: 9750000").replace("3 20 40 6 1 0 123456 960", "7 25 140 7 1 0 1 2860")
    found = report(f"{later}{STATION_FOLDER}aql\n{specimens.AQL}", before)
    assert found.implausible == []
    of = figures(found, "mac80211-airtime")
    assert (of["airtime-tx"].value, of["airtime-rx"].value, of["airtime-tx"].window) == (750, 0, "difference")
    assert (of["airtime-tx"].subject.interface, of["airtime-tx"].subject.station) == ("wlan0", "02:00:00:aa:bb:01")
    of = figures(found, "mac80211-aqm")
    assert {code: of[code].value for code in ("queue-packets", "queue-drops", "queue-marks", "queue-over-limit")} == {
        "queue-packets": 1_900,
        "queue-drops": 100,
        "queue-marks": 1,
        "queue-over-limit": 0,
    }
    assert (of["queue-drops-percent"].value, of["queue-drops-percent"].n) == (5, 2_000)
    assert (of["queue-backlog"].value, of["queue-backlog"].window) == (8, "now")
    waits = {each.name: each.value for each in found.figures if each.code == "aql-pending"}
    limits = {each.name: each.value for each in found.figures if each.code == "aql-limit"}
    assert (waits["BE"], limits["BE"], set(waits)) == (4.3, 12, {"VO", "VI", "BE", "BK"})


def test_queues_read_once_and_queues_that_began_again() -> None:
    of = figures(report(specimens.AQM), "mac80211-aqm")
    assert (of["queue-packets"].value, of["queue-drops"].value, of["queue-drops"].window) == (
        1_000,
        50,
        "since-connected",
    )
    found = report(specimens.AQM.replace("123456 960", "123456 90"), specimens.AQM)
    assert codes(found.implausible) == ["went-back"]
    assert "queue-packets" not in figures(found, "mac80211-aqm")
    assert "queue-drops-percent" not in figures(found, "mac80211-aqm")
    head = "".join(specimens.AQM.splitlines(keepends=True)[:2])
    assert (len(report(head).pairings), report(head).figures) == (1, [])
    none = specimens.AIRTIME.replace("2000000", "0").replace("9000000", "0")
    assert (len(report(none).pairings), report(none).figures, report(none, none).implausible[1:]) == (1, [], [])
    below = report(specimens.AQL.replace("BE: 4300", "BE: -4300"))
    assert one(below.implausible, "pending-below-zero").fields["us"] == -4_300
    assert "BE" not in {each.name for each in below.figures if each.code == "aql-pending"}


def test_the_firmware_of_ath10k() -> None:
    command = "# cat /sys/kernel/debug/ieee80211/phy0/ath10k/fw_stats\n"
    later = specimens.FW_STATS.replace(" 7000", " 9000").replace(" 350", " 450").replace("       1500", "       1600")
    later = later.replace("1904000000", "3000000").replace("PHY error count         70", "PHY error count         75")
    found = report(command + later, command + specimens.FW_STATS)
    of = figures(found, "ath10k-fw-stats")
    assert found.implausible == []
    assert (of["firmware-mpdus"].value, of["firmware-mpdus-again"].value) == (2_000, 100)
    assert (of["firmware-mpdu-errors"].value, of["firmware-dropped"].value, of["noise-dbm"].value) == (100, 0, -104)
    assert of["firmware-mpdus"].subject.interface == "phy0"
    assert {each.name: each.value for each in found.figures if each.code == "counter"} == {"PHY error count": 5}
    once = report(specimens.FW_STATS)
    names = {each.name for each in once.figures if each.code == "counter"}
    assert names == {"PHY error count", "PHY underrun", "MPDUs delivered to HTT"}, "no level, no peer, no cycle count"


def test_drivers_that_count_no_retries() -> None:
    found = report(specimens.RTL8XXXU)
    assert codes(found.implausible) == ["retries-never-counted"]
    assert figures(found, "iw-station")["tx-retry-percent"].value is None
    named = report(specimens.DRIVER.format(name="rtl8xxxu") + specimens.RTL8XXXU.replace("90000", "500"))
    assert named.driver == "rtl8xxxu"
    assert codes(named.implausible) == ["driver-counts-no-retries"]
    (meaning,) = [each for each in named.meanings if each.code == "tx-failed"]
    assert "rtl8xxxu" in meaning.source


def test_levels_and_rates_of_0() -> None:
    found = report(specimens.BRCMFMAC)
    assert codes(found.implausible) == ["signal-not-known", "rate-zero"]
    of = figures(found, "iw-station")
    assert not {"signal-dbm", "rx-rate", "tx-retry-percent", "tx-retries"} & set(of)
    assert of["tx-failed-percent"].n == 900
    unknown = report(specimens.BRCMFMAC.replace("0 dBm", "-256 dBm"))
    assert one(unknown.implausible, "signal-not-known").fields["dbm"] == -256


def test_an_antenna_and_beacons() -> None:
    found = report(specimens.IWLWIFI)
    assert codes(found.conclusions) == ["antenna-weak", "beacons-lost"]
    antenna = one(found.conclusions, "antenna-weak").fields
    assert (antenna["strongest_dbm"], antenna["weakest_dbm"]) == (-60, -82)
    assert report(specimens.IWLWIFI.replace("-82]", "-128]").replace("loss:\t4", "loss:\t0")).conclusions == []


def test_rare_beacon_losses_are_nothing_unusual() -> None:
    text = specimens.station(beacon_loss=4, connected=90_000)
    assert report(text).conclusions == []
    assert codes(report(specimens.station(beacon_loss=4, connected=9_000)).conclusions) == ["beacons-lost"]


def test_two_radios_in_one_output_are_two() -> None:
    command = "# cat /sys/kernel/debug/ieee80211/phy0/mt76/tx_stats\n"
    both = specimens.TX_STATS + specimens.TX_STATS.replace("6000", "9000")
    assert [each.unpaired for each in report(command + both).pairings] == ["one-reading", "not-named"]
    later = specimens.TX_STATS.replace("6000", "6500").replace("250", "260")
    found = report(command + later, command + specimens.TX_STATS)
    of = figures(found, "mt76-tx-stats")
    assert (of["ampdu-count"].value, of["ampdu-single-percent"].value, of["block-ack-miss-percent"].value) == (
        500,
        100,
        2,
    )
    assert of["ampdu-count"].subject.interface == "phy0"


def test_counters_that_went_back() -> None:
    swapped = report(specimens.ETHTOOL_BEFORE, specimens.ETHTOOL_AFTER)
    assert set(codes(swapped.implausible)) == {"went-back"}
    assert "tx-retry-percent" not in figures(swapped, "ethtool")
    again = report(specimens.STATION_BEFORE, specimens.STATION_AFTER)
    assert codes(again.implausible) == ["reconnected"]
    assert figures(again, "iw-station")["tx-packets"].window == "since-connected"
    time = "\tcurrent time:\t{} ms\n"
    older = report(specimens.STATION_BEFORE + time.format(5_000), specimens.STATION_AFTER + time.format(9_000))
    assert codes(older.implausible) == ["files-swapped"]


def test_a_counter_of_32_bits_that_started_again() -> None:
    found = report(specimens.station(connected=120), specimens.station(tx_packets=2**32 - 5))
    assert one(found.implausible, "wrapped").fields["counter"] == "tx_packets"
    assert "tx-packets" not in figures(found, "iw-station")
    wide = report(specimens.station(connected=120, tx_bytes=7), specimens.station(tx_bytes=2**32 - 5))
    assert codes(wide.implausible) == ["went-back"]


def test_more_retries_than_can_be() -> None:
    found = report(specimens.station(tx_packets=100, tx_retries=12_401))
    assert one(found.implausible, "retries-over-limit").fields["most"] == 124
    assert figures(found, "iw-station")["tx-retry-percent"].value is None


def test_losses_that_are_none() -> None:
    before = specimens.station(tx_failed=29_900, tx_retries=29_700)
    after = specimens.station(connected=110, tx_packets=39_000, tx_failed=38_800, tx_retries=38_500)
    found = report(after, before)
    assert one(found.implausible, "failed-over-retries").fields["failed"] == 8_900
    assert found.conclusions == []
    assert "tx-failed-percent" not in figures(found, "iw-station")


def test_levels_of_a_driver_without_dbm() -> None:
    text = specimens.station().replace("signal:  \t-57 [-58, -60]", "signal:  \t59 [59, 56]").replace("-57", "-85")
    found = report(text)
    assert one(found.implausible, "signal-not-known").fields["dbm"] == 59
    assert found.conclusions == []
    assert "signal-average-dbm" not in figures(found, "iw-station")


def test_the_same_file_twice() -> None:
    text = specimens.STATION_BEFORE + specimens.SURVEY_BEFORE
    found = report(text, text)
    assert codes(found.implausible) == ["identical-files"]
    assert found.conclusions == []


def test_other_counters_are_not_compared() -> None:
    other = specimens.ETHTOOL_BEFORE.replace("d_rx_crc_err", "d_rx_phy_err")
    (pairing,) = report(specimens.ETHTOOL_AFTER, other).pairings
    assert pairing.unpaired == "other-counters"


def test_every_finding_has_words() -> None:
    texts = [
        (specimens.STATION_AFTER, specimens.STATION_BEFORE),
        (specimens.SURVEY_AFTER, specimens.SURVEY_BEFORE),
        (specimens.RATES_AFTER, specimens.RATES_NEW),
        (specimens.IWLWIFI + specimens.BRCMFMAC + specimens.RTL8XXXU, None),
    ]
    for after, before in texts:
        found = report(after, before)
        assert found.conclusions or found.implausible
        for each in [*found.conclusions, *found.implausible]:
            assert each.text.endswith(".")
            assert "None" not in each.text

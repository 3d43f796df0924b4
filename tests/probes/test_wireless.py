"""Figures and gates of the wireless driver, from what a real iw printed, altered where the test needs it."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fake_target import FakeTarget
from instrument_bench import CAPTURED, UPTIME_S, carry_out, context_of, facts_of, gate_states, make_plan, values
from txop.measure.instrument import Reading
from txop.measure.probes.sent_account import OF_ACCESS_POINT
from txop.measure.probes.wireless import Wireless
from txop.measure.probes.wireless_reading import read_wireless
from txop.targets.prefix import PrefixTarget

IW = CAPTURED / "iw"
INFO = (IW / "6.9-info-sta.txt").read_text()
LINK = (IW / "6.9-link-sta.txt").read_text()
STATION = (IW / "6.9-station-sta.txt").read_text()
AP_INFO = INFO.replace("type managed", "type AP")
AP_STATION = (IW / "6.9-station-ap.txt").read_text()
NOT_WIRELESS = (IW / "6.9-nodev.txt").read_text()
BSSID = "02:00:00:00:00:00"
ANOTHER = "02:00:00:00:09:09"
SURVEY = "Survey data from wlan1\n\tfrequency:\t5180 MHz [in use]\n\tchannel active time:\t{active} ms\n\tchannel busy time:\t{busy} ms\n"  # noqa: E501


def station(text: str = STATION, **fields: object) -> str:
    """A station dump with other values: ``tx_retries=5``; ``None`` takes the line out."""
    for key, value in fields.items():
        pattern = rf"^\t{key.replace('_', ' ')}:.*\n"
        assert re.search(pattern, text, re.MULTILINE), key
        line = "" if value is None else f"\t{key.replace('_', ' ')}:\t{value}\n"
        text = re.sub(pattern, line, text, flags=re.MULTILINE)
    return text


def look(at_s: float, *, info: str = INFO, link: str = LINK, peers: str = STATION, **more: str) -> str:
    """One turn of the loop, ``at_s`` seconds into the window."""
    text = f"@@ {UPTIME_S + 10 + at_s:.2f}\n@/iw/info\n{info}@/iw/link\n{link}@/iw/station\n{peers}"
    return text + "".join(f"@/{path}\n{content}" for path, content in more.items())


def read(folder: Path, looks: list[str], test: str | None = None, target: str = "dut", **options: bool) -> Reading:
    (folder / f"wireless-{target}.json").write_text(json.dumps({"interface": "wlan1", "missing": None}))
    # the last sample of a file may have been cut and is left out, so one more ends it
    (folder / f"wireless-{target}.txt").write_text("".join(looks) + "@@ 99999.00\n")
    plan = make_plan() if test is None else make_plan(test)
    return read_wireless(facts_of(plan, folder), target, **options)


def steady(n: int = 30, **changed: str) -> list[str]:
    return [look(t, peers=station(connected_time=f"{100 + t} seconds"), **changed) for t in range(-5, n + 1)]


def test_retries_signal_and_rates_over_the_window(tmp_path):
    looks = [
        look(
            t,
            peers=station(
                tx_packets=1000 + 95 * (t + 5),
                tx_retries=200 + 5 * (t + 5),
                signal=f"{-60 - (t % 2)} [-63, -63] dBm",
                tx_bitrate="65.0 MBit/s MCS 7" if t < 15 else "39.0 MBit/s MCS 4",
                connected_time=f"{100 + t} seconds",
            ),
        )
        for t in range(-5, 30)
    ]
    reading = read(tmp_path, looks)
    got = values(reading)
    assert got["retry_percent"] == pytest.approx(5.0)
    assert got["signal_dbm"] == pytest.approx(-60.5, abs=0.05)
    assert got["tx_bitrate_mbit_s"] == pytest.approx(52.0)
    assert got["rx_bitrate_mbit_s"] == 26.0
    assert gate_states(reading) == {"association-lost": "ok", "channel-changed": "ok"}
    assert [percent for _, percent in reading.series["retry_percent"]] == [pytest.approx(5.0)] * 34
    assert reading.series["signal_dbm"][0] == (-5.0, -61.0)
    about = reading.provenance["dut"]["wireless"]
    assert about["bssid"] == BSSID
    assert (about["channel"], about["width_mhz"], about["mode"]) == (36, 80, "managed")
    assert "\x1b" not in about["ssid"]


def test_busy_share_from_the_surveys_within_the_window(tmp_path):
    looks = [
        look(t, **({"iw/survey": SURVEY.format(active=1000 * (t + 5), busy=240 * (t + 5))} if t % 5 == 0 else {}))
        for t in range(-5, 30)
    ]
    reading = read(tmp_path, looks)
    assert values(reading)["channel_busy_percent"] == pytest.approx(24.0)
    assert [t for t, _ in reading.series["channel_busy_percent"]] == [-2.5, 2.5, 7.5, 12.5, 17.5, 22.5]


@pytest.mark.parametrize(
    ("first", "last", "reason"),
    [
        ({"tx_retries": None}, {"tx_retries": None}, "the driver does not count retries"),
        ({"tx_retries": 500}, {"tx_retries": 3}, "the driver's counters went back"),
        ({}, {}, "nothing was sent"),
    ],
)
def test_retries_that_cannot_be_told_are_not_zero(tmp_path, first, last, reason):
    reading = read(tmp_path, [look(1, peers=station(**first)), look(2), look(20, peers=station(**last))])
    assert reading.metrics["retry_percent"].value is None
    assert reading.metrics["retry_percent"].reason == reason


def test_a_driver_that_counts_no_retries_in_many_packets_is_named(tmp_path):
    reading = read(tmp_path, [look(1, peers=station(tx_packets=0)), look(20, peers=station(tx_packets=50_000))])
    assert reading.metrics["retry_percent"].value is None
    assert "no retry in 50000 packets" in (reading.metrics["retry_percent"].reason or "")
    assert "retry_percent" not in reading.series


def test_levels_and_rates_of_0_are_not_reported(tmp_path):
    peers = station(signal="0 dBm", signal_avg="0 dBm", rx_bitrate="0.0 MBit/s")
    reading = read(tmp_path, [look(1, peers=peers), look(20, peers=peers)])
    for key in ("signal_dbm", "rx_bitrate_mbit_s"):
        assert (reading.metrics[key].value, reading.metrics[key].reason) == (None, "the driver does not report it")
        assert key not in reading.series


@pytest.mark.parametrize(
    ("after", "words"),
    [
        ({"link": "Not connected.\n"}, "not associated +12 s"),
        ({"link": LINK.replace(BSSID, ANOTHER)}, f"it moved from {BSSID} to {ANOTHER} +12 s"),
        ({"peers": station(connected_time="2 seconds")}, "it associated again +12 s"),
    ],
)
def test_a_lost_association_voids_the_run(tmp_path, after, words):
    looks = [*steady(11), look(12, **after), look(13, peers=station(connected_time="300 seconds"))]
    finding = next(f for f in read(tmp_path, looks).gates if f.gate == "association-lost")
    assert (finding.state, finding.target) == ("void", "dut")
    assert words in finding.words


def test_what_was_before_the_load_does_not_count(tmp_path):
    looks = [look(-8, link="Not connected.\n", peers=""), *steady(), look(31, link="Not connected.\n", peers="")]
    assert gate_states(read(tmp_path, looks))["association-lost"] == "ok"


def test_a_soak_goes_on_without_association_and_a_module_cycle_expects_it(tmp_path):
    looks = [*steady(11), look(12, link="Not connected.\n", peers="")]
    soak = read(tmp_path, looks, '[[test]]\nname = "s"\nkind = "soak"\nduration_s = 30\n')
    assert gate_states(soak)["association-lost"] == "not available"
    assert any("not associated +12 s" in warning for warning in soak.warnings)
    cycle = read(tmp_path, looks, '[[test]]\nname = "c"\nkind = "module-cycle"\nduration_s = 30\n')
    assert "association-lost" not in gate_states(cycle)


@pytest.mark.parametrize(
    "changed",
    [
        "channel 40 (5200 MHz), width: 80 MHz, center1: 5210 MHz",
        "channel 36 (5180 MHz), width: 40 MHz, center1: 5190 MHz",
    ],
)
def test_another_channel_or_width_voids_the_run(tmp_path, changed):
    looks = [*steady(11), look(12, info=re.sub(r"channel 36.*", changed, INFO))]
    finding = next(f for f in read(tmp_path, looks).gates if f.gate == "channel-changed")
    assert finding.state == "void"
    assert "channel 36 (5180 MHz, 80 MHz wide around 5210 MHz)" in finding.words


def two_stations(t: int, **of_second: object) -> str:
    first = station(AP_STATION, tx_bytes=10**6 * (t + 5), connected_time=f"{100 + t} seconds")
    second = first.replace("02:00:00:00:01:00", "02:00:00:00:02:00")
    return first + station(second, **of_second) if of_second.pop("there", True) else first


def airtime(t: int, factor: int) -> str:
    text = "RX: {} us\nTX: {} us\nWeight: 256\nVirt-T: VO: 0 us VI: 0 us BE: 0 us BK: 0 us\n"
    return text.format(1000 * t, 9000 * t * factor)


def test_an_access_point_knows_the_airtime_of_its_stations(tmp_path):
    folder = "sys/kernel/debug/ieee80211/phy0/netdev:wlan0/stations"
    looks = [
        look(
            t,
            info=AP_INFO,
            link="Not connected.\n",
            peers=two_stations(t),
            **{
                f"{folder}/02:00:00:00:01:00/airtime": airtime(t, 1),
                f"{folder}/02:00:00:00:02:00/airtime": airtime(t, 3),
                # What a station's radio on the same machine, as in a guest, says of the access point.
                f"{folder.replace('phy0', 'phy1')}/00:0c:43:76:10:01/airtime": airtime(t, 40),
            },
        )
        for t in range(31)
    ]
    reading = read(tmp_path, looks)
    # 10 and 28 ms per s: (10 + 28)^2 / (2 (10^2 + 28^2))
    assert values(reading)["airtime_jain_index"] == pytest.approx(38**2 / (2 * (10**2 + 28**2)))
    assert reading.metrics["airtime_jain_index"].source == "mac80211 debugfs"
    assert reading.metrics["signal_dbm"].reason == "there are several peers"
    assert gate_states(reading)["association-lost"] == "ok"


def test_stations_on_machines_have_their_airtime_by_their_own_addresses(tmp_path):
    """The access point is the peer; each station is a machine that shows its own address."""
    folder = "sys/kernel/debug/ieee80211/phy0/netdev:wlan0/stations"
    looks = [
        look(t, info=AP_INFO, link="Not connected.\n", peers=two_stations(t),
             **{f"{folder}/02:00:00:00:0{n}:00/airtime": airtime(t, factor) for n, factor in ((1, 1), (2, 3))})
        for t in range(31)
    ]  # fmt: skip
    for name, address in (("dut", "02:00:00:00:01:00"), ("second", "02:00:00:00:02:00")):
        own = re.sub(r"addr \S+", f"addr {address}", INFO)
        assert address in own
        read(tmp_path, [look(t, info=own) for t in range(31)], target=name)
    test = '[[test]]\nname = "both"\nkind = "stations"\nstations = ["dut", "second", "away"]\nduration_s = 30\n'
    got = values(read(tmp_path, looks, test, target="peer", gated=False))
    assert got["station_dut_airtime_percent"] == pytest.approx(1.0)
    assert got["station_second_airtime_percent"] == pytest.approx(2.8)
    assert "station_away_airtime_percent" not in got, "it showed no address"


def test_airtime_from_the_station_dump_where_debugfs_has_none(tmp_path):
    looks = [
        look(t, info=AP_INFO, peers=station(AP_STATION, tx_duration=f"{t * 100} us", rx_duration="0 us")
             + station(AP_STATION, tx_duration=f"{t * 300} us", rx_duration="0 us").replace(":01:00", ":02:00"))
        for t in range(31)
    ]  # fmt: skip
    assert values(read(tmp_path, looks))["airtime_jain_index"] == pytest.approx(16 / 20)


def test_a_station_with_part_of_the_traffic_that_leaves_an_access_point_voids_the_run(tmp_path):
    looks = [look(t, info=AP_INFO, link="Not connected.\n", peers=two_stations(t, there=t < 12)) for t in range(31)]
    finding = next(f for f in read(tmp_path, looks).gates if f.gate == "association-lost")
    assert finding.state == "void"
    assert "02:00:00:00:02:00 was gone +12 s" in finding.words


def test_a_bystander_may_leave_an_access_point(tmp_path):
    looks = [
        look(t, info=AP_INFO, link="Not connected.\n",
             peers=two_stations(t, tx_bytes=5000 + t, rx_bytes=t, **({} if t < 12 else {"there": False})))
        for t in range(31)
    ]  # fmt: skip
    assert gate_states(read(tmp_path, looks))["association-lost"] == "ok"


def test_an_interface_that_vanishes_is_named(tmp_path):
    """A dongle that was pulled out: what iw says of it from then on, and that it had been associated until then."""
    gone = "command failed: No such device (-19)\n"
    looks = [*steady(11), *(look(t, info=gone, link=gone, peers=gone) for t in range(12, 31))]
    finding = next(f for f in read(tmp_path, looks).gates if f.gate == "association-lost")
    assert (finding.state, finding.words) == ("void", "wlan1 was gone +12 s from the start of the window")
    never = [look(t, info=gone, link=gone, peers=gone) for t in range(31)]
    assert not any(f.state == "void" for f in read(tmp_path, never).gates)


def test_the_peer_has_no_gates(tmp_path):
    reading = read(tmp_path, [look(t, info=NOT_WIRELESS) for t in range(31)], target="peer", gated=False)
    assert not reading.gates
    assert set(reading.metrics) == set(OF_ACCESS_POINT)
    assert all("No such device" in (value.reason or "") for value in reading.metrics.values())


OWN = "02:00:00:00:01:00"
"""Of the device under test, in the dump of the access point."""
STATIONS = "sys/kernel/debug/ieee80211/phy0/netdev:wlan1/stations"


def rates(*counts: tuple[int, int]) -> str:
    """``rc_stats_csv`` of two rates, by successes and attempts."""
    (low_good, low_all), (good, tried) = counts
    return (
        f"HT20,LGI,1,,MCS4 ,4,333,28.0,20.0,98.0,3,0,0,{low_good},{low_all},0,0,1.0\n"
        f"HT20,LGI,1,AP,MCS7 ,7,217,43.1,40.0,80.0,5,0,0,{good},{tried},0,0,1.0\n"
    )


def of_access_point(folder: Path, *, own: str | None = OWN, first: int = 0, **at_end: object) -> Reading:
    """An access point that sent 10,000 packets to the device and none to a second station, in a test of one flow."""
    if own is not None:
        read(folder, [look(t, info=re.sub(r"addr \S+", f"addr {own}", INFO)) for t in (1, 20)])
    fields = {"tx_packets": 11_000, "tx_retries": 2_600, "tx_failed": 240, "signal": "-62 dBm"} | at_end
    peers = [
        station(AP_STATION, tx_packets=1_000, tx_retries=100, tx_failed=40, signal="-58 dBm"),
        station(AP_STATION, **fields),
    ]
    another = station(AP_STATION, tx_packets=0, tx_retries=0).replace(":01:00", ":02:00")
    counts = {first: ((10, 10), (100, 200)), first + 20: ((10, 10), (700, 1000))}
    still = {f"{STATIONS}/{ANOTHER}/rc_stats_csv": rates(*counts[first])}
    looks = [
        look(t, info=AP_INFO, link="Not connected.\n", peers=another + mine,
             **{f"{STATIONS}/{OWN}/rc_stats_csv": rates(*of)}, **still)
        for mine, (t, of) in zip(peers, counts.items(), strict=True)
    ]  # fmt: skip
    return read(folder, looks, target="peer", gated=False)


def test_what_the_access_point_counts_of_the_device(tmp_path):
    reading = of_access_point(tmp_path)
    got = values(reading)
    assert got["ap_retry_percent"] == pytest.approx(100 * 2_500 / 12_500)
    assert got["ap_failed_percent"] == pytest.approx(2.0)
    assert got["ap_signal_dbm"] == -60
    assert got["ap_rate_success_percent"] == pytest.approx(100 * 600 / 800)
    assert got["ap_tx_bitrate_mbit_s"] > 0
    assert set(reading.metrics) == set(OF_ACCESS_POINT), "nothing of the stations without part in the test"
    assert reading.series["ap_rate_success_percent"] == [(10.0, 75.0)]


@pytest.mark.parametrize(
    ("changed", "key", "reason"),
    [
        ({"own": None}, "ap_retry_percent", "address of the device under test is not known"),
        ({"own": "02:00:00:00:07:00"}, "ap_retry_percent", "in fewer than two looks"),
        ({"first": -10}, "ap_failed_percent", "in fewer than two looks"),
        ({"tx_failed": 30}, "ap_failed_percent", "counters went back"),
        ({"tx_failed": 90_000}, "ap_failed_percent", "89960 lost of 10000 packets"),
        ({"tx_failed": None}, "ap_failed_percent", "does not count losses"),
        ({"tx_packets": 1_000}, "ap_failed_percent", "nothing was sent"),
        ({"tx_retries": 100}, "ap_retry_percent", "no retry in 10000 packets"),
        ({"tx_retries": None}, "ap_retry_percent", "does not count retries"),
    ],
)
def test_what_the_access_point_does_not_tell_is_not_zero(tmp_path, changed, key, reason):
    value = of_access_point(tmp_path, **changed).metrics[key]
    assert value.value is None
    assert reason in (value.reason or "")


def test_a_peer_that_is_a_station_is_no_access_point(tmp_path):
    reading = read(tmp_path, [look(1), look(20)], target="peer", gated=False)
    assert {value.value for value in reading.metrics.values()} == {None}
    assert set(reading.metrics) == set(OF_ACCESS_POINT)


@pytest.mark.parametrize(
    ("tables", "expected"),
    [
        (
            {-5: ((0, 0), (0, 0)), 1: ((5, 10), (50, 100)), 20: ((95, 110), (50, 100)), 40: ((95, 9_000), (50, 100))},
            90.0,
        ),
        ({1: ((5, 10), (50, 100)), 20: ((5, 10), (50, 100))}, "nothing was sent"),
        ({1: ((5, 10), (50, 100)), 20: ((5, 10), (5, 10))}, "started again"),
        ({1: ((5, 10), (50, 100)), 20: ((5, 10), (90, 110))}, "MCS7 has 40 successes of 10 attempts"),
        ({1: ((5, 10), (50, 100))}, "fewer than two tables"),
        ({}, "no table of minstrel"),
    ],
)
def test_the_success_of_rate_control_in_the_window(tmp_path, tables, expected):
    looks = [
        look(t, **({f"{STATIONS}/{BSSID}/rc_stats_csv": rates(*tables[t])} if t in tables else {}))
        for t in sorted({*tables, 2, 19})
    ]
    value = read(tmp_path, looks).metrics["rate_success_percent"]
    if isinstance(expected, float):
        assert value.value == pytest.approx(expected)
    else:
        assert value.value is None
        assert expected in (value.reason or "")


def test_a_wired_peer_is_not_asked_again_and_again(tmp_path):
    target = FakeTarget("peer", interface="eth0")
    target.connected = True
    target.answer("iw", stderr=NOT_WIRELESS, status=237)
    probe = Wireless("peer")
    asyncio.run(carry_out([probe], context_of(make_plan(), tmp_path, {"peer": target}), window_s=0))
    assert not target.running
    reading = probe.read(facts_of(make_plan(), tmp_path))
    assert {value.reason for value in reading.metrics.values()} == {"eth0 of peer is no wireless interface"}


def test_a_wired_interface_is_not_available_with_iws_words(tmp_path):
    reading = read(tmp_path, [look(t, info=NOT_WIRELESS, link=NOT_WIRELESS, peers=NOT_WIRELESS) for t in range(31)])
    assert all(value.value is None for value in reading.metrics.values())
    assert "No such device" in (reading.metrics["signal_dbm"].reason or "")
    assert set(gate_states(reading).values()) == {"not available"}


def test_no_iw_and_no_interface(tmp_path):
    for target, reason in (
        (FakeTarget(), "dut has no iw"),
        (FakeTarget(interface=None), "the plan names no interface of dut"),
    ):
        target.connected = True
        probe = Wireless()
        run = context_of(make_plan(), tmp_path, {"dut": target})
        asyncio.run(carry_out([probe], run, window_s=0))
        reading = probe.read(facts_of(make_plan(), tmp_path))
        assert {value.reason for value in reading.metrics.values()} == {reason}
        assert not target.running


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.one_of(
            st.sampled_from([INFO, LINK, STATION, AP_INFO, NOT_WIRELESS, SURVEY, "@@ 1015.0\n", "@@ nan\n"]),
            st.text(max_size=80),
        ),
        max_size=12,
    )
)
def test_garbage_is_never_more_than_not_available(tmp_path, parts):
    heads = ("@/iw/info\n", "@/iw/link\n", "@/iw/station\n", "@/iw/survey\n")
    text = "".join(f"@@ {1010 + n}\n{head}{part}\n" for n, part in enumerate(parts) for head in heads)
    (tmp_path / "wireless-dut.json").write_text("{}")
    (tmp_path / "wireless-dut.txt").write_text(text, encoding="utf-8", errors="replace")
    reading = read_wireless(facts_of(make_plan(), tmp_path), "dut")
    for value in reading.metrics.values():
        assert (value.value is None) == bool(value.reason)


BUSYBOX_TOOLS = ("sh", "sleep", "cat", "readlink", "true", "test", "kill", "setsid", "tr")


@pytest.fixture
def busybox(tmp_path: Path) -> Path:
    """A folder with nothing but BusyBox, and an iw that says what a real one said."""
    program = shutil.which("busybox")
    if program is None:
        pytest.skip("no busybox")
    folder = tmp_path / "bin"
    folder.mkdir()
    for tool in BUSYBOX_TOOLS:
        (folder / tool).symlink_to(program)
    iw = folder / "iw"
    iw.write_text(
        f'#!{folder}/sh\ncase "$3 $4" in "info ") cat {IW}/6.9-info-sta.txt ;; "link ") cat {IW}/6.9-link-sta.txt ;;'
        f' "station dump") cat {IW}/6.9-station-sta.txt ;; "survey dump") cat {IW}/5.19-survey.txt ;; esac\n'
    )
    iw.chmod(0o755)
    return folder


def test_the_loop_runs_on_busybox_and_ends(busybox, tmp_path):
    async def story() -> Reading:
        target = PrefixTarget("dut", prefix=["env", f"PATH={busybox}"], interface="wlan1")
        await target.connect()
        try:
            plan = make_plan('[[test]]\nname = "tx"\nkind = "tcp-tx"\nduration_s = 4\nwarm_up_s = 0\n')
            return await carry_out([Wireless()], context_of(plan, tmp_path, {"dut": target}))
        finally:
            await target.close()

    reading = asyncio.run(story())
    assert values(reading)["signal_dbm"] == -27
    assert reading.metrics["retry_percent"].reason == "nothing was sent"
    assert gate_states(reading) == {"association-lost": "ok", "channel-changed": "ok"}
    text = (tmp_path / "wireless-dut.txt").read_text()
    assert 3 <= text.count("@/iw/station") <= 6
    assert text.count("@/iw/survey") >= 3

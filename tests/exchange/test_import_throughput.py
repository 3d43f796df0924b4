# ruff: noqa: E501 - lines as tools print them
"""Throughput as nuttcp, netperf and testers of an internet connection print it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from txop.exchange.imported import Direction, ImportedRun
from txop.exchange.recognise import read_file
from txop.formats.error import FormatError


def runs_of(text: str, **told: Any) -> list[ImportedRun]:
    return read_file(text.encode(), Direction(**told)).runs


def figure(run: ImportedRun, key: str = "throughput_mbit_s") -> float | None:
    return run.metrics[key].value


NUTTCP = "   23.8750 MB /   2.00 sec =  100.1373 Mbps 12 %TX 9 %RX 8 retrans 1.27 msRTT\n"


def test_the_line_of_nuttcp():
    (run,) = runs_of(NUTTCP)
    assert (run.test.kind, figure(run), figure(run, "tcp_retransmits_per_s")) == ("tcp-tx", 100.1373, 4.0)
    assert any("--direction rx" in warning for warning in run.warnings)
    (told,) = runs_of(NUTTCP, way="rx")
    assert told.test.kind == "tcp-rx"
    (asked,) = runs_of("user@ap:~$ nuttcp -r -T2 10.1.0.1\n" + NUTTCP)
    assert (asked.test.kind, asked.warnings) == ("tcp-rx", [])


def test_intervals_of_nuttcp_are_no_tests():
    rows = "   11.1250 MB /   1.00 sec =   93.3179 Mbps     4 retrans\n   12.7500 MB /   1.00 sec =  106.9544 Mbps     4 retrans\n"
    (run,) = runs_of(rows + "\n" + NUTTCP)
    assert figure(run) == 100.1373
    assert run.series["throughput_mbit_s"] == [(0.5, 93.3179), (1.5, 106.9544)]
    with pytest.raises(FormatError, match="without the line of the whole test"):
        runs_of(rows)


def test_datagrams_of_nuttcp_and_its_other_forms():
    (udp,) = runs_of("    5.9375 MB /   5.00 sec =    9.9614 Mbps 99 %TX 1 %RX 24 / 760 drop/pkt 3.16 %loss\n")
    assert (udp.test.kind, figure(udp)) == ("udp-tx", 9.9614)
    assert figure(udp, "udp_loss_percent") == pytest.approx(100 * 24 / 760)
    parsed = "megabytes=2.4375 real_seconds=1.25 rate_Mbps=16.3577 tx_cpu=9 rx_cpu=0 retrans=5 rtt_ms=0.22\n"
    (run,) = runs_of(parsed)
    assert (figure(run), figure(run, "tcp_retransmits_per_s")) == (16.3577, 4.0)


def test_both_reports_of_nuttcp():
    receiver = (
        "nuttcp-r: v6.1.2: socket\nnuttcp-r: buflen=65536, nstream=2, port=5001 tcp\n"
        "nuttcp-r: 2.4375 MB in 1.05 real seconds = 2380.95 KB/sec = 19.4740 Mbps\n\n"
    )
    sender = (
        "nuttcp-t: v6.1.2: socket\nnuttcp-t: buflen=65536, nstream=2, port=5001 tcp -> 10.1.0.1\n"
        "nuttcp-t: 2.4375 MB in 1.00 real seconds = 2496.00 KB/sec = 20.4472 Mbps\nnuttcp-t: retrans = 0\n"
    )
    (back,) = runs_of(receiver + sender)
    assert (back.test.kind, back.test.streams, figure(back)) == ("tcp-rx", 2, 19.474)
    (there,) = runs_of(sender + receiver)
    assert (there.test.kind, figure(there)) == ("tcp-tx", 19.474)


NETPERF = """\
MIGRATED TCP {kind} TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 10.1.0.1 () port 0 AF_INET : demo
Recv   Send    Send
Socket Socket  Message  Elapsed
Size   Size    Size     Time     Throughput
bytes  bytes   bytes    secs.    {unit}

 87380  16384  16384    {seconds}    {rate}
"""


@pytest.mark.parametrize(
    ("kind", "unit", "rate", "expected"),
    [
        ("STREAM", "10^6bits/sec", "93.75", ("tcp-tx", 93.75)),
        ("MAERTS", "10^6bits/sec", "81.25", ("tcp-rx", 81.25)),
        ("STREAM", "10^3bits/sec", "93750.00", ("tcp-tx", 93.75)),
        ("STREAM", "MBytes  /sec", "10.00", ("tcp-tx", 83.88608)),
    ],
)
def test_streams_of_netperf(kind, unit, rate, expected):
    (run,) = runs_of(NETPERF.format(kind=kind, unit=unit, seconds="10.02", rate=rate))
    assert (run.test.kind, figure(run)) == (expected[0], pytest.approx(expected[1]))
    assert run.window_s == 10.02


def test_several_of_netperf_with_cpu_and_a_heading_on_two_lines():
    first = NETPERF.format(
        kind="STREAM",
        unit="10^6bits/s  % S      % S      us/KB   us/KB",
        seconds="10.00",
        rate="93.75      12.1     4.2",
    )
    second = NETPERF.format(kind="MAERTS", unit="10^6bits/sec", seconds="10.00", rate="50.50").replace(
        " to 10", "\nto 10"
    )
    runs = runs_of(first + second)
    assert [(run.test.kind, figure(run), run.line) for run in runs] == [("tcp-tx", 93.75, 1), ("tcp-rx", 50.5, 8)]


@pytest.mark.parametrize("name", ["MIGRATED UDP STREAM TEST", "UDP UNIDIRECTIONAL SEND TEST"])
def test_datagrams_of_netperf(name):
    text = (
        f"{name} from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 10.1.0.1 () port 0 AF_INET\nSocket  Message  Elapsed      Messages\n"
        "Size    Size     Time         Okay Errors   Throughput\nbytes   bytes    secs            #      #   10^6bits/sec\n\n"
        "212992    1472   10.00        8000      0       9.42\n212992           10.00        7600              8.95\n"
    )
    (run,) = runs_of(text)
    assert (run.test.kind, figure(run), run.test.rate_mbit_s) == ("udp-tx", 8.95, 9.42)
    assert figure(run, "udp_loss_percent") == 5.0


def test_numbers_of_netperf_without_a_heading_are_refused():
    with pytest.raises(FormatError, match="no format"):
        runs_of(" 87380  16384  16384    10.00    93.75\n")


def test_a_result_of_ookla_is_in_bytes():
    said = {
        "type": "result", "timestamp": "2026-02-03T04:05:06Z", "ping": {"jitter": 0.4, "latency": 9.5, "low": 9.1, "high": 11.0},
        "download": {"bandwidth": 12_500_000, "bytes": 1, "elapsed": 8000, "latency": {"iqm": 30.0}},
        "upload": {"bandwidth": 2_500_000, "bytes": 1, "elapsed": 6000}, "packetLoss": 1.5,
    }  # fmt: skip
    for text in (json.dumps(said), json.dumps(said, indent=4)):
        down, up, latency = runs_of(text)
        assert (down.test.kind, figure(down), down.window_s) == ("tcp-rx", pytest.approx(100.0), 8.0)
        assert (up.test.kind, figure(up), up.window_s) == ("tcp-tx", pytest.approx(20.0), 6.0)
        assert figure(latency, "latency_ms") == 9.5
        assert (figure(latency, "rtt_min_ms"), figure(latency, "rtt_max_ms")) == (9.1, 11.0)
        assert figure(latency, "probe_loss_percent") == 1.5
        assert down.started_at == "2026-02-03T04:05:06+00:00"
    assert len(runs_of(json.dumps(said) + "\n" + json.dumps(said))) == 6


def test_speedtest_cli_is_in_bits_and_librespeed_in_megabits():
    cli = {"download": 50_000_000.0, "upload": 8_000_000.0, "ping": 21.5, "bytes_sent": 1, "server": {"name": "x"}}
    down, up, latency = runs_of(json.dumps(cli))
    assert (figure(down), figure(up), figure(latency, "latency_ms")) == (50.0, 8.0, 21.5)
    libre = [{"download": 50.0, "upload": 8.0, "ping": 21.5, "jitter": 1.0, "server": {"name": "x"}}]
    down, up, latency = runs_of(json.dumps(libre))
    assert (figure(down), figure(up), figure(latency, "latency_ms")) == (50.0, 8.0, 21.5)
    assert down.test.name == "librespeed-cli-rx"


def test_the_texts_of_speed_tests():
    ookla = (
        "\n   Speedtest by Ookla\n\n      Server: Somewhere - Town (id: 1)\nIdle Latency:     8.10 ms   (jitter: 0.50ms, low: 7.50ms, high: 8.90ms)\n"
        "    Download:   101.25 Mbps (data used: 90.1 MB)\n                 20.10 ms   (jitter: 3.20ms, low: 8.00ms, high: 60.00ms)\n"
        "      Upload:    20.50 Mbps (data used: 30.1 MB)\n                 30.00 ms   (jitter: 3.20ms, low: 8.00ms, high: 60.00ms)\n Packet Loss:     0.5%\n"
    )
    down, up, latency = runs_of(ookla)
    assert (figure(down), figure(up), figure(latency, "latency_ms")) == (101.25, 20.5, 8.1)
    assert figure(latency, "probe_loss_percent") == 0.5
    cli = (
        "Retrieving speedtest.net configuration...\nTesting from X (192.0.2.1)...\nHosted by Y (Town) [9.00 km]: 23.345 ms\n"
        "Testing download speed......\nDownload: 93.27 Mbit/s\nTesting upload speed......\nUpload: 10.21 Mbit/s\n"
    )
    down, up, latency = runs_of(cli)
    assert (figure(down), figure(up), figure(latency, "latency_ms")) == (93.27, 10.21, 23.345)


BETTER = """\
2026-03-04 05:06:07 Testing against netperf.example.net (ipv4) with 5 simultaneous sessions while pinging example.net (30 seconds in each direction)
..............................
 Download:  61.25 Mbps
  Latency: (in msec, 31 pings, 0.00% packet loss)
      Min: 20.100
    10pct: 21.000
   Median: 24.500
      Avg: 25.250
    90pct: 33.000
      Max: 40.750
...............................
   Upload:  11.75 Mbps
  Latency: (in msec, 30 pings, 3.33% packet loss)
      Min: 20.200
    10pct: 22.000
   Median: 60.500
      Avg: 70.250
    90pct: 90.000
      Max: 99.750
"""


@pytest.mark.parametrize("packaged", [False, True])
def test_betterspeedtest(packaged):
    text = BETTER
    if packaged:
        head = (
            "2026-03-04 05:06:07 Starting speedtest for 30 seconds per transfer session.\n"
            "Download and upload sessions are sequential, each with 5 simultaneous streams.\n"
        )
        text = head + text.partition("\n")[2].replace("(in msec", "[in msec").replace("loss)", "loss]")
    down, up = runs_of(text)
    assert (down.test.kind, down.test.streams, down.window_s, figure(down)) == ("tcp-rx", 5, 30.0, 61.25)
    assert [figure(down, f"rtt_{name}_ms") for name in ("min", "p50", "mean", "max")] == [20.1, 24.5, 25.25, 40.75]
    assert figure(down, "probe_loss_percent") == 0.0
    assert (up.test.kind, figure(up), figure(up, "probe_loss_percent")) == ("tcp-tx", 11.75, 3.33)
    assert figure(up, "rtt_p50_ms") is None, "its median leaves lost pings out"


def test_netperfrunner_loads_both_ways_at_once():
    text = (
        "2026-03-04 05:06:07 Testing netperf.example.net (ipv4) with 4 streams down and up while pinging example.net. "
        "Takes about 60 seconds.\n.....\n Download:  40.5 Mbps\n   Upload:  9.25 Mbps\n"
        "  Latency: (in msec, 61 pings, 0.00% packet loss)\n      Min: 20.100\n   Median: 24.500\n      Avg: 25.250\n      Max: 40.750\n"
    )
    (run,) = runs_of(text)
    assert (run.test.kind, run.test.streams, run.test.duration_s) == ("tcp-both", 4, 60.0)
    assert (figure(run, "throughput_down_mbit_s"), figure(run, "throughput_up_mbit_s")) == (40.5, 9.25)
    assert figure(run, "rtt_p50_ms") == 24.5


def test_what_several_tools_printed_into_one_text():
    ping = (
        "PING 10.1.0.1 (10.1.0.1) 56(84) bytes of data.\n64 bytes from 10.1.0.1: icmp_seq=1 ttl=64 time=1.10 ms\n\n"
        "--- 10.1.0.1 ping statistics ---\n1 packets transmitted, 1 received, 0% packet loss, time 0ms\n"
        "rtt min/avg/max/mdev = 1.100/1.100/1.100/0.000 ms\n"
    )
    iperf3 = (
        "Connecting to host 10.1.0.9, port 5201\n[ ID] Interval           Transfer     Bitrate\n"
        "[  5]   0.00-2.00   sec  4.88 MBytes  20.4 Mbits/sec                  receiver\n\niperf Done.\n"
    )
    reading = read_file((ping + iperf3 + NUTTCP).encode(), Direction())
    assert sorted((run.test.tool, run.test.kind) for run in reading.runs) == [
        ("iperf3", "tcp-tx"), ("nuttcp", "tcp-tx"), ("ping", "latency"),
    ]  # fmt: skip
    assert figure(next(run for run in reading.runs if run.test.tool == "ping"), "rtt_mean_ms") == 1.1
    old = "Client connecting to 10.1.0.9, TCP port 5001\n[  3]  0.0-10.0 sec  52.1 MBytes  43.7 Mbits/sec\n"
    with pytest.raises(FormatError, match="make a file of each"):
        runs_of(iperf3 + old)


def test_a_number_beside_a_word_is_no_round_trip():
    with pytest.raises(FormatError):
        runs_of("Temperature : 45.5\nSignal : 70\n")


@pytest.mark.parametrize(
    ("data", "names"),
    [
        (b"\xd4\xc3\xb2\xa1\x02\0\x04\0" + bytes(40), "txop air"),
        (b"\x0a\x0d\x0d\x0a" + bytes(40), "txop bus"),
        (b"ffff8800a1b2c3d4 1234567890 S Bo:1:005:2 -115 31 = 55534243\n", "txop bus"),
        (b"[    1.234567] usb 1-1: new device\n[    1.334567] wlan0: up\n[    1.434567] rtw88: x\n", "txop log"),
        (b"<6>[    1.234567] usb 1-1: new device\n<6>[    1.334567] a: up\n<4>[    1.434567] b: x\n", "txop log"),
        (b"===== getstats.sh at Sun Mar  1 =====\n[ cat /etc/banner ]\n", "txop log"),
        (b"Station 02:00:00:00:00:07 (on wlan0)\n\tinactive time:\t4 ms\n", "txop counters"),
        (b"Survey data from wlan0\n\tfrequency:\t5180 MHz\n", "txop counters"),
        (b"NIC statistics:\n     rx_packets: 5\n", "txop counters"),
        (b"Inter-| sta-|   Quality        |   Discarded packets\n", "txop counters"),
        (b"best   __________rate_________    ________statistics________\n", "txop counters"),
        (
            b"              best   ____________rate__________    ____statistics___\nmode guard #  rate   [name   idx airtime  max_tp]\n",
            "txop counters",
        ),
        (b'{"format": "txop-air", "version": 1}', "txop-air"),
        (b"<!DOCTYPE html>\n<html>", "web page"),
        (bytes(range(256)) * 4, "not text"),
    ],
)
def test_a_refusal_says_what_it_is_and_what_reads_it(data, names):
    with pytest.raises(FormatError) as refused:
        read_file(data, Direction())
    assert names in refused.value.what
    assert "\\x" not in refused.value.what

"""The rows of iperf 2: of either end, in the forms of 2.0 and 2.1, and what is refused."""

from __future__ import annotations

import pytest

from txop.exchange.imported import Direction
from txop.exchange.recognise import read_file
from txop.formats import iperf2
from txop.formats.error import FormatError

OLD = """\
------------------------------------------------------------
Client connecting to 192.168.1.1, TCP port 5001
TCP window size: 85.0 KByte (default)
------------------------------------------------------------
[  3] local 192.168.1.5 port 42536 connected with 192.168.1.1 port 5001
[ ID] Interval       Transfer     Bandwidth
[  3]  0.0- 1.0 sec  4.50 MBytes  37.7 Mbits/sec
[  3]  1.0- 2.0 sec  4.62 MBytes  38.8 Mbits/sec
[  3]  0.0- 2.1 sec  9.13 MBytes  36.5 Mbits/sec
"""


def run_of(text: str, **told):
    (run,) = read_file(text.encode(), Direction(**told)).runs
    return run


@pytest.mark.parametrize(
    ("name", "kind", "mbit_s", "seconds", "streams"),
    [
        ("tcp-client", "tcp-tx", 3450.0, 2.0225, 1),
        ("tcp-server", "tcp-tx", 3490.0, 1.9995, 1),
        ("tcp-R-client", "tcp-rx", 6430.0, 1.0001, 1),
        ("tcp-R-server", "tcp-rx", 6360.0, 1.0107, 1),
        ("tcp-e-client", "tcp-tx", 7090.0, 1.1285, 1),
        ("tcp-p2-client", "tcp-tx", 3860.0, 2.0047, 2),
        ("tcp-p2-server", "tcp-tx", 3860.0, 2.0133, 2),
        ("udp-client", "udp-tx", 5.25, 1.9997, 1),
        ("udp-server", "udp-tx", 5.26, 1.9997, 1),
    ],
)
def test_both_ends_of_2_1(captured, name, kind, mbit_s, seconds, streams):
    run = run_of(captured(f"iperf2/v2.1.8-{name}.txt"))
    assert (run.test.kind, run.test.streams) == (kind, streams)
    assert run.metrics["throughput_mbit_s"].value == pytest.approx(mbit_s, rel=0.01)
    assert run.window_s == pytest.approx(seconds)
    assert any("three significant digits" in warning for warning in run.warnings)


def test_the_client_of_udp_knows_what_its_server_reported(captured):
    metrics = run_of(captured("iperf2/v2.1.8-udp-client.txt")).metrics
    assert metrics["udp_loss_percent"].value == 0.0
    assert metrics["udp_jitter_ms"].value == 0.004
    loss = captured("iperf2/v2.1.8-udp-client.txt").replace("0/895 (0%)", "3/ 895 (0.34%)")
    assert run_of(loss).metrics["udp_loss_percent"].value == pytest.approx(100 * 3 / 895)


def test_rows_of_2_0():
    run = run_of(OLD)
    assert run.metrics["throughput_mbit_s"].value == 36.5
    assert run.window_s == pytest.approx(2.1)
    assert run.series["throughput_mbit_s"] == [(0.5, 37.7), (1.5, 38.8)]
    assert run_of(OLD, dut="server").test.kind == "tcp-rx"


def test_rows_alone_ask_who_sent():
    rows = "\n".join(line for line in OLD.splitlines() if "sec" in line)
    with pytest.raises(FormatError, match="--direction"):
        run_of(rows)
    assert run_of(rows, way="rx").test.kind == "tcp-rx"


def test_a_client_that_was_killed_has_intervals_only():
    cut = "\n".join(OLD.splitlines()[:-1])
    run = run_of(cut)
    assert run.metrics["throughput_mbit_s"].value == pytest.approx(38.25)
    assert any("did not reach its end" in warning for warning in run.warnings)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("iperf2/v2.1.8-tcp-d-server.txt", "of this iperf with itself"),
        ("iperf2/v2.1.8-refused-client.txt", "Connection refused"),
    ],
)
def test_what_is_refused(captured, text, why):
    with pytest.raises(FormatError) as raised:
        iperf2.parse_all(captured(text))
    assert why.rpartition("*")[2] in str(raised.value)


def runs_of(text: str, **told):
    return read_file(text.encode(), Direction(**told)).runs


def test_two_tests_of_a_server_are_two_runs():
    server = OLD.replace("Client connecting to 192.168.1.1, TCP port", "Server listening on TCP port")
    server = server.replace(
        "port 42536 connected with 192.168.1.1 port 5001", "port 5001 connected with 10.0.0.7 port 42536"
    )
    again = server + "\n".join(OLD.splitlines()[4:]).replace("[  3]", "[  4]").replace("36.5", "31.5").replace(
        "port 42536 connected with 192.168.1.1 port 5001", "port 5001 connected with 10.0.0.7 port 42540"
    )
    runs = runs_of(again)
    assert [(run.test.kind, run.metrics["throughput_mbit_s"].value, run.line) for run in runs] == [
        ("tcp-tx", 36.5, 5), ("tcp-tx", 31.5, 10),
    ]  # fmt: skip


def test_connections_at_once_without_a_sum_are_refused_with_their_lines():
    head, rows = OLD.splitlines()[:5], OLD.splitlines()[5:]
    other = head[4].replace("[  3]", "[  4]").replace("42536", "42538")
    text = "\n".join([*head, other, *rows, *(row.replace("[  3]", "[  4]") for row in rows[1:])])
    with pytest.raises(FormatError, match=r"without a sum \(lines 5 to 13\)"):
        runs_of(text)


BOTH = """\
------------------------------------------------------------
Server listening on TCP port 5001
TCP window size: 85.3 KByte (default)
------------------------------------------------------------
------------------------------------------------------------
Client connecting to 10.1.0.9, TCP port 5001
TCP window size: 43.8 KByte (default)
------------------------------------------------------------
[  3] local 10.1.0.4 port 40112 connected with 10.1.0.9 port 5001
"""
BACK = "[  5] local 10.1.0.4 port 5001 connected with 10.1.0.9 port 33218\n"
SENT = "[  3]  0.0-10.0 sec  52.1 MBytes  43.7 Mbits/sec\n"
RECEIVED = "[  5]  0.0-10.1 sec  76.4 MBytes  63.5 Mbits/sec\n"
HEADING = "[ ID] Interval       Transfer     Bandwidth\n"


def test_both_ways_at_once_are_one_test_with_two_figures():
    (run,) = runs_of(BOTH + BACK + HEADING + SENT + RECEIVED)
    assert run.test.kind == "tcp-both"
    assert {key: value.value for key, value in run.metrics.items()} == {
        "throughput_up_mbit_s": 43.7, "throughput_down_mbit_s": 63.5,
    }  # fmt: skip


def test_one_way_after_the_other_are_two_tests():
    sent, received = runs_of(BOTH + HEADING + SENT + BACK + RECEIVED)
    assert (sent.test.kind, sent.metrics["throughput_mbit_s"].value) == ("tcp-tx", 43.7)
    assert (received.test.kind, received.metrics["throughput_mbit_s"].value) == ("tcp-rx", 63.5)


def test_full_duplex(captured):
    run = run_of(captured("iperf2/v2.1.8-tcp-full-client.txt"))
    assert run.test.kind == "tcp-both"
    assert run.metrics["throughput_up_mbit_s"].value == 6030.0
    assert run.metrics["throughput_down_mbit_s"].value == 3810.0


BOUNCE = """\
------------------------------------------------------------
Client connecting to 10.1.0.9, TCP port 5001 with pid 77 (1 flows)
Bounce-back test (size= 100 Byte) (server hold req=0 usecs & tcp_quickack)
------------------------------------------------------------
[  1] local 10.1.0.4%wlan0 port 39406 connected with 10.1.0.9 port 5001 (bb w/quickack len/hold=100/0)
[ ID] Interval            Transfer    Bandwidth         BB cnt=avg/min/max/stdev         Rtry  Cwnd/RTT    RPS
[  1] 0.0000-1.0000 sec  1.95 KBytes  16.0 Kbits/sec    10=3.418/1.012/9.055/2.278 ms    0   14K/3011 us    293 rps
[  1] 1.0000-2.0000 sec  1.95 KBytes  16.0 Kbits/sec    10=2.618/1.212/5.155/1.136 ms    0   14K/2910 us    382 rps
[  1] 0.0000-2.0126 sec  3.91 KBytes  15.9 Kbits/sec    20=3.018/1.012/9.055/1.903 ms    0   14K/2953 us    331 rps
"""


def test_bounce_back_is_latency_and_no_throughput():
    run = run_of(BOUNCE)
    assert (run.test.kind, run.test.name) == ("latency", "bounceback")
    assert "throughput_mbit_s" not in run.metrics
    known = {key: value.value for key, value in run.metrics.items() if value.value is not None}
    assert known == {"rtt_min_ms": 1.012, "rtt_mean_ms": 3.018, "rtt_max_ms": 9.055, "rtt_stddev_ms": 1.903}


CSV = """\
20260301101500,10.1.0.4,50210,10.1.0.9,5001,3,0.0-1.0,2621440,20971520
20260301101501,10.1.0.4,50210,10.1.0.9,5001,3,1.0-2.0,2490368,19922944
20260301101501,10.1.0.4,50210,10.1.0.9,5001,3,0.0-2.1,5111808,19473554
"""


def test_the_total_of_csv():
    run = run_of(CSV)
    assert run.test.kind == "tcp-tx"
    assert run.metrics["throughput_mbit_s"].value == 19.473554
    assert run.window_s == pytest.approx(5111808 * 8 / 19473554)
    assert len(run.series["throughput_mbit_s"]) == 2


def test_csv_of_connections_at_once_is_one_test():
    one, two = (line for line in CSV.splitlines()[2:] for _ in range(2))
    two = two.replace("50210", "50212").replace("19473554", "10473554")
    (run,) = runs_of(f"{one}\n{two}\n")
    assert (run.test.streams, run.metrics["throughput_mbit_s"].value) == (
        2,
        pytest.approx(2 * 5111808 * 8 / 3.904922 / 1e6, rel=1e-4),
    )
    total = "20260301101501,10.1.0.4,0,10.1.0.9,5001,-1,0.0-2.1,7861043,29947000"
    (summed,) = runs_of(f"{one}\n{two}\n{total}\n")
    assert (summed.test.streams, summed.metrics["throughput_mbit_s"].value) == (2, 29.947)
    later = two.replace("20260301101501", "20260301101601")
    assert len(runs_of(f"{one}\n{later}\n")) == 2


def test_csv_of_several_tests_of_udp_and_from_a_server():
    again = CSV.replace("50210", "50214").replace("19473554", "15000000").replace("2026030110", "2026030111")
    assert [run.metrics["throughput_mbit_s"].value for run in runs_of(CSV + again)] == [19.473554, 15.0]
    udp = (
        "20260301101500,10.1.0.4,50210,10.1.0.9,5001,3,0.0-10.0,1250000,1000000\n"
        "20260301101500,10.1.0.9,5001,10.1.0.4,50210,3,0.0-10.0,1237500,990000,0.214,9,851,1.058,0\n"
    )
    (run,) = runs_of(udp)
    assert (run.test.kind, run.metrics["throughput_mbit_s"].value) == ("udp-tx", 0.99)
    assert run.metrics["udp_loss_percent"].value == pytest.approx(100 * 9 / 851)
    assert run.metrics["udp_jitter_ms"].value == 0.214
    swapped = CSV.replace("10.1.0.4,50210,10.1.0.9,5001", "10.1.0.9,5001,10.1.0.4,50210")
    with pytest.raises(FormatError, match="--direction"):
        runs_of(swapped)
    assert runs_of(swapped, way="rx")[0].test.kind == "tcp-rx"


def test_text_of_iperf3_is_not_taken_for_it(captured):
    for name in ("v3.21-text-tcp-client", "v3.1-text-udp-server", "v3.12-text-timestamps-client", "v3.12-tcp-client"):
        assert not iperf2.looks_like(captured(f"iperf3/{name}.txt").encode())

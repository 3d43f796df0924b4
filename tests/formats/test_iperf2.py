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
        ("tcp-p2-client", "tcp-tx", 3830.0, 2.0299, 2),
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
        ("iperf2/v2.1.8-tcp-full-client.txt", "line 5.*both ways"),
        ("iperf2/v2.1.8-tcp-d-server.txt", "both ways"),
        ("iperf2/v2.1.8-refused-client.txt", "Connection refused"),
    ],
)
def test_what_is_refused(captured, text, why):
    with pytest.raises(FormatError) as raised:
        iperf2.parse(captured(text))
    assert why.rpartition("*")[2] in str(raised.value)


def test_two_tests_of_a_server_are_not_taken_for_two_connections():
    server = OLD.replace("Client connecting to 192.168.1.1, TCP port", "Server listening on TCP port")
    again = server + "\n".join(OLD.splitlines()[4:]).replace("[  3]", "[  4]")
    with pytest.raises(FormatError, match="more than one test"):
        iperf2.parse(again)


def test_text_of_iperf3_is_not_taken_for_it(captured):
    for name in ("v3.21-text-tcp-client", "v3.1-text-udp-server", "v3.12-text-timestamps-client", "v3.12-tcp-client"):
        assert not iperf2.looks_like(captured(f"iperf3/{name}.txt").encode())

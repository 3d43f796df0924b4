"""What makes two runs runs of one test: what the tool calls it, direction, marks, congestion control, protocol, length.
Several tests in one file are several runs, or refused with their lines."""

from __future__ import annotations

import json
from typing import Any

import pytest

import exchange_specimens as specimens
from txop.archive.reader import read_archive
from txop.exchange.imported import Direction, ImportedRun
from txop.exchange.recognise import read_file
from txop.exchange.write import Source, write_archive
from txop.formats.error import FormatError


def runs_of(data: str | bytes, **told: Any) -> list[ImportedRun]:
    return read_file(data.encode() if isinstance(data, str) else data, Direction(**told)).runs


def archived(root, *files: bytes) -> dict[str, int]:
    """The tests of an archive of ``files``, and how many runs each has."""
    sources = [Source(f"{n}", data, "a", read_file(data, Direction())) for n, data in enumerate(files)]
    write_archive(root, "t", sources, [])
    archive = read_archive(root)
    assert archive.damage == []
    return {test.name: sum(run.test == test.name for run in archive.runs) for test in archive.plan.test}


def flows(names: dict[str, float], *, name: str, version: int = 1, **about: Any) -> bytes:
    """A file of flent with a series for each name, of one value all along."""
    samples = {series: [value] * 10 for series, value in names.items()}
    metadata = {"NAME": name, "T0": "2013-02-03T04:05:06Z", "LENGTH": 10, "SERIES_META": {}, **about}
    made: dict[str, Any] = {"x_values": [float(at) for at in range(10)], "results": samples, "metadata": metadata}
    if version > 1:
        made["version"] = version
        made["raw_values"] = {
            series: [{"t": specimens.T0 + at, "val": value} for at in range(10)] for series, value in names.items()
        }
    return json.dumps(made).encode()


RRUL_1 = {
    "TCP upload BE": 2.5, "TCP upload BK": 1.5, "TCP upload CS5": 3.0, "TCP upload EF": 4.0,
    "TCP upload avg": 2.75, "TCP upload sum": 11.0,
    "TCP download BE": 10.0, "TCP download BK": 5.0, "TCP download CS5": 20.0, "TCP download EF": 25.0,
    "TCP download avg": 15.0, "TCP download sum": 60.0, "TCP totals": 71.0,
    "Ping (ms) ICMP": 20.0, "Ping (ms) UDP BE": 30.0, "Ping (ms) avg": 25.0,
}  # fmt: skip


@pytest.mark.parametrize("version", [1, 4])
def test_what_flent_computed_is_no_flow(version):
    (run,) = runs_of(flows(RRUL_1, name="rrul", version=version))
    assert run.metrics["throughput_up_mbit_s"].value == pytest.approx(11.0), "as its own sum"
    assert run.metrics["throughput_down_mbit_s"].value == pytest.approx(60.0)
    assert run.metrics["rtt_p50_ms"].value == 20.0
    assert (run.test.kind, run.test.streams, run.test.dscp) == ("rrul", 4, (0, 8, 40, 46))


def test_pings_alone_are_none_that_flent_averaged():
    (run,) = runs_of(flows({"Ping (ms) avg": 9.0, "Ping (ms) UDP BE": 30.0, "TCP upload total": 5.0}, name="x"))
    assert (run.test.kind, run.metrics["rtt_p50_ms"].value) == ("latency", 30.0)


def test_every_test_of_flent_is_its_own(tmp_path):
    four = {f"TCP {way} BE{n}": 5.0 for way in ("upload", "download") for n in ("", 2, 3, 4)}
    files = [
        flows(RRUL_1, name="rrul", version=4),
        flows(four, name="rrul_be", version=4),
        flows(four, name="rrul_be", version=4, NOTE="again"),
        flows(four, name="rrul_be", version=4, TEST_PARAMETERS={"tcp_cong_control": "bbr"}),
        flows({"TCP upload::1": 5.0}, name="tcp_nup", version=4, TEST_PARAMETERS={"upload_streams": "1"}),
        flows({"TCP upload": 5.0}, name="tcp_1up", version=4, TEST_PARAMETERS={"qdisc_stats_hosts": "x"}),
    ]
    assert archived(tmp_path / "a", *files) == {
        "rrul-dscp-0-8-40-46": 1, "rrul_be": 2, "rrul_be-bbr": 1, "tcp_nup-upload_streams-1": 1, "tcp_1up": 1,
    }  # fmt: skip


def test_the_statistics_of_a_socket_are_no_flow():
    names = {"TCP upload": 8.0, "TCP upload::tcp_cwnd": 300.0, "TCP upload::tcp_rtt": 40.0}
    (run,) = runs_of(flows(names, name="tcp_1up", version=4))
    assert (run.metrics["throughput_mbit_s"].value, run.test.streams) == (8.0, 1)


def test_flows_that_ran_for_different_times_have_the_tools_own_total():
    made = json.loads(flows({"TCP upload::1": 8.0, "TCP upload::2": 4.0}, name="tcp_nup", version=4))
    made["metadata"]["SERIES_META"] = {"TCP upload::1": {"MEAN_VALUE": 8.0}, "TCP upload::2": {"MEAN_VALUE": 2.0}}
    (run,) = runs_of(json.dumps(made))
    assert run.metrics["throughput_mbit_s"].value == 10.0
    assert any("12.00" in warning for warning in run.warnings)


def test_flows_of_no_known_direction_are_named():
    with pytest.raises(FormatError, match="TCP cubic"):
        runs_of(flows({"TCP cubic": 8.0, "TCP reno": 4.0, "Ping (ms) ICMP": 20.0}, name="tcp_2up_square", version=4))


def test_udp_beside_tcp_is_no_part_of_its_throughput():
    (run,) = runs_of(flows({"TCP upload": 8.0, "UDP upload": 30.0}, name="mixed", version=4))
    assert (run.test.kind, run.metrics["throughput_mbit_s"].value) == ("tcp-tx", 8.0)
    assert any("UDP upload" in warning for warning in run.warnings)


def iperf3_json(
    *,
    seconds: float = 10.0,
    mbit_s: float = 40.0,
    planned: int = 10,
    error: str | None = None,
    retransmits: int = 12,
    congestion: str | None = "cubic",
    cookie: str = "c1",
    **test: Any,
) -> dict[str, Any]:
    """A document of a client that sent, at one rate all along."""
    count = round(mbit_s * 1e6 / 8 * seconds)
    row = {
        "socket": 5, "start": 0, "end": seconds, "seconds": seconds, "bytes": count, "retransmits": retransmits,
        "bits_per_second": mbit_s * 1e6, "rtt": 2000, "omitted": False, "sender": True,
    }  # fmt: skip
    other = {
        "socket": 5,
        "start": 0,
        "end": seconds,
        "seconds": seconds,
        "bytes": 0 if error else count,
        "sender": True,
    }
    said = {"protocol": "TCP", "num_streams": 1, "blksize": 131072, "omit": 0, "duration": planned, "reverse": 0}
    end: dict[str, Any] = {
        "streams": [{"sender": row, "receiver": other}],
        "cpu_utilization_percent": {"host_total": 1.0, "remote_total": 0.0 if error else 1.0},
    }
    if congestion:
        end["sender_tcp_congestion"] = congestion
    made: dict[str, Any] = {
        "start": {"connecting_to": {"host": "h"}, "cookie": cookie, "test_start": said | test},
        "intervals": [{"streams": [row]}],
        "end": end,
    }
    return made | ({"error": error} if error else {})


def test_marks_and_congestion_controls_are_different_tests(tmp_path):
    files = [
        iperf3_json(cookie="1", tos=0),
        iperf3_json(cookie="2", tos=0),
        iperf3_json(cookie="3", tos=0xB8),
        iperf3_json(cookie="4", tos=0, congestion="bbr"),
        iperf3_json(cookie="5", tos=0, target_bitrate=30_000_000),
        iperf3_json(cookie="6", tos=0, planned=30, seconds=30.0),
    ]
    assert archived(tmp_path / "a", *(json.dumps(each).encode() for each in files)) == {
        "tx": 2, "tx-dscp-46": 1, "tx-bbr": 1, "tx-30-mbit-s": 1, "tx-30-s": 1,
    }  # fmt: skip
    plan = {test.name: test for test in read_archive(tmp_path / "a").plan.test}
    assert (plan["tx-dscp-46"].dscp, plan["tx-bbr"].congestion) == (46, "bbr")  # type: ignore[union-attr]


def test_a_test_that_was_interrupted_counts_over_the_time_it_ran():
    made = iperf3_json(seconds=2.5, retransmits=5, error="interrupt - the client has terminated")
    (run,) = runs_of(json.dumps(made))
    assert run.metrics["tcp_retransmits_per_s"].value == pytest.approx(2.0)
    assert run.metrics["throughput_mbit_s"].value == pytest.approx(40.0)
    assert (run.window_s, run.test.duration_s) == (2.5, 2.5)
    assert any("did not reach its end" in warning for warning in run.warnings)


def test_a_planned_length_names_a_test_that_took_about_as_long():
    (run,) = runs_of(json.dumps(iperf3_json(seconds=10.04)))
    assert (run.window_s, run.test.duration_s) == (10.04, 10)


def test_documents_one_after_another_are_several_runs():
    first, second = (json.dumps(iperf3_json(cookie=c, mbit_s=m)) for c, m in (("a", 11.0), ("b", 22.0)))
    runs = runs_of(f"{first}\n{second}\n")
    assert [run.metrics["throughput_mbit_s"].value for run in runs] == [pytest.approx(11.0), pytest.approx(22.0)]
    for array in (f"[{first},{second}]", f"[\n  {first},\n  {second}\n]\n"):
        assert [run.test.streams for run in runs_of(array)] == [1, 1]
    (whole,) = runs_of(f"{first}\n{second[:300]}")
    assert whole.metrics["throughput_mbit_s"].value == pytest.approx(11.0)
    assert any("what follows it is not read" in warning for warning in whole.warnings)


def test_udp_both_ways_is_a_run_for_each(captured_udp_bidir):
    up, down = sorted(runs_of(captured_udp_bidir), key=lambda run: run.test.kind, reverse=True)
    assert (up.test.kind, up.test.name) == ("udp-tx", "udp-tx-beside-rx")
    assert (down.test.kind, down.test.name) == ("udp-rx", "udp-rx-beside-tx")
    said = json.loads(captured_udp_bidir)["end"]
    for run, total in ((up, said["sum_received"]), (down, said["sum_received_bidir_reverse"])):
        assert run.metrics["udp_jitter_ms"].value == pytest.approx(total["jitter_ms"])
        assert run.metrics["udp_loss_percent"].value == pytest.approx(total["lost_percent"])
        assert run.metrics["throughput_mbit_s"].value == pytest.approx(total["bits_per_second"] / 1e6, rel=0.02)


@pytest.fixture
def captured_udp_bidir() -> bytes:
    from pathlib import Path

    return (Path(__file__).parents[1] / "formats" / "captured/iperf3/v3.12-udp-bidir-client.txt").read_bytes()


def test_a_run_each_way_has_its_place_in_an_archive(tmp_path, captured_udp_bidir):
    assert archived(tmp_path / "a", captured_udp_bidir) == {"udp-rx-beside-tx": 1, "udp-tx-beside-rx": 1}


SUMMARIES = """\
driver one, HT20, station to access point
[  5]   0.00-6.00   sec  21.5 MBytes  30.0 Mbits/sec                  receiver
driver one, HT20, access point to station
[  4]   0.00-10.00  sec  59.6 MBytes  50.0 Mbits/sec                  receiver
driver two, HT20, station to access point
[  5]   0.00-10.00  sec  83.4 MBytes  70.0 Mbits/sec                  receiver
"""


def test_totals_under_lines_of_their_own_are_tests_of_their_own(tmp_path):
    with pytest.raises(FormatError, match=r"3 tests \(lines 2, 4, 6\): .*--direction"):
        runs_of(SUMMARIES)
    runs = runs_of(SUMMARIES, way="tx")
    assert [run.metrics["throughput_mbit_s"].value for run in runs] == [30.0, 50.0, 70.0]
    assert [run.test.setup for run in runs] == SUMMARIES.splitlines()[::2]
    assert [run.line for run in runs] == [2, 4, 6]
    source = Source("p", SUMMARIES.encode(), None, read_file(SUMMARIES.encode(), Direction(way="tx")))
    assert len(write_archive(tmp_path / "a", "t", [source], []).tests) == 3


CLIENT = """\
Connecting to host 10.1.0.9, port 5201
[  5] local 10.1.0.4 port 40100 connected to 10.1.0.9 port 5201
[ ID] Interval           Transfer     Bitrate         Retr  Cwnd
[  5]   0.00-1.00   sec  2.50 MBytes  21.0 Mbits/sec    0    120 KBytes
[  5]   1.00-2.00   sec  2.38 MBytes  19.9 Mbits/sec    3    110 KBytes
- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID] Interval           Transfer     Bitrate         Retr
[  5]   0.00-2.00   sec  4.88 MBytes  20.4 Mbits/sec    3             sender
[  5]   0.00-2.02   sec  4.75 MBytes  19.7 Mbits/sec                  receiver

iperf Done.
"""
REVERSE = CLIENT.replace("[  5] local", "Reverse mode, remote host 10.1.0.9 is sending\n[  5] local").replace(
    "19.7", "17.7"
)


def test_several_tests_of_text_are_several_runs():
    runs = runs_of(CLIENT + REVERSE + CLIENT.replace("40100", "40102").replace("19.7", "18.7"))
    assert [(run.test.kind, run.metrics["throughput_mbit_s"].value) for run in runs] == [
        ("tcp-tx", 19.7), ("tcp-rx", 17.7), ("tcp-tx", 18.7),
    ]  # fmt: skip
    assert runs[0].metrics["tcp_retransmits_per_s"].value == pytest.approx(1.5)


def test_rows_of_several_tests_without_headings_are_several_runs():
    rows = "\n".join(line for line in CLIENT.splitlines() if "sec" in line)
    runs = runs_of(f"{rows}\n{rows.replace('19.7', '18.7')}\n", way="tx")
    assert [run.metrics["throughput_mbit_s"].value for run in runs] == [19.7, 18.7]


def test_both_ends_of_one_test_in_one_paste_are_one_run(tmp_path):
    server = CLIENT.replace("Connecting to host 10.1.0.9, port 5201", "Accepted connection from 10.1.0.4, port 40098")
    server = server.replace(
        "local 10.1.0.4 port 40100 connected to 10.1.0.9 port 5201",
        "local 10.1.0.9 port 5201 connected to 10.1.0.4 port 40100",
    ).replace("iperf Done.\n", "")
    server = "".join(line for line in server.splitlines(keepends=True) if not line.endswith("sender\n"))
    assert archived(tmp_path / "a", (CLIENT + server).encode()) == {"tx": 1}
    longer = server.replace("0.00-2.0", "0.00-5.0")
    assert archived(tmp_path / "c", (CLIENT + longer).encode()) == {"tx": 1, "tx-5-02-s": 1}, "its port came again"
    assert archived(tmp_path / "b", (CLIENT + CLIENT.replace("iperf Done.", "")).encode()) == {"tx": 2}


def test_connections_at_once_without_a_sum_may_be_two_tests():
    rows = "".join(
        f"[  {socket}]   0.00-10.00  sec  59.6 MBytes  50.0 Mbits/sec                  receiver\n" for socket in (5, 7)
    )
    with pytest.raises(FormatError, match="without a sum"):
        runs_of(rows, way="tx")
    total = "[SUM]   0.00-10.00  sec   119 MBytes   100 Mbits/sec                  receiver\n"
    (run,) = runs_of(rows + total, way="tx")
    assert (run.metrics["throughput_mbit_s"].value, run.test.streams) == (100.0, 2)
    (alone,) = runs_of(total, way="tx")
    assert alone.metrics["throughput_mbit_s"].value == 100.0

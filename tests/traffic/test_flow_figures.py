"""Figures of flows from the JSON of real iperf3 runs, altered where the test needs it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from instrument_bench import CAPTURED, facts_of, gate_states, make_plan, values
from txop.measure.instrument import Reading
from txop.measure.traffic.flows import Flow, flows_of
from txop.measure.traffic.iperf3 import client_argv, client_file, end_file, interval_s, listening_ports, server_file
from txop.measure.traffic.iperf3_reading import jain, read_flows
from txop.plan.model import Plan

TX = '[[test]]\nname = "t"\nkind = "tcp-tx"\nduration_s = 2\nwarm_up_s = 1\n'
UDP = '[[test]]\nname = "t"\nkind = "udp-tx"\nrate_mbit_s = 20\nduration_s = 2\nwarm_up_s = 1\n'
Change = Callable[[dict[str, Any]], None]


def captured(name: str) -> str:
    return (CAPTURED / "iperf3" / f"{name}.txt").read_text()


def read(folder: Path, client: str | None, server: str | None, test: str = TX, flow: int = 0) -> Reading:
    plan = make_plan(test)
    put(folder, flow, client, server)
    return reading_of(plan, folder)


def put(folder: Path, number: int, client: str | None, server: str | None) -> None:
    flow = Flow(number, "dut", "tx")
    for name, text in ((client_file(flow), client), (server_file(flow), server)):
        if text is not None:
            (folder / name).write_text(text)


def reading_of(plan: Plan, folder: Path) -> Reading:
    flows = flows_of(plan.test[0], plan.warm_up_s(plan.test[0]))
    files = {flow.number: (client_file(flow), server_file(flow), end_file(flow)) for flow in flows}
    return read_flows(facts_of(plan, folder), flows, files)


def changed(text: str, change: Change) -> str:
    document = json.loads(text)
    change(document)
    return json.dumps(document)


def test_the_lower_of_both_ends_counts_and_both_are_kept(tmp_path):
    client, server = captured("v3.12-tcp-client"), captured("v3.12-tcp-server")
    reading = read(tmp_path, client, server)
    sent = json.loads(client)["end"]["sum_sent"]["bits_per_second"] / 1e6
    received = json.loads(server)["end"]["sum_received"]["bits_per_second"] / 1e6
    assert received < sent
    assert values(reading)["throughput_mbit_s"] == pytest.approx(received)
    assert set(reading.files) == {"iperf3-0-client.json", "iperf3-0-server.json"}
    assert not reading.warnings

    def more(document: dict[str, Any]) -> None:
        for each in (document["end"]["sum_received"], document["end"]["streams"][0]["receiver"]):
            each["bytes"] *= 2

    reading = read(tmp_path, client, changed(server, more))
    assert values(reading)["throughput_mbit_s"] == pytest.approx(sent)
    assert "the sender reports 50.32 Mbit/s, the receiver 100.26; the lower one counts" in reading.warnings[0]


def end_total(document: dict[str, Any], side: str, seconds: float, count: int) -> None:
    """Write the total of one end (``sender``, ``receiver``) over another time."""
    sums = {"sender": "sum_sent", "receiver": "sum_received"}[side]
    for each in (document["end"][sums], document["end"]["streams"][0][side]):
        each |= {"start": 0, "end": seconds, "seconds": seconds, "bytes": count, "bits_per_second": 0}


def test_an_end_whose_total_is_of_another_time_does_not_count(tmp_path):
    """The sending end reset its clock at its last breath: 0 bytes in 0.8 ms. The receiver counted the whole window."""
    client, server = captured("v3.12-tcp-client"), captured("v3.12-tcp-server")
    received = json.loads(server)["end"]["sum_received"]["bits_per_second"] / 1e6
    reading = read(tmp_path, changed(client, lambda document: end_total(document, "sender", 0.0008, 0)), server)
    assert values(reading)["throughput_mbit_s"] == pytest.approx(received)
    assert values(reading)["tcp_retransmits_per_s"] is None, "they are of 0.8 ms, too"
    assert any("the total of the sender is of 0.0008 s, the window is 2 s" in words for words in reading.warnings)
    assert gate_states(reading) == {"traffic-failed": "ok"}


def test_a_run_of_which_no_end_counted_the_window_is_void(tmp_path):
    client = changed(captured("v3.12-tcp-client"), lambda document: end_total(document, "sender", 0.0008, 0))
    server = changed(captured("v3.12-tcp-server"), lambda document: end_total(document, "receiver", 0.4, 10_000))
    reading = read(tmp_path, client, server)
    assert values(reading)["throughput_mbit_s"] is None
    assert gate_states(reading) == {"traffic-failed": "void"}


def test_zero_at_one_end_is_never_taken_without_a_word(tmp_path):
    """A sender of nothing beside a receiver of something contradicts itself; a receiver of nothing is a warning."""
    client, server = captured("v3.12-tcp-client"), captured("v3.12-tcp-server")
    received = json.loads(server)["end"]["sum_received"]["bits_per_second"] / 1e6
    reading = read(tmp_path, changed(client, lambda document: end_total(document, "sender", 2.0, 0)), server)
    assert values(reading)["throughput_mbit_s"] == pytest.approx(received)
    assert any("the sender does not count" in words for words in reading.warnings)
    reading = read(tmp_path, client, changed(server, lambda document: end_total(document, "receiver", 2.0, 0)))
    assert values(reading)["throughput_mbit_s"] == 0
    assert any("nothing arrived" in words for words in reading.warnings)


def test_retransmissions_and_the_round_trip_are_the_senders(tmp_path):
    client = captured("v3.12-tcp-client")
    reading = read(tmp_path, client, captured("v3.12-tcp-server"))
    document = json.loads(client)
    assert values(reading)["tcp_retransmits_per_s"] == document["end"]["sum_sent"]["retransmits"] / 2
    kept = [each["streams"][0]["rtt"] / 1e3 for each in document["intervals"] if not each["streams"][0]["omitted"]]
    assert values(reading)["tcp_rtt_ms"] == pytest.approx(sum(kept) / len(kept))


def test_the_series_has_the_warm_up_at_negative_times(tmp_path):
    reading = read(tmp_path, captured("v3.12-tcp-client"), captured("v3.12-tcp-server"))
    times = [t for t, _ in reading.series["throughput_mbit_s"]]
    assert times == [-0.5, 0.5, 1.5]


def test_udp_loss_is_the_receivers(tmp_path):
    def lossy(document: dict[str, Any]) -> None:
        for each in (document["end"]["sum_received"], document["end"]["sum"], document["end"]["streams"][0]["udp"]):
            each |= {"lost_packets": 38, "packets": 152}
        for interval in document["intervals"]:
            each = interval["streams"][0]
            each["lost_packets"] = 19 if not each["omitted"] else 5

    reading = read(tmp_path, captured("v3.12-udp-client"), changed(captured("v3.12-udp-server"), lossy), UDP)
    assert values(reading)["udp_loss_percent"] == pytest.approx(25.0)
    assert values(reading)["udp_jitter_ms"] is not None


def test_a_version_that_cannot_tell_the_loss_says_so(tmp_path):
    reading = read(tmp_path, captured("v3.1-udp-client"), captured("v3.1-udp-server"), UDP)
    assert values(reading)["udp_loss_percent"] is None
    assert any("counts datagrams lost in the omitted part too" in warning for warning in reading.warnings)


@pytest.mark.parametrize(
    ("client", "server", "words"),
    [
        ("v3.12-busy-client", None, "the server is busy running a test"),
        ("v3.12-refused-client", None, "unable to connect"),
        ("v3.12-INT-client", "v3.12-INT-server", "interrupt - the client has terminated"),
        ("v3.12-KILL-client", "v3.12-KILL-server", "flow 0 (tx)"),
        ("v3.17-stream-killed-client", "v3.17-stream-killed-server", "did not reach its end"),
        ("v3.12-serverdies-client", "v3.12-serverdies-server", "server"),
        (None, None, "no output"),
    ],
)
def test_a_client_that_failed_voids_the_run_with_its_words(tmp_path, client, server, words):
    reading = read(tmp_path, client and captured(client), server and captured(server))
    assert gate_states(reading) == {"traffic-failed": "void"}
    assert words in reading.gates[0].words
    assert values(reading)["throughput_mbit_s"] is None
    assert reading.metrics["throughput_mbit_s"].reason


def test_a_client_that_died_says_how(tmp_path):
    (tmp_path / "iperf3-0-client-end.txt").write_text("it ended by SIGABRT: libgcc_s.so.1 must be installed\n")
    reading = read(tmp_path, "", captured("v3.12-tcp-server"))
    assert gate_states(reading) == {"traffic-failed": "void"}
    assert "flow 0 (tx): it ended by SIGABRT: libgcc_s.so.1 must be installed" in reading.gates[0].words


def test_a_server_without_report_leaves_the_clients_word(tmp_path):
    """The client's own JSON has what its server told it."""
    reading = read(tmp_path, captured("v3.12-tcp-client"), None)
    assert gate_states(reading) == {"traffic-failed": "ok"}
    assert values(reading)["throughput_mbit_s"] == pytest.approx(50.130424, rel=1e-6)


def test_connections_within_one_iperf3_have_their_fairness(tmp_path):
    server = captured("v3.12-tcp-p3-server")
    test = '[[test]]\nname = "t"\nkind = "tcp-tx"\nstreams = 3\nduration_s = 2\nwarm_up_s = 0\n'
    reading = read(tmp_path, captured("v3.12-tcp-p3-client"), server, test)
    rates = [each["receiver"]["bits_per_second"] for each in json.loads(server)["end"]["streams"]]
    assert len(rates) == 3
    assert values(reading)["jain_index"] == pytest.approx(sum(rates) ** 2 / (3 * sum(rate**2 for rate in rates)))


def test_two_stations_share(tmp_path):
    test = '[[test]]\nname = "t"\nkind = "stations"\nstations = ["dut", "sta2"]\ndirection = "tx"\nduration_s = 2\nwarm_up_s = 1\n'  # noqa: E501
    plan = make_plan(test, '[target.sta2]\nkind = "local"\n')

    def half(document: dict[str, Any]) -> None:
        for each in (document["end"]["sum_received"], document["end"]["streams"][0]["receiver"]):
            each["bytes"] //= 2

    put(tmp_path, 0, captured("v3.12-tcp-client"), captured("v3.12-tcp-server"))
    put(tmp_path, 1, captured("v3.12-tcp-client"), changed(captured("v3.12-tcp-server"), half))
    reading = reading_of(plan, tmp_path)
    assert values(reading)["throughput_mbit_s"] == pytest.approx(1.5 * 50.130424, rel=1e-6)
    assert values(reading)["jain_index"] == pytest.approx(0.9)
    assert reading.files["iperf3-1-client.json"] == "iperf3 client on sta2, tx"
    put(tmp_path, 1, captured("v3.12-refused-client"), None)
    reading = reading_of(plan, tmp_path)
    assert [(f.state, f.target) for f in reading.gates] == [("void", "sta2")]
    assert values(reading)["throughput_mbit_s"] is None
    assert values(reading)["jain_index"] is None


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_no_output_is_more_than_a_void_run(tmp_path, data):
    whole = captured("v3.12-tcp-server")
    cut = st.integers(0, len(whole)).map(lambda n: whole[:n])
    swap = st.integers(0, len(whole) - 9).map(lambda n: whole[:n] + "-1e999" + whole[n + 6 :])
    texts = st.one_of(st.none(), cut, swap, st.text(max_size=200), st.sampled_from(["{}", "[]", '{"end": 7}', "nan"]))
    for name in ("iperf3-0-client.json", "iperf3-0-server.json"):
        text = data.draw(texts)
        path = tmp_path / name
        path.unlink(missing_ok=True)
        if text is not None:
            path.write_text(text, encoding="utf-8", errors="replace")
    reading = reading_of(make_plan(TX), tmp_path)
    value = reading.metrics["throughput_mbit_s"]
    assert (value.value is None) == bool(value.reason)
    assert gate_states(reading)["traffic-failed"] == ("ok" if value.value is not None else "void")


# Which flows ----------------------------------------------------------------------------------------------------------

KINDS = {
    "tcp-both": 'kind = "tcp-both"\nstreams = 4\n',
    "staggered": 'kind = "tcp-rx"\nstreams = 4\nstagger_s = 3\n',
    "udp": 'kind = "udp-rx"\nrate_mbit_s = 5\ndscp = 46\n',
    "rrul": 'kind = "rrul"\n',
    "stations": 'kind = "stations"\nstations = ["dut", "sta2", "sta3"]\ndirection = "both"\n',
    "soak": 'kind = "soak"\n',
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("warm_up_s", [0, 0.5, 5, 7])
def test_every_flow_ends_with_the_window_and_omits_the_warm_up(kind, warm_up_s):
    more = '[target.sta2]\nkind = "local"\n[target.sta3]\nkind = "local"\n'
    test = f'[[test]]\nname = "t"\nduration_s = 20\nwarm_up_s = {warm_up_s}\n{KINDS[kind]}'
    plan = make_plan(test, more)
    flows = flows_of(plan.test[0], warm_up_s)
    assert [flow.number for flow in flows] == list(range(len(flows)))
    assert len({client_file(flow) for flow in flows}) == len(flows)
    for flow in flows:
        assert flow.start_s + flow.seconds == pytest.approx(20 + warm_up_s)
        assert flow.start_s + flow.omit_s == pytest.approx(max(flow.start_s, warm_up_s))
        argv = client_argv("iperf3", flow, "192.0.2.2", 5210 + flow.number)
        length, omit = float(argv[argv.index("-t") + 1]), float(argv[argv.index("-O") + 1]) if "-O" in argv else 0.0
        # whole seconds: it never ends early by more than half a second, nor keeps anything of the warm-up
        assert length >= flow.seconds - flow.omit_s - 0.5
        assert omit >= flow.omit_s


def test_the_flows_of_each_kind():
    def shapes(kind: str) -> list[tuple[object, ...]]:
        more = '[target.sta2]\nkind = "local"\n[target.sta3]\nkind = "local"\n'
        plan = make_plan(f'[[test]]\nname = "t"\nduration_s = 20\n{KINDS[kind]}', more)
        return [(f.station, f.direction, f.streams, f.start_s, f.dscp) for f in flows_of(plan.test[0], 5)]

    assert shapes("tcp-both") == [("dut", "tx", 4, 0, None), ("dut", "rx", 4, 0, None)]
    assert shapes("staggered") == [("dut", "rx", 1, 3 * n, None) for n in range(4)]
    assert shapes("rrul") == [("dut", way, 1, 0, dscp) for dscp in (0, 8, 40, 46) for way in ("tx", "rx")]
    assert shapes("stations") == [(s, way, 1, 0, None) for s in ("dut", "sta2", "sta3") for way in ("tx", "rx")]


def test_stations_have_the_congestion_control_of_their_test():
    more = '[target.sta2]\nkind = "local"\n[target.sta3]\nkind = "local"\n'
    test = f'[[test]]\nname = "t"\n{KINDS["stations"]}congestion = "reno"\n'
    flows = flows_of(make_plan(test, more).test[0], 5)
    assert all(client_argv("iperf3", flow, "192.0.2.2", 5210)[-2:] == ["-C", "reno"] for flow in flows)


def test_a_soak_reports_less_often_but_never_less_than_iperf3_takes():
    assert [interval_s(s) for s in (3, 30, 61, 7200, 7201, 86400, 7 * 86400)] == [0.2, 0.5, 1, 1, 2, 12, 60]


def test_a_soak_at_a_rate_is_tcp_in_blocks_of_a_tenth_of_a_second():
    def argv(rate_mbit_s: float, direction: str = "both") -> list[list[str]]:
        test = f'[[test]]\nname = "t"\nkind = "soak"\ndirection = "{direction}"\nrate_mbit_s = {rate_mbit_s}\n'
        flows = flows_of(make_plan(test).test[0], 5)
        return [client_argv("iperf3", flow, "192.0.2.2", 5210) for flow in flows]

    both = argv(1)
    assert len(both) == 2
    for line in both:
        assert "-u" not in line
        assert line[line.index("-b") + 1] == "1000000"
        assert line[line.index("-l") + 1] == "12500"
        assert line[line.index("--pacing-timer") + 1] == "100000"
    (slow,) = argv(0.01, "rx")
    assert slow[slow.index("-l") + 1] == "1448"
    (fast,) = argv(100, "rx")
    assert not {"-l", "--pacing-timer"} & set(fast), "in blocks of its own it looks often enough"
    with pytest.raises(ValidationError):
        argv(0.0000004)
    unlimited = flows_of(make_plan(f'[[test]]\nname = "t"\n{KINDS["soak"]}').test[0], 5)
    assert all("-b" not in client_argv("iperf3", flow, "192.0.2.2", 5210) for flow in unlimited)


def test_dscp_is_shifted_past_ecn():
    flow = Flow(0, "dut", "tx", seconds=10, dscp=46)
    argv = client_argv("iperf3", flow, "192.0.2.2", 5210)
    assert argv[argv.index("-S") + 1] == "184"


@given(st.text())
def test_any_table_of_sockets(text):
    assert all(port >= 0 for port in listening_ports(text))


@given(st.lists(st.floats(0.001, 1e6), min_size=1, max_size=20))
def test_jains_index_is_between_one_of_n_and_one(rates):
    index = jain(rates)
    assert index is not None
    assert 1 / len(rates) - 1e-9 <= index <= 1 + 1e-9

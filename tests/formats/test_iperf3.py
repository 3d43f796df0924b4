"""iperf3: every mode of six versions, both ends, against the other end's own figures and iperf3's own sums."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from txop.formats import iperf3
from txop.formats.error import FormatError
from txop.formats.iperf3_result import Iperf3Result

FOLDER = Path(__file__).with_name("captured") / "iperf3"
ALL = sorted(path.name for path in FOLDER.iterdir())
UNREADABLE = {"v3.12-KILL-client.txt"}
BROKEN_OFF = ("INT", "TERM", "KILL", "serverdies", "killed", "refused", "busy")
WHOLE_RUNS = [
    name.removesuffix("-client.txt")
    for name in ALL
    if name.endswith("-client.txt") and not any(cause in name for cause in BROKEN_OFF)
]
VERSIONS = ("3.1", "3.7", "3.9", "3.12", "3.17", "3.21")

Read = Callable[[str], str]


@pytest.fixture
def parsed(captured: Read) -> Callable[[str], Iperf3Result]:
    return lambda name: iperf3.parse(captured(f"iperf3/{name}"))


def raw_with_both_directions(text: str) -> dict[str, Any]:
    """The document read by the standard library alone; a repeated key keeps both values, as a list."""

    def pairs(members: list[tuple[str, Any]]) -> dict[str, Any]:
        kept: dict[str, Any] = {}
        for key, value in members:
            kept[key] = [kept[key], value] if key in kept and key.startswith("sum") else value
        return kept

    document: dict[str, Any] = json.loads(text.replace("-nan", "NaN"), object_pairs_hook=pairs)
    return document


def test_every_capture_is_read(parsed: Callable[[str], Iperf3Result]) -> None:
    assert len(ALL) > 130
    for name in ALL:
        if name in UNREADABLE:
            continue
        result = parsed(name)
        assert result.complete == (not any(cause in name for cause in BROKEN_OFF)), name
        for flow in result.flows:
            assert flow.direction is not None, name
            for interval in flow.kept():
                assert interval.start_s >= -0.001, name
            for interval in flow.intervals:
                assert not interval.omitted or interval.end_s <= 0.05, name


@pytest.mark.parametrize("run", WHOLE_RUNS)
def test_the_client_and_the_server_agree_on_what_was_received(run: str, parsed: Callable[[str], Iperf3Result]) -> None:
    """The server counted by itself, so its count is the oracle of what the client says the other end got, and back."""
    client, server = parsed(f"{run}-client.txt"), parsed(f"{run}-server.txt")
    assert client.role == "client"
    assert server.role == "server"
    assert [flow.direction for flow in client.flows] == [flow.direction for flow in server.flows]
    in_text = "text" in (client.source, server.source)
    for mine, theirs in zip(client.flows, server.flows, strict=True):
        server_receives = mine.direction == "client_to_server"
        ours, own = (mine.receiver, theirs.receiver) if server_receives else (mine.sender, theirs.sender)
        assert own is not None
        if ours is None or ours.bytes is None or own.bytes is None:
            assert client.protocol == "UDP"
            continue
        if any("packet count" in note for note in client.notes):
            assert ours.bytes == pytest.approx(own.bytes, rel=0.04)
            continue
        assert ours.bytes == pytest.approx(own.bytes, rel=0.01 if in_text else 0)
        if not server_receives and client.protocol == "UDP":
            continue  # before 3.12 the client takes its own time for the sender's
        # 3.1 does not send the other end its time; text and -P round, or take the longest of several.
        rough = run.startswith("v3.1-") or "-p" in run
        assert ours.seconds == pytest.approx(own.seconds, abs=0.06 if rough else 0.011 if in_text else 0.002)


@pytest.mark.parametrize("name", [name for name in ALL if "-text" not in name and "stream" not in name])
def test_the_sums_are_those_that_iperf3_prints(name: str, captured: Read) -> None:
    if name in UNREADABLE or any(cause in name for cause in BROKEN_OFF):
        return
    text = captured(f"iperf3/{name}")
    end = raw_with_both_directions(text)["end"]
    result = iperf3.parse(text)
    checked = 0
    for index, direction in enumerate(("client_to_server", "server_to_client")):
        flow = result.flow(direction)
        if flow is None:
            continue
        for side, key in (("sender", "sum_sent"), ("receiver", "sum_received")):
            figures = getattr(flow, side)
            printed = end.get(key)
            if isinstance(printed, list):
                printed = printed[index]
            elif index == 1 and len(result.flows) > 1:
                printed = end.get(f"{key}_bidir_reverse")
            if figures is None or printed is None:
                continue
            assert figures.bytes == printed["bytes"], (name, direction, side)
            checked += 1
            swapped_times = len(result.flows) > 1 and direction == "server_to_client" and result.role == "client"
            if not swapped_times and result.protocol == "TCP":
                assert figures.bits_per_second == pytest.approx(printed["bits_per_second"], rel=1e-5)
            if side == "sender" and "retransmits" in printed:
                assert figures.retransmits == printed["retransmits"]
    assert checked or result.protocol == "UDP"


@pytest.mark.parametrize("version", VERSIONS)
def test_a_reverse_test_runs_from_server_to_client(version: str, parsed: Callable[[str], Iperf3Result]) -> None:
    result = parsed(f"v{version}-tcp-reverse-client.txt")
    assert result.reverse is True
    assert result.flow("client_to_server") is None
    flow = result.flow("server_to_client")
    assert flow is not None
    assert flow.seen_by == "receiver"
    assert iperf3.goodput_mbit_s(result, "server_to_client") == pytest.approx(50, rel=0.03)
    assert iperf3.goodput_mbit_s(result, "client_to_server") is None
    assert all(interval.rtt_us is None and interval.retransmits is None for interval in flow.intervals)
    assert flow.sender is not None
    assert flow.sender.mean_rtt_us is None  # what is printed there is this end's own socket


@pytest.mark.parametrize("version", VERSIONS)
def test_what_an_end_does_not_know_is_none_and_not_zero(version: str, parsed: Callable[[str], Iperf3Result]) -> None:
    upload = parsed(f"v{version}-tcp-server.txt").flow("client_to_server")
    download = parsed(f"v{version}-tcp-reverse-server.txt").flow("server_to_client")
    assert upload is not None
    assert upload.sender is None
    assert download is not None
    assert download.receiver is None
    assert parsed(f"v{version}-tcp-server.txt").peer_cpu is None
    assert parsed(f"v{version}-tcp-client.txt").peer_cpu is not None


@pytest.mark.parametrize("version", [version for version in VERSIONS if version != "3.1"])
def test_both_directions_at_once_are_kept_apart(version: str, parsed: Callable[[str], Iperf3Result]) -> None:
    """Before 3.11 the second direction hides behind repeated keys."""
    result = parsed(f"v{version}-tcp-bidir-client.txt")
    assert result.bidirectional is True
    up, down = result.flow("client_to_server"), result.flow("server_to_client")
    assert up is not None
    assert down is not None
    assert (up.seen_by, down.seen_by) == ("sender", "receiver")
    assert up.streams[0].socket != down.streams[0].socket
    for direction in ("client_to_server", "server_to_client"):
        assert iperf3.goodput_mbit_s(result, direction) == pytest.approx(50, rel=0.03)


def test_omitted_intervals_lie_before_zero(parsed: Callable[[str], Iperf3Result]) -> None:
    flow = parsed("v3.12-tcp-client.txt").flow("client_to_server")
    assert flow is not None
    assert [interval.omitted for interval in flow.intervals] == [True, True, False, False, False, False]
    assert [round(interval.start_s, 1) for interval in flow.intervals] == [-1.0, -0.5, 0.0, 0.5, 1.0, 1.5]
    assert len(flow.kept()) == 4


def test_an_interval_whose_times_contradict_each_other_has_no_rate(
    parsed: Callable[[str], Iperf3Result],
) -> None:
    """3.21 printed 0.504-0.504 s, ``seconds`` 1.008 and half the true rate."""
    result = parsed("v3.21-tcp-reverse-client.txt")
    flow = result.flow("server_to_client")
    assert flow is not None
    first = flow.kept()[0]
    assert not first.times_agree
    assert first.bits_per_second is None
    assert first.bytes == 3_145_728
    assert any("contradict" in note for note in result.notes)


def test_streams_are_added_up(parsed: Callable[[str], Iperf3Result]) -> None:
    result = parsed("v3.12-tcp-p3-client.txt")
    flow = result.flow("client_to_server")
    assert flow is not None
    assert flow.receiver is not None
    assert len(flow.streams) == result.stream_count == 3
    assert flow.receiver.bytes == sum(stream.receiver.bytes or 0 for stream in flow.streams if stream.receiver)
    assert flow.intervals[0].rtt_us is None
    assert flow.streams[0].intervals[0].rtt_us is not None


def test_the_servers_own_result_comes_along(parsed: Callable[[str], Iperf3Result], captured: Read) -> None:
    result = parsed("v3.12-tcp-p3-client.txt")
    assert result.server is not None
    assert result.server.role == "server"
    assert result.server.flows == parsed("v3.12-tcp-p3-server.txt").flows
    text = parsed("v3.12-server-text-client.txt")
    assert text.server is None
    assert text.server_text is not None
    assert "receiver" in text.server_text
    in_stream = parsed("v3.21-stream-tcp-client.txt")
    assert in_stream.server is not None
    assert in_stream.server.role == "server"


@pytest.mark.parametrize("version", VERSIONS)
def test_udp_loss_and_jitter(version: str, parsed: Callable[[str], Iperf3Result]) -> None:
    for run, direction in (("udp", "client_to_server"), ("udp-reverse", "server_to_client")):
        result = parsed(f"v{version}-{run}-{'server' if run == 'udp' else 'client'}.txt")
        flow = result.flow(direction)  # type: ignore[arg-type]
        assert flow is not None
        assert flow.receiver is not None
        kept = flow.kept()
        counts = [interval.lost_packets for interval in kept]
        if None in counts:  # 3.1 takes back what was lost before: "lost_packets": -59
            assert version == "3.1"
            assert flow.receiver.lost_packets is None
        else:
            assert flow.receiver.lost_packets == sum(count or 0 for count in counts)
        assert flow.receiver.bytes == sum(interval.bytes or 0 for interval in kept)
        assert flow.receiver.jitter_ms is not None
        assert result.block_bytes is not None


def test_loss_of_the_omitted_part_is_not_blamed_on_the_test(parsed: Callable[[str], Iperf3Result]) -> None:
    client = parsed("v3.1-udp-client.txt").flow("client_to_server")
    assert client is not None
    assert client.receiver is not None
    assert client.receiver.lost_packets is None
    assert iperf3.goodput_mbit_s(parsed("v3.1-udp-client.txt"), "client_to_server") is None


def test_a_count_that_wrapped_around_is_none(captured: Read) -> None:
    text = captured("iperf3/v3.12-udp-server.txt")
    assert "18446744073709551539" in text
    result = iperf3.parse(text)
    flow = result.flow("client_to_server")
    assert flow is not None
    assert flow.sender is None


def test_nan_of_c_is_read(captured: Read) -> None:
    text = captured("iperf3/v3.1-udp-server.txt")
    assert "-nan" in text
    assert iperf3.parse(text).complete


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("v3.12-refused-client.txt", "unable to connect to server: Connection refused"),
        ("v3.12-busy-client.txt", "the server is busy running a test. try again later"),
        ("v3.12-text-refused-client.txt", "unable to connect to server: Connection refused"),
        ("v3.12-INT-client.txt", "interrupt - the client has terminated"),
        ("v3.12-serverdies-client.txt", "the server has terminated"),
    ],
)
def test_errors_that_iperf3_reports(name: str, error: str, parsed: Callable[[str], Iperf3Result]) -> None:
    result = parsed(name)
    assert result.error == error
    assert not result.complete


def test_the_error_event_of_a_stream(parsed: Callable[[str], Iperf3Result]) -> None:
    result = parsed("v3.21-stream-refused-client.txt")
    assert result.error is not None
    assert "Connection refused" in result.error
    assert result.flows == ()


def test_a_run_that_broke_off_counts_only_its_intervals(parsed: Callable[[str], Iperf3Result]) -> None:
    """Its summary has the bytes of 2.3 s over 2.0 s, and its last interval twice."""
    flow = parsed("v3.12-INT-server.txt").flow("client_to_server")
    assert flow is not None
    assert flow.receiver is not None
    assert len(flow.intervals) == 2
    assert flow.receiver.bits_per_second == pytest.approx(20e6, rel=0.02)
    lost_peer = parsed("v3.12-serverdies-client.txt").flow("client_to_server")
    assert lost_peer is not None
    assert lost_peer.receiver is None


@pytest.mark.parametrize("version", ["3.17", "3.21"])
def test_a_killed_stream_gives_what_it_has(version: str, captured: Read) -> None:
    text = captured(f"iperf3/v{version}-stream-killed-client.txt")
    result = iperf3.parse(text)
    assert not result.complete
    flow = result.flow("client_to_server")
    assert flow is not None
    assert flow.sender is not None
    assert flow.sender.bits_per_second == pytest.approx(20e6, rel=0.05)
    cut = iperf3.parse(text[: len(text) - 40])
    assert not cut.complete
    assert len(cut.flows[0].intervals) == len(flow.intervals) - 1


def test_a_cut_off_document_is_an_error_that_quotes_its_start(captured: Read) -> None:
    text = captured("iperf3/v3.12-tcp-client.txt")
    with pytest.raises(FormatError, match=r'cut off or damaged; it starts with "\{\\n\\t\\"start'.replace('\\"', '"')):
        iperf3.parse(text[:2000])
    with pytest.raises(FormatError, match="killed prints nothing"):
        iperf3.parse(captured("iperf3/v3.12-KILL-client.txt"))


def test_several_documents_of_one_server(captured: Read) -> None:
    one, two = captured("iperf3/v3.12-tcp-server.txt"), captured("iperf3/v3.12-udp-server.txt")
    results = iperf3.parse_all(one + "iperf3: warning: something\n" + two)
    assert [result.protocol for result in results] == ["TCP", "UDP"]
    with pytest.raises(FormatError, match="2 tests"):
        iperf3.parse(one + two)


def test_a_stream_followed_by_the_whole_document_is_one_test(captured: Read) -> None:
    results = iperf3.parse_all(captured("iperf3/v3.21-stream-full-client.txt"))
    assert [result.source for result in results] == ["json"]


def test_facts_of_the_run(parsed: Callable[[str], Iperf3Result]) -> None:
    result = parsed("v3.21-tcp-client.txt")
    assert result.version == "3.21"
    assert result.extra_data == "run-7"
    assert result.sender_congestion_control == "bbr"
    assert result.started_resolution_s == 1e-3
    assert parsed("v3.12-tcp-client.txt").started_resolution_s == 1.0
    assert result.omit_s == 1.0
    assert result.target_bits_per_second == 50e6
    assert result.connections[0].remote_port == 5300
    assert result.own_cpu is not None
    assert result.own_cpu.iperf3_process_percent is not None


@pytest.mark.parametrize("version", VERSIONS)
def test_rows_of_pasted_text(version: str, captured: Read) -> None:
    result = iperf3.parse(captured(f"iperf3/v{version}-text-tcp-client.txt"))
    assert result.source == "text"
    assert iperf3.goodput_mbit_s(result, "client_to_server") == pytest.approx(50, rel=0.06)
    flow = result.flow("client_to_server")
    assert flow is not None
    assert [interval.omitted for interval in flow.intervals] == [True, True, False, False, False, False]
    assert flow.kept()[0].snd_cwnd_bytes is not None
    assert any("three significant digits" in note for note in result.notes)


@pytest.mark.parametrize("name", ["v3.12-text-timestamps-client.txt", "v3.12-text-title-client.txt"])
def test_rows_with_something_before_them(name: str, parsed: Callable[[str], Iperf3Result]) -> None:
    assert iperf3.goodput_mbit_s(parsed(name), "client_to_server") == pytest.approx(20.9, abs=0.1)


def test_pasted_summary_rows_alone_do_not_say_who_sent() -> None:
    result = iperf3.parse(
        "[ ID] Interval           Transfer     Bitrate         Retr\n"
        "[  5]   0.00-10.00  sec   262 MBytes   220 Mbits/sec   17             sender\n"
        "[  5]   0.00-10.04  sec   260 MBytes   217 Mbits/sec                  receiver\n"
    )
    (flow,) = result.flows
    assert flow.direction is None
    assert flow.receiver is not None
    assert flow.receiver.bits_per_second == 217e6
    assert flow.receiver.bytes == 260 * 2**20
    assert flow.sender is not None
    assert flow.sender.retransmits == 17
    assert any("does not show" in note for note in result.notes)


def test_text_of_something_else_is_refused() -> None:
    with pytest.raises(FormatError, match="neither JSON nor rows"):
        iperf3.parse("Linux version 6.1.0")
    with pytest.raises(FormatError, match="not of iperf3"):
        iperf3.parse('{"a": 1}')


def test_swapped_times_of_the_two_ends_are_said() -> None:
    rows = """\
Connecting to host 192.0.2.1, port 5201
[  5] local 192.0.2.2 port 40000 connected to 192.0.2.1 port 5201
[  7] local 192.0.2.2 port 40002 connected to 192.0.2.1 port 5201
[ ID][Role] Interval           Transfer     Bitrate         Retr  Cwnd
[  5][TX-C]   0.00-2.00   sec  10.0 MBytes  41.9 Mbits/sec    0    420 KBytes
[  7][RX-C]   0.00-2.00   sec  5.00 MBytes  21.0 Mbits/sec
- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID][Role] Interval           Transfer     Bitrate         Retr
[  5][TX-C]   0.00-2.00   sec  10.0 MBytes  41.9 Mbits/sec    0             sender
[  5][TX-C]   0.00-2.10   sec  9.90 MBytes  39.5 Mbits/sec                  receiver
[  7][RX-C]   0.00-{sender}   sec  5.25 MBytes  22.0 Mbits/sec    3             sender
[  7][RX-C]   0.00-{receiver}   sec  5.00 MBytes  20.0 Mbits/sec                  receiver
"""
    swapped = iperf3.parse(rows.format(sender="2.00", receiver="2.10"))
    assert iperf3.goodput_mbit_s(swapped, "server_to_client") == pytest.approx(5 * 2**20 * 8 / 2.0 / 1e6)
    assert any("at the other one" in note for note in swapped.notes)
    right = iperf3.parse(rows.format(sender="2.10", receiver="2.00"))
    assert iperf3.goodput_mbit_s(right, "server_to_client") == pytest.approx(20.0)
    assert not any("at the other one" in note for note in right.notes)

"""What ``txop bus`` does not know, and says so: nothing recorded, no clock, no statuses, no lengths, lower bounds."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from sdio_log import CommandLog, message
from txop import bus
from txop.bus import BusReport
from txop.bus.compare import compare
from txop.bus.page import page
from txop.bus.side_by_side import grid
from txop.bus.view import sections
from txop.measure.instrument import Reading
from txop.measure.probes.bus_analysis import digest_of
from usb_trace import IN, OUT, Trace, pcapng, qmap, tcp

SNOOP = """000029:  OUT: 000001 ms 000029 ms 21 09 00 03 00 00 08 00 >>> 55 01 01 00 00 ff 07 5d
000030:  OUT: 000001 ms 000030 ms a1 01 00 03 00 00 08 00 <<< aa 02
"""


def facts(report: BusReport) -> dict[str, str]:
    """The facts of the summary by their names."""
    return {fact.label: fact.value for fact in sections(report)[0].blocks[0].items}


def cells(report: BusReport, name: str) -> list[dict[str, str]]:
    """The rows of the first table of a section, by heading."""
    section = next(section for section in sections(report) if section.name == name)
    table = next(block for block in section.blocks if hasattr(block, "columns"))
    heads = [column.heading for column in table.columns]
    return [dict(zip(heads, (cell.text for cell in row), strict=True)) for row in table.rows]


def limit(report: BusReport, code: str) -> str | None:
    return next((limit.text for limit in report.summary.limits if limit.code == code), None)


def ring(link_type: int, transfers: int = 60) -> Trace:
    """Transfers each way, one after the other, at odd times."""
    trace = Trace(link_type)
    for n in range(transfers):
        trace.transfer(2_000_000 + n * 20_011, 301, OUT, qmap([tcp(0)] * 3))
        trace.transfer(2_000_050 + n * 20_011, 407, IN, qmap([tcp(1448)] * 4))
    return trace


def test_a_log_without_statuses_has_no_errors_and_not_0(tmp_path: Path) -> None:
    (tmp_path / "snoop.log").write_text(SNOOP)
    report = bus.analyze(tmp_path / "snoop.log")
    assert [row.errors for row in report.endpoints] == [None, None]
    assert [row.in_flight_max for row in report.endpoints] == [None, None]
    assert [row.failed for row in report.requests] == [None, None]
    assert {row["Not successful"] for row in cells(report, "endpoints")} == {"–"}
    assert {row["Failed"] for row in cells(report, "requests")} == {"–"}
    assert facts(report)["Time span"] == "not available: the file has no clock"


def test_requests_without_data_have_a_time_and_count_each_way(tmp_path: Path) -> None:
    trace = Trace(249)
    for at, is_completion in ((5_000_000, 0), (5_000_119, 1)):
        head = struct.pack("<HQIHBHHBBI", 27, 0xD783B017C460, 0, 0x1E, is_completion, 1, 5, 0x81, 0xFE, 0)
        trace.records.append((at, head))
    report = bus.analyze(trace.write(tmp_path / "reset.pcap"))
    assert (report.records, report.summary.other_requests, report.summary.span_us) == (0, 2, 119)
    assert facts(report)["Requests without data"] == "1 submitted, 1 completed; 1 reset of a pipe"
    assert facts(report)["Time span"].startswith("119 µs")


def test_what_usbpcap_writes_itself_was_not_on_the_bus(tmp_path: Path) -> None:
    trace = ring(249)
    told = Trace(249)
    told.descriptors()
    for _, record in told.records:
        # No identifier, and all at once, when the capture starts.
        trace.records.append((1_999_000, record[:2] + bytes(8) + record[10:]))
    report = bus.analyze(trace.write(tmp_path / "injected.pcap"))
    assert (report.summary.injected_requests, report.summary.submissions) == (3, 120)
    assert (report.devices[0].vendor_id, report.devices[0].product) == ("2c7c", "Modem")
    assert report.requests == []
    assert {row.transfer for row in report.endpoints} == {"bulk"}
    assert "3 requests were written down by USBPcap itself" in (limit(report, "injected") or "")


def test_a_coarse_clock_tells_no_short_times(tmp_path: Path) -> None:
    trace, fine = ring(249, 150), bus.analyze(ring(249, 150).write(tmp_path / "fine.pcap"))
    trace.records = [(at // 1000 * 1000, record) for at, record in trace.records]
    report = bus.analyze(trace.write(tmp_path / "coarse.pcap"))
    assert (report.summary.clock_step_us, fine.summary.clock_step_us) == (1000, None)
    assert "moves in steps of 1.0 ms" in (limit(report, "coarse-clock") or "")
    assert {row["Turnaround, median"] for row in cells(report, "endpoints")} == {"below 1.00 ms"}
    found = compare([fine, report])
    (turnaround,) = (row for row in found.differences if row.key == "uplink.turnaround")
    assert (turnaround.known_to, turnaround.difference, turnaround.weight) == ([None, 1000], None, None)
    row = next(row for row in grid(found).rows if row[0].text == turnaround.label)
    assert [cell.text for cell in row[1:4]] == ["301 µs", "below 1.00 ms", "–"]


@pytest.mark.parametrize(("keep", "size", "shown"), [(0, None, "–"), (40, 40 * 132, "at least 5.28 kB")])
def test_usbpcap_tells_the_length_of_out_transfers_with_their_submission(
    tmp_path: Path, keep: int, size: int | None, shown: str
) -> None:
    trace = Trace(249)
    for n in range(60):
        trace.transfer(2_000_000 + n * 20_011, 301, OUT, qmap([tcp(0)] * 3))
        if n >= keep:
            del trace.records[-2]
    report = bus.analyze(trace.write(tmp_path / "completions.pcap"))
    (row,) = report.endpoints
    assert (row.completions, row.bytes, row.bytes_unknown) == (60, size, 60 - keep)
    assert (report.devices[0].bytes_out, row.mbit_s) == (size, None)
    assert cells(report, "endpoints")[0]["Bytes"] == shown
    assert f"the bytes of {60 - keep} transfers to the device are not" in (limit(report, "unmatched") or "")


def ethernet(packet: bytes) -> bytes:
    """An IP packet behind an Ethernet header."""
    return bytes([2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0]) + packet


@pytest.mark.parametrize(("framed", "bare", "is_misused"), [(30, 0, True), (4, 500, False), (30, 1, True)])
def test_a_modem_is_misused_where_most_of_its_transfers_are(
    tmp_path: Path, framed: int, bare: int, is_misused: bool
) -> None:
    trace = Trace(220)
    trace.descriptors()
    for n in range(framed + bare):
        trace.transfer(2_000_000 + n * 1_011, 300, OUT, ethernet(tcp(100)) if n < framed else tcp(100))
        trace.transfer(2_000_100 + n * 1_011, 300, IN, tcp(1000))
    report = bus.analyze(trace.write(tmp_path / "modem.pcap"))
    assert ("raw-ip-misuse" in {verdict.code for verdict in report.verdicts}) == is_misused


def test_one_packet_among_frames_is_no_modem_in_raw_ip(tmp_path: Path) -> None:
    trace = Trace(220)
    for n in range(31):
        trace.transfer(2_000_000 + n * 1_011, 300, OUT, ethernet(tcp(100)))
        trace.transfer(2_000_100 + n * 1_011, 300, IN, tcp(1000) if n == 30 else ethernet(tcp(1000)))
    report = bus.analyze(trace.write(tmp_path / "ethernet.pcap"))
    assert "raw-ip-misuse" not in {verdict.code for verdict in report.verdicts}


def test_transfers_that_break_their_framing_are_in_no_mean(tmp_path: Path) -> None:
    trace = Trace(220)
    for n in range(30):
        data = qmap([tcp(0)] * 8) if n < 25 else b"\x00\x01\xff\xff" + bytes(9_996)
        trace.transfer(2_000_000 + n * 1_011, 300, OUT, data)
    report = bus.analyze(trace.write(tmp_path / "faulty.pcap"))
    (row,) = report.traffic
    assert (row.transfers, row.faulty_transfers, row.whole_transfers) == (30, 5, 25)
    assert (row.datagrams_per_transfer, row.padding_share) == (8.0, 0.0)
    up = next(verdict for verdict in report.verdicts if verdict.code == "uplink-aggregated")
    assert up.text.startswith("Uplink is aggregated: 8.0 datagrams per URB (QMAP)")
    assert "5 of them break the rules of the framing, so the mean is of 25" in up.evidence


@pytest.mark.parametrize(("dropped", "bound"), [(0, ""), (1, "at least "), (90, "at least ")])
def test_rates_of_a_capture_that_dropped_records_are_lower_bounds(tmp_path: Path, dropped: int, bound: str) -> None:
    (tmp_path / "usb.pcapng").write_bytes(pcapng(ring(220), dropped))
    report = bus.analyze(tmp_path / "usb.pcapng")
    assert report.summary.dropped_by_capture == dropped
    up = next(verdict for verdict in report.verdicts if verdict.code == "uplink-aggregated")
    assert f"3.0 datagrams per URB (QMAP), {bound}50 URB/s (busiest second {bound}50)." in up.text
    were = "was" if dropped == 1 else "were"
    said = f"{dropped} of {240 + dropped} records {were} dropped while capturing"
    assert any(line.startswith(said) for line in up.evidence) == bool(bound)


def ntb(sequence: int) -> bytes:
    """A block of NCM with one Ethernet frame."""
    frame = ethernet(tcp(100))
    table = struct.pack("<4sHHHHHH", b"NCM0", 16, 0, 28, len(frame), 0, 0)
    return struct.pack("<4sHHHH", b"NCMH", 12, sequence, 28 + len(frame), 12) + table + frame


@pytest.mark.parametrize(("dropped", "tone"), [(None, "neutral"), (0, "bad"), (13, "neutral")])
def test_missing_blocks_are_the_modem_s_only_where_the_capture_dropped_none(
    tmp_path: Path, dropped: int | None, tone: str
) -> None:
    trace = Trace(220)
    for n in range(60):
        trace.transfer(2_000_000 + n * 20_011, 301, IN, ntb(n + (13 if n >= 30 else 0)))
    path = tmp_path / "ncm.pcapng"
    if dropped is None:
        trace.write(path)
    else:
        path.write_bytes(pcapng(trace, dropped))
    found = next(verdict for verdict in bus.analyze(path).verdicts if verdict.code == "missing-blocks")
    assert found.tone == tone
    assert found.text.startswith("13 blocks are missing by sequence number")


def test_a_lower_bound_is_compared_as_one(tmp_path: Path) -> None:
    whole, cut = ring(220).write(tmp_path / "whole.pcap"), ring(220).write(tmp_path / "cut.pcap", 64 + 60)
    found = compare([bus.analyze(whole), bus.analyze(cut)])
    down = next(row for row in found.differences if row.key == "downlink.datagrams_per_transfer")
    assert (down.at_least, down.difference, down.weight) == ([False, True], None, None)
    row = next(row for row in grid(found).rows if row[0].text == down.label)
    assert [cell.text for cell in row[1:4]] == ["4.0", "at least 4.0", "–"]


def test_a_window_without_commands_is_no_usb_capture_without_a_clock(tmp_path: Path) -> None:
    made = CommandLog()
    made.start()
    made.now_ns += 3_000_000_000
    made.transfer(message(2, bytes(90)), write=True)
    report = bus.analyze(made.write(tmp_path / "sdio.pcap"), from_="+1", to="+2")
    assert (report.summary.layer, report.sdio) == ("sdio", None)
    assert [section.name for section in sections(report)] == ["summary"]
    assert [verdict.text for verdict in report.verdicts] == [
        "Nothing was recorded in the window, so there is no verdict on it."
    ]
    assert facts(report)["Time span"] == "not available: nothing was recorded in the window"
    assert "Nothing that this report needs" not in page(report)


def test_a_file_of_which_nothing_can_be_read_is_not_said_to_be_empty(tmp_path: Path) -> None:
    report = bus.analyze(ring(220).write(tmp_path / "cut.pcap", 40))
    assert [verdict.text for verdict in report.verdicts] == [
        "None of 240 records could be read, so nothing is known of the transfers."
    ]
    assert facts(report)["Time span"] == "not available: no record could be read"


def answered(tmp_path: Path, name: str, *, bus_time: bool) -> BusReport:
    """Twenty times a command that makes the interrupt line rise, and 50 µs later one of the host's."""
    made = CommandLog()
    made.start()
    for _ in range(20):
        made.line(False)
        began = made.now_ns + 5_000
        made.records.append((began, b"SDIO" + struct.pack("<BBB", 1, 2, True) + bytes(25)))
        made.transfer(message(2, bytes(90)), write=True)
        made.now_ns += 50_000
        made.read_byte(5, 2)
    if bus_time:
        made.records = [
            (at, record[:7] + bytes([record[7] | 4]) + record[8:] if record[5] == 1 else record)
            for at, record in made.records
        ]
    return bus.analyze(made.write(tmp_path / name))


def test_what_makes_the_line_rise_is_not_the_answer_to_it(tmp_path: Path) -> None:
    sdio = answered(tmp_path, "rise.pcap", bus_time=False).sdio
    assert sdio is not None
    response = sdio.interrupt_response_us
    assert response is not None
    assert (response.n, response.min, response.max) == (20, 65, 65)


def test_times_with_and_without_the_wires_are_not_compared(tmp_path: Path) -> None:
    reports = [answered(tmp_path, f"{bus_time}.pcap", bus_time=bus_time) for bus_time in (True, False)]
    assert [report.sdio.bus_time for report in reports if report.sdio] == [True, False]
    found = compare(reports)
    weights = {row.key: row.weight for row in found.differences if row.key.endswith("_us")}
    assert weights == {"sdio.took_us": None, "sdio.turnaround_us": None, "sdio.response_us": None}
    assert any("on the wires in all of A and in none of B" in note for note in found.notes)


def test_logs_one_behind_the_other_have_no_rates(tmp_path: Path) -> None:
    made = CommandLog()
    made.start()
    for n in range(200):
        if n == 100:
            made.now_ns -= 900_000_000
        made.now_ns += 10_000_000
        made.line(n % 2 == 0)
        made.transfer(message(2, bytes(90)), write=True)
    report = bus.analyze(made.write(tmp_path / "twice.pcap"))
    assert report.summary.steps_back == 1
    assert report.sdio is not None
    assert (report.sdio.commands_per_s, report.sdio.interrupts_per_s, report.sdio.span_us) == (None, None, None)
    said = f"1 of {report.records} records is stamped earlier than the record before"
    assert said in (limit(report, "backward") or "")


def test_a_run_without_interrupts_has_none(tmp_path: Path, make_trace: Callable[..., Path]) -> None:
    path = make_trace("usb.pcap")

    def figures(report: BusReport) -> dict[str, float | None]:
        reading = Reading()
        digest_of(report, "1.5", reading, "usb.pcap")
        return {key: value.value for key, value in reading.metrics.items()}

    # From 1 s after the first record on the transfers go, one of 20 ms each way, the last interrupt one at 2.8 s.
    assert figures(bus.analyze(path, from_="+2.82", to="+2.92"))["usb_interrupt_urbs_per_s"] == 0
    # Half of the window is busy: its rate is that of all of it.
    assert figures(bus.analyze(path, from_="+0", to="+2"))["usb_out_urbs_per_s"] == pytest.approx(25, rel=0.02)

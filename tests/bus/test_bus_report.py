"""What the analyzer says about captures whose truth is known."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from txop import bus
from txop.bus import BusReport, FormatError
from txop.bus.compare import compare
from txop.bus.plots import draw
from txop.bus.view import sections
from txop.present.blocks import Grid, Lines
from usb_trace import OUT, Trace, qmap, tcp

ROOT = Path(__file__).parents[2]


def captures() -> Path:
    """The folder of real captures; skips, loudly, when there is none."""
    folder = Path(os.environ.get("TXOP_CAPTURES", ROOT.parent / "shared/captures"))
    if not (folder / "usb").is_dir():
        pytest.skip(f"no captures in {folder} (set TXOP_CAPTURES)")
    return folder


def row(rows, **wanted):
    found = [r for r in rows if all(getattr(r, key) == value for key, value in wanted.items())]
    assert len(found) == 1, wanted
    return found[0]


def test_every_count_of_a_known_capture(report):
    up = row(report.endpoints, address="0x02")
    assert (up.submissions, up.completions, up.bytes, up.errors) == (100, 100, 100 * 44, 0)
    assert up.turnaround_us is not None
    assert (up.turnaround_us.n, up.turnaround_us.min, up.turnaround_us.max) == (100, 300, 300)
    assert (up.in_flight_max, up.interface, up.max_packet_bytes) == (1, 0, 512)
    assert up.per_s == pytest.approx(50)
    assert up.peak_per_s == 50
    down = row(report.endpoints, address="0x81")
    assert down.requested_size_bytes is not None
    assert (down.requested_size_bytes.max, down.bytes) == (16384, 100 * 4 * 1492)
    traffic = row(report.traffic, endpoint="0x81")
    assert (traffic.framing, traffic.datagrams, traffic.datagrams_per_transfer, traffic.padding_bytes) == (
        "qmap", 400, 4.0, 0)  # fmt: skip
    acks = row(report.traffic, endpoint="0x02")
    assert (acks.ack_only_transfers, acks.judged_transfers, acks.ack_only_share) == (100, 100, 1.0)
    device = report.devices[0]
    assert (device.vendor_id, device.product_id, device.product, device.kind, device.kind_by) == (
        "2c7c", "0125", "Modem", "qmi", "both")  # fmt: skip
    assert row(report.requests, code="80 06").count == 3


def test_the_verdict_names_what_is_wrong(report, aggregated):
    worst = report.verdicts[0]
    assert (worst.code, worst.tone, worst.device) == ("uplink-not-aggregated", "bad", "1.5")
    assert worst.text == "Uplink is not aggregated: 1.0 datagram per URB (QMAP), 50 URB/s (busiest second 50)."
    assert "100 % of the uplink transfers carry nothing but TCP acknowledgements (100 of 100)" in worst.evidence
    up = row(aggregated.verdicts, code="uplink-aggregated")
    assert up.text == "Uplink is aggregated: 15.0 datagrams per IRP (QMAP), 50 IRP/s (busiest second 50)."


def test_both_layers_give_the_same_counts_where_they_can(make_trace):
    linux, windows = (bus.analyze(make_trace(str(link), link_type=link)) for link in (220, 249))
    for ours, theirs in zip(linux.endpoints, windows.endpoints, strict=True):
        same = ("address", "transfer", "submissions", "completions", "bytes", "size_bytes", "turnaround_us",
                "in_flight_max", "per_s", "series")  # fmt: skip
        for name in same:
            assert getattr(ours, name) == getattr(theirs, name), (ours.address, name)
    assert row(windows.endpoints, address="0x81").requested_bytes is None, "USBPcap does not record it"
    assert linux.traffic == windows.traffic
    assert "irp-layer" in {limit.code for limit in windows.summary.limits}


def test_what_the_snap_length_hides_is_at_least(make_trace):
    report = bus.analyze(make_trace("cut.pcap", snap=64 + 60))
    down = row(report.traffic, endpoint="0x81")
    assert (down.cut_transfers, down.datagrams, down.datagrams_per_transfer) == (100, 100, None)
    assert down.datagrams_at_least == 100 + -(-100 * 3 * 1492 // 1514)
    assert "snap" in {limit.code for limit in report.summary.limits}


def test_errors_are_named(make_trace):
    report = bus.analyze(make_trace("errors.pcap", status=-71))
    down = row(report.endpoints, address="0x81")
    assert down.errors == 1
    assert {(s.code, s.name, s.count) for s in down.statuses} == {("0", "success", 99), ("-71", "EPROTO", 1)}
    assert "1 time EPROTO (-71)" in row(report.verdicts, code="errors").evidence[0]


def test_linux_and_windows_side_by_side(report, aggregated):
    found = compare([report, aggregated])
    assert found.differences[0].key == "uplink.datagrams_per_transfer"
    assert found.differences[0].values == [1.0, 15.0]
    assert found.sentences[0] == (
        "Uplink: A carries 1.0 datagram per URB (n = 100) at 50 URB/s, B 15.0 datagrams per IRP (n = 100) at 50 IRP/s: "
        "15.0 times as many per transfer."
    )
    assert any("One side is URBs" in note and "buffers offered" in note for note in found.notes)
    weights = [row.weight for row in found.differences if row.weight is not None]
    assert weights == sorted(weights, reverse=True)
    assert all(0 <= weight <= 1 for weight in weights)


def test_the_same_capture_twice_does_not_differ(report):
    assert all(row.weight in (0, None) for row in compare([report, report]).differences)


@pytest.mark.parametrize(
    ("missing", "lost", "bound", "so"),
    [
        ("S", "10 submissions missing", "", "its requests under way are a lower bound, and its turnarounds"),
        ("C", "10 completions missing", " or more", "its rates are lower bounds, and requests under way are not known"),
    ],
)
def test_a_rate_is_a_lower_bound_where_completions_were_lost(tmp_path, report, missing, lost, bound, so):
    trace = Trace(220)
    trace.descriptors()
    for n in range(100):
        trace.next_id = 1000  # a request that is handed over again had come back
        trace.transfer(2_000_000 + n * 20_000, 300, OUT, qmap([tcp(0)] * 2))
        if 1 <= n <= 10:
            del trace.records[{"S": -2, "C": -1}[missing]]
    found = compare([report, bus.analyze(trace.write(tmp_path / "lost.pcap"))])
    (uplink,) = (sentence for sentence in found.sentences if sentence.startswith("Uplink"))
    assert re.search(
        r"A carries 1\.0 datagram per URB \(n = 100\) at 50 URB/s, B 2\.0 datagrams per URB \(n = \d+\) at ", uplink
    )
    assert re.search(rf"\d+ URB/s{bound}: 2\.0 times as many per transfer\.$", uplink)
    assert any(note.startswith(f"B lacks records ({lost}), so {so}") for note in found.notes)
    (rate,) = (row for row in found.differences if row.key == "uplink.per_s")
    assert rate.at_least == [False, bool(bound)]
    (under_way,) = (row for row in found.differences if row.key == "uplink.in_flight")
    assert (under_way.values[1] is None) == (missing == "C")
    lost_report = bus.analyze(tmp_path / "lost.pcap")
    texts = [line for block in sections(lost_report)[2].blocks if isinstance(block, Lines) for line in block.items]
    assert ("not available of 1.5 0x02 out: completions are missing, or time steps back" in texts) == (missing == "C")
    assert not any(note.startswith("A lacks records") for note in found.notes)


def test_requests_that_were_under_way_when_the_capture_began_are_not_lost(tmp_path, report):
    trace = Trace(220)
    for n in range(100):
        trace.transfer(2_000_000 + n * 20_000, 90_000, OUT, qmap([tcp(0)] * 2))
    trace.records = [record for record in trace.records if record[0] >= 2_070_000]
    middle = bus.analyze(trace.write(tmp_path / "middle.pcap"))
    assert (middle.summary.unmatched_completions, middle.summary.lost_submissions) == (4, 0)
    shown = next(block for block in sections(middle, ("endpoints",))[0].blocks if isinstance(block, Grid))
    assert next(iter(shown.rows))[[column.heading for column in shown.columns].index("most")].text == "at least 5"
    found = compare([report, middle])
    (uplink,) = (sentence for sentence in found.sentences if sentence.startswith("Uplink"))
    assert re.search(r"B 2\.0 datagrams per URB \(n = \d+\) at 50 URB/s: ", uplink)
    (under_way,) = (row for row in found.differences if row.key == "uplink.in_flight")
    assert (under_way.values, under_way.at_least) == ([1, 5], [False, True])
    assert not any("lacks records" in note or "dropped" in note for note in found.notes)
    said = "B: 4 completions have no submission in the capture: requests submitted before the capture began"
    assert any(note.startswith(said) for note in found.notes)


def test_the_default_address_is_no_device_to_compare(tmp_path):
    trace = Trace(220)
    trace.descriptors()
    trace.records = [(at, record[:11] + b"\0" + record[12:]) for at, record in trace.records]
    trace.transfer(2_000_000, 300, 0x83, bytes(8), kind=1, asked=8)
    report = bus.analyze(trace.write(tmp_path / "enumeration.pcap"))
    assert [(device.name, device.kind) for device in report.devices] == [("1.0", "default-address"), ("1.5", "unknown")]
    assert [capture.device for capture in compare([report, report]).captures] == ["1.5", "1.5"]


def test_captures_one_behind_the_other_have_no_rates(tmp_path, report):
    trace = Trace(220)
    for n in range(100):
        trace.transfer(2_000_000 + n * 20_000, 300, OUT, qmap([tcp(0)] * 2))
    path = trace.write(tmp_path / "twice.pcap")
    path.write_bytes(path.read_bytes() + path.read_bytes()[24:])
    twice = bus.analyze(path)
    assert (twice.summary.steps_back, twice.summary.span_us, twice.endpoints[0].in_flight_max) == (1, None, None)
    assert twice.endpoints[0].series == []
    assert next(verdict for verdict in twice.verdicts).text == "Uplink is aggregated: 2.0 datagrams per URB (QMAP)."
    found = compare([report, twice])
    assert "B 2.0 datagrams per URB (n = 200): " in found.sentences[0]
    assert any(note.startswith("B: Time steps back by more than 10 ms once, by 1.980 s") for note in found.notes)
    (rate,) = (row for row in found.differences if row.key == "uplink.per_s")
    assert (rate.values[1], rate.weight) == (None, None)


def test_a_request_that_one_side_does_not_have_is_0_there(tmp_path, report):
    setup = bytes([0x40, 0xA0, 0, 0, 0, 0, 0, 0])
    with_vendor, with_interrupts = Trace(220), Trace(220)
    for trace in (with_vendor, with_interrupts):
        trace.descriptors()
        for n in range(30):
            trace.transfer(2_000_000 + n * 20_000, 300, OUT, qmap([tcp(0)]))
    for n in range(9):
        with_vendor.transfer(2_005_000 + n * 20_000, 100, 0x00, b"", kind=2, setup=setup)
    for n in range(40):
        with_interrupts.transfer(2_005_000 + n * 20_000, 100, 0x83, bytes(8), kind=1, asked=8)
    one = bus.analyze(with_vendor.write(tmp_path / "vendor.pcap"))
    other = bus.analyze(with_interrupts.write(tmp_path / "interrupts.pcap"))
    found = {row.key: row for row in compare([one, other]).differences}
    assert (found["requests.40 a0"].values, found["requests.40 a0"].difference) == ([9, 0], -9)
    assert found["requests.40 a0"].weight is not None
    assert found["interrupt.0x83.per_s"].values[0] == 0
    assert found["interrupt.0x83.per_s"].difference == pytest.approx(50, rel=0.1)


def test_medians_within_the_resolution_of_a_histogram_do_not_differ(tmp_path):
    def read(took: int) -> BusReport:
        trace = Trace(220)
        for n in range(60):
            trace.transfer(2_000_000 + n * 50_011, took + n % 3, OUT, qmap([tcp(0)] * 3))
        return bus.analyze(trace.write(tmp_path / f"{took}.pcap"))

    def turnaround(other: int):
        rows = compare([read(40_300), read(other)]).differences
        return next(row for row in rows if row.key == "uplink.turnaround")

    near, far = turnaround(40_286), turnaround(30_000)
    assert near.values[0] != near.values[1]
    assert (near.difference, near.weight) == (None, None)
    assert far.difference is not None
    assert far.difference < -9_000


def test_too_few_transfers_have_no_sentence(tmp_path, report):
    trace = Trace(220)
    for n in range(19):
        trace.transfer(2_000_000 + n * 20_000, 300, OUT, qmap([tcp(0)] * 2))
    few = bus.analyze(trace.write(tmp_path / "few.pcap"))
    assert not any("datagram" in sentence for sentence in compare([report, few]).sentences)


def test_a_comparison_needs_two(report):
    with pytest.raises(ValueError, match="two captures"):
        compare([report])


def test_round_trip_keeps_every_field(make_trace):
    document = json.loads(bus.analyze_json(make_trace("a.pcap")))
    assert json.loads(BusReport.parse(json.dumps(document)).model_dump_json()) == document


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 2}, "version 2 is not known"),
        ({"format": "txop-air"}, 'its format is "txop-air"'),
        ({"records": "many"}, "records"),
    ],
)
def test_wrong_documents_are_refused_with_the_place(report, change, message):
    document = json.loads(report.model_dump_json())
    with pytest.raises(FormatError, match=re.escape(message)):
        BusReport.parse(json.dumps(document | change))


def test_the_fan_compares_on_the_axes_that_both_logs_have():
    reports = [bus.analyze(captures() / "usb" / f"f196_usbfan2.{kind}.log") for kind in ("usbmon", "usbsnoop")]
    found = {row.key: row for row in compare(reports).differences}
    assert found["control.out.completions"].values == [2323, 2323]
    assert found["control.in.completions"].values == [30, 30]
    assert found["control.out.bytes"].difference == 0
    assert (found["control.in.bytes"].values, found["control.in.bytes"].at_least) == ([445, 398], [False, True])
    assert found["control.in.bytes"].difference is None, "the log shows 32 bytes of each request"
    assert found["requests.21 09"].values == [2322, 2322]
    assert found["errors"].values[1] is None, "the Windows log has no statuses"
    assert reports[1].endpoints[0].per_s is None, "its milliseconds are not a time"
    assert reports[1].summary.span_us is None


def test_a_capture_with_one_size_of_transfers_has_no_broad_bar(make_trace):
    few = draw(bus.analyze(make_trace("few.pcap", transfers=2)), "sizes")
    assert few is not None
    sizes = {row["size"] for row in few.spec["datasets"][few.spec["data"]["name"]]}
    assert few.spec["width"] == 92 * max(2, len(sizes)) < 920

"""What ``txop bus`` says of the control messages of modems, and of transfers that do not keep to them."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from txop import bus
from txop.bus import BusReport
from usb_trace import IN, OUT, Trace, pcapng, qmap, tcp

WDA, SET, GET = 0x1A, 0x20, 0x21
QMAP, QMAP_V5, DISABLED = 5, 9, 0


def tlv(kind: int, value: bytes) -> bytes:
    return struct.pack("<BH", kind, len(value)) + value


def number(kind: int, value: int) -> bytes:
    return tlv(kind, struct.pack("<I", value))


def frame(message: int, fields: bytes, *, answer: bool = False, transaction: int = 1) -> bytes:
    """A QMUX frame of WDA, client 1."""
    sdu = struct.pack("<BHHH", 2 if answer else 0, transaction, message, len(fields)) + fields
    return b"\1" + struct.pack("<HBBB", 5 + len(sdu), 0x80 if answer else 0, WDA, 1) + sdu


def ask(trace: Trace, at: int, message: int, fields: bytes, answered: bytes) -> None:
    """A request over the control endpoint, and its answer."""
    sent = frame(message, fields, transaction=at & 0xFFFF)
    got = frame(message, answered, answer=True, transaction=at & 0xFFFF)
    send = struct.pack("<BBHHH", 0x21, 0, 0, 4, len(sent))
    fetch = struct.pack("<BBHHH", 0xA1, 1, 0, 4, 4096)
    trace.transfer(at, 50, 0x00, sent, kind=2, setup=send)
    trace.transfer(at + 100, 50, 0x80, got, kind=2, setup=fetch, asked=4096)


def agree(trace: Trace, at: int, protocol: int = QMAP, datagrams: int = 16, size: int = 8192) -> None:
    asked = number(0x11, 2) + number(0x12, protocol) + number(0x13, protocol) + number(0x15, 32) + number(0x16, 32768)
    limits = number(0x15, datagrams) + number(0x16, size) + number(0x17, datagrams) + number(0x18, size)
    both = number(0x11, 2) + number(0x12, protocol) + number(0x13, protocol)
    ask(trace, at, SET, asked, tlv(2, bytes(4)) + both + (limits if protocol else b""))


def modem(link_type: int = 220) -> Trace:
    trace = Trace(link_type)
    trace.descriptors()
    return trace


def send(trace: Trace, at: int, aggregates: list[bytes], endpoint: int = OUT) -> None:
    for n, data in enumerate(aggregates):
        trace.transfer(at + n * 1000, 300, endpoint, data)


def read(trace: Trace, folder: Path, snap: int = 65535) -> BusReport:
    return bus.analyze(trace.write(folder / "x.pcap", snap))


def said(report: BusReport) -> dict[str, str]:
    return {verdict.code: verdict.text for verdict in report.verdicts}


@pytest.mark.parametrize("link_type", [220, 249])
def test_what_was_agreed_on_is_told_with_its_figures(tmp_path: Path, link_type: int) -> None:
    trace = modem(link_type)
    agree(trace, 1_100_000)
    send(trace, 2_000_000, [qmap([tcp(0)] * 8)] * 30)
    send(trace, 2_500_000, [qmap([tcp(1448)] * 5)] * 25, IN)
    report = read(trace, tmp_path)
    unit = "URB" if link_type == 220 else "IRP"
    texts = said(report)
    assert texts["data-format"] == (
        "The modem agreed on the link raw IP; QMAP from the host, at most 16 datagrams and 8,192 bytes in a transfer; "
        "QMAP to the host, at most 16 datagrams and 8,192 bytes in a transfer (record 10)."
    )
    assert texts["uplink-within-agreed"] == (
        f"All 30 uplink {unit}s stay within the agreed 16 datagrams and 8,192 bytes: the most in one is "
        "8 datagrams, 352 bytes."
    )
    assert "downlink-within-agreed" in texts
    (format_,) = report.data_formats
    assert (format_.request, format_.asked_link, format_.link, format_.refused) == ("set", "raw IP", "raw IP", None)
    assert (format_.downlink.asked_datagrams, format_.downlink.asked_bytes) == (32, 32_768)
    assert (format_.uplink.asked_datagrams, format_.uplink.transfers, format_.uplink.beyond) == (None, 30, 0)
    assert (format_.downlink.most_datagrams, format_.downlink.most_bytes) == (5, 5 * 1492)
    (row,) = report.qmi_messages
    assert (row.service, row.message, row.requests, row.answers, row.refused) == ("WDA", "Set Data Format", 1, 1, 0)
    assert "no-data-format" not in {limit.code for limit in report.summary.limits}


def test_where_records_were_dropped_all_are_those_captured(tmp_path: Path) -> None:
    trace = modem()
    agree(trace, 1_100_000)
    send(trace, 2_000_000, [qmap([tcp(0)] * 8)] * 30)
    path = tmp_path / "dropped.pcapng"
    path.write_bytes(pcapng(trace, dropped=7))
    assert said(bus.analyze(path))["uplink-within-agreed"].startswith(
        "All 30 uplink URBs with data that was captured stay within the agreed "
    )


@pytest.mark.parametrize(("datagrams", "size"), [(17, 44), (7, 1492)])
def test_more_than_agreed_is_a_finding(tmp_path: Path, datagrams: int, size: int) -> None:
    trace = modem()
    agree(trace, 1_100_000, size=8192)
    large = qmap([tcp(size - 44)] * datagrams)
    send(trace, 2_000_000, [qmap([tcp(0)] * 16)] * 10 + [large] * 3)
    report = read(trace, tmp_path)
    assert report.verdicts[0].code == "uplink-beyond-agreed"
    assert report.verdicts[0].tone == "bad"
    most = max(16, datagrams)
    assert report.verdicts[0].text == (
        "The host puts more into a transfer than the modem takes: 3 of 13 uplink URBs go past 16 datagrams and 8,192 "
        f"bytes (the most in one: {most} datagrams, {max(len(large), 704):,} bytes). Some modems crash on that."
    )
    record = report.data_formats[0].uplink.first_beyond_record
    assert record is not None
    assert f"the first is record {record}" in report.verdicts[0].evidence


def test_another_framing_than_agreed_is_a_finding(tmp_path: Path) -> None:
    trace = modem()
    agree(trace, 1_100_000, QMAP_V5)
    send(trace, 2_000_000, [tcp(10)] * 25)
    assert said(read(trace, tmp_path))["uplink-other-framing"] == (
        "25 of 25 uplink URBs are not framed as agreed: no QMAP where QMAPv5 was agreed on."
    )
    trace = modem()
    agree(trace, 1_100_000, DISABLED)
    send(trace, 2_000_000, [qmap([tcp(0)] * 2)] * 5)
    assert said(read(trace, tmp_path))["uplink-other-framing"] == (
        "5 of 5 uplink URBs are not framed as agreed: QMAP where no aggregation was agreed on."
    )


def test_the_last_format_counts_and_each_has_its_own_transfers(tmp_path: Path) -> None:
    trace = modem()
    agree(trace, 1_100_000, datagrams=4)
    send(trace, 2_000_000, [qmap([tcp(0)] * 4)] * 5)
    agree(trace, 2_100_000, datagrams=8)
    send(trace, 2_200_000, [qmap([tcp(0)] * 8)] * 7)
    report = read(trace, tmp_path)
    assert [(f.uplink.transfers, f.uplink.beyond) for f in report.data_formats] == [(5, 0), (7, 0)]
    (verdict,) = [verdict for verdict in report.verdicts if verdict.code == "data-format"]
    assert "at most 8 datagrams" in verdict.text
    assert "the format was set 2 times; this is the last" in verdict.evidence


def test_a_refusal_is_told_with_its_reason(tmp_path: Path) -> None:
    trace = modem()
    ask(trace, 1_100_000, SET, number(0x12, QMAP), tlv(2, struct.pack("<HH", 1, 48)))
    send(trace, 2_000_000, [qmap([tcp(0)] * 2)] * 20)
    report = read(trace, tmp_path)
    assert said(report)["data-format-refused"] == (
        "The modem refused a data format: invalid argument. The host had asked for QMAP from the host."
    )
    assert report.data_formats[0].uplink.transfers is None
    assert report.qmi_messages[0].errors == ["invalid argument"]


def limit(report: BusReport) -> str:
    (text,) = [limit.text for limit in report.summary.limits if limit.code == "no-data-format"]
    return text


def test_without_messages_it_cannot_be_told(tmp_path: Path) -> None:
    trace = modem()
    send(trace, 2_000_000, [qmap([tcp(0)] * 20)] * 20)
    report = read(trace, tmp_path)
    assert limit(report) == (
        "Whether the aggregates of device 1.5 keep to what host and modem agreed on can't be determined, because "
        "no modem's "
        "answer about its data format (WDA) is in the capture: it came before, or was not asked for."
    )
    assert report.data_formats == report.qmi_messages == []


def test_with_cut_messages_it_cannot_be_told(tmp_path: Path) -> None:
    trace = modem()
    agree(trace, 1_100_000)
    send(trace, 2_000_000, [qmap([tcp(0)] * 2)] * 20)
    report = read(trace, tmp_path, snap=64 + 32)
    assert limit(report).endswith("can't be determined, because 2 QMI messages are cut in the capture.")
    assert report.qmi_messages[0].answers == 1


def test_a_window_keeps_what_was_agreed_on_before_it(tmp_path: Path) -> None:
    trace = modem()
    agree(trace, 1_100_000)
    send(trace, 2_000_000, [qmap([tcp(0)] * 20)] * 30)
    report = bus.analyze(trace.write(tmp_path / "x.pcap"), from_="+1.01s")
    format_ = report.data_formats[0]
    assert format_.time_us is not None
    assert format_.time_us < 0
    assert format_.uplink.transfers == format_.uplink.beyond == 20


def _format_said(trace: Trace, folder: Path, begin: str | None, end: str | None) -> tuple[str, list[str]]:
    """What is said of the data format of a window, and how often it was set."""
    report = bus.analyze(trace.write(folder / "x.pcap"), from_=begin, to=end)
    (verdict,) = [verdict for verdict in report.verdicts if verdict.code == "data-format"]
    return verdict.text, [line for line in verdict.evidence if line.startswith("the format was set")]


def test_the_format_of_a_window_is_the_one_in_force_in_it(tmp_path: Path) -> None:
    """A window in the middle: its end counts from the first record of the capture, not from its own."""
    trace = modem()
    for at, datagrams in ((1_100_000, 4), (2_100_000, 8), (3_100_000, 12)):
        agree(trace, at, datagrams=datagrams)
        send(trace, at + 900_000, [qmap([tcp(0)] * 4)] * 30)
    last = "the format was set 3 times; this is the last"
    in_force = "up to the end of the window, where this one was in force"
    for begin, end, datagrams, times in (
        (None, None, 12, last),
        ("+0.5s", "+1.05s", 4, f"the format was set 1 time {in_force}, and 2 times after it"),
        ("+1.0s", "+1.02s", 4, f"the format was set 1 time {in_force}, and 2 times after it"),
        ("+1.05s", "+1.95s", 8, f"the format was set 2 times {in_force}, and 1 time after it"),
        ("+1.15s", "+9s", 12, last),
    ):
        text, said_of_times = _format_said(trace, tmp_path, begin, end)
        assert text.startswith("The modem agreed on "), (begin, end)
        assert f"QMAP to the host, at most {datagrams} datagrams" in text, (begin, end)
        assert said_of_times == [times], (begin, end)


def test_a_format_that_came_after_the_window_is_not_the_one_in_it(tmp_path: Path) -> None:
    trace = modem()
    send(trace, 1_050_000, [qmap([tcp(0)] * 4)] * 30)
    agree(trace, 2_100_000, datagrams=8)
    agree(trace, 3_100_000, datagrams=12)
    text, times = _format_said(trace, tmp_path, "+0.01s", "+1.0s")
    assert text.startswith("After the window, the modem agreed on the link raw IP; QMAP from the host, at most 8")
    assert text.endswith(
        ". What was in force in the window can't be determined, because no earlier answer is in the capture."
    )
    assert times == ["the format was set 2 times after the window"]
    report = bus.analyze(trace.write(tmp_path / "x.pcap"), from_="+0.01s", to="+1.0s")
    assert [format_.after_window for format_ in report.data_formats] == [True, True]
    assert limit(report) == (
        "Whether the aggregates of device 1.5 keep to what host and modem agreed on can't be determined, because "
        "the modem's "
        "answer about its data format (WDA) came after the window."
    )


def test_what_cut_transfers_hold_is_not_claimed(tmp_path: Path) -> None:
    trace = modem()
    agree(trace, 1_100_000)
    send(trace, 2_000_000, [qmap([tcp(1000)] * 5)] * 25)
    report = read(trace, tmp_path, snap=64 + 120)
    assert said(report)["uplink-within-agreed"] == (
        "No uplink URB is seen to go past 16 datagrams and 8,192 bytes, but 25 of 25 are cut in the capture, so their "
        "datagrams can't be counted (the most seen in one: 1 datagram, 5,220 bytes)."
    )

"""A run on one clock: packets followed through it, where their time went, and the file of it."""

from __future__ import annotations

import gzip
import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from timeline_specimen import EPOCH_NS, Specimen, event, formats, ring
from txop.core.errors import UserError
from txop.formats.error import FormatError
from txop.formats.trace_ring import event_formats, read_ring
from txop.timeline.packet import Packet, Point, spans, stages
from txop.timeline.shares import kinds, way
from txop.timeline.timeline import read_clocks, read_timeline
from txop.timeline.trace_file import read_recorded, recorded, write_trace


def specimen(seed: int, packets: int = 40) -> Specimen:
    made = Specimen(seed)
    for number in range(packets):
        made.packet(
            by_device=number % 3 > 0,
            kind="tcp" if number % 4 else "icmp",
            lost=number % 13 == 12,
            tries=1 + (number % 5 == 0),
        )
    return made


def timeline_of(made: Specimen, folder):
    made.write(folder)
    return read_timeline(folder, air="air.pcapng", trace="trace.jsonl")


@pytest.mark.parametrize("seed", range(5))
def test_every_point_of_every_packet_is_found(seed, tmp_path):
    made = specimen(seed)
    timeline = timeline_of(made, tmp_path)
    assert len(timeline.seen.packets) == len(made.truth)
    for packet, points in zip(timeline.seen.packets, made.truth, strict=True):
        assert packet.points == points
    assert timeline.seen.disordered == 0
    assert timeline.missing == ("p:txop/start_lbs",)
    assert [packet.tries for packet in timeline.seen.packets[:6]] == [2, 1, 1, 1, 1, 2]
    arrived = [packet for packet in timeline.seen.packets if packet.total_ns is not None]
    assert {packet.acknowledged_ns - packet.points[Point.SENT] for packet in arrived} == {44_000}
    assert {packet.completed_ns - packet.points[Point.SENT] for packet in arrived} == {60_000}


def test_the_time_of_whole_packets_is_attributed(tmp_path):
    timeline = timeline_of(specimen(1), tmp_path)
    found = recorded(timeline, "rtl8188cus", "rtl8xxxu")
    ways = [way(group, found.path(by_device=group[0][1].by_device)) for group in kinds(found.packets)]
    assert sum(each.packets for each in ways) == 37
    assert sum(each.not_arrived for each in ways) == 3
    for each in ways:
        assert (each.unattributed, each.accounted) == (0, 1)
        assert sum(stage.share for stage in each.stages) == pytest.approx(1)
        names = [stage.name for stage in each.stages]
        assert names[:3] == ["socket", "queue discipline", "TXQ of mac80211"]
        assert names[-1] == "reader"


def test_a_file_has_what_was_seen(tmp_path):
    timeline = timeline_of(specimen(2), tmp_path)
    found = recorded(timeline, "rtl8188cus", "rtl8xxxu")
    for name in ("run.json", "run.json.gz"):
        write_trace(tmp_path / name, timeline, found)
        assert read_recorded(tmp_path / name) == found
    document = json.loads(gzip.decompress((tmp_path / "run.json.gz").read_bytes()))
    rows = document["traceEvents"]
    names = {row["args"]["name"] for row in rows if row["name"] == "process_name"}
    assert {"air", "processor", "packets that the device sends"} <= names
    # what begins ends, and nothing is before the trace
    assert sum(row["ph"] == "b" for row in rows) == sum(row["ph"] == "e" for row in rows) > 100
    assert min(row["ts"] for row in rows if "ts" in row) >= timeline.clocks.begin_ns / 1000
    assert all(row["dur"] >= 0 for row in rows if row["ph"] == "X")


def test_a_file_is_whole_or_as_it_was(tmp_path, monkeypatch):
    timeline = timeline_of(specimen(1), tmp_path)
    found, path = recorded(timeline, "rtl8188cus", "rtl8xxxu"), tmp_path / "run.json.gz"
    write_trace(path, timeline, found)
    before = path.read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("txop.timeline.trace_file._document", full)
    with pytest.raises(OSError, match="No space"):
        write_trace(path, timeline, found)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith(".")] == []


points = st.dictionaries(st.sampled_from(list(Point)), st.integers(0, 10**12), min_size=1)


@given(points, st.booleans(), st.booleans(), st.booleans(), st.booleans(), st.booleans())
@settings(max_examples=400)
def test_stages_sum_to_the_total_whatever_is_missing(
    seen, by_device, has_txq, sees_submitted, sees_taken, sees_fetched
):
    path = stages(
        by_device=by_device,
        has_txq=has_txq,
        sees_submitted=sees_submitted,
        sees_taken=sees_taken,
        sees_fetched=sees_fetched,
    )
    assert [stage.end for stage in path[:-1]] == [stage.begin for stage in path[1:]]
    ordered = dict(zip(sorted(seen, key=list(Point).index), sorted(seen.values()), strict=True))
    for found in (ordered, seen):
        packet = Packet("a", "b", "UDP", 100, 72, by_device=by_device, points=dict(found))
        total = packet.total_ns
        parts = list(spans(packet, path))
        if total is None:
            assert not parts
        elif total >= 0:
            assert sum(part.length_ns for part in parts) == total
            assert all(part.length_ns >= 0 for part in parts)
    if set(seen) >= {stage.begin for stage in path} | {Point.READ}:
        packet = Packet("a", "b", "UDP", 100, 72, by_device=by_device, points=ordered)
        assert all(part.stage is not None for part in spans(packet, path))


def test_a_point_that_is_missing_is_time_of_no_stage():
    path = stages(by_device=True, has_txq=True, sees_submitted=False, sees_taken=True, sees_fetched=False)
    packet = Packet("a", "b", "UDP", 100, 72)
    packet.points = {Point.QUEUED: 0, Point.STARTED: 10, Point.DEQUEUED: 30, Point.SENT: 90, Point.DELIVERED: 100}
    named = [(span.stage and span.stage.name, span.length_ns) for span in spans(packet, path)]
    assert named == [("queue discipline", 10), ("TXQ of mac80211", 20), (None, 60), ("access point to IP", 10)]


def test_times_of_the_ring_survive_any_gap():
    times = [5, 5, 9, 9 + (1 << 27), 9 + (1 << 40), 10 + (1 << 40)]
    events = [(time, event("send_raw", number)) for number, time in enumerate(times)]
    events += [(time + 1, event("start", 3, b"x" * 56)) for time in times]
    known = event_formats(formats())
    found = read_ring(ring(events), known)
    assert [each.time for each in found.events if each.name == "send_raw"] == times
    assert [each.number("socket") for each in found.events if each.name == "send_raw"] == list(range(6))
    assert {each.raw("head") for each in found.events if each.name == "start"} == {b"x" * 56}
    assert read_ring(ring(events), {}).unknown == 12


@given(st.binary(max_size=9000))
def test_any_ring_is_read(data):
    known = event_formats(formats())
    for each in read_ring(data, known).events:
        each.number("skb") if "skb" in each.format.fields else each.pid


def test_clocks_that_differ_are_refused(tmp_path):
    with pytest.raises(FormatError, match="two readings"):
        read_clocks("{}\n")
    rows = [
        json.dumps({"virtual_ns": at, "monotonic_ns": at + shift, "epoch_ns": EPOCH_NS})
        for at, shift in ((10, 5), (20, 6))
    ]
    with pytest.raises(FormatError, match="set anew"):
        read_clocks("\n".join(rows))
    made = specimen(3, 4)
    made.events.append((1, event("send_raw", 1)))
    with pytest.raises(UserError, match="the clocks differ"):
        timeline_of(made, tmp_path)


@pytest.mark.parametrize("skew_ns", [3_000_000, -3_000_000])
def test_a_skew_between_the_clocks_shows(tmp_path, skew_ns):
    specimen(1).write(tmp_path)
    rows = [json.loads(row) for row in (tmp_path / "timeline.clock").read_text().splitlines()]
    skewed = [json.dumps({**row, "virtual_ns": row["virtual_ns"] + skew_ns}) for row in rows]
    (tmp_path / "timeline.clock").write_text("\n".join(skewed))
    timeline = read_timeline(tmp_path, air="air.pcapng", trace="trace.jsonl")
    assert timeline.seen.disordered > 30


def test_what_is_missing_is_named(tmp_path):
    specimen(3, 2).write(tmp_path)
    (tmp_path / "air.pcapng").unlink()
    with pytest.raises(UserError, match=r"no air\.pcapng"):
        read_timeline(tmp_path, air="air.pcapng", trace="trace.jsonl")


def test_the_screen(txop, tmp_path):
    timeline = timeline_of(specimen(1), tmp_path)
    write_trace(tmp_path / "run.json", timeline, recorded(timeline, "rtl8188cus", "rtl8xxxu"))
    shown = txop("why", str(tmp_path / "run.json"))
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout == GOLDEN
    one = txop("why", str(tmp_path / "run.json"), "--packet", "1")
    assert re.search(r"^ *\d+\.\d{9} +TXQ of mac80211 ", one.stdout, re.MULTILINE), one.stdout
    document = json.loads(txop("why", str(tmp_path / "run.json"), "--json").stdout)
    assert [each["packets"] for each in document["ways"]] == [18, 10, 6, 3]
    lost = txop("why", str(tmp_path / "run.json"), "--packet", "12", "--json")
    assert (lost.returncode, json.loads(lost.stdout)["stages"]) == (5, [])
    assert txop("why", str(tmp_path / "run.json"), "--packet", "999").returncode == 2
    assert txop("why", str(tmp_path / "trace.jsonl")).returncode == 2


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--device", "rtl8188cus"), "add --mode exact"),
        (("--device", "ncm", "--mode", "exact"), "ncm has no air"),
        ((), "go with --device"),
    ],
)
def test_where_there_can_be_no_timeline(txop, tmp_path, options, said):
    done = txop("guest", "run", "--timeline", str(tmp_path / "run.json"), *options, "--", "true")
    assert done.returncode == 2
    assert said in " ".join(done.stderr.lower().split()) or said in " ".join(done.stderr.split())


GOLDEN = """\
rtl8188cus, rtl8xxxu: 2.22 s of an exact guest

Sent by the device: TCP data, 18 packets, 2 did not arrive, 1.20 transmissions each
stage                      share      p50      p95      p99   n
socket                     7.8 %   229 µs   878 µs   878 µs  18
queue discipline           6.9 %   348 µs   596 µs   596 µs  18
TXQ of mac80211           10.6 %   448 µs   891 µs   891 µs  18
driver                     8.4 %   374 µs   855 µs   855 µs  18
bus                        9.0 %   350 µs   899 µs   899 µs  18
chip and channel access   10.9 %   600 µs   866 µs   866 µs  18
air, with retries         17.2 %   618 µs  2.56 ms  2.56 ms  18
access point to IP        17.7 %   792 µs  1.51 ms  1.51 ms  18
reader                    11.6 %   534 µs   889 µs   889 µs  18
in all                   100.0 %  4.67 ms  6.96 ms  6.96 ms  18
Attributed: 100.0 % of the time; 100.0 % of the packets to 99 % or more
Beside the way (p50, p95): acknowledgement 44 µs, 44 µs; then until mac80211 knows 16 µs, 16 µs
The slowest: --packet 10

Received by the device: TCP data, 10 packets, 1.20 transmissions each
stage                   share      p50      p95      p99   n
socket                 10.4 %   511 µs   727 µs   727 µs  10
queue discipline        7.6 %   310 µs   831 µs   831 µs  10
TXQ of mac80211         7.0 %   234 µs   721 µs   721 µs  10
access point's radio   33.6 %  1.43 ms  2.22 ms  2.22 ms  10
air, with retries      14.9 %   296 µs  2.47 ms  2.47 ms  10
chip and bus            9.7 %   432 µs   865 µs   865 µs  10
driver to IP            8.3 %   351 µs   852 µs   852 µs  10
reader                  8.5 %   259 µs   890 µs   890 µs  10
in all                100.0 %  4.67 ms  5.82 ms  5.82 ms  10
Attributed: 100.0 % of the time; 100.0 % of the packets to 99 % or more
Beside the way (p50, p95): acknowledgement 44 µs, 44 µs; then until mac80211 knows 16 µs, 16 µs
The slowest: --packet 9

2 more kinds of packets: --all
"""

"""The measured window by the clock of a run's captures, and the figures of captures cut to it."""

from __future__ import annotations

import asyncio
import json
import struct
from pathlib import Path

import pytest

from fake_target import FakeTarget
from instrument_bench import context_of, facts_of, make_plan
from txop import air
from txop.air.view.answers import answer_of
from txop.air.view.headline import WATERFALL_HEADING, headline
from txop.campaign.clocks import note_wall_clocks, wall_clock
from txop.measure.instrument import Clock, Marks, RunFacts
from txop.measure.probes.air_analysis import AirAnalysis
from txop.measure.probes.bus_analysis import BusAnalysis
from txop.measure.probes.windowed import CLOCK_FILE, capture_window
from txop.plan.model import Plan
from txop.plan.target import SshTarget as SshTable
from txop.present.format import capital

EPOCH_S = 1_767_225_600
SECOND = 1_000_000_000
GUEST = {
    "title": "x", "target": {"dut": {"kind": "guest"}, "peer": {"kind": "guest"}}, "guest": {},
    "arm": [{"name": "a"}], "test": [{"name": "t", "kind": "tcp-tx", "duration_s": 10}],
}  # fmt: skip


def remote(plan: Plan) -> Plan:
    """The same plan with its sniffer on another machine."""
    return plan.model_copy(update={"target": {**plan.target, "sniffer": SshTable(kind="ssh", host="sniffer")}})


def marks(**more: object) -> Marks:
    return Marks.model_validate({"window": 10.0, "end": 20.0, "wall_minus_monotonic_s": float(EPOCH_S), **more})


def pcap(times_ns: list[int]) -> bytes:
    data = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65536, 220)
    for number, at in enumerate(times_ns):
        body = bytes([number]) * 5
        data += struct.pack("<4I", at // SECOND, at % SECOND // 1000, len(body), len(body)) + body
    return data


def test_the_window_of_a_guest_is_by_the_clock_of_the_chip(tmp_path: Path) -> None:
    plan = Plan.model_validate(GUEST)
    facts = RunFacts(plan, plan.arm[0], plan.test[0], tmp_path, marks(wall_minus_monotonic_s=0.0))
    (tmp_path / "usb.pcap").write_bytes(pcap([EPOCH_S * SECOND]))
    with pytest.raises(ValueError, match="the chip did not report its clock"):
        capture_window(facts, "dut")
    assert "clock" in (BusAnalysis().read(facts).metrics["usb_out_urbs_per_s"].reason or "")
    (tmp_path / CLOCK_FILE).write_text(json.dumps({"epoch_ns": EPOCH_S * SECOND}))
    window = capture_window(facts, "dut")
    assert (window.start, window.end) == (f"@{EPOCH_S + 10}.000000000", f"@{EPOCH_S + 20}.000000000")
    reason = BusAnalysis().read(facts).metrics["usb_out_urbs_per_s"].reason
    assert reason == "usb.pcap: its one record does not lie in the measured window (by the clock of the virtual chip)"
    (tmp_path / CLOCK_FILE).write_bytes(b" " * (2 << 20))
    with pytest.raises(ValueError, match="clock"):
        capture_window(facts, "dut")


def test_the_window_on_this_machine_is_by_its_time_of_day(tmp_path: Path) -> None:
    window = capture_window(facts_of(make_plan(), tmp_path, marks()), "sniffer")
    assert (window.from_ns, window.to_ns) == ((EPOCH_S + 10) * SECOND, (EPOCH_S + 20) * SECOND)
    with pytest.raises(ValueError, match="did not reach the end"):
        capture_window(facts_of(make_plan(), tmp_path, Marks()), "sniffer")


@pytest.mark.parametrize(
    ("clock", "why"),
    [
        (None, "could not be compared"),
        (Clock(wall_minus_monotonic_s=EPOCH_S, uncertainty_s=0.6), "too little for a window of 10 s"),
        (Clock(wall_minus_monotonic_s=EPOCH_S, uncertainty_s=0, problem="was set by +9 s"), "was set by"),
    ],
)
def test_without_a_clock_there_is_no_figure_of_another_interval(tmp_path: Path, clock: Clock | None, why: str) -> None:
    plan = remote(make_plan(more="[collect]\nair = true"))
    (tmp_path / "air.pcap").write_bytes(pcap([(EPOCH_S + 15) * SECOND]))
    known = {} if clock is None else {"sniffer": clock}
    reading = AirAnalysis().read(facts_of(plan, tmp_path, marks().model_copy(update={"clocks": known})))
    assert reading.metrics["air_retry_percent"].value is None
    assert why in (reading.metrics["air_retry_percent"].reason or "")


def test_the_digest_is_what_txop_air_says_of_the_window(tmp_path: Path) -> None:
    from txop import _native

    _native.write_specimen(tmp_path / "air.pcapng", seed=1, seconds=2.0, scene="late-block-ack")
    first = air.analyze(tmp_path / "air.pcapng").summary.first_time_unix_s
    plan = remote(make_plan(more="[collect]\nair = true"))
    clock = Clock(wall_minus_monotonic_s=first - 9.5, uncertainty_s=0.001)
    seen = marks(end=10.8).model_copy(update={"clocks": {"sniffer": clock}})
    reading = AirAnalysis().read(facts_of(plan, tmp_path, seen))
    assert reading.air is not None
    told = reading.air["window"]
    report = air.analyze(tmp_path / "air.pcapng", from_=told["from"], to=told["to"])  # type: ignore[index]
    fall = next(each for each in report.waterfalls if each.direction == "uplink")
    assert reading.air["waterfall"] == [{"cause": s.cause, "label": s.label, "share": s.share} for s in fall.steps]
    assert reading.air["frames"] == report.frames
    head = headline(report)
    flow = next(each for each in head.flows if each.waterfall is fall)
    pair = frozenset((fall.ta, fall.ra))
    answers = [answer_of(report, v) for v in report.ack_verdicts if frozenset((v.originator, v.recipient)) == pair]
    assert {each.title for each in answers} <= {each.title for each in head.verdicts}
    told_of = [(each["heading"], each["subject"], each["text"]) for each in reading.air["conclusions"]]
    assert told_of == [
        *((WATERFALL_HEADING, flow.title, text) for text in flow.advice),
        *((capital(each.answer), each.title, each.text) for each in answers),
    ]
    assert len(answers) > 0
    assert abs(report.summary.span_us - 800_000) < 20_000
    assert told["command"] == f"txop air air.pcapng --from {told['from']} --to {told['to']}"  # type: ignore[index]


def machine(*answers: tuple[tuple[str, ...], str]) -> FakeTarget:
    target = FakeTarget("sniffer")
    target.connected = True
    for argv, text in answers:
        target.answer(*argv, stdout=text)
    return target


ADJTIMEX = "    mode:         0\n    time.tv_sec:  1767225600\n    time.tv_usec: 250000\n"


def test_the_time_of_day_of_gnu_and_of_busybox_is_read() -> None:
    gnu = asyncio.run(wall_clock(machine((("date", "+%s.%N"), "1767225600.250000000\n"))))
    busybox = asyncio.run(wall_clock(machine((("date", "+%s.%N"), "1767225600.N\n"), (("adjtimex",), ADJTIMEX))))
    assert gnu is not None
    assert busybox is not None
    assert abs(gnu.wall_minus_monotonic_s - busybox.wall_minus_monotonic_s) < 1
    assert 0 <= gnu.uncertainty_s < 1
    assert asyncio.run(wall_clock(machine((("date", "+%s.%N"), "1767225600\n")))) is None


def test_a_clock_that_is_set_during_the_run_is_a_problem(tmp_path: Path) -> None:
    target = machine((("date",), "1767225600.0000\n"))
    run = context_of(remote(make_plan(more="[collect]\nair = true")), tmp_path, {"sniffer": target})
    asyncio.run(note_wall_clocks(run))
    asyncio.run(note_wall_clocks(run))
    assert run.marks.clocks["sniffer"].problem is None
    target = machine((("date",), "1767225609.0000\n"))
    run.targets.by_name["sniffer"] = target
    asyncio.run(note_wall_clocks(run))
    assert "was set by +9.0 s" in (run.marks.clocks["sniffer"].problem or "")


@pytest.mark.parametrize(
    ("account", "over"),
    [
        ({"full": True}, "it reached its limit of 3 MB (collect.max_capture_mb)"),
        ({"problem": "it ended by itself, with signal 9"}, "it ended by itself, with signal 9"),
        ({"full": False}, None),
    ],
)
def test_a_capture_that_was_over_before_the_window_has_no_figures(
    tmp_path: Path, account: dict[str, object], over: str | None
) -> None:
    """A silent channel is different: the same records give figures when the capture was not over."""
    from txop import _native

    _native.write_specimen(tmp_path / "air.pcapng", seed=1, seconds=2.0, scene="late-block-ack")
    summary = air.analyze(tmp_path / "air.pcapng").summary
    first_s, last_s = summary.first_time_unix_s, summary.first_time_unix_s + summary.span_us / 1e6
    (tmp_path / "capture-air.json").write_text(json.dumps({"target": "sniffer", **account}))
    plan = make_plan(more="[collect]\nair = true\nmax_capture_mb = 3")
    long = marks(window=0.5, end=last_s - first_s + 4.0, wall_minus_monotonic_s=first_s)
    value = AirAnalysis().read(facts_of(plan, tmp_path, long)).metrics["air_retry_percent"]
    if over is None:
        assert value.value is not None
    else:
        assert (value.value, value.reason) == (None, f"air.pcapng: the capture ends 4 s before the window: {over}")
        # what lies in the file whole is counted
        short = marks(window=0.5, end=1.5, wall_minus_monotonic_s=first_s)
        assert AirAnalysis().read(facts_of(plan, tmp_path, short)).metrics["air_retry_percent"].value is not None


def test_a_capture_of_an_emulated_link_that_reached_its_limit_has_no_figures_of_a_part(tmp_path: Path) -> None:
    (tmp_path / "usb.pcap").write_bytes(pcap([(EPOCH_S + 15) * SECOND]))
    for dropped, part in ((7, "ends 5 s before the window: it reached its limit"), (0, "no USB device")):
        (tmp_path / "link.json").write_text(json.dumps({"usb": {"dropped": dropped}}))
        reason = BusAnalysis().read(facts_of(make_plan(), tmp_path, marks())).metrics["usb_out_urbs_per_s"].reason
        assert part in (reason or "")

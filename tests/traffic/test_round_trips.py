"""Round trips from what real pings and irtt printed: a lost probe is an infinite one."""

from __future__ import annotations

import gzip
import json
import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from instrument_bench import CAPTURED, facts_of, gate_states, make_plan, values
from txop.measure.instrument import Marks
from txop.measure.traffic.rtt_reading import read_irtt, read_ping

IDLE = '[[test]]\nname = "idle"\nkind = "latency"\nduration_s = 30\nwarm_up_s = 0\n'


def read(folder, text: str, interval_s: float, window_s: float, start_s: float = 0.0, more: str = ""):
    (folder / "ping.txt").write_text(text)
    marks = Marks(idle=0, load=10, window=10 + start_s, end=10 + start_s + window_s)
    return read_ping(facts_of(make_plan(IDLE, more), folder, marks), "ping.txt", interval_s)


def captured(name: str) -> str:
    return (CAPTURED / "ping" / f"{name}.txt").read_text()


def series(n: int, lost: set[int], rtt_ms: float = 5.0, *, busybox: bool = False) -> str:
    """What ping prints for ``n`` probes, ten a second."""
    rows = []
    for k in range(n):
        stamp = f"[{1700000000 + k / 10 + (rtt_ms + k * 0.01) / 1e3:.6f}] "
        time_ms = f"{rtt_ms + k * 0.01:.3f}"
        if busybox:
            rows += [] if k in lost else [f"64 bytes from 10.0.0.1: seq={k} ttl=64 time={time_ms} ms"]
        elif k in lost:
            rows.append(f"[{1700000000 + (k + 1) / 10:.6f}] no answer yet for icmp_seq={k + 1}")
        else:
            rows.append(f"{stamp}64 bytes from 10.0.0.1: icmp_seq={k + 1} ttl=64 time={time_ms} ms")
    head = "PING 10.0.0.1 (10.0.0.1): 56 data bytes" if busybox else "PING 10.0.0.1 (10.0.0.1) 56(84) bytes of data."
    words = "packets received" if busybox else "received"
    end = f"{n} packets transmitted, {n - len(lost)} {words}, {100 * len(lost) // n}% packet loss"
    return "\n".join(
        [head, *rows, "", "--- 10.0.0.1 ping statistics ---", end + ("" if busybox else ", time 9000ms"), ""]
    )


@pytest.mark.parametrize("busybox", [False, True])
def test_lost_probes_are_infinite_and_in_the_quantiles(tmp_path, busybox):
    # 200 probes in 20 s, the last 10 s are the window; 4 of its 100 are lost
    text = series(200, {10, 11, 120, 140, 160, 199}, busybox=busybox)
    got = read(tmp_path, text, 0.1, 10, start_s=10)
    assert gate_states(got) == {"probe-starved": "ok"}
    assert values(got)["probe_loss_percent"] == pytest.approx(4.0)
    assert values(got)["rtt_p99_ms"] == "infinite"
    known = sorted([5 + k * 0.01 for k in range(100, 200) if k not in {120, 140, 160, 199}])
    # the 50th of 100: the smallest with half of them, the lost ones included, at or below it
    assert values(got)["rtt_p50_ms"] == pytest.approx(known[49], abs=0.0006)
    lost = [t for t, rtt in got.series["rtt_ms"] if rtt is None]
    assert lost == pytest.approx([-9.0, -8.9, 2.0, 4.0, 6.0, 9.9], abs=0.02)


@pytest.mark.parametrize(
    ("name", "lost"),
    [("iputils-20221126-lossy-D-O", 2), ("busybox-1.35-lossy", 2), ("iputils-20250605-lossy-D-O-3", 3)],
)
def test_real_pings_that_lost_some(tmp_path, name, lost):
    """Their own last lines say how many of 14."""
    got = read(tmp_path, captured(name), 0.2, 2.9)
    assert values(got)["probe_loss_percent"] == pytest.approx(100 * lost / 14)
    assert values(got)["rtt_p95_ms"] == "infinite"
    assert 0.5 < values(got)["rtt_p50_ms"] < 10


def test_everything_lost(tmp_path):
    got = read(tmp_path, series(100, set(range(100)), busybox=True), 0.1, 10)
    assert values(got)["rtt_p50_ms"] == "infinite"
    assert values(got)["probe_loss_percent"] == 100.0


def test_a_probe_that_could_not_keep_its_pace_voids_the_run(tmp_path):
    text = series(40, set())
    assert gate_states(read(tmp_path, text, 0.1, 10)) == {"probe-starved": "void"}
    assert not read(tmp_path, text, 0.1, 10, more="[gates]\nprobe = false\n").gates


@pytest.mark.parametrize("name", ["iputils-20221126-unreachable", "iputils-20221126-noname", "fping-5.1-usage"])
def test_a_ping_that_only_complained_voids_the_run_with_its_words(tmp_path, name):
    got = read(tmp_path, captured(name), 0.2, 3)
    assert gate_states(got) == {"probe-starved": "void"}
    assert set(values(got).values()) <= {None, "infinite", 100.0}


def test_no_ping_at_all_is_not_available(tmp_path):
    got = read_ping(facts_of(make_plan(IDLE), tmp_path), "ping.txt", 0.1)
    assert gate_states(got) == {"probe-starved": "not available"}
    assert not got.files


def test_irtt_with_losses(tmp_path):
    with gzip.open(CAPTURED / "irtt" / "v0.9.2-lossy.json.gz") as file:
        data = file.read()
    (tmp_path / "irtt.json").write_bytes(data)
    trips = json.loads(data)["round_trips"]
    interval_s = json.loads(data)["config"]["params"]["interval"] / 1e9
    marks = Marks(idle=0, load=10, window=10, end=10 + len(trips) * interval_s)
    got = read_irtt(facts_of(make_plan(IDLE), tmp_path, marks), "irtt.json", interval_s)
    lost = sum(trip["lost"] != "false" for trip in trips)
    assert lost > 0
    assert values(got)["probe_loss_percent"] == pytest.approx(100 * lost / len(trips))
    rtts = sorted(trip["delay"]["rtt"] / 1e6 if trip["lost"] == "false" else math.inf for trip in trips)
    assert values(got)["rtt_p50_ms"] == pytest.approx(rtts[math.ceil(0.5 * len(rtts)) - 1])


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_garbage(tmp_path, data):
    whole = captured("iputils-20221126-lossy-D-O")
    cut = st.integers(0, len(whole)).map(lambda n: whole[:n])
    text = data.draw(
        st.one_of(cut, st.text(max_size=300), st.integers(0, 900).map(lambda n: whole[:n] + "9" + whole[n + 1 :]))
    )
    got = read(tmp_path, text, 0.2, 3)
    for value in got.metrics.values():
        assert (value.value is None) == bool(value.reason)


def stepped(n: int, at: int, step_s: float, *, pause_s: float = 0.0) -> str:
    """What ping prints when the clock is set (or the sender rests for ``pause_s``) before probe ``at``."""
    rows = []
    for k in range(n):
        late = (step_s + pause_s) if k >= at else 0.0
        rtt_ms = 5.0
        rows.append(
            f"[{1700000000 + k / 10 + rtt_ms / 1e3 + late:.6f}] 64 bytes from 10.0.0.1: icmp_seq={k + 1} ttl=64 "
            f"time={rtt_ms} ms"
        )
    end = f"{n} packets transmitted, {n} received, 0% packet loss, time 9000ms"
    return "\n".join(
        ["PING 10.0.0.1 (10.0.0.1) 56(84) bytes of data.", *rows, "", "--- 10.0.0.1 ping statistics ---", end, ""]
    )


def samples(folder, steps: dict[int, int]) -> None:
    """The target's samples, one a second, with its clock set before some of them."""
    btime, rows = 1_600_000_000, []
    for second in range(40):
        btime += steps.get(second, 0)
        rows.append(f"@@ {second}.00\n@/proc/stat\ncpu  1 0 1 {second * 100} 0 0 0 0 0 0\nbtime {btime}\n")
    (folder / "counters-dut.txt").write_text("".join(rows))


@pytest.mark.parametrize("step_s", [-3600.0, -2.4, 1.7, 30.0, 86_400.0])
def test_probes_beside_a_step_of_the_clock_are_where_their_numbers_put_them(tmp_path, step_s):
    samples(tmp_path, {15: round(step_s)})
    got = read(tmp_path, stepped(200, 120, step_s), 0.1, 10, start_s=10)
    times = [t for t, _ in got.series["rtt_ms"]]
    assert times == pytest.approx([k / 10 - 10 for k in range(200)], abs=1e-3)
    assert gate_states(got) == {"clock-jumped": "void", "probe-starved": "ok"}
    assert any(f"was set by {step_s:+.1f} s" in words for words in got.warnings)


def test_a_small_step_back_is_said_and_costs_nothing(tmp_path):
    got = read(tmp_path, stepped(200, 120, -0.4), 0.1, 10, start_s=10)
    assert gate_states(got) == {"probe-starved": "ok"}
    assert any("was set by -0.4 s" in words for words in got.warnings)


def test_a_pause_of_the_sender_is_no_step_of_the_clock(tmp_path):
    """The kernel says that the clock was not set: the time really passed, and the probe was starved in it."""
    samples(tmp_path, {})
    got = read(tmp_path, stepped(200, 120, 0.0, pause_s=6.0), 0.1, 10, start_s=10)
    assert gate_states(got) == {"probe-starved": "void"}
    assert not any("clock" in words for words in got.warnings)


def test_irtt_is_placed_by_its_monotonic_clock(tmp_path):
    folder = CAPTURED / "irtt"
    document = json.loads((folder / "v0.9.0.json").read_text())
    trips = document["round_trips"]
    for trip in trips[len(trips) // 2 :]:
        trip["timestamps"]["client"]["send"]["wall"] += 3_600_000_000_000
    (tmp_path / "irtt.json").write_text(json.dumps(document))
    marks = Marks(idle=0, load=10, window=10, end=20)
    got = read_irtt(facts_of(make_plan(IDLE), tmp_path, marks), "irtt.json", 0.1)
    assert max(t for t, _ in got.series["rtt_ms"]) < 60


@pytest.mark.parametrize(("begun_s", "first"), [(0.25, 0.25), (0.0, 0.0), (-30.0, 0.0), (3600.0, 0.0)])
def test_probes_are_placed_by_their_stamps_where_the_clock_is_this_machines(tmp_path, begun_s, first):
    """ping takes its time to start; the window does not wait for it. A stamp that cannot be right moves nothing."""
    (tmp_path / "ping.txt").write_text(series(100, set()))
    marks = Marks(idle=0, load=10, window=12, end=17, wall_minus_monotonic_s=1700000000 - 10 - begun_s)
    got = read_ping(facts_of(make_plan(IDLE), tmp_path, marks), "ping.txt", 0.1)
    assert got.series["rtt_ms"][0][0] == pytest.approx(first - 2, abs=1e-4)
    known = [5 + k * 0.01 for k in range(100) if 2 <= k / 10 + first < 7]
    assert values(got)["rtt_p50_ms"] == pytest.approx(sorted(known)[len(known) // 2 - 1 + len(known) % 2], abs=0.0006)

"""The module removed and inserted under traffic: a real link taken away, and a played kernel."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fake_kernel import FakeKernel
from instrument_bench import CAPTURED, carry_out, context_of, facts_of, gate_states, make_plan, values
from txop.arms.arm_loader import LoadedArm
from txop.arms.steps import StepError
from txop.campaign.instruments import instruments_of
from txop.campaign.run_limits import longest_s
from txop.measure.traffic.cycle_reading import read_cycles
from txop.measure.traffic.module_cycle import ModuleCycle
from txop.plan.load import parse_plan
from txop.targets.contract import TargetError, Targets

TEST = '[[test]]\nname = "c"\nkind = "module-cycle"\ncycles = {}\npause_s = 0.3\nrecover_s = {}\nduration_s = 1\nwarm_up_s = 1\n'  # noqa: E501


class Unplugged:
    """The module is played by the link: with the module its interface and address go."""

    def __init__(self, two, *, stays_away: int = 0, seconds: float = 0.0, look=lambda: None) -> None:
        self.two, self.stays_away, self.seconds = two, stays_away, seconds
        self.steps: list[str] = []
        self.look = look

    async def _ip(self, *argv: str) -> None:
        await self.two.dut.run(["ip", *argv], root=True)

    async def take_out(self) -> None:
        self.steps.append("out")
        self.look()
        await self._ip("addr", "flush", "dev", self.two.interface)
        await self._ip("link", "set", "dev", self.two.interface, "down")

    async def put_in(self, folder: Path) -> None:
        self.steps.append("in")
        await asyncio.sleep(self.seconds)
        if self.stays_away > 0:
            self.stays_away -= 1
            raise StepError("dut", "could not load rtl8xxxu: `modprobe rtl8xxxu` ended with 1")
        await self._ip("link", "set", "dev", self.two.interface, "up")
        await self._ip("addr", "add", f"{self.two.dut_address}/30", "dev", self.two.interface)


def go(hosts, folder, cycles: int, recover_s: float, **options):
    plan = make_plan(TEST.format(cycles, recover_s))

    async def story():
        async with hosts() as two:
            played = Unplugged(two, **options)
            run = context_of(plan, folder, two.by_name, two.peer_address)
            return await carry_out([ModuleCycle(plan.test[0], played)], run), played.steps, run.marks

    return asyncio.run(asyncio.wait_for(story(), 90))


def test_cycles_under_traffic(hosts, tmp_path, find_running):
    seen: list[str] = []
    look = lambda: seen.extend(find_running("-J"))  # noqa: E731 - what runs while the module is taken out
    reading, steps, marks = go(hosts, tmp_path, 2, 10, seconds=0.5, look=look)
    assert seen, "a search that finds no traffic while there is some would find none afterwards either"
    assert steps == ["out", "in"] * 2
    got = values(reading)
    assert (got["cycles"], got["cycles_failed"]) == (2, 0)
    assert 0.5 < got["recovery_s"] < 3
    assert not reading.warnings
    noted = [json.loads(line) for line in (tmp_path / "cycles.jsonl").read_text().splitlines()]
    assert all(each["cycle"]["flowing"] for each in noted if "cycle" in each)
    assert marks.window_s > 1  # it lasts until the cycles are done
    # the gaps count: less than the link carries, more than nothing
    assert got["throughput_mbit_s"] > 0.5
    rates = [rate for _, rate in reading.series["throughput_mbit_s"]]
    assert min(rates) < 0.8 * max(rates) or len(noted) > 3
    assert not [line for line in find_running("-J") if " 521" in line]


@pytest.mark.slow
def test_a_module_that_does_not_come_back_is_given_up(hosts, tmp_path):
    reading, steps, _ = go(hosts, tmp_path, 6, 4, stays_away=9)
    assert steps == ["out", "in"] * 3
    got = values(reading)
    assert (got["cycles"], got["cycles_failed"], got["recovery_s"]) == (3, 3, None)
    assert reading.metrics["recovery_s"].reason == "it never recovered"
    assert "cycle 1 failed: could not load rtl8xxxu" in reading.warnings[0]
    assert "3 of 6 cycles were carried out" in reading.warnings
    assert "no traffic ran when the module was removed in 2 of 3 cycles" in reading.warnings


@pytest.mark.slow
def test_a_cycle_that_takes_too_long_fails_and_the_next_may_succeed(hosts, tmp_path):
    reading, _, _ = go(hosts, tmp_path, 2, 6, stays_away=1)
    assert (values(reading)["cycles"], values(reading)["cycles_failed"]) == (2, 1)
    assert values(reading)["recovery_s"] is not None
    reading, _, _ = go(hosts, tmp_path, 1, 1, seconds=5)
    assert any("not back within 1 s" in warning for warning in reading.warnings)


def test_where_nothing_can_remove_a_module():
    plan = make_plan(TEST.format(2, 5))
    (instrument,) = [i for i in instruments_of(plan, plan.test[0]) if i.name == "module cycle"]
    with pytest.raises(TargetError, match="cannot be removed"):
        asyncio.run(instrument.prepare(context_of(plan, Path(), {})))


def test_the_longest_run_leaves_time_for_every_cycle():
    plan = make_plan(TEST.format(100, 30))
    assert longest_s(plan, plan.test[0]) > plan.test[0].longest_s > 100 * 30


# figures --------------------------------------------------------------------------------------------------------------


def note(folder, *records) -> None:
    (folder / "cycles.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))


def cycle(number, recovery_s=2.0, problem=None, flowing=True):
    return {"cycle": {"number": number, "begun": 10.0 + number, "flowing": flowing, "removal_s": 0.1,
                      "recovery_s": recovery_s, "problem": problem}}  # fmt: skip


def test_failed_cycles_do_not_recover(tmp_path):
    note(
        tmp_path, cycle(1, 2.0), cycle(2, 3.0), cycle(3, 9.0, "no traffic within 10 s of the insertion"), cycle(4, 5.0)
    )
    reading = read_cycles(facts_of(make_plan(TEST.format(4, 10)), tmp_path))
    assert values(reading)["recovery_s"] == 3.0
    assert values(reading)["cycles_failed"] == 1
    assert reading.warnings == ["cycle 3 failed: no traffic within 10 s of the insertion"]


def test_throughput_with_its_gaps_from_several_connections(tmp_path):
    """Two real reports of an interrupted iperf3, one after the other: bytes in the window over its length."""
    plan = make_plan(TEST.format(1, 10).replace("duration_s = 1\n", "duration_s = 30\n"))
    server = (CAPTURED / "iperf3" / "v3.12-INT-server.txt").read_text()
    for number in (0, 1):
        (tmp_path / f"iperf3-cycle-{number}-server.json").write_text(server)
    note(tmp_path, {"segment": {"number": 0, "begun": 12.0}}, cycle(1), {"segment": {"number": 1, "begun": 20.0}})
    reading = read_cycles(facts_of(plan, tmp_path))
    # an interrupted iperf3 prints its last interval twice
    moved = sum({each["sum"]["start"]: each["sum"]["bytes"] for each in json.loads(server)["intervals"]}.values())
    assert values(reading)["throughput_mbit_s"] == pytest.approx(2 * moved * 8e-6 / 30)
    times = [t for t, _ in reading.series["throughput_mbit_s"]]
    assert times[0] == pytest.approx(2.5, abs=0.1)
    assert times[-1] > 10
    (tmp_path / "iperf3-cycle-1-server.json").unlink()
    reading = read_cycles(facts_of(plan, tmp_path))
    assert reading.metrics["throughput_mbit_s"].reason == "1 of 2 connections left no report"


def test_nothing_was_done(tmp_path):
    reading = read_cycles(facts_of(make_plan(TEST.format(4, 10)), tmp_path))
    assert set(values(reading).values()) == {None}
    note(tmp_path, {"no_iperf3": True}, cycle(1))
    reading = read_cycles(facts_of(make_plan(TEST.format(1, 10)), tmp_path))
    assert reading.metrics["throughput_mbit_s"].reason == "iperf3 is not available on both ends"
    assert not gate_states(reading)


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.floats(), st.integers(), st.text(max_size=9)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(["cycle", "segment", "number", "begun", "recovery_s", "problem", "flowing", "no_iperf3"]),
            inner,
            max_size=5,
        ),
    ),
    max_leaves=12,
)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(JSON, max_size=6))
def test_any_notes(tmp_path, records):
    note(tmp_path, *records)
    reading = read_cycles(facts_of(make_plan(TEST.format(4, 10)), tmp_path))
    for value in reading.metrics.values():
        assert (value.value is None) == bool(value.reason)


# the arm --------------------------------------------------------------------------------------------------------------

PLAN = """
title = "x"
[target.dut]
kind = "local"
interface = "wlan0"
[target.peer]
kind = "local"
address = "10.0.0.1"
[[arm]]
name = "a"
unload = ["echo unload"]
load = ["echo load"]
{module}
[[test]]
name = "tx"
kind = "tcp-tx"
"""


def loaded(module: str) -> tuple[FakeKernel, LoadedArm, Targets]:
    kernel = FakeKernel()
    kernel.connected = True
    kernel.answer("echo")
    plan = parse_plan(PLAN.format(module=module).encode(), Path("plan.toml")).plan
    arm, targets = LoadedArm(Path()), Targets({"dut": kernel})
    asyncio.run(arm.load(targets, plan.arm[0], plan))
    return kernel, arm, targets


def test_an_arm_is_taken_out_and_put_in_again_with_what_comes_after_its_module():
    kernel, arm, _ = loaded('[arm.module]\nname = "rtl8xxxu"\nparameters = { debug = 16 }\n')
    assert "rtl8xxxu" in kernel.modules
    before = len(kernel.ran)
    asyncio.run(arm.take_out())
    assert "rtl8xxxu" not in kernel.modules
    asyncio.run(arm.put_in())
    assert "rtl8xxxu" in kernel.modules
    ran = [" ".join(argv) for argv in kernel.ran[before:]]
    assert [line for line in ran if line.startswith(("modprobe", "echo"))] == [
        "modprobe -r rtl8xxxu",
        "modprobe rtl8xxxu debug=16",
        "echo load",
    ]
    assert asyncio.run(arm.unload()) == []
    assert "rtl8xxxu" not in kernel.modules


def test_an_arm_without_a_module_cannot():
    _, arm, _ = loaded("")
    with pytest.raises(StepError, match="loads no module"):
        asyncio.run(arm.take_out())

"""The simulated access point beside the virtual ath9k of a guest: the settings of its plan, and nearly its figures."""

from __future__ import annotations

from pathlib import Path

import pytest

from txop import simulate
from txop.plan.load import load_plan

NAME = "ath9k-as-in-guest"
PLAN = Path(__file__).parents[2] / "examples/plans/guest-ath9k-latency-udp.toml"
IN_GUEST = {0: (5.52, 15.0), 1: (11.14, 15.1), 3: (22.34, 14.6), 7: (55.97, 14.3), 15: (109.5, 10.0)}
"""By MCS: Mbit/s and RTT p50 in ms, medians of 8 guests with fq_codel (docs/results/ath9k.md)."""


@pytest.mark.parametrize("mcs", IN_GUEST)
def test_throughput_is_within_five_per_cent_and_the_rtt_within_three_ms(mcs: int) -> None:
    plan = load_plan(PLAN).plan
    (test,) = [test for test in plan.test if test.name == f"mcs{mcs}"]
    settings = {"wlan.ap.mcs": mcs, "wlan.dut.mcs": mcs, "traffic.0.rate_mbit_s": test.rate_mbit_s}
    point = simulate.run(NAME, settings=[(key, str(value)) for key, value in settings.items()]).points[0]
    udp, ping = point.runs[0].flows
    mbit_s, rtt_ms = IN_GUEST[mcs]
    assert udp.goodput_mbit_s == pytest.approx(mbit_s, rel=0.05)
    assert ping.latency is not None
    assert ping.latency.p50_ms == pytest.approx(rtt_ms, abs=3)


def test_it_counts_as_long_as_the_plan() -> None:
    plan = load_plan(PLAN).plan
    scenario = simulate.run(NAME).scenario.settings
    assert scenario["run"]["warm_up_s"] == plan.design.warm_up_s
    assert {test.duration_s for test in plan.test} == {scenario["run"]["duration_s"]}

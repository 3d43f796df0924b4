"""A window that lies on a ramp is reported, on the terminal and on the page."""

from __future__ import annotations

import pytest

from txop import simulate
from txop.simulate.settled import unsettled, warnings


def test_a_ramp_is_told_and_the_same_link_later_is_not():
    early = simulate.run("modem-both-rmnet", settings=[("run.warm_up_s", "3")], seeds=2)
    (said,) = warnings(early)
    assert said.startswith("down had not settled: ")
    assert said.endswith("(2 of 2 runs)")
    assert early.warnings == [said]  # what `--json` has
    late = simulate.run("modem-both-rmnet")
    assert warnings(late) == []
    # What is shipped is the steady state: far above the mean of the ramp.
    assert late.points[0].runs[0].flows[1].goodput_mbit_s > 1.1 * early.points[0].runs[0].flows[1].goodput_mbit_s


@pytest.mark.parametrize("name", ["modem-ncm", "modem-both", "modem-both-qmi-wwan", "ap-airtime"])
def test_shipped_warm_ups_settle(name):
    assert list(unsettled(simulate.run(name).points[0].runs[0])) == []


def test_a_sweep_names_the_point():
    swept = simulate.run("modem-both-rmnet", sweeps=["run.warm_up_s=3,30"])
    assert [said.split(": ")[0] for said in warnings(swept)] == ["run.warm_up_s = 3"]


def test_a_window_of_two_intervals_says_nothing():
    short = simulate.run("modem-both-rmnet", settings=[("run.warm_up_s", "0"), ("run.duration_s", "0.2")])
    assert warnings(short) == []

"""The simulated modem that stands beside the virtual one of a guest has the settings of its plan."""

from __future__ import annotations

from pathlib import Path

from txop import simulate
from txop.plan.load import load_plan

NAME = "modem-as-in-guest"
PLAN = Path(__file__).parents[2] / "examples/plans/guest-modem-aggregation.toml"


def test_it_is_set_as_the_arms_of_the_plan_are():
    plan = load_plan(PLAN).plan
    spec = plan.guest_of(next(arm for arm in plan.arm if arm.name == "rmnet-aggregation"))
    assert spec is not None
    assert spec.modem is not None
    assert spec.modem.tx_aggregation is not None
    modem, limits = spec.modem, spec.modem.tx_aggregation
    run = {"run.warm_up_s": "0", "run.duration_s": "0.2"}
    scenario = simulate.run(NAME, settings=list(run.items())).scenario.settings
    driver, device, radio = (scenario["modem"][part] for part in ("driver", "device", "radio"))
    assert (driver["max_datagrams"], driver["max_bytes"], driver["timer_us"]) == (
        *(limits.datagrams, limits.bytes, limits.hold_us),
    )
    assert device["us_per_urb"] == modem.transfer_cost_us
    to_host = (device["downlink_max_datagrams"], device["downlink_max_bytes"], device["downlink_hold_us"])
    assert to_host == (modem.aggregate_datagrams, modem.aggregate_bytes, modem.hold_us)
    assert (radio["uplink_mbit_s"], radio["downlink_mbit_s"]) == (modem.uplink_mbit_s, modem.downlink_mbit_s)
    assert radio["uplink_delay_us"] == radio["downlink_delay_us"] == modem.delay_us
    assert radio["downlink_queue_packets"] == modem.downlink_queue
    assert modem.ack_every_segment
    acknowledged = {flow["name"]: flow.get("ack_every") for flow in scenario["traffic"]}
    assert acknowledged["down"] == 1


def test_without_aggregation_the_upload_collapses_and_the_control_does_not():
    rows = simulate.run(NAME, sweeps=["modem.device.us_per_urb=190,0"])
    costly, free = ({flow.name: flow.goodput_mbit_s for flow in point.runs[0].flows} for point in rows.points)
    # 1 s / 190 us = 5,263 acknowledgements pass, of a segment each: 61 Mbit/s, and more once the queue drops some
    assert 55 < costly["down"] < 80
    assert costly["up"] < 5
    assert free["up"] > 40

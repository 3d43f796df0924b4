"""Arms of a guest beside the link engine (docs/link-sdio.md): polling, predicted from interrupts."""

from __future__ import annotations

import pytest

from txop import simulate

MEGABYTES = 2.097152


@pytest.fixture(scope="module")
def arms():
    """Flows of both arms, by arm and name."""
    runs = {arm: simulate.run(f"sdio-guest-{arm}").points[0].runs[0] for arm in ("interrupt", "poll")}
    return {arm: {flow.name: flow for flow in run.flows} for arm, run in runs.items()}


@pytest.mark.parametrize(
    ("arm", "flow", "mbit_s", "percent"),
    [
        ("interrupt", "to-card", 27.2, 1),  # calibrated
        ("interrupt", "from-card", 27.5, 3),
        ("poll", "to-card", 33.1, 12),
        ("poll", "from-card", 26.9, 12),
    ],
)
def test_throughput(arms, arm, flow, mbit_s, percent):
    seconds = arms[arm][flow].tcp.completed_s
    assert MEGABYTES * 8 / seconds == pytest.approx(mbit_s, rel=percent / 100)


def test_a_receiver_that_is_polled_for_waits_less_often(arms):
    waits = {arm: flows["to-card"].tcp.receiver_waits / MEGABYTES for arm, flows in arms.items()}
    assert waits["interrupt"] == pytest.approx(334, rel=0.05)  # calibrated
    assert waits["poll"] == pytest.approx(105, rel=0.4)
    # At the other end there is a wait for each segment, whatever the arm.
    assert {flows["from-card"].tcp.receiver_waits for flows in arms.values()} == {1449}


def test_pings_wait_for_a_poll_and_those_from_the_card_for_two(arms):
    def mean(arm, flow):
        return arms[arm][flow].latency.mean_ms

    assert mean("interrupt", "ping-to-card") < 0.7  # calibrated
    assert mean("poll", "ping-to-card") == pytest.approx(7.55, rel=0.25)
    assert mean("poll", "ping-from-card") == pytest.approx(13.61, rel=0.25)
    # The longest time between two polls of an idle card is four ticks of 4 ms; the second poll comes two ticks later.
    assert arms["poll"]["ping-to-card"].latency.max_ms < 16.6
    assert 16.6 < arms["poll"]["ping-from-card"].latency.max_ms < 24.6

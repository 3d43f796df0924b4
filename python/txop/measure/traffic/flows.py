"""Which flows a test has. Pure: a test of the plan in, flows out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from txop.plan.measurement import (
    CommandTest,
    FaultTrialTest,
    LatencyTest,
    ModuleCycleTest,
    RrulTest,
    SoakTest,
    StationsTest,
    TcpTest,
    Test,
    TtcpTest,
    UdpTest,
)

Direction = Literal["tx", "rx"]


@dataclass(frozen=True)
class Flow:
    """One iperf3 client and its server."""

    number: int
    """From 0 within the run; decides the port and the file names."""
    station: str
    """Target at this end; the other is the peer."""
    direction: Direction
    """``tx``: from the station to the peer."""
    protocol: Literal["tcp", "udp"] = "tcp"
    streams: int = 1
    """Parallel connections within the one iperf3."""
    start_s: float = 0.0
    """After the start of the load."""
    seconds: float = 0.0
    """Sending time, from its start to the end of the window."""
    omit_s: float = 0.0
    """First part of ``seconds`` that iperf3 leaves out of its own totals: what of it lies in the warm-up."""
    rate_mbit_s: float | None = None
    datagram_bytes: int | None = None
    dscp: int | None = None
    congestion: str | None = None


def series_of(flow: Flow) -> str:
    """Name of the series of a flow's rate, where a run has several flows."""
    return f"flow_{flow.number}_{flow.direction}_mbit_s"


def flows_of(test: Test, warm_up_s: float) -> list[Flow]:
    """The flows of a test, in the order of their numbers.

    >>> from txop.plan.measurement import TcpTest
    >>> both = TcpTest(name="both", kind="tcp-both", duration_s=10)
    >>> [(flow.direction, flow.seconds, flow.omit_s) for flow in flows_of(both, 2)]
    [('tx', 12.0, 2.0), ('rx', 12.0, 2.0)]
    """
    shapes = _shapes(test)
    total_s = warm_up_s + test.duration_s
    flows = []
    for number, shape in enumerate(shapes):
        start_s = min(shape.pop("start_s", 0.0), total_s)
        flows.append(
            Flow(
                number=number,
                start_s=start_s,
                seconds=total_s - start_s,
                omit_s=max(0.0, warm_up_s - start_s),
                **{"station": test.station, **shape},
            )
        )
    return [flow for flow in flows if flow.seconds > 0]


def _shapes(test: Test) -> list[dict]:  # type: ignore[type-arg] # arguments of Flow
    match test:
        case TcpTest():
            directions = {"tcp-tx": ("tx",), "tcp-rx": ("rx",), "tcp-both": ("tx", "rx")}[test.kind]
            common = {"congestion": test.congestion, "dscp": test.dscp}
            if test.stagger_s > 0:
                return [
                    {"direction": direction, "start_s": n * test.stagger_s, **common}
                    for n in range(test.streams)
                    for direction in directions
                ]
            return [{"direction": direction, "streams": test.streams, **common} for direction in directions]
        case UdpTest():
            return [
                {
                    "direction": test.kind.removeprefix("udp-"),
                    "protocol": "udp",
                    "rate_mbit_s": test.rate_mbit_s,
                    "datagram_bytes": test.datagram_bytes,
                    "dscp": test.dscp,
                }
            ]
        case RrulTest():
            return [{"direction": direction, "dscp": dscp} for dscp in test.dscp for direction in ("tx", "rx")]
        case StationsTest():
            return [
                {"direction": direction, "station": station, **_of_each(test)}
                for station in test.stations
                for direction in _directions(test.direction)
            ]
        case SoakTest():
            return [
                {"direction": direction, "rate_mbit_s": test.rate_mbit_s} for direction in _directions(test.direction)
            ]
        case LatencyTest() | CommandTest() | ModuleCycleTest() | FaultTrialTest() | TtcpTest():
            return []


def _of_each(test: StationsTest) -> dict[str, object]:
    if test.rate_mbit_s is not None:
        return {"protocol": "udp", "rate_mbit_s": test.rate_mbit_s, "datagram_bytes": DATAGRAM_BYTES}
    return {"streams": test.streams, "congestion": test.congestion}


DATAGRAM_BYTES = 1448
"""Payload of a UDP datagram where a test has no key for it, as in UdpTest."""


def _directions(direction: Literal["tx", "rx", "both"]) -> tuple[str, ...]:
    return ("tx", "rx") if direction == "both" else (direction,)

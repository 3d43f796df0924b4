"""Which test of flent a test of a plan is, and what flent calls its series."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from txop.core.metrics import station_key
from txop.plan.measurement import StationsTest, Test

PING = "Ping (ms)"
"""What the name of every series of round trips begins with."""

_UP, _DOWN, _ICMP = "TCP upload", "TCP download", f"{PING} ICMP"
_BOTH = {"throughput_up_mbit_s": _UP, "throughput_down_mbit_s": _DOWN, "rtt_ms": _ICMP}
_TESTS: dict[str, tuple[str, dict[str, str]]] = {
    "tcp-tx": ("tcp_1up", {"throughput_mbit_s": _UP, "rtt_ms": _ICMP}),
    "tcp-rx": ("tcp_1down", {"throughput_mbit_s": _DOWN, "rtt_ms": _ICMP}),
    "soak": ("tcp_bidirectional", _BOTH),
    "tcp-both": ("tcp_bidirectional", _BOTH),
    "rrul": ("tcp_bidirectional", _BOTH),
    "udp-tx": ("udp_flood", {"throughput_mbit_s": "UDP upload", "rtt_ms": _ICMP}),
    "latency": ("ping", {"rtt_ms": _ICMP}),
}
"""By kind of test: the flent test, and the names of its series for ours."""

_OF_STATIONS = {"rx": "rtt_fair_var_down", "tx": "rtt_fair_var_up", "both": "rtt_fair_var"}


@dataclass(frozen=True)
class Shape:
    """A test of flent."""

    name: str
    series: Mapping[str, str]
    """What flent calls a series, by our name."""
    hosts: tuple[str, ...] = ()
    """Hosts that it measures; empty: one."""
    sums_flows: bool = False
    """A series of throughput may be the sum of several flows."""
    computed: Mapping[str, tuple[str, Computation]] = field(default_factory=dict)
    """Series that flent computes of others when it measures, and never when it loads a file: by name the
    beginning of the names of those, and how."""


Computation = Callable[[Sequence[float]], float | None]
"""Makes one figure of the values that there are at one moment."""


def shape_of(test: Test) -> Shape:
    """The flent test that fits. Raises ValueError, with the reason, when flent has none."""
    if isinstance(test, StationsTest):
        return _of_stations(test)
    if test.kind not in _TESTS:
        raise ValueError(f"flent has no test like {test.kind}")
    name, series = _TESTS[test.kind]
    return Shape(name, series, sums_flows=test.kind == "rrul")


def _of_stations(test: StationsTest) -> Shape:
    """Every station is a host of flent's, with a series of its own for each direction and for its round trips."""
    udp = test.rate_mbit_s is not None
    if udp and test.direction != "tx":
        raise ValueError("flent has no test that sends UDP down to several hosts")
    both = test.direction == "both"
    series: dict[str, str] = {}
    begins: list[str] = []
    for direction, way in (("tx", "upload"), ("rx", "download")):
        if test.direction not in (direction, "both"):
            continue
        key = f"throughput_{'up' if direction == 'tx' else 'down'}_mbit_s" if both else "throughput_mbit_s"
        begins.append(f"UDP {way}" if udp else f"TCP {way}")
        for station in test.stations:
            series[station_key(station, key)] = f"UDP {way} {station}" if udp else f"TCP {way} BE {station}"
    series |= {station_key(station, "rtt_ms"): f"{_ICMP} {station}" for station in test.stations}
    computed: dict[str, tuple[str, Computation]] = {}
    for begin in begins:
        computed |= {f"{begin} avg": (begin, _average), f"{begin} sum": (begin, math.fsum)}
        computed[f"{begin} fairness"] = (begin, _fairness)
    computed[f"{PING} avg"] = (PING, _average)
    return Shape(
        "udp_flood_var_up" if udp else _OF_STATIONS[test.direction],
        series,
        hosts=tuple(test.stations),
        sums_flows=test.streams > 1,
        computed=computed,
    )


def _average(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _fairness(values: Sequence[float]) -> float | None:
    """Jain's index."""
    squares = math.fsum(value * value for value in values)
    return math.fsum(values) ** 2 / (len(values) * squares) if squares else None

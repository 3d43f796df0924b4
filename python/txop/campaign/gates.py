"""Gates that need more than one instrument: judged on what all of them read together.

A gate voids a run for a cause that makes its figures figures of something else: traffic that took another way, a peer
that was the bottleneck. Gates never look at whether a figure is good or bad.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from txop.archive.window import is_inside
from txop.measure.instrument import GateFinding, Reading, RunFacts
from txop.measure.probes import chip
from txop.measure.probes.air_analysis import main_direction
from txop.measure.probes.interface import growth
from txop.measure.traffic.flows import flows_of, series_of
from txop.measure.traffic.iperf3_reading import PAYLOAD


@dataclass(frozen=True)
class Gate:
    """What a gate is."""

    key: str
    void_when: str
    seen_by: str
    setting: str | None = None
    """Key of the plan that switches it or sets its limit."""


GATES: dict[str, Gate] = {
    gate.key: gate
    for gate in (
        Gate("arm-load-failed", "the arm could not be loaded, or its link did not come up", "the load"),
        Gate("arm-not-verified", "what is loaded is not the arm that was asked for", "`verify` of the arm"),
        Gate("traffic-failed", "a tool of the test is missing, failed, or reported nothing", "iperf3, ping, irtt"),
        Gate("association-lost",
             "a station was not associated, moved to another access point, or associated again, from the load to the "
             "end of the window; on an access point: a station with a tenth of the traffic did. Not in a module-cycle "
             "test; in a soak a warning",
             "iw, kernel log", "gates.association"),
        Gate("channel-changed", "channel, width or centre frequency changed", "iw", "gates.channel"),
        Gate("usb-speed",
             "the USB link was slower at the end than at the start, or than in an earlier run of the same arm",
             "sysfs", "gates.usb_speed"),
        Gate("route", "less than 80 % of a station's payload passed its interface under test",
             "/proc/net/dev, iperf3", "gates.route"),
        Gate("chip-traffic",
             "in a guest: the virtual chip counted fewer bytes in the whole run, on its air or on the bus, than "
             "iperf3 received in it (than in its window, where it did not report the warm-up)",
             "counters of the chip, iperf3", "gates.route"),
        Gate("above-phy",
             "in a guest: more throughput than the fastest modelled rate allows, or an air that was used for more time "
             "than there was", "counters of the chip, iperf3"),
        Gate("not-exact",
             "in an exact guest: a second run with the same inputs and the same seed left other bytes",
             "hashes of everything that the two left", "guest.check_exact"),
        Gate("guest-went-down", "a guest's kernel stopped, or turned itself off, before the run was over",
             "its console"),
        Gate("fault-not-reached", "in a fault trial: the arm's fault never happened", "counters of the chip"),
        Gate("peer-cpu", "the peer's CPU was busier than the limit: it measured itself", "/proc/stat",
             "gates.max_peer_cpu_percent"),
        Gate("dut-cpu", "the CPU of the device under test was busier than the limit; off by default", "/proc/stat",
             "gates.max_dut_cpu_percent"),
        Gate("probe-starved",
             "the latency probe sent less than half of its probes in the window, or nothing that can be read",
             "ping, irtt", "gates.probe"),
        Gate("capture-dropped", "a capture that the plan asks for lost more frames than the limit", "tcpdump, dumpcap",
             "gates.capture_loss_percent"),
        Gate("emulation-late", "one packet in a hundred left the emulated link 20 ms late or more",
             "the emulated link's own account"),
        Gate("clock-jumped", "the clock of the machine txop runs on or of a station that pings was set by over 1 s",
             "its clocks; ping's stamps beside btime of /proc/stat"),
        Gate("target-rebooted", "a target started again during the run", "/proc/uptime"),
        Gate("target-lost", "the way to a target was lost", "any command"),
        Gate("instrument-failed", "something that the run cannot do without failed", "any instrument"),
        Gate("interrupted", "txop was stopped or killed during the run", "the journal"),
    )
}  # fmt: skip
"""Every cause for which a run is void, by key."""

_RANK = {"void": 0, "ok": 1, "not available": 2}

ROUTE_SHARE = 0.8
"""Share of the payload moved by a station's traffic that must at least have passed its interface under test."""
LEAST_BYTES = 100_000
"""Payload that is asked which way it took."""

CLOCK_JUMP_S = 1.0
"""A wall clock that moves by more against the monotonic clock within a run has been set."""


def settle(findings: Iterable[GateFinding]) -> list[GateFinding]:
    """One finding per gate and target: two instruments may look at the same thing. Void counts before ok, and ok before
    not available.

    >>> settle([GateFinding("association-lost", "ok"), GateFinding("association-lost", "void", "it left")])[0].state
    'void'
    """
    best: dict[tuple[str, str | None], GateFinding] = {}
    for finding in findings:
        key = (finding.gate, finding.target)
        other = best.setdefault(key, finding)
        if other is finding:
            continue
        if _RANK[finding.state] < _RANK[other.state]:
            best[key] = finding
        elif finding.state == other.state == "void" and finding.words not in other.words.split("; "):
            best[key] = replace(other, words=f"{other.words}; {finding.words}")
    return list(best.values())


def judge(facts: RunFacts, reading: Reading) -> list[GateFinding]:
    """What the gates of the plan find, beyond what single instruments found."""
    findings = []
    if facts.plan.gates.route:
        findings += _route(facts, reading)
    if any(target.kind == "guest" for target in facts.plan.target.values()):
        allowed = {"above-phy"} | ({"chip-traffic"} if facts.plan.gates.route else set())
        found = chip.judge(facts, directions(facts, reading), _in_all(facts, reading), _width_mhz(reading))
        findings += [finding for finding in found if finding.gate in allowed]
    return findings


def _throughputs(facts: RunFacts) -> tuple[tuple[str, str], ...]:
    """Figures of throughput, each with its direction as seen from the station."""
    one_way = facts.test.one_way or main_direction(facts.test, facts.plan.warm_up_s(facts.test)) or "uplink"
    return (
        ("throughput_mbit_s", one_way),
        ("throughput_up_mbit_s", "uplink"),
        ("throughput_down_mbit_s", "downlink"),
    )


def _in_all(facts: RunFacts, reading: Reading) -> dict[str, float]:
    """Payload bytes of the whole run by direction: with those of the warm-up where the traffic has counted them, else
    those of the window."""
    moved = directions(facts, reading) or {}
    return {
        direction: max(moved.get(direction, 0.0), reading.extra.get(PAYLOAD[direction]) or 0.0) for direction in PAYLOAD
    }


def directions(facts: RunFacts, reading: Reading) -> dict[str, float] | None:
    """Payload bytes of the measured window by direction, seen from the station: ``uplink``, ``downlink``; ``None``
    without a window."""
    sent_s = _sent_s(facts, reading)
    if sent_s is None:
        return None
    moved: dict[str, float] = {}
    for key, direction in _throughputs(facts):
        found = reading.metrics.get(key)
        if found is not None and found.value is not None:
            moved[direction] = moved.get(direction, 0.0) + found.value * 1e6 / 8 * sent_s
    return moved


def _sent_s(facts: RunFacts, reading: Reading) -> float | None:
    """For how much of the measured window the traffic was sent: for all of it, but for a transfer of a size."""
    transfer = reading.metrics.get("transfer_s") if facts.test.amount_of_data else None
    return transfer.value if transfer is not None else facts.marks.window_s


def _width_mhz(reading: Reading) -> float | None:
    wireless = reading.provenance.get("dut", {}).get("wireless")
    width = wireless.get("width_mhz") if isinstance(wireless, dict) else None
    return float(width) if isinstance(width, int | float) else None


def _route(facts: RunFacts, reading: Reading) -> list[GateFinding]:
    return [
        _route_of(facts, station, moved_bytes)
        for station, moved_bytes in _moved_by(facts, reading).items()
        if moved_bytes >= LEAST_BYTES
    ]


def _route_of(facts: RunFacts, station: str, moved_bytes: float) -> GateFinding:
    grown = growth(facts.folder, station)
    if grown is None:
        whose = "the device under test" if station == "dut" else station
        return GateFinding("route", "not available", f"the plan names no interface of {whose}", station)
    passed = [grown.counters[key] for key in ("tx_bytes", "rx_bytes")]
    known = [count for count in passed if count is not None]
    if len(known) < 2:
        words = f"{grown.interface} has no byte counters, or they were reset"
        return GateFinding("route", "not available", words, station)
    if sum(known) < ROUTE_SHARE * moved_bytes:
        words = f"only {sum(known) / 1e6:.1f} MB of {moved_bytes / 1e6:.1f} MB payload passed {grown.interface}"
        return GateFinding("route", "void", words, station)
    return GateFinding("route", "ok", target=station)


def _moved_by(facts: RunFacts, reading: Reading) -> dict[str, float]:
    """Payload bytes of the measured window by station, both directions together."""
    flows = flows_of(facts.test, facts.plan.warm_up_s(facts.test))
    stations = list(dict.fromkeys(flow.station for flow in flows)) or ["dut"]
    window_s = facts.marks.window_s
    if len(stations) == 1 or window_s is None:
        moved = payload_bytes(facts, reading)
        return {} if moved is None else {stations[0]: moved}
    by_station = dict.fromkeys(stations, 0.0)
    for flow in flows:
        points = reading.series.get(series_of(flow), [])
        rates = [rate for t, rate in points if rate is not None and is_inside(t, window_s)]
        if rates:
            by_station[flow.station] += sum(rates) / len(rates) * 1e6 / 8 * window_s
    return by_station


def payload_bytes(facts: RunFacts, reading: Reading) -> float | None:
    """Payload that the traffic of the measured window moved, both directions together."""
    sent_s = _sent_s(facts, reading)
    keys = ("throughput_mbit_s", "throughput_up_mbit_s", "throughput_down_mbit_s")
    rates = [v.value for key in keys if (v := reading.metrics.get(key)) is not None and v.value is not None]
    return None if sent_s is None or not rates else sum(rates) * 1e6 / 8 * sent_s

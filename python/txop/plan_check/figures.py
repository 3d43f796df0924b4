"""Which figures each test of a plan can give, and which of them are judged."""

from __future__ import annotations

from txop.core.metrics import METRICS, OF_STATION, station_key
from txop.measure.traffic.flows import flows_of
from txop.measure.traffic.rtt_reading import SPREAD
from txop.measure.traffic.ttcp import FIGURES as OF_TTCP
from txop.plan.measurement import FaultTrialTest, ModuleCycleTest, SoakTest, Test, TtcpTest
from txop.plan.model import Plan

_LATENCY = ("rtt_p50_ms", "rtt_p95_ms", "rtt_p99_ms", *SPREAD, "probe_loss_percent")
_BOTH_WAYS = ("throughput_up_mbit_s", "throughput_down_mbit_s")
_TCP = ("tcp_retransmits_per_s", "tcp_rtt_ms")
_AIR = tuple(key for key in METRICS if key.startswith("air_"))
_BUS = (
    "usb_out_urbs_per_s", "usb_in_urbs_per_s", "usb_interrupt_urbs_per_s", "usb_out_datagrams_per_urb",
    "usb_in_datagrams_per_urb", "usb_out_turnaround_us",
)  # fmt: skip
_CHIP = tuple(key for key in METRICS if key.startswith("chip_"))
"""Figures of a virtual chip, in a guest."""
_OF_CDC_NCM = ("ncm", "mbim")
"""Devices in a guest with a driver that counts why a block ended; a machine of its own can have one, too."""
_TRIAL = ("faults", "kernel_warnings", "hung_tasks")
_CYCLES = (
    "cycles", "cycles_failed", "recovery_s", "slab_growth_kb", "vmalloc_growth_kb", "pages_growth_kb", "leaks",
    "kmemleak_objects",
)  # fmt: skip
_OF_TRIAL: dict[type[Test], tuple[str, ...]] = {
    ModuleCycleTest: _CYCLES,
    FaultTrialTest: ("recovered", "silence_s", "struck"),
}
"""Figures of a kind of test that is a trial in a guest, beside those of every trial."""
_JUDGED_OF_TRIAL: dict[type[Test], tuple[str, ...]] = {
    ModuleCycleTest: ("cycles_failed", "kernel_warnings"),
    FaultTrialTest: ("recovered",),
}
"""Those that are judged where a plan does not say."""
_OF_KIND: dict[type[Test], tuple[str, ...]] = {
    SoakTest: ("busiest_kthread_percent",),
    TtcpTest: OF_TTCP,
    ModuleCycleTest: (
        "throughput_mbit_s", "cycles", "cycles_failed", "recovery_s", "cpu_total_s_per_gbit", "cpu_s_per_gbit",
    ),
}  # fmt: skip
"""Figures that a kind of test has beside those of its flows and probes."""
_HOST = (
    "cpu_busy_percent", "cpu_idle_percent", "context_switches_per_s", "interrupts_per_s", "device_interrupts_per_s",
    "softirqs_net_per_s", "idle_cpu_percent", "idle_context_switches_per_s",
)  # fmt: skip
_RADIO = (
    "retry_percent", "signal_dbm", "tx_bitrate_mbit_s", "rx_bitrate_mbit_s", "channel_busy_percent",
    "airtime_jain_index", "rate_success_percent",
)  # fmt: skip
_ACCESS_POINT = tuple(key for key in METRICS if key.startswith("ap_"))
"""What an access point counts of the device under test."""


def figures_of(plan: Plan, test: Test) -> list[str]:
    """Metrics that runs of ``test`` can have, in the order of :data:`~txop.core.metrics.METRICS`, a command's own last.

    >>> from txop.plan.arm import Arm
    >>> from txop.plan.measurement import LatencyTest
    >>> idle = LatencyTest(name="idle", kind="latency")
    >>> plan = Plan(title="", target={"dut": {"kind": "local"}}, arm=[Arm(name="a")], test=[idle])
    >>> figures_of(plan, idle)[:2]
    ['rtt_p50_ms', 'rtt_p95_ms']
    """
    if plan.guest_trial(test):
        trial = {"load_time_s", *_TRIAL, *_OF_TRIAL[type(test)]}
        return [key for key in METRICS if key in trial]
    found = {"load_time_s", *_HOST, *_RADIO}
    dut = plan.target.get("dut")
    if dut is not None and dut.kind not in ("emulated", "guest"):
        found.update(("temperature_c", "power_w"))
        peer = plan.target.get("peer")
        if peer is not None and peer.interface is not None:
            found.update(_ACCESS_POINT)
    if plan.collect.kernel_log:
        found.update(("faults", "load_faults"))
    if plan.collect.air:
        found.update(_AIR)
    if plan.collect.usbmon:
        found.update(_BUS)
    if any(target.kind == "guest" for target in plan.target.values()):
        found.update(_CHIP)
    guests = [spec for spec in map(plan.guest_of, plan.arm) if spec is not None]
    if not guests or any(spec.device in _OF_CDC_NCM for spec in guests):
        found.add("ncm_timer_percent")
    if test.latency != "none":
        found.update(_LATENCY)
    flows = flows_of(test, plan.warm_up_s(test))
    directions = {flow.direction for flow in flows}
    found.update(_BOTH_WAYS if len(directions) > 1 else ("throughput_mbit_s",) if flows else ())
    found.update(_OF_KIND.get(type(test), ()))
    if any(flow.protocol == "tcp" for flow in flows):
        found.update(_TCP)
    if any(flow.protocol == "udp" for flow in flows):
        found.update(("udp_loss_percent", "udp_jitter_ms"))
    if len(flows) > 1:
        found.add("jain_index")
    of_stations = _of_stations(plan, test, found) if test.stations_measured else []
    if not (test.stations_measured and plan.guest_stations):
        found.discard("chip_airtime_jain_index")
    if flows:
        found.update(("cpu_total_s_per_gbit", "cpu_s_per_gbit"))
    own = [*test.own_figures, *of_stations]
    return [key for key in METRICS if key in found] + [key for key in own if key not in found]


def _of_stations(plan: Plan, test: Test, found: set[str]) -> list[str]:
    """Figures of each station: those of the test, what a virtual chip counts of it, what an access point's kernel
    does."""
    keys = set(OF_STATION) & found
    if plan.guest_stations:
        keys |= {"airtime_percent"}
        if any(spec.needs_debugfs for spec in map(plan.guest_of, plan.arm) if spec is not None):
            keys |= {"aql_pending_ms", "txq_backlog_packets", "txq_drops_per_s"}
    else:
        keys -= set(_CHIP)
        if plan.target["dut"].kind != "emulated" and "dut" not in test.stations_measured:
            # an access point on a desk; with debugfs its kernel shows the queues, too
            keys |= {"airtime_percent", "aql_pending_ms", "txq_backlog_packets", "txq_drops_per_s"}
    return [station_key(station, key) for station in test.stations_measured for key in OF_STATION if key in keys]


def primary_of(plan: Plan) -> list[str]:
    """Figures judged together, as ``TEST.METRIC``: the plan's own, or by the default rule."""
    if plan.design.primary:
        return list(dict.fromkeys(plan.design.primary))
    return [f"{test.name}.{key}" for test in plan.test for key in _default(plan, test)]


def _default(plan: Plan, test: Test) -> tuple[str, ...]:
    if test.argv is not None:
        return tuple(test.directions)
    if plan.guest_trial(test):
        return _JUDGED_OF_TRIAL[type(test)]
    there = figures_of(plan, test)
    if "throughput_mbit_s" in there:
        return ("throughput_mbit_s",)
    if _BOTH_WAYS[0] in there:
        return _BOTH_WAYS
    return ("rtt_p50_ms",) if "rtt_p50_ms" in there else ()

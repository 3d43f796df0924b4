"""Which figures a test can give."""

from __future__ import annotations

import pytest

from txop.core.metrics import METRICS
from txop.plan.target import GuestTarget
from txop.plan_check.figures import figures_of, primary_of


def test_kinds(parse, good):
    text = good + "".join(
        f'[[test]]\nname = "{name}"\n{body}\n'
        for name, body in {
            "both": 'kind = "tcp-both"',
            "udp": 'kind = "udp-rx"\nrate_mbit_s = 5',
            "rrul": 'kind = "rrul"',
            "soak": 'kind = "soak"\ndirection = "tx"',
            "stagger": 'kind = "tcp-tx"\nstreams = 3\nstagger_s = 2',
            "cycle": 'kind = "module-cycle"',
            "own": 'kind = "command"\ncommand = "x"\nparser = "regex"\npattern = "(?P<boot_s>.)(?P<n>.)"\n'
            'lower_is_better = ["boot_s"]',
        }.items()
    )
    plan = parse(text).plan

    def of(name: str) -> set[str]:
        return set(figures_of(plan, plan.find_test(name)))

    assert {"throughput_mbit_s", "tcp_rtt_ms", "cpu_s_per_gbit"} <= of("tx")
    assert not {"rtt_p50_ms", "jain_index", "throughput_up_mbit_s", "air_retry_percent"} & of("tx")
    assert {"rtt_p50_ms", "rtt_p99_ms", "probe_loss_percent"} <= of("idle")
    assert not {"throughput_mbit_s", "cpu_s_per_gbit"} & of("idle")
    assert {"throughput_up_mbit_s", "throughput_down_mbit_s", "jain_index"} <= of("both")
    assert "throughput_mbit_s" not in of("both")
    assert {"udp_loss_percent", "udp_jitter_ms", "throughput_mbit_s"} <= of("udp")
    assert "tcp_rtt_ms" not in of("udp")
    assert {"throughput_down_mbit_s", "rtt_p95_ms"} <= of("rrul")
    assert {"throughput_mbit_s", "faults", "rtt_p50_ms"} <= of("soak")
    assert "jain_index" in of("stagger")
    assert {"cycles_failed", "recovery_s"} <= of("cycle")
    assert {"boot_s", "n"} <= of("own")
    assert primary_of(plan) == [
        "tx.throughput_mbit_s", "idle.rtt_p50_ms", "both.throughput_up_mbit_s", "both.throughput_down_mbit_s",
        "udp.throughput_mbit_s", "rrul.throughput_up_mbit_s", "rrul.throughput_down_mbit_s", "soak.throughput_mbit_s",
        "stagger.throughput_mbit_s", "cycle.throughput_mbit_s", "own.boot_s",
    ]  # fmt: skip


TRIAL = {
    "kernel_warnings", "hung_tasks", "slab_growth_kb", "vmalloc_growth_kb", "pages_growth_kb", "leaks",
    "kmemleak_objects", "recovered", "silence_s", "struck",
}  # fmt: skip
"""Figures of trials in a guest."""
OF_STATIONS = {
    "airtime_percent", "aql_pending_ms", "txq_backlog_packets", "txq_drops_per_s", "chip_airtime_jain_index",
}  # fmt: skip
"""Figures of a guest's access point; see test_guest_access_point.py."""
OF_ACCESS_POINT = {key for key in METRICS if key.startswith("ap_")}
"""Figures of an access point that is the peer, with its interface in the plan."""
SENSORS = {"temperature_c", "power_w"}
"""Figures of machines with sensors, which guests are not."""
CHIP = {key for key in METRICS if key.startswith("chip_")}


def test_every_figure_of_the_list_can_come_from_some_test(parse, good):
    text = good.replace('kind = "latency"', 'kind = "latency"\n[collect]\nair = true\nusbmon = true')
    text += '[[test]]\nname = "a"\nkind = "tcp-both"\n[[test]]\nname = "b"\nkind = "udp-tx"\nrate_mbit_s = 1\n'
    text += '[[test]]\nname = "c"\nkind = "module-cycle"\n'
    text += '[[test]]\nname = "e"\nkind = "ttcp-tx"\n[[test]]\nname = "f"\nkind = "soak"\n'
    plan = parse(text).plan
    assert {key for test in plan.test for key in figures_of(plan, test)} == (
        set(METRICS) - CHIP - TRIAL - OF_STATIONS - OF_ACCESS_POINT
    )
    with_interface = parse(text.replace('kind = "ssh"', 'kind = "ssh"\ninterface = "wlan0"')).plan
    assert set(figures_of(with_interface, with_interface.find_test("tx"))) >= OF_ACCESS_POINT
    text += '[[test]]\nname = "d"\nkind = "fault-trial"\n'
    guest = parse(text).plan.model_copy(update={"target": {"dut": GuestTarget(kind="guest")}})
    assert {key for test in guest.test for key in figures_of(guest, test)} == (
        set(METRICS) - OF_STATIONS - OF_ACCESS_POINT - SENSORS
    )


@pytest.mark.parametrize("usbmon", [True, False])
def test_the_bus_is_there_when_it_is_captured(parse, good, usbmon):
    plan = parse(good + f"[collect]\nusbmon = {str(usbmon).lower()}\n").plan
    assert ("usb_out_urbs_per_s" in figures_of(plan, plan.test[0])) is usbmon


@pytest.mark.parametrize("air", [True, False])
def test_the_air_is_there_when_it_is_captured(parse, good, air):
    plan = parse(good + f"[collect]\nair = {str(air).lower()}\nkernel_log = {str(air).lower()}\n").plan
    assert ("air_retry_percent" in figures_of(plan, plan.test[0])) is air
    assert ("faults" in figures_of(plan, plan.test[0])) is air

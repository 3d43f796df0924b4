"""The kernel log of a run: its faults, and whether the association was lost by it."""

from __future__ import annotations

import asyncio

import pytest

from fake_target import FakeTarget
from instrument_bench import TCP, carry_out, context_of, facts_of, gate_states, make_plan, values
from txop.measure.instrument import Marks
from txop.measure.probes.kernel_log import AFTER_FILE, BEFORE_FILE, LEAVING_FILE, WHOLE_FILE, KernelLog
from txop.plan.target import GuestTarget

OLD = "[   10.000000] wlan0: deauthenticated from 24:f5:a2:c0:4e:b1 (Reason: 2)\n"
LOST = "[   99.000000] wlan0: deauthenticated from 24:f5:a2:c0:4e:b1 (Reason: 7=CLASS3_FRAME_FROM_NONASSOC_STA)\n"
OTHER = LOST.replace("wlan0", "wlan5")
IQK = "[   98.000000] usb 1-1: rtl8xxxu_prepare_calibrate: Path B RX IQK failed!\n"


def go(folder, before, after, test=TCP, *, loaded=None, **options):
    """``loaded``: the log once the arm was up; as before it was loaded if not given."""
    target = FakeTarget()
    target.connected = True
    for text in (before, before if loaded is None else loaded, after):
        target.answer("dmesg", stdout=text, **options)
    run = context_of(make_plan(test), folder, {"dut": target})
    return asyncio.run(carry_out([KernelLog()], run, window_s=0))


def test_a_deauthentication_in_the_run_voids_it(tmp_path):
    reading = go(tmp_path, OLD, OLD + LOST)
    assert gate_states(reading) == {"association-lost": "void"}
    assert "kernel log: " in reading.gates[0].words
    assert (tmp_path / "kernel-log.txt").read_text() == LOST


@pytest.mark.parametrize("after", [OLD, OLD + OTHER])
def test_an_older_one_and_that_of_another_interface_do_not(tmp_path, after):
    assert not go(tmp_path, OLD, after).gates


def test_the_interface_of_a_guest_is_known_without_being_named(tmp_path):
    guest = make_plan()
    guest = guest.model_copy(update={"target": {"dut": GuestTarget(kind="guest"), "peer": GuestTarget(kind="guest")}})
    for name, text in ((BEFORE_FILE, OLD), (AFTER_FILE, OLD + OTHER)):
        (tmp_path / name).write_text(text)
    assert not KernelLog().read(facts_of(guest, tmp_path)).gates
    (tmp_path / AFTER_FILE).write_text(OLD + LOST)
    assert gate_states(KernelLog().read(facts_of(guest, tmp_path))) == {"association-lost": "void"}


def test_a_soak_is_told_and_goes_on_and_module_cycles_expect_it(tmp_path):
    soak = go(tmp_path, "", LOST, '[[test]]\nname = "s"\nkind = "soak"\n')
    assert not soak.gates
    assert len(soak.warnings) == 1
    assert not go(tmp_path, "", LOST, '[[test]]\nname = "c"\nkind = "module-cycle"\n').gates


def test_faults_are_counted(tmp_path):
    reading = go(tmp_path, OLD, OLD + IQK + IQK.replace("98", "99"))
    assert [(fault.key, fault.count) for fault in reading.faults] == [("rtl8xxxu-iqk-failed", 2)]
    expected = 2.0 if reading.faults[0].severity in ("error", "critical") else 0.0
    assert values(reading)["faults"] == expected


def test_faults_of_loading_are_told_from_those_of_the_run(tmp_path):
    loaded = OLD + IQK
    reading = go(tmp_path, OLD, loaded + IQK.replace("98", "99"), loaded=loaded)
    assert [(fault.key, fault.count, fault.while_loading) for fault in reading.faults] == [
        ("rtl8xxxu-iqk-failed", 1, True),
        ("rtl8xxxu-iqk-failed", 1, False),
    ]
    assert (tmp_path / "kernel-log-loading.txt").read_text() == IQK
    # A calibration that failed is a warning of the kernel, which counts while the arm is loaded.
    assert (values(reading)["load_faults"], values(reading)["faults"]) == (1, 0)
    assert set(reading.files) == {"kernel-log.txt", "kernel-log-loading.txt"}


def test_the_faults_of_an_arm_that_never_came_up_are_counted(tmp_path):
    for name, text in ((BEFORE_FILE, OLD), (AFTER_FILE, OLD + IQK + LOST)):
        (tmp_path / name).write_text(text)
    reading = KernelLog().read(facts_of(make_plan(), tmp_path, Marks()))
    assert reading.metrics["load_faults"].value is not None
    assert reading.metrics["faults"].value is None
    assert "never came up" in (reading.metrics["faults"].reason or "")
    assert "rtl8xxxu-iqk-failed" in {fault.key for fault in reading.faults}
    assert not reading.gates


def test_an_archive_without_the_log_of_loading_says_so(tmp_path):
    for name, text in ((BEFORE_FILE, OLD), (AFTER_FILE, OLD + IQK)):
        (tmp_path / name).write_text(text)
    reading = KernelLog().read(facts_of(make_plan(), tmp_path))
    assert reading.metrics["load_faults"].value is None
    assert [fault.while_loading for fault in reading.faults] == [False]


def test_a_log_that_cannot_be_read_is_not_available(tmp_path):
    reading = go(tmp_path, "", "", status=1, stderr="dmesg: read kernel buffer failed: Operation not permitted\n")
    assert reading.metrics["faults"].value is None
    assert "dmesg needs root" in (reading.metrics["faults"].reason or "")


def test_an_archive_that_cannot_be_written_to_can_be_read(tmp_path):
    go(tmp_path, OLD, OLD + LOST)
    before = (tmp_path / "kernel-log.txt").stat().st_mtime_ns
    from instrument_bench import facts_of

    KernelLog().read(facts_of(make_plan(), tmp_path))
    assert (tmp_path / "kernel-log.txt").stat().st_mtime_ns == before


SLAB = "[  120.000000] BUG kmalloc-4k (Not tainted): kmalloc Redzone overwritten\n"
GONE = "[  121.000000] usb 1-1: USB disconnect, device number 2\n"
STUCK = IQK.replace("98.000000", "122.000000")


def test_what_the_kernel_reports_when_a_guest_lets_go_is_a_fault(tmp_path):
    """A write behind the end of a station shows when the station is freed, after the window."""
    guest = make_plan()
    guest = guest.model_copy(update={"target": {"dut": GuestTarget(kind="guest"), "peer": GuestTarget(kind="guest")}})
    for name, text in ((BEFORE_FILE, OLD), (AFTER_FILE, OLD), (WHOLE_FILE, OLD + SLAB + GONE + STUCK + LOST)):
        (tmp_path / name).write_text(text)
    reading = KernelLog().read(facts_of(guest, tmp_path))
    assert [(fault.key, fault.severity) for fault in reading.faults] == [("kernel-slab", "error")]
    assert "kmalloc Redzone overwritten" in reading.faults[0].lines[0]
    assert not reading.gates, "the link has to end some time"
    assert values(reading)["faults"] == 0, "figures are of the run"
    assert (tmp_path / LEAVING_FILE).read_text() == SLAB + GONE + STUCK + LOST


def test_a_fault_of_the_run_is_not_named_twice(tmp_path):
    guest = make_plan()
    guest = guest.model_copy(update={"target": {"dut": GuestTarget(kind="guest"), "peer": GuestTarget(kind="guest")}})
    for name, text in (
        (BEFORE_FILE, OLD),
        (AFTER_FILE, OLD + SLAB),
        (WHOLE_FILE, OLD + SLAB + SLAB.replace("120.", "125.")),
    ):
        (tmp_path / name).write_text(text)
    reading = KernelLog().read(facts_of(guest, tmp_path))
    assert [(fault.key, fault.count) for fault in reading.faults] == [("kernel-slab", 1)]

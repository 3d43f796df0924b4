"""/proc: captured files, and this machine's own against what the C library and the clock say."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from txop.formats import proc_interrupts, proc_net, proc_stat, proc_system
from txop.formats.error import FormatError

Read = Callable[[str], str]


def live(name: str) -> bytes:
    return Path("/proc", name).read_bytes()


def test_cpu_time_adds_up_to_the_time_that_passed() -> None:
    assert os.sysconf("SC_CLK_TCK") == proc_stat.TICKS_PER_SECOND
    before, started = proc_stat.parse(live("stat")), time.monotonic()
    while time.monotonic() - started < 0.6:
        sum(range(1000))
    after, passed = proc_stat.parse(live("stat")), time.monotonic() - started
    use = proc_stat.difference(before, after)
    cpus = len(after.cpus)
    assert cpus == os.sysconf("SC_NPROCESSORS_ONLN")
    assert use.all_cpus is not None
    assert use.all_cpus.elapsed_core_seconds == pytest.approx(cpus * passed, abs=0.1 * cpus)
    assert use.all_cpus.busy_core_seconds >= 0.3  # this loop alone
    assert use.context_switches is not None
    assert use.context_switches > 0
    shares = use.all_cpus
    parts = shares.user_share + shares.system_share + shares.irq_share + shares.softirq_share
    assert parts == pytest.approx(shares.busy_share)


def test_the_cpus_add_up_to_all(captured: Read) -> None:
    for name in ("stat-a", "stat-b", "stat-6.12-one-cpu"):
        stat = proc_stat.parse(captured(f"proc/{name}.txt"))
        assert sum(cpu.total for cpu in stat.cpus.values()) == pytest.approx(stat.all_cpus.total, abs=16)
        assert stat.boot_unix_s is not None


def test_counters_that_go_back_are_none(captured: Read) -> None:
    older = proc_stat.parse(captured("proc/stat-a.txt"))
    newer = proc_stat.parse(captured("proc/stat-b.txt"))
    forward = proc_stat.difference(older, newer)
    assert forward.all_cpus is not None
    assert 0 <= forward.all_cpus.busy_share <= 1
    backward = proc_stat.difference(newer, older)
    assert backward.all_cpus is None
    assert backward.context_switches is None
    assert backward.interrupts is None
    unplugged = proc_stat.difference(older, replace(newer, cpus={0: newer.cpus[0]}))
    assert list(unplugged.cpus) == [0]
    assert proc_stat.difference(older, older).all_cpus is None  # no time has passed


def test_iowait_may_go_down() -> None:
    before = proc_stat.parse("cpu 100 0 100 1000 50 0 0 0\nctxt 5\n")
    after = proc_stat.parse("cpu 110 0 110 1090 40 0 0 0\nctxt 5\n")
    use = proc_stat.difference(before, after).all_cpus
    assert use is not None
    assert use.busy_share == pytest.approx(0.2)


def test_stolen_time_is_not_busy_time() -> None:
    before = proc_stat.parse("cpu 0 0 0 0 0 0 0 0 0 0\n")
    after = proc_stat.parse("cpu 30 0 0 40 0 0 0 30 30 0\n")
    use = proc_stat.difference(before, after).all_cpus
    assert use is not None
    assert (use.busy_share, use.steal_share) == (pytest.approx(0.3), pytest.approx(0.3))


def test_old_kernels_have_four_fields() -> None:
    assert proc_stat.parse("cpu 1 2 3 4\n").all_cpus.total == 10
    with pytest.raises(FormatError, match="without its ticks"):
        proc_stat.parse("cpu 1 2 x 4\n")


def test_interrupts(captured: Read) -> None:
    table = proc_interrupts.parse(captured("proc/interrupts-a.txt"))
    assert table.cpus == (0, 1)
    assert table.rows["36"].counts == (0, 992_471)
    assert table.rows["36"].names == ("virtio1-req.0",)
    assert table.rows["LOC"].names == ("Local timer interrupts",)
    assert table.rows["ERR"].counts == (0,)
    one = proc_interrupts.parse(captured("proc/interrupts-6.12-one-cpu.txt"))
    assert one.cpus == (0,)
    assert one.rows["4"].total == 49_542
    assert one.rows["4"].names == ("ttyS0",)


def test_several_names_on_one_line() -> None:
    text = "           CPU0       CPU2\n 16:   5   7   IO-APIC  16-fasteoi   ehci_hcd:usb1, ath9k\n"
    row = proc_interrupts.parse(text).rows["16"]
    assert row.names == ("ehci_hcd:usb1", "ath9k")
    assert proc_interrupts.parse(text).cpus == (0, 2)


def test_interrupts_between_two_snapshots(captured: Read) -> None:
    before = proc_interrupts.parse(captured("proc/interrupts-a.txt"))
    after = proc_interrupts.parse(captured("proc/interrupts-b.txt"))
    grown = {row.label: row for row in proc_interrupts.difference(before, after)}
    assert grown["LOC"].total == after.rows["LOC"].total - before.rows["LOC"].total
    assert grown["LOC"].total > 0
    assert grown["LOC"].per_cpu is not None
    assert sum(grown["LOC"].per_cpu.values()) == grown["LOC"].total
    back = {row.label: row for row in proc_interrupts.difference(after, before)}
    assert back["LOC"].total is None
    fewer = proc_interrupts.parse("           CPU0\nLOC:    99999999   Local timer interrupts\n")
    increases = {row.label: row.total for row in proc_interrupts.difference(before, fewer)}
    assert increases == {"LOC": None}  # counters of a CPU that went away are not comparable


def test_a_wrapped_counter_of_one_cpu() -> None:
    before = proc_interrupts.parse("  CPU0 CPU1\n 30: 4294967290 10  usb  xhci\n")
    after = proc_interrupts.parse("  CPU0 CPU1\n 30: 5 20  usb  xhci\n")
    (row,) = proc_interrupts.difference(before, after)
    assert row.total is None


def test_softirqs_agree_with_proc_stat() -> None:
    before = proc_interrupts.parse(live("softirqs"), "/proc/softirqs")
    stat = proc_stat.parse(live("stat"))
    after = proc_interrupts.parse(live("softirqs"), "/proc/softirqs")
    lower, upper = (sum(row.total for row in table.rows.values()) for table in (before, after))
    assert stat.softirqs is not None
    assert lower <= stat.softirqs <= upper
    assert {"NET_RX", "NET_TX", "TASKLET"} <= set(after.rows)


def test_counters_of_interfaces(captured: Read) -> None:
    interfaces = proc_net.parse_dev(captured("proc/net-dev.txt"))
    assert {"lo", "v0", "v1"} <= set(interfaces)
    assert interfaces["v0"].tx_packets == interfaces["v1"].rx_packets
    assert interfaces["lo"].rx_bytes == interfaces["lo"].tx_bytes > 0
    for name, counters in proc_net.parse_dev(live("net/dev")).items():
        counted = Path("/sys/class/net", name, "statistics/rx_bytes")
        assert counters.rx_bytes <= int(counted.read_text())


def test_memory_of_this_machine() -> None:
    memory = proc_system.parse_meminfo(live("meminfo"))
    assert memory["MemTotal"] == os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")

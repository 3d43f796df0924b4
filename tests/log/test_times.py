"""How often something happened, where several faults of a log tell of it."""

from __future__ import annotations

import pytest

from txop.log import name_faults, shipped_rules, times

LASTING = shipped_rules().rules["ath6kl-removal-deadlock"].samples[0]
"""A task that hangs, and why: two rules name it."""


TRACE = ["Call Trace:", " <TASK>", " rtnl_lock+0x27/0xc0", " </TASK>"]


def at(time_s: int, *lines: str) -> list[str]:
    return [f"[ {time_s}.000000] {line}" for line in lines]


def hung(time_s: int, task: str) -> list[str]:
    return at(time_s, f"INFO: task {task} blocked for more than {time_s} seconds.", *TRACE)


def test_a_task_that_hangs_counts_once_however_often_it_is_reported() -> None:
    lines = [line for time_s in (40, 80, 120) for task in ("ip:7", "kworker/0:1:9") for line in hung(time_s, task)]
    faults = name_faults(lines).faults
    assert [fault.count for fault in faults] == [3, 3]
    assert times(faults, {"error"}) == 2


def test_tasks_of_one_name_are_several_and_one_in_two_functions_is_one() -> None:
    elsewhere = at(80, "INFO: task ip:7 blocked for more than 80 seconds.", "Call Trace:", " device_del+0x27/0xc0")
    faults = name_faults([*hung(40, "ip:7"), *hung(40, "ip:9"), *elsewhere]).faults
    assert sorted(fault.count for fault in faults) == [1, 2]
    assert times(faults, {"error"}) == 2


def test_lockups_long_after_each_other_are_several() -> None:
    lines = [
        line
        for time_s, cpu in ((40, 0), (4000, 1))
        for line in at(time_s, f"watchdog: BUG: soft lockup - CPU#{cpu} stuck for 22s! [kworker/0:1:17]", *TRACE)
    ]
    assert times(name_faults(lines).faults, {"error"}) == 2


@pytest.mark.parametrize("form", ["[   40.000000] {}", "{}", "Nov 28 10:00:00 host kernel: {}"])
def test_reports_of_which_only_the_first_lines_were_kept_are_counted(form: str) -> None:
    """As with ``dmesg | grep blocked``."""
    lines = [form.format(f"INFO: task kworker/0:{n}:{n + 7} blocked for more than 40 seconds.") for n in range(4)]
    faults = name_faults(lines).faults
    assert [fault.count for fault in faults] == [1, 1, 1, 1]


def test_what_two_rules_name_counts_once() -> None:
    report = [line for time_s in (40, 80) for line in at(time_s, *LASTING.splitlines())]
    faults = name_faults(report).faults
    assert {fault.key for fault in faults} >= {"ath6kl-removal-deadlock", "kernel-hung-task"}
    assert times(faults, {"error"}) == 1


def test_other_messages_count_each_time_and_only_of_the_severities_asked_for() -> None:
    warning = ("WARNING: CPU: 0 PID: 9 at net/core/dev.c:10 dev_x+0x1/0x2", *TRACE)
    lines = [line for time_s in (1, 2, 3) for line in at(time_s, *warning)]
    lines += at(9, "usb 1-1: USB disconnect, device number 2")
    faults = name_faults(lines).faults
    assert times(faults, {"error"}) == 3
    assert times(faults, {"warning"}) == 1
    assert times(faults, {"warning", "error"}) == 4


def test_a_rule_about_several_lines_takes_nothing_away_from_others() -> None:
    """``usb-speed-fallen`` names a device that was found, which is another message."""
    rule = shipped_rules().rules["usb-speed-fallen"]
    lines = [line for line in rule.samples[0].splitlines() if line]
    faults = name_faults(lines).faults
    assert "usb-speed-fallen" in {fault.key for fault in faults}
    assert times(faults, {"error", "info"}) == sum(fault.count for fault in faults)

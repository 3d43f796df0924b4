"""Counts events that several faults of a log report."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Protocol

from txop.log.rule_files import shipped_rules


class CountedFault(Protocol):
    """A fault of a log, or what an archive keeps of it."""

    @property
    def key(self) -> str:
        """Key of the rule."""

    @property
    def severity(self) -> str:
        """How bad."""

    @property
    def count(self) -> int:
        """How many messages."""


def times(faults: Iterable[CountedFault], severities: Collection[str]) -> int:
    """How often something of these severities happened.

    A report that a rule with ``frames`` names, beside the rule of any such report, counts once. What the kernel repeats
    while it lasts counts once, as a task that hangs: how often it is reported says how long the log was, and not how
    much went wrong.

    >>> from txop.log import name_faults
    >>> def hung(time_s, task):
    ...     yield f"[ {time_s}.0] INFO: task {task} blocked for more than {time_s} seconds."
    ...     yield f"[ {time_s}.0] Call Trace:"
    ...     yield f"[ {time_s}.0]  rtnl_lock+0x27/0xc0"
    >>> faults = name_faults([*hung(40, "ip:7"), *hung(80, "ip:7"), *hung(80, "kworker/0:1:9")]).faults
    >>> [fault.count for fault in faults], times(faults, {"error"})
    ([2, 1], 2)
    """
    known = shipped_rules().rules
    counted = [fault for fault in faults if fault.severity in severities]
    keys = {fault.key for fault in counted}
    total = 0
    for fault in counted:
        rule = known.get(fault.key)
        if rule is None or not rule.frames or not keys.intersection(rule.also):
            total += 1 if rule is not None and rule.lasts else fault.count
    return total

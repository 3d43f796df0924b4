"""Kernel logs: from text in any form people keep it to named faults (``docs/kernel-log.md``).

:func:`read_log` and :func:`name_faults` give a :class:`LogReport`; :func:`difference` gives the lines that a run
added to a log. What counts as a fault is in rule files (:mod:`txop.klog.rule_files`).
"""

from __future__ import annotations

from txop.klog.difference import difference
from txop.klog.naming import LogNamer, name_faults, read_log
from txop.klog.report import Boot, BootCount, Fault, FormCount, Gap, Lines, LogReport, Moment, Severity, Unnamed, Value
from txop.klog.rule_files import Rule, RuleError, RuleSet, load_rules, shipped_rules, user_rules_folder
from txop.klog.times import times

__all__ = [
    "Boot",
    "BootCount",
    "Fault",
    "FormCount",
    "Gap",
    "Lines",
    "LogNamer",
    "LogReport",
    "Moment",
    "Rule",
    "RuleError",
    "RuleSet",
    "Severity",
    "Unnamed",
    "Value",
    "difference",
    "load_rules",
    "name_faults",
    "read_log",
    "shipped_rules",
    "times",
    "user_rules_folder",
]

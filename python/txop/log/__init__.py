"""Kernel logs: from text in any form people keep it to named faults (``docs/kernel-log.md``).

:func:`read` and :func:`name_faults` give a :class:`LogReport`; :func:`difference` gives the lines that a run
added to a log. What counts as a fault is in rule files (:mod:`txop.log.rule_files`).
"""

from __future__ import annotations

from txop.log.difference import difference
from txop.log.naming import LogNamer, name_faults
from txop.log.naming import read_log as read
from txop.log.report import Boot, BootCount, Fault, FormCount, Gap, Lines, LogReport, Moment, Severity, Unnamed, Value
from txop.log.rule_files import Rule, RuleError, RuleSet, load_rules, shipped_rules, user_rules_folder
from txop.log.times import times

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
    "read",
    "shipped_rules",
    "times",
    "user_rules_folder",
]

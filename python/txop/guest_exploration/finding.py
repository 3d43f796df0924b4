"""The text that identifies a finding: two trials with the same text are the same finding."""

from __future__ import annotations

import hashlib
import re

from txop.guest_trials.facts import Facts
from txop.guest_trials.judgement import Judgement, Verdict
from txop.guest_trials.kernel_lines import CRASHES, HANGS, WARNS, KernelLine, named, unusual
from txop.log.report import Fault

ALWAYS = frozenset({Verdict.CRASHES, Verdict.HANGS, Verdict.WARNS})
_RULES = {Verdict.CRASHES: CRASHES, Verdict.HANGS: HANGS, Verdict.WARNS: WARNS}
_WAITING = re.compile(
    r"_*(?:schedule|preempt|mutex|rwsem|down|wait|io_schedule|usb_(?:kill|start_wait|internal|control_msg|poison)|"
    r"context_switch|ret_from|kthread|worker|process_one|asm_)\w*"
)
"""Functions in which everything waits: who called them is the place."""
_NUMBER = re.compile(r"0x[0-9a-f]+|\d+", re.IGNORECASE)
_LONGEST = 160


def finding_of(
    judgement: Judgement, facts: Facts, lines: list[KernelLine], usual: frozenset[str], *, failing: bool = False
) -> str | None:
    """The finding that a trial is: its verdict, what ``txop log`` calls it, and where; ``None``: it is none.

    ``failing``: a driver that fails cleanly is one, too.
    """
    verdict = judgement.verdict
    if verdict in ALWAYS:
        return f"{verdict.value}: {_place(judgement, facts, lines, usual)}"[:_LONGEST]
    if failing and verdict is Verdict.FAILS:
        return f"{verdict.value}: {judgement.why}, brought back by {judgement.back or 'nothing'}"[:_LONGEST]
    return None


def _place(judgement: Judgement, facts: Facts, lines: list[KernelLine], usual: frozenset[str]) -> str:
    faults = [fault for fault in named(unusual(lines, usual)).faults if fault.key in _RULES[judgement.verdict]]
    if faults:
        first = min(faults, key=lambda fault: fault.first.line)
        return f"{first.key} {_where(first)}".strip()
    stuck = facts.all("stuck")
    if stuck:
        return _NUMBER.sub("#", f"{stuck[0].words} does not end")
    return _NUMBER.sub("#", judgement.why)


def _where(fault: Fault) -> str:
    values = {value.name.rstrip("0123456789"): value.text for value in reversed(fault.values)}
    words = [values[name] for name in ("checker", "what", "place") if name in values]
    function = fault.function or values.get("function")
    callers = [name for frame in fault.frames if not _WAITING.fullmatch(name := _NUMBER.sub("#", frame.split("+")[0]))]
    if "place" not in values and callers and fault.key in HANGS:
        words += callers[:2]
    elif function is not None:
        words.append(function.split("+")[0])
    return " ".join(words)


def file_name(finding: str) -> str:
    """A name for its file, with a part of its hash.

    >>> file_name("warns: kernel-warning net/mac80211/rx.c:813 ieee80211_rx_list")
    'warns-kernel-warning-net-mac80211-rx.c-813-ieee80211_rx_list-de72265e41dd'
    """
    plain = re.sub(r"[^A-Za-z0-9_.]+", "-", finding).strip("-.")[:80]
    return f"{plain}-{hashlib.sha256(finding.encode()).hexdigest()[:12]}"

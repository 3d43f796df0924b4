"""The features of a trial: short texts by which txop decides whether it showed something new.

=============  =======================================================================================
``verdict``    the verdict, and what brings the driver back
``log``        what ``txop log`` names, warnings and errors
``line``       a line of the kernel log without its numbers and addresses, which a trial without faults has not
``step``       a step of the trial and its outcome
``struck``     a kind of fault and how often it happened, in powers of two
``chip``       a counter of the chip, in powers of two
``block``      a block of the driver's code that a trial without faults does not reach (:mod:`.reached`)
=============  =======================================================================================
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from txop.guest_exploration.script import Script
from txop.guest_trials.facts import Facts
from txop.guest_trials.judgement import Judgement
from txop.guest_trials.kernel_lines import KernelLine, named, unusual

VERSION = 2
"""Raised when the same trial shows other features: outcomes of before are then not taken."""
MOST_LINES = 200
"""Forms of lines of one trial; more are not looked at."""
MOST_STEPS = 500
MOST_COUNTERS = 500
MAX_BYTES = 1 << 20
"""Largest file of the chip's counters that is read."""
_LONGEST = 200
_HEX = re.compile(r"\b(?=[a-f]*\d)[0-9a-f]{2,}\b", re.IGNORECASE)
_NUMBER = re.compile(r"\b\d+\b")
_STATUS = re.compile(r"\d{1,3}")
_DUMP = re.compile(
    r"\s*(?:R[A-Z0-9]{2}:|[A-Z]S:|[CD]R\d:|E?FLAGS:|PKRU:|Code:|Stack:|Modules linked in:|CPU: \d|Hardware name:"
    r"|Workqueue:|Tainted:|Call Trace:|-+\[|\? |</?[A-Z]+>)"
)
"""Parts of a report that differ between two of the same, or say nothing."""
_COUNTED = ("chip", "rx", "tx", "power")
"""Groups of the chip's counters that the driver moves; those of the air follow from the traffic."""


def features(
    judgement: Judgement,
    facts: Facts,
    lines: list[KernelLine],
    usual: frozenset[str],
    script: Script,
    statistics: bytes,
) -> frozenset[str]:
    """Everything that a trial showed. ``usual``: forms of lines of a trial without faults."""
    shown = {f"verdict {judgement.verdict.value}", f"back {judgement.back}"}
    shown.update(_of_log(lines, usual))
    shown.update(_of_steps(facts))
    shown.update(_of_chip(script, statistics))
    return frozenset(shown)


def form_of(line: KernelLine) -> str:
    """A line without what differs between two of a kind.

    >>> form_of(KernelLine(1.0, 4, "page at ffff888003a2b000 of usb 1-1"))
    'page at # of usb #-#'
    """
    return replace(line, text=_HEX.sub("#", line.text)).form[:_LONGEST]


def _of_log(lines: list[KernelLine], usual: frozenset[str]) -> Iterator[str]:
    odd = unusual(lines, usual)
    forms = dict.fromkeys(form_of(line) for line in odd if not _DUMP.match(line.text))
    yield from (f"line {form}" for form in list(forms)[:MOST_LINES])
    yield from (f"log {fault.key}" for fault in named(odd).faults if fault.severity != "info")


_COUNTS = frozenset({"struck", "struck-at-last"})
"""Facts that ``struck`` has by kind of fault."""


def _of_steps(facts: Facts) -> Iterator[str]:
    for fact in list(facts)[:MOST_STEPS]:
        if fact.name not in _COUNTS:
            words = fact.words if _STATUS.fullmatch(fact.words) else _NUMBER.sub("#", fact.words)
            yield f"step {fact.name} {words}".rstrip()[:_LONGEST]


def _of_chip(script: Script, statistics: bytes) -> Iterator[str]:
    document = _document(statistics)
    device = document.get("device")
    if not isinstance(device, dict):
        return
    faults = device.get("faults")
    for fault, counted in zip(script, faults if isinstance(faults, list) else [], strict=False):
        struck = counted.get("struck") if isinstance(counted, dict) else None
        if isinstance(struck, int) and struck > 0:
            yield f"struck {fault.kind}: {power_of_two(struck)}"
    found = 0
    for group, tree in (*((name, device.get(name)) for name in _COUNTED), ("urbs", document.get("urbs"))):
        for name, value in _counters(tree):
            found += 1
            if found > MOST_COUNTERS:
                return
            yield f"chip {group}.{name}: {power_of_two(value)}"


def _counters(tree: object) -> Iterator[tuple[str, int]]:
    if isinstance(tree, dict):
        for name, value in tree.items():
            if isinstance(value, int) and not isinstance(value, bool) and not str(name).endswith(("_ns", "bytes")):
                yield str(name)[:_LONGEST], value


def _document(statistics: bytes) -> dict[str, Any]:
    if len(statistics) > MAX_BYTES:
        return {}
    try:
        document = json.loads(statistics)
    except (ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}


def power_of_two(count: int) -> str:
    """The range between two powers of two in which a count lies.

    >>> [power_of_two(count) for count in (0, 1, 2, 3, 4, 1000)]
    ['0', '1', '2+', '2+', '4+', '512+']
    """
    if count < 2:
        return str(max(0, count))
    return f"{1 << (min(count.bit_length(), 64) - 1)}+"

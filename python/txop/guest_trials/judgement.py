"""The outcome of a fault: a verdict from what a trial saw, by rules that are stated here and nowhere else.

The first that fits counts:

* **not determined**: the guest was ended by this machine (its clock, its disk, a signal) and its kernel had reported
  nothing worse, the testbed could not be set up, the program that is the chip has ended (a fault script that it does
  not understand), or traffic went on and nothing shows whether the fault happened;
* **crashes**: the kernel log has an oops, BUG or panic, or the guest turned itself off, but for a panic of its
  watchdog alone;
* **hangs**: the processor was locked up, a task waits for more than 40 s, the driver cannot be unloaded in 90 s, a
  step of user space does not end in its time, or the guest does not end;
* **warns**: the kernel log has a WARN;
* **not reached**: the fault never happened;
* **fails cleanly**: there is no traffic 38 s after the fault, also after joining the network again. ``back``
  says what brings it back: ``reload`` (the driver out and in), ``replug`` (the dongle out and in), or nothing;
* **recovers**: traffic goes again by itself, or once a new interface has joined the network as user space does;
  traffic stood still for 2 s or more, or the kernel log has a warning or an error by then that it has not without the
  fault;
* **unaffected**: none of that.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from txop.guest_trials.facts import Facts, Sample, longest_silence_s
from txop.guest_trials.kernel_lines import CRASHES, HANGS, LOCKED_UP, WARNS, KernelLine, Trouble, trouble

SILENCE_S = 2.0
"""A longer time without a packet is an interruption."""


class Verdict(StrEnum):
    """What a driver makes of a fault. Of several samples the last of these here is the worst."""

    NOT_DETERMINED = "not determined"
    NOT_REACHED = "not reached"
    UNAFFECTED = "unaffected"
    RECOVERS = "recovers"
    FAILS = "fails cleanly"
    WARNS = "warns"
    HANGS = "hangs"
    CRASHES = "crashes"


@dataclass(frozen=True)
class Observed:
    """What was seen of a trial."""

    facts: Facts
    lines: list[KernelLine]
    """The kernel log, or the console of a guest that failed."""
    samples: list[Sample]
    failure: str | None = None
    """Why the guest did not end as it should."""
    turned_off: bool = False
    """It ended by itself."""
    void: bool = False
    """What failed was this machine or the testbed, and not the driver."""


@dataclass(frozen=True)
class Judgement:
    """The verdict, and what it stands on."""

    verdict: Verdict
    back: str | None
    """What brings a driver back that fails: ``reload`` or ``replug``."""
    why: str
    """The rule that decided, in a few words."""
    line: str | None
    """The most informative line of the kernel log; ``None``: nothing that it has not without the fault, too."""
    silence_s: float | None
    """The longest time without a received packet from the association on; ``None``: there was no traffic to stop."""
    struck: int | None
    """How often the fault happened; ``None``: not known."""


def judge(seen: Observed, usual: frozenset[str] = frozenset()) -> Judgement:
    """The verdict. ``usual``: forms of kernel lines of the same driver without faults."""
    facts = seen.facts
    said = trouble(seen.lines, usual)
    struck = facts.number("struck-at-last")
    if struck is None:
        struck = facts.number("struck")
    silence_s = _silence_s(seen)
    watched = facts.find("by-itself")
    while_watched = (
        said if watched is None else trouble([line for line in seen.lines if line.time_s <= watched.uptime_s], usual)
    )
    verdict, back, why = _decide(seen, said, while_watched, struck, silence_s)
    line = None if said.line is None else said.line.text
    return Judgement(verdict, back, why, line, silence_s, struck)


def _decide(
    seen: Observed, said: Trouble, while_watched: Trouble, struck: int | None, silence_s: float | None
) -> tuple[Verdict, str | None, str]:
    facts = seen.facts
    stuck = facts.all("stuck")
    if LOCKED_UP in said.keys and not said.keys & CRASHES:
        return Verdict.HANGS, None, "the processor was locked up until the guest's watchdog raised an NMI"
    if said.keys & CRASHES or seen.turned_off:
        return Verdict.CRASHES, None, seen.failure or "an oops, BUG or panic in the kernel log"
    if seen.failure is not None and not seen.void:
        return Verdict.HANGS, None, seen.failure
    if stuck:
        return Verdict.HANGS, None, f"does not end: {stuck[0].words}"
    if said.keys & HANGS:
        return Verdict.HANGS, None, "a task waits for more than 40 s"
    if seen.void:
        return Verdict.NOT_DETERMINED, None, seen.failure or "it was ended"
    if (gone := facts.find("no-chip")) is not None:
        return Verdict.NOT_DETERMINED, None, f"the virtual chip has ended: {gone.words or 'no output'}"
    if facts.find("done") is None:
        return Verdict.HANGS, None, "the trial was not completed"
    if said.keys & WARNS:
        return Verdict.WARNS, _back(facts), "a WARN in the kernel log"
    if struck == 0:
        return Verdict.NOT_REACHED, None, "the fault never happened"
    if facts.words("by-itself") != "yes":
        back = _back(facts)
        if facts.words("plug") not in (None, "0"):
            return Verdict.FAILS, back, "the driver makes no interface"
        return Verdict.FAILS, back, "no traffic any more"
    if facts.find("joined-again") is not None:
        return Verdict.RECOVERS, None, "a new interface has joined the network"
    if silence_s is not None and silence_s >= SILENCE_S:
        return Verdict.RECOVERS, None, f"traffic stood still for {silence_s:.1f} s"
    if while_watched.serious:
        return Verdict.RECOVERS, None, "only the kernel log shows it"
    if struck is None:
        return Verdict.NOT_DETERMINED, None, "traffic went on, and nothing shows whether the fault happened"
    return Verdict.UNAFFECTED, None, "traffic went on"


def _back(facts: Facts) -> str | None:
    return next((name for name in ("reload", "replug") if facts.words(name) == "ok"), None)


def _silence_s(seen: Observed) -> float | None:
    begun, ended = seen.facts.find("before"), seen.facts.find("by-itself")
    if begun is None:
        return None
    last_s = seen.samples[-1].uptime_s if seen.samples else begun.uptime_s
    return longest_silence_s(seen.samples, begun.uptime_s, last_s if ended is None else ended.uptime_s)

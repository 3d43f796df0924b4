"""When probes were sent, from stamps of a wall clock that may be set meanwhile. Pure.

A probe is placed by its stamp relative to the one before, except across a step of the clock: there it is placed by its
sequence number and the interval. A clock that is set back shows by itself, as no probe is sent early; one that is set
forward looks like a pause of the sender, and the kernel's log shows which (:mod:`txop.measure.probes.clock_steps`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

BACK_S = 0.05
"""A probe that seems to be sent earlier than due by more than this and one interval, which a delayed sender may make up
for, was sent after the clock was set back."""
FORWARD_S = 0.5
"""A pause of less is never taken for a step."""
ROUNDED_S = 1.1
"""How much a step by the kernel's account, in whole seconds, may differ from the pause."""


@dataclass(frozen=True)
class Stamped:
    """An answered probe."""

    sequence: int
    sent_s: float
    """By the stamp."""
    rtt_ms: float


@dataclass(frozen=True)
class PlacedProbes:
    """Where the probes are when the steps are taken out."""

    sent_s: dict[int, float]
    """By sequence, from the first probe of all."""
    steps: tuple[tuple[float, float], ...]
    """When (on the same scale), and by how many seconds the clock was set."""
    under_step: frozenset[int]
    """Probes under way at a step, with a round trip that is taken with both clocks."""


def place(probes: Sequence[Stamped], first: int, interval_s: float, kernel_steps: Sequence[int]) -> PlacedProbes:
    """``probes`` in the order of their sequence; ``first``: the sequence number of the first probe sent;
    ``kernel_steps``: steps that the kernel reports, in seconds.

    >>> back = [Stamped(1, 100.0, 5.0), Stamped(2, 101.0, 5.0), Stamped(3, 42.0, 5.0)]
    >>> placed = place(back, 1, 1.0, [-60])
    >>> placed.sent_s, placed.steps
    ({1: 0.0, 2: 1.0, 3: 2.0}, ((2.0, -60.0),))
    """
    sent: dict[int, float] = {}
    steps: list[tuple[float, float]] = []
    under_step: set[int] = set()
    left = list(kernel_steps)
    for before, probe in zip([None, *probes], probes, strict=False):
        if before is None:
            sent[probe.sequence] = (probe.sequence - first) * interval_s
            continue
        due_s = (probe.sequence - before.sequence) * interval_s
        late_s = probe.sent_s - before.sent_s - due_s
        step = next((step for step in left if abs(step - late_s) <= ROUNDED_S), None)
        if late_s < -(interval_s + BACK_S) or (late_s > FORWARD_S and step is not None and step > 0):
            if step is not None:
                left.remove(step)
            sent[probe.sequence] = sent[before.sequence] + due_s
            steps.append((sent[probe.sequence], round(late_s, 3)))
            under_step |= {each.sequence for each in (before, probe) if _under_step(each, late_s)}
        else:
            sent[probe.sequence] = sent[before.sequence] + due_s + late_s
    return PlacedProbes(sent, tuple(steps), frozenset(under_step))


def _under_step(probe: Stamped, step_s: float) -> bool:
    """Whether the step is in the probe's round trip: it is as long as a step forward, or 0, as iputils says of a clock
    that went back."""
    return probe.rtt_ms == 0 if step_s < 0 else probe.rtt_ms / 1e3 > 0.5 * step_s

"""Steps of a target's wall clock within a run, as its kernel reports them.

``btime`` of /proc/stat is the wall-clock time of the boot, as the wall clock has it now (fs/proc/stat.c,
``getboottime64``): it changes when the clock is set, and at no other time, since slewing goes for both clocks. It is in
whole seconds, so of a step of less than a second it may show nothing.
"""

from __future__ import annotations

import re

from txop.measure.instrument import RunFacts
from txop.measure.probes import sampler
from txop.measure.probes.host import samples_file

_BTIME = re.compile(r"^btime (\d{1,12})$", re.MULTILINE)


def clock_steps(facts: RunFacts, target: str) -> list[tuple[float, int]]:
    """When each step was seen, in seconds from the start of the window, and its whole seconds.

    Empty also when the target was not sampled."""
    steps: list[tuple[float, int]] = []
    before: int | None = None
    try:
        for at_s, sample in sampler.timed(facts, target, facts.folder / samples_file(target)):
            found = _BTIME.search(sample.files.get("/proc/stat", ""))
            if found is None:
                continue
            now = int(found[1])
            if before is not None and now != before:
                steps.append((at_s, now - before))
            before = now
    except OSError:
        return []
    return steps

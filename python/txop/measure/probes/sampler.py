"""Files of a target, read again and again by one shell loop on it: the least that works on a BusyBox system.

The loop prints the target's uptime and then each file under a heading, so that one stream holds everything, in one
clock::

    @@ 12345.67
    @/proc/stat
    cpu  ...
    @/proc/softirqs
    ...

It ends by itself after the run's longest time, whatever happens to the connection. Loops that also run commands
(:mod:`txop.measure.probes.wireless`) print the same form.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from txop.measure.instrument import RunFacts

MAX_SAMPLES_BYTES = 512 * 1024 * 1024
"""Largest file of a sampler."""
MAX_SAMPLES = 20_000
"""In one run: a soak of days is sampled less often."""
MAX_SAMPLE_CHARACTERS = 4 << 20
"""Longest sample; the rest is left out."""

_SCRIPT = (
    'n=$1 pause=$2; shift 2; sleep "$pause" 2>/dev/null || pause=1; '
    'while [ "$n" -gt 0 ]; do read -r up _ < /proc/uptime && echo "@@ $up"; '
    'for f in "$@"; do echo "@$f"; cat "$f" 2>/dev/null; done; n=$((n - 1)); sleep "$pause"; done'
)
"""``$1`` samples at most, ``$2`` pause in seconds (whole ones where sleep knows no fractions), then the files."""


@dataclass
class Sample:
    """One turn of the loop."""

    uptime_s: float
    files: dict[str, str] = field(default_factory=dict)


def interval_for(interval_s: float, longest_s: float) -> float:
    """The wanted interval, or a longer one where ``longest_s`` would take too many samples.

    >>> interval_for(1.0, 200), interval_for(1.0, 7 * 86400)
    (1.0, 30.24)
    """
    return max(interval_s, longest_s / MAX_SAMPLES)


def command(paths: Sequence[str], *, interval_s: float, longest_s: float) -> tuple[str, ...]:
    """The loop as a command; what it prints is what :func:`read` reads."""
    interval_s = interval_for(interval_s, longest_s)
    count = int(longest_s / interval_s) + 2
    return ("sh", "-c", _SCRIPT, "txop-sampler", str(count), f"{interval_s:g}", *paths)


def read(path: Path) -> Iterator[Sample]:
    """The samples of a file, one at a time; the last one, which may have been cut, is left out.

    Raises :class:`OSError` when the file cannot be read.
    """
    sample: Sample | None = None
    name: str | None = None
    lines: list[str] = []
    size = 0
    with path.open("r", encoding="utf-8", errors="replace", newline="\n") as file:
        while line := file.readline(1 << 16):
            if line.startswith("@@ "):
                if sample is not None:
                    _keep(sample, name, lines)
                    yield sample
                name, lines, size = None, [], 0
                sample = _begun(line[3:])
            elif line.startswith("@/"):
                if sample is not None:
                    _keep(sample, name, lines)
                name, lines = line[1:].rstrip("\n"), []
            else:
                size += len(line)
                if size <= MAX_SAMPLE_CHARACTERS:
                    lines.append(line)


def timed(facts: RunFacts, target: str, path: Path) -> Iterator[tuple[float, Sample]]:
    """The samples of ``target`` with their times in seconds from the start of the measured window.

    Raises :class:`OSError` when the file cannot be read.
    """
    offset_s = facts.marks.uptime_minus_monotonic_s.get(target, 0.0)
    window = facts.marks.window if facts.marks.window is not None else 0.0
    for sample in read(path):
        yield sample.uptime_s - offset_s - window, sample


def _begun(uptime: str) -> Sample | None:
    try:
        uptime_s = float(uptime)
    except ValueError:
        return None
    return Sample(uptime_s) if math.isfinite(uptime_s) else None


def _keep(sample: Sample, name: str | None, lines: list[str]) -> None:
    if name is not None:
        sample.files[name] = "".join(lines)

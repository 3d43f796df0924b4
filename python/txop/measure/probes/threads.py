"""CPU time of kernel threads in a soak: which one is busiest, and whether one becomes busy after hours."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from txop.core.visible import visible
from txop.measure.instrument import Points, Reading, RunContext, RunFacts
from txop.measure.recording import Phase, Recording, begin
from txop.plan.measurement import SoakTest
from txop.targets.contract import Running

FILE = "threads.txt"
MAX_BYTES = 64 << 20
SAMPLES = 240
"""Samples of a soak, as a rule."""
LEAST_INTERVAL_S = 5.0
SHOWN = 8
"""Threads for which the share of the whole soak is kept."""

_SCRIPT = (
    "while :; do grep -s . /proc/uptime /proc/[0-9]*/schedstat /proc/[0-9]*/comm; grep -sl . /proc/[0-9]*/cmdline; "
    "sleep {interval:g}; done"
)
_UPTIME = re.compile(r"/proc/uptime:(?P<s>[0-9]{1,12}\.[0-9]{2}) .{1,40}")
_RAN = re.compile(r"/proc/(?P<pid>[0-9]{1,8})/schedstat:(?P<ns>[0-9]{1,20}) .{1,60}")
_NAME = re.compile(r"/proc/(?P<pid>[0-9]{1,8})/comm:(?P<name>.{1,64})")
_PROGRAM = re.compile(r"/proc/(?P<pid>[0-9]{1,8})/cmdline")


@dataclass
class Sample:
    """All threads at one time."""

    uptime_s: float
    ran_ns: dict[int, int] = field(default_factory=dict)
    """By process: time on a CPU so far (/proc/PID/schedstat)."""
    names: dict[int, str] = field(default_factory=dict)
    programs: set[int] = field(default_factory=set)
    """Processes with a command line: all others are kernel threads."""

    def since(self, before: Sample) -> dict[str, float]:
        """Percent of a CPU that kernel threads took since an earlier sample, by name, several of one name together."""
        span_ns = (self.uptime_s - before.uptime_s) * 1e9
        shares: dict[str, float] = {}
        for pid, ran_ns in self.ran_ns.items():
            name = self.names.get(pid)
            if name is None or pid in self.programs or span_ns <= 0:
                continue
            same = _thread(before.names.get(pid, "")) == _thread(name)
            grown = ran_ns - (before.ran_ns.get(pid, 0) if same else 0)
            if grown >= 0:
                shares[name] = shares.get(name, 0.0) + 100 * grown / span_ns
        return shares


def _thread(name: str) -> str:
    """The part of a thread's name that stays: a worker's also says what it ran last (Linux kernel/workqueue.c,
    wq_worker_comm). Another process with the same number has another one.

    >>> _thread("kworker/u4:6-events_unbound"), _thread("kworker/0:1H+kblockd"), _thread("irq/17-mmc0")
    ('kworker/u4:6', 'kworker/0:1H', 'irq/17-mmc0')
    """
    return re.split("[-+]", name, maxsplit=1)[0] if name.startswith("kworker/") else name


def samples_in(text: str) -> Iterator[Sample]:
    """The samples in what the probe recorded; the last one may be cut and is left out unless another follows."""
    sample: Sample | None = None
    for line in text.splitlines():
        if (found := _UPTIME.fullmatch(line)) is not None:
            if sample is not None:
                yield sample
            sample = Sample(float(found["s"]))
        elif sample is None:
            continue
        elif (found := _RAN.fullmatch(line)) is not None:
            sample.ran_ns[int(found["pid"])] = int(found["ns"])
        elif (found := _NAME.fullmatch(line)) is not None:
            sample.names[int(found["pid"])] = visible(found["name"])
        elif (found := _PROGRAM.fullmatch(line)) is not None:
            sample.programs.add(int(found["pid"]))


class ThreadTimes:
    """Samples of the CPU time of all processes of the device under test, from the start of the load."""

    name = "CPU time of kernel threads"
    essential = False

    def __init__(self, test: SoakTest) -> None:
        self._interval_s = max(LEAST_INTERVAL_S, test.duration_s / SAMPLES)
        self._running: Running | None = None

    def recordings(self, run: RunContext) -> list[Recording]:
        """One loop of a shell."""
        del run
        script = _SCRIPT.format(interval=self._interval_s)
        return [Recording("dut", ("sh", "-c", script), FILE, Phase.LOAD, MAX_BYTES)]

    async def prepare(self, run: RunContext) -> None:
        """Nothing."""

    async def start(self, run: RunContext) -> None:
        """Begin."""
        (samples,) = self.recordings(run)
        self._running = await begin(run, samples)

    async def stop(self, run: RunContext) -> None:
        """End it."""
        del run
        if self._running is not None:
            await self._running.stop(grace_s=1.0)

    def read(self, facts: RunFacts) -> Reading:
        """The busiest kernel thread between two samples, and the mean of the busiest ones over all of them."""
        reading = Reading(files={FILE: "CPU time of all processes"})
        try:
            text = (facts.folder / FILE).read_bytes()[:MAX_BYTES].decode("utf-8", "replace")
        except OSError:
            text = ""
        samples = list(samples_in(text))
        if len(samples) < 2:
            reading.put("busiest_kthread_percent", None, "/proc/PID/schedstat", "fewer than two samples")
            return reading
        uptime, window = facts.marks.uptime_minus_monotonic_s.get("dut", 0.0), facts.marks.window or 0.0
        points: Points = []
        most, whose = 0.0, ""
        for before, after in pairwise(samples):
            name, share = max(after.since(before).items(), key=lambda each: each[1], default=("", 0.0))
            points.append((round(after.uptime_s - uptime - window, 3), round(share, 2)))
            if share > most:
                most, whose = share, name
        source = f"/proc/PID/schedstat: {whose}" if whose else "/proc/PID/schedstat"
        reading.put("busiest_kthread_percent", most, source)
        reading.series["busiest_kthread_percent"] = points
        whole = samples[-1].since(samples[0])
        top = sorted(whole.items(), key=lambda each: (-each[1], each[0]))[:SHOWN]
        reading.provenance["dut"] = {"kernel_threads_percent": {name: round(share, 2) for name, share in top}}
        return reading

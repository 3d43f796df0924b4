"""What a run costs a machine: CPU, context switches, interrupts, softirqs, sampled all through the run.

CPU cost is the whole machine's: a driver's work is done in softirqs, kworkers and completion handlers, which no process
is charged for. What it costs while idle is a figure of its own; the cost per Gbit is given with and without it. Only
subtracted, a driver that keeps the processor busy without traffic would look cheap under load.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from txop.archive.window import counted, is_counted
from txop.core.whole_file import whole_file
from txop.formats import proc_interrupts, proc_stat
from txop.formats.error import FormatError
from txop.measure.instrument import GateFinding, Reading, RunContext, RunFacts
from txop.measure.probes import idle_difference, sampler
from txop.measure.probes.device_interrupts import lines_of_device
from txop.measure.probes.idle_difference import BUSY, HIGH, LOW, TOTAL
from txop.measure.recording import Phase, Recording, begin
from txop.targets.contract import Running

PATHS = ("/proc/stat", "/proc/softirqs", "/proc/interrupts")
"""What is sampled."""
_RATES = ("context_switches_per_s", "interrupts_per_s", "softirqs_net_per_s", "device_interrupts_per_s")
_ALL = ("cpu_busy_percent", "cpu_idle_percent", *_RATES)
_IDLE = ("idle_cpu_percent", "idle_context_switches_per_s")
MIN_SPAN_S = 0.5
"""Two samples must be so far apart for a figure."""
ONE_CORE_PERCENT = 97.0
"""A core this busy all through the window is worth a warning: it may be the bottleneck."""


@dataclass
class _Snapshot:
    at_s: float
    """From the start of the measured window."""
    stat: proc_stat.ProcStat
    files: Mapping[str, str] = field(default_factory=dict)
    """Text of the interrupt tables, by path; empty but at the edges of the window."""

    def table(self, path: str) -> proc_interrupts.InterruptTable | None:
        """One of the tables; ``None`` when the target has none."""
        try:
            return proc_interrupts.parse(self.files[path]) if path in self.files else None
        except FormatError:
            return None


class HostCounters:
    """Counters of one target. Those of the device under test become figures; those of the peer a gate."""

    essential = False

    def __init__(self, target: str, *, shared: bool = False) -> None:
        """``shared``: other ends of the run work on the same machine, so the counters are of all of them."""
        self._target = target
        self._shared = shared
        self.name = f"counters of {target}"
        self._running: Running | None = None

    def recordings(self, run: RunContext) -> list[Recording]:
        """The sampler, all through the run."""
        argv = sampler.command(PATHS, interval_s=run.plan.collect.counters_interval_s, longest_s=run.seconds_left)
        return [Recording(self._target, argv, samples_file(self._target), Phase.UP, sampler.MAX_SAMPLES_BYTES)]

    async def prepare(self, run: RunContext) -> None:
        """Start sampling; note which interrupts are the device's."""
        target = run.targets.by_name[self._target]
        if self._target == "dut" and target.interface is not None:
            lines = await lines_of_device(target, target.interface)
            with whole_file(run.folder / _irq_file(self._target)) as out:
                out.write(json.dumps(sorted(lines)) + "\n")
        (samples,) = self.recordings(run)
        self._running = await begin(run, samples)

    async def start(self, run: RunContext) -> None:
        """Nothing."""

    async def stop(self, run: RunContext) -> None:
        """Stop sampling."""
        del run
        if self._running is not None:
            await self._running.stop(grace_s=1.0)

    def read(self, facts: RunFacts) -> Reading:
        """Figures over the window, of the device under test; the CPU gate."""
        reading = Reading()
        try:
            snapshots = _snapshots(facts, self._target)
        except OSError:
            return self._nothing(facts, reading, "the counters could not be read")
        reading.files[samples_file(self._target)] = f"counters of {self._target}"
        window_s = facts.marks.window_s
        inside = counted(((s.at_s, s) for s in snapshots), window_s)
        if len(inside) < 2 or inside[-1].at_s - inside[0].at_s < MIN_SPAN_S:
            return self._nothing(facts, reading, "fewer than two samples within the window")
        first, last = inside[0], inside[-1]
        use = proc_stat.difference(first.stat, last.stat)
        if use.all_cpus is None:
            return self._nothing(facts, reading, "the counters of /proc/stat went backwards")
        cores = max(1, len(first.stat.cpus))
        busy_cores = _busy_cores(first, last)
        busy_percent = None if busy_cores is None else 100 * busy_cores / cores
        self._gate(facts, reading, busy_percent, "the counters of idle time went backwards")
        hot = [n for n in use.cpus if (share := _busy_share(first, last, n)) is not None and share >= ONE_CORE_PERCENT]
        if hot and len(use.cpus) > 1 and not self._shared:
            reading.warnings.append(
                f"{self._target}: CPU {', '.join(map(str, hot))} was busy all the time; it may be the bottleneck"
            )
        if self._target != "dut":
            return reading
        source = "/proc/stat" + (" of the machine that carries both ends and the link" if self._shared else "")
        backwards = None if busy_percent is not None else "the counters of idle time went backwards"
        reading.put("cpu_busy_percent", busy_percent, source, backwards)
        reading.put("cpu_idle_percent", None if busy_percent is None else 100 - busy_percent, source, backwards)
        reading.series["cpu_busy_percent"] = _busy_series(snapshots)
        span_s = last.at_s - first.at_s
        rates: dict[str, float | None] = {
            "context_switches_per_s": _per_s(use.context_switches, span_s),
            "interrupts_per_s": _per_s(use.interrupts, span_s),
            "softirqs_net_per_s": _per_s(_grown(first, last, "/proc/softirqs", {"NET_RX", "NET_TX"}), span_s),
        }
        lines = _lines(facts.folder / _irq_file(self._target))
        rates["device_interrupts_per_s"] = _per_s(_grown(first, last, "/proc/interrupts", lines), span_s)
        for key in _RATES:
            known = rates[key] is not None
            reading.put(key, rates[key], source, None if known else _reason(key, lines))
        reading.extra[TOTAL] = _busy_cores(first, last)
        self._idle_phase(facts, reading, snapshots, cores, source)
        above = idle_difference.above_idle(facts.marks, snapshots, lambda s: s.at_s, _busy_cores, cores)
        reading.extra[BUSY] = above.cores if above else None
        reading.extra[LOW] = above.low if above else None
        reading.extra[HIGH] = above.high if above else None
        return reading

    def _idle_phase(
        self, facts: RunFacts, reading: Reading, snapshots: Sequence[_Snapshot], cores: int, source: str
    ) -> None:
        """What the machine does while the link is up and nothing is sent."""
        ends = idle_difference.of_idle_phase(facts.marks, snapshots, lambda s: s.at_s)
        if ends is None:
            for key in _IDLE:
                reading.put(key, None, source, "fewer than two samples in the idle phase (design.idle_s)")
            return
        busy = _busy_cores(*ends)
        percent = None if busy is None else min(100.0, 100 * busy / cores)
        reading.put("idle_cpu_percent", percent, source, None if busy is not None else "the counters went backwards")
        switches = proc_stat.difference(ends[0].stat, ends[1].stat).context_switches
        rate = _per_s(switches, ends[1].at_s - ends[0].at_s)
        reason = None if rate is not None else "the target does not count them"
        reading.put("idle_context_switches_per_s", rate, source, reason)

    def _gate(self, facts: RunFacts, reading: Reading, busy_percent: float | None, reason: str = "") -> None:
        limit = facts.plan.gates.max_dut_cpu_percent if self._target == "dut" else facts.plan.gates.max_peer_cpu_percent
        gate = "dut-cpu" if self._target == "dut" else "peer-cpu"
        if limit is None:
            return
        if busy_percent is None:
            reading.gates.append(GateFinding(gate, "not available", reason, self._target))
        elif self._shared:
            words = "both ends share this machine"
            reading.gates.append(GateFinding(gate, "not available", words, self._target))
        elif busy_percent > limit:
            words = f"its CPU was busy {busy_percent:.0f} % of the time, more than the {limit:g} % allowed"
            reading.gates.append(GateFinding(gate, "void", words, self._target))
        else:
            reading.gates.append(GateFinding(gate, "ok", target=self._target))

    def _nothing(self, facts: RunFacts, reading: Reading, reason: str) -> Reading:
        if self._target == "dut":
            for key in (*_ALL, *_IDLE, "cpu_total_s_per_gbit", "cpu_s_per_gbit"):
                reading.put(key, None, "/proc", reason)
        self._gate(facts, reading, None, reason)
        return reading


def samples_file(target: str) -> str:
    """Raw file of a target's samples, in the run's folder."""
    return f"counters-{target}.txt"


def _irq_file(target: str) -> str:
    return f"interrupt-lines-{target}.json"


def _snapshots(facts: RunFacts, target: str) -> list[_Snapshot]:
    """All samples; the interrupt tables, which are large, only of the first and the last within the window.

    Raises :class:`OSError` when the file cannot be read.
    """
    window_s = facts.marks.window_s
    snapshots: list[_Snapshot] = []
    edges: list[_Snapshot] = []
    for at_s, sample in sampler.timed(facts, target, facts.folder / samples_file(target)):
        try:
            stat = proc_stat.parse(sample.files["/proc/stat"])
        except (FormatError, KeyError):
            continue
        snapshot = _Snapshot(at_s, stat)
        snapshots.append(snapshot)
        if window_s is not None and is_counted(at_s, window_s):
            snapshot.files = sample.files
            edges.append(snapshot)
            if len(edges) > 2:
                edges.pop(1).files = {}
    return snapshots


def _grown(before: _Snapshot, after: _Snapshot, path: str, labels: set[str]) -> int | None:
    """How much the lines with these labels grew together; ``None`` without lines, or when one was reset."""
    was, now = before.table(path), after.table(path)
    if was is None or now is None:
        return None
    totals = [row.total for row in proc_interrupts.difference(was, now) if row.label in labels]
    known = [total for total in totals if total is not None]
    return sum(known) if known and len(known) == len(totals) else None


def _reason(key: str, lines: set[str]) -> str:
    if key == "device_interrupts_per_s" and not lines:
        return "it is not known which interrupts are the device's"
    return "the target does not count them"


def _per_s(count: int | None, span_s: float) -> float | None:
    return None if count is None else count / span_s


def _lines(path: Path) -> set[str]:
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return set()
    return {str(line) for line in found} if isinstance(found, list) else set()


def _busy_series(snapshots: Sequence[_Snapshot]) -> list[tuple[float, float | None]]:
    points: list[tuple[float, float | None]] = []
    for before, after in pairwise(snapshots):
        cores = _busy_cores(before, after)
        if cores is not None:
            share = cores / max(1, len(before.stat.cpus))
            points.append((round((before.at_s + after.at_s) / 2, 3), round(100 * share, 2)))
    return points


def _busy_cores(first: _Snapshot, last: _Snapshot) -> float | None:
    """Cores at work between two samples: all but idle, waiting and stolen time, of the time that passed.

    Idle time is counted by the clock, work by ticks that see short work too seldom. So busy and idle are of one
    denominator, the time, and add up to all cores. ``None`` when idle time went backwards.
    """
    span_s = last.at_s - first.at_s
    rested = _rested_ticks(first.stat.all_cpus, last.stat.all_cpus)
    if span_s <= 0 or rested < 0 or first.stat.cpus.keys() != last.stat.cpus.keys():
        return None  # a CPU that came or went takes its counters with it
    cores = max(1, len(first.stat.cpus))
    return min(float(cores), max(0.0, cores - rested / proc_stat.TICKS_PER_SECOND / span_s))


def _busy_share(first: _Snapshot, last: _Snapshot, cpu: int) -> float | None:
    """How much of the time one CPU was at work, in percent, by the same rule."""
    span_s = last.at_s - first.at_s
    rested = _rested_ticks(first.stat.cpus[cpu], last.stat.cpus[cpu])
    return None if span_s <= 0 or rested < 0 else 100 * (1 - rested / proc_stat.TICKS_PER_SECOND / span_s)


def _rested_ticks(was: proc_stat.CpuTicks, now: proc_stat.CpuTicks) -> int:
    return (now.idle + now.iowait + now.steal) - (was.idle + was.iowait + was.steal)

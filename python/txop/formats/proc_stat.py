"""``/proc/stat``: where the CPUs spent their time, context switches and interrupts; and the difference of two of them.

Times are in ticks of ``sysconf(_SC_CLK_TCK)``, 100 per second on every Linux of today. ``user`` already contains
``guest`` and ``nice`` contains ``guest_nice`` (proc_stat(5)). ``iowait`` may go down; only its sum with ``idle`` is
relied on.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from txop.formats.error import FormatError, quoted_start
from txop.formats.reading import lines_of, text_of, whole

_WHAT = "/proc/stat"
_CPU = re.compile(r"cpu([0-9]{0,5})")
TICKS_PER_SECOND = 100


@dataclass(frozen=True, slots=True)
class CpuTicks:
    """Ticks since boot. The later fields are 0 on kernels that do not have them (before 2.6.11)."""

    user: int
    nice: int
    system: int
    idle: int
    iowait: int
    irq: int
    softirq: int
    steal: int

    @property
    def busy(self) -> int:
        """Ticks in which this machine worked: all but idle, waiting and stolen ones."""
        return self.user + self.nice + self.system + self.irq + self.softirq

    @property
    def total(self) -> int:
        """All ticks."""
        return self.busy + self.idle + self.iowait + self.steal


@dataclass(frozen=True, slots=True)
class ProcStat:
    """One snapshot."""

    all_cpus: CpuTicks
    cpus: Mapping[int, CpuTicks]
    """By number; an offline CPU is absent."""

    context_switches: int | None
    interrupts: int | None
    softirqs: int | None
    processes: int | None
    """Forks since boot."""

    procs_running: int | None
    procs_blocked: int | None
    boot_unix_s: int | None


@dataclass(frozen=True, slots=True)
class CpuUse:
    """What one CPU, or all of them, did between two snapshots. Shares are of the time that passed, 0 to 1."""

    busy_share: float
    user_share: float
    """With ``nice``."""

    system_share: float
    irq_share: float
    softirq_share: float
    steal_share: float
    """Taken by the hypervisor; not in ``busy_share``."""

    busy_core_seconds: float
    elapsed_core_seconds: float


@dataclass(frozen=True, slots=True)
class ProcStatDifference:
    """Between two snapshots. ``None``: a counter went back (reboot, suspend, unplugged CPU) or was never there."""

    all_cpus: CpuUse | None
    cpus: Mapping[int, CpuUse | None]
    """CPUs that are in both snapshots."""

    context_switches: int | None
    interrupts: int | None
    softirqs: int | None
    processes: int | None


def parse(data: str | bytes) -> ProcStat:
    """One ``/proc/stat``. Raises FormatError when it has no ``cpu`` line or one that cannot be read."""
    text = text_of(data, _WHAT)
    total: CpuTicks | None = None
    cpus: dict[int, CpuTicks] = {}
    singles: dict[str, int | None] = {}
    for number, line in lines_of(text):
        words = line.split(maxsplit=11)
        if not words:
            continue
        cpu = _CPU.fullmatch(words[0])
        if cpu is None:
            if len(words) > 1:
                singles.setdefault(words[0], whole(words[1]))
            continue
        ticks = _ticks(words[1:], number)
        if cpu[1]:
            cpus[int(cpu[1])] = ticks
        else:
            total = ticks
    if total is None:
        raise FormatError(f"{_WHAT} expected; {quoted_start(text)}")
    return ProcStat(
        all_cpus=total,
        cpus=cpus,
        context_switches=singles.get("ctxt"),
        interrupts=singles.get("intr"),
        softirqs=singles.get("softirq"),
        processes=singles.get("processes"),
        procs_running=singles.get("procs_running"),
        procs_blocked=singles.get("procs_blocked"),
        boot_unix_s=singles.get("btime"),
    )


def _ticks(words: list[str], number: int) -> CpuTicks:
    counts = [whole(word) for word in words[:8]]
    known = [count for count in counts if count is not None]
    if len(known) != len(counts) or len(known) < 4:
        raise FormatError(f"{_WHAT}: a cpu line without its ticks", line=number)
    known += [0] * (8 - len(known))
    return CpuTicks(*known)


def difference(before: ProcStat, after: ProcStat, *, ticks_per_second: int = TICKS_PER_SECOND) -> ProcStatDifference:
    """What happened from ``before`` to ``after``."""
    return ProcStatDifference(
        all_cpus=_use(before.all_cpus, after.all_cpus, ticks_per_second),
        cpus={
            number: _use(before.cpus[number], after.cpus[number], ticks_per_second)
            for number in after.cpus
            if number in before.cpus
        },
        context_switches=increase(before.context_switches, after.context_switches),
        interrupts=increase(before.interrupts, after.interrupts),
        softirqs=increase(before.softirqs, after.softirqs),
        processes=increase(before.processes, after.processes),
    )


def increase(before: int | None, after: int | None) -> int | None:
    """``after - before`` of a counter; ``None`` when one is missing or it went back.

    >>> increase(5, 7), increase(7, 5), increase(None, 5)
    (2, None, None)
    """
    if before is None or after is None or after < before:
        return None
    return after - before


def _use(before: CpuTicks, after: CpuTicks, ticks_per_second: int) -> CpuUse | None:
    user = increase(before.user + before.nice, after.user + after.nice)
    system = increase(before.system, after.system)
    irq, softirq = increase(before.irq, after.irq), increase(before.softirq, after.softirq)
    steal = increase(before.steal, after.steal)
    resting = increase(before.idle + before.iowait, after.idle + after.iowait)
    if user is None or system is None or irq is None or softirq is None or steal is None or resting is None:
        return None
    busy = user + system + irq + softirq
    elapsed = busy + resting + steal
    if elapsed == 0:
        return None
    return CpuUse(
        busy_share=busy / elapsed,
        user_share=user / elapsed,
        system_share=system / elapsed,
        irq_share=irq / elapsed,
        softirq_share=softirq / elapsed,
        steal_share=steal / elapsed,
        busy_core_seconds=busy / ticks_per_second,
        elapsed_core_seconds=elapsed / ticks_per_second,
    )

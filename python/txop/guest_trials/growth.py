"""Growth per cycle: the robust slope of a series, and the kernel's cache that grows.

The slope is Theil's and Sen's: the median of the slopes between all pairs of cycles, so that a few odd readings change
nothing. The first cycles are left out: caches fill. A cache leaks when its slope is at least half an object per cycle
and at least three of four pairs of cycles rise (Kendall's tau of 0.5 and more): growth that goes on, not a step.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

MAX_BYTES = 256 << 20
WARM_UP_SHARE = 0.2
"""Share of the cycles, at the beginning, that are left out; five at least, where there are twenty."""
LEAST_CYCLES = 10
"""After the warm-up. With fewer, nothing is reported."""
MAX_CACHES = 2000
"""More than any kernel has."""
MAX_CYCLES = 300
"""Cycles compared with each other, evenly chosen where there are more: the pairs are their square."""
RISING_SHARE = 0.75
LEAST_OBJECTS = 0.5
"""Per cycle."""
LEAST_OTHER_KB = 4.0
"""Per cycle, of memory that is counted in pages."""
LAZY = frozenset({"vmap_area"})
"""Caches of which objects are given back late and by the thousand (Linux mm/vmalloc.c, lazy_max_pages): stacks of
threads that have ended are among them. What they stand for is counted as pages instead (VmallocUsed)."""


@dataclass(frozen=True)
class Slope:
    """How something grows."""

    per_cycle: float
    rising_share: float
    """Share of the pairs of cycles in which the later one is larger."""
    cycles: int
    """That were looked at."""


def slope(values: dict[int, float]) -> Slope | None:
    """The slope of a series by cycle; ``None`` with too few cycles.

    >>> slope({n: 3.0 * n for n in range(1, 31)}).per_cycle
    3.0
    """
    cycles = sorted(values)
    first = max(int(len(cycles) * WARM_UP_SHARE), 5 if len(cycles) >= 20 else 0)
    kept = cycles[first:]
    if len(kept) > MAX_CYCLES:
        kept = [kept[round(at * (len(kept) - 1) / (MAX_CYCLES - 1))] for at in range(MAX_CYCLES)]
    if len(kept) < LEAST_CYCLES:
        return None
    slopes = []
    rising = 0
    for at, early in enumerate(kept):
        for late in kept[at + 1 :]:
            difference = values[late] - values[early]
            rising += difference > 0
            slopes.append(difference / (late - early))
    slopes.sort()
    middle = len(slopes) // 2
    median = slopes[middle] if len(slopes) % 2 else (slopes[middle - 1] + slopes[middle]) / 2
    return Slope(median, rising / len(slopes), len(kept))


@dataclass(frozen=True)
class CacheGrowth:
    """How one of the kernel's slab caches grows."""

    name: str
    object_bytes: int
    slope: Slope

    @property
    def bytes_per_cycle(self) -> float:
        """Growth of the objects in use."""
        return self.slope.per_cycle * self.object_bytes

    @property
    def leaks(self) -> bool:
        """By the rule above."""
        if self.name in LAZY:
            return False
        return self.slope.per_cycle >= LEAST_OBJECTS and self.slope.rising_share >= RISING_SHARE


@dataclass(frozen=True)
class Growth:
    """What stays in memory of each cycle."""

    caches: tuple[CacheGrowth, ...]
    """Those that grow, the most bytes first."""
    slab_kb: Slope | None
    """Growth of memory in slabs that cannot be given back (SUnreclaim)."""
    vmalloc_kb: Slope | None
    """Growth of memory from vmalloc."""
    other_kb: Slope | None
    """Growth of memory that the kernel uses otherwise: not free, not of programs and files, not in slabs."""

    @property
    def leaks(self) -> tuple[str, ...]:
        """What leaks; empty: nothing does."""
        names = [cache.name for cache in self.caches if cache.leaks]
        for name, pages in (("vmalloc", self.vmalloc_kb), ("pages outside slabs", self.other_kb)):
            if pages is not None and pages.per_cycle >= LEAST_OTHER_KB and pages.rising_share >= RISING_SHARE:
                names.append(name)
        return tuple(names)


_SLAB = re.compile(r"(\d{1,6})\t(\S{1,64})\t(\d{1,12})\t(\d{1,9})")
_MEMORY = re.compile(r"(\d{1,6})\t(\S{1,40})\t(\d{1,15})")
_NOT_OTHER = ("MemFree", "Buffers", "Cached", "AnonPages", "Slab", "KernelStack", "PageTables", "Percpu", "VmallocUsed")


def read_growth(slab: bytes, memory: bytes) -> Growth:
    """What the files of a trial say: ``cycle cache objects bytes`` and ``cycle name kB``, with tabs."""
    sizes: dict[str, int] = {}
    objects: dict[str, dict[int, float]] = {}
    for row in slab[:MAX_BYTES].decode("utf-8", "replace").splitlines():
        match = _SLAB.fullmatch(row)
        if match and (match[2] in objects or len(objects) < MAX_CACHES):
            sizes[match[2]] = int(match[4])
            objects.setdefault(match[2], {})[int(match[1])] = float(match[3])
    amounts: dict[int, dict[str, int]] = {}
    for row in memory[:MAX_BYTES].decode("utf-8", "replace").splitlines():
        if match := _MEMORY.fullmatch(row):
            amounts.setdefault(int(match[1]), {})[match[2]] = int(match[3])
    grown = []
    for name, series in objects.items():
        found = slope(series)
        if found is not None and found.per_cycle > 0:
            grown.append(CacheGrowth(name, sizes[name], found))
    grown.sort(key=lambda cache: (not cache.leaks, -cache.bytes_per_cycle, cache.name))

    def kind_slope(kind: str) -> Slope | None:
        return slope({cycle: float(kinds[kind]) for cycle, kinds in amounts.items() if kind in kinds})

    other_kb = {
        cycle: float(kinds["MemTotal"] - sum(kinds.get(kind, 0) for kind in _NOT_OTHER))
        for cycle, kinds in amounts.items()
        if "MemTotal" in kinds
    }
    return Growth(tuple(grown), kind_slope("SUnreclaim"), kind_slope("VmallocUsed"), slope(other_kb))

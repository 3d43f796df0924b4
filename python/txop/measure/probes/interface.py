"""Counters of the interface under test, before and after: whether the traffic went through it, and what was dropped."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from txop.core.whole_file import whole_file
from txop.formats.error import FormatError
from txop.formats.proc_net import parse_dev
from txop.measure.instrument import Reading, RunContext, RunFacts
from txop.targets.contract import Target

COUNTERS = ("tx_bytes", "rx_bytes", "tx_packets", "rx_packets", "tx_dropped", "rx_dropped", "tx_errors", "rx_errors")


@dataclass(frozen=True)
class Growth:
    """How the counters of an interface grew over a run; ``None`` for one that could not be read or was reset."""

    interface: str
    counters: dict[str, int | None]


class InterfaceCounters:
    """``/proc/net/dev`` of a target, at both ends of the run. (sysfs would show the namespace it was mounted in.)"""

    essential = False

    def __init__(self, target: str) -> None:
        self._target = target
        self.name = f"interface of {target}"
        self._before: dict[str, int | None] | None = None

    async def prepare(self, run: RunContext) -> None:
        """Read them before."""
        target = run.targets.by_name[self._target]
        if target.interface is not None:
            self._before = await _read(target, target.interface)

    async def start(self, run: RunContext) -> None:
        """Nothing."""

    async def stop(self, run: RunContext) -> None:
        """Read them after, and keep both."""
        target = run.targets.by_name[self._target]
        if self._before is None or target.interface is None:
            return
        both = {
            "interface": target.interface,
            "before": self._before,
            "after": await _read(target, target.interface),
        }
        with whole_file(run.folder / file_name(self._target)) as out:
            out.write(json.dumps(both, indent=1) + "\n")

    def read(self, facts: RunFacts) -> Reading:
        """Drops and errors as warnings; the route gate is judged in :mod:`txop.campaign.gates`."""
        reading = Reading()
        grown = growth(facts.folder, self._target)
        if grown is None:
            return reading
        reading.files[file_name(self._target)] = f"interface counters of {self._target}"
        for key in ("tx_errors", "rx_errors"):
            if grown.counters.get(key):
                reading.warnings.append(f"{self._target}: {grown.interface} counted {grown.counters[key]} {key}")
        return reading


def file_name(target: str) -> str:
    """Raw file of a target's counters."""
    return f"interface-{target}.json"


def growth(folder: Path, target: str) -> Growth | None:
    """What the counters of ``target`` grew by in the run of ``folder``; ``None`` when they were not recorded."""
    try:
        both = json.loads((folder / file_name(target)).read_bytes())
        before, after = both["before"], both["after"]
        pairs = {key: (before.get(key), after.get(key)) for key in COUNTERS}
        return Growth(
            str(both["interface"]),
            {
                key: a - b if isinstance(a, int) and isinstance(b, int) and a >= b else None
                for key, (b, a) in pairs.items()
            },
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


async def _read(target: Target, interface: str) -> dict[str, int | None]:
    return counters_in(await target.read("/proc/net/dev", limit_bytes=1 << 20), interface)


def counters_in(table: bytes | None, interface: str) -> dict[str, int | None]:
    """The counters of an interface in the bytes of /proc/net/dev; ``None`` for those that are not there."""
    try:
        found = parse_dev(table or b"").get(interface)
    except FormatError:
        found = None
    return {key: None if found is None else getattr(found, key) for key in COUNTERS}

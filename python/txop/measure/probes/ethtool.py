"""Statistics of the driver (``ethtool -S``) before and after a run: kept whole, and a word where errors grew."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from txop.core.visible import visible
from txop.formats.error import FormatError
from txop.formats.ethtool import parse_statistics
from txop.formats.proc_stat import increase
from txop.measure.instrument import Reading, RunContext, RunFacts
from txop.measure.recording import Phase, Recording, Snapshot

BEFORE = "ethtool-before-{}.txt"
AFTER = "ethtool-after-{}.txt"
MAX_BYTES = 1 << 20
MAX_NAMED = 6

_BAD = re.compile(
    r"err|drop|fail|discard|crc|fcs|fifo|miss|overrun|underrun|overflow|timeout|abort|reset|stuck|no_?buf|no_?res|short",
    re.IGNORECASE,
)
_REASON = re.compile(r"tx_reason_")
"""Why blocks of cdc_ncm ended: one that its timer ends (``tx_reason_timeout``) is not an error."""


class EthtoolStatistics:
    """The driver's own counters."""

    essential = False

    def __init__(self, target: str = "dut") -> None:
        self._target = target
        self.name = f"ethtool on {target}"
        self._taken = False

    def recordings(self, run: RunContext) -> Sequence[Recording | Snapshot]:
        """In a guest with a network function: before the load and after the window."""
        guest = run.plan.guest_of(run.arm)
        if guest is None or not guest.is_function:
            return []
        argv = ("ip", "netns", "exec", "dut", "ethtool", "-S", guest.interface)
        moments = ((BEFORE, Phase.UP), (AFTER, Phase.END))
        return [Snapshot(self._target, argv, name.format(self._target), at, MAX_BYTES) for name, at in moments]

    async def prepare(self, run: RunContext) -> None:
        """Read them before."""
        self._taken = await self._copy(run, BEFORE)

    async def start(self, run: RunContext) -> None:
        """Nothing."""

    async def stop(self, run: RunContext) -> None:
        """Read them after."""
        if self._taken:
            await self._copy(run, AFTER)

    async def _copy(self, run: RunContext, name: str) -> bool:
        target = run.targets.by_name[self._target]
        program = await target.find("ethtool") if target.interface is not None else None
        if program is None or target.interface is None:
            return False
        ran = await target.run([program, "-S", target.interface], timeout_s=20)
        if ran.ok:
            (run.folder / name.format(self._target)).write_bytes(ran.stdout_bytes[:MAX_BYTES])
        return ran.ok

    def read(self, facts: RunFacts) -> Reading:
        """The counters of errors that grew, the largest first."""
        reading = Reading()
        grown = growth(facts.folder, self._target)
        if grown is None:
            return reading
        for name in (BEFORE, AFTER):
            reading.files[name.format(self._target)] = f"ethtool -S on {self._target}"
        if (share := timer_percent(grown)) is not None:
            reading.put("ncm_timer_percent", share, f"ethtool -S on {self._target}")
        errors = [key for key in grown if _BAD.search(key) and not _REASON.match(key)]
        bad = sorted(((grown[key], key) for key in errors), reverse=True)
        if bad:
            shown = ", ".join(f"{visible(key)} +{n}" for n, key in bad[:MAX_NAMED])
            more = f" and {len(bad) - MAX_NAMED} more" if len(bad) > MAX_NAMED else ""
            reading.warnings.append(f"{self._target}: the driver counted errors: {shown}{more}")
        return reading


def timer_percent(grown: Mapping[str, int]) -> float | None:
    """Blocks that the timer of cdc_ncm ended, in percent of those that were sent for a reason; ``None``: it sent none,
    or is another driver. The reasons are those of drivers/net/usb/cdc_ncm.c.

    >>> timer_percent({"tx_reason_timeout": 30, "tx_reason_ntb_full": 60, "tx_reason_max_datagram": 10})
    30.0
    """
    reasons = [step for key, step in grown.items() if _REASON.match(key)]
    return 100 * grown.get("tx_reason_timeout", 0) / sum(reasons) if sum(reasons) else None


def growth(folder: Path, target: str) -> dict[str, int] | None:
    """The statistics that grew in the run of ``folder``, and by how much; ``None`` when they were not recorded."""
    try:
        before, after = (
            parse_statistics((folder / name.format(target)).read_bytes()[:MAX_BYTES]) for name in (BEFORE, AFTER)
        )
    except (OSError, FormatError):
        return None
    steps = {key: increase(before.get(key), value) for key, value in after.items()}
    return {key: step for key, step in steps.items() if step}

"""The SDIO slot of the device under test: clock, width and timing, before and after a run."""

from __future__ import annotations

import json

from txop.core.whole_file import whole_file
from txop.formats import mmc_ios
from txop.formats.error import FormatError
from txop.measure.instrument import Reading, RunContext, RunFacts
from txop.measure.probes.device_path import device_path, mmc_host
from txop.targets.contract import Target

FILE = "sdio-{}.json"


class SdioBus:
    """``ios`` of the MMC host that the interface under test hangs on (debugfs, needs root)."""

    essential = False

    def __init__(self, target: str = "dut") -> None:
        self._target = target
        self.name = f"SDIO bus of {target}"
        self._host: str | None = None
        self._before: str | None = None

    async def prepare(self, run: RunContext) -> None:
        """Look before; a device on another bus is left alone."""
        target = run.targets.by_name[self._target]
        path = await device_path(target, target.interface) if target.interface is not None else None
        self._host = mmc_host(path) if path is not None else None
        if self._host is not None:
            self._before = await _ios(target, self._host)

    async def start(self, run: RunContext) -> None:
        """Nothing."""

    async def stop(self, run: RunContext) -> None:
        """Look after."""
        if self._host is None or self._before is None:
            return
        after = await _ios(run.targets.by_name[self._target], self._host)
        with whole_file(run.folder / FILE.format(self._target)) as out:
            out.write(json.dumps({"host": self._host, "before": self._before, "after": after}, indent=1) + "\n")

    def read(self, facts: RunFacts) -> Reading:
        """A warning when the bus was set differently at the end; its setting for the record."""
        reading = Reading()
        file = FILE.format(self._target)
        try:
            record = json.loads((facts.folder / file).read_bytes())
            before, after = mmc_ios.parse(str(record["before"])), mmc_ios.parse(str(record["after"]))
        except (OSError, ValueError, KeyError, TypeError, FormatError):
            return reading
        reading.files[file] = f"SDIO bus of {self._target}, before and after"
        reading.provenance[self._target] = {
            "sdio": {"clock_hz": before.clock_hz, "bus_width_bits": before.bus_width_bits, "timing": before.timing}
        }
        for what in ("clock_hz", "bus_width_bits", "timing", "signal_voltage"):
            was, now = getattr(before, what), getattr(after, what)
            if was != now:
                shown = what.replace("_", " ")
                reading.warnings.append(f"{self._target}: {shown} of its SDIO bus went from {was} to {now} in the run")
        return reading


async def _ios(target: Target, host: str) -> str | None:
    ran = await target.run(["cat", f"/sys/kernel/debug/{host}/ios"], timeout_s=10, root=True)
    return ran.stdout[:8192] if ran.ok and ran.stdout.strip() else None

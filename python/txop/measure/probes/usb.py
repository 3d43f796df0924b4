"""The USB link of the device under test: its speed before and after a run, and in earlier runs of the same arm."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from txop.core.whole_file import whole_file
from txop.formats.usb import UsbDevice, devices
from txop.measure.instrument import GateFinding, Reading, RunContext, RunFacts
from txop.measure.probes.device_path import device_path, usb_device
from txop.targets.contract import Target

FILE = "usb-{}.json"
ATTRIBUTES = ("speed", "idVendor", "idProduct", "version", "busnum", "devnum", "product", "bMaxPower")
MAX_EARLIER = 5_000
"""Earlier runs looked at."""
_DEVICES = "/sys/bus/usb/devices/"


class UsbLink:
    """Speed and number of the USB device that the interface under test belongs to."""

    essential = False

    def __init__(self, target: str = "dut") -> None:
        self._target = target
        self.name = f"USB link of {target}"
        self._before: dict[str, str] | None = None

    async def prepare(self, run: RunContext) -> None:
        """Look before; a device on another bus is left alone."""
        target = run.targets.by_name[self._target]
        self._before = await _attributes(target)

    async def start(self, run: RunContext) -> None:
        """Nothing."""

    async def stop(self, run: RunContext) -> None:
        """Look after, and keep both with the best speed of earlier runs."""
        if not self._before:
            return
        after = await _attributes(run.targets.by_name[self._target])
        record = {
            "arm": run.arm.name,
            "before": self._before,
            "after": after,
            "best_mbit_s": _best_earlier(run.folder, self._target, run.arm.name, self._before),
        }
        with whole_file(run.folder / FILE.format(self._target)) as out:
            out.write(json.dumps(record, indent=1) + "\n")

    def read(self, facts: RunFacts) -> Reading:
        """The gate ``usb-speed``."""
        reading = Reading()
        file = FILE.format(self._target)
        record = _record(facts.folder / file)
        if record is None:
            return reading  # no USB device: the gate does not concern it
        reading.files[file] = f"USB device of {self._target}, before and after"
        before, after = _device(record.get("before")), _device(record.get("after"))
        best = record.get("best_mbit_s")
        speeds = [device.speed_mbit_s if device is not None else None for device in (before, after)]
        if before is not None and before.speed_mbit_s is not None:
            reading.provenance[self._target] = {"usb_mbit_s": before.speed_mbit_s}
        if facts.plan.gates.usb_speed:
            was = max((s for s in (speeds[0], best) if isinstance(s, int | float)), default=None)
            reading.gates.append(self._judge(was, speeds))
        if before is not None and after is not None and before.device_number != after.device_number:
            reading.warnings.append(f"{self._target}: the USB device left the bus and came back during the run")
        return reading

    def _judge(self, was: float | None, speeds: list[float | None]) -> GateFinding:
        known = [speed for speed in speeds if speed is not None]
        if was is None or len(known) < len(speeds):
            words = "the device was gone at the end" if speeds[0] is not None else "sysfs does not report its speed"
            return GateFinding("usb-speed", "not available", words, self._target)
        if min(known) < was:
            words = f"its USB link fell from {was:g} to {min(known):g} Mbit/s"
            return GateFinding("usb-speed", "void", words, self._target)
        return GateFinding("usb-speed", "ok", target=self._target)


async def _attributes(target: Target) -> dict[str, str]:
    """Attributes of the interface's USB device; empty when it is on no USB."""
    path = await device_path(target, target.interface) if target.interface is not None else None
    folder = usb_device(path) if path is not None else None
    if folder is None:
        return {}
    found = {"name": folder.rpartition("/")[2]}
    texts = await target.read_several(*(f"{folder}/{attribute}" for attribute in ATTRIBUTES), limit_bytes=1 << 12)
    for attribute, data in zip(ATTRIBUTES, texts, strict=True):
        if data is not None:
            found[attribute] = data.decode("utf-8", "replace").strip()
    return found


def _device(attributes: object) -> UsbDevice | None:
    if not isinstance(attributes, Mapping) or not attributes:
        return None
    name = str(attributes.get("name", "device")).replace("/", "_")
    found = devices({f"{_DEVICES}{name}/{key}": str(value) for key, value in attributes.items()})
    return found[0] if found else None


def _record(path: Path) -> dict[str, object] | None:
    try:
        record = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return record if isinstance(record, dict) else None


def _best_earlier(folder: Path, target: str, arm: str, device: Mapping[str, str]) -> float | None:
    """Highest speed that the same device had in earlier runs of the same arm: it may have fallen while it was loaded.

    Only of the same arm, because a driver may ask a device for another speed (Realtek's ``switch_usb_mode``).
    """
    best: float | None = None
    for number, path in enumerate(sorted(folder.parent.glob(f"*/{FILE.format(target)}"))):
        if number >= MAX_EARLIER:
            break
        record = _record(path)
        before = record.get("before") if record is not None and record.get("arm") == arm else None
        if isinstance(before, Mapping) and all(before.get(k) == device.get(k) for k in ("idVendor", "idProduct")):
            found = _device(before)
            speed = found.speed_mbit_s if found is not None else None
            best = speed if best is None or (speed is not None and speed > best) else best
    return best

"""A guest in which a driver probes a virtual USB device, and what the device answered."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from txop.core.errors import ExitCode
from txop.core.visible import visible
from txop.formats.error import FormatError
from txop.formats.usb_urbs import read_usb_urbs
from txop.guest.chips import Chip
from txop.guest.provenance import provenance
from txop.guest.qemu import Computer
from txop.guest.running import FILES, Listener, run_guest
from txop.guest_image.error import GuestError
from txop.guest_image.image import Image
from txop.guest_image.overlay import Overlay
from txop.guest_probe.probe import Probe, collect
from txop.plan.devices import ROWS

CAPTURE = "usb.pcapng"
"""What the device writes of its bus."""
_SCRIPT = "/txop/probe.sh"
_FACTS = "facts"
_MOST_BYTES = 1 << 30
_MOST_FACTS = 65_536


@dataclass(frozen=True)
class Probed:
    """A device and what it answered."""

    device: str
    probe: Probe
    facts: dict[str, str]
    """Names and values that the guest's script has written."""
    made_of: dict[str, Any]
    """Where the guest ran, and on what its figures stand."""

    def provenance(self) -> dict[str, Any]:
        """What a document says of where it comes from."""
        speed = self.facts.get("speed", "")
        return {
            "device": self.device,
            "driver": self.facts.get("driver"),
            "interface": self.facts.get("interface"),
            "up": {"0": True, None: None}.get(self.facts.get("up"), False),
            "speed_mbit_s": int(speed) if re.fullmatch(r"\d{1,6}", speed, re.ASCII) else None,
            **self.made_of,
        }


def probed_chip(device: str, driver: str) -> Chip:
    """The device as a guest gets it. Raises :class:`GuestError` for one that is not on USB."""
    if device in ROWS and ROWS[device].bus != "usb":
        on_usb = ", ".join(name for name, row in ROWS.items() if row.bus == "usb")
        raise GuestError(f"the {device} is not on USB", what_to_do=f"{on_usb} are")
    return Chip(device, driver, usb=CAPTURE, plug_only=True)


def probe_overlay(chip: Chip, up_s: int, modules: tuple[Path, ...]) -> Overlay:
    """What the guest runs."""
    script = (resources.files("txop.guest_probe") / "probe.sh").read_bytes()
    return Overlay(
        script=f"exec dash {_SCRIPT}",
        environment={**chip.variables(), "PROBE_UP_S": str(up_s)},
        files=chip.files(),
        texts={_SCRIPT: script},
        modules=modules,
    )


async def probe_in_guest(
    chip: Chip,
    image: Image,
    computer: Computer,
    results: Path,
    *,
    up_s: int = 1,
    modules: tuple[Path, ...] = (),
    wall_limit_s: float = 900.0,
    listener: Listener | None = None,
) -> Probed:
    """Let the driver probe the device, and bring its interface up for ``up_s`` seconds.

    Raises:
        GuestError: No guest, no interface in it, or a capture that cannot be read.
    """
    overlay = probe_overlay(chip, up_s, modules)
    ended = await run_guest(image, overlay, computer, results=results, wall_limit_s=wall_limit_s, listener=listener)
    if ended.status != 0:
        raise GuestError(
            f"{chip.driver} made no interface of the {chip.device} (the guest's command ended with {ended.status})",
            what_to_do=_last_words(results / "stderr") or f"try it: txop guest run --device {chip.device} -- true",
            exit_code=ExitCode.VERDICT_NO,
        )
    return await asyncio.to_thread(read_probed, chip.device, results, provenance(image, computer, modules))


def _last_words(path: Path) -> str:
    """What the guest's command complained about last; empty: nothing."""
    try:
        with path.open("rb") as source:
            rows = source.read(_MOST_FACTS).decode("utf-8", "replace").split("\n")
    except OSError:
        return ""
    return visible("; ".join([row.strip() for row in rows if row.strip()][-3:]))[:400]


def read_probed(device: str, results: Path, made_of: dict[str, Any]) -> Probed:
    """What a guest left of a probe. Raises :class:`GuestError`."""
    files = results / FILES
    try:
        with (files / CAPTURE).open("rb") as source:
            capture = source.read(_MOST_BYTES)
        with (files / _FACTS).open("rb") as source:
            facts = source.read(_MOST_FACTS).decode("utf-8", "replace")
    except OSError as error:
        raise GuestError(f"the guest left no {Path(error.filename or CAPTURE).name}") from None
    try:
        probe = collect(read_usb_urbs(capture))
    except FormatError as error:
        raise GuestError(f"{files / CAPTURE}: {error}") from None
    pairs = (row.partition(" ") for row in facts.splitlines())
    return Probed(device, probe, {name: value for name, _, value in pairs}, made_of)

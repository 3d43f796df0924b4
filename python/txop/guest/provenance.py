"""Provenance of a guest's figures: what has to be the same for the same figures."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from txop.core.origin import NOT_RADIO
from txop.core.version import program_version
from txop.guest.outside import BENCH, find_library
from txop.guest.qemu import Computer, Mode, qemu_version, untested_qemu
from txop.guest_image.cache import sha256_of
from txop.guest_image.emulator.shim import shim_sha256
from txop.guest_image.error import GuestError
from txop.guest_image.image import Image


def provenance(image: Image, computer: Computer, modules: Iterable[Path]) -> dict[str, Any]:
    """Origin, kernel, processor, programs. ``modules``: files that take the place of the kernel's own.

    ``None``: not known here, or (instructions a second) not counted, for the reason beside it.
    """
    return {
        "origin": f"guest-{computer.mode.value}",
        "not_radio": NOT_RADIO,
        "release": image.release,
        "image": image.key,
        "processor": "kvm" if computer.kvm else "translator",
        "instructions_per_second": computer.instructions_per_second,
        "instructions_per_second_missing": (
            None if computer.mode is Mode.EXACT else "a fast guest lives by this machine's clock"
        ),
        "qemu": _qemu(),
        "exactness_doubt": exactness_doubt(computer),
        "bench": BENCH.value,
        "txop": program_version(),
        "chips_sha256": _chips_sha256(),
        "shim_sha256": _shim_sha256(),
        "modules_sha256": sorted({f"{path.name} {sha256_of(path)}" for path in modules}),
    }


def in_words(facts: dict[str, Any]) -> str:
    """The same in a line, for a table."""
    ips = facts["instructions_per_second"]
    pace = f"{ips / 1e6:g} million instructions a second" if ips else facts["processor"]
    programs = f"{facts['qemu'] or 'QEMU'}, txop {facts['txop']}"
    doubt = f" Note: {facts['exactness_doubt']}." if facts["exactness_doubt"] else ""
    return f"Origin: {facts['origin']} ({pace}), Linux {facts['release']}, {programs}.{doubt}"


def exactness_doubt(computer: Computer) -> str | None:
    """Why the figures of this guest may not be exact; ``None``: nothing says so, or they need not be."""
    return untested_qemu(_qemu() or "unknown") if computer.mode is Mode.EXACT else None


def _qemu() -> str | None:
    with suppress(GuestError):
        return qemu_version()
    return None


def _chips_sha256() -> str | None:
    with suppress(GuestError, OSError):
        return sha256_of(find_library())
    return None


def _shim_sha256() -> str | None:
    with suppress(GuestError):
        return shim_sha256()
    return None

"""One trial of a driver in a guest: what it runs, and what comes back."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from txop.core.errors import ExitCode
from txop.core.whole_file import whole_file
from txop.guest.chips import FAULTS, Chip
from txop.guest.cluster import GuestCluster
from txop.guest.inputs import inputs_of
from txop.guest.qemu import Computer
from txop.guest.remote_run import remote_run
from txop.guest.running import FILES, Cause, Ended, GuestFailedError, Listener, run_guest
from txop.guest_image.image import Image
from txop.guest_image.overlay import Overlay
from txop.guest_image.packages.lock import Lock
from txop.guest_trials.facts import Facts, Sample, read_facts, read_samples
from txop.guest_trials.judgement import Observed
from txop.guest_trials.kernel_lines import KernelLine, read_kernel_lines

_SCRIPTS = "/txop/trials"
_END = "trial.json"
"""How the trial in a folder ended, and of what it was made."""


@dataclass(frozen=True)
class Place:
    """Where trials run."""

    image: Image
    computer: Computer
    wall_limit_s: float
    modules: Mapping[str, tuple[Path, ...]]
    """By driver: modules that take the place of the kernel's own."""
    device: str = Chip.device
    """The virtual chip under the drivers."""
    lock: Lock | None = None
    """The image's lock; ``None``: the kernel is the user's own."""
    workers: GuestCluster | None = None
    """What runs the guests; ``None``: this machine."""


def trial_overlay(script: str, chip: Chip, settings: Mapping[str, str], place: Place, faults: str = "") -> Overlay:
    """What a trial's guest runs. ``script``: a file of ``trials``; ``faults``: text of a fault script."""
    folder = resources.files("txop.guest_trials") / "trials"
    texts = {f"{_SCRIPTS}/{name}": (folder / name).read_bytes() for name in ("lib.sh", script)}
    if faults:
        texts[FAULTS] = faults.encode()
    return Overlay(
        script=f"exec dash {_SCRIPTS}/{script}",
        environment={**chip.variables(), **settings},
        files=chip.files(),
        texts=texts,
        modules=tuple(place.modules.get(chip.driver, ())),
    )


@dataclass(frozen=True)
class Trial:
    """What came back of a trial."""

    seen: Observed
    seconds: float | None
    """By this machine's clock; ``None``: it failed."""
    guest_seconds: float | None


def trial_key(overlay: Overlay, place: Place) -> str:
    """A hash of all that a trial is made of."""
    parts = [place.image.key, repr(place.computer), overlay.script or "", repr(sorted(overlay.environment.items()))]
    parts += [f"{name} {hashlib.sha256(data).hexdigest()}" for name, data in sorted(overlay.texts.items())]
    for path in (*overlay.files.values(), *overlay.modules):
        parts.append(f"{path.name} {hashlib.sha256(path.read_bytes()).hexdigest()}")
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


async def run_trial(overlay: Overlay, place: Place, results: Path, listener: Listener | None = None) -> Trial:
    """Run a trial to its end. A guest that fails is a result. Raises :class:`GuestError` when none can be started.

    A trial of exactly this kind that was completed in the same folder is not repeated.
    """
    key = await asyncio.to_thread(trial_key, overlay, place)
    end = _earlier(results, key)
    if end is None:
        end = await _run(overlay, place, results, listener)
        if not end.void:
            with whole_file(results / _END) as out:
                json.dump({"format": "txop-guest-trial", "version": 2, "key": key, **end.model_dump()}, out)
    return await asyncio.to_thread(_trial, end, results)


def read_trial(results: Path) -> Trial | None:
    """The trial that was completed in a folder, of whatever it was made; ``None``: there was none."""
    end = _earlier(results, None)
    return None if end is None else _trial(end, results)


def _trial(end: _End, results: Path) -> Trial:
    facts, lines, samples = _read(results, end.failure is not None)
    seen = Observed(facts, lines, samples, end.failure, end.turned_off, end.void)
    return Trial(seen, end.seconds, end.guest_seconds)


class _End(BaseModel):
    """How a guest ended."""

    model_config = ConfigDict(frozen=True, strict=True)

    failure: str | None
    turned_off: bool
    void: bool
    """It shows nothing about the driver, and is repeated."""
    seconds: float | None
    guest_seconds: float | None


async def _run(overlay: Overlay, place: Place, results: Path, listener: Listener | None) -> _End:
    (results / _END).unlink(missing_ok=True)
    try:
        ended = await _guest(overlay, place, results, listener)
    except GuestFailedError as error:
        # what an earlier guest left there is not of this one
        results.mkdir(parents=True, exist_ok=True)
        off, void = error.cause is Cause.OFF, error.cause is Cause.HOST
        return _End(failure=error.what, turned_off=off, void=void, seconds=None, guest_seconds=None)
    void = ended.status == ExitCode.NO_TESTBED
    failure = f"the trial ended with {ended.status}" if ended.status else None
    if void:
        failure = "the testbed could not be set up"
    return _End(failure=failure, turned_off=False, void=void, seconds=ended.seconds, guest_seconds=ended.guest_seconds)


async def _guest(overlay: Overlay, place: Place, results: Path, listener: Listener | None) -> Ended:
    if place.workers is None:
        return await run_guest(
            place.image, overlay, place.computer, results=results, wall_limit_s=place.wall_limit_s, listener=listener
        )
    inputs = await asyncio.to_thread(inputs_of, place.image, overlay, place.computer)
    remote = remote_run(place.lock, place.image, overlay, place.computer, inputs.key, place.wall_limit_s, None)
    return await place.workers.run_into(remote, results)


def _earlier(results: Path, key: str | None) -> _End | None:
    """How a trial of this key (``None``: of any) ended in this folder; ``None``: there was none."""
    try:
        with (results / _END).open("rb") as source:
            end = json.loads(source.read(65_536))
        if key not in (None, end["key"]) or not (results / FILES if end["failure"] is None else results).is_dir():
            return None
        return _End.model_validate({name: end[name] for name in _End.model_fields})
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _read(results: Path, failed: bool) -> tuple[Facts, list[KernelLine], list[Sample]]:
    files = results / FILES
    log = next((path for path in (files / "log", files / "kernel.log") if path.is_file()), results / "console")
    if failed and not (files / "log").is_file() and not (files / "kernel.log").is_file():
        log = results / "console"
    return (
        read_facts(_bytes(files / "facts")),
        read_kernel_lines(_bytes(log)),
        read_samples(_bytes(files / "carried")),
    )


def _bytes(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() else b""

"""Campaigns in guests: real drivers on virtual chips. Every run is a guest of its own, which nothing from outside
disturbs; runs of one block have the same seed, so that arms are paired by it."""

from __future__ import annotations

import hashlib
import shutil
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from txop.campaign.guest_script import INTERFACE, LAB_FAILED, PEER_ADDRESS, marks_in, run_script, take_over
from txop.campaign.guest_trials import carry_out_trial, limit_s
from txop.campaign.instruments import in_guest
from txop.campaign.laboratory import ArmError, Placed
from txop.campaign.reporter import Reporter
from txop.guest.chips import NEEDS_BUILD, Chip, find_chips
from txop.guest.driver import DriverBuild, build_driver, patch_files
from txop.guest.driver_check import check_driver
from txop.guest.exactness import difference, results_sha256
from txop.guest.qemu import Computer, Mode, kvm_works, qemu_version, shift_of, untested_qemu
from txop.guest.results import Event
from txop.guest.running import FILES, Ended, GuestFailed, run_guest
from txop.guest_image.error import GuestError
from txop.guest_image.image import Image, build_image
from txop.guest_image.locks import find_lock
from txop.guest_image.overlay import Overlay
from txop.measure.instrument import Afterwards, Early, Instrument, Marks, Reading, RunContext, RunFacts
from txop.measure.probes.air_analysis import CAPTURE_FILE
from txop.measure.probes.bus_capture import MADE_FILE
from txop.measure.probes.guest_trial import FOLDER
from txop.plan import guest_time
from txop.plan.guest_time import Spent, guests_at_once, is_checked
from txop.plan.model import Arm, GuestSpec, Plan, Test
from txop.plan.named_file import named_file
from txop.plan_check.guest_chip import chip_of
from txop.targets.contract import TargetError, Targets

SLOWEST = 30
"""How many seconds of this machine's a guest's second may take, loaded as it may be."""
REPEAT = "repeat"
"""Folder of a run for the second guest of a check; there only when the two differ."""
BOOT_S = 120
"""What booting and associating may take, by the guest's clock."""


@dataclass(frozen=True)
class _Ready:
    """An arm as far as it can be prepared outside."""

    spec: GuestSpec
    image: Image
    modules: tuple[Path, ...]
    chip: Chip
    facts: dict[str, Any]


class GuestLaboratory:
    """A :class:`~txop.campaign.laboratory.Laboratory`, and one that
    :class:`~txop.campaign.laboratory.RunsByItself`."""

    peer_address = PEER_ADDRESS

    def __init__(self, plan: Plan, folder: Path, reporter: Reporter, jobs: int | None = None) -> None:
        """``folder``: what file names in the plan are relative to. ``jobs``: guests at once; default: the plan's."""
        self._plan = plan
        self._folder = folder
        self._reporter = reporter
        self.at_once = guests_at_once(plan, jobs)
        self._ready: dict[str, _Ready] = {}
        self._kvm = False
        self.targets = Targets()

    async def open(self) -> dict[str, dict[str, Any]]:
        """Make every arm's image and driver."""
        try:
            chips_sha256 = hashlib.sha256(find_chips().read_bytes()).hexdigest()
            for arm in self._plan.arm:
                self._ready[arm.name] = await self._prepare(arm)
            self._kvm = self._mode is Mode.FAST and kvm_works()
            facts = {"machine": "guest", "qemu": qemu_version(), "kvm": self._kvm}
        except GuestError as error:
            advice = f"; {error.what_to_do}" if error.what_to_do else ""
            raise TargetError("dut", f"{error.what}{advice}") from None
        releases = sorted({ready.image.release for ready in self._ready.values()})
        facts["kernel"] = ", ".join(releases)
        facts["interface"] = INTERFACE
        facts["chips_sha256"] = chips_sha256
        return {"dut": facts}

    async def place(self, arm: Arm, folder: Path) -> Placed:
        """Choose the arm: it is loaded when the guest of a run boots."""
        del folder
        return Placed(None, dict(self._ready[arm.name].facts), clock="clock of the guest")

    async def run_through(self, context: RunContext, placed: Placed, block: int) -> None:
        """See :class:`~txop.campaign.laboratory.RunsByItself`."""
        ready = self._ready.get(context.arm.name)
        if ready is None:
            raise TargetError("dut", "no arm was placed")
        if self._plan.guest_trial(context.test):
            await self._try(context, ready, placed, block)
            return
        overlay = Overlay(
            script=run_script(self._plan, context.test, context.seconds_left),
            environment=ready.chip.variables(),
            files=ready.chip.files(),
            modules=ready.modules,
        )
        computer = self._computer(ready.spec, block, context.seconds_left)
        guest = context.folder / "guest"
        watch = _Stopwatch()
        ended = await self._boot(ready, overlay, computer, guest, watch)
        self._learn(ready.spec, context.test, ended.seconds, ended.guest_seconds, watch)
        if ended.status == LAB_FAILED:
            take_over(guest / FILES, context.folder)  # the kernel log says why
            raise ArmError("arm-load-failed", _last_words(guest / "stderr"))
        if ended.status != 0:
            why = "it did not end in its time" if ended.status == 124 else _last_words(guest / "stderr")
            raise TargetError("dut", f"the run in the guest ended with {ended.status}: {why}")
        if full := [event.words for event in ended.events if event.words.startswith("the capture of the ")]:
            advice = "give the guests more (memory_mb), keep less of each URB (snap_bytes), or a shorter window"
            raise TargetError("dut", f"{full[0]}: {advice}")
        if is_checked(self._plan, context.test, block):
            again = context.folder / REPEAT
            await self._boot(ready, overlay, computer, again, _Stopwatch())
            _compare(guest, again, placed)
        self._note_exactness(placed, guest)
        for key, value in marks_in(guest / FILES):
            setattr(context.marks, key, value)
        driver = take_over(guest / FILES, context.folder)
        if driver != ready.spec.driver:
            raise ArmError("arm-not-verified", f"the driver of {INTERFACE} is {driver}, not {ready.spec.driver}")
        placed.verified["driver"] = driver
        placed.seconds, placed.clock = watch.load_s, "clock of the guest"

    async def _try(self, context: RunContext, ready: _Ready, placed: Placed, block: int) -> None:
        """A run that is a trial with steps of its own."""
        computer = self._computer(ready.spec, block, limit_s(context.test))
        watch = _Stopwatch()
        trial = await carry_out_trial(
            context,
            ready.spec,
            ready.image,
            ready.modules,
            ready.chip,
            computer,
            float(SLOWEST * computer.limit_s),
            watch,
        )
        if is_checked(self._plan, context.test, block):
            again = context.folder / REPEAT
            await carry_out_trial(
                replace(context, folder=again, marks=Marks()),
                ready.spec,
                ready.image,
                ready.modules,
                ready.chip,
                computer,
                float(SLOWEST * computer.limit_s),
                _Stopwatch(),
            )
            _compare(context.folder / FOLDER, again / FOLDER, placed)
        self._note_exactness(placed, context.folder / FOLDER)
        if trial.seconds is not None and trial.guest_seconds is not None:
            self._learn(ready.spec, context.test, trial.seconds, trial.guest_seconds, watch)
        driver = trial.seen.facts.words("driver")
        if driver is not None:
            placed.verified["driver"] = driver
        placed.seconds, placed.clock = watch.load_s, "clock of the guest"

    def _note_exactness(self, placed: Placed, results: Path) -> None:
        """What lets an exact run be compared with one done elsewhere, and why it may not be exact."""
        if self._mode is not Mode.EXACT:
            return
        placed.verified["guest_sha256"] = results_sha256(results)
        doubt = untested_qemu(qemu_version())
        if doubt is not None:
            placed.warnings.append(doubt)

    async def remove(self, folder: Path) -> list[str]:
        """Nothing: the guest is gone."""
        del folder
        return []

    async def recover(self, target: str, *, cold: bool) -> bool:
        """Nothing is lost: the next run boots anew."""
        del target, cold
        return True

    def instruments(self, test: Test) -> Sequence[Instrument]:
        """Those whose files the guest leaves."""
        found = in_guest(self._plan, test)
        return [(_EarlyFromFiles if isinstance(each, Early) else _FromFiles)(each) for each in found]

    async def close(self) -> None:
        """Nothing is held."""

    @property
    def _mode(self) -> Mode:
        return Mode(self._spec.mode)

    @property
    def _spec(self) -> GuestSpec:
        return self._plan.guest or GuestSpec()

    async def _prepare(self, arm: Arm) -> _Ready:
        spec = self._spec.varied(arm.guest)
        lock = find_lock(spec.kernel, self._file(spec.lock) if spec.lock is not None else None)
        image = build_image(lock, progress=self._reporter.notice)
        patches = patch_files([self._file(patch.file) for patch in arm.patches if patch.file is not None])
        facts: dict[str, Any] = {"kernel": image.release, "image": image.key, "guest": spec.model_dump()}
        modules: tuple[Path, ...] = ()
        if patches or spec.source is not None or (spec.device, spec.driver) in NEEDS_BUILD:
            source = self._file(spec.source) if spec.source is not None else None
            what = DriverBuild(spec.driver, patches, spec.reverse, source)
            built = await build_driver(what, lock, progress=self._reporter.notice)
            modules = (built.module,)
            facts["build_id"] = built.info.build_id
        if spec.faults is not None:
            facts["faults_sha256"] = hashlib.sha256(self._file(spec.faults).read_bytes()).hexdigest()
        chip = self._chip(spec)
        check_driver(chip, image, modules)
        return _Ready(spec, image, modules, chip, facts)

    def _chip(self, spec: GuestSpec) -> Chip:
        return replace(
            chip_of(spec),
            air=CAPTURE_FILE if self._plan.collect.air else None,
            usb=MADE_FILE if self._plan.collect.usbmon else None,
            usb_snap_bytes=self._plan.collect.snap_bytes,
            faults=self._file(spec.faults) if spec.faults is not None else None,
        )

    def _computer(self, spec: GuestSpec, block: int, seconds: float) -> Computer:
        return Computer(
            mode=self._mode,
            memory_mb=spec.memory_mb,
            shift=shift_of(spec.mips),
            kvm=self._kvm,
            seed=seed_of(self._plan.design.seed, block),
            limit_s=int(seconds) + BOOT_S,
        )

    async def _boot(self, ready: _Ready, overlay: Overlay, computer: Computer, guest: Path, watch: _Stopwatch) -> Ended:
        wall_limit_s = float(SLOWEST * computer.limit_s)
        try:
            return await run_guest(
                ready.image, overlay, computer, results=guest, wall_limit_s=wall_limit_s, listener=watch
            )
        except GuestFailed as error:
            said = error.console.splitlines()
            raise TargetError("dut", f"{error.what}{f' ({said[0]})' if said else ''}") from None
        except GuestError as error:
            raise TargetError("dut", error.what) from None

    @staticmethod
    def _learn(spec: GuestSpec, test: Test, seconds: float, guest_seconds: float, watch: _Stopwatch) -> None:
        """Keep what the run took, for `txop plan check`. Losing it costs nothing else."""
        up = watch.associated_up_s
        if up is None or watch.associated_s is None or guest_seconds <= up:
            return
        slowdown = (seconds - watch.associated_s) / (guest_seconds - up)
        with suppress(OSError, RuntimeError):  # RuntimeError: there is no home folder
            guest_time.remember(spec, test, Spent(watch.associated_s, slowdown))

    def _file(self, name: str) -> Path:
        return named_file(self._folder, name)


def _compare(results: Path, again: Path, placed: Placed) -> None:
    """Raise :class:`ArmError` when the second run of a check left something else; its files are then kept, else not."""
    differs = difference(results, again)
    if differs is not None:
        raise ArmError("not-exact", f"a second run with the same seed is another: {differs}")
    placed.verified["checked_exact"] = True
    shutil.rmtree(again if again.name == REPEAT else again.parent, ignore_errors=True)


class _FromFiles(Afterwards):
    """An instrument that only reads: what it would have done, the guest has done."""

    def __init__(self, instrument: Instrument) -> None:
        self._instrument = instrument
        self.name = instrument.name
        self.essential = instrument.essential

    def read(self, facts: RunFacts) -> Reading:
        """Figures from the files that the guest left."""
        return self._instrument.read(facts)


class _EarlyFromFiles(_FromFiles):
    """One that is read, too, when the arm never came up."""

    async def before_arm(self, run: RunContext) -> None:
        """Nothing: the guest does it."""


def seed_of(seed: int, block: int) -> int:
    """Of a block's guests: from 1 to 2^31 - 1, drawn from the plan's seed.

    >>> seed_of(1, 1) == seed_of(1, 1), seed_of(1, 1) == seed_of(1, 2)
    (True, False)
    """
    digest = hashlib.sha256(f"txop-guest:{seed}:{block}".encode()).digest()
    return int.from_bytes(digest[:4]) % (2**31 - 1) + 1


class _Stopwatch:
    """A listener that notes when the guest was associated for the first time."""

    def __init__(self) -> None:
        self._begun = time.monotonic()
        self._first_up_s: float | None = None
        self.associated_s: float | None = None
        """By this machine's clock, from the start of QEMU."""
        self.associated_up_s: float | None = None
        """By the guest's clock, from its kernel's start."""

    @property
    def load_s(self) -> float | None:
        """From the boot to the association, by the guest's clock; ``None``: it never was associated."""
        if self.associated_up_s is None or self._first_up_s is None:
            return None
        return round(self.associated_up_s - self._first_up_s, 3)

    def event(self, event: Event) -> None:
        """See :class:`~txop.guest.running.Listener`."""
        if self._first_up_s is None:
            self._first_up_s = event.uptime_s
        if self.associated_s is None and event.words.startswith(ASSOCIATED):
            self.associated_s = time.monotonic() - self._begun
            self.associated_up_s = event.uptime_s

    def output(self, stream: str, data: bytes) -> None:
        """Nothing."""


ASSOCIATED = "associated"
"""How the event begins that ``lab.sh`` gives."""


def _last_words(path: Path) -> str:
    try:
        rows = path.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    except OSError:
        rows = []
    first = next((row for row in rows if row.startswith("txop-lab:")), rows[-1] if rows else "it said nothing")
    return first[:300]

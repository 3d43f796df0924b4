"""Campaigns in guests: real drivers on virtual chips. The guests themselves: :mod:`txop.campaign.guest_runs`."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from txop.campaign.guest_places import PEER_ADDRESS
from txop.campaign.guest_runs import GuestArm, GuestOfRun
from txop.campaign.instruments import in_guest
from txop.campaign.kept_runs import KeptRuns
from txop.campaign.reporter import Reporter
from txop.campaign.run_limits import longest_s
from txop.campaign.testbed import CarryOut, Reachability
from txop.core.origin import Start
from txop.guest.checkpoint import CheckpointError
from txop.guest.chips import Chip
from txop.guest.cluster import GuestCluster
from txop.guest.driver import DriverBuild, build_driver
from txop.guest.driver_check import check_driver
from txop.guest.driver_file import driver_file
from txop.guest.mmc_host import with_mmc_host
from txop.guest.outside import BENCH, find_library
from txop.guest.qemu import Mode, kvm_works, qemu_version
from txop.guest.run_store import RunStore
from txop.guest.saved_starts import SavedStarts
from txop.guest.wireless_stack import StackBuild, build_with_debugfs
from txop.guest_image.cache import sha256_of
from txop.guest_image.emulator.shim import shim_sha256
from txop.guest_image.error import GuestError
from txop.guest_image.extra_programs import extra_files
from txop.guest_image.image import Image, build_image, build_image_of
from txop.guest_image.modules import ModuleFolder
from txop.guest_image.packages.lock import Lock
from txop.measure.instrument import Instrument, Marks, RunContext
from txop.measure.probes.air_analysis import CAPTURE_FILE
from txop.measure.probes.bus_capture import MADE_FILE
from txop.plan.arm import Arm
from txop.plan.guest import GuestSpec
from txop.plan.guest_time import guests_at_once
from txop.plan.measurement import Test
from txop.plan.model import Plan
from txop.plan.named_file import named_file
from txop.plan_check.guest_builds import builds_of, lock_of
from txop.plan_check.guest_chip import chip_of
from txop.targets.contract import TargetError, Targets


class GuestTestbed:
    """A :class:`~txop.campaign.testbed.Testbed` of guests."""

    peer_address = PEER_ADDRESS
    machine_per_run = True

    def __init__(
        self,
        plan: Plan,
        folder: Path,
        reporter: Reporter,
        jobs: int | None = None,
        store: RunStore | None = None,
        cluster: GuestCluster | None = None,
        begun: str | None = None,
    ) -> None:
        """``folder``: what file names in the plan are relative to. ``jobs``: guests at once; default: the plan's.
        ``store``: where exact runs are kept, and taken from; ``None``: all are run. ``cluster``: what runs guests
        that are no trials; ``None``: this machine. ``begun``: where the runs begin that the archive has."""
        self._plan = plan
        self._folder = folder
        self._reporter = reporter
        self._cluster = cluster
        self._begun = begun
        self.at_once = guests_at_once(plan, cluster.threads if cluster is not None and jobs is None else jobs)
        self._arms: dict[str, GuestArm] = {}
        self._kvm = False
        self._kept = None if store is None else KeptRuns(store, reporter.notice)
        self._starts = SavedStarts() if (plan.guest or GuestSpec()).start == Start.ASSOCIATED.value else None
        self.spent: dict[str, float] = {}
        """Seconds of this machine's, by what they were spent on before the first run."""
        self.targets = Targets()

    async def open(self) -> dict[str, dict[str, Any]]:
        """Make every arm's image and driver."""
        try:
            chips_sha256, shim = sha256_of(find_library()), shim_sha256()
            self._kvm = Mode(self._spec.mode) is Mode.FAST and kvm_works()
            begun = time.monotonic()
            for arm in self._plan.arm:
                self._arms[arm.name] = await self._prepare(arm)
            self.spent["build_s"] = time.monotonic() - begun
            start = await self._save_starts()
            if self._begun is not None and start.value != self._begun:
                raise GuestError(
                    f"the runs of the archive begin at {self._begun}, and here they would at {start.value}",
                    what_to_do="continue where they began, or begin another archive",
                )
            facts = {"machine": "guest", "qemu": qemu_version(), "kvm": self._kvm, "bench": BENCH.value}
            facts["start"] = start.value
        except GuestError as error:
            advice = f"; {error.what_to_do}" if error.what_to_do else ""
            raise TargetError("dut", f"{error.what}{advice}") from None
        releases = sorted({arm.image.release for arm in self._arms.values()})
        facts["kernel"] = ", ".join(releases)
        facts["interface"] = ", ".join(sorted({arm.spec.interface for arm in self._arms.values()}))
        facts["chips_sha256"], facts["shim_sha256"] = chips_sha256, shim
        return {"dut": facts}

    def instruments(self, test: Test) -> Sequence[Instrument]:
        """Those with files that the guest leaves."""
        return in_guest(self._plan, test)

    @asynccontextmanager
    async def group(self, arm: Arm, runs: int) -> AsyncIterator[CarryOut]:
        """See :class:`~txop.campaign.testbed.Testbed`. Nothing is left in place: the guest of a run ends with
        it."""
        del runs
        yield self._arms[arm.name].carry_out

    def arm(self, name: str) -> GuestArm:
        """An arm that was prepared."""
        return self._arms[name]

    async def reach(self) -> Reachability:
        """Every run boots guests of its own."""
        return Reachability()

    async def recover(self, target: str) -> bool:
        """Nothing is lost: the next run boots a guest of its own."""
        del target
        return True

    async def reset(self, target: str, *, cold: bool) -> bool:
        """See :meth:`recover`."""
        del target, cold
        return True

    async def close(self) -> None:
        """Forget what guests left that ended early."""
        if self._starts is not None:
            self._starts.close()

    @property
    def _spec(self) -> GuestSpec:
        return self._plan.guest or GuestSpec()

    async def _save_starts(self) -> Start:
        """Make the saved guests that the first block begins with, as many at once as there may be; where runs begin."""
        if self._spec.start != Start.ASSOCIATED.value:
            return Start.BOOT
        if self._cluster is not None:
            return Start.ASSOCIATED  # each worker saves its own
        waiting = asyncio.Semaphore(self.at_once)

        def say() -> None:
            self._reporter.notice("booting a guest up to the association, for all runs of this build")

        async def make(arm: GuestArm, what: GuestOfRun) -> None:
            async with waiting:
                begun = time.monotonic()
                if (seconds := await arm.save_start(what, say)) is not None:
                    self._reporter.notice(f"saved after {seconds:.0f} s")
                self.spent["start_s"] = self.spent.get("start_s", 0.0) + time.monotonic() - begun

        firsts = [(arm, what) for name, arm in self._arms.items() for what in self._first_guests(name, arm)]
        errors = await asyncio.gather(*(make(arm, what) for arm, what in firsts), return_exceptions=True)
        failed = next((error for error in errors if error is not None), None)
        if failed is None:
            return Start.ASSOCIATED
        if not isinstance(failed, CheckpointError):
            raise failed
        words = f"guests cannot be saved here ({failed}): every run boots, and its figures are of that"
        self._reporter.notice(words)
        self._arms = {name: replace(arm, starts=None) for name, arm in self._arms.items()}
        return Start.BOOT

    def _first_guests(self, name: str, arm: GuestArm) -> list[GuestOfRun]:
        """The guests of the first block that begin with different saved ones; of those that are kept none."""
        found = {}
        for test in self._plan.test:
            if not self._plan.guest_trial(test):
                what = arm.guest_of(self.context(name, test.name), self.instruments(test), 1)
                if self._kept is None or what.inputs is None or not self._kept.has(what.inputs):
                    found[what.overlay.script, *sorted(what.overlay.environment.items())] = what
        return list(found.values())

    def context(self, arm: str, test: str) -> RunContext:
        """The context of a run that is described, and not carried out."""
        plan, found = self._plan, self._plan.find_test(test)
        return RunContext(
            plan, plan.find_arm(arm), found, self.targets, Path(), Marks(), self.peer_address, longest_s(plan, found)
        )

    async def _prepare(self, arm: Arm) -> GuestArm:
        spec = self._spec.varied(arm.guest)
        lock = lock_of(spec, self._folder)
        image = self._image(spec, lock)
        facts: dict[str, Any] = {"kernel": image.release, "image": image.key, "guest": spec.model_dump()}
        modules: tuple[Path, ...] = ()
        if spec.module_file is not None:
            theirs = ModuleFolder(image.modules_folder)
            given = driver_file(self._file(spec.module_file), spec.driver, image.release, theirs)
            modules, facts["build_id"] = (given.path,), given.build_id
            facts["module_sha256"] = sha256_of(given.path)
        for each in builds_of(arm, spec, self._folder):
            built, identity = await self._build(each.what, lock)
            modules = (*modules, *built)
            if each.record is not None:
                facts[each.record] = identity
        if spec.faults is not None:
            facts["faults_sha256"] = hashlib.sha256(self._file(spec.faults).read_bytes()).hexdigest()
        chip = self._chip(spec)
        modules = await with_mmc_host(modules, chip.sdio_host, lock, self._reporter.notice)
        check_driver(chip, image, modules)
        program = chip.modem_program
        files = extra_files(lock, program, progress=self._reporter.notice) if program is not None else {}
        pinned = lock if spec.kernel_file is None else None
        if self._cluster is not None and (pinned is None or Mode(self._spec.mode) is not Mode.EXACT):
            raise GuestError(
                "only exact guests with a kernel of a lock run on a cluster", what_to_do="leave --cluster out"
            )
        return GuestArm(
            self._plan,
            spec,
            image,
            modules,
            chip,
            facts,
            self._kvm,
            files,
            self._starts,
            self._cluster,
            pinned,
            self._kept,
        )

    async def _build(self, what: DriverBuild | StackBuild, lock: Lock) -> tuple[tuple[Path, ...], str | None]:
        """The modules, and what identifies them."""
        if isinstance(what, StackBuild):
            stack = await build_with_debugfs(lock, what, progress=self._reporter.notice)
            return stack, hashlib.sha256(b"".join(each.read_bytes() for each in stack)).hexdigest()
        driver = await build_driver(what, lock, progress=self._reporter.notice)
        return (driver.module,), driver.info.build_id

    def _image(self, spec: GuestSpec, lock: Lock) -> Image:
        if spec.kernel_file is None or spec.modules_dir is None:
            return build_image(lock, progress=self._reporter.notice)
        kernel, modules = self._file(spec.kernel_file), self._file(spec.modules_dir)
        return build_image_of(kernel, modules, lock, progress=self._reporter.notice)

    def _chip(self, spec: GuestSpec) -> Chip:
        return replace(
            chip_of(spec),
            air=CAPTURE_FILE if self._plan.collect.air else None,
            usb=MADE_FILE if self._plan.collect.usbmon else None,
            usb_snap_bytes=self._plan.collect.snap_bytes,
            faults=self._file(spec.faults) if spec.faults is not None else None,
        )

    def _file(self, name: str) -> Path:
        return named_file(self._folder, name)

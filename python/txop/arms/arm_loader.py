"""Loading an arm, making sure that it is the one, and taking everything back."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from txop.arms.arm_steps import DUT, blacklist_of, steps_of
from txop.arms.build import Built, build, recipe
from txop.arms.firmware import ROOT, put_back
from txop.arms.module import ARM_FILE, CAMPAIGN_FILE, InsertModule, KeepAway, LoadModule, loaded_modules, normal
from txop.arms.steps import COMMAND_TIMEOUT_S, RUN_FOLDER, Session, Step, StepError, ended, line
from txop.arms.verify import Verified, verify_arm
from txop.plan.access import without_access
from txop.plan.arm import Arm
from txop.plan.model import Plan
from txop.targets.contract import TargetError, Targets, failures_to


class Builds:
    """The modules that the arms of a plan are built into; each is built once."""

    def __init__(self, folder: Path, *, cache: Path | None = None) -> None:
        """``folder``: what file names in the plan are relative to; ``cache``: see :func:`txop.arms.build.build`."""
        self._folder = folder
        self._cache = cache
        self._built: dict[str, Built] = {}

    async def get(self, targets: Targets, arm: Arm) -> Built:
        """The module of an arm that has a ``build``. Raises :class:`~txop.arms.build.BuildError`."""
        if arm.name not in self._built:
            release = arm.boot.release if arm.boot is not None else None
            if arm.build is not None and arm.build.kernel is None and release is None:
                ran = await targets.dut.run(["uname", "-r"])
                release = ran.stdout.strip() or None
                if release is None or "/" in release:
                    raise StepError(DUT, "the release of its kernel is not known: give build.kernel")
            self._built[arm.name] = await build(recipe(arm, self._folder, release), cache=self._cache)
        return self._built[arm.name]

    @property
    def finished(self) -> Mapping[str, Built]:
        """What has been built so far, by the name of the arm."""
        return self._built


@dataclass(frozen=True)
class StepRecord:
    """A step that was done, or failed."""

    what: str
    target: str
    seconds: float
    failed: str | None = None
    """Why."""


@dataclass(frozen=True)
class LoadRecord:
    """How a load went."""

    steps: tuple[StepRecord, ...]
    seconds: float
    """A build is not in it."""
    warnings: tuple[str, ...]
    built: Built | None = None


@dataclass
class LoadedArm:
    """An arm on the targets, from its load to its unload. An object serves for one load.

    ``unload`` is due after ``load`` in any case, also when that failed. When a target is lost on the way,
    ``unload`` may be called again once it is back: it continues with what is left.
    """

    folder: Path
    """File names in the plan are relative to it."""
    builds: Builds | None = None
    restore: bool = True
    """Load modules that had to go (``remove``) again at the end. Between the arms of a campaign that only costs time:
    :class:`InitialState` does it once."""
    steps: list[Step] = field(default_factory=list, init=False)
    """The steps of the arm, in order."""
    records: list[StepRecord] = field(default_factory=list, init=False)
    """The steps that were done, and the one that failed."""
    _session: Session | None = field(default=None, init=False)
    _built: Built | None = field(default=None, init=False)
    _to_undo: list[Step] = field(default_factory=list, init=False)

    async def load(self, targets: Targets, arm: Arm, plan: Plan) -> LoadRecord:
        """Build if need be, and do every step.

        Raises:
            StepError: a step could not be done; nothing has been undone yet.
            TargetError: a target did not answer.
        """
        if self._session is not None:
            raise RuntimeError("this LoadedArm was used already")
        self._session = session = Session(targets, self.folder, tag=tag_of(plan))
        if arm.build is not None:
            self._built = await (self.builds or Builds(self.folder)).get(targets, arm)
        built = self._built
        self.steps = steps_of(plan, arm, Path if built is None else built.file, restore=self.restore)
        begun = time.monotonic()
        for step in self.steps:
            started = time.monotonic()
            self._to_undo.append(step)
            try:
                await step.do(session)
            except TargetError as error:
                self.records.append(StepRecord(step.what, step.target, time.monotonic() - started, error.what))
                raise
            self.records.append(StepRecord(step.what, step.target, time.monotonic() - started))
        seconds = time.monotonic() - begun
        return LoadRecord(tuple(self.records), seconds, tuple(session.warnings), self._built)

    async def verify(self, targets: Targets, arm: Arm, plan: Plan) -> Verified:
        """Compare what is loaded with what should be. Raises :class:`~txop.targets.contract.TargetLostError`."""
        session = self._session or Session(targets, self.folder, tag=tag_of(plan))
        verified = await verify_arm(session, self.steps, arm)
        if self._built is not None:
            verified.found["built_from"] = self._built.source
        return verified

    async def take_out(self) -> None:
        """Remove the arm's module (of several: the driver itself, the last one) while it is in use, and leave the rest
        as it is. Raises :class:`StepError`."""
        await self._module_step().undo(self._loaded_session())

    async def put_in(self) -> None:
        """Load the module again, and do again what the arm does after that. Raises :class:`StepError`."""
        session = self._loaded_session()
        for step in self.steps[self.steps.index(self._module_step()) :]:
            await step.do(session)

    def _module_step(self) -> Step:
        step = next((step for step in reversed(self.steps) if isinstance(step, InsertModule | LoadModule)), None)
        if step is None:
            raise StepError(DUT, "the arm loads no module")
        return step

    def _loaded_session(self) -> Session:
        if self._session is None:
            raise StepError(DUT, "the arm is not loaded")
        return self._session

    async def unload(self) -> list[str]:
        """Undo every step in reverse order; what could not be undone, in words. Nothing to undo is not an error.

        Raises:
            TargetLostError: nothing more can be done until it is back; then call again.
        """
        if self._session is None:
            return []
        problems: list[str] = []
        while self._to_undo:
            step = self._to_undo[-1]
            with failures_to(problems):
                await step.undo(self._session)
            self._to_undo.pop()
        with failures_to(problems):
            problems += await self._session.discard()
        return problems

    @property
    def module(self) -> str | None:
        """Name in the kernel of the driver that was loaded from a file; ``None`` for others."""
        return next((step.module for step in reversed(self.steps) if isinstance(step, InsertModule)), None)


@dataclass
class InitialState:
    """What holds for a whole campaign: modules kept away, and the device as it was found given back at the end."""

    __test__ = False

    folder: Path
    _found: tuple[str, ...] | None = field(default=None, init=False)

    async def take(self, targets: Targets, plan: Plan, *, found: tuple[str, ...] | None = None) -> tuple[str, ...]:
        """Clear away what a killed campaign of the same plan left, note which of the plan's modules are loaded, and
        keep modules away.

        Args:
            targets: Connected.
            plan: The plan.
            found: What an earlier :meth:`take` of this campaign returned, when it is resumed.

        Returns:
            The modules that were loaded; keep them for a later resume.

        Raises:
            TargetError: a target did not do what was asked.
        """
        session = Session(targets, self.folder, tag=tag_of(plan))
        await clear_away(targets, plan)
        touched = modules_of(plan)
        if not touched:
            self._found = ()
        elif found is None:
            there = await loaded_modules(targets.dut)
            self._found = tuple(name for name in touched if normal(name) in there)
        else:
            self._found = tuple(name for name in found if name in touched)
        if blacklist := blacklist_of(plan):
            await KeepAway(DUT, blacklist, CAMPAIGN_FILE).do(session)
        return self._found

    async def give_back(self, targets: Targets, plan: Plan) -> list[str]:
        """Load what was loaded when the campaign began; what could not be done, in words. Raises
        :class:`~txop.targets.contract.TargetLostError`."""
        problems: list[str] = []
        with failures_to(problems):
            await clear_away(targets, plan)
            there = await loaded_modules(targets.dut) if self._found else {}
            for name in self._found or ():
                if normal(name) not in there:
                    ran = await targets.dut.run(["modprobe", name], root=True, timeout_s=60.0)
                    if not ran.ok:
                        problems.append(f"{DUT}: {name} was loaded before, and could not be loaded again")
        return problems


async def undo_by_commands(targets: Targets, arm: Arm, plan: Plan) -> list[str]:
    """Run the commands by which a plan undoes an arm that an earlier process left in place: ``down``, then ``unload``.
    They may find nothing to undo; what failed, in words. Modules and files need no more than :func:`clear_away` and the
    next load.

    Raises:
        TargetLostError: a target does not answer.
    """
    problems: list[str] = []
    commands = [(DUT, argv) for argv in plan.bring_up.down]
    commands += [(name, argv) for name, on in reversed(arm.on.items()) for argv in on.unload]
    commands += [(DUT, argv) for argv in arm.unload]
    for name, argv in commands:
        with failures_to(problems):
            ran = await targets.by_name[name].run(argv, root=True, timeout_s=COMMAND_TIMEOUT_S)
            if not ran.ok:
                problems.append(f"{name}: left by an earlier start: `{line(argv)}` {ended(ran)}")
    return problems


async def clear_away(targets: Targets, plan: Plan) -> None:
    """Remove what a campaign of this plan that was killed may have left on the device under test: temporary folders,
    the file that keeps modules away, firmware. Nothing there is not an error."""
    dut = targets.dut
    if blacklist_of(plan):
        await dut.run(["rm", "-f", *KeepAway.paths(CAMPAIGN_FILE, ARM_FILE)], root=True)
    for arm in plan.arm:
        if arm.firmware is not None:
            await put_back(dut, f"{ROOT}/{arm.firmware.name}")
    if any(arm.has_module for arm in plan.arm) or plan.bring_up.wpa_supplicant or plan.bring_up.dhcp:
        listed = await dut.run(["ls", RUN_FOLDER], root=True)
        left = [name for name in listed.stdout.split() if name.startswith(f"{tag_of(plan)}-")] if listed.ok else []
        for name in left:
            if name.isascii() and "/" not in name:
                await dut.run(["rm", "-rf", f"{RUN_FOLDER}/{name}"], root=True)


def modules_of(plan: Plan) -> tuple[str, ...]:
    """Modules that a campaign removes or loads by name, in the order they are named."""
    names: dict[str, None] = {}
    for arm in plan.arm:
        names.update(dict.fromkeys(arm.remove))
        names.update({spec.name: None for spec in arm.loads if spec.name is not None})
    return tuple(names)


def tag_of(plan: Plan) -> str:
    """Begins the names of what a campaign leaves on targets while it runs; the same for the same plan, also when its
    machines are reached another way (``txop resume --plan``)."""
    return hashlib.sha256(without_access(plan).encode("utf-8", "surrogatepass")).hexdigest()[:12]


def shown_steps(plan: Plan, arm: Arm, folder: Path) -> list[dict[str, Any]]:
    """What loading and unloading an arm would do, without doing it: a dry run."""
    rows: list[dict[str, Any]] = []
    if arm.build is not None:
        how = recipe(arm, folder, None)
        rows.append(
            {
                "phase": "build",
                "target": "this machine",
                "what": f"build {', '.join(arm.build.files)}",
                "commands": how.shown(),
            }
        )
    if arm.boot is not None:
        how_booted = [line(argv) for argv in arm.boot.commands]
        how_booted += [f"{line(argv)}  # on this machine" for argv in arm.boot.hook]
        rows.append({"phase": "boot", "target": DUT, "what": f"boot {arm.boot.release}", "commands": how_booted})
    steps = steps_of(plan, arm, Path)
    for step in steps:
        if commands := step.shown():
            rows.append({"phase": "load", "target": step.target, "what": step.what, "commands": commands})
    for step in reversed(steps):
        if commands := step.undo_shown():
            rows.append({"phase": "unload", "target": step.target, "what": f"undo: {step.what}", "commands": commands})
    return rows

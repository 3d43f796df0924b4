"""Campaigns on machines that run the drivers themselves: local, in a namespace, over SSH, in a device farm."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from txop.archive.layout import Layout
from txop.arms.arm_loader import Builds, InitialState, LoadedArm, undo_by_commands
from txop.arms.boot import boot
from txop.arms.bring_up import LinkUp
from txop.campaign.instruments import instruments_of
from txop.campaign.placed_arm import ArmError, PlacedArm
from txop.campaign.reporter import Reporter
from txop.campaign.step_by_step import StepByStep
from txop.campaign.testbed import Reachability
from txop.campaign.turns import Turn
from txop.measure.instrument import Instrument
from txop.measure.probes.provenance import provenance
from txop.measure.programs import ensure_programs
from txop.plan.arm import Arm
from txop.plan.measurement import Test
from txop.plan.model import Plan
from txop.targets.contract import CommandTimeoutError, Listener, Target, TargetError, TargetLostError, Targets
from txop.targets.factory import make_targets
from txop.targets.hooks import run_hook

SIGN_OF_LIFE_S = 15.0
"""How long a target may take to run ``true`` before it counts as lost: longer than the silence after which an SSH
connection is given up (:mod:`txop.targets.ssh_connection`)."""

RETRY_S = 1.0
"""Between attempts to connect again."""

FOUND = "modules_loaded_before"
"""Key in the provenance of the device under test: modules of the plan that were loaded when the campaign began."""


class MachineTestbed(StepByStep):
    """A :class:`~txop.campaign.testbed.Testbed` of real machines."""

    def __init__(
        self,
        plan: Plan,
        folder: Path,
        layout: Layout,
        listener: Listener,
        reporter: Reporter,
        found: Sequence[str] | None = None,
        left: str | None = None,
    ) -> None:
        """``folder``: what file names in the plan are relative to. Of a campaign that is resumed, ``found``: see
        :data:`FOUND`; ``left``: see :func:`~txop.campaign.state.left_in_place`."""
        self._plan = plan
        self._folder = folder
        self._reporter = reporter
        self._listener = listener
        self._builds = Builds(folder)
        self._build_logs = layout.build
        self._initial = InitialState(folder)
        self._found = None if found is None else tuple(found)
        self._left = next((arm for arm in plan.arm if arm.name == left), None)
        self._arm: LoadedArm | None = None
        self._link: LinkUp | None = None
        self._booted: dict[str, Any] = {}
        self._open = False
        self.turn = Turn(plan.design.turn) if plan.design.turn is not None else None
        self.targets: Targets = make_targets(plan, listener)

    @property
    def peer_address(self) -> str:
        """Address of the peer on the link under test, as the plan gives it."""
        return self.targets.peer.address or ""

    async def open(self) -> dict[str, dict[str, Any]]:
        """Connect the targets, make sure that they have what the plan needs, clear away what a killed campaign left,
        build the arms that are built."""
        facts: dict[str, dict[str, Any]] = {}
        for name, target in self.targets.by_name.items():
            await target.connect()
            facts[name] = await provenance(target)
        await ensure_programs(self.targets, self._plan)
        if self._left is not None:
            for problem in await undo_by_commands(self.targets, self._left, self._plan):
                self._reporter.notice(problem)
            self._left = None
        self._found = await self._initial.take(self.targets, self._plan, found=self._found)
        self._open = True
        facts["dut"][FOUND] = list(self._found)
        for arm in self._plan.arm:
            if arm.build is not None:
                self._reporter.notice(f"building {arm.shown}")
                built = await self._builds.get(self.targets, arm)
                self._build_logs.mkdir(exist_ok=True)
                with suppress(OSError):
                    (self._build_logs / f"{arm.name}.log").write_bytes(built.log.read_bytes())
        return facts

    async def prepare(self, arm: Arm) -> None:
        """Boot the arm's kernel."""
        if arm.boot is None:
            return
        try:
            self._booted = (await boot(self.targets, arm.boot, self._listener)).found
        except TargetLostError:
            raise
        except TargetError as error:
            raise ArmError("arm-load-failed", error.what, error.target) from None

    async def place(self, arm: Arm, folder: Path) -> PlacedArm:
        """Load, bring up, verify."""
        begun = time.monotonic()
        self._arm = LoadedArm(self._folder, self._builds, restore=False)
        self._link = LinkUp(self._folder, folder)
        try:
            record = await self._arm.load(self.targets, arm, self._plan)
            await self._link.up(self.targets, self._plan, self.peer_address or None)
            verified = await self._arm.verify(self.targets, arm, self._plan)
        except TargetLostError:
            raise
        except TargetError as error:
            raise ArmError("arm-load-failed", error.what, error.target) from None
        if verified.problems:
            raise ArmError("arm-not-verified", "; ".join(verified.problems))
        found = {**(self._booted if arm.boot is not None else {}), **verified.found}
        if verified.not_available:
            found["not_available"] = dict(verified.not_available)
        return PlacedArm(time.monotonic() - begun, found, list(record.warnings))

    async def remove(self, folder: Path) -> list[str]:
        """Take the link down and the arm away; what is lost is cleared away when the targets are opened again."""
        del folder
        problems: list[str] = []
        for step in (self._link.down if self._link else None, self._arm.unload if self._arm else None):
            if step is None:
                continue
            try:
                problems += await step()
            except TargetLostError as error:
                problems.append(f"{error.target} was lost before everything was undone")
            except TargetError as error:
                problems.append(str(error))
        return problems

    async def reach(self) -> Reachability:
        """Ask every target at once, for a command that does nothing; connect again, once, those that do not run it."""
        names = list(self.targets.by_name)
        found = dict(zip(names, await asyncio.gather(*(self._answers(name) for name in names)), strict=True))
        return Reachability(
            tuple(name for name, how in found.items() if how == "again"),
            tuple(name for name, how in found.items() if how == "lost"),
        )

    async def _answers(self, name: str) -> str:
        machine = self.targets.by_name[name]
        try:
            await machine.run(["true"], timeout_s=SIGN_OF_LIFE_S)
        except (TargetLostError, CommandTimeoutError):
            try:
                await machine.connect()
            except TargetError:
                return "lost"
            return "again"
        return "here"

    async def recover(self, target: str) -> bool:
        """Connect again, for ``reconnect_s``: a switch that is away for a moment is no reason to cut power.
        Then the reset hook, then the power-cycle hook, as far as the plan has them."""
        hooks = self._plan.target[target].hooks
        try:
            await _connect_again(self.targets.by_name[target], hooks.seconds_to_reconnect)
        except TargetError as error:
            self._reporter.notice(str(error))
            if not await self._hook(target, cold=False) and not await self._hook(target, cold=True):
                return False
        await self.reach()  # what is undone next may be on another target, and that may have been lost meanwhile, too
        await self._undo()  # what a lost connection left half undone
        return True

    async def reset(self, target: str, *, cold: bool) -> bool:
        """By the target's reset hook, or with ``cold`` by its power-cycle hook. Without such a hook, connect again."""
        hooks = self._plan.target[target].hooks
        try:
            if not (hooks.power_cycle if cold else hooks.reset):
                await _connect_again(self.targets.by_name[target], hooks.seconds_to_reconnect)
            elif not await self._hook(target, cold=cold):
                return False
        except TargetError as error:
            self._reporter.notice(str(error))
            return False
        await self._undo()
        return True

    async def _hook(self, target: str, *, cold: bool) -> bool:
        """Run a hook; whether there is one and the target answers after it."""
        hooks = self._plan.target[target].hooks
        commands = hooks.power_cycle if cold else hooks.reset
        if not commands:
            return False
        self._reporter.notice(f"{target}: {'cutting its power' if cold else 'resetting it'}")
        try:
            await run_hook(self.targets.by_name[target], commands, settle_s=hooks.settle_s, listener=self._listener)
        except TargetError as error:
            self._reporter.notice(str(error))
            return False
        return True

    async def _undo(self) -> None:
        for problem in await self.remove(Path()):
            self._reporter.notice(problem)

    def instruments(self, test: Test) -> Sequence[Instrument]:
        """See :func:`txop.campaign.instruments.instruments_of`."""
        return instruments_of(self._plan, test, cycler=self)

    async def take_out(self) -> None:
        """Remove the arm's module while traffic runs, then take down what is left of the link (a test of kind
        ``module-cycle``)."""
        if self._arm is None:
            raise TargetError("dut", "no arm is loaded")
        await self._arm.take_out()
        link, self._link = self._link, None
        if link is not None:
            await link.down()  # what it cannot undo went with the interface

    async def put_in(self, folder: Path) -> None:
        """Load the module again, and bring the link up."""
        if self._arm is None:
            raise TargetError("dut", "no arm is loaded")
        await self._arm.put_in()
        self._link = LinkUp(self._folder, folder)
        await self._link.up(self.targets, self._plan, self.peer_address or None)

    async def close(self) -> None:
        """Give the device under test back as it was found, and let go of the targets."""
        try:
            await self._undo()
            if self._open:
                with suppress(TargetError):
                    for problem in await self._initial.give_back(self.targets, self._plan):
                        self._reporter.notice(problem)
        finally:
            await asyncio.gather(*(target.close() for target in self.targets.by_name.values()))


async def _connect_again(machine: Target, seconds: float) -> None:
    """Try for so long. Raises :class:`~txop.targets.contract.TargetError`."""
    until = time.monotonic() + seconds
    while True:
        try:
            await machine.connect()
            return
        except TargetLostError:
            if time.monotonic() >= until:
                raise
            await asyncio.sleep(RETRY_S)

"""Campaigns on an emulated link: arms are variants of the link, real packets go through it."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from txop.arms.arm_loader import LoadedArm
from txop.arms.bring_up import LinkUp
from txop.campaign.instruments import instruments_of
from txop.campaign.laboratory import ArmError, Placed
from txop.campaign.step_by_step import StepByStep
from txop.core.whole_file import whole_file
from txop.emulate import EmulatedPair, EmulationError
from txop.emulate.scenario import laid_over
from txop.measure.instrument import Instrument
from txop.measure.probes.air_analysis import CAPTURE_FILE
from txop.measure.probes.bus_capture import MADE_FILE
from txop.measure.probes.emulated_link import STATUS_FILE
from txop.measure.probes.provenance import provenance
from txop.plan.model import Arm, BringUp, Plan, Test
from txop.simulate.error import ScenarioError
from txop.targets.contract import Listener, TargetError, TargetLost, Targets
from txop.targets.prefix import PrefixTarget


class EmulatedLaboratory(StepByStep):
    """A :class:`~txop.campaign.laboratory.Laboratory` with an emulated link between its two targets."""

    def __init__(self, plan: Plan, listener: Listener) -> None:
        self._plan = plan
        self._listener = listener
        self._pair: EmulatedPair | None = None
        self._placed = False
        self._arm: LoadedArm | None = None
        self._link: LinkUp | None = None
        self.targets = Targets()

    @property
    def peer_address(self) -> str:
        """Address of the host behind the access point."""
        return EmulatedPair.peer_address

    async def open(self) -> dict[str, dict[str, Any]]:
        """Make the namespaces and a first link in them."""
        limit_bytes = int(self._plan.collect.max_capture_mb * 1e6)
        base = scenario_of(self._plan, None, "")
        try:
            snap_bytes = self._plan.collect.snap_bytes
            self._pair = EmulatedPair(
                base, air_snap_bytes=snap_bytes, usb_snap_bytes=snap_bytes, limit_bytes=limit_bytes
            )
            await self._pair.__aenter__()
        except (EmulationError, ScenarioError) as error:
            self._pair = None
            advice = f"; {error.what_to_do}" if error.what_to_do else ""
            raise TargetError("dut", f"{error.clause}{advice}") from None
        ends = (
            ("dut", self._pair.dut_prefix, EmulatedPair.dut_address),
            ("peer", self._pair.peer_prefix, EmulatedPair.peer_address),
        )
        for name, prefix, address in ends:
            self.targets.by_name[name] = PrefixTarget(
                name, prefix=prefix, interface=EmulatedPair.interface, address=address, listener=self._listener
            )
            await self.targets.by_name[name].connect()
        facts = {name: await provenance(target) for name, target in self.targets.by_name.items()}
        facts["dut"]["emulated_link"] = base
        return facts

    async def place(self, arm: Arm, folder: Path) -> Placed:
        """Put the arm's variant of the link in place, then what else the arm does: queue discipline, commands."""
        begun = time.monotonic()
        scenario = scenario_of(self._plan, arm, folder.name)
        air = folder / CAPTURE_FILE if self._plan.collect.air else None
        usb = folder / MADE_FILE if self._plan.collect.usbmon and has_usb(scenario) else None
        self._arm, self._link = LoadedArm(folder, restore=False), LinkUp(folder, folder)
        try:
            await self._made.change(scenario, air=air, usb=usb)
            self._placed = True
            record = await self._arm.load(self.targets, arm, self._plan)
            if self._plan.bring_up != BringUp():
                await self._link.up(self.targets, self._plan, self.peer_address)
            verified = await self._arm.verify(self.targets, arm, self._plan)
        except (EmulationError, ScenarioError) as error:
            raise ArmError("arm-load-failed", error.clause) from None
        except TargetLost:
            raise
        except TargetError as error:
            raise ArmError("arm-load-failed", error.what, error.target) from None
        if verified.problems:
            raise ArmError("arm-not-verified", "; ".join(verified.problems))
        return Placed(time.monotonic() - begun, {"link": scenario, **verified.found}, list(record.warnings))

    async def remove(self, folder: Path) -> list[str]:
        """Stop the link, and keep its account."""
        if not self._placed:
            return []
        problems: list[str] = []
        for undo in (self._link.down if self._link else None, self._arm.unload if self._arm else None):
            try:
                problems += await undo() if undo is not None else []
            except TargetError as error:
                problems.append(str(error))
        self._placed = False
        try:
            status = await self._made.stop()
        except (EmulationError, TargetLost) as error:
            return [*problems, f"the emulated link: {error.what}"]
        with whole_file(folder / STATUS_FILE) as out:
            out.write(status.model_dump_json(indent=1) + "\n")
        return problems

    async def recover(self, target: str, *, cold: bool) -> bool:
        """Make everything anew: namespaces that vanished do not come back."""
        del target, cold
        await self.close()
        try:
            await self.open()
        except (TargetError, TargetLost):
            return False
        return True

    def instruments(self, test: Test) -> Sequence[Instrument]:
        """See :func:`txop.campaign.instruments.instruments_of`."""
        return instruments_of(self._plan, test)

    async def close(self) -> None:
        """Let go of the targets and the link."""
        for target in self.targets.by_name.values():
            await target.close()
        self.targets.by_name.clear()
        pair, self._pair, self._placed = self._pair, None, False
        if pair is not None:
            await pair.close()

    @property
    def _made(self) -> EmulatedPair:
        if self._pair is None:
            raise TargetLost("dut", "the emulated link is gone")
        return self._pair


def scenario_of(plan: Plan, arm: Arm | None, run: str) -> dict[str, Any]:
    """The plan's link with the arm's tables laid over it. Each run has chances of its own, drawn from the plan's seed
    and the run's name."""
    scenario = laid_over(plan.link or {}, arm.emulated or {} if arm is not None else {})
    if "seed" not in scenario:
        digest = hashlib.sha256(f"txop-link:{plan.design.seed}:{run}".encode()).digest()
        scenario["seed"] = int.from_bytes(digest[:6])
    return scenario


def has_usb(scenario: Mapping[str, Any]) -> bool:
    """Whether one of the link's radios is reached over USB: without that there is no bus to capture.

    >>> has_usb({"dut": {"usb": {}}}), has_usb({"dut": {"mcs": 7}})
    (True, False)
    """
    return any("usb" in scenario.get(radio, {}) for radio in ("dut", "ap"))

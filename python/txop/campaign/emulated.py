"""Campaigns on an emulated link: arms are variants of the link, targets its hosts; real packets go through it."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from txop.arms.arm_loader import LoadedArm
from txop.arms.bring_up import LinkUp
from txop.campaign.instruments import instruments_of
from txop.campaign.placed_arm import ArmError, PlacedArm
from txop.campaign.step_by_step import StepByStep
from txop.core.whole_file import whole_file
from txop.emulate import Captures, EmulatedNetwork, EmulationError, link_scenario
from txop.emulate.hosts import Host, host_of_target
from txop.emulate.scenario import LinkScenario
from txop.measure.instrument import Instrument
from txop.measure.probes.air_analysis import CAPTURE_FILE
from txop.measure.probes.bus_capture import MADE_FILE
from txop.measure.probes.emulated_link import STATUS_FILE
from txop.measure.probes.provenance import provenance
from txop.plan.arm import Arm
from txop.plan.link_tables import seeded
from txop.plan.measurement import Test
from txop.plan.model import BringUp, Plan
from txop.simulate.error import ScenarioError
from txop.targets.contract import Listener, TargetError, TargetLostError, Targets
from txop.targets.prefix import PrefixTarget


class EmulatedTestbed(StepByStep):
    """A :class:`~txop.campaign.testbed.Testbed` with an emulated link between its targets."""

    def __init__(self, plan: Plan, folder: Path, listener: Listener) -> None:
        """``folder``: a file that the link is based on is looked for there."""
        self._plan = plan
        self._folder = folder
        self._listener = listener
        self._network: EmulatedNetwork | None = None
        self._placed = False
        self._arm: LoadedArm | None = None
        self._link: LinkUp | None = None
        self.targets = Targets()

    @property
    def peer_address(self) -> str:
        """Address of the server, behind the access point or modem."""
        return self.targets.peer.address or ""

    async def open(self) -> dict[str, dict[str, Any]]:
        """Make the namespaces and a first link in them."""
        tables = tables_of(self._plan, None, "")
        try:
            self._network = EmulatedNetwork(link_scenario(tables, self._folder))
            hosts = self._hosts(self._network)
            await self._network.__aenter__()
        except (EmulationError, ScenarioError) as error:
            self._network = None
            advice = f"; {error.what_to_do}" if error.what_to_do else ""
            raise TargetError("dut", f"{error.clause}{advice}") from None
        for name, host in hosts.items():
            self.targets.by_name[name] = PrefixTarget(
                name,
                prefix=self._network.prefix(host),
                interface=host.interface,
                address=host.address,
                listener=self._listener,
            )
            await self.targets.by_name[name].connect()
        facts = {name: await provenance(target) for name, target in self.targets.by_name.items()}
        facts["dut"]["emulated_link"] = tables
        return facts

    def _hosts(self, network: EmulatedNetwork) -> dict[str, Host]:
        """The hosts that are targets, by the names of these. Raises :class:`EmulationError`."""
        named: dict[str, str | None] = {"dut": None, "peer": None}
        named |= {name: target.host for name, target in self._plan.target.items() if target.kind == "emulated"}
        return {name: host_of_target(network.hosts, name, host) for name, host in named.items()}

    async def place(self, arm: Arm, folder: Path) -> PlacedArm:
        """Put the arm's variant of the link in place, then what else the arm does: queue discipline, commands."""
        begun = time.monotonic()
        tables = tables_of(self._plan, arm, folder.name)
        self._arm, self._link = LoadedArm(folder, restore=False), LinkUp(folder, folder)
        try:
            scenario = link_scenario(tables, self._folder)
            await self._made.replace(scenario, self._captures(scenario, folder))
            self._placed = True
            record = await self._arm.load(self.targets, arm, self._plan)
            if self._plan.bring_up != BringUp():
                await self._link.up(self.targets, self._plan, self.peer_address)
            verified = await self._arm.verify(self.targets, arm, self._plan)
        except (EmulationError, ScenarioError) as error:
            raise ArmError("arm-load-failed", error.clause) from None
        except TargetLostError:
            raise
        except TargetError as error:
            raise ArmError("arm-load-failed", error.what, error.target) from None
        if verified.problems:
            raise ArmError("arm-not-verified", "; ".join(verified.problems))
        return PlacedArm(time.monotonic() - begun, {"link": tables, **verified.found}, list(record.warnings))

    def _captures(self, scenario: LinkScenario, folder: Path) -> Captures:
        """What the plan collects of this link."""
        collect = self._plan.collect
        return Captures(
            air=folder / CAPTURE_FILE if collect.air and scenario.has_air else None,
            usb=folder / MADE_FILE if collect.usbmon and scenario.has_usb else None,
            snap_bytes=collect.snap_bytes,
            usb_snap_bytes=collect.snap_bytes,
            limit_bytes=int(collect.max_capture_mb * 1e6),
        )

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
        except (EmulationError, TargetLostError) as error:
            return [*problems, f"the emulated link: {error.what}"]
        with whole_file(folder / STATUS_FILE) as out:
            out.write(status.model_dump_json(indent=1, by_alias=True) + "\n")
        return problems

    async def reset(self, target: str, *, cold: bool) -> bool:
        """See :meth:`recover`."""
        del cold
        return await self.recover(target)

    async def recover(self, target: str) -> bool:
        """Make everything again: namespaces that vanished do not come back."""
        del target
        await self.close()
        try:
            await self.open()
        except (TargetError, TargetLostError):
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
        network, self._network, self._placed = self._network, None, False
        if network is not None:
            await network.close()

    @property
    def _made(self) -> EmulatedNetwork:
        if self._network is None:
            raise TargetLostError("dut", "the emulated link is gone")
        return self._network


def tables_of(plan: Plan, arm: Arm | None, run: str) -> dict[str, Any]:
    """The tables of the link: the plan's with the arm's laid over them. Each run has chances of its own, drawn from the
    plan's seed and the run's name, unless the link has a seed."""
    link = (plan.link if arm is None else plan.link_of(arm)) or {}
    digest = hashlib.sha256(f"txop-link:{plan.design.seed}:{run}".encode()).digest()
    return seeded(link, int.from_bytes(digest[:6]))

"""The steps of an arm, in the order in which they are done. Pure: a plan in, steps out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from txop.arms.commands import RunAfterwards, RunCommand
from txop.arms.firmware import PutFirmware
from txop.arms.module import InsertModule, KeepAway, LoadModule, RemoveModule
from txop.arms.qdisc import SetQdisc
from txop.arms.steps import Step
from txop.plan.arm import Arm, ModuleSpec
from txop.plan.model import Plan

DUT = "dut"


def blacklist_of(plan: Plan) -> tuple[str, ...]:
    """Modules that any arm wants kept away, in the order they are named."""
    return tuple(dict.fromkeys(module for arm in plan.arm for module in arm.blacklist))


def steps_of(plan: Plan, arm: Arm, built: Callable[[], Path], *, restore: bool = True) -> list[Step]:
    """The steps of an arm.

    Args:
        plan: Its plan; the blacklists of all arms hold while any of them is loaded.
        arm: The arm.
        built: Gives the module file of an arm with a build, by the time it is loaded.
        restore: Load modules that had to go again, once the arm is unloaded.
    """
    steps: list[Step] = []
    if blacklist := blacklist_of(plan):
        steps.append(KeepAway(DUT, blacklist))
    steps += [RemoveModule(DUT, module, restore) for module in arm.remove]
    if arm.firmware is not None:
        steps.append(PutFirmware(DUT, arm.firmware.file, arm.firmware.name))
    if arm.module is not None:
        steps.append(_module(arm.module))
    elif arm.build is not None:
        name = Path(arm.build.module).name
        steps.append(InsertModule(DUT, built, name, arm.build.parameters, arm.build.depends))
    if arm.qdisc is not None:
        target = plan.target.get(arm.qdisc.target)
        interface = arm.qdisc.interface or (target.interface if target is not None else None)
        steps.append(SetQdisc(arm.qdisc.target, interface, tuple(arm.qdisc.discipline)))
    steps += [RunAfterwards(DUT, argv) for argv in reversed(arm.unload)]
    steps += [RunCommand(DUT, argv) for argv in arm.load]
    return steps


def _module(spec: ModuleSpec) -> Step:
    if spec.name is not None:
        return LoadModule(DUT, spec.name, spec.parameters, spec.depends)
    file = spec.file or ""
    return InsertModule(DUT, lambda: Path(file), file, spec.parameters, spec.depends)

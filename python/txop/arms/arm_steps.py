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


def steps_of(plan: Plan, arm: Arm, built: Callable[[str], Path], *, restore: bool = True) -> list[Step]:
    """The steps of an arm.

    Args:
        plan: Its plan; the blacklists of all arms hold while any of them is loaded.
        arm: The arm.
        built: Gives a module file of an arm with a build by its name, by the time it is loaded.
        restore: Load modules that had to go again, once the arm is unloaded.
    """
    steps: list[Step] = []
    if blacklist := blacklist_of(plan):
        steps.append(KeepAway(DUT, blacklist))
    steps += [RemoveModule(DUT, module, restore) for module in arm.remove]
    if arm.firmware is not None:
        steps.append(PutFirmware(DUT, arm.firmware.file, arm.firmware.name))
    steps += _modules(arm, built)
    if arm.qdisc is not None:
        target = plan.target.get(arm.qdisc.target)
        interface = arm.qdisc.interface or (target.interface if target is not None else None)
        steps.append(SetQdisc(arm.qdisc.target, interface, tuple(arm.qdisc.discipline)))
    steps += [RunAfterwards(DUT, argv) for argv in reversed(arm.unload)]
    steps += [RunCommand(DUT, argv) for argv in arm.load]
    for name, commands in arm.on.items():
        steps += [RunAfterwards(name, argv) for argv in reversed(commands.unload)]
        steps += [RunCommand(name, argv) for argv in commands.load]
    return steps


def _modules(arm: Arm, built: Callable[[str], Path]) -> list[Step]:
    """The loads of an arm's modules. Of several, those that are loaded are removed first, from the last one on: the
    kernel keeps a module that another one uses."""
    loads = [_module(spec) for spec in arm.loads]
    names = [spec.name or Path(spec.file or "").name.partition(".")[0] for spec in arm.loads]
    if arm.build is not None:
        files = [Path(file).name for file in arm.build.files]
        names = [file.partition(".")[0] for file in files]
        loads = [_built(name, built) for name in files]
        driver = loads[-1]
        driver.parameters, loads[0].depends = arm.build.parameters, arm.build.depends
    before: list[Step] = [RemoveModule(DUT, name, restore=False) for name in reversed(names)] if len(names) > 1 else []
    return [*before, *loads]


def _built(name: str, built: Callable[[str], Path]) -> InsertModule:
    return InsertModule(DUT, lambda: built(name), name)


def _module(spec: ModuleSpec) -> LoadModule | InsertModule:
    if spec.name is not None:
        return LoadModule(DUT, spec.name, spec.parameters, spec.depends)
    file = spec.file or ""
    return InsertModule(DUT, lambda: Path(file), file, spec.parameters, spec.depends)

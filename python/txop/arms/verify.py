"""Whether the arm that is loaded is the one that should be: source hash, build-id, version, parameters, the driver
behind the interface, the queue discipline, free commands. What a target cannot say is noted, and is not a problem."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from txop.arms.bound_driver import BoundDriver
from txop.arms.firmware import PutFirmware
from txop.arms.module import InsertModule, LoadModule, loaded_modules, normal
from txop.arms.module_file import build_id
from txop.arms.qdisc import SetQdisc
from txop.arms.steps import COMMAND_TIMEOUT_S, Session, Step, how_it_ended, line
from txop.plan.arm import Arm, VerifySpec
from txop.targets.contract import CommandTimeoutError, Target


@dataclass(frozen=True)
class Verified:
    """What was found."""

    found: dict[str, Any]
    """``module``, ``srcversion``, ``build_id``, ``version``, ``parameters``, ``driver``, ``driver_module``, ``qdisc``,
    ``firmware_sha256``, ``built_from``: those that the target reports. ``modules``, when the arm loads several: the
    first five of each of the others, by name."""
    problems: list[str]
    """What is not as it should be; empty: it is the arm."""
    not_available: dict[str, str] = field(default_factory=dict)
    """What the target does not report, and why."""


@dataclass
class _Findings:
    found: dict[str, Any] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    missing: dict[str, str] = field(default_factory=dict)


async def verify_arm(session: Session, steps: Sequence[Step], arm: Arm) -> Verified:
    """Compare what is loaded with what the steps and the plan's ``verify`` say."""
    findings = _Findings()
    target = session.targets.dut
    loads = [step for step in steps if isinstance(step, LoadModule | InsertModule)]
    module = loads[-1].module if loads else None
    for step in loads:
        if step.module is not None:
            await _loaded(target, step, arm.verify if step is loads[-1] else None, findings)
    names = [normal(step.module) for step in loads if step.module is not None]
    await _driver(target, names, arm.verify, findings)
    if module is None and (arm.verify.srcversion or arm.verify.build_id or arm.verify.version):
        name = findings.found.get("driver_module")
        if name is None:
            findings.problems.append(
                "dut: it is not known which module drives the interface, so nothing can be compared"
            )
        else:
            await _module(target, normal(name), {}, "the plan", arm.verify, findings)
    for other in steps:
        if isinstance(other, SetQdisc):
            kind, problem = await other.find(session)
            findings.found["qdisc"] = kind
            if problem is not None:
                findings.problems.append(problem)
        elif isinstance(other, PutFirmware):
            findings.found["firmware_sha256"] = other.sha256
    for argv in arm.verify.commands:
        await _command(target, argv, findings)
    return Verified(findings.found, findings.problems, findings.missing)


async def _loaded(
    target: Target, step: LoadModule | InsertModule, verify: VerifySpec | None, findings: _Findings
) -> None:
    """One module of the arm; ``verify``: what the plan asks of it, which is the driver then."""
    assert step.module is not None
    name = normal(step.module)
    expected, source = await _expected(target, step)
    own = findings if verify is not None else _Findings(problems=findings.problems)
    wanted = {**step.parameters, **(verify or VerifySpec()).parameters}
    sysfs = await _module(target, name, expected, source, verify or VerifySpec(), own, wanted)
    _parameters(target, name, step, verify or VerifySpec(), own, sysfs)
    if own is not findings:
        found = {key: value for key, value in own.found.items() if key != "module"}
        findings.found.setdefault("modules", {})[name] = found
        findings.missing.update({f"{key} of {name}": why for key, why in own.missing.items()})


async def _expected(target: Target, step: LoadModule | InsertModule) -> tuple[dict[str, str | None], str]:
    """What the file says of itself, and which file that is."""
    if isinstance(step, InsertModule):
        info = step.info
        if info is None:
            return {}, step.shown_name
        return {"srcversion": info.srcversion, "build_id": info.build_id, "version": info.version}, step.shown_name
    expected: dict[str, str | None] = {}
    if await target.find("modinfo") is not None:
        for key in ("srcversion", "version"):
            ran = await target.run(["modinfo", "-F", key, step.module])
            if ran.ok and re.fullmatch(r"[\w.:+~-]{1,200}", ran.stdout.strip()):
                expected[key] = ran.stdout.strip()
    return expected, f"modinfo {step.module}"


async def _module(
    target: Target,
    name: str,
    expected: dict[str, str | None],
    source: str,
    verify: VerifySpec,
    findings: _Findings,
    parameters: Iterable[str] = (),
) -> dict[str, str | None]:
    """The loaded module against what is expected of it. Its parameters as sysfs shows them."""
    folder = f"/sys/module/{name}"
    of_parameters = [f"parameters/{key.replace('-', '_')}" for key in parameters]
    files = ["notes/.note.gnu.build-id", "srcversion", "version", *of_parameters]
    note, *texts = await target.read_several(*(f"{folder}/{file}" for file in files), limit_bytes=1 << 16)
    srcversion, version, *values = map(_text, texts)
    if name not in await loaded_modules(target):
        findings.problems.append(f"{target.name}: module {name} is not loaded")
        return {}
    findings.found["module"] = name
    loaded = {"srcversion": srcversion, "version": version, "build_id": build_id(note or b"")}
    for key, value in loaded.items():
        if value is None:
            findings.missing[key] = f"/sys/module/{name} does not show it"
        else:
            findings.found[key] = value
        asked = getattr(verify, key)
        for wanted, who, planned in ((asked, "the plan", True), (expected.get(key), source, False)):
            if wanted is None:
                continue
            if value is None and planned:
                findings.problems.append(
                    f"{target.name}: {key} of {name} cannot be read, and the plan asks for {wanted}"
                )
            elif value is not None and value.lower() != wanted.strip().lower():
                said = f"{target.name}: {key} of the loaded {name} is {value}, but {who} has {wanted}"
                findings.problems.append(said)
    return dict(zip(parameters, values, strict=True))


def _parameters(
    target: Target,
    name: str,
    step: LoadModule | InsertModule,
    verify: VerifySpec,
    findings: _Findings,
    sysfs: Mapping[str, str | None],
) -> None:
    info = step.info if isinstance(step, InsertModule) else None
    wanted = {key: str(int(v)) if isinstance(v, bool) else str(v) for key, v in step.parameters.items()}
    found: dict[str, str] = {}
    for key, value in {**wanted, **verify.parameters}.items():
        loaded = sysfs.get(key)
        if loaded is not None:
            found[key] = loaded
            if not same_value(loaded, value):
                findings.problems.append(f"{target.name}: parameter {key} of {name} is {loaded}, not {value}")
        elif info is not None and not info.takes(key):
            findings.problems.append(f"{target.name}: {name} has no parameter {key}, so the kernel ignored it")
        elif key in verify.parameters:
            findings.problems.append(f"{target.name}: parameter {key} of {name} cannot be read, so it is not known")
        else:
            findings.missing[f"parameter {key}"] = f"/sys/module/{name}/parameters does not have it"
    findings.found["parameters"] = found


def same_value(loaded: str, wanted: str) -> bool:
    """Whether a parameter as sysfs shows it is the value that was given: the kernel shows 1 as ``Y`` and 0x10 as 16.

    >>> same_value("Y", "1"), same_value("16", "0x10"), same_value("N", "1"), same_value("1,2", "1,2")
    (True, True, False, True)
    """
    return _canonical(loaded) == _canonical(wanted)


def _canonical(text: str) -> str | int:
    text = text.strip().strip('"')
    if text.lower() in ("y", "yes", "on", "true"):
        return 1
    if text.lower() in ("n", "no", "off", "false"):
        return 0
    try:
        return int(text, 8 if re.fullmatch(r"0[0-7]+", text) else 0)
    except ValueError:
        return text


async def _driver(target: Target, modules: Sequence[str], verify: VerifySpec, findings: _Findings) -> None:
    interface = target.interface
    if interface is None:
        findings.missing["driver"] = "the target has no interface under test"
        if verify.driver is not None:
            findings.problems.append(f"{target.name}: no interface is named, so its driver is not known")
        return
    name = await _link(target, f"/sys/class/net/{interface}/device/driver")
    owner = await _link(target, f"/sys/class/net/{interface}/device/driver/module")
    if name is None:
        there = await target.read(f"/sys/class/net/{interface}/ifindex", limit_bytes=64) is not None
        reason = f"{interface} has no device behind it" if there else f"there is no interface {interface}"
        findings.missing["driver"] = reason
        if verify.driver is not None or (modules and not there):
            findings.problems.append(f"{target.name}: {reason}")
        return
    driver = BoundDriver(name, owner)
    findings.found.update(driver.verified())
    if verify.driver is not None and not driver.is_of(verify.driver):
        findings.problems.append(f"{target.name}: {interface} is driven by {driver}, not by {verify.driver}")
    elif verify.driver is None and modules and owner is not None and not await _uses(target, owner, modules):
        named = ", ".join(modules)
        findings.problems.append(
            f"{target.name}: {interface} is driven by {owner}, which has nothing to do with {named}"
        )


async def _uses(target: Target, owner: str, modules: Sequence[str]) -> bool:
    """Whether the driver is one of the modules, or needs one (directly or not)."""
    there = await loaded_modules(target)
    reached, new = set(modules), list(modules)
    while new:
        entry = there.get(new.pop())
        for user in entry.users if entry is not None else ():
            if user not in reached:
                reached.add(user)
                new.append(user)
    return normal(owner) in reached


async def _link(target: Target, path: str) -> str | None:
    """The last part of what a symbolic link points to."""
    ran = await target.run(["readlink", path])
    name = ran.stdout.strip().rpartition("/")[2] if ran.ok else ""
    return name or None


def _text(data: bytes | None) -> str | None:
    return None if data is None else data.decode("utf-8", "replace").rstrip("\n")


async def _command(target: Target, argv: Sequence[str], findings: _Findings) -> None:
    try:
        ran = await target.run(argv, root=True, timeout_s=COMMAND_TIMEOUT_S)
    except CommandTimeoutError as error:
        findings.problems.append(str(error))
        return
    if not ran.ok:
        findings.problems.append(f"{target.name}: `{line(argv)}` {await how_it_ended(target, argv, ran)}")

"""What is wrong with a plan beyond its form: names that refer to nothing, files that are not there, tests
that cannot work on these targets; and, as warnings, what will make its answer weaker than its author may think."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from txop.core.metrics import describe, in_origin
from txop.core.nearest import did_you_mean
from txop.plan.arm import Arm, BuildSpec, ModuleSpec
from txop.plan.load import LoadedPlan
from txop.plan.locate import Path
from txop.plan.problem import PlanError, Problem
from txop.plan_check import files as check_files
from txop.plan_check import guest as check_guest
from txop.plan_check import link as check_link
from txop.plan_check import patches as check_patches
from txop.plan_check.addresses import wrong_addresses
from txop.plan_check.commands import wrong_commands
from txop.plan_check.figures import figures_of
from txop.plan_check.hazards import hazards as hazards_of
from txop.plan_check.module_files import (
    lacking_modules,
    mixed_builds,
    unknown_parameters,
    wrong_module_files,
    wrong_order,
)
from txop.plan_check.same_arms import same_arms
from txop.plan_check.test_kinds import Found, wrong_tests


@dataclass(frozen=True)
class Checked:
    """What a check found."""

    problems: tuple[Problem, ...]
    """The plan cannot be run."""
    warnings: tuple[Problem, ...]
    """It can, but should it?"""


def check(loaded: LoadedPlan, *, files: bool = True) -> Checked:
    """Check the meaning of a plan. ``files``: also that the files it names are there and can be read."""
    parts = [
        *(
            _names,
            _targets,
            wrong_addresses,
            wrong_commands,
            _emulation,
            check_link.wrong_links,
            check_link.wrong_hosts,
        ),
        *(_guest, check_guest.wrong_chips, check_guest.built_already, check_patches.wrong_modules),
        *(wrong_tests, _figures, _arms, _optional, _published, _interface, _turn, _collect),
    ]
    found = [entry for part in parts for entry in part(loaded)]
    if files:
        found += [*check_files.missing(loaded), *wrong_module_files(loaded), *unknown_parameters(loaded)]
        found += [*wrong_order(loaded), *mixed_builds(loaded)]
        found += [*check_patches.wrong_scripts(loaded), *check_guest.wrong_guests(loaded)]
    wrong = {path for path, _, _ in found}
    of_files = []
    if files:
        of_files += [*check_patches.beside_the_module(loaded), *same_arms(loaded), *_left_out(loaded)]
        of_files += lacking_modules(loaded)
    hazards = [entry for entry in [*hazards_of(loaded), *of_files] if entry[0] not in wrong]
    return Checked(_located(loaded, found), _located(loaded, hazards))


def ensure(loaded: LoadedPlan, *, files: bool = True) -> Checked:
    """:func:`check`, but a plan with problems raises :class:`PlanError`."""
    checked = check(loaded, files=files)
    if checked.problems:
        raise PlanError(str(loaded.path), checked.problems)
    return checked


def _located(loaded: LoadedPlan, found: Sequence[tuple[Path, str, str | None]]) -> tuple[Problem, ...]:
    problems = [loaded.problem(*entry) for entry in dict.fromkeys(found)]
    return tuple(sorted(problems, key=lambda problem: problem.line or 0))


def _left_out(loaded: LoadedPlan) -> Found:
    for path, arm, reason in check_files.lacking(loaded):
        yield path, f"{reason}: the arm {arm} is left out", check_files.OPTIONAL_FILES[str(path[-1])]


def _optional(loaded: LoadedPlan) -> Found:
    plan = loaded.plan
    for index, arm in enumerate(plan.arm):
        if arm.optional and arm.name == plan.baseline:
            said = "the others are compared with the baseline, which may not be left out"
            yield ("arm", index, "optional"), said, "set design.baseline to another arm"
        elif arm.optional and plan.guest is None:
            yield ("arm", index, "optional"), "only arms in guests are left out", "take it out"


def _published(loaded: LoadedPlan) -> Found:
    names = [test.name for test in loaded.plan.test]
    for index, arm in enumerate(loaded.plan.arm):
        for number, each in enumerate(arm.published):
            if each.test not in names:
                path = ("arm", index, "published", number, "test")
                yield path, f'unknown test "{each.test}"', did_you_mean(each.test, names)


def _names(loaded: LoadedPlan) -> Found:
    plan = loaded.plan
    for table, names in (("arm", [arm.name for arm in plan.arm]), ("test", [test.name for test in plan.test])):
        for index, name in enumerate(names):
            if name in names[:index]:
                yield (table, index, "name"), f'there is another {table} called "{name}"', "give each its own name"
    seen: dict[str, tuple[str, str]] = {}
    for arm in dict.fromkeys(arm.name for arm in plan.arm):
        for index, test in enumerate(plan.test):
            folder = f"{arm}-{test.name}"
            other = seen.setdefault(folder, (arm, test.name))
            if other != (arm, test.name):
                said = f'"{arm}" with "{test.name}" and "{other[0]}" with "{other[1]}" would share the folder {folder}'
                yield ("test", index, "name"), said, "rename one of them"
    if plan.design.baseline is not None and plan.design.baseline not in {arm.name for arm in plan.arm}:
        known = [arm.name for arm in plan.arm]
        yield (
            ("design", "baseline"),
            f'unknown arm "{plan.design.baseline}"',
            did_you_mean(plan.design.baseline, known),
        )


def _targets(loaded: LoadedPlan) -> Found:
    plan = loaded.plan
    targets = plan.target
    if "dut" not in targets:
        yield ("target",), "the device under test is missing", "add a table [target.dut]"
    needs_peer = any(test.needs_peer for test in plan.test)
    if needs_peer and "peer" not in targets:
        yield ("target",), "the other end of the traffic is missing", "add a table [target.peer]"
    peer = targets.get("peer")
    if needs_peer and peer is not None and peer.kind not in ("emulated", "guest") and peer.address is None:
        yield ("target", "peer", "address"), "is missing", "give the peer's address on the link under test"
    for index, arm in enumerate(plan.arm):
        for name in arm.on:
            if name == "dut":
                to_do = "use load and unload of the arm"
                yield ("arm", index, "on", name), "its own commands are those of the arm", to_do
            elif name not in targets:
                yield ("arm", index, "on", name), f'unknown target "{name}"', did_you_mean(name, list(targets))
        if arm.qdisc is not None and arm.qdisc.target not in targets:
            name = arm.qdisc.target
            yield ("arm", index, "qdisc", "target"), f'unknown target "{name}"', did_you_mean(name, list(targets))


def _emulation(loaded: LoadedPlan) -> Found:
    plan = loaded.plan
    emulated = [name for name, target in plan.target.items() if target.kind == "emulated"]
    if plan.link is not None and not emulated:
        yield (
            ("link",),
            "there is no target of kind emulated",
            'give dut and peer kind = "emulated", or take [link] out',
        )
    if emulated and plan.link is None:
        yield ("target", emulated[0], "kind"), "an emulated target needs a table [link]", None
    for name, target in plan.target.items():
        if emulated and target.kind != "emulated":
            said = "both ends of an emulated link must be emulated, and so must its stations"
            yield ("target", name, "kind"), said, 'use kind = "emulated"'
        elif target.kind == "emulated" and target.side not in (None, name):
            yield ("target", name, "side"), f'must be "{name}"', "take it out, and name the host with host"
    dut = plan.target.get("dut")
    for index, arm in enumerate(plan.arm):
        if arm.emulated is not None and plan.link is None:
            yield ("arm", index, "emulated"), "there is no table [link] that it could vary", None
        if dut is not None and dut.kind == "emulated":
            for key in ("module", "modules", "build", "firmware", "remove", "blacklist", "on", "boot"):
                if getattr(arm, key):
                    yield ("arm", index, key), "an emulated link has no driver", "take it out"
    if dut is not None and dut.kind == "emulated" and plan.bring_up.dhcp:
        yield ("bring_up", "dhcp"), "an emulated link has its addresses already", "take it out"
    if dut is not None and dut.kind == "emulated" and plan.bring_up.wpa_supplicant is not None:
        yield ("bring_up", "wpa_supplicant"), "an emulated link is not associated with", "take it out"


def _figures(loaded: LoadedPlan) -> Found:
    plan = loaded.plan
    for index, name in enumerate(plan.design.primary):
        yield from _figure(loaded, ("design", "primary", index), name, judged=True)
        if name in plan.design.primary[:index]:
            yield ("design", "primary", index), f'"{name}" is there twice', None
    for name in plan.design.margins:
        yield from _figure(loaded, ("design", "margins", name), name, judged=False)


def _figure(loaded: LoadedPlan, path: Path, name: str, *, judged: bool) -> Found:
    test_name, _, key = name.rpartition(".")
    test = next((test for test in loaded.plan.test if test.name == test_name), None)
    if test is None:
        known = [test.name for test in loaded.plan.test]
        yield path, f'unknown test "{test_name}"', did_you_mean(test_name, known)
        return
    known = figures_of(loaded.plan, test)
    if test.prints_more and key not in known and not judged:
        return  # what a command prints is known only when it has run
    if key not in known:
        yield path, f'test "{test_name}" gives no "{key}"', did_you_mean(key, known)
    elif judged and key in test.own_figures:
        if key not in test.directions:
            yield path, f'"{key}" has no direction', f"put it into higher_is_better or lower_is_better of {test_name}"
    elif judged and describe(key).better is None:
        yield path, f'"{key}" explains and is never judged', "choose another primary metric"
    elif judged and in_origin(describe(key), loaded.plan.origin).better is None:
        said = f'"{key}" of an emulated link is the cost of the emulator and is not judged'
        yield path, said, "choose another primary metric"


_FORBIDDEN = re.compile(r"[\"'\n\r\x00]")


def _arms(loaded: LoadedPlan) -> Found:
    booted = [arm.name for arm in loaded.plan.arm if arm.boot is not None]
    for index, arm in enumerate(loaded.plan.arm):
        if booted and arm.boot is None:
            said = f"it would run on whatever kernel {booted[0]} has left"
            yield ("arm", index, "boot"), said, "give every arm a table boot, also that of the kernel that runs now"
        if arm.boot is not None and loaded.plan.target["dut"].kind in ("local", "namespace"):
            yield ("arm", index, "boot"), "this machine cannot be restarted: txop runs on it", "take it out"
        for place, spec in _with_parameters(arm):
            for key, value in spec.parameters.items():
                if isinstance(value, str) and _FORBIDDEN.search(value):
                    yield ("arm", index, *place, "parameters", key), "must not hold quotes or line breaks", None
        if arm.build is not None:
            for number, module in enumerate(arm.build.files):
                if module.startswith("/") or ".." in module.split("/") or not module.endswith(".ko"):
                    said = "must be a .ko inside the tree, relative to it"
                    key_of = ("module",) if arm.build.module is not None else ("modules", number)
                    yield ("arm", index, "build", *key_of), said, None
        elif not any(target.kind == "guest" for target in loaded.plan.target.values()):
            for number, patch in enumerate(arm.patches):
                if patch.file is not None:
                    said = "there is no build that would apply it"
                    yield (
                        ("arm", index, "patches", number, "file"),
                        said,
                        "add a build, or leave file out: it is a note",
                    )
        if arm.qdisc is not None and not re.fullmatch(r"[a-z][a-z0-9_]*", arm.qdisc.discipline[0]):
            yield ("arm", index, "qdisc", "discipline"), "must begin with the name of a queue discipline", None


def _with_parameters(arm: Arm) -> Iterator[tuple[Path, ModuleSpec | BuildSpec]]:
    if arm.build is not None:
        yield ("build",), arm.build
    for number, spec in enumerate(arm.loads):
        yield (("module",) if arm.module is not None else ("modules", number)), spec


def _guest(loaded: LoadedPlan) -> Found:
    plan = loaded.plan
    guests = [name for name, target in plan.target.items() if target.kind == "guest"]
    if plan.guest is not None and not guests:
        yield ("guest",), "there is no target of kind guest", 'give dut and peer kind = "guest", or take [guest] out'
    if not guests:
        return
    if plan.guest is None:
        yield ("target", guests[0], "kind"), "a target in a guest needs a table [guest]", None
    for name, target in plan.target.items():
        if target.kind != "guest" or name not in ("dut", "peer", *plan.guest_stations):
            said = "a guest has two ends, dut and peer, and the stations of [guest]; no other target takes part"
            yield ("target", name), said, "take it out"
    for index, arm in enumerate(plan.arm):
        for key in (
            "module",
            "modules",
            "build",
            "firmware",
            "qdisc",
            "remove",
            "blacklist",
            "load",
            "unload",
            "on",
            "boot",
        ):
            if getattr(arm, key):
                yield ("arm", index, key), "arms in a guest are made with [arm.guest]", "take it out"


def _interface(loaded: LoadedPlan) -> Found:
    plan = loaded.plan
    dut = plan.target.get("dut")
    if dut is None or dut.interface is not None or dut.kind in ("emulated", "guest"):
        return
    reasons = []
    if plan.bring_up.wpa_supplicant is not None:
        reasons.append("wpa_supplicant")
    if plan.bring_up.dhcp:
        reasons.append("dhcp")
    reasons += [f"qdisc of {a.name}" for a in plan.arm if a.qdisc and a.qdisc.target == "dut" and not a.qdisc.interface]
    reasons += [f"verify.driver of {arm.name}" for arm in plan.arm if arm.verify.driver is not None]
    if any(test.module_cycles is not None for test in plan.test):
        reasons.append("a module-cycle test")
    if reasons:
        yield ("target", "dut", "interface"), f"is missing, and {', '.join(reasons[:4])} needs it", None


def _turn(loaded: LoadedPlan) -> Found:
    kinds = {target.kind for target in loaded.plan.target.values()} & {"emulated", "guest"}
    if loaded.plan.design.turn is not None and kinds:
        said = f"targets of kind {min(kinds)} have no access point that other campaigns use"
        yield ("design", "turn"), said, "take it out"


def _collect(loaded: LoadedPlan) -> Found:
    plan = loaded.plan
    emulated = any(target.kind in ("emulated", "guest") for target in plan.target.values())
    sniffer = plan.target.get("sniffer")
    functions = [arm.name for arm in plan.arm if (guest := plan.guest_of(arm)) is not None and guest.is_function]
    if plan.collect.air and functions:
        said = f"{', '.join(functions[:5])} has a network function, and no air that could be captured"
        yield ("collect", "air"), said, "take it out"
    links = check_link.links_of(loaded) if plan.collect.air else []
    if links and not any(link.has_air for link in links):
        yield ("collect", "air"), f"a {links[0].kind} link has no frames in the air to capture", "take it out"
    if plan.collect.air and not emulated:
        if sniffer is None:
            yield ("collect", "air"), "nothing could capture the air", "add [target.sniffer] with a monitor interface"
        elif sniffer.interface is None:
            yield ("target", "sniffer", "interface"), "is missing", "name its monitor interface"

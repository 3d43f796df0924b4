"""What is wrong with a plan beyond its form: names that refer to nothing, files that are not there, tests
that cannot work on these targets; and, as warnings, what will make its answer weaker than its author may think."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from txop.core.metrics import describe, in_origin
from txop.core.nearest import did_you_mean
from txop.plan.arm import Arm, BuildSpec, ModuleSpec
from txop.plan.devices import ACCESS_POINT_DEVICES
from txop.plan.guest import GuestSpec
from txop.plan.load import LoadedPlan
from txop.plan.locate import Path
from txop.plan.measurement import (
    CommandTest,
    FaultTrialTest,
    LatencyTest,
    ModuleCycleTest,
    StationsTest,
    Test,
    TtcpTest,
)
from txop.plan.model import Plan
from txop.plan.problem import PlanError, Problem
from txop.plan_check import files as check_files
from txop.plan_check import guest as check_guest
from txop.plan_check import link as check_link
from txop.plan_check import patch_modules as check_patch_modules
from txop.plan_check import patch_reach as check_patches
from txop.plan_check import scripts as check_scripts
from txop.plan_check.addresses import wrong_addresses
from txop.plan_check.commands import wrong_commands
from txop.plan_check.figures import figures_of, own_figures
from txop.plan_check.hazards import hazards as hazards_of
from txop.plan_check.same_arms import same_arms

Found = Iterator[tuple[Path, str, str | None]]
"""Key, what is wrong, what to do."""


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
        *(_guest, check_guest.wrong_chips, check_patch_modules.wrong_modules),
        *(_tests, _figures, _arms, _interface, _turn, _collect),
    ]
    found = [entry for part in parts for entry in part(loaded)]
    if files:
        found += [*check_files.missing(loaded), *check_scripts.wrong_scripts(loaded), *check_guest.wrong_guests(loaded)]
    wrong = {path for path, _, _ in found}
    of_files = [*check_patches.beside_the_module(loaded), *same_arms(loaded)] if files else []
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
    known = [name for name in targets if name not in ("peer", "sniffer")]
    for index, test in enumerate(plan.test):
        if isinstance(test, CommandTest):
            if test.on not in targets:
                yield ("test", index, "on"), f'unknown target "{test.on}"', did_you_mean(test.on, list(targets))
        elif isinstance(test, StationsTest):
            for number, station in enumerate(test.stations):
                if station not in known:
                    yield _no_station(("test", index, "stations", number), station, known)
                elif station in test.stations[:number]:
                    yield ("test", index, "stations", number), f'"{station}" is there twice', None
        elif test.station not in known and "dut" in targets:
            yield _no_station(("test", index, "station"), test.station, known)
        if isinstance(test, LatencyTest) and (test.sender, test.latency) == ("peer", "irtt"):
            yield ("test", index, "sender"), "irtt has its server on the peer", 'use latency = "ping"'
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


def _no_station(path: Path, name: str, known: Sequence[str]) -> tuple[Path, str, str | None]:
    if name in ("peer", "sniffer"):
        return path, f"the {name} cannot be a station", did_you_mean(name, known)
    return path, f'unknown target "{name}"', did_you_mean(name, known)


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


def _tests(loaded: LoadedPlan) -> Found:
    for index, test in enumerate(loaded.plan.test):
        in_guest = loaded.plan.guest_trial(test)
        if isinstance(test, FaultTrialTest) and not any(t.kind == "guest" for t in loaded.plan.target.values()):
            said = "faults by script are those of a virtual chip"
            yield ("test", index, "kind"), said, 'give dut and peer kind = "guest"; see docs/guest.md'
        if isinstance(test, ModuleCycleTest) and not in_guest:
            if test.way == "replug":
                said = "only a virtual chip can be pulled out"
                yield ("test", index, "way"), said, 'use way = "reload", or a guest'
            without = [arm.name for arm in loaded.plan.arm if not arm.has_module]
            if without:
                said = f"there is no module to remove in {', '.join(without[:5])}"
                yield ("test", index, "kind"), said, "give these arms a module or a build"
        if not isinstance(test, CommandTest):
            continue
        if test.pattern is not None:
            yield from _pattern(("test", index, "pattern"), test.pattern)
        for key in test.higher_is_better:
            if key in test.lower_is_better:
                yield ("test", index, "lower_is_better"), f'"{key}" is in higher_is_better too', None


def _pattern(path: Path, text: str) -> Found:
    try:
        pattern = re.compile(text)
    except (re.error, OverflowError, RecursionError) as error:
        yield path, f"invalid regular expression: {error}", None
        return
    if not pattern.groupindex:
        yield path, "has no named group, so it gives no figure", "name what it matches: (?P<boot_s>[0-9.]+)"
    for name in pattern.groupindex:
        if not re.fullmatch(r"[a-z0-9_]+", name):
            yield path, f'"{name}" is not a name of a metric', "use lower-case letters, digits and _"


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
    if isinstance(test, CommandTest) and key not in known and not (test.parser == "regex" or judged):
        return  # what a command prints is known only when it has run
    if key not in known:
        yield path, f'test "{test_name}" gives no "{key}"', did_you_mean(key, known)
    elif judged and isinstance(test, CommandTest) and key in own_figures(test):
        if key not in (*test.higher_is_better, *test.lower_is_better):
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
    for index, test in enumerate(plan.test):
        if isinstance(test, StationsTest) and not plan.guest_stations:
            said = f"a {test.kind} test in a guest needs stations of its device"
            yield ("test", index, "kind"), said, f'set device = "{ACCESS_POINT_DEVICES[0]}" and stations in [guest]'
        elif isinstance(test, StationsTest) and (odd := [n for n in test.stations if n not in plan.guest_stations]):
            said = f'"{odd[0]}" is not a station of the access point'
            yield ("test", index, "stations"), said, f"there are {', '.join(plan.guest_stations)}"
        elif plan.guest_trial(test):
            yield from _guest_trial(plan, index, test)
        elif plan.guest_stations and test.station == "dut" and not isinstance(test, CommandTest | StationsTest):
            said = "dut is the access point, and traffic is to and from its stations"
            yield ("test", index, "station"), said, f"one of {', '.join(plan.guest_stations)}"
        elif test.latency == "irtt":
            yield ("test", index, "latency"), "there is no irtt in a guest", 'use "ping"'
        elif isinstance(test, TtcpTest) and plan.guest_stations:
            yield ("test", index, "kind"), "ttcp is between dut and peer", 'use "tcp-tx" or "tcp-rx" with a station'


def _guest_trial(plan: Plan, index: int, test: Test) -> Found:
    spec = plan.guest or GuestSpec()
    functions = [arm.name for arm in plan.arm if spec.varied(arm.guest).is_function]
    if functions:
        said = f"a {test.kind} test needs a wireless chip, and {', '.join(functions[:5])} has a network function"
        yield ("test", index, "kind"), said, "tcp, udp, rrul, latency, soak and command tests can"
    if test.latency != "none":
        yield ("test", index, "latency"), f"a {test.kind} test in a guest has no latency probe", "take it out"
    if isinstance(test, ModuleCycleTest) and test.way == "replug" and "pause_s" in test.model_fields_set:
        yield ("test", index, "pause_s"), "a virtual chip is away for a second, and no other time", "take it out"
    if plan.guest_stations:
        yield (
            ("test", index, "kind"),
            f"a {test.kind} test needs a chip that is a station",
            "take stations out of [guest]",
        )
    builtin = [arm.name for arm in plan.arm if spec.varied(arm.guest).ap == "builtin"]
    if builtin:
        said = f"a {test.kind} test needs hostapd, and {', '.join(builtin[:5])} has the built-in access point"
        yield ("test", index, "kind"), said, 'use ap = "hostapd"'
    if isinstance(test, FaultTrialTest) and all(spec.varied(arm.guest).faults is None for arm in plan.arm):
        yield ("test", index, "kind"), "no arm has a fault script", "give arms `faults` in [arm.guest]"


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
    if any(isinstance(test, ModuleCycleTest) for test in plan.test):
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

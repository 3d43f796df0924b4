"""What is wrong with a test of a plan, by its kind: one checker for each kind that can be wrong by itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from txop.core.nearest import did_you_mean
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

Found = Iterator[tuple[Path, str, str | None]]
"""Key, what is wrong, what to do."""


def wrong_tests(loaded: LoadedPlan) -> Found:
    """Tests that name what is not there, that contradict themselves, or that cannot work on these targets."""
    plan = loaded.plan
    in_guest = any(target.kind == "guest" for target in plan.target.values())
    for index, test in enumerate(plan.test):
        yield from _STATIONS.get(type(test), _station)(plan, index, test)
        if (checker := _CHECKERS.get(type(test))) is not None:
            yield from checker(plan, index, test)
        if in_guest:
            yield from _in_guest(plan, index, test)
        elif test.rates is not None:
            said = "rates are set in guests only"
            yield ("test", index, "rates"), said, 'elsewhere: [[arm]] load = ["iw", "dev", ...]'


# Ends ----------------------------------------------------------------------------------------------------------------


def _known(plan: Plan) -> list[str]:
    return [name for name in plan.target if name not in ("peer", "sniffer")]


def _station(plan: Plan, index: int, test: Test) -> Found:
    if test.station not in _known(plan) and "dut" in plan.target:
        yield _no_station(("test", index, "station"), test.station, _known(plan))


def _stations(plan: Plan, index: int, test: StationsTest) -> Found:
    for number, station in enumerate(test.stations):
        if station not in _known(plan):
            yield _no_station(("test", index, "stations", number), station, _known(plan))
        elif station in test.stations[:number]:
            yield ("test", index, "stations", number), f'"{station}" is there twice', None


def _on(plan: Plan, index: int, test: CommandTest) -> Found:
    if test.on not in plan.target:
        yield ("test", index, "on"), f'unknown target "{test.on}"', did_you_mean(test.on, list(plan.target))


def _no_station(path: Path, name: str, known: Sequence[str]) -> tuple[Path, str, str | None]:
    if name in ("peer", "sniffer"):
        return path, f"the {name} cannot be a station", did_you_mean(name, known)
    return path, f'unknown target "{name}"', did_you_mean(name, known)


_STATIONS: Mapping[type[Test], Callable[[Plan, int, Any], Found]] = {StationsTest: _stations, CommandTest: _on}
"""What ends a kind of test has, other than one station."""


# Kinds ---------------------------------------------------------------------------------------------------------------


def _latency(plan: Plan, index: int, test: LatencyTest) -> Found:
    del plan
    if test.sender == "peer" and test.latency == "irtt":
        yield ("test", index, "sender"), "irtt has its server on the peer", 'use latency = "ping"'


def _fault_trial(plan: Plan, index: int, test: FaultTrialTest) -> Found:
    del test
    if not any(target.kind == "guest" for target in plan.target.values()):
        said = "faults by script are those of a virtual chip"
        yield ("test", index, "kind"), said, 'give dut and peer kind = "guest"; see docs/guest.md'
        return
    spec = plan.guest or GuestSpec()
    if all(spec.varied(arm.guest).faults is None for arm in plan.arm):
        yield ("test", index, "kind"), "no arm has a fault script", "give arms `faults` in [arm.guest]"


def _module_cycle(plan: Plan, index: int, test: ModuleCycleTest) -> Found:
    if plan.guest_trial(test):
        if test.way == "replug" and "pause_s" in test.model_fields_set:
            yield ("test", index, "pause_s"), "a virtual chip is away for a second, and no other time", "take it out"
        return
    if test.way == "replug":
        yield ("test", index, "way"), "only a virtual chip can be pulled out", 'use way = "reload", or a guest'
    without = [arm.name for arm in plan.arm if not arm.has_module]
    if without:
        said = f"there is no module to remove in {', '.join(without[:5])}"
        yield ("test", index, "kind"), said, "give these arms a module or a build"


def _command(plan: Plan, index: int, test: CommandTest) -> Found:
    del plan
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


_CHECKERS: Mapping[type[Test], Callable[[Plan, int, Any], Found]] = {
    LatencyTest: _latency,
    ModuleCycleTest: _module_cycle,
    FaultTrialTest: _fault_trial,
    CommandTest: _command,
}
"""What else can be wrong with a kind of test."""


# In a guest ----------------------------------------------------------------------------------------------------------


def _in_guest(plan: Plan, index: int, test: Test) -> Found:
    stations = plan.guest_stations
    if (specific := _IN_GUEST.get(type(test))) is not None and (found := list(specific(plan, index, test))):
        yield from found
    elif plan.guest_trial(test):
        yield from _guest_trial(plan, index, test)
    elif stations and test.station == "dut" and test.needs_peer and not test.stations_measured:
        said = "dut is the access point, and traffic is to and from its stations"
        yield ("test", index, "station"), said, f"one of {', '.join(stations)}"
    elif test.latency == "irtt":
        yield ("test", index, "latency"), "there is no irtt in a guest", 'use "ping"'


def _guest_stations(plan: Plan, index: int, test: StationsTest) -> Found:
    if not plan.guest_stations:
        said = f"a {test.kind} test in a guest needs stations of its device"
        yield ("test", index, "kind"), said, f'set device = "{ACCESS_POINT_DEVICES[0]}" and stations in [guest]'
    elif odd := [name for name in test.stations if name not in plan.guest_stations]:
        said = f'"{odd[0]}" is not a station of the access point'
        yield ("test", index, "stations"), said, f"there are {', '.join(plan.guest_stations)}"


def _guest_ttcp(plan: Plan, index: int, test: TtcpTest) -> Found:
    if plan.guest_stations and test.station != "dut" and test.latency != "irtt":
        yield ("test", index, "kind"), "ttcp is between dut and peer", 'use "tcp-tx" or "tcp-rx" with a station'


_IN_GUEST: Mapping[type[Test], Callable[[Plan, int, Any], Found]] = {
    StationsTest: _guest_stations,
    TtcpTest: _guest_ttcp,
}
"""What a kind of test needs of a guest."""


def _guest_trial(plan: Plan, index: int, test: Test) -> Found:
    spec = plan.guest or GuestSpec()
    functions = [arm.name for arm in plan.arm if spec.varied(arm.guest).is_function]
    if functions:
        said = f"a {test.kind} test needs a wireless chip, and {', '.join(functions[:5])} has a network function"
        yield ("test", index, "kind"), said, "tcp, udp, rrul, latency, soak and command tests can"
    if test.latency != "none":
        yield ("test", index, "latency"), f"a {test.kind} test in a guest has no latency probe", "take it out"
    if plan.guest_stations:
        said = f"a {test.kind} test needs a chip that is a station"
        yield ("test", index, "kind"), said, "take stations out of [guest]"
    builtin = [arm.name for arm in plan.arm if spec.varied(arm.guest).ap == "builtin"]
    if builtin:
        said = f"a {test.kind} test needs hostapd, and {', '.join(builtin[:5])} has the built-in access point"
        yield ("test", index, "kind"), said, 'use ap = "hostapd"'

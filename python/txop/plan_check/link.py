"""What is invalid in a ``[link]`` of a plan or in an arm's variant of it, as what makes the link says, and targets that
cannot be its hosts."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any

from txop.emulate.error import EmulationError
from txop.emulate.hosts import host_of_target, hosts_of
from txop.emulate.network import EmulatedNetwork
from txop.emulate.scenario import LinkScenario, link_scenario
from txop.plan.link_tables import KINDS, varied
from txop.plan.load import LoadedPlan
from txop.plan.locate import Path
from txop.plan.model import Plan
from txop.plan.old_links import SEED, old_keys
from txop.simulate.error import ScenarioError

MAX_WRONG = 20
"""How many wrong keys of a link are reported; each is taken out to find the next."""

Found = Iterator[tuple[Path, str, str | None]]


def wrong_links(loaded: LoadedPlan) -> Found:
    """Each key of the link, and of the arms' variants of it, that `txop run` would refuse."""
    plan, folder = loaded.plan, loaded.folder
    if plan.link is None or not _is_emulated(plan):
        return
    variants = [(("arm", index, "emulated"), arm.emulated) for index, arm in enumerate(plan.arm) if arm.emulated]
    old = [*_old(("link",), plan.link), *(entry for path, variant in variants for entry in _old(path, variant))]
    if old:
        yield from old
        return
    wrong = list(_wrong(plan.link, folder))
    for path, what, advice in wrong:
        yield ("link", *path), what, advice
    # What is wrong with the link is left out, so that no arm is blamed for it.
    sound = _without(plan.link, wrong)
    if sound is None:
        return
    for path, variant in variants:
        for key, what, advice in _wrong(varied(sound, variant), folder):
            own = _depth(variant, key) > 0
            yield ((*path, *key) if own else path), what, advice


def wrong_hosts(loaded: LoadedPlan) -> Found:
    """Targets that are not a host of the link, or not the one they must be, and arms with links that join others."""
    plan, folder = loaded.plan, loaded.folder
    scenario = None if plan.link is None or not _is_emulated(plan) else _made(plan.link, folder)
    if scenario is None:
        return
    hosts = hosts_of(scenario.hosts)
    there: dict[int, str] = {}
    for name, target in plan.target.items():
        if target.kind != "emulated":
            continue
        path: Path = ("target", name) if target.host is None else ("target", name, "host")
        try:
            host = host_of_target(hosts, name, target.host)
        except EmulationError as error:
            yield path, error.what, error.what_to_do
            continue
        if (host.number == 0) != (name == "peer"):
            said = "the peer is the server" if name == "peer" else f"host {host.name} is the peer"
            yield path, f"{said}, and no other target is", "take it out, or name a station"
        elif host.number in there:
            yield path, f'target "{there[host.number]}" is host {host.name} too', "give each target a host of its own"
        there.setdefault(host.number, name)
    for index, arm in enumerate(plan.arm):
        own = _made(plan.link_of(arm) or {}, folder) if arm.emulated else None
        if own is not None and own.hosts != scenario.hosts:
            said = f"its link joins {_names(own)}, and that of the plan {_names(scenario)}: the hosts must be the same"
            yield ("arm", index, "emulated"), said, "name the stations alike, or make it a plan of its own"


MAX_NAMES = 8


def _names(scenario: LinkScenario) -> str:
    more = len(scenario.hosts) - MAX_NAMES
    return ", ".join(scenario.hosts[:MAX_NAMES]) + (f" and {more} more" if more > 0 else "")


def links_of(loaded: LoadedPlan) -> list[LinkScenario]:
    """The links of the arms; of those that can be made."""
    plan = loaded.plan
    if plan.link is None or not _is_emulated(plan):
        return []
    made = (_made(plan.link_of(arm) or {}, loaded.folder) for arm in plan.arm)
    return [scenario for scenario in made if scenario is not None]


def _is_emulated(plan: Plan) -> bool:
    return any(target.kind == "emulated" for target in plan.target.values())


def _made(link: Mapping[str, Any], folder: FilePath) -> LinkScenario | None:
    try:
        return link_scenario(link, folder)
    except ScenarioError:
        return None


def _old(path: Path, tables: Mapping[str, Any]) -> Found:
    """Keys as they were when a link was 802.11 and nothing else."""
    table = "link" if path == ("link",) else "arm.emulated"
    for key in old_keys(tables):
        now = f"[{table}.run] {key} = ..." if key == SEED else f"[{table}.wlan.{key}]"
        yield (*path, key), "the link of a plan is a scenario now (docs/scenario.md)", f"write {now}"


def _wrong(link: Mapping[str, Any], folder: FilePath) -> Found:
    left = copy.deepcopy(dict(link))
    for path, what, advice in [*_not_json(left), *_not_of_a_plan(left)]:
        yield path, what, advice
        _take_out(left, path)
    if "base" not in left and not any(kind in left for kind in KINDS):
        advice = "write one of [link.wlan], [link.modem], [link.sdio], [link.pipe], or base"
        yield (), "there is no link in it", advice
        return
    for _ in range(MAX_WRONG):
        try:
            EmulatedNetwork(link_scenario(left, folder))
            return
        except ScenarioError as error:
            path = _path(error.where or "")
            yield path, error.what, None
            if path[:1] == ("base",) or not _take_out(left, path):
                return
        except EmulationError as error:
            yield (), error.what, error.what_to_do
            return


def _not_json(value: Any, path: Path = ()) -> Found:
    """Values that TOML has and no key of a link takes: dates, times, and numbers that are not finite."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _not_json(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _not_json(inner, (*path, index))
    elif isinstance(value, float) and not math.isfinite(value):
        yield path, f"{value} is not a finite number", None
    elif not isinstance(value, str | int | float | bool):
        yield path, "a date or time is not a value of any key of a link", None


def _not_of_a_plan(link: Mapping[str, Any]) -> Found:
    """Keys of a scenario that the link of a plan does not have: its tests say what goes over it, and how long."""
    if "traffic" in link:
        yield ("traffic",), "the tests of a plan are its traffic", "take it out"
    run = link.get("run")
    for key in run if isinstance(run, dict) else ():
        if key in OF_VIRTUAL_TIME:
            yield ("run", key), "the tests and the design of a plan set how long is measured", "take it out"


OF_VIRTUAL_TIME = ("warm_up_s", "duration_s", "interval_s", "start_spread_s")
"""Keys of ``[run]`` that only `txop simulate` uses."""


def _without(link: Mapping[str, Any], wrong: Sequence[tuple[Path, str, str | None]]) -> dict[str, Any] | None:
    """The link without these keys; ``None`` when it is the whole, or a file that it is based on."""
    left = copy.deepcopy(dict(link))
    for path, _, _ in wrong:
        if path[:1] in ((), ("base",)):
            return None
        _take_out(left, path)
    return left


def _path(key: str) -> Path:
    """``wlan.stations.1.mcs`` as a path; ``scenario`` is the whole."""
    return () if key == "scenario" else tuple(int(part) if part.isdecimal() else part for part in key.split("."))


def _depth(table: Any, path: Path) -> int:
    """How many parts of ``path`` are in ``table``."""
    depth = 0
    for part in path:
        inside = isinstance(table, dict) and part in table
        inside = inside or (isinstance(table, list) and isinstance(part, int) and part < len(table))
        if not inside:
            break
        table, depth = table[part], depth + 1
    return depth


def _take_out(table: Any, path: Path) -> bool:
    """Remove what is at ``path``, or the innermost thing around it that is there."""
    path = path[: _depth(table, path)]
    if not path:
        return False
    for part in path[:-1]:
        table = table[part]
    del table[path[-1]]
    return True

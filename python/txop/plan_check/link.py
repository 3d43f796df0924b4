"""What cannot be in a ``[link]`` of a plan or in an arm's variant of it, as what makes the link says."""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from txop.emulate.error import EmulationError
from txop.emulate.pair import EmulatedPair
from txop.emulate.scenario import laid_over
from txop.plan.load import LoadedPlan
from txop.plan.locate import Path
from txop.simulate.error import ScenarioError

MAX_WRONG = 20
"""So many wrong keys of a link are told; each is taken out to find the next."""

Found = Iterator[tuple[Path, str, str | None]]


def wrong_links(loaded: LoadedPlan) -> Found:
    """Each key of the link, and of the arms' variants of it, that `txop run` would refuse."""
    plan = loaded.plan
    if plan.link is None or not any(target.kind == "emulated" for target in plan.target.values()):
        return
    for path, what, advice in _wrong(plan.link):
        yield ("link", *path), what, advice
    sound = _sound(plan.link)
    for index, arm in enumerate(plan.arm):
        if arm.emulated is None:
            continue
        for path, what, advice in _wrong(laid_over(sound, arm.emulated)):
            own = _depth(arm.emulated, path) > 0
            yield (("arm", index, "emulated", *path) if own else ("arm", index, "emulated")), what, advice


def _sound(link: Mapping[str, Any]) -> dict[str, Any]:
    """The link without what is wrong with it, so that no arm is blamed for it."""
    left = copy.deepcopy(dict(link))
    for path, _, _ in _wrong(link):
        _take_out(left, path)
    return left


def _wrong(link: Mapping[str, Any]) -> Found:
    left = copy.deepcopy(dict(link))
    for path, what in [*_not_json(left)]:
        yield path, what, None
        _take_out(left, path)
    for _ in range(MAX_WRONG):
        try:
            EmulatedPair(left)
            return
        except ScenarioError as error:
            path = _path(error.where or "")
            yield path, error.what, None
            if not _take_out(left, path):
                return
        except EmulationError as error:
            yield (), error.what, "leave stations out: the link of a plan joins dut and peer"
            return


def _not_json(value: Any, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Values that TOML has and no key of a link takes: dates, times, and numbers that are not finite."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _not_json(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _not_json(inner, (*path, index))
    elif isinstance(value, float) and not math.isfinite(value):
        yield path, f"{value} is not a finite number"
    elif not isinstance(value, str | int | float | bool):
        yield path, "a date or time is not a value of any key of a link"


def _path(key: str) -> Path:
    """``stations[1].mcs`` as a path; ``scenario`` is the whole."""
    if key == "scenario":
        return ()
    return tuple(int(part[1:-1]) if part.startswith("[") else part for part in re.findall(r"\[\d+\]|[^.\[\]]+", key))


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

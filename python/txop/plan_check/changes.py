"""What each arm of a plan declares to be different, and which two arms differ by exactly one of these changes.

An arm is read as a set of changes: each patch of its list, each module parameter, each key of its link or guest. Two
arms that differ in one place of these say what that change does, given all that both have. The names and titles of arms
play no part in it, nor does what only prepares or verifies a load (``remove``, ``blacklist``, ``depends``, ``verify``).

What carries a patch differs with it and is not a change of its own: the module file or the source tree and, on an
emulated link, the keys of the link.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePath
from typing import Any

from txop.arms.edits.script import read_script
from txop.plan.arm import Arm, BuildSpec, ModuleSpec, Patch
from txop.plan.model import Plan
from txop.plan.named_file import SHIPPED, named_file

Key = tuple[str, ...]

PATCH, BUILD, LINK = "patch", "build", "link"
"""How the keys of a patch, of the build that carries it and of an emulated link begin."""
GUEST, PARAMETER = "guest", "parameter"
"""How the keys of a guest and of the parameters of its driver begin."""
_DRIVER = "driver"
_CARRIERS = (BUILD, LINK)
"""What differs where the lists of patches differ, because it carries them."""

_REVERTED = "-"
_APPLIED = "+"
_EDITED = "?"
"""How the value of a patch begins: taken out, put in, or an edit script of unknown direction."""

SCRIPT = ".toml"
"""How edit scripts end."""

_LONGEST = 80


@dataclass(frozen=True)
class OneChange:
    """Two arms that differ by one change."""

    arm: str
    """With the change."""
    against: str
    """Without it: here the change is as in the baseline."""
    change: str
    """The change in words: ``patch 7``, ``ht_agg 1 instead of 0``."""
    given: tuple[str, ...]
    """What ``against`` has beyond the baseline; empty when it is as the baseline, or is it."""
    patch: str | None = None
    """:func:`identity` of the patch that it is, when it is one."""


@dataclass(frozen=True)
class Undecided:
    """A change that no two arms differ by alone."""

    change: str
    patch: str | None


@dataclass(frozen=True)
class Changes:
    """What the arms of a plan can show of single changes."""

    isolated: tuple[OneChange, ...]
    """Pairs of arms that differ by one change, in the order of the plan."""
    undecided: tuple[Undecided, ...]
    """Changes against the baseline that no two arms differ by alone."""

    def beside(self, baseline: str) -> tuple[OneChange, ...]:
        """The pairs that a comparison of every arm with the baseline does not hold."""
        return tuple(pair for pair in self.isolated if baseline not in (pair.arm, pair.against))


def changes_of(plan: Plan, baseline: str | None = None) -> Changes:
    """Every pair of arms that isolates a change, and the changes that none does.

    Of a key with more than two values only pairs with the value of the baseline are taken, so that the number of
    comparisons does not grow with the square of the levels. An arm that puts the same in place as another one differs
    from it in something that the plan does not declare, so it isolates nothing; the baseline is taken at its word.
    """
    name = plan.baseline if baseline is None else baseline
    contents = {arm.name: contents_of(plan, arm) for arm in plan.arm}
    base = contents.get(name, {})
    isolated: list[OneChange] = []
    named: set[tuple[Key, str]] = set()
    declared = [arm for arm in plan.arm if arm.name == name or _is_alone(arm.name, contents)]
    for number, second in enumerate(declared):
        for first in declared[:number]:
            key = _only_difference(contents[first.name], contents[second.name])
            if key is None:
                continue
            values = {arm.name: contents[arm.name].get(key) for arm in (first, second)}
            against = next((arm for arm, value in values.items() if value == base.get(key)), None)
            if against is None:
                continue
            arm = second.name if against == first.name else first.name
            named.add((key, values[arm] or ""))
            given = [in_words(k, contents[against].get(k), base.get(k)) for k in differing(base, contents[against])]
            change = in_words(key, values[arm], base.get(key))
            isolated.append(OneChange(arm, against, change, tuple(given), _patch_of(key)))
    undecided = [
        Undecided(in_words(key, contents[arm.name].get(key), base.get(key)), _patch_of(key))
        for arm in plan.arm
        for key in differing(base, contents[arm.name])
        if (key, contents[arm.name].get(key) or "") not in named
    ]
    return Changes(tuple(isolated), tuple(dict.fromkeys(undecided)))


def comparisons(plan: Plan, primary: int) -> int:
    """Comparisons that are judged together when there are this many primary figures."""
    return primary * (len(plan.arm) - 1 + len(changes_of(plan).beside(plan.baseline)))


def _patch_of(key: Key) -> str | None:
    return key[1] if key[0] == PATCH else None


def _is_alone(arm: str, contents: Mapping[str, Mapping[Key, str]]) -> bool:
    """Whether no other arm has the same contents."""
    return all(other == arm or contents[other] != contents[arm] for other in contents)


def differing(first: Mapping[Key, str], second: Mapping[Key, str]) -> list[Key]:
    """Keys that differ; those of carriers only where no patch does, and of a build where the driver is one."""
    keys = [key for key in dict.fromkeys((*first, *second)) if first.get(key) != second.get(key)]
    patched = any(key[0] == PATCH for key in keys)
    carried = _CARRIERS if patched else (BUILD,) if (_DRIVER,) in keys else ()
    return [key for key in keys if key[0] not in carried]


def _only_difference(first: Mapping[Key, str], second: Mapping[Key, str]) -> Key | None:
    keys = differing(first, second)
    return keys[0] if len(keys) == 1 else None


def contents_of(plan: Plan, arm: Arm) -> dict[Key, str]:
    """What an arm puts in place, key by key; values as text, so that any two can be compared."""
    reverse = plan.guest is not None and plan.guest.varied(arm.guest).reverse
    found: dict[Key, str] = {(PATCH, identity(patch)): _way(patch, reverse) for patch in arm.patches}
    specs: list[ModuleSpec | BuildSpec] = [*arm.loads, *([arm.build] if arm.build is not None else [])]
    if specs:
        without_parameters = {"parameters", "depends", "timeout_s"}
        carriers = [spec.model_dump(mode="json", exclude=without_parameters) for spec in specs]
        found[(BUILD,)] = _text(carriers[0] if len(carriers) == 1 else carriers)
        for spec in specs[:-1]:
            found.update(_leaves(("parameter", _module_name(spec)), spec.parameters))
        found.update(_leaves(("parameter",), specs[-1].parameters))
    driver = arm.verify.driver or next((_module_name(spec) for spec in reversed(specs)), None)
    if driver is not None:
        found[(_DRIVER,)] = _text(driver)
    if arm.boot is not None:
        found[("kernel",)] = _text(" ".join(filter(None, [arm.boot.release, arm.boot.build_id])))
    if arm.firmware is not None:
        found[("firmware", arm.firmware.name)] = _text(arm.firmware.file)
    if arm.qdisc is not None:
        place = f"{arm.qdisc.interface or 'interface'} of {arm.qdisc.target}"
        found[("qdisc", place)] = _text(" ".join(arm.qdisc.discipline))
    if arm.load or arm.unload:
        found[("commands",)] = _text([arm.load, arm.unload])
    for name, on in arm.on.items():
        found[("commands", f"on {name}")] = _text([on.load, on.unload])
    if (link := plan.link_of(arm)) is not None:
        found.update(_leaves((LINK,), link))
    if plan.guest is not None:
        inside = plan.guest.varied(arm.guest)
        without = {"parallel", "parameters", "reverse"}
        found.update(_leaves(("guest",), inside.model_dump(mode="json", exclude=without)))
        found.update(_leaves(("parameter",), inside.parameters))
        for key in ("source", "module_file"):
            if getattr(inside, key) is not None:
                found[(BUILD,)] = found.pop(("guest", key))
    return found


def _module_name(spec: ModuleSpec | BuildSpec) -> str:
    """The module's name, as the kernel knows it."""
    path = spec.files[-1] if isinstance(spec, BuildSpec) else spec.file or spec.name or ""
    return PurePath(path).name.split(".")[0].replace("-", "_")


def _way(patch: Patch, reverse: bool) -> str:
    """Whether a patch of an arm is put in or taken out, and its file."""
    way = _REVERTED if reverse else _APPLIED
    if patch.file is not None and patch.file.endswith(SCRIPT):
        way = _way_of_script(patch.file)
    return way + (patch.file or "")


@lru_cache(maxsize=256)
def _way_of_script(name: str) -> str:
    """Which way an edit script goes. Of those outside txop only the file shows it, and an archive may lie elsewhere."""
    if not name.startswith(SHIPPED):
        return _EDITED
    try:
        script = read_script(named_file(Path(), name))
    except (OSError, ValueError):
        return _EDITED
    return _REVERTED if script.change == "reverts" else _APPLIED


def _leaves(path: Key, value: Any) -> Iterator[tuple[Key, str]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _leaves((*path, str(key)), inner)
    elif value is not None:
        yield path, _text(value)


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)


def identity(patch: Patch) -> str:
    """What distinguishes a patch from the others of a plan: its number, or else its file, link or description."""
    if patch.number is not None:
        return str(patch.number)
    return patch.file or patch.link or patch.description


def in_words(key: Key, value: str | None, before: str | None) -> str:
    """A change from ``before`` (in the baseline) to ``value``, in words."""
    if key[0] == PATCH:
        return _patch_label(key[1], value, before)
    if key[0] == "commands":
        return f"other commands {key[1]}" if len(key) > 1 else "other commands that load it"
    if key[0] == BUILD:
        return "another build of the driver"
    name = ".".join(key[1:] if key[0] in ("parameter", "guest", LINK) else key)
    return f"{name} {_value(value)} instead of {_value(before)}"


def _patch_label(identity: str, value: str | None, before: str | None) -> str:
    name = f"patch {_short(identity)}" if identity else "the patch"
    given = value or before or ""
    if value is not None and before is not None:
        return f"{name} as {_file(value)} instead of {_file(before)}"
    if given.startswith(_EDITED):
        return f"{'' if value is not None else 'without '}edit {_file(given)} ({name})"
    there = given.startswith(_APPLIED) == (value is not None)
    return name if there else f"without {name}"


def _file(value: str) -> str:
    return _short(PurePath(value[1:]).stem) or "a note"


def _value(text: str | None) -> str:
    if text is None:
        return "not set"
    value = json.loads(text)
    return _short(value if isinstance(value, str) else text)


def _short(text: str) -> str:
    shown = " ".join(text.split())
    return shown if len(shown) <= _LONGEST else shown[: _LONGEST - 3] + "..."

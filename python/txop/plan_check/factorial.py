"""All combinations of what two arms differ in: which arms of a plan are they, and a plan that has them all.

Two arms differ in factors: patches, module parameters, keys of a guest or of an emulated link. A corner is a set of
these factors: in its arm they are as in the one arm, and the others as in the other.
"""

from __future__ import annotations

import itertools
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from pydantic import ValidationError

from txop.core.errors import UserError
from txop.core.nearest import did_you_mean
from txop.plan.arm import Arm, Patch
from txop.plan.model import MAX_ARMS, Plan
from txop.plan_check.changes import (
    BUILD,
    GUEST,
    LINK,
    PARAMETER,
    PATCH,
    Key,
    contents_of,
    differing,
    identity,
    in_words,
)
from txop.present.format import plural

MAX_FACTORS = 6
"""Combinations of these fill a plan: :data:`txop.plan.model.MAX_ARMS`."""
_BUILT_FROM = ("source", "module_file", "make", "switches")
_MAX_NAME = 40
_SHORT = 24
"""Characters of a patch's description that names a factor."""

Corner = frozenset[int]
"""Numbers of the factors that are as in the arm that is explained."""


@dataclass(frozen=True)
class Factor:
    """One thing in which two arms differ."""

    key: Key
    name: str
    """Short, of letters that the name of an arm may have."""
    words: str
    """What the arm has of it: ``patch 7``, ``ht_agg 1 instead of 0``, or a short description of the patch."""


@dataclass(frozen=True)
class Factorial:
    """Two arms, and the arms between them."""

    arm: str
    """The arm that is explained."""
    against: str
    """The arm that it is explained against."""
    factors: tuple[Factor, ...]
    arms: Mapping[Corner, str]
    """Names of the arms by their corner, as far as the plan has them."""

    @property
    def missing(self) -> list[Corner]:
        """Corners of which the plan has no arm."""
        return [corner for corner in corners(len(self.factors)) if corner not in self.arms]


def corners(factors: int) -> Iterator[Corner]:
    """Every set of factors, the smallest first."""
    for size in range(factors + 1):
        yield from map(frozenset, itertools.combinations(range(factors), size))


def factorial(plan: Plan, arm: str, against: str) -> Factorial:
    """What two arms of a plan differ in, and which of its arms lie between. Raises :class:`UserError`."""
    contents = {each.name: contents_of(plan, each) for each in plan.arm}
    for name in (arm, against):
        if name not in contents:
            raise UserError(f"there is no arm {name}", what_to_do=did_you_mean(name, list(contents)))
    first, second = contents[against], contents[arm]
    keys = differing(first, second)
    described = {
        identity(patch): patch.description
        for name in (against, arm)
        for patch in plan.find_arm(name).patches
        if patch.number is None and 0 < len(patch.description) <= _SHORT
    }
    names = _short_names(keys, described)
    words = (described.get(key[1]) if key[0] == PATCH else None for key in keys)
    found = tuple(
        Factor(key, name, shown or in_words(key, second.get(key), first.get(key)))
        for key, name, shown in zip(keys, names, words, strict=True)
    )
    if len(found) > MAX_FACTORS:
        raise UserError(
            f"{arm} and {against} differ in {len(found)} things: {', '.join(each.name for each in found)}",
            what_to_do=f"take arms that differ in {MAX_FACTORS} at most, or put patches together into one file",
        )
    patched = any(key[0] == PATCH for key in keys)

    def alike(wanted: dict[Key, str], mine: dict[Key, str]) -> bool:
        # what carries patches that are declared is another file in each combination
        return not [key for key in differing(wanted, mine) if not (patched and key[0] in (BUILD, LINK))]

    arms = {}
    for corner in corners(len(found)):
        wanted = _at(first, second, [found[number].key for number in corner])
        same = next((each for each, mine in contents.items() if alike(wanted, mine)), None)
        if same is not None:
            arms[corner] = same
    arms[frozenset()], arms[frozenset(range(len(found)))] = against, arm
    return Factorial(arm, against, found, arms)


def largest_factorial(plan: Plan) -> Factorial | None:
    """The two arms with most factors of which a plan has all arms between them; ``None``: there are none.

    Of pairs with as many, the one with arms that stand first.
    """
    contents = {each.name: contents_of(plan, each) for each in plan.arm}
    pairs = [
        (-count, arm, against)
        for against, arm in itertools.combinations(contents, 2)
        if 1 < (count := len(differing(contents[against], contents[arm]))) <= MAX_FACTORS and 2**count <= len(contents)
    ]
    for _, arm, against in sorted(pairs, key=lambda pair: pair[0]):
        found = factorial(plan, arm, against)
        if not found.missing:
            return found
    return None


def _at(first: Mapping[Key, str], second: Mapping[Key, str], keys: Sequence[Key]) -> dict[Key, str]:
    made = dict(first)
    for key in keys:
        made.pop(key, None)
        if key in second:
            made[key] = second[key]
    return made


def _short_names(keys: Sequence[Key], described: Mapping[str, str]) -> list[str]:
    names: list[str] = []
    for key in keys:
        words = described.get(key[1], PurePath(key[1]).stem) if key[0] == PATCH else key[-1]
        name = re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-") or key[0]
        name = f"patch-{name}" if key[0] == PATCH and name.isdigit() else name
        names.append(name if name not in names else f"{name}-{len(names) + 1}")
    return names


def factorial_plan(plan: Plan, arm: str, against: str) -> Plan:
    """A plan with every arm between two, and its baseline. Raises :class:`UserError`: they cannot be combined."""
    found = factorial(plan, arm, against)
    if len(found.factors) < 2:
        raise UserError(
            f"{arm} and {against} differ in {plural(len(found.factors), 'thing')}",
            what_to_do="`txop compare` says what one change does; causes take two to six",
        )
    used, made = {each.name for each in plan.arm}, []
    for corner in corners(len(found.factors)):
        if corner in found.arms:
            made.append(plan.find_arm(found.arms[corner]))
            continue
        new = _combined(plan, found, corner)
        name, number = new.name, 2
        while name in used:
            name, number = f"{new.name[: _MAX_NAME - 3].rstrip('-_')}-{number}", number + 1
        used.add(name)
        made.append(new.model_copy(update={"name": name}))
    if plan.baseline not in [each.name for each in made]:
        made.insert(0, plan.find_arm(plan.baseline))
    if len(made) > MAX_ARMS:
        raise UserError(
            f"the combinations and the baseline {plan.baseline} are {len(made)} arms, and a plan has {MAX_ARMS}",
            what_to_do=f"take arms that differ in {MAX_FACTORS - 1} things, or the baseline as the one to compare with",
        )
    design = plan.design.model_copy(update={"baseline": plan.baseline})
    title = f"Causes of {arm} against {against}: {plan.title}"
    return plan.model_copy(update={"arm": made, "design": design, "title": title[:9_000]})


def held_plan(plan: Plan, arm: str, holds: Mapping[str, str]) -> tuple[Plan, str]:
    """A plan with an arm more, and its name: ``arm`` with what sets its mechanisms to the baseline's values.

    Args:
        plan: The plan.
        arm: The arm with these mechanisms.
        holds: By the mechanism's name: an edit script or patch, or ``KEY=VALUE`` of ``[arm.guest]``.

    Raises:
        UserError: One of them is not such a thing.
    """
    if arm not in [each.name for each in plan.arm]:
        raise UserError(f"there is no arm {arm}", what_to_do=did_you_mean(arm, [each.name for each in plan.arm]))
    raw = plan.find_arm(arm).model_dump(mode="json", exclude_unset=True)
    patches, guest = list(raw.get("patches", [])), dict(raw.get("guest") or {})
    for name, how in holds.items():
        key, equals, value = how.partition("=")
        if equals and not how.startswith("txop:"):
            try:
                parsed = tomllib.loads(f"value = {value}")["value"]
            except tomllib.TOMLDecodeError:
                parsed = value
            _put(guest, key.split("."), parsed)
        else:
            patches.append({"description": name, "file": how})
    name = f"{arm[: _MAX_NAME - 5].rstrip('-_')}-held"
    made = _arm(
        {**raw, "name": name, "title": f"{arm} with {', '.join(holds)} held", "patches": patches, "guest": guest}
    )
    return plan.model_copy(update={"arm": [*plan.arm, made]}), name


def _combined(plan: Plan, found: Factorial, corner: Corner) -> Arm:
    one, other = plan.find_arm(found.arm), plan.find_arm(found.against)
    names = [found.factors[number].name for number in sorted(corner)]
    ends = contents_of(plan, other), contents_of(plan, one)
    carried = [key for end in ends for key in end if key[0] in (BUILD, LINK) and ends[0].get(key) != ends[1].get(key)]
    if carried and any(factor.key[0] == PATCH for factor in found.factors):
        raise UserError(
            "the patches are declared, and the module files or links that carry them cannot be combined",
            what_to_do="write the arms of the other combinations yourself",
        )
    raw = other.model_dump(mode="json", exclude_unset=True)
    theirs = one.model_dump(mode="json", exclude_unset=True)
    chosen = {found.factors[number].key for number in corner}
    chosen_patches = {key[1] for key in chosen if key[0] == PATCH}
    differing_patches = {factor.key[1] for factor in found.factors if factor.key[0] == PATCH}
    raw["patches"] = [
        patch.model_dump(mode="json", exclude_unset=True)
        for patch in _patches(one.patches, other.patches, differing_patches, chosen_patches)
    ]
    for key in chosen:
        if key[0] != PATCH:
            _carry(key, theirs, raw)
    label = _arm_name(found.against, names)
    title = f"{other.shown}: {', '.join(found.factors[number].words for number in sorted(corner))}"
    raw |= {"name": label, "title": title[:9_000]}
    for gone in ("description", "link", "published", "optional"):
        raw.pop(gone, None)
    made = _arm(raw)
    wanted = _at(contents_of(plan, other), contents_of(plan, one), list(chosen))
    if differing(wanted, contents_of(plan, made)):
        raise UserError(f"{found.arm} and {found.against} cannot be combined", where=f"with {', '.join(names)} only")
    return made


def _patches(one: Sequence[Patch], other: Sequence[Patch], differs: set[str], chosen: set[str]) -> list[Patch]:
    """Those of a corner, in the order of the one arm; what only the other has stays behind what is before it there."""
    order = [identity(patch) for patch in one]
    before = ""
    for patch in other:
        name = identity(patch)
        if name not in order:
            order.insert(order.index(before) + 1 if before in order else 0, name)
        before = name
    mine, theirs = ({identity(patch): patch for patch in each} for each in (one, other))
    found = [(mine if name in chosen or name not in differs else theirs).get(name) for name in order]
    return [patch for patch in found if patch is not None]


def _carry(key: Key, source: dict[str, Any], to: dict[str, Any]) -> None:
    """Put what one arm has of a factor into another."""
    places: list[tuple[str, Key]]
    if key[0] == BUILD:
        places = [("guest", (name,)) for name in _BUILT_FROM]
    elif key[0] == PARAMETER:
        places = [("guest", ("parameters", *key[1:]))]
    elif key[0] == GUEST:
        places = [("guest", key[1:])]
    elif key[0] == LINK:
        places = [("emulated", key[1:])]
    else:
        raise UserError(f"arms that differ in {' '.join(key)} cannot be combined", what_to_do="write the arms yourself")
    for table, path in places:
        inside: Any = source.get(table) or {}
        for name in path:
            inside = inside.get(name) if isinstance(inside, dict) else None
        mine = to.setdefault(table, {}) if to.get(table) is None else to[table]
        _put(mine, path, inside)


def _put(table: dict[str, Any], path: Sequence[str], value: Any) -> None:
    """Set a key of tables in each other; ``None`` takes it out."""
    *outer, last = path
    for name in outer:
        inner = table.get(name)
        if not isinstance(inner, dict):
            inner = table[name] = {}
        table = inner
    if value is None:
        table.pop(last, None)
    else:
        table[last] = value


def _arm_name(against: str, names: Sequence[str]) -> str:
    label = "-with-".join((against, "-".join(names)))
    if len(label) <= _MAX_NAME:
        return label
    short = "-".join(name[: max((_MAX_NAME - 8) // len(names) - 1, 3)].rstrip("-") for name in names)
    return f"{against[:6].rstrip('-_')}-{short}"[:_MAX_NAME].rstrip("-_")


def _arm(raw: dict[str, Any]) -> Arm:
    try:
        return Arm.model_validate(raw)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(each) for each in first["loc"])
        raise UserError(f"the combined arm is not valid: {place}: {first['msg']}") from None

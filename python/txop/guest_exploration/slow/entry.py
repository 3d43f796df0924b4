"""An input of the search, traffic and faults, as a file and as what is changed of it."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from random import Random

from txop.guest.shipped_faults import FaultScript
from txop.guest_exploration.mutation import Mutator
from txop.guest_exploration.reduction import reduction
from txop.guest_exploration.script import Script, read_script, written
from txop.guest_exploration.slow.load import USUAL, Load, altered, load_of, usual_again
from txop.guest_image.error import GuestError

_TRAFFIC = "traffic"
_LOADS_IN = 0.4
"""Part of the changes that are of the traffic."""


@dataclass(frozen=True)
class Input:
    """What the driver is given."""

    load: Load = USUAL
    faults: Script = ()

    @property
    def kinds(self) -> frozenset[str]:
        """What is not as usual, without numbers: of the traffic, and of its faults."""
        return frozenset(f"traffic {key}" for key in self.load.changes) | {fault.kind for fault in self.faults}

    def text(self, comment: str = "") -> str:
        """As TOML, below a comment. The same input has the same text."""
        rows = [f"# {row}".rstrip() for row in comment.splitlines()]
        if self.load.changes:
            rows += [f"[{_TRAFFIC}]", *(f"{key} = {json.dumps(value)}" for key, value in self.load.changes.items())]
        return "\n".join([*rows, written(self.faults)]).lstrip("\n")


def read_input(script: FaultScript) -> Input:
    """An input in a file: a fault script, which may have a table of traffic beside its faults. Raises
    :class:`GuestError`."""
    try:
        table = tomllib.loads(script.text).get(_TRAFFIC, {})
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        raise GuestError(f"{script.name} is not TOML: {str(error)[:200]}") from None
    if not isinstance(table, dict):
        raise GuestError(f"{script.name}: {_TRAFFIC} is not a table")
    try:
        load = load_of(table)
    except ValueError as error:
        raise GuestError(f"{script.name}, {_TRAFFIC}: {error}") from None
    return Input(load, read_script(script, beside=(_TRAFFIC,)))


@dataclass(frozen=True)
class InputMutator:
    """Makes new inputs."""

    faults: Mutator

    def mutate(self, parent: Input, others: Sequence[Input], random: Random) -> Input:
        """An input some changes away from ``parent``. ``others``: those that a fault may be taken from."""
        load = parent.load
        changed = False
        while random.random() < _LOADS_IN:
            load, changed = altered(load, random), True
        if changed and random.random() < 0.5:
            return replace(parent, load=load)
        return Input(load, self.faults.mutate(parent.faults, [other.faults for other in others], random))


Smaller = Generator[Input, bool, Input]
"""Yields an input to try and is sent whether it still is as slow; returns the smallest one that is."""


def smaller_inputs(slow: Input) -> Smaller:
    """The traffic becomes usual, key by key; then faults are left out, all of them at first, and become simpler."""
    for key in tuple(slow.load.changes):
        candidate = replace(slow, load=usual_again(slow.load, key))
        if candidate != Input() and (yield candidate):
            slow = candidate
    if not slow.faults:
        return slow
    if slow.load.changes:
        without = replace(slow, faults=())
        if (yield without):
            return without
    steps = reduction(slow.faults)
    try:
        faults = next(steps)
        while True:
            candidate = replace(slow, faults=faults)
            is_slow = yield candidate
            if is_slow:
                slow = candidate
            faults = steps.send(is_slow)
    except StopIteration:
        return slow

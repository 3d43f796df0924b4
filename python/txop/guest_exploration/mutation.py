"""Fault scripts changed at random, never into one that breaks the rules of scripts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

from txop.guest_exploration.script import (
    ACTIONS_INSIDE,
    ACTIONS_OF_TRANSFERS,
    LASTING,
    Fault,
    Script,
    completed,
)
from txop.plan.device_table import DEVICES

MOST_FAULTS = 4
"""How many faults a mutated script has at most."""
MOST_CHANGES = 4
"""Changes that make one script of another."""
LATEST_MS = 30_000
"""A trial watches for a minute at most, and is up within seconds."""
LONGEST_MS = 60_000
MOST_TRANSFERS = 3_000
"""How many transfers an endpoint has before the trial ends, as an order of magnitude."""
MOST_BYTES = 2_048


ENDPOINTS: Mapping[str, tuple[tuple[int, str], ...]] = {
    device.name: device.endpoints for device in DEVICES if device.endpoints
}  # fmt: skip
"""By virtual chip on USB: its endpoints, each with a direction."""


@dataclass(frozen=True)
class Targets:
    """What faults can be about."""

    endpoints: tuple[tuple[int, str], ...] = DEVICES[0].endpoints
    registers: tuple[int, ...] = ()
    """Those that the driver uses."""
    latest_ms: int = LATEST_MS
    """A fault begins by then."""

    @property
    def actions(self) -> tuple[str, ...]:
        """What can happen: without endpoints (on SDIO and PCI) only what is inside the device."""
        return (*ACTIONS_OF_TRANSFERS, *ACTIONS_INSIDE) if self.endpoints else ACTIONS_INSIDE


@dataclass(frozen=True)
class Mutator:
    """Makes new scripts."""

    targets: Targets

    def mutate(self, script: Script, others: Sequence[Script], random: Random) -> Script:
        """A script some changes away from ``script``. ``others``: scripts that a fault may be taken from."""
        changes = 1
        while changes < MOST_CHANGES and random.random() < 0.5:
            changes += 1
        for _ in range(changes):
            script = self._change(script, others, random)
        return script

    def _change(self, script: Script, others: Sequence[Script], random: Random) -> Script:
        ways: list[Callable[[], Script]] = []
        ways += [lambda: self._inserted(script, self._fault(random), random)] * 2
        donors = [other for other in others if other]
        if donors:
            ways += [lambda: self._inserted(script, random.choice(random.choice(donors)), random)] * 2
        if len(script) > 1:
            ways += [lambda: self._without(script, random), lambda: self._swapped(script, random)]
        if script:
            ways += [lambda: self._altered(script, random)] * 4
        return random.choice(ways)()

    def _inserted(self, script: Script, fault: Fault, random: Random) -> Script:
        while len(script) >= MOST_FAULTS:
            script = self._without(script, random)
        at = random.randint(0, len(script))
        return (*script[:at], fault, *script[at:])

    def _without(self, script: Script, random: Random) -> Script:
        at = random.randrange(len(script))
        return (*script[:at], *script[at + 1 :])

    def _swapped(self, script: Script, random: Random) -> Script:
        one, other = random.sample(range(len(script)), 2)
        rows = list(script)
        rows[one], rows[other] = rows[other], rows[one]
        return tuple(rows)

    def _altered(self, script: Script, random: Random) -> Script:
        at = random.randrange(len(script))
        fault = script[at]
        ways = [self._otherwise, self._at_another_time, self._with_other_values]
        if self.targets.endpoints:
            ways.insert(0, self._elsewhere)
        if fault.endpoint is not None:
            ways.append(self._counted_otherwise)
        altered = completed(random.choice(ways)(fault, random))
        return (*script[:at], altered, *script[at + 1 :])

    def _fault(self, random: Random) -> Fault:
        """A fault of any kind."""
        fault = Fault(random.choice(self.targets.actions))
        if fault.action in ACTIONS_OF_TRANSFERS:
            fault = self._counted_otherwise(self._elsewhere(completed(fault), random), random)
        elif self.targets.endpoints and random.random() < 0.3:
            fault = self._counted_otherwise(self._elsewhere(fault, random), random)
        else:
            fault = self._at_another_time(fault, random)
        return completed(self._with_other_values(completed(fault), random))

    def _elsewhere(self, fault: Fault, random: Random) -> Fault:
        endpoint, direction = random.choice(self.targets.endpoints)
        register = None
        if endpoint == 0 and self.targets.registers and random.random() < 0.6:
            register = random.choice(self.targets.registers)
        return replace(fault, endpoint=endpoint, direction=direction, register=register)

    def _otherwise(self, fault: Fault, random: Random) -> Fault:
        return replace(fault, action=random.choice(self.targets.actions))

    def _at_another_time(self, fault: Fault, random: Random) -> Fault:
        latest_ms = self.targets.latest_ms
        from_ms = random.choice((None, _magnitude(latest_ms, random), _nearby(fault.from_ms, latest_ms, random)))
        until_ms = None if random.random() < 0.7 else (from_ms or 0) + _magnitude(latest_ms, random)
        return replace(fault, from_ms=from_ms, until_ms=until_ms)

    def _counted_otherwise(self, fault: Fault, random: Random) -> Fault:
        nth = random.choice((None, _magnitude(MOST_TRANSFERS, random), _nearby(fault.nth, MOST_TRANSFERS, random)))
        times = random.choice((None, 1, 2, _magnitude(100, random)))
        return replace(fault, nth=None if nth is None else max(1, nth), times=times)

    def _with_other_values(self, fault: Fault, random: Random) -> Fault:
        if fault.action in LASTING and random.random() < 0.5:
            return replace(fault, for_ms=random.choice((None, _magnitude(LONGEST_MS, random))))
        if fault.action == "short":
            return replace(fault, length=random.choice((0, 1, 4, 24, 60, _magnitude(MOST_BYTES, random))))
        if fault.action == "corrupt":
            mask = random.choice((1 << random.randrange(32), random.getrandbits(32), 0xFFFFFFFF))
            return random.choice(
                (
                    replace(fault, and_=mask ^ 0xFFFFFFFF, or_=None, xor=None),
                    replace(fault, and_=None, or_=mask, xor=None),
                    replace(fault, and_=None, or_=None, xor=mask & 0xFF or 0xFF),
                )
            )
        if fault.action in ("loss", "late_block_ack"):
            return replace(fault, probability=round(random.random(), 2))
        if fault.action == "noise":
            return replace(fault, noise_dbm=-random.randint(20, 95))
        return fault


def _magnitude(most: int, random: Random) -> int:
    """A number up to ``most``; each order of magnitude is as likely."""
    return min(most, int(most ** random.random()))


def _nearby(value: int | None, most: int, random: Random) -> int:
    """A number about as large as another one, and never a large one: what a file says may be any number."""
    return min(most, int(min(value or 1, most) * random.uniform(0.5, 2.0)))

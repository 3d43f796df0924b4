"""Valid traffic: what an input of the search has beside its faults."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from random import Random

Value = str | int | float

SECONDS = 3
"""How long it lasts."""
ECHO_MS = 20
"""Between two echo requests."""
LONGEST_S = 12
"""It is ended after that long."""


@dataclass(frozen=True)
class Load:
    """Traffic between the station and the network behind its access point, with iperf3; the defaults are the usual
    traffic that costs are compared with. Beside it goes an echo request each :data:`ECHO_MS`."""

    protocol: str = "udp"
    """``udp`` or ``tcp``."""
    direction: str = "both"
    """``up``: from the station; ``down``; ``both`` at once."""
    length_bytes: int = 1200
    """Length of a datagram, or of one write to a TCP socket."""
    rate_mbit_s: float = 4.0
    """Each way, all streams together; TCP may stay below."""
    streams: int = 1

    @property
    def changes(self) -> dict[str, Value]:
        """What is not as usual."""
        return {field.name: value for field in fields(self) if (value := getattr(self, field.name)) != field.default}

    @property
    def argv(self) -> list[str]:
        """The client's arguments, without the server's address."""
        ways = {"up": [], "down": ["-R"], "both": ["--bidir"]}
        each = self.rate_mbit_s * 1e6 / self.streams
        words = ["-t", str(SECONDS), "-l", str(self.length_bytes), "-b", f"{each:.0f}", "-P", str(self.streams)]
        return [*words, *(["-u"] if self.protocol == "udp" else []), *ways[self.direction]]


USUAL = Load()
_CHOICES: dict[str, tuple[str, ...]] = {"protocol": ("udp", "tcp"), "direction": ("up", "down", "both")}
_RANGES: dict[str, tuple[float, float]] = {
    "length_bytes": (16, 1470),
    "rate_mbit_s": (0.5, 40.0),
    "streams": (1, 8),
}
"""Lowest and highest: below what a datagram of the smallest MTU on the way takes, and what the air can have."""


def usual_again(load: Load, key: str) -> Load:
    """The same with the usual value of a key."""
    return _with(load, key, getattr(USUAL, key))


def _with(load: Load, key: str, value: Value) -> Load:
    changes: dict[str, Value] = {key: value}
    return replace(load, **changes)  # type: ignore[arg-type]


def given(key: str, value: object) -> Value:
    """A value of a key as it is in a file. Raises :class:`ValueError` with what is wrong."""
    if key in _CHOICES:
        if value not in _CHOICES[key]:
            raise ValueError(f"{key} is not {' or '.join(_CHOICES[key])}")
        return str(value)
    if key not in _RANGES:
        raise ValueError(f"{key[:40]} is not known")
    low, high = _RANGES[key]
    whole = key != "rate_mbit_s"
    number = isinstance(value, int) if whole else isinstance(value, int | float)
    if not number or isinstance(value, bool) or not low <= float(str(value)) <= high:
        raise ValueError(f"{key} is not a {'whole ' if whole else ''}number from {low:g} to {high:g}")
    return int(str(value)) if whole else float(str(value))


def load_of(values: dict[str, object]) -> Load:
    """Traffic with some values. Raises :class:`ValueError`."""
    load = USUAL
    for key, value in values.items():
        load = _with(load, key, given(key, value))
    return load


def altered(load: Load, random: Random) -> Load:
    """Another value of one key, each order of magnitude as likely; now and then the usual one."""
    key = random.choice([*_CHOICES, *_RANGES])
    if key in load.changes and random.random() < 0.25:
        return usual_again(load, key)
    if key in _CHOICES:
        return _with(load, key, random.choice(_CHOICES[key]))
    low, high = _RANGES[key]
    value = low * (high / low) ** random.random()
    plain: Callable[[float], Value] = (lambda number: round(number, 1)) if key == "rate_mbit_s" else round
    return _with(load, key, plain(value))

"""A script made smaller while it still shows the same."""

from __future__ import annotations

from collections.abc import Generator, Iterator

from txop.guest_exploration.script import Fault, Script, changed

Reduction = Generator[Script, bool, Script]
"""Yields a script to try and is sent whether it still shows the same; returns the smallest one that does."""

_NEEDLESS = ("until_ms", "for_ms", "from_ms", "nth", "times", "direction", "register")
"""Keys, in this order, that may be left out."""
_LARGE = ("from_ms", "nth", "times", "for_ms", "length")
"""Keys with a value that may become smaller."""
_ROUND = {"xor": 0xFF, "or_": 0xFFFFFFFF, "and_": 0, "probability": 1.0}
"""The plainest value of a key."""


def reduction(script: Script) -> Reduction:
    """Faults are left out one by one, until none can be; then keys, and values become smaller or plainer."""
    at = len(script) - 1
    while at >= 0 and len(script) > 1:
        smaller = (*script[:at], *script[at + 1 :])
        if (yield smaller):
            script = smaller
            at = len(script)
        at -= 1
    for place in range(len(script)):
        tried: set[str] = set()
        while (simpler := next(_simpler(script[place], tried), None)) is not None:
            what, fault = simpler
            tried.add(what)
            smaller = (*script[:place], fault, *script[place + 1 :])
            if (yield smaller):
                script = smaller
    return script


def _simpler(fault: Fault, tried: set[str]) -> Iterator[tuple[str, Fault]]:
    """Simpler forms of a fault that were not tried, the simplest first, and what each is called."""
    for key in _NEEDLESS:
        if getattr(fault, key) is not None:
            yield from _other(f"no {key}", changed(fault, key, None), fault, tried)
    for key, plain in _ROUND.items():
        if getattr(fault, key) is not None:
            yield from _other(f"plain {key}", changed(fault, key, plain), fault, tried)
    for key in _LARGE:
        value = getattr(fault, key)
        if value is not None and value > 1:
            small = 1 if key in ("nth", "times") else 0
            yield from _other(f"least {key}", changed(fault, key, small), fault, tried)
            yield from _other(f"less {key} than {value}", changed(fault, key, value // 2), fault, tried)


def _other(what: str, simpler: Fault, fault: Fault, tried: set[str]) -> Iterator[tuple[str, Fault]]:
    if what not in tried and simpler != fault:
        yield what, simpler

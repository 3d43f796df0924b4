"""A fault script as values, so that it can be changed: read from TOML, written as TOML.

The keys and what goes together are those of the program that carries scripts out (crates/vusb, fault/script.rs);
:func:`completed` keeps a fault within its rules, and a property test holds both against each other.
"""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Collection
from dataclasses import dataclass, fields, replace
from typing import Any

from txop.guest.shipped_faults import FaultScript
from txop.guest_image.error import GuestError

MOST = 2**63 - 1
"""Largest integer of TOML."""
ACTIONS_OF_TRANSFERS = ("stall", "nak", "short", "corrupt")
ACTIONS_INSIDE = ("disconnect", "firmware_hang", "lost_c2h", "loss", "noise", "late_block_ack")
"""They need no endpoint: without one they happen at ``from_ms``."""
LASTING = frozenset({"nak", "disconnect", "lost_c2h", "loss", "noise", "late_block_ack"})
"""Actions to which ``for_ms`` means something."""
_ENDPOINTS = 16
_OTHER_DEVICES = frozenset({"command", "function", "address", "station", "signal_dbm"})
"""Keys of SDIO cards and of access points."""


@dataclass(frozen=True)
class Fault:
    """One thing that goes wrong; ``None``: the key is not there."""

    action: str
    endpoint: int | None = None
    direction: str | None = None
    register: int | None = None
    nth: int | None = None
    times: int | None = None
    from_ms: int | None = None
    until_ms: int | None = None
    for_ms: int | None = None
    length: int | None = None
    and_: int | None = None
    or_: int | None = None
    xor: int | None = None
    probability: float | None = None
    noise_dbm: int | None = None

    @property
    def kind(self) -> str:
        """What it does where, without numbers of registers: ``stall endpoint 0 in, a register``."""
        if self.endpoint is None:
            return self.action
        words = [self.action, "endpoint", str(self.endpoint)]
        if self.direction is not None:
            words.append(self.direction)
        return " ".join(words) + (", a register" if self.register is not None else "")


Script = tuple[Fault, ...]
_KEYS = {field.name.rstrip("_"): field.name for field in fields(Fault)}
_HEX = frozenset({"register", "and", "or", "xor"})
_RANGES = {
    "endpoint": (0, _ENDPOINTS - 1),
    "register": (0, 0xFFFF),
    "nth": (1, MOST),
    "times": (0, MOST),
    "from_ms": (0, MOST),
    "until_ms": (0, MOST),
    "for_ms": (0, MOST),
    "length": (0, MOST),
    "and": (0, 0xFFFFFFFF),
    "or": (0, 0xFFFFFFFF),
    "xor": (0, 0xFF),
    "noise_dbm": (-128, 0),
}
_NEEDED_BY = {
    "length": ("short",),
    "and": ("corrupt",),
    "or": ("corrupt",),
    "xor": ("corrupt",),
    "probability": ("loss", "late_block_ack"),
    "noise_dbm": ("noise",),
    "for_ms": tuple(LASTING),
}
"""By key: the actions that it means something to."""


def read_script(script: FaultScript, beside: Collection[str] = ()) -> Script:
    """The faults of a script. ``beside``: tables that it may have beside them, which are not looked at.

    Raises :class:`GuestError` for one that is none, or is about another device.
    """
    try:
        document = tomllib.loads(script.text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        raise GuestError(f"{script.name} is not TOML: {str(error)[:200]}") from None
    rows = document.get("fault", [])
    if set(document) - {"fault", *beside} or not isinstance(rows, list):
        raise GuestError(f"{script.name} has more than faults of a device, and nothing else is explored")
    return tuple(_fault(row, f"{script.name}, fault {number}") for number, row in enumerate(rows, 1))


def _fault(row: Any, where: str) -> Fault:
    if not isinstance(row, dict) or not isinstance(row.get("action"), str):
        raise GuestError(f"{where} has no action")
    if odd := sorted(set(row) - set(_KEYS) - {"name"}):
        about = "is of an SDIO card or an access point" if _OTHER_DEVICES & set(odd) else "is not known"
        raise GuestError(f"{where}: {odd[0]} {about}: it is not explored")
    for key, (low, high) in _RANGES.items():
        value = row.get(key)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high):
            raise GuestError(f"{where}: {key} is not a number from {low} to {high}")
    chance = row.get("probability")
    if chance is not None and not (isinstance(chance, int | float) and 0 <= chance <= 1):
        raise GuestError(f"{where}: probability is not from 0 to 1")
    for key in ("name", "direction"):
        if not isinstance(row.get(key, ""), str):
            raise GuestError(f"{where}: {key} is no text")
    return completed(Fault(**{_KEYS[key]: value for key, value in row.items() if key != "name"}))


def completed(fault: Fault) -> Fault:
    """A fault that keeps the rules: what its action needs is there, what its action has no use for is not."""
    if fault.action not in (*ACTIONS_OF_TRANSFERS, *ACTIONS_INSIDE):
        raise GuestError(f"the action {fault.action[:40]} is not explored")
    changes: dict[str, Any] = {_KEYS[key]: None for key, actions in _NEEDED_BY.items() if fault.action not in actions}
    if fault.endpoint is None and fault.action in ACTIONS_OF_TRANSFERS:
        changes["endpoint"] = 0
    endpoint = changes.get("endpoint", fault.endpoint)
    if endpoint is None:
        changes |= dict.fromkeys(("direction", "register", "nth", "times"))
    elif endpoint != 0:
        changes["register"] = None
    if fault.direction not in (None, "in", "out"):
        changes["direction"] = None
    if fault.action == "short" and fault.length is None:
        changes["length"] = 0
    if fault.action == "corrupt" and fault.and_ is None and fault.or_ is None and fault.xor is None:
        changes["xor"] = 0xFF
    if fault.action in ("loss", "late_block_ack") and fault.probability is None:
        changes["probability"] = 0.5
    if fault.action == "noise" and fault.noise_dbm is None:
        changes["noise_dbm"] = -55
    if fault.until_ms is not None and fault.until_ms < (fault.from_ms or 0):
        changes["until_ms"] = None
    return replace(fault, **changes)


def changed(fault: Fault, key: str, value: float | None) -> Fault:
    """The fault with another value, within the rules."""
    changes: dict[str, Any] = {key: value}
    return completed(replace(fault, **changes))


def written(script: Script, comment: str = "") -> str:
    """A script as TOML, below a comment. The same faults have the same text."""
    rows = [f"# {row}".rstrip() for row in comment.splitlines()]
    for number, fault in enumerate(script, 1):
        rows.append("[[fault]]")
        rows.append(f"name = {_value('name', f'{number}: {fault.kind}')}")
        rows += [
            f"{key} = {_value(key, value)}"
            for key, name in _KEYS.items()
            if (value := getattr(fault, name)) is not None
        ]
    return "\n".join(rows) + "\n"


def _value(key: str, value: object) -> str:
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=True)
    if key in _HEX and isinstance(value, int):
        return hex(value)
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else "0.0"
    return str(value)

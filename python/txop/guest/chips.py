"""The program that is the virtual chips, and what a guest runs to have one with its driver."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from txop.guest.elf import NotElf, read_dynamic
from txop.guest.error import GuestError, MissingForGuest

PROGRAM = "txop-vusb"
IN_GUEST = f"/usr/sbin/{PROGRAM}"
VARIABLE = "TXOP_VUSB"
"""Environment variable: a program in place of the one that txop has."""

DEVICES = ("rtl8188cus", "rtl8723au")
SECURITIES = ("open", "wpa2", "wpa3")

NEEDS_BUILD = {("rtl8188cus", "rtl8xxxu")}
"""Chips that a driver only knows when it is built anew; see :data:`txop.guest.driver.SWITCHES`."""

DRIVERS = {"rtl8188cus": "rtl8192cu", "rtl8723au": "rtl8xxxu"}
"""By chip: the driver in a stock Debian that knows it."""


@dataclass(frozen=True)
class Chip:
    """A virtual chip with its driver, associated to an access point. See ``lab.sh`` for what is made of it."""

    device: str = "rtl8188cus"
    driver: str = "rtl8192cu"
    parameters: tuple[str, ...] = ()
    """Of the driver, as ``NAME=VALUE``."""
    security: str = "wpa2"
    channel: int = 6
    options: tuple[str, ...] = ()
    """More options of the program."""
    plug_only: bool = False
    """Stop when the driver has made its interface."""
    bus_first: bool = False
    """The chip and the virtual USB host run before every other process (SCHED_FIFO)."""

    def __post_init__(self) -> None:
        """Raise :class:`GuestError` for what cannot be."""
        if self.device not in DEVICES:
            raise GuestError(f"there is no virtual chip {self.device!r}: {', '.join(DEVICES)}")
        if self.security not in SECURITIES:
            raise GuestError(f"{self.security!r} is no security: {', '.join(SECURITIES)}")
        if not 1 <= self.channel <= 13:
            raise GuestError(f"{self.channel} is no channel of the 2.4 GHz band: 1 to 13")
        for words in (self.parameters, self.options):
            if odd := [word for word in words if not word or word != shlex.quote(word)]:
                raise GuestError(f"{odd[0]!r} has a character that cannot be passed on")

    def variables(self) -> Mapping[str, str]:
        """What ``txop-lab`` reads."""
        return {
            "LAB_DEVICE": self.device,
            "LAB_DRIVER": self.driver,
            "LAB_PARAMETERS": " ".join(self.parameters),
            "LAB_SECURITY": self.security,
            "LAB_CHANNEL": str(self.channel),
            "LAB_OPTIONS": " ".join(self.options),
            "LAB_ONLY": "plug" if self.plug_only else "",
            "LAB_BUS_FIRST": "yes" if self.bus_first else "",
        }


def find_chips() -> Path:
    """The program that is the virtual chips, for the guest.

    The one that :data:`VARIABLE` names, else the one that `make setup` puts beside this module, else one in PATH.

    Raises:
        MissingForGuest: There is none.
        GuestError: It needs libraries, which the guest may not have.
    """
    named = os.environ.get(VARIABLE)
    beside = Path(__file__).parent / "bin" / PROGRAM
    path = Path(named) if named else beside if beside.is_file() else Path(shutil.which(PROGRAM) or "")
    if not path.is_file():
        raise MissingForGuest(
            f"{named} is no file" if named else f"there is no {PROGRAM}, which is the virtual chips",
            what_to_do=f"in a source tree: make setup (on another processor than x86-64, with a Rust toolchain from "
            f"rustup); or name the program, as built on an x86-64 machine, in {VARIABLE}",
        )
    try:
        needed = read_dynamic(path.read_bytes()).needed
    except (OSError, NotElf):
        return path  # a script, in tests
    if needed:
        raise GuestError(f"{path} needs {needed[0]}: it has to be linked statically", what_to_do="make setup")
    return path

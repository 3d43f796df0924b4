"""The SDIO card in a guest of a plan, and the bus that it is on.

Ranges are those of the program (``crates/vusb/src/options.rs``, ``crates/vusb/src/chips/ar6003/assumptions.rs``).
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from txop.plan.devices import WITH_BUNDLES
from txop.plan.strict import STRICT

OF_BUNDLES = ("bundle", "credits")
"""Keys about the firmware of cards that exchange several packets at once."""
OF_VIRTUAL_HOST = ("interrupts", "segments", "pio_bytes")
"""Keys about a host controller that decides on them; `ushc` does not."""


class SdioSpec(BaseModel):
    """The SDIO bus of a guest's card, and the card on it; see docs/virtual-sdio.md."""

    model_config = STRICT

    host: Literal["ushc", "virtual"] = "ushc"
    """The host controller: one on USB with the stock driver ``ushc``, or ``virtual_mmc_host``, a kernel module of
    txop's own (GPL-2.0) that is built for the guest's kernel."""
    interrupts: Literal["thread", "work", "poll"] = "thread"
    """Virtual host: the core's interrupt thread runs when the card interrupts, its work queue does, or the host has no
    SDIO interrupts and the core polls."""
    segments: Annotated[int, Field(ge=1, le=128)] = 16
    """Virtual host: segments of a scatter list at most; below 16 ath6kl copies into a buffer of its own."""
    pio_bytes: Annotated[int, Field(ge=4, le=65_536)] | None = None
    """Virtual host: an interrupt for this many bytes, which the processor then copies; default: DMA. Takes
    ``bus_time``."""
    bus_time: bool = False
    """Commands take the time that they need on the wires, at the clock and width that the driver has set."""
    lines: Literal[1, 4] = 4
    """Lines of the data bus that the card has; with 1 the driver keeps to one."""
    clock_mhz: Literal[25, 50] = 50
    """The fastest clock that the card takes (50: high speed)."""
    interrupt_us: Annotated[int, Field(ge=1, le=1_000_000)] = 500
    """While the card interrupts, the host controller says so again after this time."""
    bundle: Annotated[int, Field(ge=1, le=8)] = 8
    """Messages that the firmware lets the host fetch with one command at most. An assumption about an AR6003 or
    AR6004."""
    credits: Annotated[int, Field(ge=4, le=1_024)] = 20
    """Messages that the host may have on the card at once. An assumption about an AR6003 or AR6004."""

    def words(self, device: str) -> tuple[str, ...]:
        """As options of the program for that card."""
        ushc = self.host == "ushc"
        bundles = ("--assume", f"bundle={self.bundle}", "--assume", f"credits={self.credits}")
        return (
            *(("--bus-time",) if ushc and self.bus_time else ()),
            *("--card-lines", str(self.lines), "--card-mhz", str(self.clock_mhz)),
            *(("--interrupt-us", str(self.interrupt_us)) if ushc else ()),
            *(bundles if device in WITH_BUNDLES else ()),
        )

    def host_parameters(self) -> tuple[str, ...]:
        """Parameters of the module that is the virtual host."""
        if self.host != "virtual":
            return ()
        pio = () if self.pio_bytes is None else (f"pio_bytes={self.pio_bytes}",)
        return (f"interrupts={self.interrupts}", f"segments={self.segments}", f"bus_time={int(self.bus_time)}", *pio)

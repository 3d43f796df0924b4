"""Where a number comes from. Every figure txop shows carries one of these, and figures of different origins are never
compared with each other."""

from __future__ import annotations

from enum import StrEnum


class Origin(StrEnum):
    """What produced a figure."""

    HARDWARE = "hardware"
    """Real devices."""
    GUEST_EXACT = "guest-exact"
    """Real drivers on virtual chips, with instruction-counted time."""
    GUEST_FAST = "guest-fast"
    """Real drivers on virtual chips, in the host's time."""
    EMULATED = "emulated"
    """Real packets of the host's own network stack through a modelled link, in real time."""
    SIMULATED = "simulated"
    """A model in virtual time."""
    IMPORTED = "imported"
    """A measurement by others, taken from a document or a file."""


class Bench(StrEnum):
    """Where the virtual device of a guest's figure is. Figures of two benches are not comparable: the processor that is
    measured pays for one of them."""

    INSIDE = "inside"
    """A process of the guest, on the guest's own virtual USB host. Figures without a word about it are of this one."""
    OUTSIDE = "outside"
    """A device of the computer that the guest runs on."""


class Start(StrEnum):
    """Where the run of a guest begins. Figures of two starts are not comparable: what a driver does in its first
    seconds, and where its memory lies, is the same in all runs of one of them."""

    BOOT = "boot"
    """The guest of each run boots. Figures without a word about it are of this one."""
    ASSOCIATED = "associated"
    """A guest that was saved after the association is restored."""


NOT_RADIO = (
    "Not radio performance: these figures are what the code of driver and kernel costs on an emulated processor, over "
    "a modelled air."
)
"""Warning beside figures from guests."""

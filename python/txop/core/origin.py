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


NOT_RADIO = (
    "Not radio performance: these figures are what the code of driver and kernel costs on an emulated processor, over "
    "a modelled air. Each transfer and each interrupt passes the virtual USB host, where an interrupt is three "
    "switches between threads; on real hardware it costs far less."
)
"""Warning beside figures from guests."""

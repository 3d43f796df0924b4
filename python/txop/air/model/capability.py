"""Section 8: what is claimed and what is seen used. Mirrors ``capability`` of the analyzer."""

from __future__ import annotations

from txop.present.document import Model
from txop.present.sentence import Sentence


class CapabilityRow(Model):
    """One capability of one station."""

    capability: str
    """In the words of a Wi-Fi Alliance certificate."""
    claimed: str
    """`yes`: its frames say so; `no`: they say the contrary, or leave out the element that would say so;
    `not_available`: no frame with such a claim was captured, or no element can make it."""
    claimed_detail: str | None
    """What exactly is claimed, or why it is not available."""
    seen: int | None
    """Frames that used it; null when this capture cannot tell."""
    seen_detail: str | None
    """Numerator and denominator in words, or why the capture cannot tell."""
    note: Sentence | None
    """What a reader should notice: a claim not used although there was an occasion, or a use without a claim."""


class CapabilityAudit(Model):
    """Claims and use of one station."""

    address: str
    """MAC address."""
    role: str
    """`ap`, `station`, or what else sends beacons: `ibss`, `mesh`."""
    ssid: str | None
    """The SSID it sends or asked to join, made safe for display."""
    claimed_in: str | None
    """Where the claims come from: `beacon or probe response`, `association request`, `probe request`; null when no
    such frame was captured."""
    frames: int
    """Frames it sent that are not known to be damaged."""
    rows: list[CapabilityRow]
    """One per capability."""

"""What the sniffer heard of what must have been there. Mirrors ``report/hearing.rs``."""

from __future__ import annotations

from txop.present.document import Model
from txop.present.sentence import Figure, Sentence


class Hearing(Model):
    """Whether the silence of a capture is evidence of silence on the air."""

    silence_is_evidence: bool
    """The sniffer was listening, and nothing shows that it missed frames: what it did not hear was most likely not
    sent."""
    proof: Sentence | None
    """The beacons that show that it was listening; null when no access point was heard in nearly all of its raster."""
    doubts: list[Sentence]
    """What shows that frames are missing."""
    control_frames: int
    """Control frames with a good or unknown FCS."""
    responses: int
    """ACKs and Block Acks."""
    responses_without_frame: int
    """Those of `responses` whose frame is not in the capture."""
    beacons: list[BeaconRaster]
    """Beacons heard and due, per access point, most beacons first (64 at most)."""


class BeaconRaster(Model):
    """Beacons of one access point."""

    address: str
    """MAC address."""
    interval_tu: int | None
    """Beacon interval that it names, in units of 1,024 µs; null when it names none (100 is assumed then)."""
    heard: int
    """Beacons captured with a good or unknown FCS."""
    due: int
    """Beacons due from the first to the last one captured."""
    heard_share: float
    """`heard / due`, 1 at most."""


class Flood(Model):
    """Frames of one kind that came faster than any protocol has use for."""

    kind: str
    """`deauthentication`, `disassociation`, `authentication`, `association request`."""
    frames: int
    """Frames of the kind in the whole capture."""
    most_in_a_second: int
    """Most of them in one second."""
    first_us: float
    """First of them, µs since the first frame."""
    last_us: float
    """Last of them, µs since the first frame."""
    sender: str
    """The address in whose name most were sent."""
    receiver: str
    """The address most were sent to."""
    text: str
    """In words."""
    figures: list[Figure]
    """What the words rest on."""

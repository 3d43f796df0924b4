"""Section 5: how HE and EHT PPDUs share the channel. Mirrors ``report/multi_user.rs``."""

from __future__ import annotations

from txop.present.document import Model


class MultiUser(Model):
    """HE and EHT data frames of one transmitter to one receiver, by the format of their PPDU and their resource unit.

    Frames are MPDUs; a PPDU to several users is in the capture once for each user whose frames were received.
    """

    ta: str
    """Transmitter."""
    ra: str
    """Receiver."""
    frames: int
    """HE and EHT data frames, FCS good or unknown."""
    single_user: int
    """In PPDUs to a single user (HE SU, EHT MU with one user)."""
    extended_range: int
    """In extended-range PPDUs (HE ER SU)."""
    multi_user: int
    """In PPDUs to several users (HE MU; EHT OFDMA and MU-MIMO)."""
    trigger_based: int
    """In trigger-based PPDUs (uplink)."""
    format_unknown: int
    """The capture does not say which."""
    unit_known: int
    """Frames whose resource unit the capture tells: in MU and trigger-based PPDUs only those with its size; in all
    others the whole band."""
    certainly_ofdma: int
    """Of `unit_known`: certainly OFDMA, because the unit is smaller than the PPDU's width, or the U-SIG says so. Where
    the capture does not tell the width, only units smaller than the narrowest channel (242 tones) count."""
    certainly_ofdma_share: float | None
    """`certainly_ofdma / unit_known`."""
    resource_units: list[ResourceUnit]
    """Frames by size of their resource unit, where it is told; smallest first."""


class ResourceUnit(Model):
    """Frames in resource units of one size."""

    tones: int
    """Tones: 26 to 1992 in HE, to 3984 in EHT."""
    frames: int
    """Frames."""

"""Section 2: access points with their security. Mirrors ``report/access_point.rs``."""

from __future__ import annotations

from txop.air.model.station import Spread
from txop.present.document import Model


class AccessPoint(Model):
    """Something that sends beacons or probe responses, as its latest ones describe it."""

    bssid: str
    """BSSID."""
    kind: str | None
    """`ap`, or what else sends beacons: `ibss`, `mesh`; null when the frame that says so was cut."""
    ssids: list[str]
    """The names it gave (8 at most), made safe for display; empty when no frame names it."""
    hidden: bool | None
    """Its latest beacon names no SSID; null without a beacon."""
    channel: int | None
    """Primary channel that its elements name, else the one that the receiver was tuned to."""
    frequency_mhz: int | None
    """Centre of the primary channel, MHz: of the channel named, in the band that the receiver was in."""
    width_mhz: int | None
    """Channel width by its operation elements, MHz; 80+80 MHz are 160. 20 for one without such elements."""
    standards: list[str]
    """Amendments to 802.11 that its rates and capability elements claim: `b`, `a` or `g`, `n`, `ac`, `ax`, `be`."""
    security: str | None
    """How it is secured, in words: `open`, `WEP`, `WPA2 Personal`, `WPA2/WPA3 Personal`, ...; null when the elements
    that say so were not captured."""
    key_managements: list[str]
    """Key management suites of its RSN element, then those of its WPA element."""
    pairwise_ciphers: list[str]
    """Pairwise ciphers of both elements."""
    group_ciphers: list[str]
    """Group ciphers of both elements."""
    pmf: str | None
    """Protected Management Frames: `required`, `capable`, `no`; null without an RSN element."""
    wps: bool
    """It offers WPS."""
    country: str | None
    """Country, made safe for display."""
    mld: str | None
    """Address of the multi-link device that it is a link of."""
    beacons: int
    """Beacons with a good or unknown FCS."""
    signal_dbm: Spread | None
    """Signal of its frames, dBm."""
    stations: int
    """Stations that it exchanged unicast data frames with; ghosts are not counted."""
    first_seen_us: float | None
    """First frame it sent, µs since the start of the capture."""
    last_seen_us: float | None
    """Last frame it sent, µs since the start of the capture."""

"""Sections 2 and 3 of the report: who is there. Mirrors ``report/station.rs`` of the analyzer."""

from __future__ import annotations

from txop.present.document import Model


class RetryCount(Model):
    """Retry counts with their denominator."""

    frames: int
    """Denominator."""
    retries: int
    """Those with the retry bit."""
    percent: float | None
    """`100 * retries / frames`; `None` when there are no frames."""


class Spread(Model):
    """Five-number view of a sampled quantity."""

    n: int
    """Sample size."""
    min: float
    """Smallest."""
    p5: float
    """5th percentile."""
    median: float
    """Median."""
    p95: float
    """95th percentile."""
    max: float
    """Largest."""
    mean: float
    """Mean."""


class Bar(Model):
    """One bar of a histogram over `[low, high)`."""

    low: float
    """Inclusive lower edge."""
    high: float
    """Exclusive upper edge."""
    count: int
    """Samples."""


class RateRow(Model):
    """Frames of one station at one rate."""

    label: str
    """`HT40 MCS7 SGI`, `54 Mb/s`, ..."""
    family: str
    """`dsss`, `ofdm`, `ht`, `vht`, `he`, `eht`, `unknown`."""
    mbit_s: float | None
    """PHY rate, Mbit/s."""
    frames: int
    """Frames (MPDUs) of any kind."""
    retries: int
    """Those with the retry bit."""
    bytes: int
    """MPDU bytes, FCS included."""


class AirtimeKinds(Model):
    """Airtime by kind, µs."""

    data_us: float
    """First transmissions of data."""
    retry_us: float
    """Data frames with the retry bit."""
    control_us: float
    """Control frames (ACK, Block Ack, RTS, CTS, BAR, ...)."""
    management_us: float
    """Management frames without beacons."""
    beacon_us: float
    """Beacons."""
    unknown_us: float
    """Damaged frames and reserved types."""


class Station(Model):
    """One address."""

    address: str
    """MAC address."""
    kind: str
    """`ap`, `ibss` or `mesh` (it sends beacons as such), `station`, `group`, `unknown`, `ghost`."""
    ssid: str | None
    """SSID(s) when it is an AP (made safe for display)."""
    frames_sent: int
    """Frames with this transmitter address (TA); ACK and CTS carry none."""
    bad_fcs_sent: int
    """Of these: frames with a bad FCS (their address cannot be trusted)."""
    bytes_sent: int
    """MPDU bytes of `frames_sent`, FCS included."""
    data_frames_sent: int
    """Data frames (not Null) among `frames_sent`."""
    frames_received: int
    """Frames with this receiver address (RA)."""
    retries_sent: int
    """`frames_sent` with the retry bit."""
    retry_percent: float | None
    """`100 * retries_sent / frames_sent`."""
    wireshark: WiresharkStation
    """The station row of Wireshark's WLAN Traffic window (frames counted for SA and DA; see `docs/air-counting.md`)."""
    mpdu_retry: RetryCount
    """The figure that matters: unicast data MPDUs with a good (or unknown) FCS sent by this TA."""
    airtime_us: float | None
    """Airtime of all PPDUs sent (ACK and CTS attributed by the exchange they answer), µs."""
    airtime: AirtimeKinds | None
    """The same by kind."""
    rates: list[RateRow]
    """Rates used, most frames first."""
    signal_dbm: Spread | None
    """Signal of its frames, dBm."""
    first_seen_us: float | None
    """First and last frame sent, µs since the start of the capture."""
    last_seen_us: float | None
    """See `first_seen_us`."""
    power_management_frames: int
    """Frames sent with the power-management bit."""
    power_management_changes: int
    """Changes of the power-management bit from frame to frame."""


class WiresharkStation(Model):
    """A station row of Wireshark's WLAN Traffic window."""

    packets: int
    """Packets: management, data (without Null) and extension frames with this SA or DA, without beacons."""
    retries: int
    """Retries among them (beacons included, as Wireshark does)."""
    retry_percent: float | None
    """`100 * retries / packets`."""
    sent: int
    """Data frames with this SA."""
    received: int
    """Data frames with this DA."""


class Bss(Model):
    """A network row of Wireshark's WLAN Traffic window, and what txop adds."""

    bssid: str
    """BSSID."""
    ssid: str | None
    """SSID, made safe for display; `None` when no frame named it."""
    channel: int | None
    """Channel by DS parameter set, HT operation or (in 6 GHz) HE operation, else the one that the receiver was
    tuned to."""
    packets: int
    """All frames of the row (Wireshark's definition, beacons included)."""
    retries: int
    """Those with the retry bit."""
    retry_percent: float | None
    """`100 * retries / packets`."""
    beacons: int
    """Beacons."""
    data_packets: int
    """Data packets."""
    probes: int
    """Probe requests and responses."""
    stations: int
    """Stations (addresses that sent or received data in it, ghosts not counted)."""
    members: list[BssMember]
    """The station rows that Wireshark's window shows under this network."""


class BssMember(Model):
    """A station row of a network in Wireshark's WLAN Traffic window."""

    address: str
    """Source or destination address (SA or DA)."""
    packets: int
    """Management, data (without Null) and extension frames with this SA or DA, without beacons."""
    retries: int
    """Retries among them (beacons included, as Wireshark does)."""
    retry_percent: float | None
    """`100 * retries / packets`."""
    sent: int
    """Data frames with this SA."""
    received: int
    """Data frames with this DA."""


class Link(Model):
    """Frames from one transmitter to one receiver."""

    bssid: str | None
    """BSSID, where the frames tell."""
    station: str
    """The non-AP end (or the receiver, when neither end is known to be an AP)."""
    direction: str
    """`uplink` (station to AP), `downlink`, `direct`, `group`."""
    ta: str
    """Transmitter address."""
    ra: str
    """Receiver address."""
    frames: int
    """Frames."""
    bytes: int
    """MPDU bytes, FCS included."""
    data_frames: int
    """Data frames (not Null)."""
    wireshark_retry: RetryCount
    """Wireshark's counting on this link: data and management, bad FCS included."""
    mpdu_retry: RetryCount
    """Unicast data MPDUs with good or unknown FCS."""
    byte_retry_percent: float | None
    """Same, weighted with bytes."""
    airtime_us: float | None
    """Airtime, µs."""
    rates: list[RateRow]
    """Data rates used, most frames first."""
    signal_dbm: Spread | None
    """Signal, dBm."""
    first_seen_us: float | None
    """First frame, µs since the start."""
    last_seen_us: float | None
    """Last frame, µs since the start."""


class Ghost(Model):
    """An address that is most likely a damaged copy of another."""

    address: str
    """The address."""
    of: str | None
    """Its most likely origin; `None` when none is near enough."""
    distance: int | None
    """Bits in which they differ; `None` without an origin."""
    frames_sent: int
    """Frames that carry it as transmitter."""
    frames_received: int
    """Frames that carry it as receiver."""
    bad_fcs: int
    """Of both: with a bad FCS."""
    reason: str
    """Why it is held to be a ghost."""


class GhostEffect(Model):
    """What ghosts do to the statistics."""

    addresses: int
    """Unicast addresses seen anywhere."""
    addresses_good: int
    """Of these: seen in at least one frame with a good FCS."""
    ghosts: int
    """Ghosts."""
    ghost_frames: int
    """Frames sent or received by ghosts."""
    retry_all: RetryCount
    """Retry % of data frames, all frames."""
    retry_good: RetryCount
    """Retry % of data frames, bad FCS left out."""
    addresses_evicted: int
    """Addresses not kept because the table was full (their frames are in every total)."""

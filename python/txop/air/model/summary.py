"""Section 1: what the capture is, and what it cannot tell. Mirrors the summary part of ``report/mod.rs``."""

from __future__ import annotations

from txop.present.document import Model
from txop.present.sentence import Figure
from txop.present.window import Window


class Limit(Model):
    """Something that the capture cannot tell."""

    code: str
    """Stable identifier: `no-tsft`, `no-rate`, `no-ampdu-status`, `no-fcs`, `one-direction`, `hopping`, `cut`, ..."""
    text: str
    """In words."""
    figures: list[Figure]
    """What the words rest on."""
    affects: list[str]
    """Sections whose figures are therefore not available or weaker."""


class DamageNote(Model):
    """Where reading stopped."""

    offset: int
    """Byte offset in the (decompressed) file."""
    message: str
    """What was expected and what was there."""


class FcsState(Model):
    """What is known of frame check sequences. The four counts sum to `frames` of the report."""

    good: int
    """FCS computed here, or vouched for by the receiver's flag on a cut frame: good."""
    bad: int
    """Bad."""
    unknown: int
    """Not in the capture or frame cut, and no flag: cannot be told."""
    disagreements: int
    """The receiver's flag and our computation disagree (counted in `bad` when either says bad)."""
    flagged_good: int
    """Good by the receiver's flag alone: the capture holds no whole FCS of them."""


class Channel(Model):
    """A channel that frames were heard on."""

    frequency_mhz: int
    """Centre of the primary channel, MHz."""
    channel: int | None
    """Channel number."""
    band: str | None
    """`2.4 GHz`, `5 GHz`, `6 GHz`."""
    frames: int
    """Frames."""


class LinkTypeCount(Model):
    """Records of one link type."""

    number: int
    """LINKTYPE number."""
    name: str
    """Its registry name."""
    frames: int
    """Records."""


class Selection(Model):
    """The network or the channel that the figures are of.

    A network has the tables that name stations (`stations` to `aggregation`, without `ghosts`), `waterfalls`,
    `capabilities` and `steadiness` to itself; a station that was in several is counted in all of them. `frames`,
    `summary`, `hearing`, `floods`, the ghosts and what `airtime` says of the channel stay of everybody on it, and the
    `bss_...` fields of `airtime` are the network's part. A channel has everything to itself but the calibration of the
    time stamps and what stations claim.
    """

    bssid: str | None
    """The network."""
    ssid: str | None
    """The name that it gives itself most often."""
    bss_frames: int | None
    """Frames that name this network and are not known to be damaged (data, management, PS-Poll, CF-End)."""
    channel: int | None
    """Number of the channel."""
    frequency_mhz: int | None
    """Centre of the chosen channel, MHz."""
    frames: int
    """Frames counted: those of the channel, where one was chosen, else all."""
    frames_elsewhere: int
    """Frames on other channels, which are left out."""
    frames_without_channel: int
    """Frames that do not tell their channel, which are left out where one was chosen."""


class Summary(Model):
    """1. What the capture is, and what it cannot tell."""

    container: str
    """`pcap` or `pcapng`."""
    compression: str
    """`none`, `gzip` or `zstd`."""
    link_types: list[LinkTypeCount]
    """Link types with their record counts."""
    not_wlan: int
    """Records that are not 802.11."""
    unreadable: int
    """Records whose link header or MAC header could not be read (cut short or malformed)."""
    empty_psdus: int
    """Records that end with their link header: a PPDU without a PSDU (radiotap 0-length PSDU)."""
    unreadable_examples: list[str]
    """First few causes of `unreadable`, with record number and file offset."""
    first_time_unix_s: float | None
    """Capture time of the first record, Unix seconds; `None` when the file has no times."""
    span_us: float | None
    """First to last record by the capture clock, µs."""
    captured_bytes: int
    """Captured bytes of all 802.11 records, link headers included."""
    channels: list[Channel]
    """Channels with frames and the time spent there."""
    fcs: FcsState
    """FCS state."""
    snap_lengths: list[int]
    """Declared snap lengths of the interfaces (0: unlimited)."""
    cut_frames: int
    """Frames cut by the snap length."""
    own_transmissions: int
    """Frames the capturing machine sent itself."""
    dropped_by_capture: int | None
    """Drops that the capture file reports (pcapng interface statistics)."""
    damage: DamageNote | None
    """Where reading stopped early, and why."""
    window: Window | None = None
    """The window that the figures are of; Null when they are of the whole capture. Of the whole capture are always the
    calibration of the time stamps, what stations claim, and `capabilities` with all it says of use."""
    selection: Selection | None = None
    """The network or channel that was chosen; Null when the figures are of all."""
    limits: list[Limit]
    """What this capture cannot tell."""

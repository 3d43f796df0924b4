"""Sections 6, 7 and 9: the channel over time, and where the microseconds went. Mirrors ``report/medium.rs``."""

from __future__ import annotations

from txop.air.model.station import AirtimeKinds, RetryCount
from txop.present.document import Model
from txop.present.sentence import Figure, Sentence


class Airtime(Model):
    """Airtime of everybody."""

    busy_us: float | None
    """`None` when no frame tells its rate."""
    observed_us: float | None
    """Observed time, µs (time the sniffer spent on other channels left out)."""
    busy_share: float | None
    """`busy_us / observed_us`."""
    busy_share_low: float | None
    """The least that the busy share can be: unknown preambles and symbols counted against it, frames without a known
    duration as nothing."""
    busy_share_high: float | None
    """The most that it can be: frames without a known duration as long as they can have been."""
    kinds: AirtimeKinds | None
    """By kind."""
    bss_us: float | None = None
    """The part of `busy_us` in which the chosen network sends, its stations included; Null when none was chosen."""
    bss_share: float | None = None
    """`bss_us / observed_us`."""
    bss_busy_share: float | None = None
    """`bss_us / busy_us`."""
    bss_kinds: AirtimeKinds | None = None
    """Airtime of the chosen network by kind."""
    frames_without_duration: int
    """Frames whose duration is not known."""
    uncertainty_us: float | None
    """Half-width of the uncertainty of `busy_us` (unknown preambles, LDPC symbols, ...), µs."""
    by_phy: list[PhyAirtime]
    """Airtime by PHY: DSSS/CCK, OFDM, HT mixed, HT greenfield, VHT, HE, EHT."""
    series: list[BusyBin]
    """Busy share over time."""
    bin_us: float
    """Width of a bin, µs."""


class PhyAirtime(Model):
    """Airtime of one PHY."""

    phy: str
    """Label."""
    ppdus: int
    """PPDUs."""
    airtime_us: float
    """Sum of the durations of these PPDUs."""


class BusyBin(Model):
    """A bin of the busy series."""

    start_us: float
    """Start, µs since the first frame."""
    busy_share: float
    """Busy share in this bin."""
    data_share: float
    """Share of data (first transmissions)."""
    retry_share: float
    """Share of retries."""
    bss_share: float | None = None
    """Share of the chosen network; Null when none was chosen."""


class WaterfallStep(Model):
    """One cause with its share of the observed time."""

    cause: str
    """Stable identifier, see `docs/air-json.md`: `payload`, `mac_headers`, `preamble`, `ifs_backoff`, `ack`,
    `rts_cts`, `retries`, `reverse`, `other_stations`, `beacons_management`, `damaged`, `idle_queued`, `idle`,
    `unobserved`."""
    label: str
    """In words."""
    us: float
    """µs of the observed time."""
    share: float
    """Fraction of the observed time; all steps sum to one."""
    mbit_s: float
    """Goodput (Mbit/s) this cause costs: its share of the PHY rate."""


class Waterfall(Model):
    """The waterfall of one direction."""

    ta: str
    """Transmitter."""
    ra: str
    """Receiver."""
    direction: str
    """`uplink`, `downlink`, `direct`."""
    observed_us: float
    """Observed time, µs."""
    phy_rate_mbit_s: float
    """Mean PHY rate of this direction's payload bits (payload bits / payload µs), Mbit/s."""
    payload_mbit_s: float
    """Payload (bytes above LLC/SNAP of first deliveries) per observed time, Mbit/s."""
    payload_bytes: int
    """Payload bytes counted."""
    mpdus: int
    """Data MPDUs counted."""
    timing: str
    """How time was known: `stamps` (calibrated), `capture-clock` (gaps not separable)."""
    steps: list[WaterfallStep]
    """Causes; shares sum to one."""
    advice: list[Sentence]
    """The two largest losses and what would bring them back."""


class Steadiness(Model):
    """Throughput and retries over time, of one direction."""

    ta: str
    """Transmitter."""
    ra: str
    """Receiver."""
    direction: str
    """`uplink`, `downlink`, `direct`."""
    bin_us: float
    """Width of a bin, µs."""
    series: list[FlowBin]
    """Bins from first to last frame of this direction."""
    events: list[SteadinessEvent]
    """Remarkable moments, in time order."""
    median_mbit_s: float | None
    """Median payload throughput over bins, Mbit/s."""
    variation: float | None
    """Coefficient of variation of the bins' throughput."""


class FlowBin(Model):
    """A bin of a direction's series."""

    start_us: float
    """Start, µs since the first frame."""
    mbit_s: float
    """Payload throughput (first deliveries), Mbit/s."""
    retry: RetryCount
    """Retries of this bin."""
    phy_rate_mbit_s: float | None
    """Mean PHY rate of the data MPDUs, Mbit/s."""
    busy_share: float | None
    """Channel busy share."""


class SteadinessEvent(Model):
    """A remarkable moment."""

    start_us: float
    """Start, µs since the first frame."""
    end_us: float
    """End."""
    kind: str
    """`dropout`, `drop`, `rise`, `retry-shift`."""
    text: str
    """In words, with the likely cause or "unexplained"."""
    figures: list[Figure]
    """What the words rest on."""

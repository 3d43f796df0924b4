//! Sections 6, 7 and 9: the channel over time, and where the microseconds went.

use serde::Serialize;

use super::station::{AirtimeKinds, RetryCount};
use sentence::Sentence;

/// Airtime of all stations.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Airtime {
    /// `None` when no frame has its rate recorded.
    pub busy_us: Option<f64>,
    /// Observed time, µs (time the sniffer spent on other channels left out).
    pub observed_us: Option<f64>,
    /// `busy_us / observed_us`; `None` where the time observed is that of the frames themselves, as with a single frame.
    pub busy_share: Option<f64>,
    /// The least that the busy share can be: unknown preambles and symbols counted against it, frames without a known
    /// duration as nothing.
    pub busy_share_low: Option<f64>,
    /// The most that it can be: frames without a known duration as long as they can have been.
    pub busy_share_high: Option<f64>,
    /// By kind.
    pub kinds: Option<AirtimeKinds>,
    /// The part of `busy_us` in which the chosen network sends, its stations included; `None` when none was chosen.
    #[serde(default)] // older documents lack it
    pub bss_us: Option<f64>,
    /// `bss_us / observed_us`.
    #[serde(default)] // older documents lack it
    pub bss_share: Option<f64>,
    /// `bss_us / busy_us`.
    #[serde(default)] // older documents lack it
    pub bss_busy_share: Option<f64>,
    /// Airtime of the chosen network by kind.
    #[serde(default)] // older documents lack it
    pub bss_kinds: Option<AirtimeKinds>,
    /// Frames of unknown duration.
    pub frames_without_duration: u64,
    /// Half-width of the uncertainty of `busy_us` (unknown preambles, LDPC symbols, ...), µs.
    pub uncertainty_us: Option<f64>,
    /// Airtime by PHY: DSSS/CCK, OFDM, HT mixed, HT greenfield, VHT, HE, EHT.
    pub by_phy: Vec<PhyAirtime>,
    /// Busy share over time.
    pub series: Vec<BusyBin>,
    /// Width of a bin, µs.
    pub bin_us: f64,
}

/// Airtime of one PHY.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PhyAirtime {
    /// Label.
    pub phy: String,
    /// PPDUs.
    pub ppdus: u64,
    /// Sum of the durations of these PPDUs, µs.
    pub airtime_us: f64,
}

/// A bin of the busy series.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BusyBin {
    /// Start, µs since the first frame.
    pub start_us: f64,
    /// Busy share in this bin.
    pub busy_share: f64,
    /// Share of data (first transmissions).
    pub data_share: f64,
    /// Share of retries.
    pub retry_share: f64,
    /// Share of the chosen network; `None` when none was chosen.
    #[serde(default)] // older documents lack it
    pub bss_share: Option<f64>,
}

/// One cause with its share of the observed time.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WaterfallStep {
    /// Stable identifier, see `docs/air-json.md`: `payload`, `mac_headers`, `preamble`, `ifs_backoff`, `ack`,
    /// `rts_cts`, `retries`, `reverse`, `other_stations`, `beacons_management`, `damaged`, `idle_queued`, `idle`,
    /// `unobserved`.
    pub cause: String,
    /// In words.
    pub label: String,
    /// µs of the observed time.
    pub us: f64,
    /// Fraction of the observed time; all steps sum to one.
    pub share: f64,
    /// Goodput (Mbit/s) this cause costs: its share of the effective PHY rate.
    pub mbit_s: f64,
}

/// The waterfall of one direction.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Waterfall {
    /// Transmitter.
    pub ta: String,
    /// Receiver.
    pub ra: String,
    /// `uplink`, `downlink`, `direct`.
    pub direction: String,
    /// Observed time, µs.
    pub observed_us: f64,
    /// Effective PHY rate: this direction's payload bits by the µs that they take on the air, Mbit/s; of the MPDUs with a
    /// duration is known. The padding of symbols is in it, so it is less than the rate of the MCS, of short PPDUs by much. Null where no
    /// duration is known.
    pub phy_rate_mbit_s: Option<f64>,
    /// Payload (bytes above LLC/SNAP of data MPDUs, each captured one once) per observed time, Mbit/s.
    pub payload_mbit_s: f64,
    /// Payload bytes counted.
    pub payload_bytes: u64,
    /// Data MPDUs counted.
    pub mpdus: u64,
    /// Those among them with a known duration: what the effective PHY rate and the steps are of.
    #[serde(default)] // older documents lack it
    pub mpdus_timed: Option<u64>,
    /// How time was known: `stamps` (calibrated), `capture-clock` (gaps not separable).
    pub timing: String,
    /// Causes; shares sum to one.
    pub steps: Vec<WaterfallStep>,
    /// The two largest losses and what would bring them back.
    pub advice: Vec<Sentence>,
}

/// Throughput and retries over time, of one direction.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Steadiness {
    /// Transmitter.
    pub ta: String,
    /// Receiver.
    pub ra: String,
    /// `uplink`, `downlink`, `direct`.
    pub direction: String,
    /// Width of a bin, µs.
    pub bin_us: f64,
    /// Bins from first to last frame of this direction.
    pub series: Vec<FlowBin>,
    /// Remarkable moments, in time order.
    pub events: Vec<SteadinessEvent>,
    /// Whether events were looked for: at least 10 observed bins beside the first and the last, and a median of 0.1 Mbit/s.
    #[serde(default)] // older documents lack it
    pub events_sought: Option<bool>,
    /// Why events were not looked for; `None` where they were.
    #[serde(default)] // older documents lack it
    pub not_sought: Option<Sentence>,
    /// Observed bins beside the first and the last, which median and variation are of.
    #[serde(default)] // older documents lack it
    pub median_bins: Option<u64>,
    /// Median payload throughput over these bins, Mbit/s.
    pub median_mbit_s: Option<f64>,
    /// Coefficient of variation of the bins' throughput.
    pub variation: Option<f64>,
}

/// A bin of a direction's series.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FlowBin {
    /// Start, µs since the first frame.
    pub start_us: f64,
    /// Payload throughput (each captured data MPDU once), Mbit/s; `None` where more than half of the bin was not observed.
    pub mbit_s: Option<f64>,
    /// Retries of this bin.
    pub retry: RetryCount,
    /// Mean PHY rate of the data MPDUs, Mbit/s.
    pub phy_rate_mbit_s: Option<f64>,
    /// Channel busy share.
    pub busy_share: Option<f64>,
}

/// A remarkable moment, with its likely cause or "unexplained".
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SteadinessEvent {
    /// Start, µs since the first frame.
    pub start_us: f64,
    /// End.
    pub end_us: f64,
    /// `dropout`, `drop`, `rise`, `retry-shift`.
    pub kind: String,
    /// In words, with the likely cause or "unexplained".
    #[serde(flatten)]
    pub sentence: Sentence,
}

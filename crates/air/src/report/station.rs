//! Section 2 and 3: who is there.

use serde::Serialize;

/// Retry counts with their denominator.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RetryCount {
    /// Denominator.
    pub frames: u64,
    /// Those with the retry bit.
    pub retries: u64,
    /// `100 * retries / frames`; `None` when there are no frames.
    pub percent: Option<f64>,
}

impl RetryCount {
    /// Counts with their percentage.
    pub fn new(frames: u64, retries: u64) -> Self {
        Self { frames, retries, percent: (frames > 0).then(|| 100.0 * retries as f64 / frames as f64) }
    }
}

/// Five-number view of a sampled quantity.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Spread {
    /// Sample size.
    pub n: u64,
    /// Smallest.
    pub min: f64,
    /// 5th percentile.
    pub p5: f64,
    /// Median.
    pub median: f64,
    /// 95th percentile.
    pub p95: f64,
    /// Largest.
    pub max: f64,
    /// Mean.
    pub mean: f64,
}

/// One bar of a histogram over `[low, high)`.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Bar {
    /// Inclusive lower edge.
    pub low: f64,
    /// Exclusive upper edge.
    pub high: f64,
    /// Samples.
    pub count: u64,
}

/// Frames of one station at one rate.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RateRow {
    /// `HT40 MCS7 SGI`, `54 Mb/s`, ...
    pub label: String,
    /// `dsss`, `ofdm`, `ht`, `vht`, `he`, `eht`, `unknown`.
    pub family: String,
    /// PHY rate, Mbit/s; null where the capture does not give it.
    pub mbit_s: Option<f64>,
    /// Lowest PHY rate that it may be, Mbit/s, where the capture gives all but the guard interval; else null.
    pub mbit_s_low: Option<f64>,
    /// Highest PHY rate that it may be, likewise.
    pub mbit_s_high: Option<f64>,
    /// Frames (MPDUs) of any kind.
    pub frames: u64,
    /// Those with the retry bit.
    pub retries: u64,
    /// MPDU bytes, FCS included.
    pub bytes: u64,
}

/// Airtime by kind, µs.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AirtimeKinds {
    /// First transmissions of data.
    pub data_us: f64,
    /// Data frames with the retry bit.
    pub retry_us: f64,
    /// Control frames (ACK, Block Ack, RTS, CTS, BAR, ...).
    pub control_us: f64,
    /// Management frames without beacons.
    pub management_us: f64,
    /// Beacons.
    pub beacon_us: f64,
    /// Damaged frames and reserved types.
    pub unknown_us: f64,
}

/// One address.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Station {
    /// MAC address.
    pub address: String,
    /// `ap`, `ibss` or `mesh` (it sends beacons as such), `station`, `group`, `unknown`, `ghost`.
    pub kind: String,
    /// SSID(s) when it is an AP (made safe for display).
    pub ssid: Option<String>,
    /// Key managements that it asked for in its latest association request; empty where that was not captured, or has no RSN element.
    #[serde(default)] // older documents lack it
    pub key_managements: Vec<String>,
    /// Pairwise ciphers that it asked for there.
    #[serde(default)] // older documents lack it
    pub pairwise_ciphers: Vec<String>,
    /// Frames with this transmitter address (TA); ACK and CTS carry none.
    pub frames_sent: u64,
    /// Frames sent with a bad FCS (their address cannot be trusted).
    pub bad_fcs_sent: u64,
    /// MPDU bytes of `frames_sent`, FCS included.
    pub bytes_sent: u64,
    /// Data frames (not Null) among `frames_sent`.
    pub data_frames_sent: u64,
    /// Frames with this receiver address (RA).
    pub frames_received: u64,
    /// `frames_sent` with the retry bit.
    pub retries_sent: u64,
    /// `100 * retries_sent / frames_sent`.
    pub retry_percent: Option<f64>,
    /// The station row of Wireshark's WLAN Traffic window (frames counted for SA and DA; see `docs/air-counting.md`).
    pub wireshark: WiresharkStation,
    /// The figure that matters: unicast data MPDUs with a good (or unknown) FCS sent by this TA.
    pub mpdu_retry: RetryCount,
    /// Airtime of all PPDUs sent (ACK and CTS attributed by the exchange they answer), µs.
    pub airtime_us: Option<f64>,
    /// The same by kind.
    pub airtime: Option<AirtimeKinds>,
    /// Rates used, most frames first.
    pub rates: Vec<RateRow>,
    /// Signal of its frames, dBm.
    pub signal_dbm: Option<Spread>,
    /// First frame sent, µs since the start of the capture.
    pub first_seen_us: Option<f64>,
    /// Last frame sent, µs since the start of the capture.
    pub last_seen_us: Option<f64>,
    /// Frames sent with the power-management bit.
    pub power_management_frames: u64,
    /// Changes of the power-management bit from frame to frame.
    pub power_management_changes: u64,
}

/// A station row of Wireshark's WLAN Traffic window.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WiresharkStation {
    /// Packets: management, data (without Null) and extension frames with this SA or DA, without beacons.
    pub packets: u64,
    /// Retries among them (beacons included, as Wireshark does).
    pub retries: u64,
    /// `100 * retries / packets`.
    pub retry_percent: Option<f64>,
    /// Data frames with this SA.
    pub sent: u64,
    /// Data frames with this DA.
    pub received: u64,
}

/// A network row of Wireshark's WLAN Traffic window, and what txop adds.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Bss {
    /// BSSID.
    pub bssid: String,
    /// SSID, made safe for display; `None` when no frame named it.
    pub ssid: Option<String>,
    /// Channel by DS parameter set, HT operation or (in 6 GHz) HE operation, else the one that the receiver was tuned to.
    pub channel: Option<u16>,
    /// All frames of the row (Wireshark's definition, beacons included).
    pub packets: u64,
    /// Those with the retry bit.
    pub retries: u64,
    /// `100 * retries / packets`.
    pub retry_percent: Option<f64>,
    /// Beacons.
    pub beacons: u64,
    /// Data packets.
    pub data_packets: u64,
    /// Probe requests and responses.
    pub probes: u64,
    /// Stations (addresses that sent or received data in it, ghosts not counted).
    pub stations: u64,
    /// The station rows that Wireshark's window shows under this network.
    pub members: Vec<BssMember>,
}

/// A station row of a network in Wireshark's WLAN Traffic window.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BssMember {
    /// Source or destination address (SA or DA).
    pub address: String,
    /// Its counts in this network.
    #[serde(flatten)]
    pub counts: WiresharkStation,
}

/// Frames from one transmitter to one receiver.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Link {
    /// BSSID, where the frames tell.
    pub bssid: Option<String>,
    /// The non-AP end (or the receiver, when neither end is known to be an AP).
    pub station: String,
    /// `uplink` (station to AP), `downlink`, `direct`, `group`; `unknown` where neither a data frame nor a role shows it.
    pub direction: String,
    /// Transmitter address.
    pub ta: String,
    /// Receiver address.
    pub ra: String,
    /// Frames.
    pub frames: u64,
    /// MPDU bytes, FCS included.
    pub bytes: u64,
    /// Data frames (not Null).
    pub data_frames: u64,
    /// Wireshark's counting on this link: data and management, bad FCS included.
    pub wireshark_retry: RetryCount,
    /// Unicast data MPDUs with good or unknown FCS.
    pub mpdu_retry: RetryCount,
    /// Same, weighted with bytes.
    pub byte_retry_percent: Option<f64>,
    /// Retries of `mpdu_retry` of which no undamaged earlier attempt was captured, on the interface that the waterfall is
    /// of.
    #[serde(default)] // older documents lack it
    pub retries_without_attempt: Option<u64>,
    /// Airtime, µs.
    pub airtime_us: Option<f64>,
    /// Data rates used, most frames first.
    pub rates: Vec<RateRow>,
    /// Signal, dBm.
    pub signal_dbm: Option<Spread>,
    /// First frame, µs since the start.
    pub first_seen_us: Option<f64>,
    /// Last frame, µs since the start.
    pub last_seen_us: Option<f64>,
}

/// An address that is most likely a damaged copy of another.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Ghost {
    /// The address.
    pub address: String,
    /// Its most likely origin; `None` when none is near enough.
    pub of: Option<String>,
    /// Bits in which they differ; `None` without an origin.
    pub distance: Option<u32>,
    /// Frames that carry it as transmitter.
    pub frames_sent: u64,
    /// Frames that carry it as receiver.
    pub frames_received: u64,
    /// Frames with a bad FCS, sent and received.
    pub bad_fcs: u64,
    /// Why it is taken to be a ghost.
    pub reason: String,
}

/// What ghosts do to the statistics.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GhostEffect {
    /// Unicast addresses seen anywhere.
    pub addresses: u64,
    /// Addresses seen in at least one frame with a good FCS.
    pub addresses_good: u64,
    /// Ghosts.
    pub ghosts: u64,
    /// Frames sent or received by ghosts.
    pub ghost_frames: u64,
    /// Retry % of data frames, all frames.
    pub retry_all: RetryCount,
    /// Retry % of data frames, bad FCS left out.
    pub retry_good: RetryCount,
    /// Addresses not kept because the table was full (their frames are in every total).
    pub addresses_evicted: u64,
}

//! The result of an analysis: plain data, serialised as version 2 of the `txop-air` JSON format.
//!
//! Rules that hold everywhere: `None` (JSON `null`) means *not available*, never zero, and
//! [`Summary::limits`] says why; every percentage has its numerator and denominator beside it; times are µs since
//! the first frame unless the name says otherwise; shares are fractions of one.

mod access_point;
mod capability;
mod contents;
mod device;
mod events;
mod exchange;
mod happening;
mod hearing;
mod logs;
mod medium;
mod multi_user;
mod station;
mod traffic;

pub use access_point::*;
pub use capability::*;
pub use contents::*;
pub use device::*;
pub use events::*;
pub use exchange::*;
pub use happening::*;
pub use hearing::*;
pub use logs::*;
pub use medium::*;
pub use multi_user::*;
pub use station::*;
pub use traffic::*;

pub use capture::report::DamageNote;
use capture::report::Window;
use serde::Serialize;

use sentence::Sentence;

/// Name of the JSON document.
pub const FORMAT: &str = "txop-air";
/// Version of its layout; raised when a field changes its meaning or goes.
pub const FORMAT_VERSION: u32 = 2;

/// Everything `txop air` knows about one capture.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Report {
    /// Always `"txop-air"`.
    #[cfg_attr(feature = "schema", schemars(extend("const" = FORMAT)))]
    pub format: &'static str,
    /// Layout version: 2. Raised when a field changes its meaning or goes.
    #[cfg_attr(feature = "schema", schemars(extend("const" = FORMAT_VERSION)))]
    pub version: u32,
    /// Program and version that wrote this.
    pub tool: String,
    /// Where the figures come from: `emulated`, `simulated`, `guest-exact` or `guest-fast` for a capture that says that txop made it,
    /// `imported` for any other.
    pub origin: String,
    /// The file as named by the caller.
    pub path: String,
    /// Records read (frames of link types without 802.11 are counted in `summary.not_wlan`, not here).
    pub frames: u64,
    /// Frames with a bad FCS (flagged by the receiver, or computed wrong).
    pub bad_fcs: u64,
    /// 1. Summary.
    pub summary: Summary,
    /// How time stamps, A-MPDU references and control rates were calibrated.
    pub timing: Timing,
    /// What the sniffer captured of what must have been there.
    pub hearing: Hearing,
    /// What happened, most serious first (200 at most).
    #[serde(default)] // older documents lack it
    pub happenings: Vec<Happening>,
    /// What the capture contains: frames by type and subtype, and special ones by name.
    #[serde(default)] // older documents lack it
    pub contents: Option<Contents>,
    /// The same kind of frame between two addresses, faster than any protocol sends it. Slower floods, and of many addresses, are among
    /// `happenings`, which count them by other rules.
    pub floods: Vec<Flood>,
    /// What happened when: authentication, association, key exchange, deauthentication, channel switch.
    pub events: Events,
    /// Which station sent at which rate when.
    pub rate_timeline: RateTimeline,
    /// Every Block Ack; `None` unless asked for.
    #[serde(default)] // older documents lack it
    pub block_ack_log: Option<BlockAckLog>,
    /// 2. Transmitters and receivers, most airtime (else most frames) first.
    pub stations: Vec<Station>,
    /// 2. Networks, as Wireshark's WLAN Traffic window lists them (one row per BSSID and SSID).
    pub bss: Vec<Bss>,
    /// 2. Access points with their security, most beacons first.
    #[serde(default)] // older documents lack it
    pub access_points: Vec<AccessPoint>,
    /// 2. Per (transmitter, receiver).
    pub links: Vec<Link>,
    /// 2. Stations that are links of one device, most frames first.
    #[serde(default)] // older documents lack it
    pub multi_link_devices: Vec<MultiLinkDevice>,
    /// 2. Addresses that are claimed for several multi-link devices.
    #[serde(default)] // older documents lack it
    pub unclear_links: Vec<UnclearLink>,
    /// 3. Addresses that exist only because of damage.
    pub ghosts: Vec<Ghost>,
    /// 3. What the ghosts do to the statistics.
    pub ghost_effect: GhostEffect,
    /// 4. PPDUs and their responses, per (transmitter, receiver).
    pub exchanges: Vec<Exchange>,
    /// 4. Block Ack accounting, per (originator, recipient, TID).
    pub block_acks: Vec<BlockAckFlow>,
    /// 4. The answer to "not received, or too slow to acknowledge?", per (originator, recipient).
    pub ack_verdicts: Vec<AckVerdict>,
    /// 5. Aggregation, per (transmitter, receiver, TID).
    pub aggregation: Vec<Aggregation>,
    /// 5. MU and trigger-based PPDUs and resource units, per (transmitter, receiver) with HE or EHT data frames.
    #[serde(default)] // older documents lack it
    pub multi_user: Vec<MultiUser>,
    /// 5. PPDUs to several users as wholes: what they allocate, and which users' frames were captured; per transmitter.
    #[serde(default)] // older documents lack it
    pub multi_user_ppdus: Vec<MultiUserPpdus>,
    /// 6. Airtime of all stations.
    pub airtime: Airtime,
    /// 7. Goodput waterfall of the chosen direction; shares sum to one. Empty when not available.
    pub waterfall: Vec<WaterfallStep>,
    /// 7. Both directions of the chosen pair (and what they are, why not available, in words).
    pub waterfalls: Vec<Waterfall>,
    /// 8. Capabilities claimed and used.
    pub capabilities: Vec<CapabilityAudit>,
    /// 9. Throughput and retry % over time, and what was remarkable.
    pub steadiness: Vec<Steadiness>,
    /// 10. What the keys given made of protected frames; `None` when there were none.
    #[serde(default)] // older documents lack it
    pub decryption: Option<Decryption>,
    /// 10. Packets joined with the MPDUs that carried them; `None` when not requested.
    #[serde(default)] // older documents lack it
    pub traffic: Option<Traffic>,
}

/// 1. What the capture is, and its limits.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Summary {
    /// `pcap` or `pcapng`.
    pub container: String,
    /// `none`, `gzip` or `zstd`.
    pub compression: String,
    /// Link types with their record counts.
    pub link_types: Vec<LinkTypeCount>,
    /// Records that are not 802.11.
    pub not_wlan: u64,
    /// Records with a link header or MAC header that could not be read (cut short or malformed).
    pub unreadable: u64,
    /// First few causes of `unreadable`, with record number and file offset.
    pub unreadable_examples: Vec<String>,
    /// Records that end with their link header: a PPDU without a PSDU (radiotap 0-length PSDU).
    pub empty_psdus: u64,
    /// Capture time of the first record, Unix seconds; `None` when the file has no times.
    pub first_time_unix_s: Option<f64>,
    /// First to last record by the capture clock, µs.
    pub span_us: Option<f64>,
    /// Captured bytes of all 802.11 records, link headers included.
    pub captured_bytes: u64,
    /// Channels with frames and the time spent there.
    pub channels: Vec<Channel>,
    /// FCS state.
    pub fcs: FcsState,
    /// Declared snap lengths of the interfaces (0: unlimited).
    pub snap_lengths: Vec<u32>,
    /// Frames cut by the snap length.
    pub cut_frames: u64,
    /// Frames the capturing machine sent itself.
    pub own_transmissions: u64,
    /// Drops that the capture file reports (pcapng interface statistics).
    pub dropped_by_capture: Option<u64>,
    /// Where reading stopped early, and why.
    pub damage: Option<DamageNote>,
    /// The window that the figures are of; `None` when they are of the whole capture. Always taken from the whole capture are
    /// the calibration of the time stamps, what stations claim, Block Ack agreements made before, and `capabilities` with
    /// all it says of use.
    #[serde(default)] // older documents lack it
    pub window: Option<Window>,
    /// The network or channel that was chosen; `None` when the figures are of all.
    #[serde(default)] // older documents lack it
    pub selection: Option<Selection>,
    /// Limits of this capture.
    pub limits: Vec<Limit>,
}

/// The network or the channel that the figures are of.
///
/// A network has the tables that name stations (`stations` to `aggregation`, without `ghosts`), `waterfalls`,
/// `capabilities` and `steadiness` to itself; a station that was in several is counted in all of them. `frames`,
/// `summary`, `hearing`, `floods`, the ghosts and what `airtime` says of the channel still cover all stations on it,
/// and the
/// `bss_...` fields of `airtime` are the network's part. A channel has everything to itself but the calibration of the
/// time stamps and what stations claim.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Selection {
    /// The network.
    pub bssid: Option<String>,
    /// The name that it gives itself most often; safe to print.
    pub ssid: Option<String>,
    /// Frames that name this network and are not known to be damaged (data, management, PS-Poll, CF-End).
    pub bss_frames: Option<u64>,
    /// Number of the channel.
    pub channel: Option<u16>,
    /// Centre of the chosen channel, MHz.
    pub frequency_mhz: Option<u16>,
    /// Frames counted: those of the channel, where one was chosen, else all.
    pub frames: u64,
    /// Frames on other channels, which are left out.
    pub frames_elsewhere: u64,
    /// Frames that do not carry their channel, which are left out where one was chosen.
    pub frames_without_channel: u64,
    /// Index of the chosen interface in the capture.
    #[serde(default)]
    pub interface: Option<u32>,
    /// What the operating system called it, where the capture records it; safe to print.
    #[serde(default)]
    pub interface_name: Option<String>,
    /// Records of other interfaces, which are left out.
    #[serde(default)]
    pub records_on_other_interfaces: u64,
}

/// Records of one link type.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LinkTypeCount {
    /// LINKTYPE number.
    pub number: u32,
    /// Its registry name.
    pub name: String,
    /// Records.
    pub frames: u64,
}

/// A channel that frames were captured on.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Channel {
    /// Centre of the primary channel, MHz.
    pub frequency_mhz: u16,
    /// Channel number.
    pub channel: Option<u16>,
    /// `2.4 GHz`, `5 GHz`, `6 GHz`.
    pub band: Option<String>,
    /// Frames.
    pub frames: u64,
}

/// What is known of frame check sequences. The first three sum to `frames` of the report without the unreadable records.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FcsState {
    /// FCS computed here, or vouched for by the receiver's flag on a cut frame: good.
    pub good: u64,
    /// Bad.
    pub bad: u64,
    /// Not in the capture or frame cut, and no flag: cannot be determined.
    pub unknown: u64,
    /// The receiver's flag and our computation disagree (counted in `bad` when either says bad).
    pub disagreements: u64,
    /// Good by the receiver's flag alone: the capture holds no whole FCS of them, or one that is wrong.
    pub flagged_good: u64,
}

/// Something that the capture does not show.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Limit {
    /// Stable identifier: `no-tsft`, `no-rate`, `no-ampdu-status`, `no-fcs`, `one-direction`, `hopping`, `cut`, ...
    pub code: String,
    /// In words.
    #[serde(flatten)]
    pub sentence: Sentence,
    /// Sections with figures that are therefore not available or weaker.
    pub affects: Vec<String>,
}

impl Limit {
    /// `code` is its stable identifier, `affects` names the sections concerned.
    pub(crate) fn new(code: &str, sentence: Sentence, affects: &[&str]) -> Self {
        Self { code: code.to_owned(), sentence, affects: affects.iter().map(|s| (*s).to_owned()).collect() }
    }
}

/// How the time stamps were calibrated (see `docs/air-counting.md`).
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Timing {
    /// Frames that this was inferred from: the first of the capture's, of the interface with most of them (32,768 at most).
    #[serde(default)] // older documents lack it
    pub frames: Option<u64>,
    /// `tsft`, `timestamp-field` or `capture-clock`.
    pub clock: String,
    /// `mpdu-first-bit`, `ppdu-start`, `ppdu-end`; `None` when it could not be inferred.
    pub stamp_meaning: Option<String>,
    /// Another meaning that the evidence does not distinguish from it; the confidence is halved then.
    pub ambiguous_with: Option<String>,
    /// 0 to 1: share of solicited responses that fall into the SIFS window under the chosen meaning, times the
    /// evidence (pairs / (pairs + 10)).
    pub confidence: Option<f64>,
    /// The evidence, one row per meaning tried.
    pub hypotheses: Vec<StampHypothesis>,
    /// `ppdu-id`, `not-a-ppdu-id` (with the reason in `text`), `absent`.
    pub ampdu_reference: String,
    /// How MPDUs were grouped to PPDUs: `ampdu-reference`, `equal-tsft`, `none`.
    pub grouping: String,
    /// Whether the rates that control frames claim can be true; `None` when not enough pairs.
    pub control_rates_believable: Option<bool>,
    /// Control responses that would overlap the next frame at their claimed rate, and all that were checked.
    pub control_rate_overlaps: u64,
    /// Denominator of `control_rate_overlaps`.
    pub control_rate_checked: u64,
    /// Times the clock jumped (reset, wrap, several radios) and was re-anchored.
    pub clock_jumps: u64,
    /// All of this in words.
    pub text: Vec<String>,
}

/// Response gaps under one meaning of the time stamp.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StampHypothesis {
    /// `mpdu-first-bit`, `ppdu-start`, `ppdu-end`.
    pub meaning: String,
    /// Solicited responses looked at.
    pub pairs: u64,
    /// Median gap, µs.
    pub median_gap_us: Option<f64>,
    /// Interquartile range of the gap, µs.
    pub iqr_us: Option<f64>,
    /// Share of gaps within SIFS -4/+10 µs.
    pub in_window: Option<f64>,
}

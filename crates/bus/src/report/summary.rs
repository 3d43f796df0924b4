//! What the capture is, and what it cannot show.

use capture::report::{DamageNote, Window};
use serde::Serialize;

/// What the capture is, and what it cannot show.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Summary {
    /// `pcap`, `pcapng`, `usbmon-text` or `usbsnoop-text`.
    pub container: String,
    /// `none`, `gzip` or `zstd`.
    pub compression: String,
    /// Where the requests were seen: `urb` (Linux, between driver and host controller), `irp` (Windows, above the root
    /// hub), `urb-log` (a Windows driver log), `sdio` (commands of an
    /// SDIO bus, in its host controller), `mixed`, or `none`.
    pub layer: String,
    /// Link types with their record counts.
    pub link_types: Vec<LinkTypeCount>,
    /// Records of link types that are not USB requests.
    pub not_usb: u64,
    /// Records or lines that could not be read.
    pub unreadable: u64,
    /// The first few, with record or line number and cause.
    pub unreadable_examples: Vec<String>,
    /// Snap lengths of the interfaces; 0 is unlimited.
    pub snap_lengths: Vec<u32>,
    /// Transfers with data that are not all in the capture.
    pub cut_transfers: u64,
    /// Transfers with data that this layer records.
    pub data_transfers: u64,
    /// Records dropped while capturing; `None` where the capture does not say.
    pub dropped_by_capture: Option<u64>,
    /// Time of the first record; `None` without an absolute clock.
    pub first_time_unix_s: Option<f64>,
    /// From the first to the last record; `None` without a clock, and where time steps back by more than 1 % of it.
    pub span_us: Option<u64>,
    /// Whether records have times; `None` where there is none.
    #[serde(default)] // older documents lack it
    pub has_clock: Option<bool>,
    /// The steps in which a coarse clock moves: times below it are not distinguished. `None` of a clock that is finer than 100 µs, and of
    /// few records.
    #[serde(default)] // older documents lack it
    pub clock_step_us: Option<u64>,
    /// Times the clock of a usbmon text started over (every 4096 s).
    pub clock_wraps: u64,
    /// Records that are stamped earlier than the record before them.
    pub backward_steps: u64,
    /// The most that one of them is earlier than the one before.
    #[serde(default)] // older documents lack it
    pub backward_most_us: Option<u64>,
    /// Times a bus steps back by more than 10 ms, as where captures stand one behind the other. Requests are paired between these
    /// steps only.
    #[serde(default)] // older documents lack it
    pub steps_back: Option<u64>,
    /// The sum of these steps. Where it is more than 1 % of the time span, that span, rates, series, gaps and requests under way are
    /// not available.
    #[serde(default)] // older documents lack it
    pub steps_back_us: Option<u64>,
    /// The largest such step.
    #[serde(default)] // older documents lack it
    pub step_back_most_us: Option<u64>,
    /// Records that repeat another, as where usbmon0 and a bus's own interface are captured together; they count once.
    #[serde(default)] // older documents lack it
    pub copies: Option<u64>,
    /// Requests handed to the host controller.
    pub submissions: u64,
    /// Requests that came back.
    pub completions: u64,
    /// Requests that the host controller refused.
    pub submission_errors: u64,
    /// Completions with a submission that is not in the capture (before it, or dropped).
    pub unmatched_completions: u64,
    /// Submissions that are missing, as the order in which requests come back shows; see the endpoints.
    #[serde(default)] // older documents lack it
    pub lost_submissions: Option<u64>,
    /// Submissions without completion at the end of the capture or of its window.
    pub unfinished: u64,
    /// Submissions with a missing completion: a later request of the endpoint succeeded, or their identifier was used again.
    pub lost_completions: u64,
    /// Requests that move no data (Windows: abort a pipe, select a configuration...), both ways.
    pub other_requests: u64,
    /// Those of them on their way down: what `other_requests` counts twice, once each way.
    #[serde(default)] // older documents lack it
    pub other_submissions: Option<u64>,
    /// Pipes that were reset, as after a stall; part of `other_submissions`.
    #[serde(default)] // older documents lack it
    pub pipe_resets: Option<u64>,
    /// Pipes with requests that were taken back; part of `other_submissions`.
    #[serde(default)] // older documents lack it
    pub pipe_aborts: Option<u64>,
    /// Requests that USBPcap wrote down for itself when it started, for devices that were plugged in; they were not on the bus.
    /// Descriptors are taken from them, and nothing else counts them.
    #[serde(default)] // older documents lack it
    pub injected_requests: Option<u64>,
    /// Records of endpoints and devices beyond the number that is followed.
    pub not_followed: u64,
    /// Where reading stopped, if not at the end.
    pub damage: Option<DamageNote>,
    /// The window that the figures are of; `None` when they are of the whole capture. Always taken from the whole capture are
    /// descriptors, what a device is and by which evidence, how transfers are framed, and which requests were under way when
    /// the window began.
    #[serde(default)] // older documents lack it
    pub window: Option<Window>,
    /// What this capture cannot show.
    pub limits: Vec<Limit>,
}

/// A link type.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LinkTypeCount {
    /// LINKTYPE number; 0 for text.
    pub number: u32,
    /// Its name.
    pub name: String,
    /// Records.
    pub records: u64,
}

/// Something that the capture cannot show.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Limit {
    /// Stable identifier: `snap`, `text-32-bytes`, `dropped`, `no-clock`, `irp-layer`, `no-descriptors`, ...
    pub code: String,
    /// In words.
    pub text: String,
}

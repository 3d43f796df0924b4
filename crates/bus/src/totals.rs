//! What is known of a capture as a whole.

use std::collections::BTreeMap;

use capture::Placed;

/// Sums over the whole capture.
#[derive(Debug, Default)]
pub(crate) struct Totals {
    pub records: u64,
    pub first_us: Option<i64>,
    pub last_us: i64,
    pub latest_us: i64,
    pub backward_steps: u64,
    pub backward_most_us: u64,
    /// Records of events that were counted already.
    pub copies: u64,
    pub submissions: u64,
    pub completions: u64,
    pub submission_errors: u64,
    pub unmatched: u64,
    /// Missing completions of endpoints that are not followed.
    pub lost_completions: u64,
    pub forgotten: u64,
    /// Requests under way where time stepped back.
    pub cut_off: u64,
    pub not_followed: u64,
    pub cut_transfers: u64,
    /// Those of them whose record is shorter than its recorder wrote it, with the shortest and the longest of these records.
    pub cut_records: u64,
    pub cut_at: Option<(u32, u32)>,
    pub data_transfers: u64,
    pub unreadable: u64,
    pub unreadable_examples: Vec<String>,
    pub other_requests: u64,
    pub not_usb: u64,
    pub isochronous: u64,
    /// Requests by layer: URB, IRP, log.
    pub layers: [u64; 3],
    pub clock_wraps: u64,
}

/// What the source knows about itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct Source {
    pub path: String,
    pub origin: &'static str,
    pub container: String,
    pub compression: &'static str,
    pub link_types: BTreeMap<(u32, String), u64>,
    pub snap_lengths: Vec<u32>,
    pub dropped: Option<u64>,
    pub damage: Option<(u64, String)>,
    pub has_clock: bool,
    pub clock_is_absolute: bool,
    pub is_text: bool,
    pub window: Option<Placed>,
}

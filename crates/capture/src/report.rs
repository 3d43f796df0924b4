//! What reports on captures have in common: the part that their figures are of, and where reading stopped.

use serde::Serialize;

use crate::Placed;

/// The part of a capture that the figures are of: records from one moment on and before another. An end that was not given is
/// `None`, and open.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Window {
    /// First moment inside, Unix seconds; `None` also without an absolute clock.
    pub from_unix_s: Option<f64>,
    /// First moment after it, Unix seconds.
    pub to_unix_s: Option<f64>,
    /// First moment inside, from the first record of the capture on; negative when it lies before.
    pub from_us: Option<f64>,
    /// First moment after it, from the first record of the capture on.
    pub to_us: Option<f64>,
    /// Records before the window.
    pub records_before: u64,
    /// Records in it.
    pub records_inside: u64,
    /// Records at its end or later.
    pub records_after: u64,
    /// Records that have no time and are left out.
    pub records_without_time: u64,
    /// Time of the first record of the capture.
    pub capture_first_unix_s: Option<f64>,
    /// Latest time of a record of the capture.
    pub capture_last_unix_s: Option<f64>,
}

/// Where reading stopped.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DamageNote {
    /// Byte offset in the (decompressed) file.
    pub offset: u64,
    /// What was expected and what was there.
    pub message: String,
}

impl Window {
    /// What happened to the records of a capture with a clock `is_absolute` (or that counts from somewhere else).
    pub fn new(placed: &Placed, is_absolute: bool) -> Self {
        let unix_s = |ns: Option<i64>| ns.filter(|_| is_absolute).map(|ns| ns as f64 / 1e9);
        let since_first =
            |ns: Option<i64>| ns.zip(placed.first_ns).map(|(ns, first)| ns.saturating_sub(first) as f64 / 1000.0);
        Self {
            from_unix_s: unix_s(placed.from_ns),
            to_unix_s: unix_s(placed.to_ns),
            from_us: since_first(placed.from_ns),
            to_us: since_first(placed.to_ns),
            records_before: placed.before,
            records_inside: placed.inside,
            records_after: placed.after,
            records_without_time: placed.untimed,
            capture_first_unix_s: unix_s(placed.first_ns),
            capture_last_unix_s: unix_s(placed.last_ns),
        }
    }
}

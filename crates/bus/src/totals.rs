//! What is known of a capture as a whole.

use std::collections::BTreeMap;

use capture::Placed;

/// Changes of the stamp from which the step of a clock is known, and the least one that is reported, µs.
const ENOUGH_STAMPS: u64 = 100;
const COARSE_US: u64 = 100;

/// Sums over the whole capture.
#[derive(Debug, Default)]
pub(crate) struct Totals {
    pub records: u64,
    pub first_us: Option<i64>,
    pub last_us: i64,
    pub latest_us: i64,
    /// Times that the stamp changed in the whole capture, and what all these changes are multiples of, µs.
    pub stamps: u64,
    pub clock_step_us: u64,
    stamped_us: Option<i64>,
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
    /// Those of them with a record that is shorter than its recorder wrote it, with the shortest and the longest of these records.
    pub cut_records: u64,
    pub cut_at: Option<(u32, u32)>,
    pub data_transfers: u64,
    /// Transfers to the device that failed, of which the capture has what was handed over, and not what was taken.
    pub failed_lengths: u64,
    pub unreadable: u64,
    pub unreadable_examples: Vec<String>,
    pub other_requests: u64,
    pub other_submissions: u64,
    /// Among those: pipes that were reset after a stall, and pipes with requests that were taken back.
    pub pipe_resets: u64,
    pub pipe_aborts: u64,
    /// Requests that a recorder wrote down for itself.
    pub injected: u64,
    pub not_usb: u64,
    pub isochronous: u64,
    /// Requests by layer: URB, IRP, log.
    pub layers: [u64; 3],
    pub clock_wraps: u64,
}

impl Totals {
    /// Takes the stamp of the next record, in the window or outside: the clock is that of the capture.
    pub fn stamp(&mut self, now: i64) {
        let apart = now.abs_diff(self.stamped_us.replace(now).unwrap_or(now));
        if apart > 0 {
            self.stamps += 1;
            // Of most clocks it is 1 after a few records.
            if self.clock_step_us != 1 {
                self.clock_step_us = greatest_divisor(apart, self.clock_step_us);
            }
        }
    }

    /// Takes the stamp of the next record of the window.
    pub fn time(&mut self, now: i64) {
        self.stamp(now);
        if self.first_us.is_none() {
            self.first_us = Some(now);
            self.last_us = now;
            self.latest_us = now;
        }
        let back = self.last_us.saturating_sub(now).max(0) as u64;
        self.backward_steps += u64::from(back > 0);
        self.backward_most_us = self.backward_most_us.max(back);
        self.last_us = now;
        self.latest_us = self.latest_us.max(now);
    }

    /// From the first record to the latest.
    pub fn span_us(&self) -> u64 {
        self.first_us.map_or(0, |first| self.latest_us.saturating_sub(first).max(0) as u64)
    }

    /// The steps in which a coarse clock moves.
    pub fn coarse_step_us(&self) -> Option<u64> {
        Some(self.clock_step_us).filter(|step| *step >= COARSE_US && self.stamps >= ENOUGH_STAMPS)
    }
}

/// The greatest common divisor; that of a number and 0 is the number.
fn greatest_divisor(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
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
    /// `None`: there is no record.
    pub has_clock: Option<bool>,
    pub clock_is_absolute: bool,
    pub is_text: bool,
    /// The window was given by dates, which the text of usbmon does not have.
    pub is_by_time_of_day: bool,
    pub window: Option<Placed>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_coarse_clock_is_known_by_all_its_stamps() {
        let of = |step: i64, jitter: i64| {
            let mut totals = Totals::default();
            (0..300).for_each(|n| totals.time(7 + step * (n * n % 17) + jitter * (n % 2)));
            totals.coarse_step_us()
        };
        assert_eq!((of(1_000, 0), of(15_625, 0)), (Some(1_000), Some(15_625)));
        assert_eq!((of(1_000, 1), of(50, 0)), (None, None));
        let mut few = Totals::default();
        (0..50).for_each(|n| few.time(n * 1_000));
        assert_eq!(few.coarse_step_us(), None);
    }
}

//! Where time steps back on a bus: another capture begins there, or the clock was set back.
//!
//! A bus writes its records in order. Several processors may stamp two of them the other way round, by some µs; a step back of
//! more than [`STEP_US`] is something else. What was under way before it is not paired with what comes after it, and rates are
//! of the time between steps. Where more than a little of the time is in the file twice, they are not known, nor is what else
//! rests on one timeline (the time span, gaps, requests under way).

use std::collections::BTreeMap;

/// The smallest step back that counts.
pub(crate) const STEP_US: i64 = 10_000;
/// At most one part in this many of the time span may be in the file twice.
const FEW: u64 = 100;

/// Steps back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Steps {
    pub count: u64,
    pub largest_us: u64,
    pub sum_us: u64,
}

impl Steps {
    fn add(&mut self, other: Self) {
        self.count += other.count;
        self.largest_us = self.largest_us.max(other.largest_us);
        self.sum_us = self.sum_us.saturating_add(other.sum_us);
    }

    /// Whether the time that is in the file twice is little beside `span_us`.
    pub fn are_few(&self, span_us: u64) -> bool {
        u128::from(self.sum_us) * u128::from(FEW) <= u128::from(span_us)
    }
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct StepsBack {
    /// The latest time of each bus since its last step.
    latest: BTreeMap<u16, i64>,
    /// Those with both sides in the window.
    pub inside: Steps,
    /// Those since the last record of the window.
    outside: Steps,
    has_begun: bool,
}

impl StepsBack {
    /// The next record, whether it steps back; `is_inside`: it lies in the window.
    pub fn look(&mut self, bus: u16, time_us: Option<i64>, is_inside: bool) -> bool {
        let by = time_us.map_or(0, |now| self.by(bus, now));
        if by > 0 {
            self.outside.add(Steps { count: 1, largest_us: by, sum_us: by });
        }
        if is_inside {
            let steps = std::mem::take(&mut self.outside);
            self.inside.add(if self.has_begun { steps } else { Steps::default() });
            self.has_begun = true;
        }
        by > 0
    }

    fn by(&mut self, bus: u16, now: i64) -> u64 {
        let latest = self.latest.entry(bus).or_insert(now);
        let by = latest.saturating_sub(now);
        if by > STEP_US {
            *latest = now;
            return by as u64;
        }
        *latest = (*latest).max(now);
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn looked(records: &[(u16, i64, bool)]) -> (u64, u64) {
        let mut steps = StepsBack::default();
        records.iter().for_each(|(bus, time, is_inside)| {
            steps.look(*bus, Some(*time), *is_inside);
        });
        (steps.inside.count, steps.inside.largest_us)
    }

    #[test]
    fn a_step_counts_on_its_own_bus() {
        assert_eq!(looked(&[(1, 0, true), (1, 50_000, true), (2, 0, true), (2, 50_000, true)]), (0, 0));
        assert_eq!(looked(&[(1, 50_000, true), (1, 40_000, true)]), (0, 0), "not more than the least");
        assert_eq!(looked(&[(1, 50_000, true), (1, 39_999, true), (1, 39_998, true)]), (1, 10_001));
    }

    #[test]
    fn steps_are_few_beside_a_long_time() {
        let steps = Steps { count: 2, largest_us: 330_000, sum_us: 570_000 };
        assert!(steps.are_few(189_000_000) && !steps.are_few(50_000_000) && Steps::default().are_few(0));
    }

    #[test]
    fn a_step_counts_when_the_window_has_both_sides() {
        let second_capture_in_the_window = [(1, 0, true), (1, 90_000, false), (1, 0, true)];
        assert_eq!(looked(&second_capture_in_the_window), (1, 90_000));
        assert_eq!(looked(&[(1, 90_000, false), (1, 0, true), (1, 1, true)]), (0, 0));
        assert_eq!(looked(&[(1, 90_000, true), (1, 0, false)]), (0, 0));
    }
}

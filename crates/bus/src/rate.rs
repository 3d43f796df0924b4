//! Events over time: the mean rate, the busiest second, and a series whose bins widen as time goes on.

use crate::report::RateBin;

/// Bins a series has at most.
const BINS_MAX: usize = 256;
/// Events, and seconds between the first and the last, from which they have a rate: a few in a second or more, or many within
/// less. What comes in one burst says nothing of a second.
const RATED: [(u64, f64); 2] = [(3, 1.0), (20, 0.01)];
/// Width of the bins of a short capture.
const FIRST_WIDTH_US: u64 = 10_000;

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Rate {
    n: u64,
    first_us: i64,
    last_us: i64,
    /// The second being counted, and what it has so far.
    second: i64,
    in_second: u32,
    peak: u32,
}

impl Rate {
    /// Counts one event.
    #[inline]
    pub fn add(&mut self, time_us: i64) {
        if self.n == 0 {
            self.first_us = time_us;
            self.second = time_us;
        }
        self.n += 1;
        self.last_us = self.last_us.max(time_us).max(self.first_us);
        let since = time_us.saturating_sub(self.second);
        if since >= 1_000_000 {
            self.second = self.second.saturating_add(since / 1_000_000 * 1_000_000);
            self.in_second = 0;
        }
        self.in_second = self.in_second.saturating_add(1);
        self.peak = self.peak.max(self.in_second);
    }

    /// Seconds between the first and the last event.
    pub fn span_s(&self) -> Option<f64> {
        (self.n > 1).then(|| self.last_us.saturating_sub(self.first_us) as f64 / 1e6).filter(|span| *span > 0.0)
    }

    /// Seconds between the first and the last event, where a rate can be made of them: not of a few, nor of one burst.
    pub fn rated_span_s(&self) -> Option<f64> {
        self.span_s().filter(|span| RATED.iter().any(|(events, least)| self.n >= *events && span >= least))
    }

    /// Events per second between the first and the last.
    pub fn mean_per_s(&self) -> Option<f64> {
        self.rated_span_s().map(|span| (self.n - 1) as f64 / span)
    }

    /// Events in the busiest of the seconds counted from the first event; `None` for less than a second.
    pub fn peak_per_s(&self) -> Option<f64> {
        self.span_s().filter(|span| *span >= 1.0).map(|_| f64::from(self.peak))
    }
}

/// Counts and bytes in bins of equal width, in memory that does not grow.
#[derive(Clone, Debug)]
pub struct Series {
    width_us: u64,
    bins: Vec<(u32, u64)>,
}

impl Default for Series {
    fn default() -> Self {
        Self { width_us: FIRST_WIDTH_US, bins: Vec::new() }
    }
}

impl Series {
    /// Counts an event `at_us` after the start of the capture.
    pub fn add(&mut self, at_us: u64, bytes: u64) {
        while at_us / self.width_us >= BINS_MAX as u64 {
            self.width_us = self.width_us.saturating_mul(2);
            let halves = self.bins.chunks(2);
            self.bins = halves
                .map(|pair| {
                    pair.iter()
                        .fold((0u32, 0u64), |sum, bin| (sum.0.saturating_add(bin.0), sum.1.saturating_add(bin.1)))
                })
                .collect();
        }
        let index = (at_us / self.width_us) as usize;
        if index >= self.bins.len() {
            self.bins.resize(index + 1, (0, 0));
        }
        if let Some(bin) = self.bins.get_mut(index) {
            *bin = (bin.0.saturating_add(1), bin.1.saturating_add(bytes));
        }
    }

    /// Width of a bin.
    pub fn width_us(&self) -> u64 {
        self.width_us
    }

    /// The bins from the first with something in it to the last.
    pub fn bins(&self) -> Vec<RateBin> {
        let bins = self.bins.iter().zip(0u64..).skip_while(|(bin, _)| bin.0 == 0);
        bins.map(|(bin, n)| RateBin { start_us: n * self.width_us, completions: u64::from(bin.0), bytes: bin.1 })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_steady_rate_is_found() {
        let mut rate = Rate::default();
        (0..5_001).for_each(|n| rate.add(n * 1_000));
        assert_eq!((rate.mean_per_s(), rate.peak_per_s()), (Some(1_000.0), Some(1_000.0)));
    }

    #[test]
    fn a_few_events_and_a_burst_are_no_rate() {
        let of = |n: i64, step_us: i64| {
            let mut rate = Rate::default();
            (0..n).for_each(|at| rate.add(at * step_us));
            (rate.span_s().is_some(), rate.mean_per_s())
        };
        assert_eq!(of(2, 500), (true, None));
        assert_eq!(of(2, 5_000_000), (true, None), "two have a distance");
        assert_eq!(of(19, 10_000), (true, None), "few, within less than a second");
        assert_eq!(of(3, 500_000), (true, Some(2.0)));
        assert_eq!(of(100, 10), (true, None), "a burst of a millisecond");
        assert_eq!(of(21, 10_000), (true, Some(100.0)));
    }

    proptest::proptest! {
        #[test]
        fn nothing_is_lost_when_bins_widen(times in proptest::collection::vec(0u64..1 << 50, 1..100)) {
            let mut series = Series::default();
            times.iter().for_each(|time| series.add(*time, 3));
            let bins = series.bins();
            assert!(bins.len() <= BINS_MAX);
            assert_eq!(bins.iter().map(|bin| bin.completions).sum::<u64>(), times.len() as u64);
            assert_eq!(bins.iter().map(|bin| bin.bytes).sum::<u64>(), 3 * times.len() as u64);
        }

        #[test]
        fn any_times_are_taken(times in proptest::collection::vec(proptest::num::i64::ANY, 1..50)) {
            let mut rate = Rate::default();
            times.iter().for_each(|time| rate.add(*time));
            let _ = (rate.mean_per_s(), rate.peak_per_s());
        }
    }
}

//! Events over time: the mean rate, the busiest second, and a series with bins that widen as time goes on.

use crate::report::RateBin;

/// Bins a series has at most.
const BINS_MAX: usize = 256;
/// Events, and seconds between the first and the last, from which they have a rate: a few in a second or more, or many within
/// less. What comes in one burst says nothing about a second.
const RATED: [(u64, f64); 2] = [(3, 1.0), (20, 0.01)];
/// Width of the bins of a short capture.
const FIRST_WIDTH_US: u64 = 10_000;

/// Bins that the busiest second is looked for with: it begins with any of them.
const SECOND: usize = 100;
const BIN_US: i64 = 10_000;

/// Events of the last second.
#[derive(Clone, Debug, Default)]
struct Second {
    /// Events by bin, the bin of a time being its number modulo [`SECOND`]; empty before the first event.
    bins: Vec<u32>,
    /// The latest bin.
    bin: i64,
    events: u32,
    peak: u32,
}

impl Second {
    /// Counts an event `at_us` after the first.
    fn add(&mut self, at_us: i64) {
        if self.bins.is_empty() {
            self.bins.resize(SECOND, 0);
        }
        let bin = (at_us / BIN_US).max(self.bin);
        if bin - self.bin >= SECOND as i64 {
            self.bins.fill(0);
            self.events = 0;
        } else {
            for passed in self.bin + 1..=bin {
                if let Some(left) = self.bins.get_mut(passed as usize % SECOND) {
                    self.events -= std::mem::take(left);
                }
            }
        }
        self.bin = bin;
        if let Some(events) = self.bins.get_mut(bin as usize % SECOND).filter(|_| self.events < u32::MAX) {
            *events += 1;
            self.events += 1;
        }
        self.peak = self.peak.max(self.events);
    }

    /// Another time begins; its seconds have nothing of what was before.
    fn restart(&mut self) {
        *self = Self { peak: self.peak, ..Self::default() };
    }
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Rate {
    n: u64,
    /// Stretches of time between which time stepped back.
    stretches: u64,
    /// Time of those that have ended, and the longest of them, µs.
    ended_us: i64,
    longest_us: i64,
    /// First and last event of the present one; `None` until there is one.
    first_us: Option<i64>,
    last_us: i64,
    second: Second,
}

impl Rate {
    /// Counts one event.
    #[inline]
    pub fn add(&mut self, time_us: i64) {
        let first_us = match self.first_us {
            Some(first_us) => first_us,
            None => {
                self.stretches += 1;
                self.last_us = time_us;
                *self.first_us.insert(time_us)
            }
        };
        self.n += 1;
        self.last_us = self.last_us.max(time_us);
        self.second.add(time_us.saturating_sub(first_us).max(0));
    }

    /// Time steps back: what comes next has no distance from what was before.
    pub fn restart(&mut self) {
        let stretch_us = self.stretch_us();
        self.ended_us = self.ended_us.saturating_add(stretch_us);
        self.longest_us = self.longest_us.max(stretch_us);
        self.first_us = None;
        self.second.restart();
    }

    /// Time of the present stretch.
    fn stretch_us(&self) -> i64 {
        self.first_us.map_or(0, |first_us| self.last_us.saturating_sub(first_us))
    }

    /// Seconds between the first and the last event, without the time between stretches.
    pub fn span_s(&self) -> Option<f64> {
        let span_us = self.ended_us.saturating_add(self.stretch_us());
        (self.n > self.stretches).then_some(span_us as f64 / 1e6).filter(|span| *span > 0.0)
    }

    /// Seconds between the first and the last event, where a rate can be made of them: not of a few, nor of one burst.
    pub fn rated_span_s(&self) -> Option<f64> {
        self.span_s().filter(|span| RATED.iter().any(|(events, least)| self.n >= *events && span >= least))
    }

    /// Events per second between the first and the last.
    pub fn mean_per_s(&self) -> Option<f64> {
        self.rated_span_s().map(|span| (self.n - self.stretches) as f64 / span)
    }

    /// Events in the busiest second; `None` for less than a second, and where no second has as many as the mean says, as of
    /// bursts that are a little more than a second apart.
    pub fn peak_per_s(&self) -> Option<f64> {
        let is_long = self.longest_us.max(self.stretch_us()) >= 1_000_000;
        let peak = f64::from(self.second.peak);
        self.mean_per_s().filter(|mean| is_long && peak >= mean.floor()).map(|_| peak)
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

    /// The seconds of a span of 1.06 s that are counted from its first event are one, and hold less than the mean of all.
    #[test]
    fn the_busiest_second_is_any_second() {
        let of = |times: &mut dyn Iterator<Item = i64>| {
            let mut rate = Rate::default();
            times.for_each(|time| rate.add(time));
            (rate.mean_per_s().map(f64::round), rate.peak_per_s())
        };
        let slow_then_fast = || (0..10).map(|n| n * 50_000).chain((0..560).map(|n| 500_000 + n * 1_000));
        assert_eq!(of(&mut slow_then_fast()), (Some(537.0), Some(568.0)));
        let three_bursts = || (0..30).map(|n| n / 10 * 1_100_000 + n);
        assert_eq!(of(&mut three_bursts()), (Some(13.0), None), "no second has 13");
        assert_eq!(of(&mut (0..900).map(|n| n * 1_000)).1, None, "less than a second");
    }

    /// 1 s of events, and the same behind a step back by 900 ms.
    #[test]
    fn a_step_back_makes_no_rate_higher() {
        let mut rate = Rate::default();
        (0..1_001).for_each(|n| rate.add(n * 1_000));
        let once = (rate.mean_per_s(), rate.peak_per_s());
        rate.restart();
        (0..1_001).for_each(|n| rate.add(100_000 + n * 1_000));
        assert_eq!((rate.mean_per_s(), rate.peak_per_s()), once);
        assert_eq!(rate.span_s(), Some(2.0));
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
            for time in times {
                rate.add(time);
                if time % 7 == 0 {
                    rate.restart();
                }
            }
            let _ = (rate.mean_per_s(), rate.peak_per_s());
        }
    }
}

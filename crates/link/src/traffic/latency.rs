//! Distributions of times.

use hdrhistogram::Histogram;
use serde::{Serialize, Serializer};

/// Longest time that is told apart, ns: ten minutes. A longer one counts as this.
const LONGEST_NS: u64 = 600_000_000_000;
/// What a histogram has room for at first, ns.
const SHORTEST_RANGE_NS: u64 = 1_000_000;

/// A distribution of times, in a histogram whose buckets are no wider than 0.1 % of the times in them. Two of them can be
/// [merged](Self::merge), so percentiles over many runs are those of all their packets.
#[derive(Clone, Debug)]
pub struct Latency {
    histogram: Histogram<u32>,
}

/// What is said about a distribution. Times in ms.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LatencySummary {
    /// How many times there are.
    pub n: u64,
    /// Shortest.
    pub min_ms: f64,
    /// Mean.
    pub mean_ms: f64,
    /// Standard deviation.
    pub sd_ms: f64,
    /// 5th percentile.
    pub p5_ms: f64,
    /// 25th percentile.
    pub p25_ms: f64,
    /// Median.
    pub p50_ms: f64,
    /// 75th percentile.
    pub p75_ms: f64,
    /// 95th percentile.
    pub p95_ms: f64,
    /// 99th percentile.
    pub p99_ms: f64,
    /// Longest.
    pub max_ms: f64,
}

impl Default for Latency {
    fn default() -> Self {
        Self::new()
    }
}

impl Latency {
    /// An empty one.
    pub fn new() -> Self {
        // A microsecond is the least that is told apart; three digits. It begins small and grows with the times in it. The
        // bounds are valid, so the other arm (a histogram of one digit) is never taken.
        let histogram = Histogram::new_with_bounds(1_000, SHORTEST_RANGE_NS, 3).or_else(|_| Histogram::new(1));
        let mut histogram = histogram.unwrap_or_else(|_| unreachable!("one digit is valid"));
        histogram.auto(true);
        Self { histogram }
    }

    /// Adds a time.
    pub fn record(&mut self, ns: u64) {
        // It can grow to the longest time: it cannot fail.
        let recorded = self.histogram.record(ns.min(LONGEST_NS));
        debug_assert!(recorded.is_ok());
    }

    /// Adds all times of another.
    pub fn merge(&mut self, other: &Self) {
        // Both have the same bounds: it cannot fail.
        let added = self.histogram.add(&other.histogram);
        debug_assert!(added.is_ok());
    }

    /// How many times there are.
    pub fn n(&self) -> u64 {
        self.histogram.len()
    }

    /// The time that this share (0 to 1) of all times does not exceed, ms; `None`: there are none.
    pub fn quantile_ms(&self, share: f64) -> Option<f64> {
        (self.n() > 0).then(|| self.histogram.value_at_quantile(share) as f64 / 1e6)
    }

    /// Buckets that are not empty: their upper ends in ms and how many times they hold, ascending.
    pub fn buckets(&self) -> impl Iterator<Item = (f64, u64)> + '_ {
        self.histogram.iter_recorded().map(|v| (v.value_iterated_to() as f64 / 1e6, u64::from(v.count_at_value())))
    }

    /// `None`: there are no times.
    pub fn summary(&self) -> Option<LatencySummary> {
        if self.n() == 0 {
            return None;
        }
        let h = &self.histogram;
        let at = |share| h.value_at_quantile(share) as f64 / 1e6;
        Some(LatencySummary {
            n: h.len(),
            min_ms: h.min() as f64 / 1e6,
            mean_ms: h.mean() / 1e6,
            sd_ms: h.stdev() / 1e6,
            p5_ms: at(0.05),
            p25_ms: at(0.25),
            p50_ms: at(0.5),
            p75_ms: at(0.75),
            p95_ms: at(0.95),
            p99_ms: at(0.99),
            max_ms: h.max() as f64 / 1e6,
        })
    }
}

/// As its summary; `null` when there are no times.
impl Serialize for Latency {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.summary().serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_a_known_distribution_and_of_two_merged() {
        let (mut low, mut high) = (Latency::new(), Latency::new());
        assert!(low.summary().is_none() && low.quantile_ms(0.5).is_none());
        for ms in 1..=500u64 {
            low.record(ms * 1_000_000);
            high.record((500 + ms) * 1_000_000);
        }
        low.merge(&high);
        let summary = low.summary().unwrap();
        assert_eq!(summary.n, 1000);
        for (got, want) in [(summary.p50_ms, 500.0), (summary.p95_ms, 950.0), (summary.mean_ms, 500.5)] {
            assert!((got / want - 1.0).abs() < 0.001, "{got} {want}");
        }
        assert_eq!(low.buckets().map(|b| b.1).sum::<u64>(), 1000);
    }

    #[test]
    fn times_beyond_all_bounds_count() {
        let mut latency = Latency::new();
        latency.record(0);
        latency.record(u64::MAX);
        assert_eq!(latency.n(), 2);
        // One that has not grown takes the times of one that has.
        let mut small = Latency::new();
        small.merge(&latency);
        assert_eq!(small.n(), 2);
        assert!((small.quantile_ms(1.0).unwrap() / 600_000.0 - 1.0).abs() < 0.001);
    }
}

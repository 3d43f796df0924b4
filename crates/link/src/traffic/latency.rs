//! Distributions of times.

use histogram::{Bucket, Histogram};
use serde::{Serialize, Serializer};

/// Longest time that is distinguished, ns: ten minutes. A longer one counts as this.
const LONGEST_NS: u64 = 600_000_000_000;
/// Least time that is distinguished, ns, as a power of two: 512 ns.
const UNIT_BITS: u32 = 9;
/// Buckets to each power of two, as a power of two: 1,024.
const PRECISION_BITS: u32 = 10;

/// A distribution of times, in a histogram with buckets that are no wider than 0.1 % of the times in them. Two of them can be
/// [merged](Self::merge), so percentiles over many runs are those of all their packets.
#[derive(Clone, Debug, Default)]
pub struct Latency {
    histogram: Histogram<PRECISION_BITS>,
}

/// The report of a distribution. Times in ms.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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

/// The times of a bucket, ns: first, middle and last.
const fn times_ns(bucket: Bucket) -> (u64, u64, u64) {
    let (first_ns, next_ns) = (bucket.low << UNIT_BITS, bucket.next << UNIT_BITS);
    (first_ns, first_ns + (next_ns - first_ns) / 2, next_ns - 1)
}

impl Latency {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a time.
    pub fn record(&mut self, ns: u64) {
        self.histogram.add(ns.min(LONGEST_NS) >> UNIT_BITS);
    }

    /// Adds all times of another.
    pub fn merge(&mut self, other: &Self) {
        self.histogram.merge(&other.histogram);
    }

    /// How many times there are.
    pub fn n(&self) -> u64 {
        self.histogram.n()
    }

    /// The time that this share (0 to 1) of all times does not exceed, ms; `None`: there are none.
    pub fn quantile_ms(&self, share: f64) -> Option<f64> {
        let (first_ns, _, last_ns) = times_ns(self.histogram.quantile(share)?);
        Some(if share > 0.0 { last_ns } else { first_ns } as f64 / 1e6)
    }

    /// The times that these shares (more than 0 to 1, ascending) of all times do not exceed, ms, as [`Self::quantile_ms`]
    /// gives each, in one pass over the buckets.
    fn quantiles_ms(&self, recorded: &[(Bucket, u64)], shares: &[f64]) -> Vec<f64> {
        let mut found = Vec::with_capacity(shares.len());
        // As many times as a share stands for, at least the first.
        let wanted = |share: f64| ((share.min(1.0) * self.n() as f64).ceil() as u64).max(1);
        let mut seen = 0;
        for &(bucket, times) in recorded {
            seen += times;
            while shares.get(found.len()).is_some_and(|&share| wanted(share) <= seen) {
                found.push(times_ns(bucket).2 as f64 / 1e6);
            }
        }
        found
    }

    /// Buckets that are not empty: their upper ends in ms and how many times they hold, ascending.
    pub fn buckets(&self) -> impl Iterator<Item = (f64, u64)> + '_ {
        self.histogram.buckets().map(|(bucket, times)| (times_ns(bucket).2 as f64 / 1e6, times))
    }

    /// `None`: there are no times.
    pub fn summary(&self) -> Option<LatencySummary> {
        self.summary_with(&[]).map(|(summary, _)| summary)
    }

    /// The summary, and what these shares (more than 0 to 1, ascending) of all times do not exceed, ms. `None`: there are
    /// no times.
    pub fn summary_with(&self, shares: &[f64]) -> Option<(LatencySummary, Vec<f64>)> {
        let n = self.n();
        let recorded: Vec<(Bucket, u64)> = self.histogram.buckets().collect();
        // A time counts as the middle of its bucket.
        let middles = || recorded.iter().map(|&(bucket, times)| (times_ns(bucket).1 as f64, times as f64));
        let mean_ns = middles().fold(0.0, |sum, (ns, times)| sum + ns * times / n as f64);
        let squares = middles().fold(0.0, |sum, (ns, times)| {
            let deviation = ns - mean_ns;
            sum + deviation * deviation * times
        });
        let [p5_ms, p25_ms, p50_ms, p75_ms, p95_ms, p99_ms] =
            self.quantiles_ms(&recorded, &[0.05, 0.25, 0.5, 0.75, 0.95, 0.99]).try_into().ok()?;
        let summary = LatencySummary {
            n,
            min_ms: times_ns(recorded.first()?.0).0 as f64 / 1e6,
            mean_ms: mean_ns / 1e6,
            sd_ms: (squares / n as f64).sqrt() / 1e6,
            p5_ms,
            p25_ms,
            p50_ms,
            p75_ms,
            p95_ms,
            p99_ms,
            max_ms: times_ns(recorded.last()?.0).2 as f64 / 1e6,
        };
        Some((summary, self.quantiles_ms(&recorded, shares)))
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
    use proptest::prelude::*;

    /// The same times in HdrHistogram, resolved from 1 µs on, with three digits.
    fn reference(times_ns: &[u64]) -> hdrhistogram::Histogram<u32> {
        let mut histogram = hdrhistogram::Histogram::new_with_bounds(1_000, 1_000_000, 3).unwrap();
        histogram.auto(true);
        times_ns.iter().for_each(|ns| histogram.record((*ns).min(LONGEST_NS)).unwrap());
        histogram
    }

    proptest! {
        #[test]
        fn figures_are_those_of_hdrhistogram_to_the_last_bit(
            times in prop::collection::vec((0u64.., 0u32..64), 1..300),
            merged in any::<bool>(),
            share in 0.0..=1.0f64,
        ) {
            let times: Vec<u64> = times.into_iter().map(|(ns, shift)| ns >> shift).collect();
            let (mut latency, mut rest) = (Latency::new(), Latency::new());
            let (first, second) = times.split_at(if merged { times.len() / 2 } else { times.len() });
            first.iter().for_each(|ns| latency.record(*ns));
            second.iter().for_each(|ns| rest.record(*ns));
            latency.merge(&rest);
            let h = reference(&times);
            let at = |share| h.value_at_quantile(share) as f64 / 1e6;
            let known = LatencySummary {
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
            };
            prop_assert_eq!(latency.summary(), Some(known));
            prop_assert_eq!(latency.quantile_ms(share), Some(at(share)));
            let buckets = h.iter_recorded().map(|v| (v.value_iterated_to() as f64 / 1e6, u64::from(v.count_at_value())));
            prop_assert_eq!(latency.buckets().collect::<Vec<_>>(), buckets.collect::<Vec<_>>());
        }
    }

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

    /// Whatever is recorded: the figures are those that the histogram gives one by one.
    #[test]
    fn one_pass_gives_what_the_histogram_gives() {
        let shares: Vec<f64> = (1..=200).map(|point| f64::from(point) / 200.0).collect();
        let mut latency = Latency::new();
        assert!(latency.summary_with(&shares).is_none());
        // In the first buckets, which are a microsecond wide, and far up, with gaps and many of the same.
        for n in 0..5_000u64 {
            latency.record([n * 37 % 2_000, n * n * 411, 77_000_000, LONGEST_NS + n][(n % 4) as usize]);
            if [0, 1, 2, 6, 4_999].contains(&n) {
                let (summary, quantiles) = latency.summary_with(&shares).expect("times");
                let one_by_one: Vec<f64> = shares.iter().filter_map(|&share| latency.quantile_ms(share)).collect();
                assert_eq!(quantiles, one_by_one, "{n}");
                assert_eq!(Some(summary.p95_ms), latency.quantile_ms(0.95), "{n}");
            }
        }
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

//! Histograms of bounded size, from which medians and percentiles are read.

use histogram::Fine;

use crate::report::{Bar, Spread};

/// Counts of non-negative integers, exact below 4,096 and to 1/4,096 in most captures: see [`Fine`].
#[derive(Clone, Debug, Default)]
pub struct Histogram(Fine);

impl Histogram {
    /// Counts `value`.
    #[inline]
    pub fn add(&mut self, value: u64) {
        self.0.add(value);
    }

    /// The value below which a fraction `q` of the values lies.
    pub fn quantile(&self, q: f64) -> Option<f64> {
        self.0.quantile(q)
    }

    /// The percentiles and the mean; `None` without values.
    pub fn spread(&self) -> Option<Spread> {
        Some(Spread {
            n: self.0.n(),
            min: self.0.min()? as f64,
            p5: self.quantile(0.05)?,
            median: self.0.median()?,
            p95: self.quantile(0.95)?,
            p99: self.quantile(0.99)?,
            max: self.0.max()? as f64,
            mean: self.0.mean()?,
            resolution: Some(self.0.resolution()),
        })
    }

    /// One bar per power of two (0, 1, 2 to 3, 4 to 7, ...).
    pub fn octaves(&self) -> Vec<Bar> {
        let octaves = self.0.octaves().into_iter();
        octaves.map(|(low, count)| Bar { low, high: low.saturating_mul(2).max(1), count }).collect()
    }
}

/// Counts to be shown as bars, few enough for a page: a relative resolution of 1/32, exact below 64.
#[derive(Clone, Debug, Default)]
pub struct Bars(histogram::Histogram<5>);

impl Bars {
    /// Counts `value`.
    #[inline]
    pub fn add(&mut self, value: u64) {
        self.0.add(value);
    }

    /// One bar per bucket with something in it.
    pub fn bars(&self) -> Vec<Bar> {
        self.0.buckets().map(|(bucket, count)| Bar { low: bucket.low, high: bucket.next, count }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn the_median_is_within_its_resolution(mut values in proptest::collection::vec(0u64..1 << 40, 1..200)) {
            let mut h = Histogram::default();
            values.iter().for_each(|v| h.add(*v));
            values.sort_unstable();
            let truth = (values[values.len().div_ceil(2) - 1] + values[values.len() / 2]) as f64 / 2.0;
            let spread = h.spread().unwrap();
            // Less than the last of the four digits that are printed.
            assert!((spread.median - truth).abs() <= truth / 2_000.0, "{} for {truth}", spread.median);
            assert!((spread.median - truth).abs() <= truth * spread.resolution.unwrap() / 2.0);
            assert_eq!(h.octaves().iter().map(|bar| bar.count).sum::<u64>(), values.len() as u64);
            assert!(h.octaves().iter().all(|bar| bar.low < bar.high));
        }
    }
}

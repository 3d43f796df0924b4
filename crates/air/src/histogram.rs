//! Histograms of bounded size, from which medians and percentiles are read.

use histogram::Histogram;

use crate::report::{Bar, Spread};

/// Counts of small integers, one bucket per value; values above the last bucket count in it.
#[derive(Clone, Debug)]
pub struct Exact {
    low: i32,
    buckets: Vec<u32>,
    size: usize,
    n: u64,
    sum: i64,
    min: i32,
    max: i32,
}

impl Exact {
    /// Buckets for `low..low + size`; nothing is allocated before the first value.
    pub fn new(low: i32, size: usize) -> Self {
        Self { low, buckets: Vec::new(), size: size.max(1), n: 0, sum: 0, min: i32::MAX, max: i32::MIN }
    }

    /// Counts `value` (clamped into the range for the buckets, exact for minimum, maximum and mean).
    #[inline]
    pub fn add(&mut self, value: i32) {
        let index = (i64::from(value) - i64::from(self.low)).clamp(0, self.size as i64 - 1) as usize;
        match self.buckets.get_mut(index) {
            Some(bucket) => *bucket = bucket.saturating_add(1),
            None => self.begin(index),
        }
        self.n += 1;
        self.sum += i64::from(value);
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }

    /// Makes the buckets, with one count.
    #[cold]
    fn begin(&mut self, index: usize) {
        self.buckets = vec![0; self.size];
        if let Some(bucket) = self.buckets.get_mut(index) {
            *bucket = 1;
        }
    }

    /// Non-empty buckets as (value, count).
    pub fn iter(&self) -> impl Iterator<Item = (i32, u32)> + '_ {
        let low = self.low;
        self.buckets.iter().enumerate().filter(|(_, c)| **c > 0).map(move |(i, c)| (low + i as i32, *c))
    }

    /// The value below which a fraction `q` of the samples lies.
    pub fn quantile(&self, q: f64) -> Option<f64> {
        self.at_rank(((self.n as f64) * q).ceil().max(1.0) as u64)
    }

    /// The value in the middle; of an even number, the mean of the two in the middle.
    pub fn median(&self) -> Option<f64> {
        let middle = self.at_rank(self.n.div_ceil(2))?;
        if self.n % 2 == 1 {
            return Some(middle);
        }
        Some((middle + self.at_rank(self.n / 2 + 1)?) / 2.0)
    }

    /// The `rank`th smallest value, from 1.
    fn at_rank(&self, rank: u64) -> Option<f64> {
        let mut seen = 0u64;
        for (value, count) in self.iter() {
            seen += u64::from(count);
            if seen >= rank {
                return Some(f64::from(value.clamp(self.min, self.max)));
            }
        }
        None
    }

    /// Five numbers and the mean; `None` without samples.
    pub fn spread(&self) -> Option<Spread> {
        Some(Spread {
            n: self.n,
            min: f64::from(self.min),
            p5: self.quantile(0.05)?,
            median: self.median()?,
            p95: self.quantile(0.95)?,
            max: f64::from(self.max),
            mean: self.sum as f64 / self.n as f64,
        })
    }

    /// One bar per non-empty bucket.
    pub fn bars(&self) -> Vec<Bar> {
        self.iter()
            .map(|(value, count)| Bar { low: f64::from(value), high: f64::from(value) + 1.0, count: u64::from(count) })
            .collect()
    }
}

/// Counts of non-negative integers of any size with a relative resolution of 1/32, about 3 %.
#[derive(Clone, Debug, Default)]
pub struct Scaled(Histogram<5>);

impl Scaled {
    /// Counts `value`.
    pub fn add(&mut self, value: u64) {
        self.0.add(value);
    }

    /// Five numbers and the mean in units of `unit`; `None` without samples.
    pub fn spread(&self, unit: f64) -> Option<Spread> {
        let (min, max) = (self.0.min()?, self.0.max()?);
        let at = |q| Some(self.0.quantile(q)?.low.clamp(min, max) as f64 / unit);
        Some(Spread {
            n: self.0.n(),
            min: min as f64 / unit,
            p5: at(0.05)?,
            median: self.0.median()? / unit,
            p95: at(0.95)?,
            max: max as f64 / unit,
            mean: self.0.mean()? / unit,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_quantiles_of_one_to_hundred() {
        let mut h = Exact::new(0, 200);
        (1..=100).for_each(|v| h.add(v));
        let s = h.spread().unwrap();
        assert_eq!((s.min, s.p5, s.median, s.p95, s.max, s.mean), (1.0, 5.0, 50.5, 95.0, 100.0, 50.5));
    }

    #[test]
    fn exact_clamps_but_keeps_the_true_extremes() {
        let mut h = Exact::new(-5, 10);
        h.add(-1000);
        h.add(1000);
        let s = h.spread().unwrap();
        assert_eq!((s.min, s.max, s.n), (-1000.0, 1000.0, 2));
    }

    proptest::proptest! {
        #[test]
        fn scaled_median_is_within_its_resolution(mut values in proptest::collection::vec(0u64..1 << 40, 1..200)) {
            let mut h = Scaled::default();
            values.iter().for_each(|v| h.add(*v));
            values.sort_unstable();
            let truth = (values[values.len().div_ceil(2) - 1] + values[values.len() / 2]) as f64 / 2.0;
            let median = h.spread(1.0).unwrap().median;
            assert!((median - truth).abs() <= truth / 31.0 + 1.0, "{median} for {truth}");
        }
    }
}

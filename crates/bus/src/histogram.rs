//! Histograms of bounded size, from which medians and percentiles are read.

use crate::report::{Bar, Spread};

/// Sub-buckets of a power of two: a resolution of 1/32, about 3 %.
const SUB_BITS: u32 = 5;

/// Counts of non-negative integers with a relative resolution of about 3 %; exact below 32.
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    buckets: Vec<u32>,
    n: u64,
    sum: u64,
    min: u64,
    max: u64,
}

impl Histogram {
    fn index(value: u64) -> usize {
        if value < (1 << SUB_BITS) {
            return value as usize;
        }
        let exponent = 63 - value.leading_zeros();
        let mantissa = (value >> (exponent - SUB_BITS)) as usize & ((1 << SUB_BITS) - 1);
        (((exponent - SUB_BITS + 1) as usize) << SUB_BITS) + mantissa
    }

    /// Inclusive lower edge of a bucket.
    fn edge(index: usize) -> u64 {
        if index < (1 << SUB_BITS) {
            return index as u64;
        }
        let exponent = (index >> SUB_BITS) as u32 + SUB_BITS - 1;
        if exponent > 63 {
            return u64::MAX;
        }
        let mantissa = (index & ((1 << SUB_BITS) - 1)) as u64;
        (1u64 << exponent) | (mantissa << (exponent - SUB_BITS))
    }

    /// Counts `value`.
    #[inline]
    pub fn add(&mut self, value: u64) {
        let index = Self::index(value);
        if index >= self.buckets.len() {
            self.buckets.resize(index + 1, 0);
        }
        if let Some(bucket) = self.buckets.get_mut(index) {
            *bucket = bucket.saturating_add(1);
        }
        self.min = if self.n == 0 { value } else { self.min.min(value) };
        self.max = self.max.max(value);
        self.n += 1;
        self.sum = self.sum.saturating_add(value);
    }

    /// The value below which a fraction `q` of the values lies.
    pub fn quantile(&self, q: f64) -> Option<f64> {
        let rank = ((self.n as f64) * q).ceil().max(1.0) as u64;
        let mut seen = 0u64;
        for (index, count) in self.buckets.iter().enumerate() {
            seen += u64::from(*count);
            if seen >= rank {
                return Some(Self::edge(index).clamp(self.min, self.max) as f64);
            }
        }
        None
    }

    /// The percentiles and the mean; `None` without values.
    pub fn spread(&self) -> Option<Spread> {
        if self.n == 0 {
            return None;
        }
        Some(Spread {
            n: self.n,
            min: self.min as f64,
            p5: self.quantile(0.05)?,
            median: self.quantile(0.5)?,
            p95: self.quantile(0.95)?,
            p99: self.quantile(0.99)?,
            max: self.max as f64,
            mean: self.sum as f64 / self.n as f64,
        })
    }

    /// One bar per power of two (0, 1, 2 to 3, 4 to 7, ...).
    pub fn octaves(&self) -> Vec<Bar> {
        let mut bars: Vec<Bar> = Vec::new();
        for (index, count) in self.buckets.iter().enumerate().filter(|(_, count)| **count > 0) {
            let low = match Self::edge(index) {
                0 => 0,
                edge => 1u64 << (63 - edge.leading_zeros()),
            };
            let count = u64::from(*count);
            match bars.last_mut() {
                Some(bar) if bar.low == low => bar.count += count,
                _ => bars.push(Bar { low, high: low.saturating_mul(2).max(1), count }),
            }
        }
        bars
    }

    /// One bar per bucket with something in it.
    pub fn bars(&self) -> Vec<Bar> {
        let found = self.buckets.iter().enumerate().filter(|(_, count)| **count > 0);
        found.map(|(i, n)| Bar { low: Self::edge(i), high: Self::edge(i + 1), count: u64::from(*n) }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn edges_enclose_the_value(value in 0u64..) {
            let index = Histogram::index(value);
            assert!(Histogram::edge(index) <= value);
            assert!(Histogram::edge(index + 1) > value || Histogram::edge(index + 1) == u64::MAX);
        }

        #[test]
        fn the_median_is_within_its_resolution(mut values in proptest::collection::vec(0u64..1 << 40, 1..200)) {
            let mut h = Histogram::default();
            values.iter().for_each(|v| h.add(*v));
            values.sort_unstable();
            let truth = values[values.len().div_ceil(2) - 1] as f64;
            let median = h.spread().unwrap().median;
            assert!((median - truth).abs() <= truth / 31.0 + 1.0, "{median} for {truth}");
            assert_eq!(h.octaves().iter().map(|bar| bar.count).sum::<u64>(), values.len() as u64);
            assert!(h.octaves().iter().all(|bar| bar.low < bar.high));
        }
    }
}

//! Counts with buckets that are as narrow as memory allows.

use crate::layout::{bucket, index, median, octaves, quantile, Bucket};

/// Buckets to a power of two: 2^11 at first, so that a bucket is no wider than 1/2,048 of its numbers, and those below 4,096 have one
/// each.
const BITS: u32 = 11;
/// Counts in a page.
const PAGE: usize = 64;
/// Pages kept: 32 KiB.
const PAGES: usize = 128;

type Page = Box<[u32; PAGE]>;

/// Counts of numbers in narrow buckets, in little memory: only what is counted has a place, and when that becomes too much, buckets
/// are joined in pairs.
#[derive(Clone, Debug)]
pub struct Fine {
    bits: u32,
    pages: Vec<Option<Page>>,
    used: usize,
    n: u64,
    sum: u64,
    min: u64,
    max: u64,
}

impl Default for Fine {
    fn default() -> Self {
        Self { bits: BITS, pages: Vec::new(), used: 0, n: 0, sum: 0, min: 0, max: 0 }
    }
}

impl Fine {
    /// Counts `value`.
    #[inline]
    pub fn add(&mut self, value: u64) {
        self.count(value, 1);
        while self.used > PAGES {
            self.join();
        }
        self.min = if self.n == 0 { value } else { self.min.min(value) };
        self.max = self.max.max(value);
        self.n += 1;
        self.sum = self.sum.saturating_add(value);
    }

    #[inline]
    fn count(&mut self, value: u64, more: u32) {
        let index = index(self.bits, value);
        let page = index / PAGE;
        if page >= self.pages.len() {
            self.pages.resize(page + 1, None);
        }
        let Some(page) = self.pages.get_mut(page) else { return };
        let page = match page {
            Some(page) => page,
            None => {
                self.used += 1;
                page.insert(Box::new([0; PAGE]))
            }
        };
        if let Some(count) = page.get_mut(index % PAGE) {
            *count = count.saturating_add(more);
        }
    }

    /// Makes the buckets twice as wide. With few bits, all there are fit into the pages.
    #[cold]
    fn join(&mut self) {
        let bits = self.bits;
        let pages = std::mem::take(&mut self.pages);
        (self.bits, self.used) = (bits.saturating_sub(1), 0);
        for (page, counts) in (0..).zip(pages) {
            for (place, count) in
                counts.iter().flat_map(|counts| counts.iter()).enumerate().filter(|(_, count)| **count > 0)
            {
                self.count(bucket(bits, page * PAGE + place).low, *count);
            }
        }
    }

    /// How wide buckets are, as part of their numbers; numbers below twice the inverse have one each.
    pub fn resolution(&self) -> f64 {
        1.0 / (1u64 << self.bits) as f64
    }

    /// How many numbers were counted.
    pub const fn n(&self) -> u64 {
        self.n
    }

    /// The least number, exactly.
    pub fn min(&self) -> Option<u64> {
        (self.n > 0).then_some(self.min)
    }

    /// The largest number, exactly.
    pub fn max(&self) -> Option<u64> {
        (self.n > 0).then_some(self.max)
    }

    /// The mean of the numbers themselves.
    pub fn mean(&self) -> Option<f64> {
        (self.n > 0).then(|| self.sum as f64 / self.n as f64)
    }

    /// The middle of what a bucket holds of whole numbers that were counted.
    fn number(&self, bucket: Bucket) -> f64 {
        let (low, high) = (bucket.low.max(self.min), bucket.next.saturating_sub(1).min(self.max));
        low as f64 + (high.saturating_sub(low)) as f64 / 2.0
    }

    /// The number that a share `q` (0 to 1) of all numbers does not exceed, to half the width of its bucket; `None` without numbers.
    pub fn quantile(&self, q: f64) -> Option<f64> {
        quantile(self.n, q, self.buckets()).map(|bucket| self.number(bucket))
    }

    /// The number in the middle, or the mean of the two there, to half the width of their buckets; `None` without numbers.
    pub fn median(&self) -> Option<f64> {
        median(self.n, self.buckets(), |bucket| self.number(bucket))
    }

    /// Buckets with something in them, and how much; ascending.
    pub fn buckets(&self) -> impl Iterator<Item = (Bucket, u64)> + '_ {
        let there = self.pages.iter().enumerate().filter_map(|(page, counts)| Some((page, counts.as_ref()?)));
        let all = there.flat_map(|(page, counts)| (page * PAGE..).zip(counts.iter()));
        all.filter(|(_, count)| **count > 0).map(|(index, count)| (bucket(self.bits, index), u64::from(*count)))
    }

    /// The same by powers of two (0, 1, 2 to 3, 4 to 7, ...): the least number of each, and how much is in it.
    pub fn octaves(&self) -> Vec<(u64, u64)> {
        octaves(self.buckets())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(values: &[u64]) -> Fine {
        let mut fine = Fine::default();
        values.iter().for_each(|value| fine.add(*value));
        fine
    }

    /// Median, and the number at a share of all.
    fn truth(sorted: &[u64], q: f64) -> (f64, f64) {
        let median = (sorted[sorted.len().div_ceil(2) - 1] as f64 + sorted[sorted.len() / 2] as f64) / 2.0;
        let rank = ((sorted.len() as f64 * q).ceil() as usize).max(1);
        (median, sorted[rank - 1] as f64)
    }

    proptest! {
        /// What is printed has three digits, four at most: the error is below that.
        #[test]
        fn medians_and_quantiles_are_exact_to_one_in_4_096(
            mut values in prop::collection::vec(0u64..1 << 40, 1..100), shift in 0u32..32, q in 0.0..=1.0f64,
        ) {
            values.iter_mut().for_each(|value| *value >>= shift);
            let fine = of(&values);
            values.sort_unstable();
            let (median, number) = truth(&values, q);
            prop_assert_eq!(fine.resolution(), 1.0 / 2_048.0);
            prop_assert!((fine.median().unwrap() - median).abs() <= median / 4_096.0, "{} for {median}", fine.median().unwrap());
            prop_assert!((fine.quantile(q).unwrap() - number).abs() <= number / 4_096.0);
            if values.iter().all(|value| *value < 4_096) {
                prop_assert_eq!((fine.median().unwrap(), fine.quantile(q).unwrap()), (median, number));
            }
        }

        /// However many, and however far apart: memory is bounded, and the resolution is what it says.
        #[test]
        fn memory_is_bounded_and_the_resolution_is_true(
            seeds in prop::collection::vec(any::<u64>(), 100..20_000), spread in 0u32..64, q in 0.0..=1.0f64,
        ) {
            let mut values: Vec<u64> = seeds.iter().map(|seed| seed >> (seed % u64::from(spread + 1))).collect();
            let fine = of(&values);
            values.sort_unstable();
            prop_assert!(fine.used <= PAGES && fine.pages.len() <= 2 * 64 * (1 << BITS) / PAGE);
            let (median, number) = truth(&values, q);
            let within = |found: f64, truth: f64| (found - truth).abs() <= truth * fine.resolution() / 2.0 * (1.0 + 1e-9);
            prop_assert!(within(fine.median().unwrap(), median), "{} for {median}", fine.median().unwrap());
            prop_assert!(within(fine.quantile(q).unwrap(), number));
            prop_assert_eq!(fine.buckets().map(|(_, count)| count).sum::<u64>(), values.len() as u64);
            prop_assert_eq!((fine.min(), fine.max()), (values.first().copied(), values.last().copied()));
        }
    }

    #[test]
    fn a_million_times_within_three_octaves_keep_one_in_a_thousand() {
        let values: Vec<u64> = (0..1_000_000u64).map(|n| 100_000 + n * 7 % 700_000).collect();
        let fine = of(&values);
        assert!(fine.resolution() <= 1.0 / 1_024.0, "{}", fine.resolution());
        let mut sorted = values;
        sorted.sort_unstable();
        let (median, _) = truth(&sorted, 0.5);
        assert!((fine.median().unwrap() / median - 1.0).abs() <= 0.000_5, "{:?} {median}", fine.median());
    }

    #[test]
    fn nothing_is_counted_at_first() {
        let fine = Fine::default();
        assert_eq!(
            (fine.median(), fine.quantile(0.5), fine.mean(), fine.min(), fine.max()),
            (None, None, None, None, None)
        );
        assert!(fine.octaves().is_empty());
        assert_eq!(of(&[416, 417, 417]).median(), Some(417.0));
        assert_eq!(of(&[0, u64::MAX]).max(), Some(u64::MAX));
    }
}

#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::unreachable)]

mod fine;
mod layout;

pub use fine::Fine;
pub use layout::Bucket;

use layout::{bucket, index, median, octaves, quantile};

/// What a bucket counts with.
pub trait Count: Copy + Default + Into<u64> {
    /// One.
    const ONE: Self;

    /// The sum, or the largest value.
    fn plus(self, more: Self) -> Self;
}

impl Count for u32 {
    const ONE: Self = 1;

    #[inline]
    fn plus(self, more: Self) -> Self {
        self.saturating_add(more)
    }
}

impl Count for u64 {
    const ONE: Self = 1;

    #[inline]
    fn plus(self, more: Self) -> Self {
        self.saturating_add(more)
    }
}

/// Counts of numbers, to a relative resolution of `1 / 2^BITS`; exact below `2^(BITS + 1)`.
#[derive(Clone, Debug, Default)]
pub struct Histogram<const BITS: u32, C = u32> {
    counts: Vec<C>,
    n: u64,
    sum: u64,
    min: u64,
    max: u64,
}

impl<const BITS: u32, C: Count> Histogram<BITS, C> {
    /// Counts `value`.
    #[inline]
    pub fn add(&mut self, value: u64) {
        let index = index(BITS, value);
        if index >= self.counts.len() {
            self.counts.resize(index + 1, C::default());
        }
        if let Some(count) = self.counts.get_mut(index) {
            *count = count.plus(C::ONE);
        }
        self.min = if self.n == 0 { value } else { self.min.min(value) };
        self.max = self.max.max(value);
        self.n += 1;
        self.sum = self.sum.saturating_add(value);
    }

    /// Adds all that another has counted.
    pub fn merge(&mut self, other: &Self) {
        if other.n == 0 {
            return;
        }
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), C::default());
        }
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count = count.plus(*more);
        }
        self.min = if self.n == 0 { other.min } else { self.min.min(other.min) };
        self.max = self.max.max(other.max);
        self.n += other.n;
        self.sum = self.sum.saturating_add(other.sum);
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

    /// Where the number is that a share `q` (0 to 1) of all numbers does not exceed; `None` without numbers.
    pub fn quantile(&self, q: f64) -> Option<Bucket> {
        quantile(self.n, q, self.buckets())
    }

    /// The number in the middle, or the mean of the two there, to the resolution of their buckets; `None` without numbers.
    pub fn median(&self) -> Option<f64> {
        median(self.n, self.buckets(), |bucket| bucket.low.clamp(self.min, self.max) as f64)
    }

    /// Buckets with something in them, and how much; ascending.
    pub fn buckets(&self) -> impl Iterator<Item = (Bucket, u64)> + '_ {
        let counts = self.counts.iter().map(|&count| count.into()).enumerate();
        counts.filter(|(_, count)| *count > 0).map(|(index, count)| (bucket(BITS, index), count))
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

    fn holds<const BITS: u32>(value: u64) {
        let Bucket { low, next } = bucket(BITS, index(BITS, value));
        assert!(low <= value && (value < next || next == u64::MAX), "{value}: {low} to {next}");
        assert!(next == u64::MAX || next - low <= (low >> BITS).max(1), "{value}: {low} to {next}");
    }

    proptest! {
        #[test]
        fn a_bucket_holds_its_numbers_and_is_narrow(value in 0u64.., shift in 0u32..64) {
            holds::<3>(value >> shift);
            holds::<5>(value >> shift);
            holds::<10>(value >> shift);
        }

        #[test]
        fn quantiles_are_those_of_the_sorted_numbers(mut values in prop::collection::vec(0u64..1 << 40, 1..200), q in 0.0..=1.0f64) {
            let mut histogram = Histogram::<5>::default();
            values.iter().for_each(|value| histogram.add(*value));
            values.sort_unstable();
            let rank = ((values.len() as f64 * q).ceil() as usize).max(1);
            let (truth, found) = (values[rank - 1], histogram.quantile(q).unwrap());
            prop_assert!(found.low <= truth && truth < found.next, "{:?} for {}", found, truth);
            prop_assert_eq!((histogram.min(), histogram.max()), (values.first().copied(), values.last().copied()));
            prop_assert_eq!(histogram.octaves().iter().map(|octave| octave.1).sum::<u64>(), values.len() as u64);
        }

        #[test]
        fn the_median_of_an_even_number_lies_between_the_two_in_the_middle(mut values in prop::collection::vec(0u64..1 << 40, 1..200)) {
            let mut histogram = Histogram::<5>::default();
            values.iter().for_each(|value| histogram.add(*value));
            values.sort_unstable();
            let (lower, upper) = (values[values.len().div_ceil(2) - 1] as f64, values[values.len() / 2] as f64);
            let (truth, found) = ((lower + upper) / 2.0, histogram.median().unwrap());
            prop_assert!((found - truth).abs() <= truth / 31.0, "{} for {}", found, truth);
        }

        #[test]
        fn merged_is_as_counted_together(one in prop::collection::vec(0u64.., 0..50), other in prop::collection::vec(0u64.., 0..50)) {
            let of = |values: &[u64]| {
                let mut histogram = Histogram::<3, u64>::default();
                values.iter().for_each(|value| histogram.add(*value));
                histogram
            };
            let (mut merged, together) = (of(&one), of(&[&one[..], &other[..]].concat()));
            merged.merge(&of(&other));
            prop_assert_eq!(merged.buckets().collect::<Vec<_>>(), together.buckets().collect::<Vec<_>>());
            prop_assert_eq!((merged.n(), merged.min(), merged.max()), (together.n(), together.min(), together.max()));
            prop_assert_eq!(merged.mean(), together.mean());
        }
    }

    #[test]
    fn the_median_of_two_is_their_mean() {
        let of = |values: &[u64]| {
            let mut histogram = Histogram::<5>::default();
            values.iter().for_each(|value| histogram.add(*value));
            histogram.median()
        };
        assert_eq!((of(&[]), of(&[7]), of(&[15, 25]), of(&[3, 1, 2])), (None, Some(7.0), Some(20.0), Some(2.0)));
        assert_eq!(of(&[1, 2, 10, 11]), Some(6.0));
    }

    #[test]
    fn octaves_begin_at_powers_of_two() {
        let mut histogram = Histogram::<5>::default();
        [0, 1, 2, 3, 4, 100, 127, 128].into_iter().for_each(|value| histogram.add(value));
        assert_eq!(histogram.octaves(), [(0, 1), (1, 1), (2, 2), (4, 1), (64, 2), (128, 1)]);
        assert!(Histogram::<5>::default().quantile(0.5).is_none() && Histogram::<5>::default().mean().is_none());
    }
}

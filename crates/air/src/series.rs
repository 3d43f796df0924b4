//! Time series of bounded length: when it is full, neighbouring bins are merged and the bins become twice as wide.

use std::ops::AddAssign;

/// Bins that a series keeps at the most.
pub const MAX_BINS: usize = 1024;

/// A series of sums over equal bins of time.
#[derive(Clone, Debug)]
pub struct Series<T> {
    width_ns: i64,
    first: i64,
    bins: Vec<T>,
    /// The bin last added to: its start and its place, which spare most additions a division.
    recent: Option<(i64, usize)>,
}

impl<T: Copy + Default + AddAssign> Series<T> {
    /// An empty series with bins of `width_ns`.
    pub fn new(width_ns: i64) -> Self {
        Self { width_ns: width_ns.max(1), first: 0, bins: Vec::new(), recent: None }
    }

    /// Adds `value` to the bin that holds `at_ns`.
    #[inline]
    pub fn add(&mut self, at_ns: i64, value: T) {
        if let Some((start, place)) = self.recent {
            if at_ns >= start && at_ns - start < self.width_ns {
                if let Some(bin) = self.bins.get_mut(place) {
                    *bin += value;
                    return;
                }
            }
        }
        self.add_anywhere(at_ns, value);
    }

    fn add_anywhere(&mut self, at_ns: i64, value: T) {
        if self.bins.is_empty() {
            self.first = at_ns.div_euclid(self.width_ns);
        }
        loop {
            let index = at_ns.div_euclid(self.width_ns);
            if index < self.first {
                let missing = (self.first - index) as usize;
                if missing + self.bins.len() <= MAX_BINS {
                    self.bins.splice(0..0, std::iter::repeat_n(T::default(), missing));
                    self.first = index;
                    self.recent = None;
                    continue;
                }
            } else if ((index - self.first) as usize) < MAX_BINS {
                let offset = (index - self.first) as usize;
                if offset >= self.bins.len() {
                    self.bins.resize(offset + 1, T::default());
                }
                if let Some(bin) = self.bins.get_mut(offset) {
                    *bin += value;
                }
                self.recent = Some((index * self.width_ns, offset));
                return;
            }
            self.widen();
        }
    }

    /// Adds an interval of time, split over the bins it covers; `make` turns ns into a value.
    pub fn add_interval(&mut self, start_ns: i64, end_ns: i64, make: impl Fn(i64) -> T) {
        if let Some((start, _)) = self.recent {
            if start_ns >= start && end_ns > start_ns && end_ns - start <= self.width_ns {
                return self.add(start_ns, make(end_ns - start_ns));
            }
        }
        let mut at = start_ns;
        // An interval is at most a PPDU long (5.5 ms), a handful of bins; the bound guards against nonsense.
        for _ in 0..MAX_BINS {
            if at >= end_ns {
                return;
            }
            let bin_end = (at.div_euclid(self.width_ns) + 1).saturating_mul(self.width_ns);
            let upto = bin_end.min(end_ns);
            self.add(at, make(upto - at));
            at = upto;
        }
    }

    fn widen(&mut self) {
        self.recent = None;
        let new_width = self.width_ns.saturating_mul(2);
        let new_first = self.first.div_euclid(2);
        let mut merged: Vec<T> = Vec::with_capacity(self.bins.len() / 2 + 2);
        for (i, bin) in self.bins.iter().enumerate() {
            let index = ((self.first + i as i64).div_euclid(2) - new_first) as usize;
            if index >= merged.len() {
                merged.resize(index + 1, T::default());
            }
            if let Some(sum) = merged.get_mut(index) {
                *sum += *bin;
            }
        }
        self.bins = merged;
        self.first = new_first;
        self.width_ns = new_width;
    }

    /// Width of a bin, ns.
    pub fn width_ns(&self) -> i64 {
        self.width_ns
    }

    /// Bins as (start in ns, sum).
    pub fn iter(&self) -> impl Iterator<Item = (i64, T)> + '_ {
        self.bins.iter().enumerate().map(move |(i, bin)| ((self.first + i as i64) * self.width_ns, *bin))
    }

    /// The bins that `start_ns..end_ns` touches, as (start in ns, sum).
    pub fn between(&self, start_ns: i64, end_ns: i64) -> impl Iterator<Item = (i64, T)> + '_ {
        let place = |ns: i64| (ns.div_euclid(self.width_ns) - self.first).clamp(0, self.bins.len() as i64) as usize;
        let (from, upto) = (place(start_ns), place(end_ns.saturating_add(self.width_ns - 1)));
        self.iter().take(upto).skip(from)
    }

    /// Nothing was added yet.
    pub fn is_empty(&self) -> bool {
        self.bins.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn nothing_is_lost_and_the_length_is_bounded(
            points in proptest::collection::vec((-1i64 << 50..1i64 << 50, 1u64..1000), 1..300)
        ) {
            let mut series = Series::<u64>::new(1000);
            points.iter().for_each(|(at, value)| series.add(*at, *value));
            assert_eq!(series.iter().map(|(_, v)| v).sum::<u64>(), points.iter().map(|(_, v)| v).sum::<u64>());
            assert!(series.iter().count() <= MAX_BINS);
        }
    }

    #[test]
    fn only_the_bins_of_an_interval_are_visited() {
        let mut series = Series::<u64>::new(100);
        (0..10).for_each(|bin| series.add(bin * 100, 1 + bin as u64));
        let between = |start, end| series.between(start, end).map(|(at, _)| at).collect::<Vec<_>>();
        assert_eq!(between(250, 500), [200, 300, 400]);
        assert_eq!(between(250, 501), [200, 300, 400, 500]);
        assert_eq!(between(-300, 1), [0]);
        assert_eq!(between(900, 5_000), [900]);
        assert!(between(2_000, 3_000).is_empty() && between(-300, -200).is_empty());
    }

    #[test]
    fn an_interval_is_split_at_the_borders() {
        let mut series = Series::<i64>::new(100);
        series.add_interval(50, 320, |ns| ns);
        let bins: Vec<_> = series.iter().collect();
        assert_eq!(bins, vec![(0, 50), (100, 100), (200, 100), (300, 20)]);
    }
}

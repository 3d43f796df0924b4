//! A hash table that stays below a fixed size whatever a capture holds.

use hashbrown::hash_map::{Entry, HashMap};
use std::hash::Hash;

/// What a row is worth when the table is full: the least are given up first.
pub trait Weight {
    /// Larger is worth more.
    fn weight(&self) -> u64;
}

/// A key that differs from most others at the first look.
pub trait Key: Hash + Eq + Copy {
    /// A number that differs for most keys in its high bits.
    fn mixed(&self) -> u64;
}

/// Fibonacci hashing: addresses of one maker differ in few bits.
const MIXER: u64 = 0x9e37_79b9_7f4a_7c15;

impl Key for u64 {
    #[inline]
    fn mixed(&self) -> u64 {
        self.wrapping_mul(MIXER)
    }
}

impl Key for (u64, u64) {
    #[inline]
    fn mixed(&self) -> u64 {
        (self.0 ^ self.1.rotate_left(24)).wrapping_mul(MIXER)
    }
}

impl Key for (u64, u64, u8) {
    #[inline]
    fn mixed(&self) -> u64 {
        (self.0 ^ self.1.rotate_left(24) ^ u64::from(self.2) << 56).wrapping_mul(MIXER)
    }
}

/// Rows looked for first, by the key's highest bits; those that share a place replace each other.
const PLACE_BITS: u32 = 10;

/// Rows by key, kept in insertion order, at most `capacity` of them.
///
/// Row numbers stay valid until [`Table::generation`] changes, which happens when the less valuable half had to go.
#[derive(Debug)]
pub struct Table<K, V> {
    index: HashMap<K, u32>,
    rows: Vec<(K, V)>,
    /// Numbers of the rows last asked for: right when that row has the key.
    places: Vec<u32>,
    capacity: usize,
    evicted: u64,
    generation: u32,
}

impl<K: Key, V: Weight> Table<K, V> {
    /// An empty table for at most `capacity` rows.
    pub fn new(capacity: usize) -> Self {
        Self {
            index: HashMap::new(),
            rows: Vec::new(),
            places: vec![0; 1 << PLACE_BITS],
            capacity: capacity.max(2),
            evicted: 0,
            generation: 0,
        }
    }

    /// The row of `key`, made by `make` when it is new.
    #[inline]
    pub fn row(&mut self, key: K, make: impl FnOnce() -> V) -> u32 {
        let place = (key.mixed() >> (64 - PLACE_BITS)) as usize;
        if let Some(row) = self.places.get(place) {
            if self.rows.get(*row as usize).is_some_and(|(known, _)| *known == key) {
                return *row;
            }
        }
        let row = self.row_by_index(key, make);
        if let Some(place) = self.places.get_mut(place) {
            *place = row;
        }
        row
    }

    fn row_by_index(&mut self, key: K, make: impl FnOnce() -> V) -> u32 {
        if self.rows.len() >= self.capacity && !self.index.contains_key(&key) {
            self.evict();
        }
        match self.index.entry(key) {
            Entry::Occupied(slot) => *slot.get(),
            Entry::Vacant(slot) => {
                let row = self.rows.len() as u32;
                slot.insert(row);
                self.rows.push((key, make()));
                row
            }
        }
    }

    /// The row of `key`, if there is one.
    #[inline]
    pub fn find(&self, key: &K) -> Option<u32> {
        let row = *self.places.get((key.mixed() >> (64 - PLACE_BITS)) as usize)?;
        if self.rows.get(row as usize).is_some_and(|(known, _)| known == key) {
            return Some(row);
        }
        self.index.get(key).copied()
    }

    /// A row by number.
    pub fn get(&self, row: u32) -> Option<&V> {
        self.rows.get(row as usize).map(|(_, value)| value)
    }

    /// A row by number.
    pub fn get_mut(&mut self, row: u32) -> Option<&mut V> {
        self.rows.get_mut(row as usize).map(|(_, value)| value)
    }

    /// A row by key.
    pub fn by_key(&self, key: &K) -> Option<&V> {
        self.find(key).and_then(|row| self.get(row))
    }

    /// Changes all rows.
    pub fn each(&mut self, mut change: impl FnMut(&mut V)) {
        self.rows.iter_mut().for_each(|(_, row)| change(row));
    }

    /// Rows in insertion order.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.rows.iter().map(|(key, value)| (key, value))
    }

    /// Rows given up so far.
    pub fn evicted(&self) -> u64 {
        self.evicted
    }

    /// Raised whenever row numbers change.
    pub fn generation(&self) -> u32 {
        self.generation
    }

    /// Rows in the table.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Keeps the more valuable half (ties: the later rows go).
    fn evict(&mut self) {
        let mut order: Vec<u32> = (0..self.rows.len() as u32).collect();
        let weight = |row: &u32| self.rows.get(*row as usize).map_or(0, |(_, value)| value.weight());
        order.sort_by_key(|row| std::cmp::Reverse(weight(row)));
        let keep = self.capacity / 2;
        let mut kept = vec![false; self.rows.len()];
        for row in order.iter().take(keep) {
            if let Some(flag) = kept.get_mut(*row as usize) {
                *flag = true;
            }
        }
        let mut flags = kept.into_iter();
        self.rows.retain(|_| flags.next().unwrap_or(false));
        self.evicted += (order.len() - self.rows.len()) as u64;
        self.index.clear();
        self.index.extend(self.rows.iter().enumerate().map(|(row, (key, _))| (*key, row as u32)));
        self.generation = self.generation.wrapping_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Weight for u64 {
        fn weight(&self) -> u64 {
            *self
        }
    }

    #[test]
    fn the_valuable_survive_a_flood() {
        let mut table = Table::<u64, u64>::new(64);
        let important = table.row(7, || 0);
        *table.get_mut(important).unwrap() = 1000;
        for key in 100..10_000 {
            table.row(key, || 1);
            assert!(table.len() <= 64);
        }
        assert_eq!(table.by_key(&7), Some(&1000));
        assert_eq!(table.evicted() + table.len() as u64, 1 + 9_900);
    }

    proptest::proptest! {
        /// Keys that share a place, and rows that moved: what is found has the key that was asked for.
        #[test]
        fn a_row_is_found_under_its_own_key_only(keys in proptest::collection::vec((0u64..40, 0u64..3), 1..300)) {
            let mut table = Table::<(u64, u64), u64>::new(32);
            let key_of = |table: &Table<(u64, u64), u64>, row: u32| table.iter().nth(row as usize).map(|(key, _)| *key);
            for (low, high) in keys {
                let key = (low, high << 40);
                let row = table.row(key, || low);
                assert_eq!(key_of(&table, row), Some(key));
                assert_eq!((table.find(&key), table.row(key, || 0)), (Some(row), row));
                for other in (0..40).map(|low| (low, 0)) {
                    let is_there = table.iter().any(|(key, _)| *key == other);
                    assert_eq!(table.find(&other).and_then(|row| key_of(&table, row)), is_there.then_some(other));
                }
            }
        }
    }
}

//! Counts of a few distinct keys, in order of appearance.

/// At most `LIMIT` keys with a count each; further keys are not counted.
#[derive(Clone, Debug)]
pub struct Few<K, const LIMIT: usize> {
    rows: Vec<(K, u64)>,
    /// The row last added to, which is tried first.
    recent: usize,
}

impl<K, const LIMIT: usize> Default for Few<K, LIMIT> {
    fn default() -> Self {
        Self { rows: Vec::new(), recent: 0 }
    }
}

impl<K: Copy + PartialEq, const LIMIT: usize> Few<K, LIMIT> {
    /// Adds `count` to `key`.
    #[inline]
    pub fn add(&mut self, key: K, count: u64) {
        match self.rows.get_mut(self.recent) {
            Some((recent, sum)) if *recent == key => *sum += count,
            _ => self.add_anywhere(key, count),
        }
    }

    fn add_anywhere(&mut self, key: K, count: u64) {
        if let Some(row) = self.rows.iter().position(|(other, _)| *other == key) {
            self.recent = row;
            if let Some((_, sum)) = self.rows.get_mut(row) {
                *sum += count;
            }
        } else if self.rows.len() < LIMIT {
            self.recent = self.rows.len();
            self.rows.push((key, count));
        }
    }

    /// Keys and counts.
    pub fn iter(&self) -> impl Iterator<Item = (K, u64)> + '_ {
        self.rows.iter().copied()
    }

    /// The most frequent key.
    pub fn most(&self) -> Option<K> {
        self.rows.iter().max_by_key(|(_, count)| *count).map(|(key, _)| *key)
    }

    /// Distinct keys.
    pub fn len(&self) -> usize {
        self.rows.len()
    }
}

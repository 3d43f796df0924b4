//! Which data MPDUs are the first captured copy of theirs.

use wire::ieee80211::Seq;

/// Sequence numbers remembered before the newest: the largest Block Ack window (802.11be).
const WINDOW: u16 = 1_024;
const WORDS: usize = WINDOW as usize / 64;
/// No sender goes back to an earlier MPDU for longer: a number that comes back later is that of a new one, and its first
/// transmission was missed. The newest number has no such limit: a new MPDU has the same one in one case of 4,096.
const LIFETIME_NS: i64 = 1_000_000_000;

/// Sequence numbers captured lately from one transmitter to one receiver in one traffic class.
#[derive(Clone, Debug, Default)]
pub struct Copies {
    newest: u16,
    latest_ns: i64,
    /// One bit per sequence number, by its low bits; those of numbers beyond the newest are clear.
    seen: [u64; WORDS],
    /// Fragments of the newest number that were seen.
    fragments: u16,
    started: bool,
}

impl Copies {
    /// Records an MPDU; whether it is the first captured copy. Without the retry bit it always is.
    pub fn is_first(&mut self, sequence: u16, fragment: u8, retry: bool, at_ns: i64) -> bool {
        let ahead = Seq::new(sequence).distance_from(Seq::new(self.newest));
        let behind = Seq::new(self.newest).distance_from(Seq::new(sequence));
        let is_newest = ahead == 0 && retry;
        let is_old = !is_newest && at_ns.saturating_sub(self.latest_ns) > LIFETIME_NS;
        self.latest_ns = at_ns;
        let fragment = 1u16 << (fragment & 15);
        if !self.started || is_old || (ahead >= WINDOW && behind >= WINDOW) {
            *self = Self { newest: sequence, latest_ns: at_ns, seen: [0; WORDS], fragments: fragment, started: true };
            self.set(sequence);
            return true;
        }
        if ahead == 0 {
            let is_first = self.fragments & fragment == 0;
            self.fragments |= fragment;
            return is_first || !retry;
        }
        if ahead < WINDOW {
            for passed in 1..=ahead {
                let (word, bit) = place(self.newest.wrapping_add(passed));
                if let Some(word) = self.seen.get_mut(word) {
                    *word &= !bit;
                }
            }
            (self.newest, self.fragments) = (sequence, fragment);
            self.set(sequence);
            return true;
        }
        let (word, bit) = place(sequence);
        let is_first = self.seen.get(word).is_some_and(|word| word & bit == 0);
        self.set(sequence);
        is_first || !retry
    }

    fn set(&mut self, sequence: u16) {
        let (word, bit) = place(sequence);
        if let Some(word) = self.seen.get_mut(word) {
            *word |= bit;
        }
    }
}

fn place(sequence: u16) -> (usize, u64) {
    (usize::from(sequence) / 64 % WORDS, 1 << (sequence % 64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    #[test]
    fn a_retry_of_what_was_missed_is_a_first_copy_once() {
        let mut copies = Copies::default();
        assert!(copies.is_first(10, 0, false, 0));
        assert!(!copies.is_first(10, 0, true, 1_000));
        assert!(copies.is_first(12, 0, true, 2_000), "its first transmission was not captured");
        assert!(!copies.is_first(12, 0, true, 3_000));
        assert!(copies.is_first(11, 0, true, 4_000), "nor was that of the number before");
        assert!(!copies.is_first(11, 0, true, 5_000));
    }

    #[test]
    fn fragments_and_long_silences_are_told_apart() {
        let mut copies = Copies::default();
        assert!(copies.is_first(4_095, 0, false, 0));
        assert!(copies.is_first(4_095, 1, true, 10));
        assert!(!copies.is_first(4_095, 1, true, 20));
        assert!(copies.is_first(0, 0, true, 30));
        assert!(!copies.is_first(4_095, 0, true, 40));
        assert!(copies.is_first(4_095, 0, true, 2 * LIFETIME_NS), "another MPDU after all this time");
        assert!(!copies.is_first(4_095, 0, true, 10 * LIFETIME_NS), "the number has not moved on: the same MPDU");
    }

    proptest! {
        /// Against a set of all numbers ever seen, while the newest stays within half the number space.
        #[test]
        fn agrees_with_a_list_of_everything(steps in proptest::collection::vec((0u16..40, 0u16..200, any::<bool>()), 1..300)) {
            let mut copies = Copies::default();
            let (mut seen, mut newest) = (HashSet::new(), 2_000u32);
            for (forward, back, retry) in steps {
                newest += u32::from(forward);
                let number = newest - u32::from(back);
                let got = copies.is_first((number & 0xfff) as u16, 0, retry, 0);
                prop_assert_eq!(got, seen.insert(number) || !retry);
                newest = newest.max(number);
            }
        }
    }
}

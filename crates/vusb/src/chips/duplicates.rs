//! Which frames have come before.

use wire::ieee80211::Seq;

/// Sequence numbers of one TID that have come.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Duplicates {
    newest: Option<Seq>,
    /// Bit n: the number n before the newest has come.
    seen: u64,
}

impl Duplicates {
    /// Whether a frame has come before; it has from now on.
    pub(super) fn is_new(&mut self, sequence: Seq) -> bool {
        let Some(newest) = self.newest else {
            (self.newest, self.seen) = (Some(sequence), 1);
            return true;
        };
        let ahead = sequence.offset_from(newest);
        if ahead > 0 {
            self.newest = Some(sequence);
            self.seen = self.seen.checked_shl(ahead.unsigned_abs().into()).unwrap_or(0) | 1;
            return true;
        }
        match 1u64.checked_shl(ahead.unsigned_abs().into()) {
            Some(bit) => {
                let new = self.seen & bit == 0;
                self.seen |= bit;
                new
            }
            // Long before: the sender has started over.
            None => {
                (self.newest, self.seen) = (Some(sequence), 1);
                true
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_twice_is_a_duplicate() {
        let mut duplicates = Duplicates::default();
        let mut is_new = |sequence: u16| duplicates.is_new(Seq::new(sequence));
        let got = [4_094, 1, 4_094, 4_095, 4_095, 2, 2, 0, 66, 2, 65, 65].map(&mut is_new);
        assert_eq!(got, [true, true, false, true, false, true, false, true, true, true, true, false]);
    }
}

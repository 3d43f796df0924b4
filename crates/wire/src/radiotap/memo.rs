//! Radiotap headers that were decoded before.
//!
//! Apart from time stamp and signal strength, the headers of a capture are of a handful of kinds. A short one that
//! equals an earlier one in everything else is not walked through again.

use super::fields;
use super::walk::{decode, EXTENDED, FIXED_BYTES};
use crate::radio_info::{RadioError, RadioInfo};

/// Kinds remembered; those that share a place replace each other.
const SLOTS: usize = 256;
/// Bytes of the first field, TSFT.
const TSFT_BYTES: usize = 8;
/// Where the fields behind it begin.
const REST_AT: usize = FIXED_BYTES + TSFT_BYTES;
/// Longer headers are not remembered.
const LONGEST: usize = REST_AT + size_of::<u128>();

/// What version, length and presence word make of a header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Layout {
    /// The eight bytes in question.
    fixed: [u8; FIXED_BYTES],
    /// Mask of the bytes from [`REST_AT`]: those of the header that do not change from frame to frame.
    lasting: u128,
    /// Places of signal and noise, where they are there.
    signal_at: Option<usize>,
    noise_at: Option<usize>,
}

impl Layout {
    /// `None` for headers that are not remembered: without a time stamp, long, or with other things that are new in
    /// each frame.
    fn of(fixed: [u8; FIXED_BYTES]) -> Option<Self> {
        let [_, _, len_low, len_high, p0, p1, p2, p3] = fixed;
        let len = usize::from(u16::from_le_bytes([len_low, len_high]));
        let word = u32::from_le_bytes([p0, p1, p2, p3]);
        // Where another presence word follows, another antenna may report a signal of its own.
        if !(REST_AT..=LONGEST).contains(&len) || word & 1 == 0 || word & (EXTENDED | fields::EVER_NEW) != 0 {
            return None;
        }
        let mut at = fields::after_channel(word, REST_AT);
        let mut one_byte = |field: u32| {
            let place = (word >> field & 1 == 1).then_some(at)?;
            at += 1;
            Some(place).filter(|place| *place < len)
        };
        let (signal_at, noise_at) = (one_byte(5), one_byte(6));
        let mut lasting = [0xff; size_of::<u128>()];
        lasting.get_mut(len - REST_AT..)?.fill(0);
        for place in [signal_at, noise_at].into_iter().flatten() {
            *lasting.get_mut(place - REST_AT)? = 0;
        }
        Some(Self { fixed, lasting: u128::from_le_bytes(lasting), signal_at, noise_at })
    }
}

#[derive(Clone, Copy, Debug)]
struct DecodedHeader {
    fixed: [u8; FIXED_BYTES],
    rest: u128,
    info: RadioInfo,
}

/// Decodes radiotap headers, each kind of them once.
#[derive(Debug, Default)]
pub(crate) struct Memo {
    /// Layout of the latest header.
    layout: Layout,
    known: Vec<Option<DecodedHeader>>,
}

impl Memo {
    /// As [`decode`].
    #[inline]
    pub(crate) fn decode(&mut self, record: &[u8]) -> Result<RadioInfo, RadioError> {
        let Some((start, _)) = record.split_first_chunk::<LONGEST>() else { return decode(record) };
        let (Some(fixed), Some(rest)) = (start.first_chunk::<FIXED_BYTES>(), start.last_chunk()) else {
            return decode(record);
        };
        if self.layout.fixed != *fixed {
            match Layout::of(*fixed) {
                Some(layout) => self.layout = layout,
                None => return decode(record),
            }
        }
        let rest = u128::from_le_bytes(*rest) & self.layout.lasting;
        let slot = slot_of(rest);
        match self.known.get(slot) {
            Some(Some(known)) if known.rest == rest && known.fixed == *fixed => {
                let dbm = |at: usize| start.get(at).map(|byte| *byte as i8);
                let mut info = known.info;
                info.tsft_us =
                    start.get(FIXED_BYTES..REST_AT).and_then(<[u8]>::first_chunk).map(|b| u64::from_le_bytes(*b));
                info.signal_dbm = self.layout.signal_at.map_or(info.signal_dbm, dbm);
                info.noise_dbm = self.layout.noise_at.map_or(info.noise_dbm, dbm);
                Ok(info)
            }
            _ => self.learn(record, DecodedHeader { fixed: *fixed, rest, info: RadioInfo::default() }, slot),
        }
    }

    #[cold]
    fn learn(&mut self, record: &[u8], kind: DecodedHeader, slot: usize) -> Result<RadioInfo, RadioError> {
        let info = decode(record)?;
        if self.known.is_empty() {
            self.known = vec![None; SLOTS];
        }
        if let Some(place) = self.known.get_mut(slot) {
            *place = Some(DecodedHeader { info, ..kind });
        }
        Ok(info)
    }
}

#[inline]
fn slot_of(rest: u128) -> usize {
    let mixed = (rest as u64) ^ ((rest >> 64) as u64).rotate_left(29);
    (mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as usize % SLOTS
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Few values for many bytes, so that headers repeat.
    fn header() -> impl Strategy<Value = Vec<u8>> {
        let words = prop_oneof![
            Just(vec![0x0000_482fu32]),
            Just(vec![0x0010_482f]),
            Just(vec![0xa000_402f, 0x0000_0820]),
            Just(vec![0xa000_402e, 0x0000_0820]),
            Just(vec![0x0000_002e]),
            any::<u32>().prop_map(|word| vec![word & !EXTENDED]),
            any::<u32>().prop_map(|word| vec![word | EXTENDED]),
        ];
        (words, 0u16..70, proptest::collection::vec(0u8..3, 110), any::<u64>(), 0usize..3).prop_map(
            |(words, len, bytes, tsft, cut)| {
                let mut header = vec![0, 0];
                header.extend(len.to_le_bytes());
                header.extend(words.iter().flat_map(|word| word.to_le_bytes()));
                header.extend(tsft.to_le_bytes());
                header.extend(bytes);
                header.truncate(usize::from(len).saturating_sub(cut) + 40);
                header
            },
        )
    }

    proptest! {
        /// Whatever came before: what is returned is what decoding afresh gives.
        #[test]
        fn what_is_remembered_is_what_would_be_decoded(headers in proptest::collection::vec(header(), 1..60)) {
            let mut memo = Memo::default();
            for record in headers.iter().chain(&headers) {
                prop_assert_eq!(memo.decode(record), decode(record));
            }
        }
    }
}

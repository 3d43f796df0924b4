//! The walk through the presence words and the fields that they announce.

use super::fields::{self, align, Fields};
use crate::radio_info::{RadioError, RadioInfo};

/// Version, padding, length and the first presence word.
pub(super) const FIXED_BYTES: usize = 8;

/// Bits of a presence word that announce fields; the others steer the decoder.
const FIELD_BITS: u32 = 0x0fff_ffff;
/// The rest of the header is a list of type-length-value items.
const TLV: u32 = 1 << 28;
/// The next presence word starts again at field 0 of the radiotap namespace.
const RADIOTAP_NAMESPACE: u32 = 1 << 29;
/// The next presence word belongs to a vendor.
const VENDOR_NAMESPACE: u32 = 1 << 30;
/// Another presence word follows.
pub(super) const EXTENDED: u32 = 1 << 31;

/// OUI, sub-namespace and the length of the data to skip.
const VENDOR_HEADER_BYTES: usize = 6;

/// What the bits of the presence word in hand mean.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Namespace {
    /// Fields 0 to 27 (and the TLV list).
    Radiotap,
    /// Field numbers from 32, which exist in TLV form only.
    BeyondFirstWord,
    /// A vendor's, with data that was skipped as a whole.
    Vendor,
}

/// Decodes the radiotap header at the start of `record`.
pub(crate) fn decode(record: &[u8]) -> Result<RadioInfo, RadioError> {
    let Some((&[version, _pad, len_low, len_high, p0, p1, p2, p3], _)) = record.split_first_chunk::<FIXED_BYTES>()
    else {
        return Err(RadioError::Truncated { needed: FIXED_BYTES, got: record.len() });
    };
    if version != 0 {
        return Err(RadioError::Malformed("radiotap version is not 0"));
    }
    let header_len = usize::from(u16::from_le_bytes([len_low, len_high]));
    if header_len < FIXED_BYTES {
        return Err(RadioError::Malformed("radiotap length is shorter than its fixed part"));
    }
    let Some(header) = record.get(..header_len) else {
        return Err(RadioError::Truncated { needed: header_len, got: record.len() });
    };
    let mut info = RadioInfo { header_len, tsft_bits: 64, ..RadioInfo::default() };
    let mut fields = Fields::new(&mut info);
    // `None` means that the walk met something it cannot size: what came before counts.
    let _ = walk(header, u32::from_le_bytes([p0, p1, p2, p3]), &mut fields);
    fields.finish();
    Ok(info)
}

/// Visits every field in order. `header` ends where the header ends.
fn walk(header: &[u8], first_word: u32, fields: &mut Fields<'_>) -> Option<()> {
    let mut at = FIXED_BYTES;
    let mut word = first_word;
    while word & EXTENDED != 0 {
        word = le32_at(header, at)?;
        at += 4;
    }

    let mut namespace = Namespace::Radiotap;
    let mut word = first_word;
    let mut next_word_at = FIXED_BYTES;
    loop {
        match namespace {
            Namespace::Radiotap => {
                let mut bits = word & FIELD_BITS;
                if bits & fields::LOW & !fields::USUAL == 0 {
                    at = usual(header, at, word, fields)?;
                    bits &= !fields::LOW;
                }
                while bits != 0 {
                    let field = bits.trailing_zeros();
                    bits &= bits - 1;
                    let layout = fields::LAYOUT.get(field as usize)?;
                    let start = align(at, usize::from(layout.align));
                    at = start + usize::from(layout.size);
                    fields.take(field, header.get(start..at)?);
                }
                fields.end_of_word(word);
                if word & TLV != 0 {
                    return tlvs(header, align(at, 4), fields);
                }
            }
            Namespace::BeyondFirstWord if word & (FIELD_BITS | TLV) != 0 => return None,
            Namespace::BeyondFirstWord | Namespace::Vendor => {}
        }
        namespace = match (word & RADIOTAP_NAMESPACE != 0, word & VENDOR_NAMESPACE != 0) {
            (false, false) if namespace == Namespace::Vendor => Namespace::Vendor,
            (false, false) => Namespace::BeyondFirstWord,
            (true, false) => Namespace::Radiotap,
            (false, true) => {
                at = align(at, 2);
                let (vendor, _) = header.get(at..)?.split_first_chunk::<VENDOR_HEADER_BYTES>()?;
                at += VENDOR_HEADER_BYTES + usize::from(u16::from_le_bytes([vendor[4], vendor[5]]));
                Namespace::Vendor
            }
            // The two exclude each other.
            (true, true) => return None,
        };
        if word & EXTENDED == 0 {
            return Some(());
        }
        word = le32_at(header, next_word_at)?;
        next_word_at += 4;
    }
}

/// Visits the usual ones of the low fields one by one, without a loop, which takes less time. Returns where they end.
#[inline(always)]
fn usual(header: &[u8], mut at: usize, word: u32, fields: &mut Fields<'_>) -> Option<usize> {
    macro_rules! visit {
        ($($field:literal)*) => {$(
            const { assert!(fields::USUAL >> $field & 1 == 1) };
            if word >> $field & 1 == 1 {
                let layout = const { &fields::LAYOUT[$field] };
                let start = align(at, usize::from(layout.align));
                at = start + usize::from(layout.size);
                fields.take($field, header.get(start..at)?);
            }
        )*};
    }
    visit!(0 1 2 3 5 6 11 14);
    Some(at)
}

/// Visits the type-length-value items that fill the header from `at`.
fn tlvs(header: &[u8], mut at: usize, fields: &mut Fields<'_>) -> Option<()> {
    loop {
        let (&[t0, t1, l0, l1], rest) = header.get(at..)?.split_first_chunk::<4>()?;
        let len = usize::from(u16::from_le_bytes([l0, l1]));
        fields.take(u32::from(u16::from_le_bytes([t0, t1])), rest.get(..len)?);
        at += 4 + align(len, 4);
    }
}

fn le32_at(header: &[u8], at: usize) -> Option<u32> {
    header.get(at..)?.first_chunk::<4>().map(|bytes| u32::from_le_bytes(*bytes))
}

//! The Prism monitor header (link type 119): 24 bytes, then items of 12 bytes, in the byte order of the capturing host.
//!
//! An item is an identifier u32, a status u16 (0: the value is there), a length u16 and the value u32. Two sets of
//! identifiers exist: linux-wlan-ng's and those of Broadcom's driver use message code 0x41 and count in steps of
//! 0x1000; madwifi's and others' use 0x44 and count in steps of 0x10000. Captures of the same link type may hold AVS
//! headers instead.

use crate::phy::Mode;
use crate::radio_info::{RadioError, RadioInfo};
use crate::{avs, channel};

/// Message code, message length, and a device name of 16 bytes.
const FIXED_BYTES: usize = 24;
const ITEM_BYTES: usize = 12;

/// Message codes of the two sets of identifiers.
const CODE_WLAN_NG: u32 = 0x41;
const CODE_MADWIFI: u32 = 0x44;

/// Item numbers, the same in both sets.
const MAC_TIME: u32 = 2;
const CHANNEL: u32 = 3;
const SIGNAL: u32 = 6;
const NOISE: u32 = 7;
const RATE: u32 = 8;
const IS_TX: u32 = 9;

/// Decodes the Prism (or AVS) header at the start of `record`.
pub(crate) fn decode(record: &[u8]) -> Result<RadioInfo, RadioError> {
    let Some((&[c0, c1, c2, c3, l0, l1, l2, l3], _)) = record.split_first_chunk::<8>() else {
        return Err(RadioError::Truncated { needed: FIXED_BYTES, got: record.len() });
    };
    let code = [c0, c1, c2, c3];
    if avs::is_avs(u32::from_be_bytes(code)) {
        return avs::decode(record);
    }
    let u32_from: fn([u8; 4]) -> u32 = if is_message_code(u32::from_le_bytes(code)) {
        u32::from_le_bytes
    } else if is_message_code(u32::from_be_bytes(code)) {
        u32::from_be_bytes
    } else {
        return Err(RadioError::Malformed("neither a Prism nor an AVS header"));
    };
    // Ten items in every driver known, 144 bytes in all; some add items of their own.
    let header_len = u32_from([l0, l1, l2, l3]) as usize;
    if header_len < FIXED_BYTES || (header_len - FIXED_BYTES) % ITEM_BYTES != 0 {
        return Err(RadioError::Malformed("Prism message length is not a whole number of items"));
    }
    let Some(items) = record.get(FIXED_BYTES..header_len) else {
        return Err(RadioError::Truncated { needed: header_len, got: record.len() });
    };

    let mut info = RadioInfo { header_len, tsft_bits: 32, ..RadioInfo::default() };
    for item in items.chunks_exact(ITEM_BYTES) {
        let &[d0, d1, d2, d3, s0, s1, _, _, v0, v1, v2, v3] = item else { continue };
        let is_there = [s0, s1] == [0, 0];
        let (Some(number), true) = (item_number(u32_from([d0, d1, d2, d3])), is_there) else { continue };
        let value = u32_from([v0, v1, v2, v3]);
        match number {
            MAC_TIME => info.tsft_us = Some(u64::from(value)),
            CHANNEL => info.frequency_mhz = channel::frequency_mhz(value),
            SIGNAL => info.signal_dbm = dbm(value),
            NOISE => info.noise_dbm = dbm(value),
            RATE => {
                let rate = u8::try_from(value).ok();
                info.mode = rate.and_then(|rate| Mode::from_legacy_rate(rate, None)).unwrap_or(Mode::Unknown);
            }
            IS_TX => info.own_transmission = value != 0,
            _ => {}
        }
    }
    Ok(info)
}

const fn is_message_code(code: u32) -> bool {
    matches!(code, CODE_WLAN_NG | CODE_MADWIFI)
}

/// The number of an item (1 host time to 10 frame length) from its identifier in either set.
const fn item_number(identifier: u32) -> Option<u32> {
    if identifier & 0xffff == CODE_MADWIFI {
        Some(identifier >> 16)
    } else if identifier & 0xfff == CODE_WLAN_NG {
        Some(identifier >> 12)
    } else {
        None
    }
}

/// Drivers put dBm here, or a unit of their own that is never negative: only a negative value can be believed.
fn dbm(value: u32) -> Option<i8> {
    i8::try_from(value as i32).ok().filter(|&dbm| dbm < 0)
}

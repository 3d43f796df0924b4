//! What register requests mean, for traces.

use crate::trace::{hex, Detail};

/// Register of the efuse: a byte, its address, and whether it was read.
pub const EFUSE_CTRL: u16 = 0x0030;
/// Bit 7 of the last byte of [`EFUSE_CTRL`] (rtw88 reg.h, BIT_EF_FLAG).
pub const EFUSE_DONE: u8 = 0x80;
/// Command bits of the key memory (`cam.rs`).
pub const CAM_WRITE_NOW: u32 = 1 << 31 | 1 << 16;

/// A request for a register with this name: its value, and of the efuse the byte that was read.
pub fn register(address: u16, name: Option<String>, data: &[u8], is_read: bool) -> Detail {
    let efuse = match (address, data) {
        (EFUSE_CTRL, [value, low, high, done]) if is_read && done & EFUSE_DONE != 0 => {
            let at = u16::from(*low) | u16::from(high & 3) << 8;
            Some(format!("efuse {at:#05x} = {value:#04x}"))
        }
        _ => None,
    };
    Detail {
        register: Some(format!("{address:#06x}")),
        name,
        value: Some(number(data)),
        means: efuse,
        ..Detail::default()
    }
}

/// A register's value as a number, the last byte first.
fn number(data: &[u8]) -> String {
    match data.len() {
        1..=8 => data.iter().rev().fold("0x".to_owned(), |text, byte| text + &format!("{byte:02x}")),
        _ => hex(data),
    }
}

//! What register requests mean, for traces.

use super::efuse::{self, EFUSE_CTRL};
use crate::trace::{hex, Detail};

/// A request for a register with this name: its value, and of the efuse the byte that was read.
pub fn register(address: u16, name: Option<String>, data: &[u8], is_read: bool) -> Detail {
    let read = efuse::read(data).filter(|_| is_read && address == EFUSE_CTRL);
    Detail {
        register: Some(format!("{address:#06x}")),
        name,
        value: Some(number(data)),
        means: read.map(|(at, value)| format!("efuse {at:#05x} = {value:#04x}")),
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

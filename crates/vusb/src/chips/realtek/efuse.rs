//! Reading the one-time programmable memory, byte by byte, through a register (rtl8xxxu and rtw88 have it in regs.h and reg.h).

use super::memory::{Memory, Touched};

/// Byte 0 data, byte 1 and bits 1:0 of byte 2 address, bit 7 of byte 3 done.
pub const EFUSE_CTRL: u16 = 0x0030;
/// Bit 7 of the last byte of [`EFUSE_CTRL`] (rtw88: BIT_EF_FLAG).
const EFUSE_DONE: u8 = 0x80;

/// Answers a driver that has asked for a byte. `byte`: what is at an address.
pub fn written(memory: &mut Memory, touched: Touched, byte: impl FnOnce(u16) -> u8) {
    if touched.has(EFUSE_CTRL + 3) && memory.u8(EFUSE_CTRL + 3) & EFUSE_DONE == 0 {
        let address = u16::from(memory.u8(EFUSE_CTRL + 1)) | u16::from(memory.u8(EFUSE_CTRL + 2) & 3) << 8;
        memory.set_u8(EFUSE_CTRL, byte(address));
        memory.change(EFUSE_CTRL + 3, 0, EFUSE_DONE);
    }
}

/// The address and the byte that a driver has read out of [`EFUSE_CTRL`]; `None`: it is not done.
pub fn read(data: &[u8]) -> Option<(u16, u8)> {
    match data {
        [value, low, high, done] if done & EFUSE_DONE != 0 => {
            Some((u16::from(*low) | u16::from(high & 3) << 8, *value))
        }
        _ => None,
    }
}

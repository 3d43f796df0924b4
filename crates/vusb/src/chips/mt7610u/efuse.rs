//! One-time programmable memory, 512 bytes, read in blocks of 16 (Linux mt76x02_eeprom.c, mt76x02_efuse_read). Its fields are
//! those of mt76x02_eeprom.h; of what a real stick has in it, only what the driver needs to start is known.

use super::memory::Memory;
use super::registers as reg;

const LEN: usize = 512;
/// MT_EE_CHIP_ID, _VERSION, _MAC_ADDR, _NIC_CONF_0.
const CHIP_ID: usize = 0x00;
const VERSION: usize = 0x02;
const MAC_ADDR: usize = 0x04;
const NIC_CONF_0: usize = 0x34;
/// One stream each way, amplifiers inside, both bands (MT_EE_NIC_CONF_0_*).
const ONE_STREAM: u16 = 0x0311;
/// Transmit power of channels and rates (from MT_EE_TX_POWER_DELTA_BW80 on): middling values; power changes nothing on the air.
const POWER: std::ops::Range<usize> = 0x50..0x1d0;
const POWER_OF_RATES: std::ops::Range<usize> = 0xde..0x138;
const MIDDLING: u8 = 0x10;
/// Which blocks are used (MT_EE_USAGE_MAP_START); the driver wants five of them at least (mt76x0/eeprom.c,
/// mt76x0_efuse_physical_size_check).
const USAGE_MAP: usize = 0x1e0;
const USED: usize = 10;

/// The memory.
#[derive(Clone, Debug)]
pub struct Efuse([u8; LEN]);

impl Efuse {
    /// That of a stick with this address.
    pub fn new(address: [u8; 6]) -> Self {
        let mut bytes = [0; LEN];
        bytes[CHIP_ID..CHIP_ID + 2].copy_from_slice(&0x7610u16.to_le_bytes());
        bytes[VERSION..VERSION + 2].copy_from_slice(&0x0200u16.to_le_bytes());
        bytes[MAC_ADDR..MAC_ADDR + 6].copy_from_slice(&address);
        bytes[NIC_CONF_0..NIC_CONF_0 + 2].copy_from_slice(&ONE_STREAM.to_le_bytes());
        bytes[POWER].fill(MIDDLING);
        bytes[POWER_OF_RATES].fill(0);
        bytes[USAGE_MAP..USAGE_MAP + USED].fill(0x80);
        Self(bytes)
    }

    /// After a write of its control register.
    pub(super) fn kicked(&self, memory: &mut Memory, value: u32) {
        let start = (value >> 16 & 0x3f0) as usize;
        for at in 0..4 {
            let word = self.0.get(start + 4 * at..start + 4 * at + 4).and_then(|it| it.first_chunk());
            memory.set(reg::EFUSE_DATA + 4 * at as u32, word.map_or(u32::MAX, |it| u32::from_le_bytes(*it)));
        }
        memory.set(reg::EFUSE_CTRL, value & !(reg::EFUSE_KICK | reg::EFUSE_OUT) | reg::EFUSE_PRESENT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_read_in_blocks() {
        let (efuse, mut memory) = (Efuse::new([2, 0, 0, 0x76, 0x10, 1]), Memory::new(0x100));
        efuse.kicked(&mut memory, reg::EFUSE_KICK);
        assert_eq!(memory.array(reg::EFUSE_DATA), [0x10, 0x76, 0, 2, 2, 0, 0, 0x76, 0x10, 1]);
        assert_eq!(memory.word(reg::EFUSE_CTRL), reg::EFUSE_PRESENT);
        efuse.kicked(&mut memory, reg::EFUSE_KICK | 0x3f0 << 16);
        assert_eq!(memory.word(reg::EFUSE_DATA), u32::MAX, "beyond its end");
    }
}

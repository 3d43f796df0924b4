//! One-time programmable memory, 512 bytes, read in blocks of 16 (Linux mt76x02_eeprom.c, mt76x02_efuse_read). Its fields are
//! those of mt76x02_eeprom.h, and of mt7601u's eeprom.h; of what a real stick has in it, only what the driver needs to start is
//! known.

use super::baseband::TEMPERATURE;
use super::memory::Memory;
use super::model::{Model, LNA_GAIN};
use super::registers as reg;

const LEN: usize = 512;
/// MT_EE_CHIP_ID, _VERSION, _MAC_ADDR, _NIC_CONF_0.
const CHIP_ID: usize = 0x00;
const VERSION: usize = 0x02;
const MAC_ADDR: usize = 0x04;
const NIC_CONF_0: usize = 0x34;
/// MT7601U: versions (eeprom.h, MT_EE_VERSION_FAE and _EE) as a stick's log has them (see `model.rs`), region of channels 1 to 13
/// (MT_EE_COUNTRY_REGION; eeprom.c, mt7601u_set_country_reg), gain of the LNA (MT_EE_LNA_GAIN), temperature at which it was
/// calibrated (MT_EE_REF_TEMP).
const FAE_AND_VERSION: [u8; 2] = [0x00, 0x0d];
const REGION: usize = 0x39;
const CHANNELS_1_TO_13: u8 = 1;
const LNA: usize = 0x44;
const REFERENCE_TEMPERATURE: usize = 0xd1;
/// Transmit powers (MT_EE_TX_POWER_OFFSET).
const CHANNEL_POWER: std::ops::Range<usize> = 0x52..0x60;
/// One stream each way (MT_EE_NIC_CONF_0_*); no measurement of the transmitter's power (MT_EE_NIC_CONF_1_TX_ALC_EN is clear), as
/// power changes nothing on the air.
const ONE_STREAM_2GHZ: u16 = 0x0011;
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
    pub fn new(model: Model, address: [u8; 6]) -> Self {
        let mut bytes = [0; LEN];
        bytes[CHIP_ID..CHIP_ID + 2].copy_from_slice(&model.product().to_le_bytes());
        bytes[MAC_ADDR..MAC_ADDR + 6].copy_from_slice(&address);
        bytes[USAGE_MAP..USAGE_MAP + USED].fill(0x80);
        match model {
            Model::Mt7610u => Self::of_mt7610u(bytes),
            Model::Mt7601u => Self::of_mt7601u(bytes),
        }
    }

    fn of_mt7601u(mut bytes: [u8; LEN]) -> Self {
        bytes[VERSION..VERSION + 2].copy_from_slice(&FAE_AND_VERSION);
        bytes[NIC_CONF_0..NIC_CONF_0 + 2].copy_from_slice(&ONE_STREAM_2GHZ.to_le_bytes());
        bytes[REGION] = CHANNELS_1_TO_13;
        bytes[LNA] = LNA_GAIN as u8;
        bytes[CHANNEL_POWER].fill(MIDDLING);
        bytes[REFERENCE_TEMPERATURE] = TEMPERATURE;
        Self(bytes)
    }

    fn of_mt7610u(mut bytes: [u8; LEN]) -> Self {
        bytes[VERSION..VERSION + 2].copy_from_slice(&0x0200u16.to_le_bytes());
        bytes[NIC_CONF_0..NIC_CONF_0 + 2].copy_from_slice(&ONE_STREAM.to_le_bytes());
        bytes[POWER].fill(MIDDLING);
        bytes[POWER_OF_RATES].fill(0);
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
        let (efuse, mut memory) = (Efuse::new(Model::Mt7610u, [2, 0, 0, 0x76, 0x10, 1]), Memory::new(0x100));
        efuse.kicked(&mut memory, reg::EFUSE_KICK);
        assert_eq!(memory.array(reg::EFUSE_DATA), [0x10, 0x76, 0, 2, 2, 0, 0, 0x76, 0x10, 1]);
        assert_eq!(memory.word(reg::EFUSE_CTRL), reg::EFUSE_PRESENT);
        efuse.kicked(&mut memory, reg::EFUSE_KICK | 0x3f0 << 16);
        assert_eq!(memory.word(reg::EFUSE_DATA), u32::MAX, "beyond its end");
        let efuse = Efuse::new(Model::Mt7601u, [2, 0, 0, 0x76, 0x01, 1]);
        efuse.kicked(&mut memory, reg::EFUSE_KICK | 0x40 << 16);
        assert_eq!(memory.word(reg::EFUSE_DATA + 4), LNA_GAIN as u32);
    }

    /// mt7601u/eeprom.c, mt7601u_efuse_physical_size_check: five of the 29 blocks must be used.
    #[test]
    fn enough_of_it_is_used() {
        for model in [Model::Mt7610u, Model::Mt7601u] {
            let Efuse(bytes) = Efuse::new(model, [0; 6]);
            let free: Vec<usize> = (0x1e0..=0x1fc).filter(|&at| bytes[at] == 0).collect();
            let (first, last) = (free[0], free[free.len() - 1]);
            assert!(29 - (last - first + 1) >= 5);
        }
    }
}

//! Registers of the link itself, behind ports: the configuration space as the chip keeps it (DBI), and the physical layer (MDIO).
//! Nothing of the link is modelled: what is written is read back, accesses are done at once.

use std::collections::BTreeMap;

use super::registers as reg;
use crate::chips::realtek::memory::Memory;

/// Bits of the number of a word.
const WORD: u32 = 0x0ffc;

/// What was written, by word.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Link {
    configuration: BTreeMap<u16, u32>,
}

impl Link {
    /// After a write to the register that begins accesses to the configuration space.
    pub fn configuration(&mut self, memory: &mut Memory) {
        let flag = memory.u32(reg::DBI_FLAG);
        let word = (flag & WORD) as u16;
        if flag & reg::DBI_WRITES != 0 {
            let enabled = (0..4).filter(|byte| flag >> (12 + byte) & 1 == 1);
            let mask = enabled.fold(0u32, |mask, byte| mask | 0xff << (8 * byte));
            let kept = self.configuration.get(&word).copied().unwrap_or(0);
            self.configuration.insert(word, kept & !mask | memory.u32(reg::DBI_WRITE) & mask);
        }
        if flag & reg::DBI_READS != 0 {
            memory.set_u32(reg::DBI_READ, self.configuration.get(&word).copied().unwrap_or(0));
        }
        memory.set_u32(reg::DBI_FLAG, flag & !(reg::DBI_WRITES | reg::DBI_READS));
    }
}

/// After a write to the register that begins accesses to the physical layer. The driver reads none of its registers.
pub fn physical(memory: &mut Memory) {
    memory.set_u32(reg::MDIO_FLAG, memory.u32(reg::MDIO_FLAG) & !reg::MDIO_WRITES);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// pci.c, rtw_dbi_write8 and rtw_dbi_read8.
    #[test]
    fn bytes_are_read_back() {
        let (mut link, mut memory) = (Link::default(), Memory::default());
        let mut access = |address: u32, write: Option<u8>| {
            let byte = (address & 3) as u16;
            if let Some(value) = write {
                memory.set_u8(reg::DBI_WRITE + byte, value);
            }
            let enabled = if write.is_some() { 1 << (12 + byte) | reg::DBI_WRITES } else { reg::DBI_READS };
            memory.set_u32(reg::DBI_FLAG, address & WORD | enabled);
            link.configuration(&mut memory);
            assert_eq!(memory.u8(reg::DBI_FLAG + 2), 0, "done");
            memory.u8(reg::DBI_READ + byte)
        };
        access(0x719, Some(0x18));
        access(0x71a, Some(0x24));
        assert_eq!([0x718, 0x719, 0x71a, 0x81].map(|address| access(address, None)), [0, 0x18, 0x24, 0]);
    }

    #[test]
    fn the_physical_layer_is_written_at_once() {
        let mut memory = Memory::default();
        memory.set_u32(reg::MDIO_FLAG, 0x0100_0029);
        physical(&mut memory);
        assert_eq!(memory.u32(reg::MDIO_FLAG), 0x0100_0009);
    }
}

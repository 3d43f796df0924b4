//! The register file: what was written is there until something else is.

use super::registers as reg;
use crate::pci::REGISTERS_LEN;

/// The registers.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
pub(super) struct Registers(Vec<u32>);

impl Default for Registers {
    fn default() -> Self {
        Self(vec![0; (REGISTERS_LEN / 4) as usize])
    }
}

impl Registers {
    pub(super) fn word(&self, offset: u32) -> u32 {
        self.0.get((offset / 4) as usize).copied().unwrap_or(0)
    }

    pub(super) fn set(&mut self, offset: u32, value: u32) {
        if let Some(word) = self.0.get_mut((offset / 4) as usize) {
            *word = value;
        }
    }

    /// A register that each queue has.
    pub(super) fn of_queue(&self, first: u32, queue: usize) -> u32 {
        self.word(first + 4 * queue as u32)
    }

    /// An address of 48 bits in two registers; the upper half of the second has other bits.
    pub(super) fn address(&self, first: u32) -> u64 {
        u64::from(self.word(first)) | u64::from(self.word(first + 4) & 0xffff) << 32
    }

    /// Whether an address is the chip's own, as far as the mask goes (AR_BSSMSKL): it has several with several networks.
    pub(super) fn is_own(&self, address: [u8; 6]) -> bool {
        let address = address.iter().rev().fold(0u64, |value, &byte| value << 8 | u64::from(byte));
        let mask = self.address(reg::BSS_MASK);
        address & mask == self.address(reg::STA_ID0) & mask
    }
}

/// The queue of a register that each of them has.
pub(super) const fn queue_of(first: u32, offset: u32) -> Option<usize> {
    if offset >= first && offset < first + 4 * reg::QUEUES as u32 {
        Some(((offset - first) / 4) as usize)
    } else {
        None
    }
}

//! Memory and registers of the chip behind its mailboxes, as the host reaches them: before the firmware runs by BMI,
//! then through the diagnostic window (Linux ath6kl/target.h, ath6kl/hif.c).

use super::model::Addresses;

/// Bytes of memory that addresses are mapped onto.
const RAM: usize = 0x20_0000;
/// Addresses below are registers.
const REGISTERS_END: u32 = 0x10_0000;
/// Words of registers that are kept.
const REGISTERS: usize = 0x8000;

/// Fields of the host interest area (target.h, struct host_interest).
mod interest {
    /// Application area, which the firmware has when it runs: the host writes its version of WMI there.
    pub const APP_AREA: u32 = 0;
    /// Where the firmware has died.
    pub const FAILURE_STATE: u32 = 0x04;
    /// Where the firmware begins.
    pub const APP_START: u32 = 0x1c;
    /// Where the driver puts its board data.
    pub const BOARD_DATA: u32 = 0x54;
}

/// Reset control of the chip, and its cold reset.
pub(super) const RESET_CONTROL: u32 = 0x4000;
pub(super) const COLD_RESET: u32 = 0x100;

/// Words of the register dump that the driver prints when the firmware has died (core.h, REGISTER_DUMP_COUNT).
const DUMP_WORDS: u32 = 60;

/// Memory and registers.
#[derive(Clone, Debug)]
pub(super) struct Memory {
    addresses: Addresses,
    ram: Vec<u8>,
    registers: Vec<u32>,
}

impl Memory {
    /// As a chip has it before any download.
    pub(super) fn new(addresses: Addresses) -> Self {
        let mut memory = Self { addresses, ram: vec![0; RAM], registers: vec![0; REGISTERS] };
        for (field, value) in [(interest::BOARD_DATA, addresses.board_data), (interest::APP_START, addresses.app_start)]
        {
            memory.set_interest(field, value.unwrap_or(0));
        }
        memory
    }

    fn set_interest(&mut self, field: u32, word: u32) {
        self.set_word(self.addresses.host_interest + field, word);
    }

    /// Bytes from an address on; the address space repeats.
    pub(super) fn bytes(&self, address: u32, len: usize) -> Vec<u8> {
        let start = address as usize % RAM;
        self.ram.iter().cycle().skip(start).take(len).copied().collect()
    }

    /// Writes bytes.
    pub(super) fn write(&mut self, address: u32, bytes: &[u8]) {
        for (at, &byte) in (address as usize..).zip(bytes) {
            if let Some(slot) = self.ram.get_mut(at % RAM) {
                *slot = byte;
            }
        }
    }

    fn set_word(&mut self, address: u32, word: u32) {
        self.write(address, &word.to_le_bytes());
    }

    /// A register of the chip.
    pub(super) fn register(&self, address: u32) -> u32 {
        self.registers.get((address / 4) as usize % REGISTERS).copied().unwrap_or(0)
    }

    /// Writes one.
    pub(super) fn set_register(&mut self, address: u32, value: u32) {
        if let Some(register) = self.registers.get_mut((address / 4) as usize % REGISTERS) {
            *register = value;
        }
    }

    /// A word through the window.
    pub(super) fn window_read(&self, address: u32) -> [u8; 4] {
        if address < REGISTERS_END {
            return self.register(address).to_le_bytes();
        }
        self.bytes(address & !3, 4).try_into().unwrap_or_default()
    }

    /// Writes a word through the window.
    pub(super) fn window_write(&mut self, address: u32, word: [u8; 4]) {
        if address < REGISTERS_END {
            self.set_register(address, u32::from_le_bytes(word));
        } else {
            self.write(address & !3, &word);
        }
    }

    /// The firmware runs.
    pub(super) fn firmware_runs(&mut self) {
        self.set_interest(interest::APP_AREA, self.addresses.app_area);
    }

    /// The firmware has died: what the driver prints then.
    pub(super) fn firmware_died(&mut self) {
        let dump = self.addresses.dump;
        self.set_interest(interest::FAILURE_STATE, dump);
        for word in 0..DUMP_WORDS {
            self.set_word(dump + 4 * word, 0xdead_0000 + word);
        }
    }
}

crate::state!(Memory { ram, registers } made { addresses });

#[cfg(test)]
mod tests {
    use super::super::model::Model;
    use super::*;

    #[test]
    fn any_address_is_somewhere() {
        let mut memory = Memory::new(Model::Ar6003.addresses());
        memory.write(u32::MAX - 1, &[1, 2, 3, 4]);
        assert_eq!(memory.bytes(u32::MAX - 1, 4), [1, 2, 3, 4]);
        memory.window_write(0x1c0, [1, 0, 0, 0]);
        memory.window_write(0x0054_1003, [2, 0, 0, 0]);
        assert_eq!((memory.register(0x1c0), memory.window_read(0x0054_1000)), (1, [2, 0, 0, 0]));
        assert_eq!(memory.window_read(0x0054_0654), [0, 0x30, 0x54, 0]);
    }

    /// What the driver reads when the firmware has died (hif.c, ath6kl_hif_dump_fw_crash), at the addresses of each
    /// chip.
    #[test]
    fn a_dump_is_where_the_host_interest_area_says() {
        for (model, interest, mask) in [(Model::Ar6003, 0x0054_0600, 0x1f_ffff), (Model::Ar6004, 0x0040_0800, u32::MAX)]
        {
            let mut memory = Memory::new(model.addresses());
            assert_eq!(memory.window_read(interest & mask), [0; 4]);
            memory.firmware_runs();
            assert_ne!(memory.window_read(interest & mask), [0; 4]);
            memory.firmware_died();
            let dump = u32::from_le_bytes(memory.window_read((interest + 4) & mask));
            assert_eq!(memory.window_read((dump + 4) & mask), 0xdead_0001u32.to_le_bytes());
        }
    }
}

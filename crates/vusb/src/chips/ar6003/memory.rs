//! Memory and registers of the chip behind its mailboxes, as the host reaches them: before the firmware runs by BMI, then
//! through the diagnostic window (Linux ath6kl/target.h, ath6kl/hif.c).

/// Bytes of memory that addresses are mapped onto.
const RAM: usize = 0x20_0000;
/// Addresses below are registers.
const REGISTERS_END: u32 = 0x10_0000;
/// Words of registers that are kept.
const REGISTERS: usize = 0x8000;

/// Where the host interest area is (target.h, AR6003_HOST_INTEREST_ADDRESS), and fields of it.
const HOST_INTEREST: u32 = 0x0054_0600;
/// Application area, which the firmware has when it runs: the host writes its version of WMI there.
const APP_AREA: u32 = HOST_INTEREST;
/// Where the firmware has died.
const FAILURE_STATE: u32 = HOST_INTEREST + 0x04;
/// Where the firmware begins.
const APP_START: u32 = HOST_INTEREST + 0x1c;
/// Where the driver puts its board data.
const BOARD_DATA: u32 = HOST_INTEREST + 0x54;

/// Reset control of the chip, and its cold reset.
pub(super) const RESET_CONTROL: u32 = 0x4000;
pub(super) const COLD_RESET: u32 = 0x100;

/// Words of the register dump that the driver prints when the firmware has died (core.h, REGISTER_DUMP_COUNT).
const DUMP_WORDS: u32 = 60;

/// Memory and registers.
#[derive(Clone, Debug)]
pub(super) struct Memory {
    ram: Vec<u8>,
    registers: Vec<u32>,
}

impl Default for Memory {
    fn default() -> Self {
        let mut memory = Self { ram: vec![0; RAM], registers: vec![0; REGISTERS] };
        memory.set_word(BOARD_DATA, 0x0054_3000);
        memory.set_word(APP_START, 0x0094_4c00);
        memory
    }
}

impl Memory {
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
        self.set_word(APP_AREA, 0x0054_1000);
    }

    /// The firmware has died: what the driver prints then.
    pub(super) fn firmware_died(&mut self) {
        const DUMP: u32 = 0x0055_0000;
        self.set_word(FAILURE_STATE, DUMP);
        for word in 0..DUMP_WORDS {
            self.set_word(DUMP + 4 * word, 0xdead_0000 + word);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_address_is_somewhere() {
        let mut memory = Memory::default();
        memory.write(u32::MAX - 1, &[1, 2, 3, 4]);
        assert_eq!(memory.bytes(u32::MAX - 1, 4), [1, 2, 3, 4]);
        memory.window_write(0x1c0, [1, 0, 0, 0]);
        memory.window_write(0x0054_1003, [2, 0, 0, 0]);
        assert_eq!((memory.register(0x1c0), memory.window_read(0x0054_1000)), (1, [2, 0, 0, 0]));
        assert_eq!(memory.window_read(BOARD_DATA), [0, 0x30, 0x54, 0]);
    }
}

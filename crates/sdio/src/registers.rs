//! Registers of function 0: CCCR, FBR of function 1, and the Card Information Structures (SDIO 3.00, 6.7).

use wire::sdio::registers as at;

use crate::function::{BusAbility, CardIdentity};

/// Where the Card Information Structures are.
const COMMON_CIS: u32 = 0x1000;
const FUNCTION_CIS: u32 = 0x1080;
/// Bytes of CCCR and of an FBR.
const REGISTERS: usize = 0x100;
/// CCCR 1.20 of SDIO 2.00. Later ones have registers for UHS-I, which the host would ask for.
const REVISIONS: u8 = 0x32;
/// SD physical layer 2.00.
const SD_REVISION: u8 = 2;
/// What is behind the end of a chain.
const NOTHING: u8 = 0xff;

/// What a write to function 0 asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    None,
    Abort,
    Reset,
}

/// The registers.
#[derive(Clone, Debug)]
pub(crate) struct Registers {
    cccr: [u8; REGISTERS],
    fbr: [u8; REGISTERS],
    common_cis: Vec<u8>,
    function_cis: Vec<u8>,
}

impl Registers {
    /// What the host may have written.
    pub(crate) fn state(&self) -> (Vec<u8>, Vec<u8>) {
        (self.cccr.to_vec(), self.fbr.to_vec())
    }

    pub(crate) fn continue_as(&mut self, (cccr, fbr): &(Vec<u8>, Vec<u8>)) {
        for (own, other) in [(&mut self.cccr, cccr), (&mut self.fbr, fbr)] {
            own.iter_mut().zip(other).for_each(|(own, other)| *own = *other);
        }
    }

    /// As they are after power came, or after a reset.
    pub(crate) fn new(identity: &CardIdentity, ability: BusAbility) -> Self {
        let lines = if ability.four_lines { 0 } else { at::LOW_SPEED };
        let mut registers = Self {
            cccr: [0; REGISTERS],
            fbr: [0; REGISTERS],
            common_cis: identity.common_cis(ability),
            function_cis: identity.function_cis(),
        };
        for (address, value) in [
            (at::REVISIONS, REVISIONS),
            (at::SD_REVISION, SD_REVISION),
            (at::CAPABILITY, at::MULTI_BLOCK | at::INTERRUPT_4BIT | lines),
            (at::CIS_POINTER, COMMON_CIS.to_le_bytes()[0]),
            (at::CIS_POINTER + 1, COMMON_CIS.to_le_bytes()[1]),
            (at::BUS_SPEED, if ability.high_speed { at::HIGH_SPEED_SUPPORTED } else { 0 }),
            (at::fbr(1) + at::CIS_POINTER, FUNCTION_CIS.to_le_bytes()[0]),
            (at::fbr(1) + at::CIS_POINTER + 1, FUNCTION_CIS.to_le_bytes()[1]),
        ] {
            registers.set(address, value);
        }
        registers
    }

    fn slot(&mut self, address: u32) -> Option<&mut u8> {
        let within = address as usize % REGISTERS;
        match address >> 8 {
            0 => self.cccr.get_mut(within),
            1 => self.fbr.get_mut(within),
            _ => None,
        }
    }

    fn set(&mut self, address: u32, value: u8) {
        if let Some(slot) = self.slot(address) {
            *slot = value;
        }
    }

    fn get(&self, address: u32) -> u8 {
        let within = address as usize % REGISTERS;
        let registers = match address >> 8 {
            0 => &self.cccr,
            1 => &self.fbr,
            _ => return 0,
        };
        registers.get(within).copied().unwrap_or(0)
    }

    /// What a register reads; `pending`: the function wants the host.
    pub(crate) fn read(&self, address: u32, pending: bool) -> u8 {
        let chain = |chain: &[u8], from: u32| chain.get((address - from) as usize).copied().unwrap_or(NOTHING);
        match address {
            at::INTERRUPT_PENDING => u8::from(pending) << 1,
            COMMON_CIS..FUNCTION_CIS => chain(&self.common_cis, COMMON_CIS),
            FUNCTION_CIS..0x1200 => chain(&self.function_cis, FUNCTION_CIS),
            _ => self.get(address),
        }
    }

    /// Writes a register, as far as it can be.
    pub(crate) fn write(&mut self, address: u32, value: u8) -> Effect {
        match address {
            at::IO_ABORT if value & at::RESET != 0 => return Effect::Reset,
            at::IO_ABORT => return Effect::Abort,
            at::IO_ENABLE => {
                // Bit 1 is that of function 1; the others have no function.
                self.set(at::IO_ENABLE, value & 0x02);
                self.set(at::IO_READY, value & 0x02);
            }
            at::INTERRUPT_ENABLE => self.set(address, value & 0x03),
            at::BUS_SPEED => {
                let supported = self.get(address) & at::HIGH_SPEED_SUPPORTED;
                self.set(address, supported | if supported != 0 { value & at::HIGH_SPEED } else { 0 });
            }
            at::REVISIONS | at::SD_REVISION | at::IO_READY | at::INTERRUPT_PENDING | at::CAPABILITY => {}
            _ if (at::CIS_POINTER..at::CIS_POINTER + 3).contains(&(address & 0xff)) => {}
            _ => self.set(address, value),
        }
        Effect::None
    }

    /// Bytes of a block of a function, 0 or 1, as the host has set them.
    pub(crate) fn block_bytes(&self, function: u8) -> u16 {
        let start = at::fbr(function.min(1)) + at::BLOCK_SIZE;
        u16::from_le_bytes([self.get(start), self.get(start + 1)])
    }

    /// Interrupts of function 1 reach the host.
    pub(crate) fn interrupts_enabled(&self) -> bool {
        self.get(at::INTERRUPT_ENABLE) & 0x03 == 0x03
    }

    /// Lines of the data bus that the host has chosen.
    pub(crate) fn bus_width(&self) -> u8 {
        if self.get(at::BUS_INTERFACE) & 0x03 == at::WIDTH_4 {
            4
        } else {
            1
        }
    }

    /// The host has chosen high speed.
    pub(crate) fn is_high_speed(&self) -> bool {
        self.get(at::BUS_SPEED) & at::HIGH_SPEED != 0
    }
}

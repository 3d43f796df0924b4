//! What makes up the rest of the chip's management: power, efuse, linked list of pages, registers behind registers.

use std::collections::BTreeMap;

use super::efuse::Efuse;
use super::model::Model;
use super::registers as reg;
use crate::chips::realtek::efuse;
use crate::chips::realtek::memory::{Memory, Touched};

/// Registers that are not there while the MAC is off (usb.c, rtw_usb_reg_sec: all but these two parts).
const SWITCHED: [std::ops::Range<u16>; 2] = [0x0100..0x1000, 0x1100..0xfe00];

/// What a write to the power state machine has asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switch {
    /// The MAC is on.
    On,
    /// The MAC is off: what is in it is lost.
    Off,
}

/// Registers of coexistence with LTE, which are behind two others.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct System {
    lte: BTreeMap<u8, u32>,
}

/// What registers are when power comes.
pub fn cold_start(memory: &mut Memory, model: Model) {
    *memory = Memory::default();
    memory.set_u32(reg::SYS_CFG1, model.sys_cfg1());
    memory.change(reg::SYS_PW_CTRL + 2, 0, reg::POWER_READY);
    switched_off(memory);
}

fn switched_off(memory: &mut Memory) {
    for part in SWITCHED {
        for register in part {
            memory.set_u8(register, 0);
        }
    }
    memory.set_u8(reg::CR, reg::CR_OFF);
    memory.write(reg::MCUFW_CTRL, &[0; 2]);
    memory.set_u8(reg::LTECOEX_CTRL + 3, reg::LTECOEX_READY);
}

impl System {
    /// Registers that answer a write at once.
    pub fn written(&mut self, memory: &mut Memory, touched: Touched, efuse: &Efuse) -> Option<Switch> {
        efuse::written(memory, touched, |address| efuse.byte(address));
        if touched.has(reg::AUTO_LLT_V1) {
            memory.change(reg::AUTO_LLT_V1, 1, 0);
        }
        if touched.has(reg::RQPN_CTRL_2 + 3) {
            memory.change(reg::RQPN_CTRL_2 + 3, reg::LOAD_PAGES, 0);
        }
        if touched.has(reg::LTECOEX_CTRL + 3) {
            self.lte(memory);
        }
        let asked = if touched.has(reg::SYS_PW_CTRL + 1) { memory.u8(reg::SYS_PW_CTRL + 1) } else { 0 };
        memory.change(reg::SYS_PW_CTRL + 1, reg::MAC_ON | reg::MAC_OFF, 0);
        if asked & reg::MAC_OFF != 0 {
            switched_off(memory);
            return Some(Switch::Off);
        }
        if asked & reg::MAC_ON != 0 {
            if memory.u8(reg::CR) == reg::CR_OFF {
                memory.set_u8(reg::CR, 0);
            }
            return Some(Switch::On);
        }
        None
    }

    /// An access to a register of coexistence.
    fn lte(&mut self, memory: &mut Memory) {
        let control = memory.u32(reg::LTECOEX_CTRL);
        let (begins, writes, register) = (control >> 31 == 1, control >> 30 & 1 == 1, control as u8);
        if begins && writes {
            self.lte.insert(register, memory.u32(reg::LTECOEX_WRITE));
        } else if begins {
            memory.set_u32(reg::LTECOEX_READ, self.lte.get(&register).copied().unwrap_or(0));
        }
        memory.set_u8(reg::LTECOEX_CTRL + 3, reg::LTECOEX_READY);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(system: &mut System, memory: &mut Memory, register: u16, data: &[u8]) -> Option<Switch> {
        memory.write(register, data);
        let touched = Touched { start: register, len: data.len() };
        system.written(memory, touched, &Efuse::new(Model::Rtl8822bu))
    }

    #[test]
    fn power_comes_and_goes() {
        let (mut system, mut memory) = (System::default(), Memory::default());
        cold_start(&mut memory, Model::Rtl8822bu);
        assert_eq!((memory.u8(reg::CR), memory.u8(reg::SYS_PW_CTRL + 2) & 2), (0xea, 2));
        assert_eq!((memory.u32(reg::SYS_CFG1) >> 12 & 15, memory.u32(reg::SYS_CFG1) >> 27 & 1), (3, 1));
        assert_eq!(write(&mut system, &mut memory, reg::SYS_PW_CTRL + 1, &[0x81]), Some(Switch::On));
        assert_eq!((memory.u8(reg::CR), memory.u8(reg::SYS_PW_CTRL + 1)), (0, 0x80));
        write(&mut system, &mut memory, reg::CR, &[0xff]);
        write(&mut system, &mut memory, 0x10c3, &[1]);
        write(&mut system, &mut memory, 0x2860, &[7]);
        assert_eq!(write(&mut system, &mut memory, reg::SYS_PW_CTRL + 1, &[0x02]), Some(Switch::Off));
        assert_eq!((memory.u8(reg::CR), memory.u8(0x10c3), memory.u8(0x2860)), (0xea, 1, 0));
        assert_eq!(write(&mut system, &mut memory, reg::SYS_PW_CTRL, &[0]), None);
    }

    #[test]
    fn the_efuse_is_read_byte_by_byte() {
        let (mut system, mut memory) = (System::default(), Memory::default());
        // The flag stays where it is not cleared.
        write(&mut system, &mut memory, reg::EFUSE_CTRL, &[0, 1, 0, 0x80]);
        assert_eq!(memory.u8(reg::EFUSE_CTRL), 0);
        write(&mut system, &mut memory, reg::EFUSE_CTRL, &[0, 1, 0, 0]);
        assert_eq!((memory.u8(reg::EFUSE_CTRL), memory.u8(reg::EFUSE_CTRL + 3)), (0x29, 0x80));
        write(&mut system, &mut memory, reg::EFUSE_CTRL, &[0, 0xff, 3, 0]);
        assert_eq!(memory.u8(reg::EFUSE_CTRL), 0xff);
    }

    /// util.c, ltecoex_read_reg and ltecoex_reg_write.
    #[test]
    fn registers_of_coexistence() {
        let (mut system, mut memory) = (System::default(), Memory::default());
        cold_start(&mut memory, Model::Rtl8822bu);
        assert_eq!(memory.u32(reg::LTECOEX_CTRL) >> 29 & 1, 1);
        write(&mut system, &mut memory, reg::LTECOEX_WRITE, &0x1234_5678u32.to_le_bytes());
        write(&mut system, &mut memory, reg::LTECOEX_CTRL, &0xc00f_0038u32.to_le_bytes());
        write(&mut system, &mut memory, reg::LTECOEX_CTRL, &0x800f_0038u32.to_le_bytes());
        assert_eq!((memory.u32(reg::LTECOEX_READ), memory.u32(reg::LTECOEX_CTRL) >> 29), (0x1234_5678, 1));
        write(&mut system, &mut memory, reg::LTECOEX_CTRL, &0x800f_003cu32.to_le_bytes());
        assert_eq!(memory.u32(reg::LTECOEX_READ), 0);
    }
}

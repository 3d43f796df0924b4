//! The MCU: what is downloaded into it is counted, not executed; the virtual one does what drivers ask of it.
//!
//! A driver resets it, says where each part of the firmware goes, sends the parts to the endpoint of commands and starts it
//! (Linux mt76x0/usb_mcu.c, mt76x0u_upload_firmware; mt76x02_usb_mcu.c). From then on that endpoint takes commands.

use wire::usb::mediatek::{emit_answer, TxInfo};

use super::statistics::McuCounters;

/// Modes that a driver sets (mt76x02_usb_mcu.c, mt76x02u_mcu_fw_reset; mt76x0/usb_mcu.c).
const RESET: u16 = 0x01;
const START: u16 = 0x12;
/// Commands (mt76x02_mcu.h, enum mcu_cmd).
const FUNCTION: u8 = 1;
const BURST_WRITE: u8 = 8;
const RANDOM_READ: u8 = 10;
const RANDOM_WRITE: u8 = 12;
const CALIBRATION: u8 = 31;
/// Where commands see registers, those of an MT7601U's baseband, and RF registers (mt76x02_mcu.h, MT_MCU_MEMMAP_WLAN; mt7601u's
/// mcu.h, MT_MCU_MEMMAP_BBP; mt76x0/phy.h, MT_MCU_MEMMAP_RF).
const REGISTERS: u32 = 0x0041_0000;
const BASEBAND: u32 = 0x4000_0000;
const RF: u32 = 0x8000_0000;
/// What answers have that no driver reads.
const NOTHING: [u8; 4] = [0; 4];

/// A register as commands see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A register of the MAC or the baseband.
    Register(u32),
    /// A register of a byte of the baseband.
    Baseband(u8),
    /// A register of the radio: bank in bits 31:16.
    Rf(u32),
}

/// Its state.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Mcu {
    running: bool,
    loaded: bool,
    hangs: bool,
    counters: McuCounters,
}

/// What a command is about: registers with the values that they get, or an empty list.
pub(super) struct Work {
    pub(super) sequence: u8,
    pub(super) reads: bool,
    pub(super) pairs: Vec<(u32, u32)>,
}

impl Mcu {
    pub(super) const fn counters(&self) -> McuCounters {
        self.counters
    }

    pub(super) fn cold_start(&mut self) {
        *self = Self { counters: self.counters, ..Self::default() };
    }

    /// It stops, and does not start again (a fault).
    pub(super) fn hang(&mut self) {
        (self.running, self.hangs) = (false, true);
    }

    /// Whether a part of the firmware was taken since the last reset.
    pub(super) const fn has_taken(&self) -> bool {
        self.loaded
    }

    /// A driver sets a mode. Gives whether the MCU runs, where that has changed.
    pub(super) fn mode(&mut self, mode: u16) -> Option<bool> {
        match mode {
            RESET => (self.running, self.loaded) = (false, false),
            START if self.loaded && !self.hangs => self.running = true,
            _ => return None,
        }
        Some(self.running)
    }

    /// A transfer to the endpoint of commands: firmware, or a command, which is given back.
    pub(super) fn transfer(&mut self, data: &[u8]) -> Option<Work> {
        let split = TxInfo::split(data);
        if !self.running {
            let bytes = split.map_or(0, |(_, rest)| rest.len()) as u64;
            self.counters.firmware_bytes += bytes;
            self.counters.ignored += u64::from(bytes == 0);
            self.loaded |= bytes > 0;
            return None;
        }
        let Some((info, rest)) = split else {
            self.counters.ignored += 1;
            return None;
        };
        self.counters.commands += 1;
        self.counters.calibrations += u64::from(info.command() == CALIBRATION);
        let (sequence, reads) = (info.command_sequence(), info.command() == RANDOM_READ);
        Some(Work { sequence, reads, pairs: pairs(info.command(), rest) })
    }
}

/// Addresses and values in the body of a command.
pub(super) fn pairs(command: u8, body: &[u8]) -> Vec<(u32, u32)> {
    let mut words = body.chunks_exact(4).map(|word| word.first_chunk().map_or(0, |it| u32::from_le_bytes(*it)));
    match command {
        RANDOM_READ | RANDOM_WRITE => std::iter::from_fn(|| Some((words.next()?, words.next()?))).collect(),
        // An address, and values from there on (mt7601u/mcu.c, mt7601u_burst_write_regs).
        BURST_WRITE => {
            let first = words.next().unwrap_or(0);
            words.enumerate().map(|(at, word)| (first.wrapping_add(4 * at as u32), word)).collect()
        }
        _ => Vec::new(),
    }
}

/// What a command is called (mt76x02_mcu.h, enum mcu_cmd), and whether it names registers with values. `None`: one that no
/// driver of these chips sends.
pub(super) const fn command_name(command: u8) -> Option<(&'static str, bool)> {
    Some(match command {
        FUNCTION => ("CMD_FUN_SET_OP", false),
        BURST_WRITE => ("CMD_BURST_WRITE", true),
        RANDOM_READ => ("CMD_RANDOM_READ", true),
        RANDOM_WRITE => ("CMD_RANDOM_WRITE", true),
        CALIBRATION => ("CMD_CALIBRATION_OP", false),
        _ => return None,
    })
}

/// Which register an address in a command means.
pub(super) const fn place(address: u32) -> Place {
    if address & RF != 0 {
        Place::Rf(address & !RF)
    } else if address & BASEBAND != 0 {
        Place::Baseband(address as u8)
    } else {
        Place::Register(address.wrapping_sub(REGISTERS))
    }
}

/// The answer to a command; `values` are those of the registers that it asked for. `None`: none is expected.
pub(super) fn answer(work: &Work, values: &[u32]) -> Option<Vec<u8>> {
    if work.sequence == 0 {
        return None;
    }
    let mut body = Vec::new();
    for ((address, _), value) in work.pairs.iter().zip(values) {
        body.extend(address.to_le_bytes());
        body.extend(value.to_le_bytes());
    }
    if body.is_empty() {
        body.extend(NOTHING);
    }
    let mut out = Vec::new();
    emit_answer(work.sequence, &body, &mut out);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(command: u32, sequence: u32, words: &[u32]) -> Vec<u8> {
        let info = command << 20 | sequence << 16 | (4 * words.len() as u32);
        std::iter::once(info).chain(words.iter().copied()).chain([0]).flat_map(u32::to_le_bytes).collect()
    }

    #[test]
    fn a_burst_at_the_end_of_the_address_space_wraps() {
        let body = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
        assert_eq!(pairs(BURST_WRITE, &body(&[0xffff_ffff])), []);
        assert_eq!(pairs(BURST_WRITE, &body(&[0xffff_fffc, 1, 2])), [(0xffff_fffc, 1), (0, 2)]);
        assert_eq!(pairs(BURST_WRITE, &[]), []);
    }

    #[test]
    fn starts_with_what_was_loaded_and_then_takes_commands() {
        let mut mcu = Mcu::default();
        assert_eq!(mcu.mode(START), None, "nothing was loaded");
        assert_eq!(mcu.mode(RESET), Some(false));
        assert!(mcu.transfer(&command(0, 0, &[1, 2, 3])).is_none());
        assert_eq!((mcu.counters().firmware_bytes, mcu.mode(START)), (12, Some(true)));
        let work = mcu.transfer(&command(10, 3, &[REGISTERS + 0x1000, 0, RF | 5 << 16 | 7, 0])).unwrap();
        let places: Vec<Place> = work.pairs.iter().map(|(address, _)| place(*address)).collect();
        assert_eq!(places, [Place::Register(0x1000), Place::Rf(5 << 16 | 7)]);
        let answered = answer(&work, &[0xaabb_ccdd, 5]).unwrap();
        // Number 3, event 0; then the pairs, and four bytes.
        assert_eq!((answered[2] & 0x0f, answered[2] >> 4, answered.len()), (3, 0, 4 + 16 + 4));
        assert_eq!(answered[8..12], 0xaabb_ccddu32.to_le_bytes());
        assert!(answer(&mcu.transfer(&command(31, 0, &[1, 0])).unwrap(), &[]).is_none());
        assert_eq!(mcu.counters().calibrations, 1);
        mcu.hang();
        assert_eq!((mcu.mode(RESET), mcu.mode(START)), (Some(false), None));
    }

    #[test]
    fn a_burst_writes_registers_that_follow_each_other() {
        let mut mcu = Mcu { running: true, ..Mcu::default() };
        let work = mcu.transfer(&command(8, 1, &[REGISTERS + 0x1800, 0xffff_ffff, 0x00ff_ffff])).unwrap();
        assert_eq!(work.pairs, [(REGISTERS + 0x1800, 0xffff_ffff), (REGISTERS + 0x1804, 0x00ff_ffff)]);
        assert_eq!((work.sequence, work.reads, place(BASEBAND + 66)), (1, false, Place::Baseband(66)));
        assert_eq!(mcu.transfer(&command(8, 2, &[])).unwrap().pairs, []);
    }

    proptest::proptest! {
        #[test]
        fn any_transfer_is_taken(bytes: Vec<u8>) {
            let mut mcu = Mcu { running: true, ..Mcu::default() };
            if let Some(work) = mcu.transfer(&bytes) {
                let _ = answer(&work, &[]);
            }
        }
    }
}

//! The processor: power, patch and firmware, and what answers a command.
//!
//! A driver switches power on, takes a semaphore, says where each part of the patch goes and sends it, ends the patch, gives the
//! semaphore back, does the same with the firmware, and starts it (Linux mt76/mt76_connac_mcu.c, mt76_connac2_load_patch and
//! mt76_connac2_load_ram). What is downloaded is counted, not executed: the virtual firmware does what the driver asks of it.

use wire::usb::connac2::{CommandId, EventHeader};

/// Commands before the firmware runs (mt76_connac_mcu.h, MCU_CMD_*).
const TARGET_ADDRESS: u8 = 0x01;
const FW_START: u8 = 0x02;
const PATCH_START: u8 = 0x05;
const PATCH_FINISH: u8 = 0x07;
const PATCH_SEMAPHORE: u8 = 0x10;
/// Events that answer them, and any other (MCU_EVENT_GENERIC, MCU_EVENT_MT_PATCH_SEM).
const GENERIC: u8 = 0x01;
const SEMAPHORE: u8 = 0x04;
/// What the semaphore says (PATCH_IS_DL, PATCH_NOT_DL_SEM_SUCCESS, PATCH_REL_SEM_SUCCESS).
const IS_LOADED: u8 = 1;
const TAKEN: u8 = 2;
const RELEASED: u8 = 3;

/// State of the processor.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Firmware {
    powered: bool,
    running: bool,
    patched: bool,
    /// Bytes that a part still has to bring, and whether a part was whole.
    expected: u32,
    has_part: bool,
    /// Bytes that were ever downloaded.
    downloaded: u64,
    /// Times that it began to run.
    boots: u64,
    /// Does not run until the chip was unplugged (a fault).
    hangs: bool,
    /// What it reports to the host gets lost (a fault).
    pub mute: bool,
}

/// An answer to a command of the download.
pub type Answer = (EventHeader, Vec<u8>);

impl Firmware {
    /// It was plugged in: nothing is loaded.
    pub fn cold_start(&mut self) {
        *self = Self { mute: self.mute, downloaded: self.downloaded, boots: self.boots, ..Self::default() };
    }

    /// The wireless part was reset: nothing is loaded. One that hangs stays so.
    pub fn reset(&mut self) {
        let hangs = self.hangs;
        self.cold_start();
        self.hangs = hangs;
    }

    /// Power was switched on.
    pub fn power_on(&mut self) {
        self.powered = true;
    }

    /// It stops, and does not start again (a fault).
    pub fn hang(&mut self) {
        (self.hangs, self.running) = (true, false);
    }

    /// Its processor has power.
    pub const fn is_powered(&self) -> bool {
        self.powered
    }

    /// It runs.
    pub const fn is_running(&self) -> bool {
        self.running
    }

    /// Bytes that were ever downloaded, and times that it began to run.
    pub const fn downloaded(&self) -> (u64, u64) {
        (self.downloaded, self.boots)
    }

    /// A part of the firmware.
    pub fn scatter(&mut self, bytes: usize) {
        self.expected = self.expected.saturating_sub(bytes as u32);
        self.downloaded += bytes as u64;
        self.has_part |= bytes > 0;
    }

    /// A command while the firmware does not run. Gives the answer.
    pub fn command(&mut self, id: CommandId, sequence: u8, body: &[u8]) -> Option<Answer> {
        let CommandId::Plain(number, _) = id else { return None };
        if !self.powered || self.hangs {
            return None;
        }
        let word =
            |at: usize| body.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |bytes| u32::from_le_bytes(*bytes));
        let header = |id, extended| EventHeader { id, extended, sequence, unsolicited: false };
        let complete = self.expected == 0 && self.has_part;
        // The driver reads what these two say where others have an extended number (mt7921/mcu.c, mt7921_mcu_parse_response).
        let answer = match number {
            PATCH_SEMAPHORE => {
                let state = match word(0) {
                    0 => RELEASED,
                    _ if self.patched => IS_LOADED,
                    _ => TAKEN,
                };
                header(SEMAPHORE, state)
            }
            PATCH_FINISH => {
                self.patched = complete;
                header(GENERIC, u8::from(!complete))
            }
            PATCH_START | TARGET_ADDRESS => {
                (self.expected, self.has_part) = (word(4), false);
                header(GENERIC, 0)
            }
            FW_START => {
                if self.patched && complete {
                    self.running = true;
                    self.boots += 1;
                }
                header(GENERIC, 0)
            }
            _ => return None,
        };
        Some((answer, vec![0; 4]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(firmware: &mut Firmware, number: u8, words: &[u32]) -> u8 {
        let body: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        firmware.command(CommandId::Plain(number, 0), 3, &body).map_or(0xff, |(header, _)| header.extended)
    }

    #[test]
    fn it_runs_when_all_of_it_is_there() {
        let mut firmware = Firmware::default();
        assert_eq!(ask(&mut firmware, PATCH_SEMAPHORE, &[1]), 0xff, "no power");
        firmware.power_on();
        assert_eq!(ask(&mut firmware, PATCH_SEMAPHORE, &[1]), TAKEN);
        ask(&mut firmware, PATCH_START, &[0x20_0000, 5_000, 1 << 31]);
        firmware.scatter(4_096);
        assert_eq!(ask(&mut firmware, PATCH_FINISH, &[0]), 1, "904 bytes are missing");
        firmware.scatter(904);
        assert_eq!(ask(&mut firmware, PATCH_FINISH, &[0]), 0);
        assert_eq!(ask(&mut firmware, PATCH_SEMAPHORE, &[0]), RELEASED);
        assert_eq!(ask(&mut firmware, PATCH_SEMAPHORE, &[1]), IS_LOADED);
        ask(&mut firmware, TARGET_ADDRESS, &[0x91_5000, 100, 1 << 31]);
        ask(&mut firmware, FW_START, &[0, 0]);
        assert!(!firmware.is_running());
        firmware.scatter(100);
        ask(&mut firmware, FW_START, &[0, 0]);
        assert!(firmware.is_running());
        assert_eq!(firmware.downloaded(), (5_100, 1));
        firmware.reset();
        assert!(!firmware.is_running() && !firmware.is_powered());
        firmware.hang();
        firmware.reset();
        firmware.power_on();
        assert_eq!(ask(&mut firmware, PATCH_SEMAPHORE, &[1]), 0xff, "it hangs");
    }
}

//! The 8051: download, start, and the mailboxes to it (H2C).
//!
//! A driver enables the download, writes pages of 4 KiB through the window at 0x1000, ends the download, polls the
//! checksum, says READY and starts the CPU (rtl8xxxu core.c: rtl8xxxu_download_firmware, rtl8xxxu_start_firmware;
//! rtlwifi rtl8192c/fw_common.c). What is downloaded is not executed: the virtual firmware does what drivers ask of it.

use super::model::Model;
use super::registers as reg;
use crate::chips::realtek::memory::{Memory, Touched};

/// What the mailboxes have brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Rates that rate adaptation may use, bit n is descriptor rate n; short guard interval allowed.
    RateMask {
        /// Bits 27:0.
        mask: u32,
        /// Short guard interval.
        short_gi: bool,
        /// Station.
        macid: u8,
    },
    /// Associated (or not any more).
    JoinBss(bool),
    /// Power save of the firmware (neither driver of the chip turns it on: rtlwifi/usb.c, fwctrl_lps; rtl8xxxu has none).
    PowerMode {
        /// 0: awake; 1: until the next beacon; 2: until a beacon for groups.
        mode: u8,
        /// Beacons to sleep through at most.
        awake_interval: u8,
    },
    /// Associated (or not any more), of the RTL8188EU's generation.
    MediaStatus(bool),
    /// Anything else, by its number.
    Other(u8),
}

/// H2C_SET_POWER_MODE, H2C_JOIN_BSS_REPORT and H2C_SET_RATE_MASK (rtl8xxxu.h, enum h2c_cmd_8723a).
const SET_POWER_MODE: u8 = 1;
const JOIN_BSS_REPORT: u8 = 2;
const SET_RATE_MASK: u8 = 6;
/// H2C_8723B_MEDIA_STATUS_RPT (rtl8xxxu.h, enum h2c_cmd_8723b): bit 0 of its first byte.
const MEDIA_STATUS: u8 = 1;
/// The command has extension bytes.
const EXTENDED: u8 = 0x80;

/// State of the 8051.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Firmware {
    running: bool,
    /// Bytes downloaded since the download was enabled.
    downloaded: u64,
    /// Does not start until the chip was unplugged (a fault).
    hangs: bool,
    /// What it reports to the host gets lost (a fault).
    pub mute: bool,
}

impl Firmware {
    /// Power was cut: nothing is loaded, nothing hangs. What gets lost on the way to the host is not the chip's state.
    pub fn cold_start(&mut self) {
        *self = Self { mute: self.mute, ..Self::default() };
    }

    /// It stops, and does not start again (a fault).
    pub fn hang(&mut self, memory: &mut Memory) {
        (self.hangs, self.running) = (true, false);
        memory.change(reg::MCU_FW_DL, reg::FW_INIT_READY, 0);
    }

    /// Whether a write to `address` is part of a download: then it goes to the 8051's memory, not to registers.
    pub fn takes(&mut self, memory: &Memory, address: u16, len: usize) -> bool {
        let in_window = (reg::FW_START..reg::FW_START + reg::FW_PAGE).contains(&address);
        let downloading = memory.u8(reg::MCU_FW_DL) & reg::FW_DL_ENABLE != 0;
        if in_window && downloading {
            self.downloaded += len as u64;
        }
        in_window && downloading
    }

    /// After a write to its registers. `before` is MCU_FW_DL's first byte before the write.
    pub fn written(&mut self, memory: &mut Memory, touched: Touched, before: u8) {
        if touched.has(reg::MCU_FW_DL) {
            let now = memory.u8(reg::MCU_FW_DL);
            if now & reg::FW_DL_ENABLE != 0 {
                if before & reg::FW_DL_ENABLE == 0 {
                    self.downloaded = 0;
                }
                self.running = false;
            }
            // Writing a one clears the checksum report; it is set when a download ends.
            let cleared = now & reg::FW_DL_CHECKSUM != 0 && now & reg::FW_DL_ENABLE != 0;
            let ended = before & reg::FW_DL_ENABLE != 0 && now & reg::FW_DL_ENABLE == 0;
            let checksum = if cleared { 0 } else { (before | now) & reg::FW_DL_CHECKSUM };
            let checksum = if ended && self.downloaded > 0 { reg::FW_DL_CHECKSUM } else { checksum };
            memory.change(reg::MCU_FW_DL, reg::FW_DL_CHECKSUM, checksum);
        }
        if touched.has(reg::MCU_FW_DL) || touched.has(reg::SYS_FUNC + 1) {
            self.start_or_stop(memory);
        }
        if touched.has(reg::HMTFR + 3) && memory.u8(reg::HMTFR + 3) == reg::FIRMWARE_SELF_RESET {
            // The firmware stops its own CPU and clears the request (rtlwifi rtl92c_firmware_selfreset polls for it).
            memory.set_u8(reg::HMTFR + 3, 0);
            memory.change(reg::SYS_FUNC + 1, reg::SYS_FUNC_CPU_ENABLE, 0);
            self.running = false;
        }
    }

    fn start_or_stop(&mut self, memory: &mut Memory) {
        let state = memory.u8(reg::MCU_FW_DL);
        let enabled = memory.u8(reg::SYS_FUNC + 1) & reg::SYS_FUNC_CPU_ENABLE != 0;
        let may_run = enabled && state & reg::FW_DL_READY != 0 && state & reg::FW_DL_ENABLE == 0;
        if may_run && self.downloaded > 0 && !self.hangs {
            self.running = true;
            memory.change(reg::MCU_FW_DL, 0, reg::FW_INIT_READY | reg::FW_RAM_SELECT);
            // It begins with empty mailboxes.
            memory.change(reg::HMTFR, 0x0f, 0);
        } else if !enabled {
            self.running = false;
        }
    }

    /// The command that a write has completed: it is complete with the last byte of a mailbox (rtlwifi writes them one by
    /// one, _rtl92c_fill_h2c_command). A firmware that runs reads it at once; else the mailbox stays full.
    pub fn mailbox(&self, memory: &mut Memory, touched: Touched, model: Model) -> Option<Command> {
        let number = (0..4u16).find(|n| touched.has(reg::HMBOX_0 + 4 * n + 3))?;
        if !self.running {
            memory.change(reg::HMTFR, 0, 1 << number);
            return None;
        }
        if self.mute {
            memory.change(reg::HMTFR, 0, 1 << number);
        } else {
            memory.change(reg::HMTFR, 1 << number, 0);
        }
        Some(command(memory, number, model))
    }
}

/// What is in a mailbox: the number of the command and three bytes. In the first generation two more in its extension, if bit 7
/// is set; an RTL8188EU gets nothing from rtl8xxxu that has any.
pub(super) fn command(memory: &Memory, number: u16, model: Model) -> Command {
    let [id, first, second, last]: [u8; 4] = memory.array(reg::HMBOX_0 + 4 * number);
    let extension = memory.u16(reg::HMBOX_EXT_0 + 2 * number);
    if model == Model::Rtl8188eu {
        return if id == MEDIA_STATUS { Command::MediaStatus(first & 1 == 1) } else { Command::Other(id) };
    }
    match id & !EXTENDED {
        SET_RATE_MASK if id & EXTENDED != 0 => Command::RateMask {
            mask: (u32::from(u16::from_le_bytes([first, second])) << 16 | u32::from(extension)) & 0x0fff_ffff,
            short_gi: last & 0x20 != 0,
            macid: last & 0x1f,
        },
        JOIN_BSS_REPORT => Command::JoinBss(first != 0),
        SET_POWER_MODE => Command::PowerMode { mode: first, awake_interval: last },
        other => Command::Other(other),
    }
}

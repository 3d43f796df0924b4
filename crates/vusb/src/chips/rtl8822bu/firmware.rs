//! The CPU: download, start, mailboxes and commands to it (H2C), reports of it (C2H).
//!
//! A driver puts 4 KiB of the file into the packet buffer through the beacon queue, lets DMA bring them to the CPU's memories,
//! and does so until all is there; then it says that both memories are right, enables the CPU and waits until the firmware has
//! initialised (rtw88 mac.c, __rtw_download_firmware). What is downloaded is not executed: the virtual firmware does what the
//! driver asks of it. How the checksum at the end of each part is made is in no source: it is right where the DMA found all of
//! its bytes, and their values are not looked at.

use super::model::Model;
use super::packet_buffer::PacketBuffer;
use super::registers as reg;
use crate::chips::realtek::memory::{Memory, Touched};

/// Where the CPU sees the packet buffer (mac.h, OCPBASE_TXBUF_88XX).
const PACKET_BUFFER: u32 = 0x1878_0000;
/// Its data memory begins here, instructions are below (OCPBASE_DMEM_88XX, OCPBASE_IMEM_88XX).
const DATA_MEMORY: u32 = 0x0020_0000;
/// Asks for what the hardware can do, and the report that says it (fw.h, C2H_HW_FEATURE_DUMP and C2H_HW_FEATURE_REPORT).
const FEATURES_ASKED: u8 = 0xfd;
const FEATURES: u8 = 0x19;

/// What the mailboxes have brought (fw.h, H2C_CMD_*).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Rates that rate control may use for a station.
    Rates(RateInfo),
    /// Associated (or not any more) with a station.
    MediaStatus {
        /// It is.
        connected: bool,
        /// Its number.
        station: u8,
    },
    /// Power save.
    PowerMode {
        /// 0: awake.
        mode: u8,
        /// Beacons to sleep through at most.
        awake_interval: u8,
    },
    /// Anything else, by its number.
    Other(u8),
}

/// What the driver says of the rates of a station (fw.c, rtw_fw_send_ra_info).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct RateInfo {
    /// Its number.
    pub station: u8,
    /// Bits 3:0 CCK, 11:4 OFDM, then MCS: of HT 0 to 15, of VHT ten of one stream and ten of two.
    pub mask: u32,
    /// The mask is one of VHT.
    pub vht: bool,
    /// Short guard interval.
    pub short_gi: bool,
    /// 0, 1, 2: 20, 40, 80 MHz.
    pub bandwidth: u8,
    /// What rate control has learned stays.
    pub keeps: bool,
}

const MEDIA_STATUS: u8 = 0x01;
const SET_POWER_MODE: u8 = 0x20;
const RATE_INFO: u8 = 0x40;

/// What the queue of commands has brought (fw.h, H2C_PKT_*), by the number in the upper half of its first word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packet {
    /// I/Q calibration.
    Calibrate,
    /// Anything else.
    Other(u16),
}

const CALIBRATE: u16 = 0x0e;

/// Reads a command of the queue; `None`: it is too short, or of another kind.
pub fn packet(bytes: &[u8]) -> Option<Packet> {
    // Category 1, command 0xff.
    match bytes {
        [category, 0xff, low, high, ..] if category & 0x7f == 1 => Some(match u16::from_le_bytes([*low, *high]) {
            CALIBRATE => Packet::Calibrate,
            other => Packet::Other(other),
        }),
        _ => None,
    }
}

/// State of the CPU.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Firmware {
    running: bool,
    /// Bytes in its memories of instructions and of data.
    instructions: u64,
    data: u64,
    /// Bytes that were ever downloaded.
    downloaded: u64,
    /// DMA did not find all bytes since its checksum was reset.
    incomplete: bool,
    /// Does not start until the chip was unplugged (a fault).
    hangs: bool,
    /// What it reports to the host gets lost (a fault).
    pub mute: bool,
    /// Reports so far.
    reports: u8,
}

impl Firmware {
    /// Power was cut: nothing is loaded. What gets lost on the way to the host is not the chip's state.
    pub fn cold_start(&mut self) {
        *self = Self { mute: self.mute, downloaded: self.downloaded, ..Self::default() };
    }

    /// The MAC was switched off: it does not run any more. One that hangs stays so.
    pub fn stop(&mut self) {
        *self = Self { mute: self.mute, hangs: self.hangs, downloaded: self.downloaded, ..Self::default() };
    }

    /// It stops, and does not start again (a fault).
    pub fn hang(&mut self, memory: &mut Memory) {
        (self.hangs, self.running) = (true, false);
        memory.change(reg::MCUFW_CTRL + 1, (reg::FW_INITIALISED >> 8) as u8, 0);
    }

    /// Whether it runs.
    pub const fn is_running(&self) -> bool {
        self.running
    }

    /// Bytes that were ever downloaded.
    pub const fn downloaded(&self) -> u64 {
        self.downloaded
    }

    /// The number of its next report.
    pub fn next_report(&mut self) -> u8 {
        self.reports = self.reports.wrapping_add(1);
        self.reports
    }

    /// After a write to registers.
    pub fn written(&mut self, memory: &mut Memory, touched: Touched, buffer: &PacketBuffer, model: Model) {
        if touched.has(reg::DDMA_CH0CTRL + 3) {
            self.transfer(memory, buffer);
        }
        if touched.has(reg::MCUFW_CTRL) && memory.u8(reg::MCUFW_CTRL) & reg::FW_DL_ENABLE != 0 {
            self.running = false;
        }
        let starts = [reg::MCUFW_CTRL, reg::MCUFW_CTRL + 1, reg::SYS_FUNC_EN + 1];
        if starts.into_iter().any(|register| touched.has(register)) {
            self.start_or_stop(memory, model);
        }
        if touched.has(reg::RPWM) {
            // Each request is confirmed with the bit that it toggles (ps.c, rtw_power_mode_change).
            let toggle = memory.u8(reg::RPWM) & 0x80;
            memory.change(reg::CPWM, 0x80, if self.running { toggle } else { memory.u8(reg::CPWM) & 0x80 });
        }
    }

    /// DMA between the packet buffer and its memories.
    fn transfer(&mut self, memory: &mut Memory, buffer: &PacketBuffer) {
        let control = memory.u32(reg::DDMA_CH0CTRL);
        if control & reg::DDMA_RESET_CHECKSUM != 0 {
            self.incomplete = false;
        }
        if control & reg::DDMA_OWN != 0 && control & reg::DDMA_MODE == 0 {
            let len = (control & 0x0003_ffff) as usize;
            let source = memory.u32(reg::DDMA_CH0SA).checked_sub(PACKET_BUFFER);
            let found = source.and_then(|start| buffer.read(start as usize, len)).is_some();
            let continued = control & reg::DDMA_CONTINUED != 0;
            self.incomplete = !found || continued && self.incomplete;
            let into = if memory.u32(reg::DDMA_CH0DA) < DATA_MEMORY { &mut self.instructions } else { &mut self.data };
            let before = if continued { *into } else { 0 };
            let bytes = if found { len as u64 } else { 0 };
            *into = before + bytes;
            self.downloaded += bytes;
        }
        let wrong = if self.incomplete { reg::DDMA_CHECKSUM_WRONG } else { 0 };
        let kept = control & !(reg::DDMA_OWN | reg::DDMA_RESET_CHECKSUM | reg::DDMA_CHECKSUM_WRONG);
        memory.set_u32(reg::DDMA_CH0CTRL, kept | wrong);
    }

    fn start_or_stop(&mut self, memory: &mut Memory, model: Model) {
        let state = memory.u16(reg::MCUFW_CTRL);
        let enabled = memory.u8(reg::SYS_FUNC_EN + 1) & reg::CPU_ENABLE != 0;
        let ready = reg::FW_READY | reg::FW_CHECKSUMS_OK;
        let may_run = enabled && state & ready == ready && state & u16::from(reg::FW_DL_ENABLE) == 0;
        if may_run && self.instructions > 0 && self.data > 0 && !self.hangs {
            if !self.running {
                // It begins with empty mailboxes, and answers what stands there already.
                memory.change(reg::HMETFR, 0x0f, 0);
                if memory.u8(reg::C2HEVT) == FEATURES_ASKED {
                    memory.write(reg::C2HEVT, &[FEATURES, 0]);
                    memory.write(reg::C2HEVT + 2, &[0; 13]);
                    memory.set_u32(reg::C2HEVT + 2 + 4, model.capabilities());
                }
            }
            self.running = true;
            memory.change(reg::MCUFW_CTRL + 1, 0, (reg::FW_INITIALISED >> 8) as u8);
        } else if !enabled {
            self.running = false;
            memory.change(reg::MCUFW_CTRL + 1, (reg::FW_INITIALISED >> 8) as u8, 0);
        }
    }

    /// The command that a write has completed: it is complete with the last byte of a mailbox. A firmware that runs reads it at
    /// once; else the mailbox stays full.
    pub fn mailbox(&self, memory: &mut Memory, touched: Touched) -> Option<Command> {
        let number = (0..4u16).find(|n| touched.has(reg::HMEBOX0 + 4 * n + 3))?;
        let full = 1 << number;
        if !self.running {
            memory.change(reg::HMETFR, 0, full);
            return None;
        }
        if self.mute {
            memory.change(reg::HMETFR, 0, full);
        } else {
            memory.change(reg::HMETFR, full, 0);
        }
        Some(command(memory, number))
    }
}

/// What is in a mailbox and its extension.
pub fn command(memory: &Memory, number: u16) -> Command {
    let [id, first, second, third]: [u8; 4] = memory.array(reg::HMEBOX0 + 4 * number);
    match id {
        RATE_INFO => Command::Rates(RateInfo {
            station: first,
            mask: memory.u32(reg::HMEBOX0_EX + 4 * number),
            vht: third >> 4 & 3 != 0,
            short_gi: second >> 7 == 1,
            bandwidth: third & 3,
            keeps: third >> 3 & 1 == 1,
        }),
        MEDIA_STATUS => Command::MediaStatus { connected: first & 1 == 1, station: second },
        SET_POWER_MODE => Command::PowerMode { mode: first & 0x7f, awake_interval: third },
        other => Command::Other(other),
    }
}

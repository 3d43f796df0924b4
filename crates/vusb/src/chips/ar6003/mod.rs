//! AR6003 and AR6004: full-MAC 802.11n stations on SDIO, which Linux' ath6kl_sdio drives. Their firmware joins networks
//! by itself; the driver talks to it through mailboxes. Only what it does as a station in 2.4 GHz with one stream is
//! modelled.
//!
//! | block | file | driver's side (Linux drivers/net/wireless/ath/ath6kl) |
//! | --- | --- | --- |
//! | interrupt registers, mailbox, window | `mod.rs` | hif.c, sdio.c, target.h |
//! | memory behind them | `memory.rs` | target.h |
//! | which chip of the two, which revision | `model.rs` | core.h, init.c |
//! | download (BMI) | `mod.rs` | bmi.c, init.c |
//! | messages, credits, bundles (HTC) | `htc.rs` | htc_mbox.c |
//! | commands and events (WMI) | `firmware.rs` | wmi.c, cfg80211.c |
//! | networks: scan, authentication, association | `scan.rs`, `join.rs` | firmware; no source is public |
//! | data, keys, Block Ack | `data.rs`, `../station_keys.rs`, `../ccmp.rs`, `../tkip.rs` | txrx.c; else firmware |
//! | power save | `../dynamic_power.rs`, `../station_power.rs` | cfg80211.c; the rest is firmware |
//! | turns with the air and its stations | `../on_air.rs`, `../sdio_radio.rs` | |
//! | what is not known | `assumptions.rs` | |
//!
//! Layouts of its messages: [`wire::sdio`].

pub mod assumptions;
mod data;
pub mod entry;
mod firmware;
mod htc;
mod join;
mod memory;
mod model;
mod network;
mod scan;
mod statistics;
#[cfg(test)]
mod tests;

use sdio::CardIdentity;
use wire::ieee80211::MacAddr;
use wire::sdio::bmi::{self, Command as Bmi};
use wire::sdio::htc::{FromHost, Header, ToHost as HtcToHost, CONTROL, HEADER, NEED_CREDIT_UPDATE};
use wire::AccessCategory;

use crate::air::AirCounters;
use crate::chips::on_air::{inject_hang, OnAir};
use crate::chips::sdio_radio::{registers, Chip};
use crate::device::{DeviceCounters, Effect};
use crate::peers::PeerStatistics;
use crate::ushc::SdioStatistics;
use assumptions::Assumptions;
use firmware::{Firmware, ToHost};
use htc::{messages, Htc};
use memory::{Memory, COLD_RESET, RESET_CONTROL};
pub use model::{Model, Revision};
pub use statistics::{ChipCounters, HtcCounters, Statistics};

/// SDIO_VENDOR_ID_ATHEROS (include/linux/mmc/sdio_ids.h).
const VENDOR: u16 = 0x0271;
/// Largest block: the driver sets 128.
const BLOCK_BYTES_MAX: u16 = 512;
/// Its address: Atheros' prefix.
const ADDRESS: MacAddr = MacAddr([0x00, 0x03, 0x7f, 0x60, 0x03, 0x01]);

/// Registers (target.h).
mod register {
    pub const INTERRUPT_STATUS: u32 = 0x400;
    pub const COUNTER_STATUS: u32 = 0x403;
    pub const AHEAD_VALID: u32 = 0x405;
    pub const AHEAD: u32 = 0x408;
    pub const INTERRUPT_ENABLE: u32 = 0x418;
    /// Counter 0: the firmware has died. Reads take it away.
    pub const DEBUG_COUNTER: u32 = 0x440;
    /// Counter 4: a command of BMI may be written.
    pub const BMI_COUNTER: u32 = 0x450;
    /// The diagnostic window: data, address of a write, address of a read.
    pub const WINDOW: u32 = 0x474;
    pub const WINDOW_WRITE: u32 = 0x478;
    pub const WINDOW_READ: u32 = 0x47c;
}

/// Bits of the interrupt status: mailbox 0 has data; a counter is not zero.
const MAILBOX_DATA: u8 = 0x01;
const COUNTER: u8 = 0x10;

/// The mailbox, and the one for longer transfers (hif.h; target.h, HIF_MBOX_END_ADDR, AR6003_EXTENDED_MBOX). A message
/// ends when their last byte is written.
const MAILBOXES: [std::ops::Range<u32>; 2] = [0x800..0x1000, 0x4000..0x7000];
/// Bytes of a transfer of the host that are kept: twice the longer mailbox.
const TRANSFER_MAX: usize = 0x8000;
/// Services of WMI: control, and data by access category (htc.h).
const WMI_CONTROL: u16 = 0x100;
const WMI_VOICE: u16 = 0x104;
/// Endpoint of WMI's control, and those of data.
const CONTROL_ENDPOINT: u8 = 1;
const MESSAGE_MAX: u16 = 2048;

/// How far the chip has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
enum State {
    /// It takes commands of BMI.
    Bmi,
    /// The firmware runs.
    Firmware,
    /// The firmware has died.
    Dead,
}

/// How a chip is made.
#[derive(Clone, Copy, Debug, Default)]
pub struct Settings {
    /// What is not known of it, and which chip and revision it is.
    pub assumptions: Assumptions,
}

impl Settings {
    /// Those of one of the chips.
    pub const fn new(model: Model) -> Self {
        Self { assumptions: Assumptions::of(model) }
    }

    /// What the card says it is.
    const fn identity(&self) -> CardIdentity {
        let device = self.assumptions.device_id;
        CardIdentity { vendor: VENDOR, device, block_bytes_max: BLOCK_BYTES_MAX, version: b"" }
    }
}

/// The chip.
pub(super) struct Ar6003 {
    settings: Settings,
    memory: Memory,
    state: State,
    /// A fault keeps the firmware from starting.
    hung: bool,
    enabled: [u8; 4],
    window: [u8; 12],
    /// The counter that says that the firmware has died.
    debug_counter: bool,
    /// What the host has written into the mailbox so far.
    transfer: Vec<u8>,
    htc: Htc,
    firmware: Firmware,
    /// Where compressed data of BMI go next.
    compressed_at: u32,
}

impl Ar6003 {
    /// A chip without power.
    pub(super) fn new(settings: Settings) -> Self {
        Self {
            settings,
            memory: Memory::new(settings.assumptions.model().addresses()),
            state: State::Bmi,
            hung: false,
            enabled: [0; 4],
            window: [0; 12],
            debug_counter: false,
            transfer: Vec::new(),
            htc: Htc::default(),
            firmware: Firmware::new(ADDRESS, settings.assumptions),
            compressed_at: 0,
        }
    }

    fn cold_start(&mut self) {
        self.memory = Memory::new(self.settings.assumptions.model().addresses());
        self.state = State::Bmi;
        (self.enabled, self.window, self.debug_counter) = ([0; 4], [0; 12], false);
        self.transfer.clear();
        self.htc.restart();
        self.firmware.stop();
    }

    /// A command of BMI.
    fn bmi(&mut self, message: &[u8]) {
        self.firmware.chip.bmi_commands += 1;
        let Some(command) = Bmi::parse(message) else {
            self.htc.counters.malformed += 1;
            return;
        };
        let mut written = 0;
        match command {
            Bmi::Done => self.boot(),
            Bmi::ReadMemory { address, len } => {
                // bmi.h: 256 bytes at most.
                self.htc.put_bytes(self.memory.bytes(address, (len as usize).min(256)));
            }
            Bmi::WriteMemory { address, data } => {
                written = data.len();
                self.memory.write(address, data);
            }
            Bmi::LzStart { address } => self.compressed_at = address,
            Bmi::LzData { data } => {
                // Kept as it comes: the firmware is not interpreted.
                written = data.len();
                self.memory.write(self.compressed_at, data);
                self.compressed_at = self.compressed_at.wrapping_add(data.len() as u32);
            }
            // The routine's result.
            Bmi::Execute { .. } => self.htc.put_bytes(vec![0; 4]),
            Bmi::ReadRegister { address } => self.htc.put_bytes(self.memory.register(address).to_le_bytes().to_vec()),
            Bmi::WriteRegister { address, value } => self.memory.set_register(address, value),
            Bmi::TargetInfo => {
                let revision = self.settings.assumptions.revision;
                let info = bmi::target_info(revision.version(), revision.model().target_type());
                self.htc.put_bytes(info.to_vec());
            }
            Bmi::SetStart { .. } | Bmi::Unknown(_) => {}
        }
        self.firmware.chip.bmi_bytes += written as u64;
    }

    fn boot(&mut self) {
        if self.hung {
            return;
        }
        self.state = State::Firmware;
        self.firmware.chip.boots += 1;
        self.memory.firmware_runs();
        let Assumptions { credits, credit_bytes, bundle, .. } = self.settings.assumptions;
        self.htc.control(&HtcToHost::Ready { credits, credit_bytes, bundle: bundle as u8 });
    }

    /// A transfer of the host has ended.
    fn transfer_ended(&mut self, now_ns: u64) {
        let transfer = std::mem::take(&mut self.transfer);
        match self.state {
            State::Bmi => self.bmi(&transfer),
            State::Dead => {}
            State::Firmware => {
                let mut found = 0;
                for message in messages(&transfer) {
                    let Some((header, payload)) = message else {
                        self.htc.counters.malformed += 1;
                        break;
                    };
                    found += 1;
                    self.message(now_ns, header, payload);
                }
                self.htc.counters.malformed += u64::from(found == 0);
                self.htc.counters.bundles_from_host += u64::from(found > 1);
            }
        }
        self.hand_over();
    }

    /// Credits that a message uses (htc_mbox.c, htc_setup_tx_complete and htc_check_credits).
    fn credits_of(&self, payload: &[u8]) -> u8 {
        let bytes = HEADER + payload.len();
        bytes.div_ceil(usize::from(self.settings.assumptions.credit_bytes).max(1)).clamp(1, 255) as u8
    }

    fn message(&mut self, now_ns: u64, header: Header, payload: &[u8]) {
        self.htc.counters.from_host += 1;
        let credits = self.credits_of(payload);
        match header.endpoint {
            CONTROL => match FromHost::parse(payload) {
                Some(FromHost::Connect { service }) => {
                    let reply = if (WMI_CONTROL..=WMI_VOICE).contains(&service) {
                        let endpoint = CONTROL_ENDPOINT + (service - WMI_CONTROL) as u8;
                        HtcToHost::Connected { service, endpoint, message_max: MESSAGE_MAX }
                    } else {
                        HtcToHost::NotFound { service }
                    };
                    self.htc.control(&reply);
                }
                Some(FromHost::SetUp { bundle }) => {
                    self.htc.bundle = bundle.min(self.settings.assumptions.bundle as u8).max(1);
                    self.firmware.start();
                }
                Some(FromHost::Unknown(_)) | None => self.htc.counters.malformed += 1,
            },
            CONTROL_ENDPOINT => {
                self.htc.owe(CONTROL_ENDPOINT, credits);
                self.firmware.command(now_ns, payload);
                self.hand_over();
                self.htc.report_credits();
            }
            endpoint => {
                let cookie = u64::from(endpoint) | u64::from(credits) << 8;
                self.firmware.transmit(now_ns, payload, cookie);
            }
        }
        if header.flags & NEED_CREDIT_UPDATE != 0 {
            self.hand_over();
            self.htc.report_credits();
        }
    }

    fn interrupt_status(&self) -> u8 {
        let mailbox = if self.htc.has_messages() { MAILBOX_DATA } else { 0 };
        mailbox | if self.debug_counter { COUNTER } else { 0 }
    }

    fn register(&mut self, address: u32) -> u8 {
        let within = |start: u32, bytes: &[u8]| bytes.get(address.wrapping_sub(start) as usize).copied();
        match address {
            register::INTERRUPT_STATUS => self.interrupt_status(),
            register::COUNTER_STATUS => u8::from(self.debug_counter),
            register::AHEAD_VALID => u8::from(self.htc.has_messages()),
            register::DEBUG_COUNTER => u8::from(std::mem::take(&mut self.debug_counter)),
            register::BMI_COUNTER => u8::from(self.state == State::Bmi),
            _ => within(register::AHEAD, &self.htc.ahead())
                .or_else(|| within(register::INTERRUPT_ENABLE, &self.enabled))
                .or_else(|| within(register::WINDOW, &self.window))
                .unwrap_or(0),
        }
    }

    fn set_register(&mut self, address: u32, value: u8) {
        let at = |start: u32| address.checked_sub(start).map(|at| at as usize);
        if let Some(slot) = at(register::INTERRUPT_ENABLE).and_then(|at| self.enabled.get_mut(at)) {
            *slot = value;
        }
        let Some(slot) = at(register::WINDOW).and_then(|at| self.window.get_mut(at)) else { return };
        *slot = value;
        // The low byte of an address is written last, and begins the cycle (sdio.c, ath6kl_set_addrwin_reg).
        let word = |window: &[u8; 12], from: usize| -> [u8; 4] {
            window.get(from..).and_then(<[u8]>::first_chunk).copied().unwrap_or_default()
        };
        match address {
            register::WINDOW_WRITE => {
                let target = u32::from_le_bytes(word(&self.window, 4));
                let value = word(&self.window, 0);
                self.memory.window_write(target, value);
                if target == RESET_CONTROL && u32::from_le_bytes(value) & COLD_RESET != 0 {
                    self.firmware.chip.cold_resets += 1;
                    self.cold_start();
                }
            }
            register::WINDOW_READ => {
                let read = self.memory.window_read(u32::from_le_bytes(word(&self.window, 8)));
                for (slot, byte) in self.window.iter_mut().zip(read) {
                    *slot = byte;
                }
            }
            _ => {}
        }
    }
}

/// The endpoint of a user priority: those of the services in the order best effort, background, video, voice.
fn endpoint_of(priority: u8) -> u8 {
    CONTROL_ENDPOINT + 1 + AccessCategory::of_tid(priority).unwrap_or_default() as u8
}

fn is_mailbox(address: u32) -> bool {
    MAILBOXES.iter().any(|mailbox| mailbox.contains(&address))
}

impl Ar6003 {
    /// Puts what the firmware has for the host into the mailbox.
    fn hand_over(&mut self) {
        for item in std::mem::take(&mut self.firmware.to_host) {
            match item {
                ToHost::Event(event) => self.htc.message(CONTROL_ENDPOINT, &event, false),
                ToHost::Frame(priority, frame) => self.htc.message(endpoint_of(priority), &frame, true),
                ToHost::Credits(endpoint, credits) => self.htc.owe(endpoint, credits),
            }
        }
        // Half of them: the host has more to send by then.
        if self.htc.owed() * 2 >= u32::from(self.settings.assumptions.credits) || self.firmware.queue.len() == 0 {
            self.htc.report_credits();
        }
        self.firmware.waiting = self.htc.frames();
    }

    /// The firmware stops, and does not start before power has come again.
    fn hang_firmware(&mut self) {
        self.hung = true;
        if self.state == State::Firmware {
            self.state = State::Dead;
            self.debug_counter = true;
            self.memory.firmware_died();
            self.firmware.stop();
        }
    }
}

impl OnAir for Ar6003 {
    type Mac = Firmware;

    fn mac(&self) -> &Firmware {
        &self.firmware
    }

    fn mac_mut(&mut self) -> &mut Firmware {
        &mut self.firmware
    }

    fn before_air(&mut self, now_ns: u64) {
        self.firmware.advance(now_ns);
    }

    fn after_air(&mut self, now_ns: u64) {
        self.firmware.flush(now_ns);
        self.hand_over();
    }

    fn next_event(&self, _now_ns: u64) -> Option<u64> {
        self.firmware.next_event()
    }

    fn inject(&mut self, _now_ns: u64, effect: &Effect) -> bool {
        inject_hang(effect, || self.hang_firmware())
    }
}

impl Chip for Ar6003 {
    fn identity(&self) -> CardIdentity {
        self.settings.identity()
    }

    fn read(&mut self, _now_ns: u64, address: u32, incrementing: bool, data: &mut [u8]) {
        if is_mailbox(address) {
            // Whatever the address: the next bytes.
            self.htc.fetch(data);
            self.firmware.waiting = self.htc.frames();
            return;
        }
        if address == register::INTERRUPT_STATUS {
            self.firmware.chip.register_reads += 1;
            self.htc.look_ahead();
        }
        for (register, slot) in registers(address, incrementing).zip(data) {
            *slot = self.register(register);
        }
    }

    fn write(&mut self, now_ns: u64, address: u32, incrementing: bool, data: &[u8]) {
        if is_mailbox(address) {
            if self.transfer.len() + data.len() > TRANSFER_MAX {
                self.htc.counters.malformed += 1;
                self.transfer.clear();
            }
            self.transfer.extend_from_slice(data);
            let end = address.saturating_add(data.len() as u32);
            if MAILBOXES.iter().any(|mailbox| mailbox.end == end) {
                self.transfer_ended(now_ns);
            }
            return;
        }
        // What begins a cycle of the window comes after the bytes above it.
        for (at, &byte) in data.iter().enumerate().rev() {
            let register = if incrementing { address.wrapping_add(at as u32) } else { address };
            self.set_register(register, byte);
        }
    }

    fn interrupts(&self) -> bool {
        // Four mailboxes have a bit each; only the first is used.
        self.interrupt_status() & self.enabled[0] != 0
    }

    fn power_on(&mut self, _now_ns: u64) {
        self.hung = false;
        self.cold_start();
    }

    fn statistics(
        &self,
        _now_ns: u64,
        sdio: SdioStatistics,
        air: AirCounters,
        peers: PeerStatistics,
    ) -> Box<dyn DeviceCounters> {
        Box::new(Statistics {
            sdio,
            chip: self.firmware.chip,
            htc: self.htc.counters,
            assumptions: self.settings.assumptions,
            tx: self.firmware.tx,
            rx: self.firmware.rx,
            power: self.firmware.power_counters(),
            air,
            peers,
        })
    }
}

crate::state!(Ar6003 {
    memory, state, hung, enabled, window, debug_counter, transfer, htc, firmware, compressed_at,
} made { settings });

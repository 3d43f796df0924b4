//! SD8686: a full-MAC 802.11g station on SDIO, which Linux' libertas_sdio drives. Its firmware joins networks by itself; the driver
//! puts one packet at a time through a port. Only what it does as a station in networks that are open or have WPA2 is modelled.
//!
//! | block | file | driver's side (Linux drivers/net/wireless/marvell/libertas) |
//! | --- | --- | --- |
//! | registers, port, download | `mod.rs` | if_sdio.c, if_sdio.h |
//! | commands and events | `firmware.rs` | cmd.c, cmdresp.c, cfg.c |
//! | networks: scan, authentication, association | `scan.rs`, `join.rs` | cfg.c; the rest is firmware |
//! | data, keys | `data.rs`, `../station_keys.rs`, `../ccmp.rs` | tx.c, rx.c |
//! | the air | `station.rs` | firmware; no source is public |
//! | turns with the air and its stations | `../on_air.rs`, `../sdio_radio.rs` | |
//! | what is not known | `assumptions.rs` | |
//!
//! Layouts of its messages: [`wire::sdio::libertas`].

pub mod assumptions;
mod data;
pub mod entry;
mod firmware;
mod join;
mod scan;
mod station;
mod statistics;
#[cfg(test)]
mod tests;
mod under_way;

use std::collections::VecDeque;

use sdio::CardIdentity;
use wire::ieee80211::MacAddr;
use wire::sdio::libertas::{ethernet_of, kind, register, Header, Packet};

use crate::air::AirCounters;
use crate::chips::on_air::{inject_hang, OnAir};
use crate::chips::sdio_radio::{registers, Chip};
use crate::device::{DeviceCounters, Effect};
use crate::peers::PeerStatistics;
use crate::ushc::SdioStatistics;
use assumptions::Assumptions;
use firmware::{Firmware, ToHost};
pub use statistics::{ChipCounters, FilteringRxCounters, Statistics};

/// 02df:9103 (include/linux/mmc/sdio_ids.h, SDIO_DEVICE_ID_MARVELL_LIBERTAS).
const VENDOR: u16 = 0x02df;
const DEVICE: u16 = 0x9103;
/// CISTPL_VERS_1: its strings say which model it is (if_sdio.c, if_sdio_probe and MODEL_8686).
const VERSION_1: &[u8] = b"\x01\x00802.11 SDIO\0ID: 0B\0";
/// Largest block: the driver sets 32 and 256.
const BLOCK_BYTES_MAX: u16 = 512;
const IDENTITY: CardIdentity =
    CardIdentity { vendor: VENDOR, device: DEVICE, block_bytes_max: BLOCK_BYTES_MAX, version: VERSION_1 };
/// Its address: Marvell's prefix.
const ADDRESS: MacAddr = MacAddr([0x00, 0x50, 0x43, 0x86, 0x86, 0x01]);

/// Where the port is. The driver takes what the registers say.
const PORT: u32 = 0x1_0000;
/// Interrupts: there is a packet; the chip has taken one (if_sdio.h, IF_SDIO_H_INT_UPLD and _DNLD).
const UPLOAD: u8 = 0x01;
const DOWNLOADED: u8 = 0x02;
/// The card can be read and written (IF_SDIO_IO_RDY, _CIS_RDY, _UL_RDY, _DL_RDY).
const READY: u8 = 0x0f;
/// The firmware runs (IF_SDIO_FIRMWARE_OK).
const RUNS: u16 = 0xfedc;

/// How far the chip has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
enum State {
    /// It takes blocks of the helper.
    Helper,
    /// The helper takes the firmware.
    Image,
    /// The firmware runs.
    Firmware,
    /// The firmware has died.
    Dead,
}

/// How a chip is made.
#[derive(Clone, Copy, Debug, Default)]
pub struct Settings {
    /// What is not known of it.
    pub assumptions: Assumptions,
}

/// A packet that waits to be fetched, and whether it is a frame.
#[derive(serde::Serialize, serde::Deserialize)]
struct Waiting {
    bytes: Vec<u8>,
    is_frame: bool,
}

/// The chip.
pub(super) struct Sd8686 {
    settings: Settings,
    state: State,
    /// A fault keeps the firmware from starting.
    hung: bool,
    mask: u8,
    pending: u8,
    scratch: u16,
    /// Bytes of the firmware since the helper began to take it.
    image_bytes: u64,
    waiting: VecDeque<Waiting>,
    /// The host knows of the first packet that waits.
    shown: bool,
    /// The host has written a frame and does not know yet that it was taken.
    held_back: bool,
    firmware: Firmware,
}

impl Sd8686 {
    /// A chip without power.
    pub(super) fn new(settings: Settings) -> Self {
        Self {
            settings,
            state: State::Helper,
            hung: false,
            mask: 0,
            pending: 0,
            scratch: 0,
            image_bytes: 0,
            waiting: VecDeque::new(),
            shown: false,
            held_back: false,
            firmware: Firmware::new(ADDRESS, settings.assumptions),
        }
    }

    fn cold_start(&mut self) {
        self.state = State::Helper;
        (self.mask, self.pending, self.scratch, self.image_bytes) = (0, 0, 0, 0);
        self.waiting.clear();
        (self.shown, self.held_back) = (false, false);
        self.firmware.stop();
    }

    /// A block of the helper: its length, and its bytes; without any it begins (if_sdio.c, if_sdio_prog_helper).
    fn helper_block(&mut self, block: &[u8]) {
        self.firmware.chip.helper_blocks += 1;
        match block.first_chunk() {
            Some(&[0, 0, 0, 0]) => (self.state, self.image_bytes) = (State::Image, 0),
            Some(_) => {}
            None => self.firmware.chip.malformed += 1,
        }
    }

    /// The host asks whether the firmware runs: it has no more to write (if_sdio.c, if_sdio_prog_real). What the chip itself makes
    /// of the image, and so how it knows its end, is not known.
    fn asked_for_firmware(&mut self) {
        if self.state == State::Image && self.image_bytes > 0 && !self.hung {
            self.state = State::Firmware;
            self.scratch = RUNS;
            self.firmware.chip.boots += 1;
            self.firmware.start();
        }
    }

    fn packet(&mut self, now_ns: u64, transfer: &[u8]) {
        self.firmware.chip.packets_from_host += 1;
        let Some(packet) = Packet::parse(transfer) else {
            self.firmware.chip.malformed += 1;
            // It is taken nevertheless: the host would wait forever.
            self.pending |= DOWNLOADED;
            return;
        };
        match packet.kind {
            kind::COMMAND => match Header::parse(packet.body) {
                Some((header, body)) => self.firmware.command(now_ns, header, body),
                None => self.firmware.chip.malformed += 1,
            },
            kind::DATA => self.firmware.transmit(now_ns, ethernet_of(packet.body)),
            _ => self.firmware.chip.malformed += 1,
        }
        self.held_back = packet.kind == kind::DATA && !self.firmware.has_room();
        if self.held_back {
            self.firmware.chip.held_back += 1;
        } else {
            self.pending |= DOWNLOADED;
        }
        self.hand_over();
    }

    /// Says that there is a packet, one after the other: the scratch register has room for the length of one.
    fn show(&mut self) {
        if let (Some(first), false) = (self.waiting.front(), self.shown) {
            self.scratch = first.bytes.len() as u16;
            self.pending |= UPLOAD;
            self.shown = true;
        }
    }

    /// The host takes the packet in one transfer; what it does not take is lost.
    fn fetch(&mut self, data: &mut [u8]) {
        data.fill(0);
        let Some(Waiting { bytes, is_frame }) = self.waiting.pop_front() else {
            self.firmware.chip.empty_reads += 1;
            return;
        };
        for (slot, byte) in data.iter_mut().zip(bytes) {
            *slot = byte;
        }
        self.firmware.chip.packets_to_host += 1;
        self.firmware.waiting -= usize::from(is_frame);
        self.shown = false;
        self.show();
    }

    fn register(&mut self, address: u32) -> u8 {
        let byte_of = |word: u32, start: u32| word.to_le_bytes().get((address - start) as usize).copied().unwrap_or(0);
        match address {
            register::PORT..=register::PORT_END => byte_of(PORT, register::PORT),
            register::INTERRUPT_MASK => self.mask,
            register::INTERRUPT_STATUS => self.pending,
            register::WANTED..=register::WANTED_HIGH if self.state == State::Image => {
                byte_of(self.settings.assumptions.download_bytes.into(), register::WANTED)
            }
            register::STATUS => READY,
            register::SCRATCH..=register::SCRATCH_HIGH => {
                self.asked_for_firmware();
                byte_of(self.scratch.into(), register::SCRATCH)
            }
            _ => 0,
        }
    }

    fn set_register(&mut self, address: u32, value: u8) {
        match address {
            register::INTERRUPT_MASK => self.mask = value,
            // The host writes zeros where it has seen ones (if_sdio.c, if_sdio_interrupt).
            register::INTERRUPT_STATUS => self.pending &= value,
            _ => {}
        }
    }
}

impl Sd8686 {
    /// Puts what the firmware has for the host behind the port.
    fn hand_over(&mut self) {
        for item in std::mem::take(&mut self.firmware.to_host) {
            let (bytes, is_frame) = match item {
                ToHost::Message(bytes) => (bytes, false),
                ToHost::Frame(bytes) => (bytes, true),
            };
            self.waiting.push_back(Waiting { bytes, is_frame });
        }
        if self.held_back && self.firmware.has_room() {
            self.held_back = false;
            self.pending |= DOWNLOADED;
        }
        self.show();
    }

    /// The firmware stops, and does not start before power has come again.
    fn hang_firmware(&mut self) {
        self.hung = true;
        if self.state == State::Firmware {
            self.state = State::Dead;
            self.waiting.clear();
            (self.shown, self.held_back) = (false, false);
            self.firmware.stop();
        }
    }
}

impl OnAir for Sd8686 {
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

    fn after_air(&mut self, _now_ns: u64) {
        self.firmware.flush();
        self.hand_over();
    }

    fn next_event(&self, _now_ns: u64) -> Option<u64> {
        self.firmware.next_event()
    }

    fn inject(&mut self, _now_ns: u64, effect: &Effect) -> bool {
        inject_hang(effect, || self.hang_firmware())
    }
}

impl Chip for Sd8686 {
    fn identity(&self) -> CardIdentity {
        IDENTITY
    }

    fn read(&mut self, _now_ns: u64, address: u32, incrementing: bool, data: &mut [u8]) {
        if address == PORT {
            return self.fetch(data);
        }
        for (register, slot) in registers(address, incrementing).zip(data) {
            *slot = self.register(register);
        }
    }

    fn write(&mut self, now_ns: u64, address: u32, incrementing: bool, data: &[u8]) {
        if address == PORT {
            return match self.state {
                State::Helper => self.helper_block(data),
                State::Image => {
                    self.image_bytes += data.len() as u64;
                    self.firmware.chip.firmware_bytes += data.len() as u64;
                }
                State::Firmware => self.packet(now_ns, data),
                State::Dead => {}
            };
        }
        for (register, &byte) in registers(address, incrementing).zip(data) {
            self.set_register(register, byte);
        }
    }

    fn interrupts(&self) -> bool {
        self.pending & self.mask != 0
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
            assumptions: self.settings.assumptions,
            tx: self.firmware.tx,
            rx: FilteringRxCounters { rx: self.firmware.rx, filtered: self.firmware.filtered },
            air,
            peers,
        })
    }
}

crate::state!(Sd8686 {
    state, hung, mask, pending, scratch, image_bytes, waiting, shown, held_back, firmware,
} made { settings });

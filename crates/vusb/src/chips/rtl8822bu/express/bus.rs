//! What moves between the host's memory and the MAC: rings of buffers, and the interrupts that tell of them.
//!
//! A ring to the chip has descriptors of 16 bytes: length and place of what the MAC reads first, then of the frame behind it. The
//! chip reads them as its packet buffer has room, and says how far it came. The ring to the host has descriptors of 8 bytes, each
//! of a buffer that takes one frame or report; a tag in it counts up (rtw88 pci.h, struct rtw_pci_tx_buffer_desc and
//! rtw_pci_rx_buffer_desc; pci.c).

use serde::Serialize;

use super::super::mac::Mac;
use super::link::{physical, Link};
use super::registers::{self as reg, Ring, RINGS};
use crate::chips::realtek::memory::Memory;
use crate::device::OutReply;
use crate::pci::FunctionMemory;

/// Bytes of a descriptor to the chip, and of one to the host.
const TX_DESCRIPTOR: usize = 16;
const RX_DESCRIPTOR: u32 = 8;
/// Bytes of a buffer that the chip reads at most: above every MPDU and every page of the driver's. A longer one is none.
const BUFFER_MAX: u16 = 0x3fff;
/// Tags are smaller than this (pci.h, RX_TAG_MAX).
const TAGS: u16 = 8_192;
/// Bits of an index, and of a number of descriptors.
const INDEX: u16 = 0x0fff;

/// What the bus of an RTL8822BE has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Rtl8822beBusCounters"))]
pub struct BusCounters {
    /// Times that the interrupt line was raised.
    pub interrupts: u64,
    /// Descriptors of frames and commands that were read.
    pub fetched: u64,
    /// Pages for the packet buffer that were read by the beacon queue.
    pub pages: u64,
    /// Buffers that were filled for the host.
    pub filled: u64,
    /// Times that a frame or report waited because the host had no buffer for it (counted once per wait).
    pub no_buffer: u64,
    /// Frames and reports that were longer than their buffer: they are lost.
    pub too_long: u64,
}

/// What is wrong with it.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Failures {
    /// It does not get at memory.
    pub dma_stuck: bool,
    /// Its interrupt line is dead.
    pub interrupts_lost: bool,
}

/// Registers of the bus, and what stands behind them.
#[derive(Clone, Default, serde::Serialize, serde::Deserialize)]
pub struct Bus {
    registers: Memory,
    link: Link,
    /// That of the next buffer.
    tag: u16,
    /// The interrupt line.
    line: bool,
    /// A frame waits for a buffer.
    waiting: bool,
    failures: Failures,
    counters: BusCounters,
}

impl Bus {
    /// Power was cut. What is wrong with it stays so.
    pub fn cold_start(&mut self) {
        *self = Self { failures: self.failures, counters: self.counters, ..Self::default() };
    }

    /// What it has done.
    pub const fn counters(&self) -> BusCounters {
        self.counters
    }

    /// What is wrong with it, to be changed.
    pub const fn fail(&mut self) -> &mut Failures {
        &mut self.failures
    }

    /// Whether it holds its interrupt line.
    pub const fn interrupt(&self) -> bool {
        self.line && !self.failures.interrupts_lost
    }

    /// Whether a register is one of the bus.
    pub fn has(address: u16) -> bool {
        reg::PLACES.iter().any(|place| place.contains(&address))
    }

    /// A register is read.
    pub fn read(&self, address: u16) -> u32 {
        self.registers.u32(address)
    }

    /// A register is written: bytes of one word.
    pub fn write(&mut self, address: u16, data: &[u8]) {
        let word = address & !3;
        let before = self.registers.u32(word);
        self.registers.set_u32(word, 0);
        self.registers.write(address, data);
        let written = self.registers.u32(word);
        self.registers.set_u32(word, before);
        self.registers.write(address, data);
        let after = self.registers.u32(word);
        let is_index = word == reg::RX_INDEX || RINGS.iter().any(|ring| ring.index == word);
        match word {
            _ if reg::INTERRUPTS.iter().any(|(_, status)| *status == word) => {
                self.registers.set_u32(word, before & !written);
            }
            _ if is_index => self.registers.set_u32(word, before & 0xffff_0000 | after & 0xffff),
            reg::CLEAR_INDICES => {
                self.registers.set_u32(word, 0);
                if written != 0 {
                    let indices = RINGS.iter().filter(|ring| **ring != reg::COMMANDS).map(|ring| ring.index);
                    indices.chain([reg::RX_INDEX]).for_each(|index| self.registers.set_u32(index, 0));
                }
            }
            reg::COMMANDS_CONTROL => {
                let index = self.registers.u32(reg::COMMANDS.index);
                let kept = if written & reg::CLEAR_DRIVERS != 0 { 0xffff_0000 } else { u32::MAX }
                    & if written & reg::CLEAR_CHIPS != 0 { 0xffff } else { u32::MAX };
                self.registers.set_u32(reg::COMMANDS.index, index & kept);
                self.registers.set_u32(word, after & !(reg::CLEAR_DRIVERS | reg::CLEAR_CHIPS));
            }
            reg::CTRL => {
                if written & reg::RESET_DMA != 0 {
                    self.tag = 0;
                }
                self.registers.set_u32(word, after & !reg::RESET_DMA);
            }
            reg::DBI_FLAG => self.link.configuration(&mut self.registers),
            reg::MDIO_FLAG => physical(&mut self.registers),
            _ => {}
        }
        self.look_at_line();
    }

    fn look_at_line(&mut self) {
        let pending = |&(mask, status): &(u16, u16)| self.registers.u32(mask) & self.registers.u32(status) != 0;
        let line = reg::INTERRUPTS.iter().any(pending);
        self.counters.interrupts += u64::from(line && !self.line);
        self.line = line;
    }

    fn raise(&mut self, (number, bits): (usize, u32)) {
        if let Some(&(_, status)) = reg::INTERRUPTS.get(number) {
            self.registers.set_u32(status, self.registers.u32(status) | bits);
        }
    }

    /// Number of descriptors, the driver's index, the chip's.
    fn state(&self, count: u16, index: u16) -> (u16, u16, u16) {
        let of = |address| self.registers.u16(address) & INDEX;
        (of(count), of(index), of(index + 2))
    }

    fn came_to(&mut self, index: u16, at: u16) {
        self.registers.write(index + 2, &at.to_le_bytes());
    }

    /// Moves what can be moved.
    pub fn pump(&mut self, now_ns: u64, memory: &FunctionMemory, mac: &mut Mac) {
        if self.failures.dma_stuck {
            return;
        }
        if mac.fetches() {
            self.fetch_pages(now_ns, memory, mac);
            // The rings take turns.
            let mut going = [true; RINGS.len()];
            while going.contains(&true) {
                for (ring, goes) in RINGS.iter().zip(&mut going) {
                    *goes = *goes && self.fetch(now_ns, memory, mac, ring);
                }
            }
        }
        if mac.delivers() {
            self.fill(memory, mac);
        }
        self.look_at_line();
    }

    /// Pages for the packet buffer.
    fn fetch_pages(&mut self, now_ns: u64, memory: &FunctionMemory, mac: &mut Mac) {
        if self.registers.u8(reg::BEACON_WORK) & reg::BEACON_FLAG != 0 {
            mac.transmit(now_ns, &buffers(memory, self.registers.u32(reg::BEACON_BASE)));
            self.registers.change(reg::BEACON_WORK, reg::BEACON_FLAG, 0);
            self.counters.pages += 1;
        }
    }

    /// The next frame of a ring; `false`: there is none, or no room for it.
    fn fetch(&mut self, now_ns: u64, memory: &FunctionMemory, mac: &mut Mac, ring: &Ring) -> bool {
        let (count, driver, chip) = self.state(ring.count, ring.index);
        if driver >= count || driver == chip {
            return false;
        }
        let at = if chip < count { chip } else { 0 };
        let descriptor = self.registers.u32(ring.base).wrapping_add(u32::from(at) * TX_DESCRIPTOR as u32);
        if mac.transmit(now_ns, &buffers(memory, descriptor)) != OutReply::Accepted {
            return false;
        }
        self.came_to(ring.index, (at + 1) % count);
        let (number, bit) = ring.done;
        self.raise((number, 1 << bit));
        self.counters.fetched += 1;
        true
    }

    /// Gives the host what was received.
    fn fill(&mut self, memory: &FunctionMemory, mac: &mut Mac) {
        while mac.has_received() {
            let (count, driver, chip) = self.state(reg::RX_COUNT, reg::RX_INDEX);
            if count == 0 {
                return;
            }
            let at = if chip < count { chip } else { 0 };
            let next = (at + 1) % count;
            if next == driver {
                if !self.waiting {
                    self.raise((0, reg::NO_BUFFER));
                    self.counters.no_buffer += 1;
                }
                self.waiting = true;
                return;
            }
            self.waiting = false;
            let Some(packet) = mac.next_received() else { return };
            let descriptor = self.registers.u32(reg::RX_BASE).wrapping_add(u32::from(at) * RX_DESCRIPTOR);
            let (room, place) = (memory.word(descriptor) as u16, memory.word(descriptor.wrapping_add(4)));
            if packet.len() > usize::from(room) {
                self.counters.too_long += 1;
                continue;
            }
            memory.write(place, &packet);
            memory.write(descriptor.wrapping_add(2), &self.tag.to_le_bytes());
            self.tag = (self.tag + 1) % TAGS;
            self.came_to(reg::RX_INDEX, next);
            self.raise((0, reg::RECEIVED));
            self.counters.filled += 1;
        }
    }
}

/// The bytes of the two buffers of a descriptor, one behind the other; none, if there is not both.
fn buffers(memory: &FunctionMemory, descriptor: u32) -> Vec<u8> {
    let mut words = [0; TX_DESCRIPTOR];
    memory.read(descriptor, &mut words);
    let mut bytes = Vec::new();
    for half in words.chunks_exact(TX_DESCRIPTOR / 2) {
        let &[l0, l1, _, _, a0, a1, a2, a3] = half else { continue };
        let (start, len) = (bytes.len(), u16::from_le_bytes([l0, l1]));
        if len > BUFFER_MAX {
            return Vec::new();
        }
        bytes.resize(start + usize::from(len), 0);
        memory.read(u32::from_le_bytes([a0, a1, a2, a3]), bytes.get_mut(start..).unwrap_or_default());
    }
    bytes
}

//! What moves between the SDIO bus and the MAC: registers of the bus, frames each way, the interrupt.
//!
//! The host is told how many bytes it can read next, and reads them in one transfer; it reads how many pages are free before it
//! writes a frame (rtw88 sdio.c, rtw_sdio_rx_isr and rtw_sdio_check_free_txpg).

use serde::Serialize;

use super::super::mac::Mac;
use super::registers as reg;
use crate::chips::realtek::memory::{Memory, Touched};
use crate::device::OutReply;

/// What the bus of an RTL8822BS has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Rtl8822bsBusCounters"))]
pub struct BusCounters {
    /// Transfers from the host that the MAC has taken: each has one frame, page or command.
    pub taken: u64,
    /// Transfers from the host that were lost, because there was no room for their frame, or DMA was off.
    pub lost: u64,
    /// Times that the host has read how many pages of the high and the normal place are free: its first question before each
    /// frame.
    pub page_reads: u64,
    /// Transfers in which the host has read what was received.
    pub fetched: u64,
    /// Such reads with nothing to read.
    pub empty_reads: u64,
    /// Registers of the MAC that were read or written by registers of the bus.
    pub indirect: u64,
}

/// Registers of the bus, and what stands behind them.
#[derive(Clone, Default, serde::Serialize, serde::Deserialize)]
pub struct Bus {
    registers: Memory,
    /// Interrupts, but not that something was received.
    status: u32,
    /// What the host was told to read: packets, and their bytes.
    announced: (usize, usize),
    /// What the host has left of it.
    rest: Vec<u8>,
    counters: BusCounters,
}

impl Bus {
    /// Power came.
    pub fn cold_start(&mut self) {
        *self = Self { counters: self.counters, ..Self::default() };
        self.registers.set_u8(reg::SUSPEND, reg::RESUMED);
    }

    /// What it has done.
    pub const fn counters(&self) -> BusCounters {
        self.counters
    }

    /// Whether it wants the host.
    pub fn interrupts(&self) -> bool {
        self.status() & self.registers.u32(reg::MASK) != 0
    }

    fn status(&self) -> u32 {
        self.status | if self.waiting() > 0 { reg::RECEIVED } else { 0 }
    }

    /// Bytes that can be read next.
    fn waiting(&self) -> usize {
        match self.rest.len() {
            0 => self.announced.1,
            rest => rest,
        }
    }

    /// Registers of the bus are read.
    pub fn read(&mut self, address: u16, incrementing: bool, data: &mut [u8], mac: &Mac) {
        let len = if incrementing { data.len() } else { 1 };
        let touched = Touched { start: address, len };
        self.registers.set_u32(reg::STATUS, self.status());
        self.registers.set_u32(reg::RECEIVED_LEN, self.waiting() as u32);
        if (0..reg::FREE_PAGES_LEN).any(|byte| touched.has(reg::FREE_PAGES + byte)) {
            self.counters.page_reads += u64::from(touched.has(reg::FREE_PAGES));
            let [high, low, normal, extra, public] = mac.free_pages().map(u32::from);
            for (word, pages) in [high | normal << 16, low | public << 16, extra].into_iter().enumerate() {
                self.registers.set_u32(reg::FREE_PAGES + 4 * word as u16, pages);
            }
        }
        for (at, slot) in data.iter_mut().enumerate() {
            let at = if incrementing { at as u16 } else { 0 };
            *slot = self.registers.u8(address.wrapping_add(at) & 0x0fff);
        }
    }

    /// Registers of the bus are written.
    pub fn write(&mut self, now_ns: u64, address: u16, data: &[u8], mac: &mut Mac) {
        self.registers.set_u32(reg::STATUS, 0);
        self.registers.write(address, data);
        let touched = Touched { start: address, len: data.len() };
        self.status &= !self.registers.u32(reg::STATUS);
        if touched.has(reg::SUSPEND) {
            let suspends = self.registers.u8(reg::SUSPEND) & reg::SUSPEND_REQUEST != 0;
            self.registers.change(reg::SUSPEND, reg::RESUMED, if suspends { 0 } else { reg::RESUMED });
        }
        if touched.has(reg::POWER_REQUEST) && mac.firmware_runs() {
            // Each request is confirmed with the bit that it toggles (ps.c, rtw_power_mode_change).
            let toggle = self.registers.u8(reg::POWER_REQUEST) & 0x80;
            self.registers.change(reg::POWER_STATE, 0x80, toggle);
            self.status |= reg::POWER_CONFIRMED;
        }
        if touched.has(reg::INDIRECT + 2) {
            self.indirect(now_ns, mac);
        }
    }

    /// A register of the MAC behind two registers of the bus: one of a fast card, and the last ones before it is off (rtw8822b.c,
    /// trans_act_to_cardemu_8822b and those after it).
    fn indirect(&mut self, now_ns: u64, mac: &mut Mac) {
        let (register, how) = (self.registers.u16(reg::INDIRECT), self.registers.u8(reg::INDIRECT + 2));
        if how & reg::INDIRECT_WRITE != 0 {
            let data: [u8; 4] = self.registers.array(reg::INDIRECT_DATA);
            let len = match how {
                _ if how & reg::INDIRECT_DOUBLE != 0 => 4,
                _ if how & reg::INDIRECT_WORD != 0 => 2,
                _ => 1,
            };
            mac.write(now_ns, register, data.get(..len).unwrap_or_default());
        } else if how & reg::INDIRECT_READ != 0 {
            self.registers.write(reg::INDIRECT_DATA, &mac.read(now_ns, register, 4));
        } else {
            return;
        }
        self.counters.indirect += 1;
        self.registers.change(reg::INDIRECT + 2, 0, reg::INDIRECT_DONE);
    }

    /// A frame, page or command comes from the host.
    pub fn transmit(&mut self, now_ns: u64, data: &[u8], mac: &mut Mac) {
        if mac.fetches() && mac.transmit(now_ns, data) == OutReply::Accepted {
            self.counters.taken += 1;
        } else {
            self.counters.lost += 1;
            self.status |= reg::OVERFLOW;
        }
    }

    /// The host reads what was received. Beyond what there is it gets zeros; what it does not read it can read later.
    pub fn fetch(&mut self, data: &mut [u8], mac: &mut Mac) {
        data.fill(0);
        if self.waiting() == 0 {
            self.counters.empty_reads += 1;
            return;
        }
        if self.rest.is_empty() {
            let (packets, _) = std::mem::take(&mut self.announced);
            mac.take_received(packets, &mut self.rest);
        }
        let len = self.rest.len().min(data.len());
        for (slot, byte) in data.iter_mut().zip(self.rest.drain(..len)) {
            *slot = byte;
        }
        self.counters.fetched += 1;
    }

    /// Tells the host of what was received, one aggregate after the other.
    pub fn look(&mut self, now_ns: u64, mac: &Mac) {
        if !mac.is_on() {
            // What it had received is gone, and with it what the host has left of it.
            self.announced = (0, 0);
            self.rest.clear();
        } else if self.waiting() == 0 && mac.delivers() {
            self.announced = mac.ready_received(now_ns);
        }
    }

    /// When it tells the host of what was received, if nothing else comes.
    pub fn next_event(&self, now_ns: u64, mac: &Mac) -> Option<u64> {
        mac.next_answer().filter(|&at_ns| self.waiting() == 0 && mac.delivers() && at_ns > now_ns)
    }
}

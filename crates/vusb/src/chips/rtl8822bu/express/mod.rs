//! RTL8822BE: the chip of an RTL8822BU on PCI Express, which Linux' rtw88_8822be drives. MAC, radio and firmware are the same
//! code; what is here is its bus.
//!
//! | block | file | driver's side (Linux drivers/net/wireless/realtek/rtw88) |
//! | --- | --- | --- |
//! | register addresses | `registers.rs` | pci.h |
//! | rings of buffers, interrupts | `bus.rs` | pci.c |
//! | registers of the link | `link.rs` | pci.c, rtw_dbi_read8, rtw_dbi_write8, rtw_mdio_write |

mod bus;
mod link;
mod registers;
#[cfg(test)]
mod tests;

use std::os::fd::RawFd;

use serde::Serialize;

use super::assumptions::Assumptions;
use super::mac::Mac;
use super::model::Model;
use super::statistics::{ChipCounters, RxCounters, TxCounters};
use super::Settings;
use crate::air::{AirCounters, Medium};
use crate::chips::realtek::power::PowerCounters;
use crate::device::{Device, DeviceCounters, Effect, Source};
use crate::pci::{Base, FunctionMemory, PciIdentity, Register, SharedMemory};
use crate::peers::{PeerStatistics, Peers};
use crate::state::{Reader, State as _, StateError, Writer};
use bus::Bus;
pub use bus::BusCounters;

/// What an RTL8822BE has counted.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Rtl8822beStatistics"))]
pub struct Statistics {
    /// Registers of the MAC, and the firmware.
    pub chip: ChipCounters,
    /// What is assumed of the chip.
    pub assumptions: Assumptions,
    /// The bus.
    pub bus: BusCounters,
    /// The transmitter.
    pub tx: TxCounters,
    /// The receiver.
    pub rx: RxCounters,
    /// Power save.
    pub power: PowerCounters,
    /// The air.
    pub air: AirCounters,
    /// The access points.
    pub ap: PeerStatistics,
}

/// Who it says it is (rtw8822be.c; pci.c, rtw_pci_io_mapping).
pub(super) const fn identity(model: Model) -> PciIdentity {
    let (vendor, device) = (model.vendor(), model.product());
    // A card's own; any will do.
    let (subsystem_vendor, subsystem) = (vendor, device);
    PciIdentity { vendor, device, revision: 0, subsystem_vendor, subsystem, base: Base::Two }
}

/// The chip, its bus, its air and its access point.
pub struct Rtl8822be {
    settings: Settings,
    memory: FunctionMemory,
    mac: Mac,
    bus: Bus,
    medium: Medium,
    peers: Box<dyn Peers>,
    /// The time up to which everything has happened.
    now_ns: u64,
}

impl Rtl8822be {
    /// A chip that was just plugged in.
    pub fn new(settings: Settings, medium: Medium, peers: Box<dyn Peers>, memory: &SharedMemory) -> Self {
        let mac = Mac::new(settings.model, settings.efuse.clone(), settings.assumptions, settings.seed);
        Self { settings, memory: memory.of_function(0), mac, bus: Bus::default(), medium, peers, now_ns: 0 }
    }

    fn cold_start(&mut self, now_ns: u64) {
        self.mac.cold_start(now_ns);
        self.bus.cold_start();
    }

    fn pump(&mut self, now_ns: u64) {
        self.bus.pump(now_ns, &self.memory, &mut self.mac);
    }
}

impl Device for Rtl8822be {
    fn functions(&self) -> Vec<PciIdentity> {
        vec![identity(self.settings.model)]
    }

    fn read_register(&mut self, now_ns: u64, register: Register) -> u32 {
        let Some(address) = address(register) else { return register.width.mask() };
        if Bus::has(address) {
            return self.bus.read(address) & register.width.mask();
        }
        let bytes = self.mac.read(now_ns, address, register.width.bytes());
        bytes.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte))
    }

    fn write_register(&mut self, now_ns: u64, register: Register, value: u32) {
        let Some(address) = address(register) else { return };
        let bytes = value.to_le_bytes();
        let bytes = bytes.get(..register.width.bytes()).unwrap_or_default();
        if Bus::has(address) {
            self.bus.write(address, bytes);
        } else {
            self.mac.write(now_ns, address, bytes);
        }
        self.pump(now_ns);
    }

    fn interrupts(&self) -> u32 {
        u32::from(self.bus.interrupt())
    }

    fn advance(&mut self, now_ns: u64) {
        self.now_ns = now_ns;
        self.peers.advance(now_ns);
        self.medium.advance(now_ns, &mut self.mac, &mut self.peers.stations_mut());
        self.pump(now_ns);
        self.peers.flush(now_ns);
    }

    fn next_event(&self) -> Option<u64> {
        let air = self.medium.next_event(&self.mac, &self.peers.stations());
        [air, self.peers.next_event()].into_iter().flatten().min()
    }

    fn reset(&mut self, now_ns: u64) {
        self.cold_start(now_ns);
        self.now_ns = now_ns;
    }

    fn sources(&self, sources: &mut Vec<Source>) {
        self.peers.sources(sources);
    }

    fn readable(&mut self, now_ns: u64, fd: RawFd) {
        self.peers.readable(now_ns, fd);
    }

    fn inject(&mut self, now_ns: u64, effect: Effect) -> bool {
        match effect {
            Effect::StuckDma(stuck) => {
                self.bus.fail().dma_stuck = stuck;
                self.pump(now_ns);
            }
            Effect::LostInterrupts(lost) => self.bus.fail().interrupts_lost = lost,
            // Without power nothing of it reads or writes memory.
            Effect::Unplug(_) => self.cold_start(now_ns),
            other => return self.mac.inject(&other) || self.medium.inject(other),
        }
        true
    }

    fn statistics(&self) -> Option<Box<dyn DeviceCounters>> {
        Some(Box::new(Statistics {
            chip: self.mac.counters(),
            assumptions: self.settings.assumptions,
            bus: self.bus.counters(),
            tx: *self.mac.tx_counters(),
            rx: *self.mac.rx_counters(),
            power: self.mac.power_counters(self.now_ns),
            air: self.medium.counters().clone(),
            ap: self.peers.statistics(),
        }))
    }

    fn finish(&mut self) -> std::io::Result<()> {
        self.medium.finish()
    }

    fn save_state(&self, to: &mut Writer) -> Result<(), StateError> {
        self.save(to)
    }

    fn restore_state(&mut self, from: &mut Reader<'_>) -> Result<(), StateError> {
        self.restore(from)
    }
}

/// The chip's address of a register; `None`: it is of no function that there is.
fn address(register: Register) -> Option<u16> {
    u16::try_from(register.offset).ok().filter(|_| register.function == 0)
}

crate::state!(Rtl8822be { mac, bus, medium, now_ns } within { peers } made { settings, memory });

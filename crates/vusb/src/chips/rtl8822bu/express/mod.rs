//! RTL8822BE: the chip of an RTL8822BU on PCI Express, which Linux' rtw88_8822be drives. MAC, radio and firmware are the same
//! code; what is here is its bus.
//!
//! | block | file | driver's side (Linux drivers/net/wireless/realtek/rtw88) |
//! | --- | --- | --- |
//! | register addresses | `registers.rs` | pci.h |
//! | rings of buffers, interrupts | `bus.rs` | pci.c |
//! | turns with the air and its stations | `../../on_air.rs` | |
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
use crate::chips::on_air::{Around, OnAir};
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

/// Its MAC and its bus.
struct Chip {
    settings: Settings,
    memory: FunctionMemory,
    mac: Mac,
    bus: Bus,
}

impl Chip {
    fn cold_start(&mut self, now_ns: u64) {
        self.mac.cold_start(now_ns);
        self.bus.cold_start();
    }

    fn pump(&mut self, now_ns: u64) {
        self.bus.pump(now_ns, &self.memory, &mut self.mac);
    }
}

impl OnAir for Chip {
    type Mac = Mac;

    fn mac(&self) -> &Mac {
        &self.mac
    }

    fn mac_mut(&mut self) -> &mut Mac {
        &mut self.mac
    }

    fn after_air(&mut self, now_ns: u64) {
        self.pump(now_ns);
    }

    fn next_event(&self, _now_ns: u64) -> Option<u64> {
        None
    }

    fn inject(&mut self, now_ns: u64, effect: &Effect) -> bool {
        match *effect {
            Effect::StuckDma(stuck) => {
                self.bus.fail().dma_stuck = stuck;
                self.pump(now_ns);
            }
            Effect::LostInterrupts(lost) => self.bus.fail().interrupts_lost = lost,
            // Without power nothing of it reads or writes memory.
            Effect::Unplug(_) => self.cold_start(now_ns),
            _ => return self.mac.inject(effect),
        }
        true
    }
}

/// The chip, its bus, its air and its access point.
pub struct Rtl8822be {
    chip: Chip,
    around: Around,
}

impl Rtl8822be {
    /// A chip that was just plugged in.
    pub fn new(settings: Settings, medium: Medium, peers: Box<dyn Peers>, memory: &SharedMemory) -> Self {
        let mac = Mac::new(settings.model, settings.efuse.clone(), settings.assumptions, settings.seed);
        let chip = Chip { settings, memory: memory.of_function(0), mac, bus: Bus::default() };
        Self { chip, around: Around::new(medium, peers) }
    }
}

impl Device for Rtl8822be {
    fn functions(&self) -> Vec<PciIdentity> {
        vec![identity(self.chip.settings.model)]
    }

    fn read_register(&mut self, now_ns: u64, register: Register) -> u32 {
        let Some(address) = address(register) else { return register.width.mask() };
        if Bus::has(address) {
            return self.chip.bus.read(address) & register.width.mask();
        }
        let bytes = self.chip.mac.read(now_ns, address, register.width.bytes());
        bytes.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte))
    }

    fn write_register(&mut self, now_ns: u64, register: Register, value: u32) {
        let Some(address) = address(register) else { return };
        let bytes = value.to_le_bytes();
        let bytes = bytes.get(..register.width.bytes()).unwrap_or_default();
        if Bus::has(address) {
            self.chip.bus.write(address, bytes);
        } else {
            self.chip.mac.write(now_ns, address, bytes);
        }
        self.chip.pump(now_ns);
    }

    fn interrupts(&self) -> u32 {
        u32::from(self.chip.bus.interrupt())
    }

    fn advance(&mut self, now_ns: u64) {
        self.around.advance(now_ns, &mut self.chip);
    }

    fn next_event(&self) -> Option<u64> {
        self.around.next_event(&self.chip)
    }

    fn reset(&mut self, now_ns: u64) {
        self.chip.cold_start(now_ns);
        self.around.start_over(now_ns);
    }

    fn sources(&self, sources: &mut Vec<Source>) {
        self.around.sources(sources);
    }

    fn readable(&mut self, now_ns: u64, fd: RawFd) {
        self.around.readable(now_ns, fd);
    }

    fn inject(&mut self, now_ns: u64, effect: Effect) -> bool {
        self.around.inject(now_ns, effect, &mut self.chip)
    }

    fn statistics(&self) -> Option<Box<dyn DeviceCounters>> {
        let (air, ap) = self.around.counted();
        let Chip { settings, mac, bus, .. } = &self.chip;
        Some(Box::new(Statistics {
            chip: mac.counters(),
            assumptions: settings.assumptions,
            bus: bus.counters(),
            tx: *mac.tx_counters(),
            rx: *mac.rx_counters(),
            power: mac.power_counters(self.around.now_ns()),
            air,
            ap,
        }))
    }

    fn finish(&mut self) -> std::io::Result<()> {
        self.around.finish()
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

crate::state!(Chip { mac, bus } made { settings, memory });
crate::state!(Rtl8822be { chip, around });

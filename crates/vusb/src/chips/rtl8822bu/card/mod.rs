//! RTL8822BS: the chip of an RTL8822BU on an SDIO card, which Linux' rtw88_8822bs drives. MAC, radio and firmware are the same
//! code; what is here is its bus.
//!
//! | block | file | driver's side (Linux drivers/net/wireless/realtek/rtw88) |
//! | --- | --- | --- |
//! | turns with the air and its stations | `../../on_air.rs`, `../../sdio_radio.rs` | |
//! | addresses | `registers.rs` | sdio.h |
//! | registers of the bus, frames, the interrupt | `bus.rs` | sdio.c |

mod bus;
mod registers;
#[cfg(test)]
mod tests;

use sdio::CardIdentity;
use serde::Serialize;

use super::assumptions::Assumptions;
use super::mac::Mac;
use super::model::Model;
use super::statistics::{ChipCounters, RxCounters, TxCounters};
use super::Settings;
use crate::air::AirCounters;
use crate::chips::on_air::OnAir;
use crate::chips::realtek::power::PowerCounters;
use crate::chips::sdio_radio::Chip as SdioChip;
use crate::device::{DeviceCounters, Effect};
use crate::peers::PeerStatistics;
use crate::ushc::SdioStatistics;
use bus::Bus;
pub use bus::BusCounters;
use registers::{behind, Behind};

/// The driver's blocks (sdio.h, RTW_SDIO_BLOCK_SIZE).
const BLOCK_BYTES_MAX: u16 = 512;

/// What an RTL8822BS has counted.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Rtl8822bsStatistics"))]
pub struct Statistics {
    /// The host controller and the card.
    pub sdio: SdioStatistics,
    /// Registers of the MAC, and the firmware.
    pub chip: ChipCounters,
    /// What is assumed of the chip.
    pub assumptions: Assumptions,
    /// What goes over the registers of the bus.
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

/// Who it says it is (rtw8822bs.c; include/linux/mmc/sdio_ids.h). No dump of a card was found: of its version strings
/// nothing is known.
pub(super) const fn identity(model: Model) -> CardIdentity {
    CardIdentity { vendor: model.vendor(), device: model.product(), block_bytes_max: BLOCK_BYTES_MAX, version: &[] }
}

/// What its driver sees of it.
pub struct Chip {
    settings: Settings,
    mac: Mac,
    bus: Bus,
}

impl Chip {
    /// A chip without power.
    pub(super) fn new(settings: Settings) -> Self {
        let mac = Mac::new(settings.model, settings.efuse.clone(), settings.assumptions, settings.seed);
        Self { settings, mac, bus: Bus::default() }
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
        self.bus.look(now_ns, &self.mac);
    }

    fn next_event(&self, now_ns: u64) -> Option<u64> {
        self.bus.next_event(now_ns, &self.mac)
    }

    fn inject(&mut self, _now_ns: u64, effect: &Effect) -> bool {
        self.mac.inject(effect)
    }
}

impl SdioChip for Chip {
    fn identity(&self) -> CardIdentity {
        identity(self.settings.model)
    }

    fn read(&mut self, now_ns: u64, address: u32, incrementing: bool, data: &mut [u8]) {
        match behind(address, false) {
            Behind::Bus(register) => self.bus.read(register, incrementing, data, &self.mac),
            Behind::Mac(register) => {
                let len = if incrementing { data.len() } else { 1 };
                let bytes = self.mac.read(now_ns, register, len);
                // Always the same one is read once.
                data.fill(if incrementing { 0 } else { bytes.first().copied().unwrap_or(0) });
                data.iter_mut().zip(bytes).for_each(|(slot, byte)| *slot = byte);
            }
            Behind::ToHost => {
                self.bus.fetch(data, &mut self.mac);
                self.bus.look(now_ns, &self.mac);
            }
            Behind::FromHost { .. } | Behind::Nothing => data.fill(0),
        }
    }

    fn write(&mut self, now_ns: u64, address: u32, incrementing: bool, data: &[u8]) {
        // Of those that are written to one register the last one stays.
        let registers = if incrementing { data } else { data.last_chunk::<1>().map_or(data, |last| last) };
        match behind(address, true) {
            Behind::Bus(register) => self.bus.write(now_ns, register, registers, &mut self.mac),
            Behind::Mac(register) => self.mac.write(now_ns, register, registers),
            Behind::FromHost { len } => {
                self.bus.transmit(now_ns, data.get(..len).unwrap_or(data), &mut self.mac);
            }
            Behind::ToHost | Behind::Nothing => {}
        }
        self.bus.look(now_ns, &self.mac);
    }

    fn interrupts(&self) -> bool {
        self.bus.interrupts()
    }

    fn power_on(&mut self, now_ns: u64) {
        self.mac.cold_start(now_ns);
        self.bus.cold_start();
    }

    fn statistics(
        &self,
        now_ns: u64,
        sdio: SdioStatistics,
        air: AirCounters,
        ap: PeerStatistics,
    ) -> Box<dyn DeviceCounters> {
        Box::new(Statistics {
            sdio,
            chip: self.mac.counters(),
            assumptions: self.settings.assumptions,
            bus: self.bus.counters(),
            tx: *self.mac.tx_counters(),
            rx: *self.mac.rx_counters(),
            power: self.mac.power_counters(now_ns),
            air,
            ap,
        })
    }
}

crate::state!(Chip { mac, bus } made { settings });

//! AR9280 and AR9287: 802.11n stations and access points with two streams on PCI Express, which Linux' ath9k drives.
//!
//! | block | file | driver's side (Linux drivers/net/wireless/ath/ath9k) |
//! | --- | --- | --- |
//! | which chip | `model.rs` | hw.c, ath9k_hw_read_revisions |
//! | register file, reset, sleep | `mac.rs`, `memory.rs`, `registers.rs` | reg.h; hw.c |
//! | EEPROM | `eeprom.rs` | eeprom_def.c, eeprom_9287.c |
//! | interrupts | `interrupts.rs` | ar9002_mac.c, ar9002_hw_get_isr |
//! | TSF, timers | `timers.rs` | hw.c, ath9k_hw_beaconinit; beacon.c |
//! | descriptors | `descriptors.rs`, `rates.rs` | ar9002_mac.c, mac.c, mac.h |
//! | queues, transmission | `frame.rs`, `queues.rs`, `transmit.rs` | mac.c, xmit.c |
//! | reception | `receive.rs` | recv.c |
//! | keys | `key_cache.rs` | ath/key.c |
//! | channel | `radio.rs` | ar9002_phy.c |
//! | counters of cycles | `cycles.rs` | ath/hw.c |
//! | what is not known | `assumptions.rs` | |
//!
//! A device is one chip, or several on one air: then the first is the access point under test, and the others, each a function
//! on PCI of its own, are its stations.

pub mod assumptions;
mod cycles;
mod descriptors;
pub mod eeprom;
pub mod entry;
mod frame;
mod interrupts;
mod key_cache;
mod mac;
mod memory;
mod model;
mod queues;
mod radio;
mod rates;
mod receive;
mod registers;
mod statistics;
#[cfg(test)]
mod tests;
mod timers;
mod transmit;
mod vocabulary;

use std::os::fd::RawFd;

use crate::air::{Medium, Station};
use crate::device::{Device, DeviceCounters, Effect, Source};
use crate::pci::{PciIdentity, Register, SharedMemory, Width, FUNCTIONS_MAX};
use crate::peers::Peers;
use crate::state::{Reader, State as _, StateError, Writer};
use assumptions::Assumptions;
use eeprom::Eeprom;
use mac::Mac;
pub use model::Model;
pub use statistics::{ChipCounters, OneChip, RxCounters, Statistics, TxCounters};
pub use vocabulary::RegisterNames;

/// How a chip is made.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Which chip.
    pub model: Model,
    /// The EEPROM of the chip under test; `None`: one with an address of its own.
    pub eeprom: Option<Eeprom>,
    /// What is not known of it.
    pub assumptions: Assumptions,
    /// Chips that are its stations.
    pub station_chips: usize,
}

/// The chips, their air and who else is on it.
pub struct Ar9280 {
    settings: Settings,
    chips: Vec<Mac>,
    medium: Medium,
    /// Not on the air where its stations are chips.
    peers: Box<dyn Peers>,
    /// The time up to which everything has happened.
    now_ns: u64,
}

/// The address of a chip: Atheros, and which chip it is.
const fn address(model: Model, function: usize) -> [u8; 6] {
    let [_, device] = model.identity().device.to_be_bytes();
    [0x00, 0x03, 0x7f, 0x92, device, function as u8 + 1]
}

impl Ar9280 {
    /// Chips that were just plugged in.
    pub fn new(settings: Settings, medium: Medium, peers: Box<dyn Peers>, memory: &SharedMemory) -> Self {
        let count = (1 + settings.station_chips).min(FUNCTIONS_MAX);
        let chip = |function: usize| {
            let own = settings.eeprom.clone().filter(|_| function == 0);
            let eeprom = own.unwrap_or_else(|| Eeprom::new(settings.model, address(settings.model, function)));
            Mac::new(settings.model, eeprom, settings.assumptions, memory.of_function(function))
        };
        Self { chips: (0..count).map(chip).collect(), settings, medium, peers, now_ns: 0 }
    }

    /// The chip under test fails; its stations do not.
    fn under_test(&mut self, fail: impl FnOnce(&mut Mac)) {
        if let Some(chip) = self.chips.first_mut() {
            fail(chip);
        }
    }

    /// Tells each chip what the air has counted.
    fn count(&mut self, now_ns: u64) {
        let counters = self.medium.counters();
        for (number, chip) in self.chips.iter_mut().enumerate() {
            let sent_ns = match number.checked_sub(1) {
                None => counters.chip.airtime_ns,
                Some(station) => counters.stations.get(station).map_or(0, |station| station.up.airtime_ns),
            };
            chip.cycles().set(now_ns, counters.busy_ns, sent_ns);
        }
    }
}

impl Device for Ar9280 {
    fn functions(&self) -> Vec<PciIdentity> {
        vec![self.settings.model.identity(); self.chips.len()]
    }

    fn read_register(&mut self, now_ns: u64, register: Register) -> u32 {
        let whole = register.whole();
        let word = self.chips.get_mut(register.function).map_or(u32::MAX, |chip| chip.read(now_ns, whole));
        register.part_of(word)
    }

    /// Drivers write whole words only.
    fn write_register(&mut self, now_ns: u64, register: Register, value: u32) {
        if let Some(chip) = self.chips.get_mut(register.function).filter(|_| register.width == Width::Word) {
            chip.write(now_ns, register.offset, value);
        }
    }

    fn interrupts(&self) -> u32 {
        (0..).zip(&self.chips).fold(0, |lines, (number, chip)| lines | u32::from(chip.interrupt()) << number)
    }

    fn advance(&mut self, now_ns: u64) {
        self.now_ns = now_ns;
        self.peers.advance(now_ns);
        self.count(now_ns);
        self.chips.iter_mut().for_each(|chip| chip.advance(now_ns));
        if let Some((chip, stations)) = self.chips.split_first_mut() {
            let mut stations: Vec<&mut dyn Station> = stations.iter_mut().map(|station| station as _).collect();
            let peers = if stations.is_empty() { &mut self.peers.stations_mut() } else { &mut stations };
            self.medium.advance(now_ns, chip, peers);
        }
        self.count(now_ns);
        self.peers.flush(now_ns);
    }

    fn next_event(&self) -> Option<u64> {
        let (chip, stations) = self.chips.split_first()?;
        let stations: Vec<&dyn Station> = stations.iter().map(|station| station as _).collect();
        let peers = if stations.is_empty() { self.peers.stations() } else { stations };
        let air = self.medium.next_event(chip, &peers);
        let chips = self.chips.iter().filter_map(|chip| chip.next_event(self.now_ns));
        chips.chain(air).chain(self.peers.next_event()).min()
    }

    fn reset(&mut self, now_ns: u64) {
        self.chips.iter_mut().for_each(|chip| chip.cold_start(now_ns));
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
            Effect::FirmwareHang => self.under_test(|chip| chip.fail().hung = true),
            Effect::StuckDma(stuck) => self.under_test(|chip| chip.fail().dma_stuck = stuck),
            Effect::LostInterrupts(lost) => self.under_test(|chip| chip.fail().interrupts_lost = lost),
            // Without power nothing of it reads or writes memory.
            Effect::Unplug(_) => self.chips.iter_mut().for_each(|chip| chip.cold_start(now_ns)),
            other => return self.medium.inject(other),
        }
        true
    }

    fn statistics(&self) -> Option<Box<dyn DeviceCounters>> {
        let (chip, stations) = self.chips.split_first()?;
        Some(Box::new(Statistics {
            under_test: chip.counted(),
            assumptions: self.settings.assumptions,
            station_chips: stations.iter().map(Mac::counted).collect(),
            air: self.medium.counters().clone(),
            peers: self.peers.statistics(),
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

crate::state!(Ar9280 { medium, now_ns } each { chips } within { peers } made { settings });

//! Which registers and mailboxes the commands went to.

use std::collections::BTreeMap;

use wire::sdio::libertas::register;
use wire::sdio::{number, registers as at};

use super::card::Protocol;
use super::htc::mailbox_of;
use crate::report::SdioRegister;

/// Places that are distinguished, and those that a report shows.
const PLACES_MAX: usize = 4_096;
const SHOWN_MAX: usize = 64;

/// Where a command went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub number: u8,
    pub write: bool,
    pub function: u8,
    pub address: u32,
}

/// Commands and bytes by place.
#[derive(Clone, Debug, Default)]
pub(super) struct Registers {
    places: BTreeMap<Place, (u64, u64)>,
    others: u64,
}

impl Registers {
    pub(super) fn add(&mut self, place: Place, bytes: u64) {
        if self.places.len() >= PLACES_MAX && !self.places.contains_key(&place) {
            self.others += 1;
            return;
        }
        let (commands, sum) = self.places.entry(place).or_default();
        *commands += 1;
        *sum += bytes;
    }

    /// The most frequent first, and the commands that went elsewhere. A mailbox, where the card has some, is one place.
    pub(super) fn report(&self, protocol: Option<Protocol>) -> (Vec<SdioRegister>, u64) {
        let mailbox = |place: &Place| {
            let is_extended = place.number == number::IO_RW_EXTENDED;
            mailbox_of(place.address).filter(|_| protocol == Some(Protocol::Htc) && is_extended && place.function == 1)
        };
        let mut places: BTreeMap<(Place, bool), (u64, u64)> = BTreeMap::new();
        for (place, (commands, bytes)) in &self.places {
            let mailbox = mailbox(place);
            let merged = Place { address: mailbox.unwrap_or(place.address), ..*place };
            let sum = places.entry((merged, mailbox.is_some())).or_default();
            *sum = (sum.0 + commands, sum.1 + bytes);
        }
        let mut rows: Vec<_> = places.into_iter().collect();
        rows.sort_by_key(|(place, (commands, _))| (std::cmp::Reverse(*commands), *place));
        let others = rows.iter().skip(SHOWN_MAX).map(|(_, (commands, _))| commands).sum::<u64>() + self.others;
        let row = |((place, is_mailbox), (commands, bytes)): ((Place, bool), (u64, u64))| SdioRegister {
            command: format!("CMD{}", place.number),
            direction: if place.write { "out" } else { "in" }.to_owned(),
            function: u32::from(place.function),
            address: format!("0x{:05x}", place.address),
            name: if is_mailbox { Some("mailbox") } else { name(&place, protocol) }.map(str::to_owned),
            commands,
            bytes,
        };
        (rows.into_iter().take(SHOWN_MAX).map(row).collect(), others)
    }
}

fn name(place: &Place, protocol: Option<Protocol>) -> Option<&'static str> {
    if place.function == 1 && place.number == number::IO_RW_DIRECT && protocol == Some(Protocol::Port) {
        return port_register(place.address);
    }
    if place.function != 0 || !matches!(place.number, number::IO_RW_DIRECT | number::IO_RW_EXTENDED) {
        return None;
    }
    Some(match place.address {
        at::REVISIONS => "CCCR and SDIO revision",
        at::SD_REVISION => "SD revision",
        at::IO_ENABLE => "I/O Enable",
        at::IO_READY => "I/O Ready",
        at::INTERRUPT_ENABLE => "Interrupt Enable",
        at::INTERRUPT_PENDING => "Interrupt Pending",
        at::IO_ABORT => "I/O Abort",
        at::BUS_INTERFACE => "Bus Interface Control",
        at::CAPABILITY => "Card Capability",
        at::BUS_SPEED => "Bus Speed Select",
        at::VENDOR..=0xff => "vendor's own",
        _ => return None,
    })
}

/// Registers of Marvell's SD8686, beside its port.
const fn port_register(address: u32) -> Option<&'static str> {
    Some(match address {
        register::PORT..=register::PORT_END => "where the port is",
        register::INTERRUPT_MASK => "interrupt mask",
        register::INTERRUPT_STATUS => "cause of the interrupt",
        register::WANTED | register::WANTED_HIGH => "bytes wanted of the firmware",
        register::STATUS => "status",
        register::SCRATCH | register::SCRATCH_HIGH => "length of the next packet",
        _ => return None,
    })
}

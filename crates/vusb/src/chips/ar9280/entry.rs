//! What is listed of an AR9280, an AR9220 and an AR9287.

use clap::Args;

use super::assumptions::{Assumptions, NAMES};
use super::eeprom::Eeprom;
use super::{Ar9280, Model, RegisterNames, Settings, Statistics};
use crate::device::Device;
use crate::entry::{Band, Chip, CountersOf, Driver, Efuse, Entry, Kind, Options, Plug, Security};
use crate::making::{MakeError, Making};
use crate::pci::FUNCTIONS_MAX;
use crate::peers::silent::Silent;

/// AR9280.
pub static AR9280: Entry = Entry {
    name: "ar9280",
    label: "AR9280",
    about: "Atheros AR9280, 168c:002a on PCI (ath9k): a station, or with --stations an access point",
    plug: Plug::Pci(|| Model::Ar9280.identity()),
    kind: Kind::Chip(Chip { bands: &[Band::TwoPointFour, Band::Five], ..CHIP }),
    // Linux ath9k/pci.c.
    drivers: &[Driver::stock("ath9k")],
    options: OPTIONS,
    make: |making| make(making, Model::Ar9280),
    vocabulary: || Box::new(RegisterNames::default()),
    counters: COUNTERS,
};

/// AR9220.
pub static AR9220: Entry = Entry {
    name: "ar9220",
    label: "AR9220",
    about: "Atheros AR9220, 168c:0029 on PCI (ath9k): an AR9280 without PCI Express, as many routers have it",
    plug: Plug::Pci(|| Model::Ar9220.identity()),
    kind: Kind::Chip(Chip { bands: &[Band::TwoPointFour, Band::Five], ..CHIP }),
    drivers: &[Driver::stock("ath9k")],
    options: OPTIONS,
    make: |making| make(making, Model::Ar9220),
    vocabulary: || Box::new(RegisterNames::default()),
    counters: COUNTERS,
};

/// AR9287.
pub static AR9287: Entry = Entry {
    name: "ar9287",
    label: "AR9287",
    about: "Atheros AR9287, 168c:002e on PCI (ath9k): the same in 2.4 GHz, with the short guard interval in 20 MHz",
    plug: Plug::Pci(|| Model::Ar9287.identity()),
    kind: Kind::Chip(CHIP),
    drivers: &[Driver::stock("ath9k")],
    options: OPTIONS,
    make: |making| make(making, Model::Ar9287),
    vocabulary: || Box::new(RegisterNames::default()),
    counters: COUNTERS,
};

const CHIP: Chip = Chip {
    bands: &[Band::TwoPointFour],
    streams: 2,
    has_he: false,
    securities: Security::ALL,
    is_access_point: true,
    efuse: Efuse::Given,
    times_interrupts: false,
    check_assumption: |assumption| Assumptions::default().set(assumption),
    assumptions: NAMES,
};

const COUNTERS: CountersOf = CountersOf::device::<Statistics>("Ar9280Statistics");
const OPTIONS: &[Options] = &[Options::of::<StationOptions>("station chips")];

/// What its stations are.
#[derive(Clone, Copy, Debug, Args)]
struct StationOptions {
    /// AR9280, AR9220 and AR9287: the stations are chips of the same kind, each a function on PCI with a driver of its own, not
    /// simulated radios; 7 at most.
    #[arg(long)]
    station_chips: bool,
}

fn make(making: &Making<'_>, model: Model) -> Result<Box<dyn Device>, MakeError> {
    let mut assumptions = Assumptions::default();
    making.assume(|assumption| assumptions.set(assumption))?;
    let around = making.surroundings;
    let eeprom = around.efuse.as_deref().map(Eeprom::open).transpose().map_err(MakeError::Setting)?;
    let wants_chips = making.own::<StationOptions>()?.station_chips;
    if wants_chips && around.stations.is_empty() {
        return Err(MakeError::Setting("--station-chips: there are no stations: --stations has their signals".into()));
    }
    let station_chips = if wants_chips { around.stations.len() } else { 0 };
    if station_chips >= FUNCTIONS_MAX {
        let most = FUNCTIONS_MAX - 1;
        return Err(MakeError::Setting(format!("--station-chips: {station_chips} of them; {most} at most")));
    }
    let Some(memory) = making.machine.memory() else {
        return Err(MakeError::Setting(format!(
            "an {} is on PCI: only a guest can have one (txop guest run --device)",
            model.name()
        )));
    };
    let settings = Settings { model, eeprom, assumptions, station_chips };
    let peers = if station_chips > 0 { Box::new(Silent) } else { making.peers()? };
    Ok(Box::new(Ar9280::new(settings, making.medium()?, peers, &memory)))
}

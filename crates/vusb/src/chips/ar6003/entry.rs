//! What is listed of an AR6003 and of an AR6004.

use super::assumptions::NAMES;
use super::{Ar6003, Model, Settings, Statistics};
use crate::chips::sdio_radio::SdioRadio;
use crate::device::Device;
use crate::entry::{Band, Chip, CountersOf, Driver, Efuse, Entry, Kind, Plug, Security};
use crate::making::{MakeError, Making};
use crate::trace::Plain;

/// AR6003.
pub static AR6003: Entry = Entry {
    name: "ar6003",
    label: "AR6003",
    about: "Atheros AR6003, an SDIO card 0271:0301 (ath6kl_sdio) in a USB host controller 0a12:5d10 (ushc)",
    plug: Plug::Sdio(|| Settings::new(Model::Ar6003).identity()),
    kind: Kind::Chip(Chip {
        check_assumption: |assumption| Settings::new(Model::Ar6003).assumptions.set_fitting(assumption),
        ..CHIP
    }),
    drivers: &[DRIVER],
    options: &[],
    make: |making| make(making, Model::Ar6003),
    vocabulary: || Box::new(Plain),
    counters: COUNTERS,
};

/// AR6004.
pub static AR6004: Entry = Entry {
    name: "ar6004",
    label: "AR6004",
    about: "Atheros AR6004, a card 0271:0401 (ath6kl_sdio) in the same controller",
    plug: Plug::Sdio(|| Settings::new(Model::Ar6004).identity()),
    kind: Kind::Chip(Chip {
        check_assumption: |assumption| Settings::new(Model::Ar6004).assumptions.set_fitting(assumption),
        ..CHIP
    }),
    drivers: &[DRIVER],
    options: &[],
    make: |making| make(making, Model::Ar6004),
    vocabulary: || Box::new(Plain),
    counters: COUNTERS,
};

const CHIP: Chip = Chip {
    bands: &[Band::TwoPointFour],
    streams: 1,
    has_he: false,
    securities: &[Security::Open, Security::Wpa, Security::Wpa2Tkip, Security::Mixed, Security::Wpa2],
    is_access_point: false,
    efuse: Efuse::Refused("these cards have none that their drivers read"),
    times_interrupts: false,
    check_assumption: |_| Ok(()),
    assumptions: NAMES,
};

/// Linux ath/ath6kl/sdio.c.
const DRIVER: Driver = Driver::stock("ath6kl_sdio");

const COUNTERS: CountersOf = CountersOf::device::<Statistics>("Ar6003Statistics");

fn make(making: &Making<'_>, model: Model) -> Result<Box<dyn Device>, MakeError> {
    let mut settings = Settings::new(model);
    making.assume(|assumption| settings.assumptions.set_fitting(assumption))?;
    making.in_slot(SdioRadio::new(Ar6003::new(settings), making.medium()?, making.peers()?))
}

//! What is listed of an MT7610U and of an MT7601U.

use super::assumptions::{Assumptions, NAMES};
use super::{identity, Model, Mt7610u, RegisterNames, Settings, Statistics};
use crate::device::Device;
use crate::entry::{Band, Chip, CountersOf, Driver, Efuse, Entry, Kind, Plug, Security};
use crate::making::{MakeError, Making};

/// MT7610U.
pub static MT7610U: Entry = Entry {
    name: "mt7610u",
    label: "MT7610U",
    about: "MediaTek MT7610U, 148f:7610 (mt76x0u): a station, or with --stations an access point",
    plug: Plug::Usb(|| identity(Model::Mt7610u)),
    kind: Kind::Chip(Chip { bands: &[Band::TwoPointFour, Band::Five], is_access_point: true, ..CHIP }),
    // Linux mt76/mt76x0/usb.c.
    drivers: &[Driver::stock("mt76x0u")],
    options: &[],
    make: |making| make(making, Model::Mt7610u),
    vocabulary: || Box::new(RegisterNames::new(Model::Mt7610u)),
    counters: COUNTERS,
};

/// MT7601U.
pub static MT7601U: Entry = Entry {
    name: "mt7601u",
    label: "MT7601U",
    about: "MediaTek MT7601U, 148f:7601 (mt7601u): a station",
    plug: Plug::Usb(|| identity(Model::Mt7601u)),
    kind: Kind::Chip(CHIP),
    // Linux mt7601u/usb.c.
    drivers: &[Driver::stock("mt7601u")],
    options: &[],
    make: |making| make(making, Model::Mt7601u),
    vocabulary: || Box::new(RegisterNames::new(Model::Mt7601u)),
    counters: COUNTERS,
};

const CHIP: Chip = Chip {
    bands: &[Band::TwoPointFour],
    streams: 1,
    has_he: false,
    securities: &[Security::Open, Security::Wpa2, Security::Wpa3, Security::Owe],
    is_access_point: false,
    efuse: Efuse::Refused("an MT7610U's or MT7601U's is not given"),
    times_interrupts: false,
    check_assumption: |assumption| Assumptions::default().set(assumption),
    assumptions: NAMES,
};

const COUNTERS: CountersOf = CountersOf::device::<Statistics>("Mt7610uStatistics");

fn make(making: &Making<'_>, model: Model) -> Result<Box<dyn Device>, MakeError> {
    let mut settings = Settings::new(model);
    making.assume(|assumption| settings.assumptions.set(assumption))?;
    Ok(Box::new(Mt7610u::new(settings, making.medium()?, making.peers()?)))
}

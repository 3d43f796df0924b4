//! What is listed of an RTL8188CUS, an RTL8723AU and an RTL8188EU.

use super::assumptions::NAMES;
use super::eu_assumptions::NAMES as EU_NAMES;
use super::{identity, EuStatistics, Model, RegisterNames, Rtl8188cus, Settings, Statistics};
use crate::device::Device;
use crate::entry::{Band, Chip, CountersOf, Driver, Efuse, Entry, Kind, Plug, Security};
use crate::making::{MakeError, Making};

/// RTL8188CUS.
pub static RTL8188CUS: Entry = Entry {
    name: "rtl8188cus",
    label: "RTL8188CUS",
    about: "Realtek RTL8188CUS, 7392:7811 (rtl8192cu; rtl8xxxu with RTL8XXXU_UNTESTED)",
    plug: Plug::Usb(|| identity(&Settings::new(Model::Rtl8188cus))),
    kind: Kind::Chip(CHIP),
    // Linux rtl8xxxu/core.c, rtl8192cu/sw.c.
    drivers: &[RTL8XXXU.built("usb:v0BDAp8176"), Driver::stock("rtl8192cu")],
    options: &[],
    make: |making| make(making, Model::Rtl8188cus),
    vocabulary: || Box::new(RegisterNames::new(Model::Rtl8188cus)),
    counters: COUNTERS,
};

/// RTL8723AU.
pub static RTL8723AU: Entry = Entry {
    name: "rtl8723au",
    label: "RTL8723AU",
    about: "The same posing as an RTL8723AU, 0bda:1724 (rtl8xxxu)",
    plug: Plug::Usb(|| identity(&Settings::new(Model::Rtl8723au))),
    kind: Kind::Chip(CHIP),
    drivers: &[RTL8XXXU],
    options: &[],
    make: |making| make(making, Model::Rtl8723au),
    vocabulary: || Box::new(RegisterNames::new(Model::Rtl8188cus)),
    counters: COUNTERS,
};

/// RTL8188EU.
pub static RTL8188EU: Entry = Entry {
    name: "rtl8188eu",
    label: "RTL8188EU",
    about: "Realtek RTL8188EU, 0bda:8179 (rtl8xxxu of Linux 6.3 and later): the driver adapts the rates",
    plug: Plug::Usb(|| identity(&Settings::new(Model::Rtl8188eu))),
    kind: Kind::Chip(Chip {
        times_interrupts: false,
        check_assumption: |assumption| Settings::new(Model::Rtl8188eu).assume(assumption),
        assumptions: EU_NAMES,
        ..CHIP
    }),
    drivers: &[RTL8XXXU.from("6.3")],
    options: &[],
    make: |making| make(making, Model::Rtl8188eu),
    vocabulary: || Box::new(RegisterNames::new(Model::Rtl8188eu)),
    counters: CountersOf::device::<EuStatistics>("Rtl8188euStatistics"),
};

const CHIP: Chip = Chip {
    bands: &[Band::TwoPointFour],
    streams: 1,
    has_he: false,
    securities: Security::ALL,
    is_access_point: false,
    efuse: Efuse::Given,
    times_interrupts: true,
    check_assumption: |assumption| Settings::new(Model::Rtl8188cus).assume(assumption),
    assumptions: NAMES,
};

const RTL8XXXU: Driver = Driver::stock("rtl8xxxu");

const COUNTERS: CountersOf = CountersOf::device::<Statistics>("Rtl8188cusStatistics");

fn make(making: &Making<'_>, model: Model) -> Result<Box<dyn Device>, MakeError> {
    let around = making.surroundings;
    let mut settings = Settings::new(model);
    settings.interrupt_ns = around.interrupt_us.map_or(settings.interrupt_ns, |us| us * 1_000);
    settings.seed = around.seed;
    making.assume(|assumption| settings.assume(assumption))?;
    if let Some(path) = &around.efuse {
        settings.efuse = settings.efuse.replaced_by(path).map_err(|error| MakeError::Setting(error.to_string()))?;
    }
    Ok(Box::new(Rtl8188cus::new(settings, making.medium()?, making.peers()?)))
}

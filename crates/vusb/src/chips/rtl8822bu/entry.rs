//! What is listed of an RTL8822BU and of an RTL8821CU.

use super::assumptions::{Assumptions, NAMES};
use super::{identity, Model, RegisterNames, Rtl8822bu, Settings, Statistics};
use crate::device::Device;
use crate::entry::{Band, Chip, CountersOf, Driver, Efuse, Entry, Kind, Plug, Security};
use crate::making::{MakeError, Making};

/// RTL8822BU.
pub static RTL8822BU: Entry = Entry {
    name: "rtl8822bu",
    label: "RTL8822BU",
    about: "Realtek RTL8822BU, 0bda:b812 (rtw88_8822bu of Linux 6.2 and later): 802.11ac, two streams",
    plug: Plug::Usb(|| identity(Model::Rtl8822bu)),
    kind: Kind::Chip(Chip { streams: 2, ..CHIP }),
    // Linux rtw88/rtw8822bu.c.
    drivers: &[Driver::stock("rtw88_8822bu").from("6.2")],
    options: &[],
    make: |making| make(making, Model::Rtl8822bu),
    vocabulary: || Box::new(RegisterNames::default()),
    counters: COUNTERS,
};

/// RTL8821CU.
pub static RTL8821CU: Entry = Entry {
    name: "rtl8821cu",
    label: "RTL8821CU",
    about: "Realtek RTL8821CU, 0bda:c811 (rtw88_8821cu of Linux 6.2 and later): 802.11ac, one stream",
    plug: Plug::Usb(|| identity(Model::Rtl8821cu)),
    kind: Kind::Chip(CHIP),
    // Linux rtw88/rtw8821cu.c.
    drivers: &[Driver::stock("rtw88_8821cu").from("6.2")],
    options: &[],
    make: |making| make(making, Model::Rtl8821cu),
    vocabulary: || Box::new(RegisterNames::default()),
    counters: COUNTERS,
};

const CHIP: Chip = Chip {
    bands: &[Band::TwoPointFour, Band::Five],
    streams: 1,
    has_he: false,
    securities: Security::ALL,
    is_access_point: false,
    efuse: Efuse::Refused("an RTL8822BU's or RTL8821CU's is not given"),
    times_interrupts: false,
    check_assumption: |assumption| Assumptions::default().set(assumption),
    assumptions: NAMES,
};

const COUNTERS: CountersOf = CountersOf::device::<Statistics>("Rtl8822buStatistics");

fn make(making: &Making<'_>, model: Model) -> Result<Box<dyn Device>, MakeError> {
    let mut settings = Settings { seed: making.surroundings.seed, ..Settings::new(model) };
    making.assume(|assumption| settings.assumptions.set(assumption))?;
    Ok(Box::new(Rtl8822bu::new(settings, making.medium()?, making.peers()?)))
}

//! What is listed of an RTL8822BU, of an RTL8822BE, of an RTL8822BS and of an RTL8821CU.

use super::assumptions::{Assumptions, NAMES};
use super::card;
use super::express::{self, Rtl8822be};
use super::{identity, Model, RegisterNames, Rtl8822bu, Settings, Statistics};
use crate::chips::sdio_radio::SdioRadio;
use crate::device::Device;
use crate::entry::{Band, Chip, CountersOf, Driver, Efuse, Entry, Kind, Plug, Security};
use crate::making::{MakeError, Making};
use crate::trace::Plain;

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

/// RTL8822BE.
pub static RTL8822BE: Entry = Entry {
    name: "rtl8822be",
    label: "RTL8822BE",
    about: "Realtek RTL8822BE, 10ec:b822 on PCI (rtw88_8822be): an RTL8822BU's chip on another bus",
    plug: Plug::Pci(|| express::identity(Model::Rtl8822be)),
    kind: Kind::Chip(Chip { streams: 2, ..CHIP }),
    // Linux rtw88/rtw8822be.c.
    drivers: &[Driver::stock("rtw88_8822be")],
    options: &[],
    make: make_on_pci,
    vocabulary: || Box::new(RegisterNames::default()),
    counters: CountersOf::device::<express::Statistics>("Rtl8822beStatistics"),
};

/// RTL8822BS.
pub static RTL8822BS: Entry = Entry {
    name: "rtl8822bs",
    label: "RTL8822BS",
    about: "Realtek RTL8822BS, an SDIO card 024c:b822 (rtw88_8822bs of Linux 6.4 and later): an RTL8822BU's chip on a third bus",
    plug: Plug::Sdio(|| card::identity(Model::Rtl8822bs)),
    kind: Kind::Chip(Chip { streams: 2, ..CHIP }),
    // Linux rtw88/rtw8822bs.c.
    drivers: &[Driver::stock("rtw88_8822bs").from("6.4")],
    options: &[],
    make: |making| {
        let chip = card::Chip::new(settings(making, Model::Rtl8822bs)?);
        making.in_slot(SdioRadio::new(chip, making.medium()?, making.peers()?))
    },
    vocabulary: || Box::new(Plain),
    counters: CountersOf::device::<card::Statistics>("Rtl8822bsStatistics"),
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
    efuse: Efuse::Refused("an RTL8822BU's, RTL8822BE's, RTL8822BS's or RTL8821CU's is not given"),
    times_interrupts: false,
    check_assumption: |assumption| Assumptions::default().set(assumption),
    assumptions: NAMES,
};

const COUNTERS: CountersOf = CountersOf::device::<Statistics>("Rtl8822buStatistics");

fn settings(making: &Making<'_>, model: Model) -> Result<Settings, MakeError> {
    let mut settings = Settings { seed: making.surroundings.seed, ..Settings::new(model) };
    making.assume(|assumption| settings.assumptions.set(assumption))?;
    Ok(settings)
}

fn make(making: &Making<'_>, model: Model) -> Result<Box<dyn Device>, MakeError> {
    Ok(Box::new(Rtl8822bu::new(settings(making, model)?, making.medium()?, making.peers()?)))
}

fn make_on_pci(making: &Making<'_>) -> Result<Box<dyn Device>, MakeError> {
    let settings = settings(making, Model::Rtl8822be)?;
    let Some(memory) = making.machine.memory() else {
        return Err(MakeError::Setting(
            "an RTL8822BE is on PCI: only a guest can have one (txop guest run --device)".to_owned(),
        ));
    };
    Ok(Box::new(Rtl8822be::new(settings, making.medium()?, making.peers()?, &memory)))
}

//! What is listed of an MT7921U.

use super::assumptions::{Assumptions, NAMES};
use super::{identity, Mt7921u, RegisterNames, Settings, Statistics};
use crate::entry::{Band, Chip, CountersOf, Driver, Efuse, Entry, Kind, Plug, Security};

/// MT7921U.
pub static MT7921U: Entry = Entry {
    name: "mt7921u",
    label: "MT7921U",
    about: "MediaTek MT7921U, 0e8d:7961 (mt7921u of Linux 5.18 and later): 802.11ax, two streams",
    plug: Plug::Usb(identity),
    kind: Kind::Chip(Chip {
        bands: &[Band::TwoPointFour, Band::Five],
        streams: 2,
        has_he: true,
        securities: Security::ALL,
        is_access_point: false,
        efuse: Efuse::Refused("an MT7921U's is not read by its driver"),
        times_interrupts: false,
        check_assumption: |assumption| Assumptions::default().set(assumption),
        assumptions: NAMES,
    }),
    // Linux mt7921/usb.c.
    drivers: &[Driver::stock("mt7921u").from("5.18")],
    options: &[],
    make: |making| {
        let mut settings = Settings { seed: making.surroundings.seed, ..Settings::default() };
        making.assume(|assumption| settings.assumptions.set(assumption))?;
        Ok(Box::new(Mt7921u::new(settings, making.medium()?, making.peers()?)))
    },
    vocabulary: || Box::new(RegisterNames::default()),
    counters: CountersOf::device::<Statistics>("Mt7921uStatistics"),
};

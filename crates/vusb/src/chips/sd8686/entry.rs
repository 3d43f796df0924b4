//! What is listed of an SD8686.

use super::assumptions::{Assumptions, NAMES};
use super::{Sd8686, Settings, Statistics, IDENTITY};
use crate::chips::sdio_radio::SdioRadio;
use crate::entry::{Band, Chip, CountersOf, Driver, Efuse, Entry, Kind, Plug, Security};
use crate::trace::Plain;

/// SD8686.
pub static SD8686: Entry = Entry {
    name: "sd8686",
    label: "SD8686",
    about: "Marvell SD8686, an SDIO card 02df:9103 (libertas_sdio) in the same controller",
    plug: Plug::Sdio(|| IDENTITY),
    kind: Kind::Chip(Chip {
        bands: &[Band::TwoPointFour],
        streams: 1,
        has_he: false,
        securities: &[Security::Open, Security::Wpa2],
        is_access_point: false,
        efuse: Efuse::Refused("these cards have none that their drivers read"),
        times_interrupts: false,
        check_assumption: |assumption| Assumptions::default().set(assumption),
        assumptions: NAMES,
    }),
    // Linux marvell/libertas/if_sdio.c.
    drivers: &[Driver::stock("libertas_sdio")],
    options: &[],
    make: |making| {
        let mut settings = Settings::default();
        making.assume(|assumption| settings.assumptions.set(assumption))?;
        making.in_slot(SdioRadio::new(Sd8686::new(settings), making.medium()?, making.peers()?))
    },
    vocabulary: || Box::new(Plain),
    counters: CountersOf::device::<Statistics>("Sd8686Statistics"),
};

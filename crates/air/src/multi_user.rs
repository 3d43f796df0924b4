//! MU and trigger-based PPDUs, and the resource units in them, from the rates of the links.

use std::collections::BTreeMap;

use wire::phy::{Bandwidth, EhtFormat, HeFormat, Mode};

use crate::link::Link;
use crate::micros::us;
use crate::report::{MultiUser, ResourceUnit};

/// Tones of the narrowest channel: a smaller unit leaves tones to other users.
const WHOLE_20_MHZ: u16 = 242;

/// Is a unit of these tones a part of the channel, because it is smaller than what is all of it?
fn is_part(tones: Option<u16>, width: Option<Bandwidth>) -> bool {
    let whole = width.and_then(Bandwidth::tones).unwrap_or(WHOLE_20_MHZ);
    tones.is_some_and(|tones| tones < whole)
}

/// One row per link with HE or EHT data frames, in the order given.
pub fn multi_user<'a>(links: impl Iterator<Item = &'a Link>) -> Vec<MultiUser> {
    links.filter_map(row).collect()
}

fn row(link: &Link) -> Option<MultiUser> {
    let mut row = MultiUser {
        ta: link.ta.to_string(),
        ra: link.ra.to_string(),
        frames: 0,
        single_user: 0,
        extended_range: 0,
        multi_user: 0,
        trigger_based: 0,
        format_unknown: 0,
        unit_known: 0,
        certainly_ofdma: 0,
        certainly_ofdma_share: None,
        ppdus_timed: Some(link.units.ppdus),
        ppdus_air_us: (link.units.ppdus > 0).then(|| us(link.units.air_ns)),
        band_share: (link.units.air_ns > 0).then(|| link.units.unit_ns / link.units.air_ns as f64),
        ppdus_joint: Some(link.units.joint),
        resource_units: Vec::new(),
    };
    let mut units: BTreeMap<u16, u64> = BTreeMap::new();
    for (mode, frames) in link.rates.modes() {
        let (format, tones, is_ofdma) = match mode {
            Mode::He(he) => {
                let format = match he.format {
                    HeFormat::Su => &mut row.single_user,
                    HeFormat::ErSu => &mut row.extended_range,
                    HeFormat::Mu => &mut row.multi_user,
                    HeFormat::TriggerBased => &mut row.trigger_based,
                };
                // An extended-range PPDU in 106 tones has the channel for itself.
                let is_shared = matches!(he.format, HeFormat::Mu | HeFormat::TriggerBased);
                let is_ofdma = is_shared && is_part(he.ru_tones, he.bandwidth);
                // Where an MU or trigger-based frame has no unit but a width, its user has the whole band.
                (format, Some(he.ru_tones).filter(|tones| tones.is_some() || he.bandwidth.is_some()), is_ofdma)
            }
            Mode::Eht(eht) => {
                let (format, whole_band) = match eht.format {
                    Some(EhtFormat::SingleUser) => (&mut row.single_user, true),
                    Some(EhtFormat::MuMimo) => (&mut row.multi_user, true),
                    Some(EhtFormat::Ofdma) => (&mut row.multi_user, false),
                    Some(EhtFormat::TriggerBased) => (&mut row.trigger_based, false),
                    None => (&mut row.format_unknown, false),
                };
                let is_told = eht.ru_tones.is_some() || whole_band;
                let is_ofdma = match eht.format {
                    Some(EhtFormat::Ofdma) => true,
                    Some(EhtFormat::SingleUser | EhtFormat::MuMimo) => false, // units can be left out of those, too
                    Some(EhtFormat::TriggerBased) => is_part(eht.ru_tones, eht.bandwidth),
                    None => is_part(eht.ru_tones, None),
                };
                (format, is_told.then_some(eht.ru_tones), is_ofdma)
            }
            _ => continue,
        };
        row.frames += frames;
        *format += frames;
        let Some(tones) = tones else { continue };
        row.unit_known += frames;
        row.certainly_ofdma += if is_ofdma { frames } else { 0 };
        if let Some(tones) = tones {
            *units.entry(tones).or_default() += frames;
        }
    }
    row.certainly_ofdma_share = (row.unit_known > 0).then(|| row.certainly_ofdma as f64 / row.unit_known as f64);
    row.resource_units = units.into_iter().map(|(tones, frames)| ResourceUnit { tones, frames }).collect();
    (row.frames > 0).then_some(row)
}

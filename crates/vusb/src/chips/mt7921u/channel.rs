//! Channels by the numbers that commands have.

use wire::phy::{Band, Bandwidth};

use crate::air::Tuned;

/// Where a radio is, as a command says it.
#[derive(Clone, Copy, Debug)]
pub struct ChannelNumbers {
    /// 1, 2, 3: 2.4, 5, 6 GHz.
    pub band: u8,
    /// Primary channel.
    pub primary: u8,
    /// Centre of the whole channel.
    pub centre: u8,
    /// 0, 1, 2: 20, 40, 80 MHz.
    pub width: u8,
}

/// The band of a number; 6 GHz is not modelled.
pub const fn band(number: u8) -> Option<Band> {
    match number {
        1 => Some(Band::Ghz2_4),
        2 => Some(Band::Ghz5),
        _ => None,
    }
}

/// Where it is; `None`: nowhere that the radio can be.
pub fn tuned(numbers: ChannelNumbers) -> Option<Tuned> {
    let band = band(numbers.band)?;
    let in_band = match band {
        Band::Ghz2_4 => (1..=14).contains(&numbers.primary),
        _ => (36..=177).contains(&numbers.primary),
    };
    let width = match numbers.width {
        0 => Bandwidth::Mhz20,
        1 => Bandwidth::Mhz40,
        2 if band == Band::Ghz5 => Bandwidth::Mhz80,
        _ => return None,
    };
    // The primary channel lies inside of the whole one.
    let beside = numbers.primary.abs_diff(numbers.centre);
    let fits = match width {
        Bandwidth::Mhz20 => beside == 0,
        Bandwidth::Mhz40 => beside == 2,
        _ => beside == 2 || beside == 6,
    };
    let frequency_mhz = band.frequency_mhz(numbers.primary.into())?;
    (in_band && fits).then_some(Tuned { frequency_mhz, width })
}

/// The number of a frequency, as received frames have it.
pub fn number(tuned: &Tuned) -> u8 {
    Band::channel_number(tuned.frequency_mhz).map_or(0, |number| number as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels() {
        let at = |band, primary, centre, width| {
            tuned(ChannelNumbers { band, primary, centre, width }).map(|tuned| (tuned.frequency_mhz, tuned.width.mhz()))
        };
        assert_eq!(at(1, 6, 6, 0), Some((2_437, 20)));
        assert_eq!(at(1, 6, 8, 1), Some((2_437, 40)));
        assert_eq!(at(2, 36, 42, 2), Some((5_180, 80)));
        assert_eq!(at(2, 149, 155, 2), Some((5_745, 80)));
        assert_eq!((at(1, 14, 14, 0), at(1, 36, 36, 0)), (Some((2_484, 20)), None));
        assert_eq!((at(1, 6, 6, 2), at(2, 36, 40, 2), at(3, 1, 1, 0), at(2, 36, 36, 3)), (None, None, None, None));
        assert_eq!(number(&tuned(ChannelNumbers { band: 2, primary: 36, centre: 42, width: 2 }).unwrap()), 36);
    }
}

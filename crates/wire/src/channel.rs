//! Channel numbers of headers that do not give a frequency.

/// Centre frequency in MHz of a 20 MHz channel by its number, as headers from before 6 GHz use it: 1 to 14 in the
/// 2.4 GHz band, 32 to 177 in the 5 GHz band, 182 to 196 in the 4.9 GHz band (IEEE 802.11-2020, Annex E; there the
/// starting frequencies are 2407, 5000 and 4000 MHz). `None` for any other number.
pub(crate) fn frequency_mhz(number: u32) -> Option<u16> {
    let number = u16::try_from(number).ok()?;
    match number {
        1..=13 => Some(2407 + 5 * number),
        14 => Some(2484),
        32..=177 => Some(5000 + 5 * number),
        182..=196 => Some(4000 + 5 * number),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::frequency_mhz;

    #[test]
    fn one_channel_of_each_band_and_the_japanese_exception() {
        assert_eq!(frequency_mhz(7), Some(2442));
        assert_eq!(frequency_mhz(14), Some(2484));
        assert_eq!(frequency_mhz(149), Some(5745));
        assert_eq!(frequency_mhz(184), Some(4920));
        assert_eq!(frequency_mhz(0), None);
        assert_eq!(frequency_mhz(0x0001_0001), None);
    }
}

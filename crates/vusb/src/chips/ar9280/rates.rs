//! Rate codes (Linux ath9k/common-init.c, ath9k_legacy_rates; HT: 0x80 and the MCS).

use wire::phy::{Bandwidth, Ht, Mode};

/// An HT rate.
const HT: u8 = 0x80;
/// The highest MCS: two streams.
const MCS_MAX: u8 = 15;
/// CCK with the short preamble.
const SHORT_PREAMBLE: u8 = 0x04;
/// Codes of legacy rates in 500 kbit/s.
const LEGACY: [(u8, u8); 12] = [
    (0x1b, 2),
    (0x1a, 4),
    (0x19, 11),
    (0x18, 22),
    (0x0b, 12),
    (0x0f, 18),
    (0x0a, 24),
    (0x0e, 36),
    (0x09, 48),
    (0x0d, 72),
    (0x08, 96),
    (0x0c, 108),
];

/// The mode of a code; `None`: the chip has none.
pub fn mode(code: u8, wide: bool, short_gi: bool) -> Option<Mode> {
    if code & HT != 0 {
        let mcs = code & !HT;
        let bandwidth = if wide { Bandwidth::Mhz40 } else { Bandwidth::Mhz20 };
        let (greenfield, ldpc, stbc) = (Some(false), Some(false), Some(0));
        return (mcs <= MCS_MAX).then_some(Mode::Ht(Ht {
            mcs,
            bandwidth,
            short_gi: Some(short_gi),
            greenfield,
            ldpc,
            stbc,
            ness: 0,
        }));
    }
    // 1 Mbit/s has the long one only.
    let is_short = |long: u8| (0x18..0x1b).contains(&long) && code == long | SHORT_PREAMBLE;
    let (long, rate) = LEGACY.into_iter().find(|&(long, _)| code == long || is_short(long))?;
    Mode::from_legacy_rate(rate, Some(is_short(long)))
}

/// The code of a mode; `None`: the chip receives none.
pub fn code(mode: &Mode) -> Option<(u8, bool, bool)> {
    match *mode {
        Mode::Ht(Ht { mcs, bandwidth, short_gi, .. }) if mcs <= MCS_MAX => {
            Some((HT | mcs, bandwidth == Bandwidth::Mhz40, short_gi == Some(true)))
        }
        Mode::Dsss { rate_500kbps, short_preamble } => {
            let (code, _) = LEGACY.into_iter().find(|&(_, rate)| rate == rate_500kbps)?;
            Some((code | if short_preamble == Some(true) { SHORT_PREAMBLE } else { 0 }, false, false))
        }
        Mode::Ofdm { rate_500kbps, .. } => {
            let (code, _) = LEGACY.into_iter().find(|&(_, rate)| rate == rate_500kbps)?;
            Some((code, false, false))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_modes_are_each_others() {
        let mut count = 0;
        for number in 0..=u8::MAX {
            for (wide, short_gi) in [(false, false), (true, true)] {
                let Some(found) = mode(number, wide, short_gi) else { continue };
                count += 1;
                let is_ht = number & HT != 0;
                assert_eq!(code(&found), Some((number, wide && is_ht, short_gi && is_ht)), "{number:#x}");
            }
        }
        // 12 legacy rates, three of them with a short preamble too; 16 MCS.
        assert_eq!(count, 2 * (12 + 3 + 16));
        assert_eq!(mode(0x8f, false, false).and_then(|mode| mode.rate_kbps()), Some(130_000));
    }
}

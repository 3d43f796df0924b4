//! The rates of one stream: those of 802.11b, g and n numbered as the drivers here number them, and those of 802.11ac and ax.

use wire::phy::{Bandwidth, GuardInterval, He, HeFormat, Ht, Mode, RateSet, Vht};

/// Legacy rates in 500 kbit/s by number: DSSS and CCK 0 to 3, OFDM 4 to 11. Chips (rtl8xxxu.h, DESC_RATE_*; mt76x02_regs.h,
/// MT_LEGACY_BASIC_RATE) and mac80211_hwsim number them so.
pub const LEGACY_RATES: [u8; 12] = [2, 4, 11, 22, 12, 18, 24, 36, 48, 72, 96, 108];
/// Number of MCS 0.
pub const MCS0: u8 = 12;

/// How a frame is modulated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Modulation {
    /// 40 MHz.
    pub wide: bool,
    /// Short guard interval.
    pub short_gi: bool,
    /// Short DSSS preamble.
    pub short_preamble: bool,
    /// Greenfield preamble.
    pub greenfield: bool,
    /// Space-time block coding, streams beyond one.
    pub stbc: u8,
}

/// The mode of a rate's number. A number without a rate is sent at 1 Mbit/s.
pub fn mode(rate: u8, modulation: Modulation) -> Mode {
    let Modulation { wide, short_gi, short_preamble, greenfield, stbc } = modulation;
    if let Some(rate_500kbps) = LEGACY_RATES.get(usize::from(rate)) {
        let short_preamble = Some(short_preamble && *rate_500kbps != 2);
        return Mode::from_legacy_rate(*rate_500kbps, short_preamble).unwrap_or_default();
    }
    match rate.checked_sub(MCS0) {
        Some(mcs @ 0..=7) => Mode::Ht(Ht {
            mcs,
            bandwidth: if wide { Bandwidth::Mhz40 } else { Bandwidth::Mhz20 },
            short_gi: Some(short_gi),
            greenfield: Some(greenfield),
            ldpc: Some(false),
            stbc: Some(stbc.min(1)),
            ness: 0,
        }),
        _ => Mode::Dsss { rate_500kbps: 2, short_preamble: Some(false) },
    }
}

/// A VHT mode with one stream, without STBC and LDPC.
pub const fn vht(mcs: u8, bandwidth: Bandwidth, short_gi: bool) -> Mode {
    vht_streams(mcs, 1, bandwidth, short_gi)
}

/// The same with this many streams.
pub const fn vht_streams(mcs: u8, nss: u8, bandwidth: Bandwidth, short_gi: bool) -> Mode {
    let (stbc, ldpc, ldpc_extra_symbol) = (Some(false), Some(false), Some(false));
    Mode::Vht(Vht { mcs, nss, bandwidth, short_gi: Some(short_gi), stbc, ldpc, ldpc_extra_symbol })
}

/// An HE mode to one station, with LDPC and without STBC, with the HE-LTF of 6.4 us and the guard interval of 0.8 us, which every
/// HE station receives (IEEE 802.11ax-2021, 27.1.1).
pub const fn he_streams(mcs: u8, nss: u8, bandwidth: Bandwidth) -> Mode {
    Mode::He(He {
        format: HeFormat::Su,
        mcs,
        nss,
        bandwidth: Some(bandwidth),
        ru_tones: None,
        gi: Some(GuardInterval::Ns800),
        ltf_ns: Some(6_400),
        dcm: false,
        stbc: Some(false),
        ldpc: Some(true),
    })
}

/// The chain of rates of a unicast data frame between stations without HT.
pub(crate) fn legacy_chain() -> Vec<(Mode, u8)> {
    [11, 9, 6, 4].map(|number| (mode(number, Modulation::default()), 3)).to_vec()
}

/// The legacy rates with bits that are set, by number; `None` where there are none.
pub fn legacy_rates(bits: u32) -> Option<RateSet> {
    let rates = LEGACY_RATES.iter().enumerate().filter(|(bit, _)| bits >> bit & 1 == 1);
    let set = rates.fold(RateSet::EMPTY, |set, (_, &rate)| set.with(rate));
    (!set.is_empty()).then_some(set)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates() {
        let kbps =
            |rate, wide, short_gi| mode(rate, Modulation { wide, short_gi, ..Modulation::default() }).rate_kbps();
        assert_eq!((kbps(0, false, false), kbps(11, false, false)), (Some(1_000), Some(54_000)));
        assert_eq!((kbps(19, false, false), kbps(19, true, true)), (Some(65_000), Some(150_000)));
        assert_eq!(kbps(63, false, false), Some(1_000));
    }
}

//! At which rate a control response (CTS, Ack, BlockAck) is to be expected.
//!
//! Source: IEEE 802.11-2020 10.6.6.5 (rate selection for control response frames), table 10-10 (non-HT reference
//! rates), 10.6.10 (modulation classes).

use super::mode::{Bandwidth, He, Ht, Mode, Vht};
use super::rate::{he_dcm_stbc, ht_first_stream, modulation, ofdm_clock_divider, ofdm_full_clock_rate};
use super::timing::Band;

/// The DSSS and OFDM rates in ascending order, 500 kbit/s units.
const RATES: [u8; 12] = [2, 4, 11, 12, 18, 22, 24, 36, 48, 72, 96, 108];

const fn is_dsss(rate_500kbps: u8) -> bool {
    matches!(rate_500kbps, 2 | 4 | 11 | 22)
}

/// A set of DSSS and OFDM rates (of a 20 MHz channel).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct RateSet {
    /// Bit n stands for `RATES[n]`.
    bits: u16,
}

impl RateSet {
    /// No rates.
    pub const EMPTY: Self = Self { bits: 0 };

    /// The basic rates in a Supported Rates or Extended Supported Rates element body: bytes of 500 kbit/s with bit 7
    /// set. BSS membership selectors (HT 127, VHT 126, ...) are not rates and are left out.
    pub fn basic_of(element_body: &[u8]) -> Self {
        element_body.iter().filter(|&&byte| byte & 0x80 != 0).fold(Self::EMPTY, |set, &byte| set.with(byte & 0x7f))
    }

    /// This set and one rate more (500 kbit/s units); a number that is not a DSSS or OFDM rate changes nothing.
    #[must_use]
    pub fn with(self, rate_500kbps: u8) -> Self {
        let bit = RATES.iter().position(|&rate| rate == rate_500kbps).map_or(0, |index| 1 << index);
        Self { bits: self.bits | bit }
    }

    /// Rates that every station must support: 1, 2, 5.5, 11, 6, 12 and 24 Mbit/s in 2.4 GHz (16.2.3.4 and 18.1.2), 6,
    /// 12 and 24 in 5 and 6 GHz (17.2.3.4). Empty in 60 GHz.
    pub fn mandatory(band: Band) -> Self {
        let rates: &[u8] = match band {
            Band::Ghz2_4 => &[2, 4, 11, 22, 12, 24, 48],
            Band::Ghz5 | Band::Ghz6 => &[12, 24, 48],
            Band::Ghz60 => &[],
        };
        rates.iter().fold(Self::EMPTY, |set, &rate| set.with(rate))
    }

    /// True for a rate (500 kbit/s units) in the set.
    pub fn contains(self, rate_500kbps: u8) -> bool {
        self.iter().any(|rate| rate == rate_500kbps)
    }

    /// True without rates.
    pub const fn is_empty(self) -> bool {
        self.bits == 0
    }

    /// The rates in ascending order, 500 kbit/s units.
    pub fn iter(self) -> impl Iterator<Item = u8> {
        RATES.iter().enumerate().filter(move |(index, _)| self.bits >> index & 1 == 1).map(|(_, &rate)| rate)
    }

    /// Highest rate up to `limit` of the same modulation class, DSSS (with CCK) or OFDM.
    fn highest(self, dsss: bool, limit: u8) -> Option<u8> {
        self.iter().filter(|&rate| is_dsss(rate) == dsss && rate <= limit).last()
    }
}

/// Non-HT reference rate (500 kbit/s units) of a modulation, table 10-10. DCM halves what a constellation carries.
const fn reference_rate(bits_per_subcarrier: u8, code_num: u8, code_den: u8, dcm: bool) -> u8 {
    match (bits_per_subcarrier, code_num, code_den, dcm) {
        (1, ..) | (2, 1, 2, true) => 12,
        (2, 1, 2, false) | (4, 1, 2, true) => 24,
        (2, ..) | (4, _, _, true) => 36,
        (4, 1, 2, false) => 48,
        (4, ..) => 72,
        (6, 1 | 2, ..) => 96,
        _ => 108,
    }
}

/// Rate that a response must not exceed, as at 20 MHz (500 kbit/s units).
fn limit(soliciting: &Mode) -> Option<u8> {
    let of = |(bits, code): (u8, super::rate::CodeRate), dcm| Some(reference_rate(bits, code.num, code.den, dcm));
    match soliciting {
        Mode::Unknown => None,
        Mode::Dsss { rate_500kbps, .. } => is_dsss(*rate_500kbps).then_some(*rate_500kbps),
        Mode::Ofdm { rate_500kbps, bandwidth } => ofdm_full_clock_rate(*rate_500kbps, *bandwidth),
        Mode::Ht(Ht { mcs, .. }) => of(ht_first_stream(*mcs)?, false),
        Mode::Vht(Vht { mcs, .. }) => of(modulation(*mcs)?, false),
        Mode::He(he @ He { mcs, .. }) => of(modulation(*mcs)?, he_dcm_stbc(he).0),
        Mode::Eht(eht) => match eht.mcs? {
            14 | 15 => Some(12),
            mcs => of(modulation(mcs)?, false),
        },
    }
}

/// The mode of the CTS, Ack or BlockAck that `soliciting` asks for.
///
/// It is the highest rate of the BSS basic rate set that does not exceed the soliciting PPDU's rate (for HT and later:
/// its non-HT reference rate) and has its modulation class (DSSS answers DSSS, OFDM everything else); without one, the
/// highest such mandatory rate. `basic` is `None` where the BSS's beacons were not seen. Preamble length and clock are
/// those of the soliciting PPDU; at half and quarter clock only mandatory rates are considered, because [`RateSet`]
/// holds 20 MHz rates.
///
/// `None` for an unknown mode, a combination that no standard defines, and where no rate fits (DSSS outside 2.4 GHz).
/// A BlockAck that answers a BlockAckReq has the BlockAckReq's own rate where that is a basic rate, which this gives
/// too.
pub fn control_response_rate(soliciting: &Mode, basic: Option<&RateSet>, band: Band) -> Option<Mode> {
    let limit = limit(soliciting)?;
    let mandatory = RateSet::mandatory(band);
    let highest = |basic: Option<&RateSet>, dsss| {
        basic.and_then(|set| set.highest(dsss, limit)).or_else(|| mandatory.highest(dsss, limit))
    };
    match soliciting {
        Mode::Dsss { short_preamble, .. } => {
            let rate_500kbps = (band == Band::Ghz2_4).then(|| highest(basic, true)).flatten()?;
            let short_preamble = if rate_500kbps == 2 { Some(false) } else { *short_preamble };
            Some(Mode::Dsss { rate_500kbps, short_preamble })
        }
        Mode::Ofdm { bandwidth: bandwidth @ (Bandwidth::Mhz5 | Bandwidth::Mhz10), .. } => {
            let rate_500kbps = highest(None, false)? / ofdm_clock_divider(*bandwidth)?;
            Some(Mode::Ofdm { rate_500kbps, bandwidth: *bandwidth })
        }
        _ => Some(Mode::Ofdm { rate_500kbps: highest(basic, false)?, bandwidth: Bandwidth::Mhz20 }),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::testing::{any_mode, dsss, eht, he, ht, ofdm, vht};
    use super::*;
    use crate::phy::control_len::ACK_LEN;
    use crate::phy::GuardInterval;

    #[test]
    fn rate_sets() {
        // 1, 2, 5.5, 11 basic, 6 and 54 not; HT membership selector.
        let set = RateSet::basic_of(&[0x82, 0x84, 0x8b, 0x96, 0x0c, 0x6c, 0xff]);
        assert_eq!(set.iter().collect::<Vec<_>>(), [2, 4, 11, 22]);
        assert!(set.contains(11) && !set.contains(12));
        assert!(RateSet::basic_of(&[0x02, 0xff]).is_empty());
    }

    #[test]
    fn mandatory_rates_answer_without_a_beacon() {
        let rate = |mode: Mode, band| control_response_rate(&mode, None, band);
        let ofdm20 = |r| Some(ofdm(r, Bandwidth::Mhz20));
        for (soliciting, response) in [(12, 12), (18, 12), (24, 24), (36, 24), (48, 48), (108, 48)] {
            assert_eq!(rate(ofdm(soliciting, Bandwidth::Mhz20), Band::Ghz5), ofdm20(response));
        }
        assert_eq!(rate(dsss(22, Some(true)), Band::Ghz2_4), Some(dsss(22, Some(true))));
        assert_eq!(rate(dsss(2, Some(true)), Band::Ghz2_4), Some(dsss(2, Some(false))));
        assert_eq!(rate(dsss(22, None), Band::Ghz5), None);
        assert_eq!(rate(ofdm(27, Bandwidth::Mhz10), Band::Ghz5), None);
        assert_eq!(rate(ofdm(54, Bandwidth::Mhz10), Band::Ghz5), Some(ofdm(24, Bandwidth::Mhz10)));
        assert_eq!(rate(ofdm(3, Bandwidth::Mhz5), Band::Ghz5), Some(ofdm(3, Bandwidth::Mhz5)));
        // HT, by modulation: BPSK 6; QPSK 12; 16-QAM and up 24.
        for (mcs, response) in [(0, 12), (1, 24), (2, 24), (3, 48), (7, 48), (8, 12), (15, 48), (32, 12), (33, 48)] {
            assert_eq!(rate(ht(mcs, Bandwidth::Mhz40, false), Band::Ghz5), ofdm20(response), "MCS {mcs}");
        }
        assert_eq!(rate(ht(77, Bandwidth::Mhz20, false), Band::Ghz5), None);
        assert_eq!(rate(Mode::Unknown, Band::Ghz5), None);
    }

    #[test]
    fn basic_rates_come_first() {
        let all_ofdm = RateSet::basic_of(&[0x8c, 0x92, 0x98, 0xa4, 0xb0, 0xc8, 0xe0, 0xec]);
        let rate = |mode: Mode| match control_response_rate(&mode, Some(&all_ofdm), Band::Ghz5) {
            Some(Mode::Ofdm { rate_500kbps, .. }) => rate_500kbps,
            other => panic!("{other:?}"),
        };
        let expected = [12, 24, 36, 48, 72, 96, 108, 108, 108, 108];
        for (mcs, expected) in (0..).zip(expected) {
            assert_eq!(rate(vht(mcs, 1, Bandwidth::Mhz80, false)), expected, "MCS {mcs}");
            assert_eq!(rate(Mode::He(he(mcs, 1, Bandwidth::Mhz80, GuardInterval::Ns800))), expected);
            assert_eq!(rate(eht(mcs, 1, Bandwidth::Mhz80, GuardInterval::Ns800)), expected);
        }
        let dcm = He { dcm: true, ..he(3, 1, Bandwidth::Mhz80, GuardInterval::Ns800) };
        assert_eq!(rate(Mode::He(dcm)), 24);
        // 1 and 2 Mbit/s basic: 11 Mbit/s is answered at 2, OFDM still in OFDM.
        let old = RateSet::basic_of(&[0x82, 0x84]);
        let of = |mode| control_response_rate(&mode, Some(&old), Band::Ghz2_4);
        assert_eq!(of(dsss(22, None)), Some(dsss(4, None)));
        assert_eq!(of(ofdm(108, Bandwidth::Mhz20)), Some(ofdm(48, Bandwidth::Mhz20)));
    }

    proptest! {
        #[test]
        fn a_response_is_a_known_legacy_mode(mode in any_mode(), body in any::<Vec<u8>>(), mhz in any::<u16>()) {
            let basic = RateSet::basic_of(&body);
            let band = Band::from_frequency_mhz(mhz).unwrap_or(Band::Ghz2_4);
            for basic in [None, Some(&basic)] {
                if let Some(response) = control_response_rate(&mode, basic, band) {
                    let duration = response.duration(ACK_LEN, Some(band));
                    prop_assert!(duration.is_some());
                    prop_assert!(["dsss", "ofdm"].contains(&response.family()));
                    prop_assert_eq!(response.family() == "dsss", mode.family() == "dsss");
                }
            }
        }
    }
}

//! Bands, interframe spaces and contention parameters.
//!
//! Sources: IEEE 802.11-2020 10.3.2.3 and 10.3.7 (interframe spaces), 15.3.3, 16.3.4, 17.4.4 and 18.5.4 (PHY
//! characteristics), 10.23.2 (EDCA), 17.4.4 (half and quarter clock); channel numbers from annex E.

use super::control_len::ACK_LEN;
use super::mode::{Bandwidth, Mode};
use crate::AccessCategory;

/// A frequency band with channel numbers of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub enum Band {
    /// 2.4 GHz.
    Ghz2_4,
    /// 4.9 and 5 GHz.
    Ghz5,
    /// 6 GHz.
    Ghz6,
    /// 60 GHz (DMG). Only its interframe spaces are known here.
    Ghz60,
}

impl Band {
    /// The band that a centre frequency in MHz lies in; `None` between the bands.
    pub const fn from_frequency_mhz(frequency_mhz: u16) -> Option<Self> {
        Some(match frequency_mhz {
            2_400..=2_500 => Self::Ghz2_4,
            4_900..=5_924 => Self::Ghz5,
            5_925..=7_125 => Self::Ghz6,
            57_000.. => Self::Ghz60,
            _ => return None,
        })
    }

    /// Channel number of a centre frequency in MHz (channel 14 for 2484); `None` off the channel raster.
    pub const fn channel_number(frequency_mhz: u16) -> Option<u16> {
        let (start, spacing) = match frequency_mhz {
            2_484 => return Some(14),
            2_412..=2_472 => (2_407, 5),
            4_910..=4_980 => (4_000, 5),
            5_005..=5_924 => (5_000, 5),
            // Channel 2 of operating class 136 is the only one below channel 1.
            5_935 => return Some(2),
            5_955..=7_125 => (5_950, 5),
            58_320.. => (56_160, 2_160),
            _ => return None,
        };
        let offset = frequency_mhz - start;
        if offset % spacing == 0 {
            Some(offset / spacing)
        } else {
            None
        }
    }

    /// Centre frequency in MHz of a 20 MHz channel of this band, as [`Band::channel_number`] counts them; of 182 to 184, which
    /// are twice in the band, the one at 4.9 GHz.
    pub fn frequency_mhz(self, channel: u16) -> Option<u16> {
        let candidates = match self {
            Self::Ghz2_4 if channel == 14 => [Some(2_484), None],
            Self::Ghz2_4 => [channel.checked_mul(5).and_then(|offset| offset.checked_add(2_407)), None],
            Self::Ghz5 => {
                [4_000u16, 5_000].map(|start| channel.checked_mul(5).and_then(|offset| offset.checked_add(start)))
            }
            Self::Ghz6 if channel == 2 => [Some(5_935), None],
            Self::Ghz6 => [channel.checked_mul(5).and_then(|offset| offset.checked_add(5_950)), None],
            Self::Ghz60 => [channel.checked_mul(2_160).and_then(|offset| offset.checked_add(56_160)), None],
        };
        let is_it =
            |mhz: &u16| Self::channel_number(*mhz) == Some(channel) && Self::from_frequency_mhz(*mhz) == Some(self);
        candidates.into_iter().flatten().find(is_it)
    }
}

/// MAC timing of one BSS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Timing {
    /// SIFS, ns. Counted from the end of the signal extension, where there is one.
    pub sifs_ns: u32,
    /// Slot, ns.
    pub slot_ns: u32,
    /// Silence that an OFDM PPDU (ERP-OFDM, HT, VHT, HE, EHT) ends with, ns: 6 us in 2.4 GHz, else 0. Not part of
    /// [`Mode::duration`].
    pub signal_extension_ns: u32,
}

impl Timing {
    /// Timing in a band. `short_slot` only matters in 2.4 GHz (9 instead of 20 us); `channel_width` only where it is
    /// 5 or 10 MHz (quarter- and half-clocked OFDM in the 4.9 and 5 GHz bands, table 17-21).
    pub const fn new(band: Band, channel_width: Bandwidth, short_slot: bool) -> Self {
        let (sifs_ns, slot_ns, signal_extension_ns) = match (band, channel_width) {
            (Band::Ghz60, _) => (3_000, 5_000, 0),
            (Band::Ghz2_4, _) if short_slot => (10_000, 9_000, 6_000),
            (Band::Ghz2_4, _) => (10_000, 20_000, 6_000),
            (Band::Ghz5 | Band::Ghz6, Bandwidth::Mhz10) => (32_000, 13_000, 0),
            (Band::Ghz5 | Band::Ghz6, Bandwidth::Mhz5) => (64_000, 21_000, 0),
            (Band::Ghz5 | Band::Ghz6, _) => (16_000, 9_000, 0),
        };
        Self { sifs_ns, slot_ns, signal_extension_ns }
    }

    /// DIFS, ns.
    pub const fn difs_ns(&self) -> u32 {
        self.sifs_ns + 2 * self.slot_ns
    }

    /// EIFS, ns: SIFS, the ACK that the medium must be left to, DIFS. `ack` is the lowest mandatory mode (1 Mbit/s in
    /// 2.4 GHz, 6 Mbit/s elsewhere). `None` where the ACK's duration is unknown.
    pub fn eifs_ns(&self, ack: &Mode) -> Option<u32> {
        let extension = if matches!(ack, Mode::Dsss { .. }) { 0 } else { self.signal_extension_ns };
        let ack_ns = u32::try_from(ack.duration(ACK_LEN, None)?.ns).ok()?;
        Some(self.sifs_ns + ack_ns + extension + self.difs_ns())
    }
}

/// Silence between the end of a soliciting PPDU (as [`Mode::duration`] ends it) and its response, ns: SIFS plus signal
/// extension. 16 us after OFDM in 2.4 GHz, 10 us after DSSS, 16 us in 5 and 6 GHz, 32 and 64 us at half and quarter
/// clock. `None` in 2.4 GHz for an unknown mode.
pub fn response_gap_ns(band: Band, soliciting: &Mode) -> Option<u32> {
    let width = match soliciting {
        Mode::Ofdm { bandwidth, .. } => *bandwidth,
        _ => Bandwidth::Mhz20,
    };
    let timing = Timing::new(band, width, true);
    match (band, soliciting) {
        (Band::Ghz2_4, Mode::Unknown) => None,
        (Band::Ghz2_4, Mode::Dsss { .. }) => Some(timing.sifs_ns),
        _ => Some(timing.sifs_ns + timing.signal_extension_ns),
    }
}

/// Contention parameters of one access category, in the units of the WMM and EDCA parameter elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct EdcaParameters {
    /// Slots between SIFS and the backoff.
    pub aifsn: u8,
    /// CWmin is 2^n - 1 slots (n is 0 to 15).
    pub ecw_min: u8,
    /// CWmax is 2^n - 1 slots (n is 0 to 15).
    pub ecw_max: u8,
    /// TXOP limit in units of 32 us; 0 is one frame exchange.
    pub txop_limit_32us: u16,
}

impl EdcaParameters {
    /// What stations use until an access point says otherwise, for an OFDM PHY with aCWmin 15: AIFSN 3, 7, 2, 2 for
    /// BE, BK, VI, VO; TXOP limits of the WMM specification (0, 0, 3.008 ms, 1.504 ms), which deployed access points
    /// send.
    pub const fn default_for(category: AccessCategory) -> Self {
        let (aifsn, ecw_min, ecw_max, txop_limit_32us) = match category {
            AccessCategory::BestEffort => (3, 4, 10, 0),
            AccessCategory::Background => (7, 4, 10, 0),
            AccessCategory::Video => (2, 3, 4, 94),
            AccessCategory::Voice => (2, 2, 3, 47),
        };
        Self { aifsn, ecw_min, ecw_max, txop_limit_32us }
    }

    /// AIFS, ns: SIFS and AIFSN slots.
    pub const fn aifs_ns(&self, timing: &Timing) -> u32 {
        timing.sifs_ns + self.aifsn as u32 * timing.slot_ns
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{dsss, he, ht, ofdm};
    use super::*;
    use crate::phy::GuardInterval;

    #[test]
    fn bands_and_channels() {
        for (mhz, band, channel) in [
            (2412, Some(Band::Ghz2_4), Some(1)),
            (2472, Some(Band::Ghz2_4), Some(13)),
            (2484, Some(Band::Ghz2_4), Some(14)),
            (2413, Some(Band::Ghz2_4), None),
            (4920, Some(Band::Ghz5), Some(184)),
            (5180, Some(Band::Ghz5), Some(36)),
            (5825, Some(Band::Ghz5), Some(165)),
            (5885, Some(Band::Ghz5), Some(177)),
            (5935, Some(Band::Ghz6), Some(2)),
            (5955, Some(Band::Ghz6), Some(1)),
            (7115, Some(Band::Ghz6), Some(233)),
            (58320, Some(Band::Ghz60), Some(1)),
            (64800, Some(Band::Ghz60), Some(4)),
            (0, None, None),
            (3000, None, None),
        ] {
            assert_eq!(Band::from_frequency_mhz(mhz), band, "{mhz}");
            assert_eq!(Band::channel_number(mhz), channel, "{mhz}");
        }
        for mhz in 0..=u16::MAX {
            assert!(Band::channel_number(mhz).is_none() || Band::from_frequency_mhz(mhz).is_some(), "{mhz}");
            if let Some((band, channel)) = Band::from_frequency_mhz(mhz).zip(Band::channel_number(mhz)) {
                let known = match mhz {
                    5_910..=5_920 => mhz - 1_000,
                    5_960 => 5_935, // no channel of 20 MHz is there
                    _ => mhz,
                };
                assert_eq!(band.frequency_mhz(channel), Some(known), "{mhz}");
            }
        }
    }

    #[test]
    fn interframe_spaces() {
        let b = Timing::new(Band::Ghz2_4, Bandwidth::Mhz20, false);
        let g = Timing::new(Band::Ghz2_4, Bandwidth::Mhz20, true);
        let a = Timing::new(Band::Ghz5, Bandwidth::Mhz20, true);
        let (one, six) = (dsss(2, None), ofdm(12, Bandwidth::Mhz20));
        assert_eq!([b.difs_ns(), g.difs_ns(), a.difs_ns()], [50_000, 28_000, 34_000]);
        assert_eq!(b.eifs_ns(&one), Some(364_000));
        assert_eq!(g.eifs_ns(&six), Some(88_000));
        assert_eq!(a.eifs_ns(&six), Some(94_000));
        assert_eq!(a.eifs_ns(&Mode::Unknown), None);
        // 17.3.8 half clock: DIFS 58 us.
        assert_eq!(Timing::new(Band::Ghz5, Bandwidth::Mhz10, true).difs_ns(), 58_000);
    }

    #[test]
    fn response_gaps() {
        let gap = response_gap_ns;
        assert_eq!(gap(Band::Ghz2_4, &dsss(22, None)), Some(10_000));
        assert_eq!(gap(Band::Ghz2_4, &ofdm(108, Bandwidth::Mhz20)), Some(16_000));
        assert_eq!(gap(Band::Ghz2_4, &ht(7, Bandwidth::Mhz20, false)), Some(16_000));
        assert_eq!(gap(Band::Ghz2_4, &Mode::Unknown), None);
        assert_eq!(gap(Band::Ghz5, &Mode::Unknown), Some(16_000));
        assert_eq!(gap(Band::Ghz6, &Mode::He(he(0, 1, Bandwidth::Mhz80, GuardInterval::Ns800))), Some(16_000));
        assert_eq!(gap(Band::Ghz5, &ofdm(6, Bandwidth::Mhz10)), Some(32_000));
        assert_eq!(gap(Band::Ghz5, &ofdm(3, Bandwidth::Mhz5)), Some(64_000));
    }

    #[test]
    fn edca() {
        let a = Timing::new(Band::Ghz5, Bandwidth::Mhz20, true);
        let be = EdcaParameters::default_for(AccessCategory::BestEffort);
        let vo = EdcaParameters::default_for(AccessCategory::Voice);
        assert_eq!([be.aifs_ns(&a), vo.aifs_ns(&a)], [43_000, 34_000]);
    }
}

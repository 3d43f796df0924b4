//! Rates by the numbers of descriptors, and rate control, which is the firmware's: the driver only says what a station can receive
//! (Linux mt76/mt76_connac_mcu.c, mt76_connac_mcu_sta_tlv).
//!
//! Which algorithm the real firmware has is not known; this one goes by steps (`../rate_steps.rs`). The rates that it goes through
//! are those of the newest kind that both have, without those that another one beats in speed without needing more of the
//! signal: with two streams MCS 11 to 0 of HE.

use wire::phy::{Bandwidth, GuardInterval, He, HeFormat, Ht, Mode, Vht};
use wire::usb::connac2::{phy, RateNumber};

use crate::air::rates::{he_streams, vht_streams};

/// OFDM rates in 500 kbit/s, and their numbers (mt76/mac80211.c, mt76_rates).
const OFDM: [(u8, u8); 8] = [(12, 11), (18, 15), (24, 10), (36, 14), (48, 9), (72, 13), (96, 8), (108, 12)];
/// CCK rates in 500 kbit/s, by their numbers; 4 more with the short preamble.
const CCK: [u8; 4] = [2, 4, 11, 22];

/// The number of a bandwidth: 0, 1, 2 are 20, 40, 80 MHz.
pub const fn bandwidth_number(bandwidth: Bandwidth) -> u8 {
    match bandwidth {
        Bandwidth::Mhz40 => 1,
        Bandwidth::Mhz80 => 2,
        _ => 0,
    }
}

/// A mode by the numbers of received frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbers {
    /// Rate.
    pub rate: RateNumber,
    /// Bandwidth.
    pub bandwidth: u8,
    /// Guard interval.
    pub guard: u8,
    /// LDPC.
    pub ldpc: bool,
}

/// The numbers of a mode; `None`: the chip receives none.
pub fn numbers(mode: &Mode) -> Option<Numbers> {
    let legacy =
        |phy, index| Numbers { rate: RateNumber { phy, index, streams: 1 }, bandwidth: 0, guard: 0, ldpc: false };
    Some(match *mode {
        Mode::Dsss { rate_500kbps, short_preamble } => {
            let index = CCK.iter().position(|&rate| rate == rate_500kbps)? as u8;
            legacy(phy::CCK, index + if short_preamble == Some(true) { 4 } else { 0 })
        }
        Mode::Ofdm { rate_500kbps, .. } => legacy(phy::OFDM, OFDM.iter().find(|(rate, _)| *rate == rate_500kbps)?.1),
        Mode::Ht(ht) if ht.mcs < 16 => Numbers {
            rate: RateNumber { phy: phy::HT, index: ht.mcs, streams: ht.mcs / 8 + 1 },
            bandwidth: bandwidth_number(ht.bandwidth),
            guard: u8::from(ht.short_gi == Some(true)),
            ldpc: ht.ldpc == Some(true),
        },
        Mode::Vht(vht) if vht.nss <= 2 && vht.mcs <= 9 && vht.bandwidth <= Bandwidth::Mhz80 => Numbers {
            rate: RateNumber { phy: phy::VHT, index: vht.mcs, streams: vht.nss },
            bandwidth: bandwidth_number(vht.bandwidth),
            guard: u8::from(vht.short_gi == Some(true)),
            ldpc: vht.ldpc == Some(true),
        },
        Mode::He(He { format: HeFormat::Su, mcs: mcs @ 0..=11, nss: nss @ 1..=2, bandwidth, gi, ldpc, .. }) => {
            Numbers {
                rate: RateNumber { phy: phy::HE_SU, index: mcs, streams: nss },
                bandwidth: bandwidth_number(bandwidth.filter(|&width| width <= Bandwidth::Mhz80)?),
                guard: match gi {
                    Some(GuardInterval::Ns3200) => 2,
                    Some(GuardInterval::Ns1600) => 1,
                    _ => 0,
                },
                ldpc: ldpc == Some(true),
            }
        }
        _ => return None,
    })
}

/// The mode of a rate that a descriptor gives: legacy ones.
pub fn fixed(rate: RateNumber) -> Option<Mode> {
    match rate.phy {
        phy::CCK => {
            let rate_500kbps = *CCK.get(usize::from(rate.index & 3))?;
            let short_preamble = Some(rate.index & 4 != 0 && rate_500kbps != 2);
            Some(Mode::Dsss { rate_500kbps, short_preamble })
        }
        phy::OFDM => OFDM.iter().find(|(_, index)| *index == rate.index).map(|&(rate, _)| ofdm(rate)),
        _ => None,
    }
}

/// An OFDM rate.
pub const fn ofdm(rate_500kbps: u8) -> Mode {
    Mode::Ofdm { rate_500kbps, bandwidth: Bandwidth::Mhz20 }
}

/// 6 Mbit/s.
pub const LOWEST_OFDM: Mode = ofdm(12);

/// What a station can receive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Abilities {
    /// OFDM in bits 13:6, CCK in 3:0.
    pub legacy: u16,
    /// MCS of HT.
    pub ht_mcs: u16,
    /// HT Capabilities Information.
    pub ht: Option<u16>,
    /// VHT Capabilities Information, and the map of MCS that it receives.
    pub vht: Option<(u32, u16)>,
    /// HE PHY Capabilities Information, and the map of MCS that it receives up to 80 MHz.
    pub he: Option<([u8; 11], u16)>,
    /// 0, 1, 2: it uses 20, 40, 80 MHz.
    pub bandwidth: u8,
}

/// Streams and the highest MCS of each, of a map with two bits a stream, in which 3 is none.
fn of_map(map: u16, highest: [u8; 3]) -> impl Iterator<Item = (u8, u8)> {
    (1..=2u8).filter_map(move |nss| highest.get(usize::from(map >> (2 * (nss - 1)) & 3)).map(|&mcs| (nss, mcs)))
}

impl Abilities {
    /// The width that is used with it, where the chip uses `width`.
    fn width(&self, width: Bandwidth) -> Bandwidth {
        let wide = self.ht.is_some_and(|info| info >> 1 & 1 == 1);
        let own = match self.bandwidth {
            2 if self.vht.is_some() || self.he.is_some() => Bandwidth::Mhz80,
            1 | 2 => Bandwidth::Mhz40,
            // Without VHT the driver does not say.
            _ if wide && self.vht.is_none() => Bandwidth::Mhz40,
            _ => Bandwidth::Mhz20,
        };
        own.min(width)
    }

    /// The rates that rate control goes through, the fastest first.
    pub fn ladder(&self, width: Bandwidth) -> Vec<Mode> {
        let width = self.width(width);
        let modes =
            self.he(width).or_else(|| self.vht(width)).or_else(|| self.ht(width)).unwrap_or_else(|| self.legacy());
        let mut timed: Vec<_> =
            modes.into_iter().filter_map(|mode| Some((mode.rate_kbps()?, demand(&mode), mode))).collect();
        timed.sort_unstable_by_key(|&(kbps, demand, _)| (std::cmp::Reverse(kbps), demand));
        let mut kept: Vec<(u8, Mode)> = Vec::new();
        for (_, demand, mode) in timed {
            if kept.last().is_none_or(|&(last, _)| demand < last) {
                kept.push((demand, mode));
            }
        }
        kept.into_iter().map(|(_, mode)| mode).collect()
    }

    fn he(&self, width: Bandwidth) -> Option<Vec<Mode>> {
        let (info, map) = self.he?;
        // LDPC Coding In Payload: bit 13. Without it MCS 10 and 11, and more than 20 MHz, are not sent.
        let ldpc = info.get(1).is_some_and(|byte| byte >> 5 & 1 == 1);
        let width = if ldpc { width } else { Bandwidth::Mhz20 };
        let mode = |mcs, nss| match he_streams(mcs, nss, width) {
            Mode::He(he) => Mode::He(He { ldpc: Some(ldpc), ..he }),
            other => other,
        };
        let most = if ldpc { 11 } else { 9 };
        let modes: Vec<_> = of_map(map, [7, 9, 11])
            .flat_map(|(nss, high)| (0..=high.min(most)).map(move |mcs| mode(mcs, nss)))
            .collect();
        (!modes.is_empty()).then_some(modes)
    }

    fn vht(&self, width: Bandwidth) -> Option<Vec<Mode>> {
        let (info, map) = self.vht?;
        let short_gi = match width {
            Bandwidth::Mhz80 => info >> 5 & 1 == 1,
            _ => self.ht_short_gi(width),
        };
        // MCS 9 does not exist in 20 MHz with one or two streams (IEEE 802.11-2020, 21.5).
        let most = if width == Bandwidth::Mhz20 { 8 } else { 9 };
        let modes: Vec<_> = of_map(map, [7, 8, 9])
            .flat_map(|(nss, high)| (0..=high.min(most)).map(move |mcs| vht_streams(mcs, nss, width, short_gi)))
            .collect();
        (!modes.is_empty()).then_some(modes)
    }

    fn ht_short_gi(&self, width: Bandwidth) -> bool {
        let bit = if width == Bandwidth::Mhz20 { 5 } else { 6 };
        self.ht.is_some_and(|info| info >> bit & 1 == 1)
    }

    fn ht(&self, width: Bandwidth) -> Option<Vec<Mode>> {
        self.ht?;
        let bandwidth = width.min(Bandwidth::Mhz40);
        let short_gi = Some(self.ht_short_gi(bandwidth));
        let (greenfield, ldpc, stbc) = (Some(false), Some(false), Some(0));
        let modes: Vec<_> = (0..16u8)
            .filter(|mcs| self.ht_mcs >> mcs & 1 == 1)
            .map(|mcs| Mode::Ht(Ht { mcs, bandwidth, short_gi, greenfield, ldpc, stbc, ness: 0 }))
            .collect();
        (!modes.is_empty()).then_some(modes)
    }

    /// OFDM before CCK: control responses of CCK cost more than retries.
    fn legacy(&self) -> Vec<Mode> {
        let ofdm: Vec<_> = OFDM
            .iter()
            .enumerate()
            .filter(|(at, _)| self.legacy >> (6 + at) & 1 == 1)
            .map(|(_, &(rate, _))| ofdm(rate))
            .collect();
        if !ofdm.is_empty() {
            return ofdm;
        }
        let cck = CCK.iter().enumerate().filter(|(at, _)| self.legacy >> at & 1 == 1);
        cck.map(|(_, &rate_500kbps)| Mode::Dsss { rate_500kbps, short_preamble: Some(false) }).collect()
    }
}

/// The constellation and coding that a rate needs, the sturdiest first; for legacy rates its own order.
fn demand(mode: &Mode) -> u8 {
    match *mode {
        Mode::Dsss { rate_500kbps, .. } | Mode::Ofdm { rate_500kbps, .. } => rate_500kbps,
        Mode::Ht(Ht { mcs, .. }) => mcs % 8,
        Mode::Vht(Vht { mcs, .. }) | Mode::He(He { mcs, .. }) => mcs,
        _ => u8::MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kbps(abilities: &Abilities, width: Bandwidth) -> Vec<u32> {
        abilities.ladder(width).iter().filter_map(Mode::rate_kbps).collect()
    }

    #[test]
    fn legacy_numbers_are_those_of_the_driver() {
        for (index, kbps) in [(11, 6_000), (15, 9_000), (10, 12_000), (14, 18_000), (9, 24_000), (12, 54_000)] {
            let rate = RateNumber { phy: phy::OFDM, index, streams: 1 };
            let mode = fixed(rate).unwrap();
            assert_eq!((mode.rate_kbps(), numbers(&mode).unwrap().rate), (Some(kbps), rate));
        }
        for index in 0..8u8 {
            let rate = RateNumber { phy: phy::CCK, index, streams: 1 };
            let mode = fixed(rate).unwrap();
            // 1 Mbit/s has the long preamble only.
            let expected = if index == 4 { 0 } else { index };
            assert_eq!(numbers(&mode).unwrap().rate.index, expected);
        }
        assert_eq!(fixed(RateNumber { phy: phy::HE_SU, index: 1, streams: 1 }), None);
    }

    #[test]
    fn a_ladder_has_what_no_other_rate_beats() {
        let all = Abilities {
            legacy: 0x3fcf,
            ht_mcs: 0xffff,
            ht: Some(0x0062),
            vht: Some((1 << 5, 0xfffa)),
            he: Some(([0, 0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0], 0xfffa)),
            bandwidth: 2,
        };
        assert_eq!(kbps(&all, Bandwidth::Mhz80)[0], 1_200_980);
        assert_eq!(all.ladder(Bandwidth::Mhz80).len(), 12);
        assert_eq!(kbps(&all, Bandwidth::Mhz20)[0], 286_765);
        let plain = Abilities { he: Some(([0; 11], 0xfffa)), ..all };
        assert_eq!(kbps(&plain, Bandwidth::Mhz80)[0], 229_412, "without LDPC MCS 9 in 20 MHz");
        let vht = Abilities { he: None, ..all };
        assert_eq!(kbps(&vht, Bandwidth::Mhz80)[0], 866_667);
        assert_eq!(kbps(&vht, Bandwidth::Mhz20)[0], 173_333, "no MCS 9 in 20 MHz");
        let ht = Abilities { vht: None, bandwidth: 0, ..vht };
        assert_eq!(kbps(&ht, Bandwidth::Mhz80), [300_000, 270_000, 240_000, 180_000, 120_000, 90_000, 60_000, 30_000]);
        let legacy = Abilities { ht: None, ..ht };
        assert_eq!(kbps(&legacy, Bandwidth::Mhz40), [54_000, 48_000, 36_000, 24_000, 18_000, 12_000, 9_000, 6_000]);
        let cck = Abilities { legacy: 0xf, ..legacy };
        assert_eq!(kbps(&cck, Bandwidth::Mhz20), [11_000, 5_500, 2_000, 1_000]);
        assert!(kbps(&Abilities::default(), Bandwidth::Mhz20).is_empty());
    }

    proptest::proptest! {
        #[test]
        fn any_ladder_descends_and_has_numbers(legacy: u16, ht_mcs: u16, ht: Option<u16>, vht: Option<(u32, u16)>, he: Option<([u8; 11], u16)>, bandwidth in 0u8..4) {
            let abilities = Abilities { legacy, ht_mcs, ht, vht, he, bandwidth };
            for width in [Bandwidth::Mhz20, Bandwidth::Mhz40, Bandwidth::Mhz80] {
                let ladder = abilities.ladder(width);
                let rates: Vec<_> = ladder.iter().map(|mode| mode.rate_kbps().unwrap()).collect();
                proptest::prop_assert!(rates.windows(2).all(|pair| pair[0] > pair[1]));
                for mode in &ladder {
                    proptest::prop_assert!(numbers(mode).is_some());
                    proptest::prop_assert!(mode.duration(1_500, None).is_some());
                }
            }
        }
    }
}

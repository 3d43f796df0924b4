//! The medium of a scenario, and how its stations speak.

use wire::phy::{Band, Bandwidth, Ht, Mode, RateSet, BLOCK_ACK_REQ_LEN};

use crate::checked::ScenarioError;
use crate::wlan::settings::{self, legacy_rate, Scenario, Station};
use medium::{Rates, Spaces};

pub(crate) use medium::{Rate, RateId};

/// Timing of the medium.
#[derive(Clone, Debug)]
pub(crate) struct Phy {
    pub(crate) rates: Rates,
    pub(crate) spaces: Spaces,
    /// Block Ack requests and beacons: the lowest basic rate.
    pub(crate) basic: RateId,
    pub(crate) beacon_ns: u64,
}

impl Phy {
    pub(crate) fn new(scenario: &Scenario) -> Result<Self, ScenarioError> {
        let impossible = || ScenarioError::new("medium", "no such modulation on this channel");
        let medium = &scenario.medium;
        let band = if medium.is_2_4_ghz() { Band::Ghz2_4 } else { Band::Ghz5 };
        let dsss = scenario.has_dsss_only();
        let basic_rates = scenario.basic_rates().into_iter().fold(RateSet::EMPTY, RateSet::with);
        let lowest = basic_rates.iter().next().ok_or_else(impossible)?;
        let spaces = Spaces::new(band, medium.short_slot.unwrap_or(!dsss), dsss);
        let mut rates = Rates::new(band, Some(basic_rates));
        let basic = rates.rate_id(legacy_mode(lowest, false)).ok_or_else(impossible)?;
        let beacon_ns = rates.data_ns(basic, beacon_len(medium.channel));
        Ok(Self { rates, spaces, basic, beacon_ns })
    }

    pub(crate) fn rate(&self, id: RateId) -> &Rate {
        self.rates.rate(id)
    }

    /// The rate below another, of those that are in use: MCS 0 below the lowest MCS of more streams; the lowest has none.
    pub(crate) fn below(&self, id: RateId) -> Option<RateId> {
        self.rates.known(&one_down(self.rate(id).mode)?)
    }

    pub(crate) fn block_ack_request_ns(&self) -> u64 {
        self.rates.data_ns(self.basic, BLOCK_ACK_REQ_LEN)
    }
}

/// Length of the beacons on a channel, FCS included: those of an open 802.11n access point with WMM and a name of four
/// bytes. In 2.4 GHz there are the elements DSSS Parameter Set and ERP more.
pub const fn beacon_len(channel: u16) -> usize {
    if channel <= 14 {
        164
    } else {
        158
    }
}

/// A mode of 802.11a, b or g.
pub(crate) fn legacy_mode(rate_500kbps: u8, short_preamble: bool) -> Mode {
    match rate_500kbps {
        2 => Mode::Dsss { rate_500kbps, short_preamble: Some(false) },
        4 | 11 | 22 => Mode::Dsss { rate_500kbps, short_preamble: Some(short_preamble) },
        _ => Mode::Ofdm { rate_500kbps, bandwidth: Bandwidth::Mhz20 },
    }
}

/// The next lower mode.
fn one_down(mode: Mode) -> Option<Mode> {
    match mode {
        Mode::Ht(ht) => {
            let mcs = if ht.mcs % 8 == 0 { 0 } else { ht.mcs - 1 };
            (mcs != ht.mcs).then_some(Mode::Ht(Ht { mcs, ..ht }))
        }
        _ => {
            let lower = up_to(mode);
            lower.len().checked_sub(2).and_then(|at| lower.get(at).copied())
        }
    }
}

/// Modes up to one: HT of the same width and guard interval with as many streams or fewer, or of the same legacy PHY.
pub(crate) fn up_to(mode: Mode) -> Vec<Mode> {
    match mode {
        Mode::Ht(ht) => (0..=ht.mcs).map(|mcs| Mode::Ht(Ht { mcs, ..ht })).collect(),
        Mode::Ofdm { rate_500kbps, bandwidth } => [12, 18, 24, 36, 48, 72, 96, 108]
            .into_iter()
            .filter(|&rate| rate <= rate_500kbps)
            .map(|rate_500kbps| Mode::Ofdm { rate_500kbps, bandwidth })
            .collect(),
        Mode::Dsss { rate_500kbps, short_preamble } => [2, 4, 11, 22]
            .into_iter()
            .filter(|&rate| rate <= rate_500kbps)
            .map(|rate_500kbps| legacy_mode(rate_500kbps, short_preamble == Some(true)))
            .collect(),
        other => vec![other],
    }
}

/// An HT-mixed mode.
pub(crate) const fn ht_mode(mcs: u8, wide: bool, short_gi: bool) -> Mode {
    let bandwidth = if wide { Bandwidth::Mhz40 } else { Bandwidth::Mhz20 };
    Mode::Ht(Ht {
        mcs,
        bandwidth,
        short_gi: Some(short_gi),
        greenfield: Some(false),
        ldpc: Some(false),
        stbc: Some(0),
        ness: 0,
    })
}

/// How one end transmits to the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Speech {
    pub(crate) mode: Mode,
    pub(crate) snr_db: Option<f64>,
    pub(crate) mpdu_error_rate: f64,
}

/// How a station transmits to the access point.
pub(crate) fn speech_up(scenario: &Scenario, station: &Station) -> Speech {
    let wide = station.width_mhz.unwrap_or(scenario.medium.width_mhz) == 40;
    let mode = match station.phy {
        settings::Phy::Ht => ht_mode(station.mcs, wide, station.short_gi),
        _ => legacy_mode(station.legacy_rate(), station.short_preamble),
    };
    Speech { mode, snr_db: station.snr_db, mpdu_error_rate: station.mpdu_error_rate }
}

/// How the access point transmits to a station: as the station supports.
pub(crate) fn speech_down(scenario: &Scenario, station: &Station) -> Speech {
    let ap = &scenario.ap;
    let width = |radio: &Station| radio.width_mhz.unwrap_or(scenario.medium.width_mhz);
    let mode = match station.phy {
        settings::Phy::Ht => {
            let wide = width(ap).min(width(station)) == 40;
            ht_mode(station.ap_mcs.unwrap_or(ap.mcs), wide, station.ap_short_gi.unwrap_or(ap.short_gi))
        }
        _ => {
            let rate = station.ap_rate_mbit_s.and_then(legacy_rate).unwrap_or_else(|| station.legacy_rate());
            legacy_mode(rate, station.short_preamble)
        }
    };
    Speech {
        mode,
        snr_db: station.ap_snr_db.or(ap.snr_db),
        mpdu_error_rate: station.ap_mpdu_error_rate.unwrap_or(ap.mpdu_error_rate),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wlan::settings::Medium;

    #[test]
    fn interframe_spaces_of_both_bands() {
        let phy = |channel| {
            let medium = Medium { channel, ..Medium::default() };
            let mut phy = Phy::new(&Scenario { medium, ..Scenario::default() }).expect("a band");
            let rate = phy.rates.rate_id(ht_mode(7, false, true)).expect("a rate");
            (phy.clone(), phy.rate(rate).clone())
        };
        let ((a, a7), (g, g7)) = (phy(36), phy(6));
        assert_eq!([a.spaces.sifs_ns, a.spaces.pifs_ns(), a7.gap_ns, a7.silence_ns], [16_000, 25_000, 16_000, 0]);
        assert_eq!([g.spaces.sifs_ns, g.spaces.pifs_ns(), g7.gap_ns, g7.silence_ns], [10_000, 19_000, 16_000, 6_000]);
        // ACK at 6 Mbit/s: 44 µs, after SIFS.
        assert_eq!([a.spaces.eifs_extra_ns, a.spaces.timeout_ns], [60_000, 45_000]);
        // ACK and Block Ack at 24 Mbit/s.
        assert_eq!([a7.ack_ns, a7.block_ack_ns], [28_000, 32_000]);
    }

    #[test]
    fn a_network_of_802_11b() {
        let b = Station { phy: settings::Phy::Dsss, ..Station::default() };
        let medium = Medium { channel: 1, ..Medium::default() };
        let scenario = Scenario { medium, dut: b.clone(), ap: b.clone(), ..Scenario::default() };
        let mut phy = Phy::new(&scenario).expect("a band");
        let up = phy.rates.rate_id(speech_up(&scenario, &b).mode).expect("11 Mbit/s");
        assert_eq!([phy.spaces.slot_ns, phy.spaces.sifs_ns, phy.spaces.eifs_extra_ns], [20_000, 10_000, 314_000]);
        // 1 536 bytes; ACK at 2 Mbit/s.
        assert_eq!([phy.rates.data_ns(up, 1_536), phy.rate(up).ack_ns], [192_000 + 1_118_000, 192_000 + 56_000]);
        assert_eq!((phy.rate(up).silence_ns, phy.rate(up).gap_ns), (0, 10_000));
    }

    #[test]
    fn the_longest_psdu() {
        let mut phy = Phy::new(&Scenario::default()).expect("a band");
        let rate = phy.rates.rate_id(ht_mode(0, false, true)).expect("a rate");
        let longest = phy.rates.psdu_within(rate, 65_535, 4_096_000);
        assert!(phy.rates.data_ns(rate, longest) <= 4_096_000 && phy.rates.data_ns(rate, longest + 1) > 4_096_000);
        assert_eq!(phy.rates.psdu_within(rate, 100, 4_096_000), 100);
        assert_eq!(phy.rates.psdu_within(rate, 65_535, 1), 0);
    }
}

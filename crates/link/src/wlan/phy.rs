//! What each rate means on this medium: durations, answers, interframe spaces; all from [`wire::phy`].

use wire::phy::{
    control_response_rate, response_gap_ns, Band, Bandwidth, Ht, Mode, RateSet, Timing, ACK_LEN, BLOCK_ACK_64_LEN,
    BLOCK_ACK_REQ_LEN, CTS_LEN, RTS_LEN,
};

use crate::checked::ScenarioError;
use crate::wlan::monitor::beacon_len;
use crate::wlan::settings::{self, legacy_rate, Scenario, Station};

/// aRxPHYStartDelay: how long after the start of a PPDU its start is known (IEEE 802.11-2020 tables 17-21 and 15-5).
const OFDM_RX_START_NS: u64 = 20_000;
const DSSS_RX_START_NS: u64 = 192_000;

/// A rate in [`Phy`]'s table.
pub(crate) type RateId = u16;

/// What a rate of data means.
#[derive(Clone, Debug)]
pub(crate) struct Rate {
    pub(crate) mode: Mode,
    pub(crate) kbit_s: u32,
    pub(crate) streams: u32,
    /// Of the ACK, Block Ack or CTS that answers it, and of the RTS before it.
    pub(crate) response: Mode,
    /// What comes before the data.
    pub(crate) preamble_ns: u64,
    pub(crate) ack_ns: u64,
    pub(crate) block_ack_ns: u64,
    /// RTS: at the highest basic rate that the data rate allows, which is that of the answers.
    pub(crate) rts_ns: u64,
    pub(crate) cts_ns: u64,
    /// From the end of a PPDU at this rate (or of its RTS and CTS) to what follows it in the exchange.
    pub(crate) gap_ns: u64,
    /// Signal extension: from the end of such a PPDU to where SIFS begins.
    pub(crate) silence_ns: u64,
}

/// Timing of the medium.
#[derive(Clone, Debug)]
pub(crate) struct Phy {
    band: Band,
    basic_rates: RateSet,
    rates: Vec<Rate>,
    /// Block Ack requests and beacons: the lowest basic rate.
    pub(crate) basic: RateId,
    pub(crate) beacon_ns: u64,
    pub(crate) slot_ns: u64,
    pub(crate) sifs_ns: u64,
    pub(crate) pifs_ns: u64,
    /// From the end of a PPDU that is not answered until its sender takes note.
    pub(crate) timeout_ns: u64,
    /// What EIFS is longer than DIFS.
    pub(crate) eifs_extra_ns: u64,
}

impl Phy {
    pub(crate) fn new(scenario: &Scenario) -> Result<Self, ScenarioError> {
        let impossible = || ScenarioError::new("medium", "no such modulation on this channel");
        let medium = &scenario.medium;
        let band = if medium.is_2_4_ghz() { Band::Ghz2_4 } else { Band::Ghz5 };
        let dsss = scenario.has_dsss_only();
        let basic_rates = scenario.basic_rates().into_iter().fold(RateSet::EMPTY, RateSet::with);
        let lowest = basic_rates.iter().next().ok_or_else(impossible)?;
        let basic = legacy_mode(lowest, false);
        let timing = Timing::new(band, Bandwidth::Mhz20, medium.short_slot.unwrap_or(!dsss));
        let lowest_ack = legacy_mode(if dsss { 2 } else { 12 }, false);
        let eifs_ns = timing.eifs_ns(&lowest_ack).ok_or_else(impossible)?;
        let (slot_ns, sifs_ns) = (u64::from(timing.slot_ns), u64::from(timing.sifs_ns));
        let mut phy = Self {
            band,
            basic_rates,
            rates: Vec::new(),
            basic: 0,
            beacon_ns: 0,
            slot_ns,
            sifs_ns,
            pifs_ns: sifs_ns + slot_ns,
            timeout_ns: sifs_ns + slot_ns + if dsss { DSSS_RX_START_NS } else { OFDM_RX_START_NS },
            eifs_extra_ns: u64::from(eifs_ns - timing.difs_ns()),
        };
        phy.basic = phy.rate_id(basic).ok_or_else(impossible)?;
        phy.beacon_ns = phy.duration_ns(&basic, beacon_len(medium.channel));
        Ok(phy)
    }

    /// The number of a mode, entered in the table if need be; `None` for one that the medium does not have.
    pub(crate) fn rate_id(&mut self, mode: Mode) -> Option<RateId> {
        if let Some(known) = self.rates.iter().position(|rate| rate.mode == mode) {
            return RateId::try_from(known).ok();
        }
        mode.duration(1, Some(self.band))?;
        let response = control_response_rate(&mode, Some(&self.basic_rates), self.band)?;
        let extended = !matches!(mode, Mode::Dsss { .. }) && self.band == Band::Ghz2_4;
        let control = |len| self.duration_ns(&response, len);
        let rate = Rate {
            mode,
            kbit_s: mode.rate_kbps()?.max(1),
            streams: mode.nss().map_or(1, u32::from),
            response,
            preamble_ns: u64::from(mode.preamble_ns()?),
            ack_ns: control(ACK_LEN),
            block_ack_ns: control(BLOCK_ACK_64_LEN),
            rts_ns: control(RTS_LEN),
            cts_ns: control(CTS_LEN),
            gap_ns: response_gap_ns(self.band, &mode).map_or(self.sifs_ns, u64::from),
            silence_ns: if extended { 6_000 } else { 0 },
        };
        self.rates.push(rate);
        let number = RateId::try_from(self.rates.len() - 1).ok();
        // What is lost of an answer depends on its rate.
        self.rate_id(response)?;
        number
    }

    fn duration_ns(&self, mode: &Mode, psdu_len: usize) -> u64 {
        // `rate_id` has made sure that every mode in use has durations.
        mode.duration(psdu_len, Some(self.band)).map_or(0, |duration| duration.ns)
    }

    /// The number of a mode that is in the table.
    pub(crate) fn known(&self, mode: &Mode) -> Option<RateId> {
        self.rates.iter().position(|rate| rate.mode == *mode).and_then(|number| RateId::try_from(number).ok())
    }

    pub(crate) fn rate(&self, id: RateId) -> &Rate {
        &self.rates[usize::from(id)]
    }

    /// A data PPDU with a PSDU of that many bytes.
    pub(crate) fn data_ns(&self, id: RateId, psdu_len: usize) -> u64 {
        self.duration_ns(&self.rate(id).mode, psdu_len)
    }

    /// The longest PSDU, up to `max_bytes`, that takes `max_ns` at most.
    pub(crate) fn psdu_within(&self, id: RateId, max_bytes: usize, max_ns: u64) -> usize {
        if self.data_ns(id, max_bytes) <= max_ns {
            return max_bytes;
        }
        let (mut fits, mut too_long) = (0, max_bytes);
        while too_long - fits > 1 {
            let middle = fits + (too_long - fits) / 2;
            if self.data_ns(id, middle) <= max_ns {
                fits = middle;
            } else {
                too_long = middle;
            }
        }
        fits
    }

    pub(crate) fn block_ack_request_ns(&self) -> u64 {
        self.data_ns(self.basic, BLOCK_ACK_REQ_LEN)
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

/// An HT-mixed mode.
pub(crate) const fn ht_mode(mcs: u8, wide: bool, short_gi: bool) -> Mode {
    let bandwidth = if wide { Bandwidth::Mhz40 } else { Bandwidth::Mhz20 };
    Mode::Ht(Ht { mcs, bandwidth, short_gi, greenfield: Some(false), ldpc: Some(false), stbc: Some(0), ness: 0 })
}

/// How one end speaks to the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Speech {
    pub(crate) mode: Mode,
    pub(crate) snr_db: Option<f64>,
    pub(crate) mpdu_error_rate: f64,
}

/// How a station speaks to the access point.
pub(crate) fn speech_up(scenario: &Scenario, station: &Station) -> Speech {
    let wide = station.width_mhz.unwrap_or(scenario.medium.width_mhz) == 40;
    let mode = match station.phy {
        settings::Phy::Ht => ht_mode(station.mcs, wide, station.short_gi),
        _ => legacy_mode(station.legacy_rate(), station.short_preamble),
    };
    Speech { mode, snr_db: station.snr_db, mpdu_error_rate: station.mpdu_error_rate }
}

/// How the access point speaks to a station: as the station can.
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
            let rate = phy.rate_id(ht_mode(7, false, true)).expect("a rate");
            (phy.clone(), phy.rate(rate).clone())
        };
        let ((a, a7), (g, g7)) = (phy(36), phy(6));
        assert_eq!([a.sifs_ns, a.pifs_ns, a7.gap_ns, a7.silence_ns], [16_000, 25_000, 16_000, 0]);
        assert_eq!([g.sifs_ns, g.pifs_ns, g7.gap_ns, g7.silence_ns], [10_000, 19_000, 16_000, 6_000]);
        // ACK at 6 Mbit/s: 44 µs, after SIFS.
        assert_eq!([a.eifs_extra_ns, a.timeout_ns], [60_000, 45_000]);
        // ACK and Block Ack at 24 Mbit/s.
        assert_eq!([a7.ack_ns, a7.block_ack_ns], [28_000, 32_000]);
    }

    #[test]
    fn a_network_of_802_11b() {
        let b = Station { phy: settings::Phy::Dsss, ..Station::default() };
        let medium = Medium { channel: 1, ..Medium::default() };
        let scenario = Scenario { medium, dut: b.clone(), ap: b.clone(), ..Scenario::default() };
        let mut phy = Phy::new(&scenario).expect("a band");
        let up = phy.rate_id(speech_up(&scenario, &b).mode).expect("11 Mbit/s");
        assert_eq!([phy.slot_ns, phy.sifs_ns, phy.eifs_extra_ns], [20_000, 10_000, 314_000]);
        // 1 536 bytes; ACK at 2 Mbit/s.
        assert_eq!([phy.data_ns(up, 1_536), phy.rate(up).ack_ns], [192_000 + 1_118_000, 192_000 + 56_000]);
        assert_eq!((phy.rate(up).silence_ns, phy.rate(up).gap_ns), (0, 10_000));
    }

    #[test]
    fn the_longest_psdu() {
        let mut phy = Phy::new(&Scenario::default()).expect("a band");
        let rate = phy.rate_id(ht_mode(0, false, true)).expect("a rate");
        let longest = phy.psdu_within(rate, 65_535, 4_096_000);
        assert!(phy.data_ns(rate, longest) <= 4_096_000 && phy.data_ns(rate, longest + 1) > 4_096_000);
        assert_eq!(phy.psdu_within(rate, 100, 4_096_000), 100);
        assert_eq!(phy.psdu_within(rate, 65_535, 1), 0);
    }
}

//! Durations of everything that the two stations put on the air, from [`wire::phy`].

use wire::phy::{
    control_response_rate, response_gap_ns, AccessCategory, Band, Bandwidth, EdcaParameters, Ht, Mode, RateSet, Timing,
    ACK_LEN, BLOCK_ACK_64_LEN, BLOCK_ACK_REQ_LEN, CTS_LEN, RTS_LEN,
};

use crate::checked::ScenarioError;
use crate::wlan::link::Side;
use crate::wlan::monitor::beacon_len;
use crate::wlan::scenario::Scenario;

/// Time from the end of a PPDU in which a response must have begun, beyond SIFS and a slot: the start of a PPDU is seen
/// after the preamble (aRxPHYStartDelay of OFDM, IEEE 802.11-2020 table 17-21).
const RX_START_DELAY_NS: u64 = 20_000;

/// What one station sends with.
#[derive(Clone, Debug)]
struct Radio {
    data: Mode,
    /// Of the ACK, Block Ack or CTS that answers it.
    response: Mode,
}

/// Timing of the link. Every PPDU here is OFDM or HT, so in 2.4 GHz the signal extension follows each: it is part of
/// [`Self::gap_ns`] and [`Self::silence_ns`].
#[derive(Clone, Debug)]
pub(crate) struct Phy {
    radios: [Radio; 2],
    band: Band,
    /// Of Block Ack requests and beacons: the lowest basic rate.
    basic: Mode,
    /// Mode of the answer to [`Self::basic`].
    basic_response: Mode,
    beacon_len: usize,
    pub(crate) slot_ns: u64,
    /// From the end of a PPDU to its response.
    pub(crate) gap_ns: u64,
    /// From the end of a PPDU to where SIFS begins.
    pub(crate) silence_ns: u64,
    pub(crate) aifs_ns: u64,
    pub(crate) pifs_ns: u64,
    /// Slots that a station waits longer when an expected response does not begin.
    pub(crate) timeout_slots: u32,
    /// Slots that a station waits longer after something it could not decode (EIFS).
    pub(crate) eifs_slots: u32,
    pub(crate) cw_min: u32,
    pub(crate) cw_max: u32,
}

impl Phy {
    pub(crate) fn new(scenario: &Scenario) -> Result<Self, ScenarioError> {
        let impossible = |key: &str| ScenarioError {
            key: key.to_owned(),
            what: "no such modulation at this channel width".to_owned(),
        };
        let band = if scenario.medium.channel <= 14 { Band::Ghz2_4 } else { Band::Ghz5 };
        let bandwidth = if scenario.medium.width_mhz == 40 { Bandwidth::Mhz40 } else { Bandwidth::Mhz20 };
        // 6, 12 and 24 Mbit/s: the basic rates of a network without DSSS stations.
        let rates = [12, 24, 48].into_iter().fold(RateSet::EMPTY, RateSet::with);
        let basic = Mode::Ofdm { rate_500kbps: 12, bandwidth: Bandwidth::Mhz20 };
        let respond = |mode: &Mode| control_response_rate(mode, Some(&rates), band);
        let radio = |key: &str, mcs: u8, short_gi: bool| {
            let data = Mode::Ht(Ht {
                mcs,
                bandwidth,
                short_gi,
                greenfield: Some(false),
                ldpc: Some(false),
                stbc: Some(0),
                ness: 0,
            });
            data.duration(1, Some(band)).ok_or_else(|| impossible(key))?;
            Ok(Radio { data, response: respond(&data).ok_or_else(|| impossible(key))? })
        };
        let timing = Timing::new(band, Bandwidth::Mhz20, true);
        let edca = EdcaParameters::default_for(AccessCategory::BestEffort);
        let slot_ns = u64::from(timing.slot_ns);
        let sifs_ns = u64::from(timing.sifs_ns);
        let aifs_ns = u64::from(edca.aifs_ns(&timing));
        let slots = |ns: u64| ns.div_ceil(slot_ns) as u32;
        let eifs_ns = u64::from(timing.eifs_ns(&basic).ok_or_else(|| impossible("medium"))?);
        Ok(Self {
            radios: [
                radio("dut.mcs", scenario.dut.mcs, scenario.dut.short_gi)?,
                radio("ap.mcs", scenario.ap.mcs, scenario.ap.short_gi)?,
            ],
            band,
            basic,
            beacon_len: beacon_len(scenario.medium.channel),
            basic_response: respond(&basic).ok_or_else(|| impossible("medium"))?,
            slot_ns,
            gap_ns: response_gap_ns(band, &basic).map_or(sifs_ns, u64::from),
            silence_ns: u64::from(timing.signal_extension_ns),
            aifs_ns,
            pifs_ns: sifs_ns + slot_ns,
            timeout_slots: slots((sifs_ns + slot_ns + RX_START_DELAY_NS).saturating_sub(aifs_ns)),
            eifs_slots: slots(eifs_ns - u64::from(timing.difs_ns())),
            cw_min: (1 << edca.ecw_min) - 1,
            cw_max: (1 << edca.ecw_max) - 1,
        })
    }

    fn duration_ns(&self, mode: &Mode, psdu_len: usize) -> u64 {
        // `new` has made sure that every mode in use has durations.
        mode.duration(psdu_len, Some(self.band)).map_or(0, |duration| duration.ns)
    }

    pub(crate) fn data_mode(&self, from: Side) -> Mode {
        self.radios[from.index()].data
    }

    /// Mode of what answers data from `from`.
    pub(crate) fn response_mode(&self, from: Side) -> Mode {
        self.radios[from.index()].response
    }

    pub(crate) fn basic_mode(&self) -> Mode {
        self.basic
    }

    pub(crate) fn basic_response_mode(&self) -> Mode {
        self.basic_response
    }

    /// A data PPDU with a PSDU of that many bytes.
    pub(crate) fn data_ns(&self, from: Side, psdu_len: usize) -> u64 {
        self.duration_ns(&self.radios[from.index()].data, psdu_len)
    }

    /// What comes before the data of a data PPDU.
    pub(crate) fn preamble_ns(&self, from: Side) -> u64 {
        self.radios[from.index()].data.preamble_ns().map_or(0, u64::from)
    }

    /// The ACK or Block Ack that answers data from `from`.
    pub(crate) fn response_ns(&self, from: Side, block_ack: bool) -> u64 {
        let len = if block_ack { BLOCK_ACK_64_LEN } else { ACK_LEN };
        self.duration_ns(&self.radios[from.index()].response, len)
    }

    /// RTS before data from `from`: at the highest basic rate that the data rate allows, which is that of the answers.
    pub(crate) fn rts_ns(&self, from: Side) -> u64 {
        self.duration_ns(&self.radios[from.index()].response, RTS_LEN)
    }

    /// The CTS that answers it.
    pub(crate) fn cts_ns(&self, from: Side) -> u64 {
        self.duration_ns(&self.radios[from.index()].response, CTS_LEN)
    }

    pub(crate) fn block_ack_request_ns(&self) -> u64 {
        self.duration_ns(&self.basic, BLOCK_ACK_REQ_LEN)
    }

    /// The Block Ack that answers a request.
    pub(crate) fn requested_block_ack_ns(&self) -> u64 {
        self.duration_ns(&self.basic_response, BLOCK_ACK_64_LEN)
    }

    pub(crate) fn beacon_ns(&self) -> u64 {
        self.duration_ns(&self.basic, self.beacon_len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wlan::scenario::Medium;

    #[test]
    fn interframe_spaces_of_both_bands() {
        let phy = |channel| {
            let medium = Medium { channel, ..Medium::default() };
            Phy::new(&Scenario { medium, ..Scenario::default() }).expect("a band")
        };
        let (a, g) = (phy(36), phy(6));
        assert_eq!([a.aifs_ns, a.pifs_ns, a.gap_ns, a.silence_ns], [43_000, 25_000, 16_000, 0]);
        assert_eq!([g.aifs_ns, g.pifs_ns, g.gap_ns, g.silence_ns], [37_000, 19_000, 16_000, 6_000]);
        // ACK at 6 Mbit/s: 44 µs, after SIFS; the ACK timeout (45 µs) is just beyond AIFS.
        assert_eq!([a.eifs_slots, a.timeout_slots], [7, 1]);
        assert_eq!([a.cw_min, a.cw_max], [15, 1023]);
        // ACK and Block Ack at 24 Mbit/s.
        assert_eq!([a.response_ns(Side::Dut, false), a.response_ns(Side::Dut, true)], [28_000, 32_000]);
    }
}

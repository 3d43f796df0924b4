//! A radio of mac80211_hwsim chooses its own rates, as those with rate control in firmware do.
//!
//! mac80211's minstrel_ht learns from the statuses of A-MPDUs, which mac80211_hwsim cannot report: with Block Ack it
//! would stay at whatever rate it had. So what it asks for counts for management frames and group addresses only.

use wire::ieee80211::{Capabilities, FrameKind, HeCapabilities, HtCapabilities, Management, Mpdu, SecondaryChannel};
use wire::ieee80211::{HtOperation, VhtCapabilities, VhtOperation};
use wire::phy::{Bandwidth, Mode};

use crate::air::rates::{he_streams, mode, vht_streams, Modulation, MCS0};

/// MPDUs of one decision.
const SAMPLE: u32 = 32;
/// Attempts at each of the rates of a chain.
const ATTEMPTS: u8 = 3;

/// What a side is capable of.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
struct Abilities {
    ht: Option<HtCapabilities>,
    vht: Option<VhtCapabilities>,
    he: Option<HeCapabilities>,
}

impl Abilities {
    const fn of(capabilities: &Capabilities) -> Self {
        Self { ht: capabilities.ht, vht: capabilities.vht, he: capabilities.he }
    }
}

/// Rates towards the chip: an access point's radio sends to its one station, a station's to its access point.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct DownRates {
    /// What the two sides said of themselves.
    station: Abilities,
    ap: Abilities,
    /// What the network uses.
    width: Option<Bandwidth>,
    /// Steps below the highest.
    below: u8,
    sent: u32,
    acknowledged: u32,
}

impl DownRates {
    /// Looks at a management frame that passed: who can do what.
    pub(crate) fn watch(&mut self, frame: &[u8]) {
        let mpdu = Mpdu::new(frame);
        let Some(fc) = mpdu.frame_control() else { return };
        let read = || Management::parse(fc, mpdu.management_body()).map(|frame| frame.capabilities).unwrap_or_default();
        match fc.kind() {
            FrameKind::AssociationRequest | FrameKind::ReassociationRequest => self.station = Abilities::of(&read()),
            FrameKind::AssociationResponse | FrameKind::ReassociationResponse => {
                let capabilities = read();
                self.ap = Abilities::of(&capabilities);
                self.width = Some(width(capabilities.ht_operation, capabilities.vht_operation));
                (self.below, self.sent, self.acknowledged) = (0, 0, 0);
            }
            _ => {}
        }
    }

    /// The chain of rates of a unicast data frame; `None`: the station has no HT.
    pub(crate) fn chain(&self) -> Option<Vec<(Mode, u8)>> {
        let (station, ap) = (self.station.ht?, self.ap.ht?);
        let both = |ability: fn(HtCapabilities) -> bool| ability(station) && ability(ap);
        let bandwidth = self.bandwidth();
        let short_gi = match bandwidth {
            Bandwidth::Mhz80 => self.vht().is_some_and(|(one, other)| one.short_gi_80() && other.short_gi_80()),
            Bandwidth::Mhz40 => both(HtCapabilities::short_gi_40),
            _ => both(HtCapabilities::short_gi_20),
        };
        let highest = self.highest();
        let mcs = highest.saturating_sub(self.below);
        let new = |mcs| match (self.he(), self.vht()) {
            (Some(both), _) => he_streams(mcs, he_streams_of(both), bandwidth),
            (None, Some(both)) => vht_streams(mcs, streams(both), bandwidth, short_gi),
            (None, None) => ht(mcs, bandwidth, short_gi),
        };
        Some([0, 1, 2, highest].map(|down| (new(mcs.saturating_sub(down)), ATTEMPTS)).to_vec())
    }

    /// The VHT capabilities of both; `None`: one of them has no VHT, or none with one stream (3 in a map).
    fn vht(&self) -> Option<(VhtCapabilities, VhtCapabilities)> {
        let both = self.station.vht.zip(self.ap.vht)?;
        of_stream(1, both).iter().all(|&map| map != 3).then_some(both)
    }

    /// The HE capabilities of both; `None`: one of them has no HE, or none with one stream, or no LDPC, without which there are
    /// neither MCS 10 and 11 nor more than 20 MHz.
    fn he(&self) -> Option<(HeCapabilities, HeCapabilities)> {
        let both = self.station.he.zip(self.ap.he)?;
        let has_ldpc = both.0.ldpc() && both.1.ldpc();
        (has_ldpc && of_he_stream(1, both).iter().all(|&map| map != 3)).then_some(both)
    }

    /// The width that both use.
    fn bandwidth(&self) -> Bandwidth {
        let can_40 = |side: Abilities| side.ht.is_some_and(HtCapabilities::width_40);
        let most = if can_40(self.station) && can_40(self.ap) { Bandwidth::Mhz40 } else { Bandwidth::Mhz20 };
        match self.width {
            // Every VHT station can do 80 MHz (IEEE 802.11-2020, 21.1.1).
            Some(Bandwidth::Mhz80) if self.vht().is_some() => Bandwidth::Mhz80,
            Some(width) => width.min(most),
            None => Bandwidth::Mhz20,
        }
    }

    /// The highest MCS: of HT with one stream, of VHT and HE with as many as both have.
    fn highest(&self) -> u8 {
        if let Some(both) = self.he() {
            // In the maps 0 is MCS 7, 1 is 9, 2 is 11.
            return 7 + 2 * of_he_stream(he_streams_of(both), both).into_iter().fold(2, u16::min) as u8;
        }
        let Some(both) = self.vht() else { return 7 };
        // In the maps 0 is MCS 7, 1 is 8, 2 is 9. MCS 9 does not exist in 20 MHz with one or two streams (21.5).
        let most = if self.bandwidth() == Bandwidth::Mhz20 { 1 } else { 2 };
        7 + of_stream(streams(both), both).into_iter().fold(most, u16::min) as u8
    }

    /// Whether an MPDU of a data frame was acknowledged.
    pub(crate) fn report(&mut self, acknowledged: bool) {
        self.sent += 1;
        self.acknowledged += u32::from(acknowledged);
        if self.sent < SAMPLE {
            return;
        }
        if self.acknowledged * 2 < self.sent {
            self.below = (self.below + 1).min(self.highest());
        } else if self.acknowledged * 10 > self.sent * 9 {
            self.below = self.below.saturating_sub(1);
        }
        (self.sent, self.acknowledged) = (0, 0);
    }
}

/// The width that a network uses, by its operation elements. 160 MHz are not modelled.
fn width(ht: Option<HtOperation>, vht: Option<VhtOperation>) -> Bandwidth {
    let is_wide = ht.is_some_and(|it| it.any_width() && it.secondary_channel() != SecondaryChannel::None);
    match vht.and_then(VhtOperation::width_mhz) {
        Some(80..) => Bandwidth::Mhz80,
        _ if is_wide => Bandwidth::Mhz40,
        _ => Bandwidth::Mhz20,
    }
}

/// What two sides can receive and send with this many streams.
fn of_stream(streams: u8, (one, other): (VhtCapabilities, VhtCapabilities)) -> [u16; 4] {
    let shift = 2 * (streams - 1);
    [one.rx_mcs_map, one.tx_mcs_map, other.rx_mcs_map, other.tx_mcs_map].map(|map| map >> shift & 3)
}

/// Streams of VHT that both have: two at most.
fn streams(both: (VhtCapabilities, VhtCapabilities)) -> u8 {
    1 + u8::from(of_stream(2, both).iter().all(|&map| map != 3))
}

/// What two sides can receive and send with this many streams of HE.
fn of_he_stream(streams: u8, (one, other): (HeCapabilities, HeCapabilities)) -> [u16; 4] {
    let shift = 2 * (streams - 1);
    [one.rx_mcs_map_80, one.tx_mcs_map_80, other.rx_mcs_map_80, other.tx_mcs_map_80].map(|map| map >> shift & 3)
}

/// Streams of HE that both have: two at most.
fn he_streams_of(both: (HeCapabilities, HeCapabilities)) -> u8 {
    1 + u8::from(of_he_stream(2, both).iter().all(|&map| map != 3))
}

fn ht(mcs: u8, bandwidth: Bandwidth, short_gi: bool) -> Mode {
    mode(MCS0 + mcs, Modulation { wide: bandwidth == Bandwidth::Mhz40, short_gi, ..Modulation::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// HT with 40 MHz and the short guard interval, and what the operation elements and VHT add. The maps of MCS: 0 to 9, 0 to 8
    /// or 0 to 7 of one stream.
    fn rates(secondary: u8, vht: Option<(u32, u16)>, operation: Option<u8>) -> DownRates {
        let ht = HtCapabilities { info: 0x0062, ..HtCapabilities::default() };
        let vht = vht.map(|(info, map)| VhtCapabilities { info, rx_mcs_map: map, tx_mcs_map: map });
        let side = Abilities { ht: Some(ht), vht, he: None };
        let mut ht_operation = [0; 22];
        (ht_operation[0], ht_operation[1]) = (36, secondary);
        let vht_operation = operation.and_then(|width| VhtOperation::read(&[width, 42, 0, 0xfc, 0xff]));
        let width = Some(width(HtOperation::read(&ht_operation), vht_operation));
        DownRates { station: side, ap: side, width, ..DownRates::default() }
    }

    fn kbps(rates: &DownRates) -> Vec<u32> {
        rates.chain().unwrap().iter().filter_map(|(mode, _)| mode.rate_kbps()).collect()
    }

    #[test]
    fn a_chain_is_of_what_both_sides_and_the_network_have() {
        let (above, any) = (1 | 1 << 2, 0xfffe);
        let short = 1 << 5;
        assert_eq!(kbps(&rates(above, Some((short, any)), Some(1))), [433_333, 390_000, 325_000, 32_500]);
        assert_eq!(kbps(&rates(above, Some((0, any)), Some(1)))[0], 390_000, "a long guard interval");
        assert_eq!(kbps(&rates(above, Some((0, 0xfffd)), Some(1)))[0], 351_000, "MCS 8");
        assert_eq!(kbps(&rates(above, Some((short, any)), Some(0)))[0], 200_000, "40 MHz");
        assert_eq!(kbps(&rates(0, Some((short, any)), Some(0)))[..2], [86_667, 72_222], "20 MHz has no MCS 9");
        assert_eq!(kbps(&rates(above, None, Some(1))), [150_000, 135_000, 120_000, 15_000], "no VHT");
        assert_eq!(kbps(&rates(above, Some((short, 0xffff)), Some(1)))[0], 150_000, "none with one stream");
        assert_eq!(
            kbps(&rates(above, Some((short, 0xfffa)), Some(1))),
            [866_667, 780_000, 650_000, 65_000],
            "two streams"
        );
        assert_eq!(kbps(&rates(above, Some((short, 0xfff2)), Some(1)))[0], 650_000, "MCS 7 of the second");
        assert_eq!(DownRates::default().chain(), None);
    }

    #[test]
    fn he_comes_before_vht() {
        let vht = rates(5, Some((1 << 5, 0xfffa)), Some(1));
        let phy = [0, 0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        let with = |map: u16, phy: [u8; 11]| {
            let he = Some(HeCapabilities { phy, rx_mcs_map_80: map, tx_mcs_map_80: map, ..HeCapabilities::default() });
            let side = Abilities { he, ..vht.station };
            DownRates { station: side, ap: side, ..vht.clone() }
        };
        assert_eq!(kbps(&with(0xfffa, phy)), [1_200_980, 1_080_882, 960_784, 72_059], "MCS 11 of two streams");
        assert_eq!(kbps(&with(0xfffd, phy))[0], 480_392, "MCS 9 of one");
        assert_eq!(kbps(&with(0xffff, phy))[0], 866_667, "none");
        assert_eq!(kbps(&with(0xfffa, [0; 11]))[0], 866_667, "no LDPC");
        let one_side = DownRates { station: vht.station, ..with(0xfffa, phy) };
        assert_eq!(kbps(&one_side)[0], 866_667);
    }

    #[test]
    fn losses_bring_it_down_to_the_lowest_and_no_further() {
        for (mut rates, lowest, highest) in
            [(rates(5, Some((0, 0xfffe)), Some(1)), 29_250, 390_000), (rates(5, None, None), 15_000, 150_000)]
        {
            for _ in 0..20 * SAMPLE {
                rates.report(false);
            }
            assert_eq!(kbps(&rates), [lowest; 4]);
            let steps = u32::from(rates.highest());
            for _ in 0..steps * SAMPLE {
                rates.report(true);
            }
            assert_eq!(kbps(&rates)[0], highest);
        }
    }
}

//! Rates by the numbers of descriptors, and rate control, which is the firmware's: the driver only gives a mask of rates for each
//! station (rtw88 fw.c, rtw_fw_send_ra_info).
//!
//! Which algorithm the real firmware has is not known. This one goes down one rate when fewer than half of the MPDUs got
//! through, up one when more than nine in ten did, and decides after 32 MPDUs and 200 ms at the earliest (all four are
//! assumptions). The rates that it goes through are those of the newest kind in the mask, without those that another one beats
//! in speed without needing more of the signal: with two streams MCS 15 to 8 of HT.

use wire::phy::{Bandwidth, Ht, Mode, Vht};

use super::assumptions::Assumptions;
use super::firmware::RateInfo;
use crate::air::rates::{mode as legacy_mode, Modulation, LEGACY_RATES};
use crate::chips::rate_steps::Steps;

/// Numbers of MCS 0 of HT, and of VHT with one and with two streams (main.h, enum rtw_trx_desc_rate).
pub const HT_MCS0: u8 = 0x0c;
const HT_MCS_MAX: u8 = 15;
/// See [`HT_MCS0`].
pub const VHT_1SS_MCS0: u8 = 0x2c;
const VHT_2SS_MCS0: u8 = 0x36;
const VHT_MCS_MAX: u8 = 9;
/// 6 Mbit/s.
pub const OFDM_6: u8 = 4;
/// Stations that are distinguished (main.h, RTW_MAX_MAC_ID_NUM).
const STATIONS: usize = 32;

/// How a frame is sent, besides its rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Bandwidth.
    pub bandwidth: Bandwidth,
    /// Short guard interval.
    pub short_gi: bool,
    /// Short DSSS preamble.
    pub short_preamble: bool,
}

impl Default for Shape {
    fn default() -> Self {
        Self { bandwidth: Bandwidth::Mhz20, short_gi: false, short_preamble: false }
    }
}

/// The bandwidth of a number: 0, 1, 2 are 20, 40, 80 MHz.
pub const fn bandwidth(number: u8) -> Bandwidth {
    match number {
        1 => Bandwidth::Mhz40,
        2 => Bandwidth::Mhz80,
        _ => Bandwidth::Mhz20,
    }
}

/// The number of a bandwidth.
pub const fn bandwidth_number(bandwidth: Bandwidth) -> u8 {
    match bandwidth {
        Bandwidth::Mhz40 => 1,
        Bandwidth::Mhz80 => 2,
        _ => 0,
    }
}

/// The mode of a rate's number; `None`: there is none, or not in that bandwidth. LDPC and STBC are not modelled: what is sent
/// has neither, whatever the driver allows.
pub fn mode(rate: u8, shape: Shape) -> Option<Mode> {
    if usize::from(rate) < LEGACY_RATES.len() {
        let short_preamble = shape.short_preamble;
        return Some(legacy_mode(rate, Modulation { short_preamble, ..Modulation::default() }));
    }
    let (bandwidth, short_gi) = (shape.bandwidth, Some(shape.short_gi));
    let mode = match rate {
        HT_MCS0..=0x1b if bandwidth <= Bandwidth::Mhz40 => {
            let (greenfield, ldpc, stbc) = (Some(false), Some(false), Some(0));
            Mode::Ht(Ht { mcs: rate - HT_MCS0, bandwidth, short_gi, greenfield, ldpc, stbc, ness: 0 })
        }
        VHT_1SS_MCS0..=0x3f => {
            let (nss, first) = if rate < VHT_2SS_MCS0 { (1, VHT_1SS_MCS0) } else { (2, VHT_2SS_MCS0) };
            let (stbc, ldpc, ldpc_extra_symbol) = (Some(false), Some(false), Some(false));
            // MCS 9 does not exist in 20 MHz with one or two streams (IEEE 802.11-2020, 21.5).
            if rate - first == VHT_MCS_MAX && bandwidth == Bandwidth::Mhz20 {
                return None;
            }
            Mode::Vht(Vht { mcs: rate - first, nss, bandwidth, short_gi, stbc, ldpc, ldpc_extra_symbol })
        }
        _ => return None,
    };
    Some(mode)
}

/// The number of a received frame's rate, and of its bandwidth; `None`: the chip receives none.
pub fn number(mode: &Mode) -> Option<(u8, u8)> {
    match *mode {
        Mode::Dsss { rate_500kbps, .. } | Mode::Ofdm { rate_500kbps, .. } => {
            LEGACY_RATES.iter().position(|&rate| rate == rate_500kbps).map(|at| (at as u8, 0))
        }
        Mode::Ht(ht) if ht.mcs <= HT_MCS_MAX => Some((HT_MCS0 + ht.mcs, bandwidth_number(ht.bandwidth))),
        Mode::Vht(vht) if vht.mcs <= VHT_MCS_MAX && vht.bandwidth <= Bandwidth::Mhz80 => {
            let first = match vht.nss {
                1 => VHT_1SS_MCS0,
                2 => VHT_2SS_MCS0,
                _ => return None,
            };
            Some((first + vht.mcs, bandwidth_number(vht.bandwidth)))
        }
        _ => None,
    }
}

/// The number of a rate in a mask.
const fn of_bit(bit: u8, vht: bool) -> u8 {
    match (bit, vht) {
        (0..=11, _) => bit,
        (_, false) => HT_MCS0 + bit - 12,
        (12..=21, true) => VHT_1SS_MCS0 + bit - 12,
        (_, true) => VHT_2SS_MCS0 + bit - 22,
    }
}

/// The constellation and coding that a rate needs, the sturdiest first; for legacy rates its own order.
const fn demand(rate: u8) -> u8 {
    match rate {
        0..=11 => rate,
        HT_MCS0..=0x2b => (rate - HT_MCS0) % 8,
        VHT_1SS_MCS0..=0x35 => rate - VHT_1SS_MCS0,
        _ => rate - VHT_2SS_MCS0,
    }
}

/// What is known of the way to one station.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
struct Way {
    info: RateInfo,
    /// The rates that it goes through, the fastest first.
    ladder: Vec<u8>,
    steps: Steps,
    /// What the driver was told last.
    told: Option<(u8, u8)>,
}

impl Way {
    fn shape(&self, width: Bandwidth) -> Shape {
        let bandwidth = bandwidth(self.info.bandwidth).min(width);
        Shape { bandwidth, short_gi: self.info.short_gi, short_preamble: false }
    }
}

/// Rates of a mask, the fastest first, without those that are slower than another one without being sturdier.
fn ladder(info: &RateInfo) -> Vec<u8> {
    let shape = Shape { bandwidth: bandwidth(info.bandwidth), short_gi: info.short_gi, short_preamble: false };
    let rates = (0..32u8).filter(|bit| info.mask >> bit & 1 == 1).map(|bit| of_bit(bit, info.vht));
    let mut timed: Vec<(u32, u8)> = rates.filter_map(|rate| Some((mode(rate, shape)?.rate_kbps()?, rate))).collect();
    // OFDM before CCK, whose control responses cost more than retries; both only where there is nothing newer.
    let newest = timed.iter().map(|&(_, rate)| kind(rate)).max().unwrap_or(0);
    timed.retain(|&(_, rate)| kind(rate) == newest);
    timed.sort_unstable_by_key(|&(kbps, rate)| (std::cmp::Reverse(kbps), demand(rate)));
    let mut kept: Vec<u8> = Vec::new();
    for (_, rate) in timed {
        if kept.last().is_none_or(|&last| demand(rate) < demand(last)) {
            kept.push(rate);
        }
    }
    kept
}

/// CCK, OFDM, and what followed.
const fn kind(rate: u8) -> u8 {
    match rate {
        0..OFDM_6 => 0,
        OFDM_6..HT_MCS0 => 1,
        _ => 2,
    }
}

/// The rate of a first attempt, and those that it may fall to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Numbers of rates, the first one first.
    pub rates: Vec<u8>,
    /// How they are sent.
    pub shape: Shape,
}

/// What the driver is told of a station: its rate, guard interval and bandwidth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Told {
    /// Its number.
    pub station: u8,
    /// Number of the rate.
    pub rate: u8,
    /// Short guard interval.
    pub short_gi: bool,
    /// Number of the bandwidth.
    pub bandwidth: u8,
}

/// Rate control of all stations.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct RateControl {
    ways: Vec<Way>,
}

impl Default for RateControl {
    fn default() -> Self {
        Self { ways: vec![Way::default(); STATIONS] }
    }
}

impl RateControl {
    /// The driver says which rates a station has.
    pub fn set(&mut self, info: RateInfo) {
        let Some(way) = self.ways.get_mut(usize::from(info.station)) else { return };
        let ladder = ladder(&info);
        let keeps = info.keeps && !way.ladder.is_empty();
        let below = if keeps { way.steps.below().min(ladder.len().saturating_sub(1)) } else { 0 };
        *way = Way { info, ladder, steps: Steps::at(below), told: way.told };
    }

    /// A station has left.
    pub fn forget(&mut self, station: u8) {
        if let Some(way) = self.ways.get_mut(usize::from(station)) {
            *way = Way::default();
        }
    }

    /// The rates of a frame to a station; `None`: the driver has not said any.
    pub fn choose(&self, station: u8, width: Bandwidth) -> Option<Choice> {
        let way = self.ways.get(usize::from(station)).filter(|way| !way.ladder.is_empty())?;
        let shape = way.shape(width);
        let rates: Vec<u8> =
            way.ladder.iter().skip(way.steps.below()).copied().filter(|&rate| mode(rate, shape).is_some()).collect();
        (!rates.is_empty()).then_some(Choice { rates, shape })
    }

    /// Whether an MPDU was acknowledged that had a rate of this rate control.
    pub fn report(&mut self, now_ns: u64, station: u8, acknowledged: bool, assumed: &Assumptions) {
        let Some(way) = self.ways.get_mut(usize::from(station)).filter(|way| !way.ladder.is_empty()) else { return };
        way.steps.report(now_ns, acknowledged, way.ladder.len().saturating_sub(1), &assumed.rules());
    }

    /// A station that has another rate than the driver was told last; it counts as told now.
    pub fn news(&mut self, width: Bandwidth) -> Option<Told> {
        (0..STATIONS as u8).find_map(|station| {
            let rate = *self.choose(station, width)?.rates.first()?;
            let way = self.ways.get_mut(usize::from(station))?;
            let now = (rate, bandwidth_number(way.shape(width).bandwidth));
            if way.told == Some(now) {
                return None;
            }
            way.told = Some(now);
            Some(Told { station, rate, short_gi: way.info.short_gi, bandwidth: now.1 })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn kbps(rate: u8, bandwidth: Bandwidth, short_gi: bool) -> Option<u32> {
        mode(rate, Shape { bandwidth, short_gi, ..Shape::default() }).and_then(|mode| mode.rate_kbps())
    }

    #[test]
    fn numbers_are_those_of_the_driver() {
        use Bandwidth::{Mhz20, Mhz40, Mhz80};
        assert_eq!([0, 3, 4, 11].map(|rate| kbps(rate, Mhz20, false)), [1_000, 11_000, 6_000, 54_000].map(Some));
        assert_eq!((kbps(0x13, Mhz20, false), kbps(0x1b, Mhz40, true)), (Some(65_000), Some(300_000)));
        assert_eq!((kbps(0x35, Mhz80, true), kbps(0x3f, Mhz80, true)), (Some(433_333), Some(866_667)));
        assert_eq!([0x35, 0x3f].map(|rate| kbps(rate, Mhz20, true)), [None; 2], "MCS 9 in 20 MHz");
        assert_eq!((kbps(0x0c, Mhz80, true), kbps(0x1c, Mhz20, true), kbps(0x40, Mhz80, true)), (None, None, None));
        for rate in (0..=0x1b).chain(0x2c..=0x3f) {
            for width in [Mhz20, Mhz40, Mhz80] {
                let Some(mode) = mode(rate, Shape { bandwidth: width, ..Shape::default() }) else { continue };
                let bandwidth = if rate < HT_MCS0 { 0 } else { bandwidth_number(width) };
                assert_eq!(number(&mode), Some((rate, bandwidth)));
            }
        }
    }

    fn info(mask: u32, vht: bool, bandwidth: u8) -> RateInfo {
        RateInfo { station: 0, mask, vht, short_gi: true, bandwidth, keeps: false }
    }

    #[test]
    fn a_ladder_has_what_no_other_rate_beats() {
        let two_streams: Vec<u8> = (0x14..=0x1b).rev().collect();
        assert_eq!(ladder(&info(0x0fff_f015, false, 0)), two_streams);
        let one_stream: Vec<u8> = (0x0c..=0x13).rev().collect();
        assert_eq!(ladder(&info(0x000f_f015, false, 1)), one_stream);
        // VHT in 80 MHz: MCS 9 to 0 of two streams; MCS 0 of one is slower and no sturdier.
        assert_eq!(ladder(&info(0xffff_f010, true, 2)), (0x36..=0x3f).rev().collect::<Vec<u8>>());
        assert_eq!(ladder(&info(0xffff_f010, true, 0))[0], 0x3e, "no MCS 9 in 20 MHz");
        assert_eq!(ladder(&info(0x0ff5, false, 0)), (4..=11).rev().collect::<Vec<u8>>());
        assert_eq!(ladder(&info(0x000f, false, 0)), [3, 2, 1, 0]);
        assert!(ladder(&info(0, false, 0)).is_empty());
    }

    #[test]
    fn the_rate_falls_and_rises_and_the_driver_is_told() {
        let (mut control, assumed) = (RateControl::default(), Assumptions::default());
        let width = Bandwidth::Mhz80;
        assert_eq!((control.choose(0, width), control.news(width)), (None, None));
        control.set(info(0xffff_f010, true, 2));
        let first = |control: &RateControl| control.choose(0, width).map(|choice| choice.rates[0]);
        assert_eq!(first(&control), Some(0x3f));
        let told = Told { station: 0, rate: 0x3f, short_gi: true, bandwidth: 2 };
        assert_eq!((control.news(width), control.news(width)), (Some(told), None));
        let mut now_ns = 0;
        let mut report = |control: &mut RateControl, count: u32, step_ns: u64, good: bool| {
            for _ in 0..count {
                now_ns += step_ns;
                control.report(now_ns, 0, good, &assumed);
            }
        };
        // Many at once, as lost A-MPDUs: not before 200 ms are over.
        report(&mut control, 500, MS / 10, false);
        assert_eq!(first(&control), Some(0x3f));
        report(&mut control, 151, MS, false);
        assert_eq!(first(&control), Some(0x3e));
        assert_eq!(control.news(width).map(|told| told.rate), Some(0x3e));
        report(&mut control, 32, 100 * MS, true);
        assert_eq!(first(&control), Some(0x3f));
        report(&mut control, 10_000, 10 * MS, false);
        assert_eq!(first(&control), Some(0x36), "MCS 0 of two streams is the end");
        // Less than it could do with where the radio is set to less.
        assert_eq!(control.choose(0, Bandwidth::Mhz20).unwrap().shape.bandwidth, Bandwidth::Mhz20);
        control.set(RateInfo { keeps: true, ..info(0xffff_f010, true, 2) });
        assert_eq!(first(&control), Some(0x36), "what it has learned stays");
        control.set(info(0xffff_f010, true, 2));
        assert_eq!(first(&control), Some(0x3f));
        control.forget(0);
        assert_eq!(control.choose(0, width), None);
        control.set(RateInfo { station: 32, ..info(1, false, 0) });
    }

    proptest::proptest! {
        #[test]
        fn any_mask_gives_a_ladder_of_its_own_rates(mask: u32, vht: bool, short_gi: bool, bandwidth in 0u8..4) {
            let info = RateInfo { station: 0, mask, vht, short_gi, bandwidth, keeps: false };
            let ladder = ladder(&info);
            let allowed: Vec<u8> = (0..32u8).filter(|bit| mask >> bit & 1 == 1).map(|bit| of_bit(bit, vht)).collect();
            proptest::prop_assert!(ladder.iter().all(|rate| allowed.contains(rate)));
            let shape = Shape { bandwidth: super::bandwidth(bandwidth), short_gi, short_preamble: false };
            let speeds: Vec<_> = ladder.iter().map(|&rate| mode(rate, shape).unwrap().rate_kbps()).collect();
            proptest::prop_assert!(speeds.windows(2).all(|pair| pair[0] > pair[1]));
        }
    }
}

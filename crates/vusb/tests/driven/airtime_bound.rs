//! Nothing moves more than the airtime of its frames allows, whatever is asked for: every rate, preamble, guard interval, width,
//! aggregation, protection and loss, both ways.
//!
//! The bound is made of single frames ([`Mode::duration`], which is tested against ns-3) and of the shortest spaces that IEEE
//! 802.11-2020 has for them, not of the exchanges that the medium plans.

use proptest::prelude::*;
use vusb::air::rates::{mode, Modulation, MCS0};
use vusb::air::{response_to, ChannelSettings, Ppdu, Protection};
use vusb::chips::rtl8188cus::registers as reg;
use wire::phy::{ampdu_psdu_len, Band, Mode};

use crate::chip::{chip_on_air, down, run, transmission, write, OWN};
use crate::chip_blocks::tune_wide;

const TIME_NS: u64 = 30_000_000;
const FCS: usize = 4;
/// SIFS and slot of the band (table 19-25 with short slots).
const SIFS_NS: u64 = 10_000;
const SLOT_NS: u64 = 9_000;
/// AIFSN and CWmin of best effort (table 9-155).
const AIFS_NS: u64 = SIFS_NS + 3 * SLOT_NS;
const BACKOFF_MAX_NS: u64 = 15 * SLOT_NS;
/// The shortest answer of all: an ACK or CTS at 24 Mbit/s; and the longest: a Block Ack at 1 Mbit/s.
const ANSWER_MIN_NS: u64 = 28_000;
const ANSWER_MAX_NS: u64 = 192_000 + 32 * 8_000;
/// Signal extension.
const EXTENSION_NS: u64 = 6_000;
/// Most MPDUs of an A-MPDU of the chip, where the descriptor says nothing.
const CHIP_AGGREGATE: usize = 20;

/// What is sent again and again.
#[derive(Clone, Copy, Debug)]
struct Kind {
    rate: u8,
    modulation: Modulation,
    aggregate: bool,
    /// MPDU without FCS.
    len: usize,
    /// Number of the rate of RTS.
    rts: Option<u8>,
}

impl Kind {
    fn mode(&self) -> Mode {
        mode(self.rate, self.modulation)
    }

    fn aggregated(&self) -> bool {
        self.aggregate && self.rate >= MCS0
    }

    fn psdu_len(&self, count: usize) -> usize {
        if self.aggregated() {
            ampdu_psdu_len(std::iter::repeat_n(self.len + FCS, count))
        } else {
            self.len + FCS
        }
    }

    /// No exchange with `count` frames takes less.
    fn exchange_min_ns(&self, count: usize) -> u64 {
        let rts = self.rts.map_or(0, |rate| {
            let rts = mode(rate, Modulation::default()).duration(20, Some(Band::Ghz2_4)).unwrap();
            rts.min_ns() - EXTENSION_NS + SIFS_NS + ANSWER_MIN_NS + SIFS_NS
        });
        let data = self.mode().duration(self.psdu_len(count), Some(Band::Ghz2_4)).unwrap();
        AIFS_NS + rts + data.min_ns() + SIFS_NS + ANSWER_MIN_NS
    }

    /// Most frames that can arrive in [`TIME_NS`], in PPDUs of `count`; the last one may have begun before.
    fn frames_max(&self, count: usize) -> u64 {
        (TIME_NS / self.exchange_min_ns(count) + 1) * count as u64
    }

    /// Fewest that arrive where nothing is lost, protected or put together.
    fn frames_min(&self) -> u64 {
        let longest_ns = self.exchange_min_ns(1) + ANSWER_MAX_NS + EXTENSION_NS + BACKOFF_MAX_NS + SLOT_NS;
        (TIME_NS / longest_ns).saturating_sub(1)
    }

    fn is_plain(&self) -> bool {
        !self.aggregated() && self.rts.is_none()
    }
}

fn kinds() -> impl Strategy<Value = Kind> {
    let modulation =
        any::<(bool, bool, bool, bool, bool)>().prop_map(|(wide, short_gi, short_preamble, greenfield, stbc)| {
            Modulation { wide, short_gi, short_preamble, greenfield, stbc: u8::from(stbc) }
        });
    (0u8..20, modulation, any::<bool>(), 64usize..1_538, prop::option::weighted(0.3, 0u8..12))
        .prop_map(|(rate, modulation, aggregate, len, rts)| Kind { rate, modulation, aggregate, len, rts })
}

/// Frames that the far end has acknowledged, and the time that the medium was busy.
fn up(kind: &Kind, loss: f64) -> (u64, u64) {
    let (mut host, far) = chip_on_air(ChannelSettings { loss, ..ChannelSettings::default() });
    if kind.modulation.wide {
        tune_wide(&mut host, true);
    }
    let Modulation { wide, short_gi, short_preamble, greenfield, stbc } = kind.modulation;
    let rts = kind.rts.map_or(0, |rate| u32::from(rate) | 1 << 12 | 1 << 13);
    let flags = 1 << 8 | u32::from(stbc) << 22 | u32::from(short_preamble) << 24 | u32::from(wide) << 25 | rts;
    let words = [
        (0, u32::from(greenfield) << 30),
        (1, u32::from(kind.aggregate) << 5),
        (4, flags),
        (5, u32::from(kind.rate) | u32::from(short_gi) << 6),
    ];
    for sequence in 0..kind.frames_max(CHIP_AGGREGATE) + 20 {
        host.write(3, &transmission(sequence as u16 & 0xfff, kind.len, &words));
    }
    run(&mut host, TIME_NS);
    let expected = kind.mode();
    let other = far.0.borrow().heard.iter().map(|(_, _, how)| how.mode).find(|mode| *mode != expected);
    assert!(loss > 0.0 || other.is_none(), "{other:?}");
    let air = host.device.air();
    (air.chip.acknowledged, air.busy_ns)
}

/// The same, from the far end to the chip.
fn to_chip(kind: &Kind, count: usize, loss: f64) -> (u64, u64) {
    let (mut host, far) = chip_on_air(ChannelSettings { loss, ..ChannelSettings::default() });
    if kind.modulation.wide {
        tune_wide(&mut host, true);
    }
    write(&mut host, reg::RXFLTMAP2, &[0xff, 0xff]);
    let frames = kind.frames_max(count) + count as u64;
    let sequences: Vec<u16> = (0..frames).map(|sequence| sequence as u16 & 0xfff).collect();
    for some in sequences.chunks(count) {
        let mpdus: Vec<Vec<u8>> = some.iter().map(|&sequence| down(sequence, kind.len, OWN)).collect();
        let response = response_to(&mpdus[0], kind.aggregated());
        let protection = kind.rts.map_or(Protection::None, |rate| Protection::Rts(mode(rate, Modulation::default())));
        let ppdu = Ppdu { mode: kind.mode(), mpdus, aggregated: kind.aggregated(), protection, response };
        far.0.borrow_mut().to_send.push((0, ppdu));
    }
    for _ in 0..frames {
        host.read(1, 4_096, 0);
    }
    run(&mut host, TIME_NS);
    let air = host.device.air();
    (air.ap.unwrap().acknowledged, air.busy_ns)
}

fn check(kind: &Kind, count: usize, loss: f64, (frames, busy_ns): (u64, u64)) -> Result<(), TestCaseError> {
    prop_assert!(frames <= kind.frames_max(count), "{frames} of at most {}", kind.frames_max(count));
    // The PHY rate alone is a bound too, beyond the frame that was under way.
    let rate_kbps = f64::from(kind.mode().rate_kbps().unwrap());
    let payload_kbps = (frames.saturating_sub(count as u64) as usize * kind.len * 8) as f64 / (TIME_NS as f64 / 1e6);
    prop_assert!(payload_kbps < rate_kbps, "{payload_kbps} of {rate_kbps}");
    prop_assert!(busy_ns <= TIME_NS + kind.exchange_min_ns(count) + 2 * ANSWER_MAX_NS, "busy for {busy_ns} ns");
    if kind.is_plain() && loss == 0.0 {
        prop_assert!(frames >= kind.frames_min(), "{frames} of at least {}", kind.frames_min());
    }
    Ok(())
}

fn losses() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), 0.0f64..0.5]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn a_chip_sends_no_more_than_its_airtime_allows(kind in kinds(), loss in losses()) {
        let count = if kind.aggregated() { CHIP_AGGREGATE } else { 1 };
        check(&kind, count, loss, up(&kind, loss))?;
    }

    #[test]
    fn an_access_point_sends_no_more_than_its_airtime_allows(kind in kinds(), count in 1usize..33, loss in losses()) {
        let count = if kind.aggregated() { count } else { 1 };
        check(&kind, count, loss, to_chip(&kind, count, loss))?;
    }
}

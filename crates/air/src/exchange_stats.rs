//! Counters of the exchanges of one (transmitter, receiver).

use wire::ieee80211::Seq;
use wire::phy::{Band, Mode, RateSet};

use crate::few::Few;
use crate::frame::AckedTid;
use crate::histogram::Exact;
use crate::micros::us;
use crate::ppdu::Ppdu;
use crate::report;

/// Rates kept per link.
const MAX_RATES: usize = 24;
/// Traffic classes of a link that are remembered with their last PPDU.
const MAX_OPEN: usize = 17;

/// What a soliciting PPDU carries: data and management go to different stations, at different rates, for different reasons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asks {
    Data,
    Management,
    Control,
}

impl Asks {
    const fn name(self) -> &'static str {
        match self {
            Self::Data => "data",
            Self::Management => "management",
            Self::Control => "control",
        }
    }
}

/// The last PPDU of a traffic class, until it is known whether it was sent again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Open {
    pub(crate) tid: Option<u8>,
    pub(crate) first_sequence: u16,
    pub(crate) mpdus: u16,
    pub(crate) answered: bool,
    /// The response came late; `None` without a response or a gap.
    pub(crate) late: Option<bool>,
    pub(crate) asks: Asks,
    pub(crate) rate: u64,
}

/// Soliciting PPDUs of one kind, whatever their rate.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct KindStats {
    pub(crate) ppdus: u64,
    pub(crate) answered: u64,
    pub(crate) missing_resent: u64,
    pub(crate) missing_not_resent: u64,
    /// Those of `ppdus` that are Null frames.
    pub(crate) nulls: u64,
    pub(crate) after_late: Followed,
    pub(crate) after_in_time: Followed,
}

/// Single MPDUs with a late response, or one in time, and how many of them were retransmitted all the same.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Followed {
    pub(crate) answered: u64,
    pub(crate) resent: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct RateStats {
    pub(crate) asks: Asks,
    pub(crate) key: u64,
    pub(crate) ppdus: u64,
    pub(crate) answered: u64,
    /// By ACK.
    pub(crate) acked: u64,
    /// Those of `ppdus` that ask for an ACK, not a Block Ack.
    pub(crate) asking_for_ack: u64,
    /// Those of `ppdus` without the retry bit.
    pub(crate) first_attempts: u64,
    pub(crate) missing_resent: u64,
    pub(crate) gap: Exact,
    pub(crate) responses: Few<u64, 8>,
}

/// Counters of one (transmitter, receiver).
#[derive(Clone, Debug)]
pub struct ExchangeStats {
    pub(crate) ppdus: u64,
    /// Those of `ppdus` that ask for an ACK, not a Block Ack.
    pub(crate) asking_for_ack: u64,
    /// Those that ask for a Block Ack for sure.
    pub(crate) asking_for_block_ack: u64,
    pub(crate) acked: u64,
    pub(crate) block_acked: u64,
    pub(crate) cts: u64,
    pub(crate) rts: u64,
    pub(crate) missing_resent: u64,
    pub(crate) missing_not_resent: u64,
    pub(crate) answered_resent: u64,
    pub(crate) late: u64,
    /// Gaps behind data, and how many of them are late; `gap` has those behind RTS and management as well.
    pub(crate) data_gap: Exact,
    pub(crate) data_late: u64,
    pub(crate) kinds: [KindStats; 3],
    pub(crate) unexpected_rate: u64,
    pub(crate) rate_checked: u64,
    /// Expected gaps of the responses measured: signal extension follows OFDM only.
    pub(crate) expected_gaps_ns: Few<u64, 4>,
    pub(crate) band: Option<Band>,
    pub(crate) basic: Option<RateSet>,
    pub(crate) gap: Exact,
    pub(crate) by_rate: Vec<RateStats>,
    pub(crate) open: Vec<Open>,
    /// Newest sequence number by TID; the last is of data without one.
    newest: [Option<u16>; 9],
    /// The latest Block Ack.
    latest_ack: Option<Box<AckedTid>>,
}

/// How far a sequence number is behind `of`, going round.
fn ahead(sequence: u16, of: u16) -> u16 {
    Seq::new(sequence).distance_from(Seq::new(of))
}

/// Does a Block Ack acknowledge this number?
fn has(acked: &AckedTid, sequence: u16) -> bool {
    acked.bitmap.get(ahead(sequence, acked.start))
}

impl Default for ExchangeStats {
    fn default() -> Self {
        Self {
            ppdus: 0,
            asking_for_ack: 0,
            asking_for_block_ack: 0,
            acked: 0,
            block_acked: 0,
            cts: 0,
            rts: 0,
            missing_resent: 0,
            missing_not_resent: 0,
            answered_resent: 0,
            late: 0,
            data_gap: Exact::new(-20, 221),
            data_late: 0,
            kinds: Default::default(),
            unexpected_rate: 0,
            rate_checked: 0,
            expected_gaps_ns: Few::default(),
            band: None,
            basic: None,
            gap: Exact::new(-20, 221),
            by_rate: Vec::new(),
            open: Vec::new(),
            newest: [None; 9],
            latest_ack: None,
        }
    }
}

impl ExchangeStats {
    /// Records the numbers of an A-MPDU: is the one before its first captured, so that no new one is missing there?
    pub(crate) fn follows(&mut self, tid: Option<u8>, first: u16, last: u16) -> bool {
        let Some(newest) = self.newest.get_mut(tid.map_or(8, |tid| usize::from(tid & 7))) else { return false };
        let follows = newest.is_some_and(|newest| matches!(ahead(first, newest), 0 | 1 | 0x800..));
        if newest.is_none_or(|newest| ahead(last, newest) < 0x800) {
            *newest = Some(last);
        }
        follows
    }

    /// Records a Block Ack for an A-MPDU that begins with `first`: does it acknowledge a number before that, which the one before it
    /// did not? Then this was sent again at the front, and not captured.
    pub(crate) fn shows_more(&mut self, first: u16, acked: &AckedTid) -> bool {
        let before = match &mut self.latest_ack {
            Some(latest) => std::mem::replace(&mut **latest, *acked),
            none => {
                *none = Some(Box::new(*acked));
                return false;
            }
        };
        let older = ahead(first, acked.start);
        let mut numbers = (0..older.min(acked.bitmap.len)).map(|at| Seq::new(acked.start).add(at).value());
        older < 0x800 && before.tid == acked.tid && numbers.any(|number| has(acked, number) && !has(&before, number))
    }

    pub(crate) fn kind(&mut self, asks: Asks) -> &mut KindStats {
        let [data, management, control] = &mut self.kinds;
        match asks {
            Asks::Data => data,
            Asks::Management => management,
            Asks::Control => control,
        }
    }

    pub(crate) fn rate(&mut self, asks: Asks, key: u64) -> Option<&mut RateStats> {
        if let Some(position) = self.by_rate.iter().position(|rate| rate.key == key && rate.asks == asks) {
            return self.by_rate.get_mut(position);
        }
        if self.by_rate.len() >= MAX_RATES {
            return None;
        }
        self.by_rate.push(RateStats {
            asks,
            key,
            ppdus: 0,
            answered: 0,
            acked: 0,
            asking_for_ack: 0,
            first_attempts: 0,
            missing_resent: 0,
            gap: Exact::new(0, 64),
            responses: Few::default(),
        });
        self.by_rate.last_mut()
    }

    /// The last PPDU of its traffic class from now on.
    pub(crate) fn set_open(&mut self, open: Open) {
        if let Some(slot) = self.open.iter_mut().find(|other| other.tid == open.tid) {
            *slot = open;
        } else if self.open.len() < MAX_OPEN {
            self.open.push(open);
        }
    }

    /// The next PPDU of a traffic class shows whether the last one was sent again.
    pub(crate) fn resolve(&mut self, ppdu: &Ppdu, tid: Option<u8>) {
        let Some(position) = self.open.iter().position(|open| open.tid == tid) else { return };
        let open = self.open.swap_remove(position);
        let resent = ppdu.mpdus.iter().any(|m| {
            m.fc.retry()
                && m.sequence.is_some_and(|s| Seq::new(s).is_within(Seq::new(open.first_sequence), open.mpdus.max(1)))
        });
        if let (Some(late), 1) = (open.late, open.mpdus) {
            let kind = self.kind(open.asks);
            let followed = if late { &mut kind.after_late } else { &mut kind.after_in_time };
            followed.answered += 1;
            followed.resent += u64::from(resent);
        }
        match (open.answered, resent) {
            (false, true) => {
                self.missing_resent += 1;
                self.kind(open.asks).missing_resent += 1;
                if let Some(rate) = self.rate(open.asks, open.rate) {
                    rate.missing_resent += 1;
                }
            }
            (false, false) => {
                self.missing_not_resent += 1;
                self.kind(open.asks).missing_not_resent += 1;
            }
            // A Block Ack answers an A-MPDU and may still leave MPDUs out: that is Block Ack accounting, not a fault.
            (true, true) if open.mpdus == 1 => self.answered_resent += 1,
            (true, _) => {}
        }
    }

    /// Soliciting PPDUs counted.
    pub fn ppdus(&self) -> u64 {
        self.ppdus + self.rts
    }

    /// PPDUs that ask for an ACK, and ACKs.
    pub fn acks(&self) -> (u64, u64) {
        (self.asking_for_ack, self.acked)
    }

    /// PPDUs that ask for a Block Ack for sure.
    pub fn aggregated(&self) -> u64 {
        self.asking_for_block_ack
    }

    /// PPDUs that ask for an ACK or a Block Ack: all but RTS.
    pub fn asking(&self) -> u64 {
        self.ppdus
    }

    /// RTS.
    pub fn rts(&self) -> u64 {
        self.rts
    }

    /// PPDUs with data that were answered.
    pub fn data_answered(&self) -> u64 {
        self.kinds.get(Asks::Data as usize).map_or(0, |stats| stats.answered)
    }

    /// PPDUs with data; those of them that were neither answered nor sent again, and those sent again for want of an answer.
    pub fn data_without_response(&self) -> (u64, u64, u64) {
        let stats = self.kinds.get(Asks::Data as usize).copied().unwrap_or_default();
        (stats.ppdus, stats.missing_not_resent, stats.missing_resent)
    }

    /// PPDUs that were answered by an ACK or a Block Ack.
    pub fn answered(&self) -> u64 {
        self.acked + self.block_acked
    }

    /// The report's row. `late_after_ns`: how much later than expected a response is late.
    pub fn report(&self, ta: String, ra: String, late_after_ns: i64) -> report::Exchange {
        let share = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
        let answered = self.answered();
        let mut by_rate: Vec<report::ExchangeRate> = self
            .by_rate
            .iter()
            .filter(|rate| rate.ppdus > 0)
            .map(|rate| {
                let mode = Mode::from_key(rate.key).unwrap_or_default();
                report::ExchangeRate {
                    frames: rate.asks.name().to_owned(),
                    label: mode.label(),
                    rate_known: mode != Mode::Unknown,
                    ppdus: rate.ppdus,
                    answered: rate.answered,
                    answered_share: share(rate.answered, rate.ppdus),
                    acked: Some(rate.acked),
                    asking_for_ack: Some(rate.asking_for_ack),
                    first_attempts: Some(rate.first_attempts),
                    missing_resent: rate.missing_resent,
                    median_gap_us: rate.gap.median(),
                    response_rate: rate.responses.most().and_then(Mode::from_key).map(|mode| mode.label()),
                    expected_rate: self
                        .band
                        .and_then(|band| wire::phy::control_response_rate(&mode, self.basic.as_ref(), band))
                        .map(|mode| mode.label()),
                }
            })
            .collect();
        by_rate.sort_by(|a, b| {
            b.ppdus.cmp(&a.ppdus).then_with(|| a.label.cmp(&b.label)).then_with(|| a.frames.cmp(&b.frames))
        });
        let kind = |asks: Asks| {
            let stats = self.kinds.get(asks as usize).copied().unwrap_or_default();
            let open = self.open.iter().filter(|open| !open.answered && open.asks == asks).count() as u64;
            report::ExchangeKind {
                ppdus: stats.ppdus,
                answered: stats.answered,
                missing_resent: stats.missing_resent,
                missing_not_resent: stats.missing_not_resent + open,
                nulls: Some(stats.nulls),
                late_answered: Some(stats.after_late.answered),
                late_answered_resent: Some(stats.after_late.resent),
                in_time_answered: Some(stats.after_in_time.answered),
                in_time_answered_resent: Some(stats.after_in_time.resent),
            }
        };
        let all = |get: fn(&KindStats) -> u64| self.kinds.iter().map(get).sum();
        // What is still open when the capture ends was answered or not, but never resent.
        let open_missing = self.open.iter().filter(|open| !open.answered).count() as u64;
        report::Exchange {
            ta,
            ra,
            ppdus: self.ppdus,
            asking_for_ack: Some(self.asking_for_ack),
            acked: self.acked,
            block_acked: self.block_acked,
            rts: self.rts,
            cts: self.cts,
            answered_share: share(answered.min(self.ppdus), self.ppdus),
            missing_resent: self.missing_resent,
            missing_not_resent: self.missing_not_resent + open_missing,
            answered_resent: self.answered_resent,
            late_responses: self.gap.spread().map(|_| self.late),
            data_gap_us: self.data_gap.spread(),
            data_late_responses: self.data_gap.spread().map(|_| self.data_late),
            late_answered: all(|kind| kind.after_late.answered),
            late_answered_resent: all(|kind| kind.after_late.resent),
            in_time_answered: all(|kind| kind.after_in_time.answered),
            in_time_answered_resent: all(|kind| kind.after_in_time.resent),
            data: kind(Asks::Data),
            management: kind(Asks::Management),
            unexpected_rate: self.unexpected_rate,
            rate_checked: self.rate_checked,
            expected_gap_us: self.expected_gaps_ns.most().map(|ns| us(ns as i64)),
            late_after_us: self.gap.spread().map(|_| us(late_after_ns)),
            gap_us: self.gap.spread(),
            gap_histogram: self.gap.bars(),
            by_rate,
        }
    }
}

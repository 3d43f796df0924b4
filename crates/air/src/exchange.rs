//! Each PPDU with its response.
//!
//! [`Matcher`] sees PPDUs in order and says what each one is to the others (its [`Role`]); [`ExchangeStats`](crate::exchange_stats::ExchangeStats) are
//! the counters of one (transmitter, receiver).

use wire::ieee80211::{FrameKind, FrameType, MacAddr, Seq};
use wire::phy::{Band, Mode};

use crate::claims::Claims;
use crate::exchange_stats::{Asks, Open};
use crate::frame::Fcs;
use crate::link::Links;
use crate::micros::us;
use crate::ppdu::{Control, Ppdu};

/// With a longer calibrated gap it is not a response (an ACK timeout is about 50 µs).
const MAX_GAP_NS: i64 = 200_000;
/// When subframes of an A-MPDU may have been missed its end is early, by up to a maximal PPDU.
const MAX_GAP_INCOMPLETE_NS: i64 = 6_000_000;
/// Without usable stamps: the longest delay of the capture clock that still counts as "next".
const MAX_GAP_COARSE_NS: i64 = 10_000_000;
/// Bytes of the longest response: a Block Ack with a bitmap of 1,024 bits, or with several bitmaps. The length of a damaged frame is
/// believed, as it comes from the PHY header, which has a check of its own.
const LONGEST_RESPONSE: u32 = 256;
/// Later than SIFS by more than a slot, beside what the clock's own spread explains.
const LATE_NS: i64 = 9_000;

/// How much later than expected a response is late, ns. `spread_ns`: interquartile range of the response gaps.
pub fn late_after_ns(spread_ns: Option<i64>) -> i64 {
    LATE_NS.saturating_add(spread_ns.unwrap_or(0))
}

/// What a PPDU is, seen together with the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Data of a link.
    Data,
    /// ACK or Block Ack to a PPDU of this link (row), sent by its receiver.
    Response {
        /// Row of the soliciting link.
        link: u32,
        /// The soliciting PPDU was a management frame.
        management: bool,
    },
    /// CTS that answers an RTS of this link.
    CtsResponse {
        /// Row of the soliciting link.
        link: u32,
    },
    /// RTS.
    Rts,
    /// CTS without RTS: protection for the frame that follows.
    CtsToSelf,
    /// Block Ack request.
    Request,
    /// Management.
    Management,
    /// Beacon.
    Beacon,
    /// Only damaged frames.
    Damaged,
    /// ACK or Block Ack that may answer a PPDU to or from several users: which one it answers is not judged.
    JointResponse,
    /// Control frames that belong to no captured frame.
    Stray,
}

/// A PPDU that waits for its response.
#[derive(Clone, Copy, Debug)]
struct Pending {
    link: u32,
    generation: u32,
    ta: MacAddr,
    ra: MacAddr,
    kind: FrameKind,
    asks: Asks,
    is_null: bool,
    is_first_attempt: bool,
    end_ns: i64,
    exact: bool,
    gap_valid: bool,
    mode: Mode,
    band: Option<Band>,
    tid: Option<u8>,
    first_sequence: u16,
    mpdus: u16,
    asks_for_ack: bool,
    length: Length,
}

/// What shows whether all MPDUs of a PPDU were captured.
#[derive(Clone, Copy, Debug)]
enum Length {
    /// Nothing: MPDUs cannot be grouped to PPDUs, one of them is damaged, or each has a stamp of its own.
    Unknown,
    /// L-SIG gives so much more time than the captured MPDUs take, ns.
    Stated(i64),
    /// The time from its end, as the captured MPDUs give it, to the response.
    Timed,
}

impl Length {
    /// `grouped`: MPDUs could be grouped to PPDUs.
    fn of(ppdu: &Ppdu, grouped: bool) -> Self {
        let is_damaged = ppdu.mpdus.iter().any(|mpdu| mpdu.fcs == Fcs::Bad);
        match (ppdu.duration_ns, ppdu.explained_ns) {
            _ if !grouped || is_damaged => Self::Unknown,
            (Some(stated_ns), Some(explained_ns)) if ppdu.exact_duration => Self::Stated(stated_ns - explained_ns),
            _ if ppdu.own_stamps => Self::Unknown,
            _ => Self::Timed,
        }
    }
}

impl Pending {
    /// RTS and Block Ack requests carry no sequence number of their own that could come back.
    fn may_be_resent(&self) -> bool {
        !matches!(self.kind, FrameKind::Rts | FrameKind::BlockAckReq)
    }

    fn open(&self, answered: bool, late: Option<bool>) -> Open {
        Open {
            tid: self.tid,
            first_sequence: self.first_sequence,
            mpdus: self.mpdus,
            answered,
            late,
            asks: self.asks,
            rate: self.mode.key(),
        }
    }
}

/// The latest PPDU with data to or from several users. Its users answer one after the other, when a trigger asks them, or all
/// at once; an access point answers all of them with one Block Ack.
#[derive(Debug)]
struct Joint {
    /// The access point: transmitter of a downlink, receiver of a trigger-based uplink.
    ap: MacAddr,
    users: Vec<MacAddr>,
    end_ns: i64,
}

impl Joint {
    /// Is this a response to it?
    fn is_answered_by(&self, ppdu: &Ppdu) -> bool {
        let has = |address: MacAddr| address == self.ap || self.users.contains(&address);
        matches!(ppdu.kind, FrameKind::Ack | FrameKind::BlockAck)
            && ppdu.start_ns - self.end_ns < MAX_GAP_COARSE_NS
            && (has(ppdu.ra) || (ppdu.ra.is_group() && ppdu.ta == Some(self.ap)))
    }
}

/// What a matched response looks like, for accounting.
#[derive(Clone, Copy, Debug)]
pub struct Answered {
    /// The mode that the rules give for the response.
    pub expected_mode: Option<Mode>,
    /// Transmitter of the answered PPDU.
    pub ta: MacAddr,
    /// Its TID.
    pub tid: Option<u8>,
    /// Its first sequence number.
    pub first_sequence: u16,
    /// Its MPDUs.
    pub mpdus: u16,
    /// Who answered.
    pub responder: MacAddr,
    /// Time of the answered PPDU in which no captured MPDU was sent, ns: room for MPDUs that were not captured. `None`: not known.
    pub room_ns: Option<i64>,
}

/// Matches responses to PPDUs.
#[derive(Debug)]
pub struct Matcher {
    pending: Option<Pending>,
    gaps_usable: bool,
    late_ns: i64,
    control_rates: bool,
    grouped: bool,
    joint: Option<Joint>,
    /// PPDUs with data to or from several users: whether they were answered is not judged.
    pub not_judged: u64,
    /// The latest match.
    pub answered: Option<Answered>,
}

impl Matcher {
    /// `spread_ns`: interquartile range of the response gaps, `None` when stamps are not calibrated; `control_rates`: rates
    /// of control frames can be believed; `grouped`: MPDUs could be grouped to PPDUs.
    pub fn new(spread_ns: Option<i64>, control_rates: bool, grouped: bool) -> Self {
        let late_ns = late_after_ns(spread_ns);
        Self {
            pending: None,
            gaps_usable: spread_ns.is_some(),
            late_ns,
            control_rates,
            grouped,
            joint: None,
            not_judged: 0,
            answered: None,
        }
    }

    /// The receiver went to another channel, or the capture ends: whether the latest PPDU was answered is not known.
    pub fn interrupted(&mut self, links: &mut Links) {
        if let Some(pending) = self.pending.take().filter(|pending| pending.generation == links.generation()) {
            forget(&pending, links);
        }
    }

    /// Classifies the next PPDU and updates the counters of the links involved.
    pub fn ppdu(&mut self, ppdu: &Ppdu, link: Option<u32>, links: &mut Links, claims: &Claims) -> Role {
        self.answered = None;
        let pending = match &self.pending {
            Some(pending) if pending.generation == links.generation() => self.pending.take(),
            _ => None,
        };
        self.pending = None;
        if ppdu.all_bad {
            // A damaged frame may be the response; the question stays open without a count either way.
            match pending {
                Some(pending) if self.may_be_response(&pending, ppdu) => forget(&pending, links),
                Some(pending) => unanswered(&pending, links),
                None => {}
            }
            return Role::Damaged;
        }
        if let Some(pending) = pending {
            if let Some(role) = self.response(&pending, ppdu, links, claims) {
                return role;
            }
            if self.looks_aggregated(&pending, ppdu) {
                forget(&pending, links);
            } else {
                unanswered(&pending, links);
            }
        }
        let role = match ppdu.fc.frame_type() {
            FrameType::Data => Role::Data,
            FrameType::Management if matches!(ppdu.kind, FrameKind::Beacon) => Role::Beacon,
            FrameType::Management => Role::Management,
            FrameType::Control => match ppdu.kind {
                FrameKind::Rts => Role::Rts,
                FrameKind::Cts => Role::CtsToSelf,
                FrameKind::BlockAckReq => Role::Request,
                _ if self.joint.as_ref().is_some_and(|joint| joint.is_answered_by(ppdu)) => Role::JointResponse,
                _ => Role::Stray,
            },
            FrameType::Extension => Role::Management,
        };
        if role == Role::Data && ppdu.mode.is_to_several() {
            self.joint(ppdu);
        }
        if let (Some(link), Some(ta)) = (link, ppdu.ta) {
            if solicits(ppdu) {
                self.solicit(ppdu, link, ta, links);
            }
        }
        role
    }

    /// May a damaged PPDU have been the response? Not when it is longer than responses are, and not when it began after the time
    /// in which the sender expects one (ACKTimeout, 10.3.2.11): what begins later has contended for the medium again.
    fn may_be_response(&self, pending: &Pending, damaged: &Ppdu) -> bool {
        // It may be a subframe of the same A-MPDU.
        if !self.grouped && pending.mode.may_aggregate() {
            return true;
        }
        let expected_ns = pending.band.and_then(|band| wire::phy::response_gap_ns(band, &pending.mode)).map(i64::from);
        let exact = self.gaps_usable && pending.exact && pending.gap_valid && damaged.exact_start;
        let gap_ns = damaged.start_ns - pending.end_ns;
        let is_later = exact && expected_ns.is_some_and(|expected| gap_ns > expected + self.late_ns);
        damaged.psdu_len <= LONGEST_RESPONSE && !is_later
    }

    /// Records a user's part of a PPDU to or from several.
    #[cold]
    fn joint(&mut self, ppdu: &Ppdu) {
        let Some(ta) = ppdu.ta.filter(|_| !ppdu.ra.is_group()) else { return };
        let (ap, user) = if ppdu.mode.is_trigger_based() { (ppdu.ra, ta) } else { (ta, ppdu.ra) };
        let end_ns = ppdu.whole.map_or(ppdu.end_ns(), |whole| whole.start_ns + whole.duration_ns.unwrap_or(0));
        let is_further = ppdu.whole.is_some_and(|whole| !whole.is_first);
        self.not_judged += u64::from(!is_further);
        match &mut self.joint {
            Some(joint) if is_further && joint.ap == ap => joint.users.push(user),
            joint => *joint = Some(Joint { ap, users: vec![user], end_ns }),
        }
    }

    /// Without a way to group MPDUs, the next MPDU of the same traffic class most likely rode in the same A-MPDU, unless its
    /// format has none.
    fn looks_aggregated(&self, pending: &Pending, next: &Ppdu) -> bool {
        let first = next.mpdus.first();
        !self.grouped
            && pending.mode.may_aggregate()
            && pending.tid.is_some()
            && next.ta == Some(pending.ta)
            && next.ra == pending.ra
            && first.is_some_and(|m| m.tid == pending.tid && m.sequence != Some(pending.first_sequence))
    }

    fn response(&mut self, pending: &Pending, ppdu: &Ppdu, links: &mut Links, claims: &Claims) -> Option<Role> {
        let fits = match ppdu.kind {
            FrameKind::Cts => pending.kind == FrameKind::Rts,
            FrameKind::Ack => pending.kind != FrameKind::Rts,
            FrameKind::BlockAck => pending.kind != FrameKind::Rts && ppdu.ta.is_none_or(|ta| ta == pending.ra),
            _ => false,
        };
        if !fits || ppdu.ra != pending.ta {
            return None;
        }
        let gap_ns = ppdu.start_ns - pending.end_ns;
        let exact = self.gaps_usable && pending.exact && ppdu.exact_start;
        let limit = match (exact, pending.gap_valid) {
            (false, _) => MAX_GAP_COARSE_NS,
            (true, true) => MAX_GAP_NS,
            (true, false) => MAX_GAP_INCOMPLETE_NS,
        };
        if gap_ns > limit || (exact && gap_ns < -MAX_GAP_NS) {
            return None;
        }
        let basic = claims.basic_rates(pending.ta, pending.ra);
        let expected_mode =
            pending.band.and_then(|band| wire::phy::control_response_rate(&pending.mode, basic.as_ref(), band));
        let expected_ns = pending.band.and_then(|band| wire::phy::response_gap_ns(band, &pending.mode)).map(i64::from);
        self.answered = Some(Answered {
            room_ns: match pending.length {
                Length::Unknown => None,
                Length::Stated(room_ns) => Some(room_ns),
                Length::Timed => expected_ns.filter(|_| exact).map(|expected_ns| gap_ns - expected_ns),
            },
            expected_mode,
            ta: pending.ta,
            tid: pending.tid,
            first_sequence: pending.first_sequence,
            mpdus: pending.mpdus,
            responder: pending.ra,
        });
        let row = pending.link;
        let link = links.get_mut(row)?;
        let stats = link.exchange.get_or_insert_with(Box::default);
        match ppdu.kind {
            FrameKind::Cts => stats.cts += 1,
            FrameKind::BlockAck => stats.block_acked += 1,
            _ => stats.acked += 1,
        }
        stats.band = pending.band.or(stats.band);
        stats.basic = basic.or(stats.basic);
        let is_rts = pending.kind == FrameKind::Rts;
        if !is_rts {
            stats.kind(pending.asks).answered += 1;
        }
        let rate = if is_rts { None } else { stats.rate(pending.asks, pending.mode.key()) };
        if let Some(rate) = rate {
            rate.answered += 1;
            rate.acked += u64::from(ppdu.kind == FrameKind::Ack);
            if self.control_rates {
                rate.responses.add(ppdu.mode.key(), 1);
            }
        }
        let acks = match &ppdu.control {
            Control::BlockAck(acks) => acks.as_slice(),
            _ => &[],
        };
        let of_this = acks.iter().find(|acked| Some(acked.tid) == pending.tid);
        let lacks_first = of_this.is_some_and(|acked| stats.shows_more(pending.first_sequence, acked));
        let mut late = None;
        if exact && pending.gap_valid && !lacks_first {
            let gap_us = us(gap_ns).round() as i32;
            if let Some(expected_ns) = expected_ns {
                stats.expected_gaps_ns.add(expected_ns.unsigned_abs(), 1);
            }
            stats.gap.add(gap_us);
            late = expected_ns.map(|expected| gap_ns > expected + self.late_ns);
            stats.late += u64::from(late == Some(true));
            if pending.asks == Asks::Data {
                stats.data_gap.add(gap_us);
                stats.data_late += u64::from(late == Some(true));
            }
            if let Some(rate) = stats.rate(pending.asks, pending.mode.key()).filter(|_| !is_rts) {
                rate.gap.add(gap_us);
            }
        }
        if pending.may_be_resent() {
            stats.set_open(pending.open(true, late));
        }
        if self.control_rates {
            if let Some(expected) = expected_mode {
                stats.rate_checked += 1;
                let rates = ppdu.mode.rate_kbps().zip(expected.rate_kbps());
                stats.unexpected_rate += u64::from(rates.is_some_and(|(is, should)| is != should));
            }
        }
        Some(if ppdu.kind == FrameKind::Cts {
            Role::CtsResponse { link: row }
        } else {
            Role::Response { link: row, management: pending.asks == Asks::Management }
        })
    }

    fn solicit(&mut self, ppdu: &Ppdu, row: u32, ta: MacAddr, links: &mut Links) {
        let generation = links.generation();
        let Some(link) = links.get_mut(row) else { return };
        let stats = link.exchange.get_or_insert_with(Box::default);
        let first = ppdu.mpdus.iter().find(|m| m.sequence.is_some());
        let tid = first.and_then(|m| m.tid);
        if ppdu.kind != FrameKind::Rts && ppdu.kind != FrameKind::BlockAckReq {
            stats.resolve(ppdu, tid);
        }
        let asks = match ppdu.fc.frame_type() {
            FrameType::Data => Asks::Data,
            FrameType::Control => Asks::Control,
            FrameType::Management | FrameType::Extension => Asks::Management,
        };
        let asks_for_ack = self.asks_for_ack(ppdu, tid);
        if ppdu.kind == FrameKind::Rts {
            stats.rts += 1;
        } else {
            stats.ppdus += 1;
            let kind = stats.kind(asks);
            kind.ppdus += 1;
            kind.nulls += u64::from(ppdu.fc.is_null());
            if let Some(rate) = stats.rate(asks, ppdu.mode.key()) {
                rate.ppdus += 1;
                rate.asking_for_ack += u64::from(asks_for_ack);
                rate.first_attempts += u64::from(!ppdu.fc.retry());
            }
            stats.asking_for_ack += u64::from(asks_for_ack);
            stats.asking_for_block_ack += u64::from(ppdu.is_ampdu || ppdu.kind == FrameKind::BlockAckReq);
        }
        let mut sequences = ppdu.mpdus.iter().filter_map(|m| m.sequence);
        let start = sequences.next();
        let ends = start.zip(sequences.next_back().or(start));
        let span = ends.map_or(0, |(a, b)| Seq::new(b).distance_from(Seq::new(a)));
        // Of one whose first subframe is missing, too, the end is not known: all subframes have the stamp of the first.
        let follows = ends.is_some_and(|(first, last)| stats.follows(tid, first, last));
        let holes = ppdu.is_ampdu && (usize::from(span) + 1 != ppdu.mpdus.len() || !follows);
        self.pending = Some(Pending {
            link: row,
            generation,
            ta,
            ra: ppdu.ra,
            kind: ppdu.kind,
            asks,
            is_null: ppdu.fc.is_null(),
            is_first_attempt: !ppdu.fc.retry(),
            end_ns: ppdu.end_ns(),
            exact: ppdu.exact_start,
            gap_valid: ppdu.exact_duration || !ppdu.is_ampdu || (ppdu.saw_last && !holes),
            mode: ppdu.mode,
            band: ppdu.band(),
            tid,
            first_sequence: first.and_then(|m| m.sequence).unwrap_or(0),
            mpdus: ppdu.mpdus.len().min(1024) as u16,
            asks_for_ack,
            length: Length::of(ppdu, self.grouped),
        });
    }

    /// Is its response an ACK, not a Block Ack? What may be one MPDU of an A-MPDU that was not grouped asks for either.
    fn asks_for_ack(&self, ppdu: &Ppdu, tid: Option<u8>) -> bool {
        let may_be_part = !self.grouped && tid.is_some() && ppdu.mode.may_aggregate();
        !matches!(ppdu.kind, FrameKind::Rts | FrameKind::BlockAckReq) && !ppdu.is_ampdu && !may_be_part
    }
}

/// Does this PPDU ask for an immediate response?
fn solicits(ppdu: &Ppdu) -> bool {
    // Several users answer at the same time, or one after the other when they are asked: not judged, also where only one of
    // them was captured.
    if ppdu.ra.is_group() || ppdu.mode.is_to_several() {
        return false;
    }
    match ppdu.fc.frame_type() {
        FrameType::Data => ppdu.mpdus.iter().any(|m| m.asks),
        FrameType::Management => !matches!(ppdu.kind, FrameKind::ActionNoAck | FrameKind::Beacon),
        FrameType::Control => {
            matches!(ppdu.kind, FrameKind::Rts | FrameKind::PsPoll)
                || (ppdu.kind == FrameKind::BlockAckReq && matches!(ppdu.control, Control::Request(_)))
        }
        FrameType::Extension => false,
    }
}

fn unanswered(pending: &Pending, links: &mut Links) {
    if !pending.may_be_resent() {
        return;
    }
    if let Some(stats) = links.get_mut(pending.link).and_then(|link| link.exchange.as_mut()) {
        stats.set_open(pending.open(false, None));
    }
}

/// The PPDU after it was damaged and may have been the response: it counts neither as answered nor as missing.
fn forget(pending: &Pending, links: &mut Links) {
    if let Some(stats) = links.get_mut(pending.link).and_then(|link| link.exchange.as_mut()) {
        if pending.kind == FrameKind::Rts {
            stats.rts = stats.rts.saturating_sub(1);
            return;
        }
        stats.ppdus = stats.ppdus.saturating_sub(1);
        stats.asking_for_ack = stats.asking_for_ack.saturating_sub(pending.asks_for_ack.into());
        let kind = stats.kind(pending.asks);
        kind.ppdus = kind.ppdus.saturating_sub(1);
        kind.nulls = kind.nulls.saturating_sub(pending.is_null.into());
        if let Some(rate) = stats.rate(pending.asks, pending.mode.key()) {
            rate.ppdus = rate.ppdus.saturating_sub(1);
            rate.asking_for_ack = rate.asking_for_ack.saturating_sub(pending.asks_for_ack.into());
            rate.first_attempts = rate.first_attempts.saturating_sub(pending.is_first_attempt.into());
        }
    }
}

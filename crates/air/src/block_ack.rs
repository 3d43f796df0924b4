//! Block Ack accounting: what each bitmap acknowledges for the first time, leaves out, repeats, or acknowledges
//! without the transmission having been captured.

use wire::ieee80211::{Bitmap, MacAddr, Seq};

use crate::frame::{AckedTid, Fcs};
use crate::histogram::{Exact, Scaled};
use crate::micros::us;
use crate::ppdu::Ppdu;
use crate::report;
use crate::table::{Table, Weight};

/// (originator, recipient, TID) flows kept.
const MAX_FLOWS: usize = 2_048;
/// Sequence numbers remembered per flow at first; bitmaps longer than 64 bits make it grow.
const SMALL_RING: usize = 256;
/// Enough for a 1024-bit window.
const LARGE_RING: usize = 1_024;
/// Positions counted one by one from the end of an A-MPDU.
const MAX_POSITION: usize = 64;
/// A-MPDUs this long have a tail worth speaking of.
const MIN_POSITIONED: u16 = 4;

/// What is known of one sequence number.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    sequence: u16,
    used: bool,
    /// Acknowledged by a Block Ack or an ACK.
    acked: bool,
    /// Times it was left out.
    omissions: u8,
    /// Sent again since it was last left out.
    resent: bool,
    /// Waits for the Block Ack of its PPDU.
    awaiting: bool,
    /// Position from the end of its PPDU, and the PPDU's size.
    from_end: u16,
    size: u16,
    /// End of its MPDU on the timeline.
    end_ns: i64,
    /// Time that the MPDU takes in its PPDU, ns.
    air_ns: i64,
    /// Acknowledged by the Block Ack of a PPDU that was captured whole and did not carry it.
    is_late: bool,
}

/// Calibrated stamps are whole microseconds at both ends.
const STAMP_NS: i64 = 2_000;

/// No MPDU that takes `air_ns` was sent in `room_ns` of a PPDU, not even at twice the rate.
fn has_no_room(room_ns: Option<i64>, air_ns: i64) -> bool {
    room_ns.is_some_and(|room_ns| room_ns + STAMP_NS < air_ns / 2)
}

/// Block Acks with omissions kept as examples per flow, and sequence numbers listed of each.
const MAX_EXAMPLES: usize = 5;
/// See [`MAX_EXAMPLES`].
const MAX_EXAMPLE_SEQUENCES: usize = 64;

/// When and where a Block Ack was captured.
#[derive(Clone, Copy, Debug)]
pub struct Occasion {
    /// Record number.
    pub number: u64,
    /// Start on the timeline.
    pub at_ns: i64,
    /// The start comes from a calibrated stamp.
    pub exact: bool,
    /// It follows the captured PPDU or request that it answers.
    pub answers: bool,
    /// Time of that PPDU in which no captured MPDU was sent, ns. See [`Answered::room_ns`](crate::exchange::Answered::room_ns).
    pub room_ns: Option<i64>,
}

/// Key of a flow.
pub type FlowKey = (u64, u64, u8);

/// Accounting of one (originator, recipient, TID).
#[derive(Debug)]
pub struct Flow {
    ring: Vec<Slot>,
    /// Sequence numbers sent since the last Block Ack.
    awaiting: Vec<u16>,
    block_acks: u64,
    requests: u64,
    bits: Vec<u16>,
    addba_requests: u64,
    addba_accepted: u64,
    addba_refused: u64,
    delba: u64,
    window: Option<u16>,
    amsdu_permitted: Option<bool>,
    transmissions: u64,
    mpdus: u64,
    retransmissions: u64,
    resent_although_acked: u64,
    outside_bitmap: u64,
    newly_acked: u64,
    acked_not_captured: u64,
    stale_bits: u64,
    left_out: u64,
    late: u64,
    acked_unseen: u64,
    resent_acked: u64,
    resent_lost: u64,
    abandoned: u64,
    answering: u64,
    of_whole: u64,
    omission_retransmissions: u64,
    in_tail: u64,
    positioned: u64,
    positioned_block_acks: u64,
    all_positioned: u64,
    all_in_tail: u64,
    without_data: u64,
    position: Exact,
    position_left_out: Exact,
    age_left_out: Scaled,
    age_acked: Scaled,
    examples: Vec<report::BlockAckExample>,
}

impl Weight for Flow {
    fn weight(&self) -> u64 {
        self.block_acks.saturating_mul(1 << 16).saturating_add(self.transmissions)
    }
}

impl Default for Flow {
    fn default() -> Self {
        Self {
            ring: Vec::new(),
            awaiting: Vec::new(),
            block_acks: 0,
            requests: 0,
            bits: Vec::new(),
            addba_requests: 0,
            addba_accepted: 0,
            addba_refused: 0,
            delba: 0,
            window: None,
            amsdu_permitted: None,
            transmissions: 0,
            mpdus: 0,
            retransmissions: 0,
            resent_although_acked: 0,
            outside_bitmap: 0,
            newly_acked: 0,
            acked_not_captured: 0,
            stale_bits: 0,
            left_out: 0,
            late: 0,
            acked_unseen: 0,
            resent_acked: 0,
            resent_lost: 0,
            abandoned: 0,
            answering: 0,
            of_whole: 0,
            omission_retransmissions: 0,
            in_tail: 0,
            positioned: 0,
            positioned_block_acks: 0,
            all_positioned: 0,
            all_in_tail: 0,
            without_data: 0,
            position: Exact::new(0, MAX_POSITION),
            position_left_out: Exact::new(0, MAX_POSITION),
            age_left_out: Scaled::default(),
            age_acked: Scaled::default(),
            examples: Vec::new(),
        }
    }
}

impl Flow {
    fn slot(&mut self, sequence: u16) -> &mut Slot {
        if self.ring.is_empty() {
            self.ring = vec![Slot::default(); SMALL_RING];
        }
        let index = usize::from(sequence) & (self.ring.len() - 1);
        #[expect(
            clippy::indexing_slicing,
            reason = "for every MPDU; the ring is a power of two long, and not empty here"
        )]
        &mut self.ring[index]
    }

    fn grow(&mut self) {
        if self.ring.len() >= LARGE_RING {
            return;
        }
        let old = std::mem::replace(&mut self.ring, vec![Slot::default(); LARGE_RING]);
        for slot in old.into_iter().filter(|slot| slot.used) {
            *self.slot(slot.sequence) = slot;
        }
    }

    /// Counts the omissions of a slot now that its fate is known.
    fn settle(&mut self, slot: Slot) {
        if !slot.used || slot.omissions == 0 {
            return;
        }
        let earlier = u64::from(slot.omissions) - 1;
        match (slot.acked, slot.resent) {
            (true, true) => self.resent_acked += earlier + 1,
            (true, false) => {
                self.resent_acked += earlier;
                self.late += u64::from(slot.is_late);
                self.acked_unseen += u64::from(!slot.is_late);
            }
            (false, true) => self.resent_lost += earlier + 1,
            (false, false) => {
                self.resent_lost += earlier;
                self.abandoned += 1;
            }
        }
    }

    fn transmit(&mut self, sequence: u16, retry: bool, place: Place, grouped: bool) {
        // The MPDUs of a PPDU have rising numbers: where PPDUs are not known, one that falls begins another.
        let falls = |last: &u16| sequence == *last || Seq::new(sequence).is_before(Seq::new(*last));
        if !grouped && self.awaiting.last().is_some_and(falls) {
            self.awaiting.clear();
        }
        self.transmissions += 1;
        self.retransmissions += u64::from(retry);
        let slot = *self.slot(sequence);
        // Without the retry bit a known number is a new MPDU, 4096 numbers later.
        let known = slot.used && slot.sequence == sequence && (retry || (!slot.acked && slot.awaiting));
        let mut next = if known {
            self.omission_retransmissions += u64::from(slot.omissions > 0);
            self.resent_although_acked += u64::from(slot.acked);
            slot
        } else {
            self.settle(slot);
            self.mpdus += 1;
            Slot { sequence, used: true, ..Slot::default() }
        };
        next.resent = known && (next.omissions > 0);
        next.from_end = place.from_end;
        next.size = place.size;
        next.end_ns = place.end_ns;
        next.air_ns = place.air_ns;
        next.awaiting = true;
        *self.slot(sequence) = next;
        if self.awaiting.len() < LARGE_RING {
            self.awaiting.push(sequence);
        }
    }

    /// An ACK for a single MPDU of this flow.
    fn acknowledged(&mut self, sequence: u16) {
        let slot = self.slot(sequence);
        if slot.used && slot.sequence == sequence {
            slot.acked = true;
            slot.awaiting = false;
            let done = *slot;
            slot.omissions = 0;
            self.settle(done);
        }
        self.awaiting.retain(|other| *other != sequence);
    }

    /// `grouped`: the MPDUs that wait for it are those of PPDUs.
    fn block_ack(&mut self, start: u16, bitmap: &Bitmap, by: Occasion, grouped: bool) {
        let Occasion { number, at_ns, exact, answers, room_ns } = by;
        let first = self.block_acks == 0;
        self.block_acks += 1;
        let len = bitmap.len.min(1024);
        if len as usize > 64 {
            self.grow();
        }
        if !self.bits.contains(&len) && self.bits.len() < 8 {
            self.bits.push(len);
            self.bits.sort_unstable();
        }
        self.answering += u64::from(answers);
        let is_whole = has_no_room(room_ns, self.mean_air_ns()) && !self.acknowledges_uncaptured(start, bitmap, len);
        self.of_whole += u64::from(is_whole);
        let mut captured = false;
        for bit in (0..len).filter(|bit| bitmap.get(*bit)) {
            let sequence = Seq::new(start).add(bit).value();
            let slot = *self.slot(sequence);
            if slot.used && slot.sequence == sequence {
                if slot.acked {
                    self.stale_bits += 1;
                } else {
                    self.newly_acked += 1;
                    captured = true;
                    let is_late = is_whole && !slot.awaiting && has_no_room(room_ns, slot.air_ns);
                    let done = Slot { acked: true, is_late, ..slot };
                    self.settle(done);
                    *self.slot(sequence) = Slot { omissions: 0, ..done };
                }
            } else {
                self.settle(slot);
                *self.slot(sequence) = Slot { sequence, used: true, acked: true, ..Slot::default() };
                if first {
                    // The first bitmap covers what was sent before the capture began.
                    self.stale_bits += 1;
                } else {
                    self.acked_not_captured += 1;
                }
            }
        }
        let awaiting = std::mem::take(&mut self.awaiting);
        let at = Reading { at_ns, exact, is_whole };
        let had_data = !awaiting.is_empty();
        let wants_example = self.examples.len() < MAX_EXAMPLES;
        // An A-MPDU that is left out whole has a quarter of its omissions in the last quarter whatever the cause.
        let bit_of =
            |sequence: u16| Some(Seq::new(sequence).distance_from(Seq::new(start))).filter(|offset| *offset < len);
        let is_answered = awaiting.iter().any(|sequence| bit_of(*sequence).is_some_and(|bit| bitmap.get(bit)));
        let positioned = self.positioned;
        let mut omitted: Vec<u16> = Vec::new();
        // One that acknowledges something, but none of what was captured last, answers something else, unless that is known to be one PPDU.
        let is_empty = !(0..len).any(|bit| bitmap.get(bit));
        let is_for_these = grouped || is_answered || is_empty;
        for sequence in awaiting.iter().filter(|_| is_for_these) {
            let slot = *self.slot(*sequence);
            if !slot.used || slot.sequence != *sequence || !slot.awaiting {
                continue;
            }
            let bit = bit_of(*sequence);
            let in_bitmap = bit.is_some();
            let acked = bit.is_some_and(|bit| bitmap.get(bit));
            if in_bitmap {
                self.judge(slot, acked, is_answered, at);
            } else {
                self.outside_bitmap += 1;
            }
            let slot = self.slot(*sequence);
            slot.awaiting = false;
            if in_bitmap && !acked && !slot.acked {
                slot.omissions = slot.omissions.saturating_add(1);
                slot.resent = false;
                self.left_out += 1;
                if wants_example && omitted.len() < MAX_EXAMPLE_SEQUENCES {
                    omitted.push(*sequence);
                }
            }
        }
        self.positioned_block_acks += u64::from(self.positioned > positioned);
        if !omitted.is_empty() {
            self.examples.push(report::BlockAckExample {
                frame: number,
                at_us: us(at_ns),
                start_sequence: start,
                answered: awaiting.len() as u32,
                left_out: omitted,
            });
        }
        let mut awaiting = awaiting;
        awaiting.clear();
        self.awaiting = awaiting;
        if !had_data && !captured {
            self.without_data += 1;
        }
    }

    /// Does a Block Ack acknowledge an MPDU for the first time that was not captured? Then it answers a PPDU that was not captured, or
    /// not whole.
    fn acknowledges_uncaptured(&self, start: u16, bitmap: &Bitmap, len: u16) -> bool {
        let acked = (0..len).filter(|bit| bitmap.get(*bit)).map(|bit| Seq::new(start).add(bit).value());
        acked.into_iter().any(|sequence| self.known(sequence).is_none())
    }

    /// Mean time of the MPDUs that wait for a Block Ack, ns; 0 without any.
    fn mean_air_ns(&self) -> i64 {
        let (sum, count) = self
            .awaiting
            .iter()
            .filter_map(|sequence| self.known(*sequence))
            .fold((0, 0), |(sum, count), slot| (sum + slot.air_ns, count + 1));
        sum / count.max(1)
    }

    /// What is known of a sequence number.
    fn known(&self, sequence: u16) -> Option<&Slot> {
        let slot = self.ring.get(usize::from(sequence) & self.ring.len().checked_sub(1)?)?;
        (slot.used && slot.sequence == sequence).then_some(slot)
    }

    /// Position and age of an MPDU that was just answered for; `is_answered`: some MPDU with it was acknowledged.
    fn judge(&mut self, slot: Slot, acked: bool, is_answered: bool, by: Reading) {
        let Reading { at_ns, exact, is_whole } = by;
        if slot.size >= MIN_POSITIONED && is_answered && is_whole {
            let in_tail = u64::from(slot.from_end < slot.size.div_ceil(4));
            self.position.add(i32::from(slot.from_end));
            self.all_positioned += 1;
            self.all_in_tail += in_tail;
            if !acked {
                self.position_left_out.add(i32::from(slot.from_end));
                self.positioned += 1;
                self.in_tail += in_tail;
            }
        }
        if exact {
            let age = (at_ns - slot.end_ns).max(0) as u64;
            if acked {
                self.age_acked.add(age);
            } else {
                self.age_left_out.add(age);
            }
        }
    }
}

/// Where in its PPDU an MPDU was sent.
#[derive(Clone, Copy, Debug)]
struct Place {
    from_end: u16,
    size: u16,
    end_ns: i64,
    air_ns: i64,
}

/// When a Block Ack was sent, and whether all MPDUs of the PPDU that it answers were captured.
#[derive(Clone, Copy, Debug)]
struct Reading {
    at_ns: i64,
    exact: bool,
    is_whole: bool,
}

/// All flows.
#[derive(Debug)]
pub struct Flows {
    table: Table<FlowKey, Flow>,
    /// MPDUs could be grouped to PPDUs.
    grouped: bool,
}

impl Flows {
    /// An empty table. `grouped`: MPDUs can be grouped to PPDUs.
    pub fn new(grouped: bool) -> Self {
        Self { table: Table::new(MAX_FLOWS), grouped }
    }

    fn flow(&mut self, originator: MacAddr, recipient: MacAddr, tid: u8) -> &mut Flow {
        let row = self.table.row((originator.as_u64(), recipient.as_u64(), tid), Flow::default);
        #[expect(clippy::expect_used, reason = "row() has just given the number of a row that is there")]
        self.table.get_mut(row).expect("the row was just made")
    }

    /// A PPDU with QoS data to one receiver.
    pub fn data(&mut self, ppdu: &Ppdu) {
        let Some(ta) = ppdu.ta else { return };
        let size = ppdu.mpdus.len() as u16;
        let psdu_ns = ppdu.air_ns().map_or(0, |duration| (duration - ppdu.preamble_ns).max(0));
        let start_ns = ppdu.whole.map_or(ppdu.start_ns, |whole| whole.start_ns);
        let mut passed = 0u64;
        for (index, mpdu) in ppdu.mpdus.iter().enumerate() {
            passed += u64::from(ppdu.psdu_share(index));
            let (Some(sequence), Some(tid)) = (mpdu.sequence, mpdu.tid) else { continue };
            if mpdu.fcs == Fcs::Bad || !mpdu.fc.carries_data() {
                continue;
            }
            let part = if ppdu.psdu_len > 0 { passed as f64 / f64::from(ppdu.psdu_len) } else { 1.0 };
            let end_ns = start_ns + ppdu.preamble_ns + (psdu_ns as f64 * part.min(1.0)) as i64;
            let retry = mpdu.fc.retry();
            let own = f64::from(ppdu.psdu_share(index)) / f64::from(ppdu.psdu_len.max(1));
            let air_ns = (psdu_ns as f64 * own.min(1.0)) as i64;
            let place = Place { from_end: size - 1 - index as u16, size, end_ns, air_ns };
            let grouped = self.grouped;
            self.flow(ta, ppdu.ra, tid).transmit(sequence, retry, place, grouped);
        }
    }

    /// A normal ACK to a single QoS MPDU.
    pub fn ack(&mut self, originator: MacAddr, recipient: MacAddr, tid: u8, sequence: u16) {
        self.flow(originator, recipient, tid).acknowledged(sequence);
    }

    /// A Block Ack record for one TID.
    pub fn block_ack(&mut self, originator: MacAddr, recipient: MacAddr, acked: &AckedTid, by: Occasion) {
        let grouped = self.grouped;
        self.flow(originator, recipient, acked.tid).block_ack(acked.start, &acked.bitmap, by, grouped);
    }

    /// A Block Ack request.
    pub fn request(&mut self, originator: MacAddr, recipient: MacAddr, tid: u8) {
        self.flow(originator, recipient, tid).requests += 1;
    }

    /// An ADDBA request from the originator.
    pub fn addba_request(&mut self, originator: MacAddr, recipient: MacAddr, tid: u8, buffer: u16, amsdu: bool) {
        let flow = self.flow(originator, recipient, tid);
        flow.addba_requests += 1;
        if flow.addba_accepted == 0 {
            flow.window = Some(buffer);
            flow.amsdu_permitted = Some(amsdu);
        }
    }

    /// An agreement made before the window that is counted.
    pub fn agreed_before(&mut self, originator: MacAddr, recipient: MacAddr, tid: u8, buffer: u16, amsdu: bool) {
        let flow = self.flow(originator, recipient, tid);
        flow.window = Some(buffer);
        flow.amsdu_permitted = Some(amsdu);
    }

    /// An ADDBA response from the recipient.
    pub fn addba_response(
        &mut self,
        originator: MacAddr,
        recipient: MacAddr,
        tid: u8,
        accepted: bool,
        buffer: u16,
        amsdu: bool,
    ) {
        let flow = self.flow(originator, recipient, tid);
        if accepted {
            flow.addba_accepted += 1;
            flow.window = Some(buffer);
            flow.amsdu_permitted = Some(amsdu);
        } else {
            flow.addba_refused += 1;
        }
    }

    /// A DELBA from either side.
    pub fn delba(&mut self, originator: MacAddr, recipient: MacAddr, tid: u8) {
        self.flow(originator, recipient, tid).delba += 1;
    }

    /// Rows with any Block Ack activity, busiest first.
    pub fn report(&self) -> Vec<report::BlockAckFlow> {
        let mut rows: Vec<report::BlockAckFlow> = self
            .table
            .iter()
            .filter(|(_, flow)| {
                let agreements = flow.addba_requests + flow.addba_accepted + flow.addba_refused + flow.delba;
                flow.block_acks + flow.requests + agreements > 0
            })
            .map(|((originator, recipient, tid), flow)| flow.report(*originator, *recipient, *tid))
            .collect();
        rows.sort_by(|a, b| {
            (b.block_acks, b.transmissions)
                .cmp(&(a.block_acks, a.transmissions))
                .then_with(|| (&a.originator, &a.recipient, a.tid).cmp(&(&b.originator, &b.recipient, b.tid)))
        });
        rows
    }
}

impl Flow {
    fn report(&self, originator: u64, recipient: u64, tid: u8) -> report::BlockAckFlow {
        let (mut resent_lost, mut abandoned) = (self.resent_lost, self.abandoned);
        for slot in self.ring.iter().filter(|slot| slot.used && !slot.acked && slot.omissions > 0) {
            let earlier = u64::from(slot.omissions) - 1;
            resent_lost += earlier + u64::from(slot.resent);
            abandoned += u64::from(!slot.resent);
        }
        let left_out: Vec<(i32, u32)> = self.position_left_out.iter().collect();
        report::BlockAckFlow {
            originator: MacAddr::from_u64(originator).to_string(),
            recipient: MacAddr::from_u64(recipient).to_string(),
            tid,
            block_acks: self.block_acks,
            requests: self.requests,
            bitmap_bits: self.bits.clone(),
            addba_requests: self.addba_requests,
            addba_accepted: self.addba_accepted,
            addba_refused: self.addba_refused,
            delba: self.delba,
            window: self.window,
            amsdu_permitted: self.amsdu_permitted,
            transmissions: self.transmissions,
            mpdus: self.mpdus,
            retransmissions: self.retransmissions,
            resent_although_acked: self.resent_although_acked,
            newly_acked: self.newly_acked,
            acked_not_captured: self.acked_not_captured,
            stale_bits: self.stale_bits,
            left_out: self.left_out,
            outside_bitmap: self.outside_bitmap,
            left_out_late: self.late,
            left_out_acked_unseen: Some(self.acked_unseen),
            left_out_resent_acked: self.resent_acked,
            left_out_resent_lost: resent_lost,
            left_out_abandoned: abandoned,
            left_out_retransmissions: self.omission_retransmissions,
            left_out_in_tail: self.in_tail,
            left_out_positioned: self.positioned,
            left_out_positioned_block_acks: Some(self.positioned_block_acks),
            positioned: self.all_positioned,
            positioned_in_tail: self.all_in_tail,
            by_position_from_end: self
                .position
                .iter()
                .map(|(from_end, mpdus)| report::PositionRow {
                    from_end: from_end as u32,
                    mpdus: u64::from(mpdus),
                    left_out: left_out.iter().find(|(p, _)| *p == from_end).map_or(0, |(_, n)| u64::from(*n)),
                })
                .collect(),
            age_left_out_us: self.age_left_out.spread(1000.0),
            age_acked_us: self.age_acked.spread(1000.0),
            examples: self.examples.clone(),
            without_data: self.without_data,
            block_acks_answering: Some(self.answering),
            block_acks_of_whole: Some(self.of_whole),
        }
    }
}

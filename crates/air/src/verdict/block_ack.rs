//! "Not received, or just too slow to acknowledge?", asked of Block Acks.

use super::{beside_retries, percent, RetriesOf};
use crate::report::{AckVerdict, BlockAckFlow};
use sentence::{one_or, sentence, Figure, Sentence};

/// Left-out MPDUs below which nothing is said.
const MIN_LEFT_OUT: u64 = 20;
/// Left-out MPDUs (% of those answered for) below which Block Acks are called complete.
const COMPLETE_PERCENT: f64 = 2.0;
/// Block Acks below which the position of what they leave out says nothing: omissions of one A-MPDU are one event.
const MIN_TAIL_BLOCK_ACKS: u64 = 10;
/// Share of omissions that were later acknowledged without a retransmission from which "late" is proven.
const LATE_SHARE: f64 = 0.2;
/// Below this share of uncaptured data a late acknowledgement is certain.
const CERTAIN_LOSS: f64 = 0.02;
/// z-score from which the tail of the A-MPDUs is left out too often to be chance (two-sided p < 1e-4).
const TAIL_Z: f64 = 4.0;

/// ACK #1: one verdict per (originator, recipient), over its TIDs.
/// `misses_frames`: the capture shows that frames are missing from it.
pub fn block_ack(flows: &[BlockAckFlow], retries: &RetriesOf, misses_frames: bool) -> Vec<AckVerdict> {
    let mut verdicts: Vec<AckVerdict> = Vec::new();
    for flow in flows.iter().filter(|flow| flow.block_acks > 0) {
        if verdicts.iter().any(|v| v.originator == flow.originator && v.recipient == flow.recipient) {
            continue;
        }
        let same: Vec<&BlockAckFlow> = flows
            .iter()
            .filter(|other| other.originator == flow.originator && other.recipient == flow.recipient)
            .collect();
        // A few Block Acks without their data do not matter.
        let sum = |get: fn(&BlockAckFlow) -> u64| same.iter().map(|flow| get(flow)).sum::<u64>();
        if sum(|f| f.newly_acked) + sum(|f| f.left_out) > 0 || sum(|f| f.block_acks) >= MIN_LEFT_OUT {
            verdicts.push(judge(flow, &same, retries, misses_frames));
        }
    }
    verdicts
}

/// The verdict on the flows of one originator and recipient; `link` is any of them.
fn judge(link: &BlockAckFlow, flows: &[&BlockAckFlow], retries: &RetriesOf, misses_frames: bool) -> AckVerdict {
    let sum = |get: fn(&BlockAckFlow) -> u64| flows.iter().map(|flow| get(flow)).sum::<u64>();
    let (acks, newly, left_out) = (sum(|f| f.block_acks), sum(|f| f.newly_acked), sum(|f| f.left_out));
    let (late, resent, lost, abandoned) = (
        sum(|f| f.left_out_late),
        sum(|f| f.left_out_resent_acked),
        sum(|f| f.left_out_resent_lost),
        sum(|f| f.left_out_abandoned),
    );
    let not_captured = sum(|f| f.acked_not_captured);
    let (in_tail, positioned) = (sum(|f| f.left_out_in_tail), sum(|f| f.left_out_positioned));
    let answered = newly + left_out;
    let mut evidence = Vec::new();
    if answered > 0 {
        evidence.push(sentence!(
            "{block_acks}: {newly_acked} acknowledged for the first time, {left_out} of those they \
         answer left out ({share})",
            block_acks = Figure::all(acks, "Block Ack"),
            newly_acked = Figure::counted(newly, answered, "MPDU"),
            left_out = Figure::count(left_out, answered),
            share = Figure::percent(left_out, answered, 1)
        ));
    }
    if not_captured > 0 {
        evidence.push(sentence!(
            "{acked_not_captured} {were} acknowledged whose transmission was not captured undamaged ({share} of all acknowledged)",
            acked_not_captured = Figure::counted(not_captured, newly + not_captured, "MPDU"),
            share = Figure::percent(not_captured, newly + not_captured, 1);
            were = one_or(not_captured, "was", "were")
        ));
    }
    if left_out > 0 {
        evidence.push(sentence!(
            "of the {left_out} left out: {late} acknowledged later without having been sent again, {resent} acknowledged \
             after a retransmission, {lost} sent again and not acknowledged in this capture, {abandoned} not sent again in it",
            left_out = Figure::total(left_out),
            late = Figure::count(late, left_out),
            resent = Figure::count(resent, left_out),
            lost = Figure::count(lost, left_out),
            abandoned = Figure::count(abandoned, left_out)
        ));
    }
    let again = sum(|f| f.resent_although_acked);
    if again > 0 {
        let all = sum(|f| f.retransmissions);
        evidence.push(sentence!(
            "{again} of {retransmissions} retransmissions {repeat} an MPDU that had been acknowledged: the sender missed or \
             ignored the acknowledgement",
            again = Figure::count(again, all),
            retransmissions = Figure::total(all);
            repeat = one_or(again, "repeats", "repeat")
        ));
    }
    let proven = Proof::new(late, resent + lost, newly, not_captured);
    let events = sum(|f| f.left_out_positioned_block_acks.unwrap_or(0));
    let tail = tail_test(flows, in_tail, positioned).filter(|_| events >= MIN_TAIL_BLOCK_ACKS);
    if let Some(tail) = &tail {
        evidence.push(sentence!(
            "{in_tail} of {positioned} left out by {events} that acknowledge others of the same A-MPDU were in its last \
             quarter ({share}), where {expected} would be expected by chance (z = {z})",
            events = Figure::all(events, "Block Ack"),
            in_tail = Figure::count(in_tail, positioned),
            positioned = Figure::total(positioned),
            share = Figure::percent(in_tail, positioned, 0),
            expected = Figure::share(tail.expected, tail.all, 0),
            z = Figure::of(tail.z, "standard deviations", positioned, 1)
        ));
    }
    let ages = flows.iter().find_map(|f| Some((f.age_left_out_us?, f.age_acked_us?)));
    if let Some((out, acked)) = ages {
        evidence.push(sentence!(
            "age when the Block Ack began: median {left_out} µs for MPDUs left out (n={n_left_out}), {acked} µs for MPDUs \
             acknowledged (n={n_acked})",
            left_out = Figure::of(out.median, "µs", out.n, 0),
            n_left_out = Figure::total(out.n),
            acked = Figure::of(acked.median, "µs", acked.n, 0),
            n_acked = Figure::total(acked.n)
        ));
    }
    let unheard = |because: Sentence| ("not-determined", because);
    let (answer, sentence) = if answered == 0 {
        unheard(if not_captured == 0 {
            sentence!(
                "cannot be determined from this capture, because its {block_acks} acknowledge no MPDU, and no undamaged data of this \
                 direction was captured",
                block_acks = Figure::all(acks, "Block Ack")
            )
        } else {
            sentence!(
                "cannot be determined from this capture, because none of the data that the {block_acks} {answer} was captured undamaged",
                block_acks = Figure::all(acks, "Block Ack");
                answer = one_or(acks, "answers", "answer")
            )
        })
    } else if answered < MIN_LEFT_OUT {
        unheard(sentence!(
            "cannot be determined from this capture, because data and its Block Ack were both captured of {answered} (at \
             least {MIN_LEFT_OUT} are needed)",
            answered = Figure::only_counted(answered, answered, "MPDU")
        ))
    } else if not_captured > newly {
        unheard(sentence!(
            "cannot be determined from this capture, because it misses most of the data: {acked_not_captured} \
             {were} \
             acknowledged whose transmission was not captured undamaged, against {newly_acked} that were",
            acked_not_captured = Figure::counted(not_captured, newly + not_captured, "MPDU"),
            newly_acked = Figure::count(newly, newly + not_captured);
            were = one_or(not_captured, "was", "were")
        ))
    } else if percent(left_out, answered) < COMPLETE_PERCENT && misses_frames {
        unheard(sentence!(
            "cannot be determined from this capture, because it misses frames: the {block_acks} captured leave {left_out} of {answered} \
             MPDUs out ({share}), and what others left out is not known",
            block_acks = Figure::all(acks, "Block Ack"),
            left_out = Figure::count(left_out, answered),
            answered = Figure::total(answered),
            share = Figure::percent(left_out, answered, 1)
        ))
    } else if percent(left_out, answered) < COMPLETE_PERCENT {
        let complete = sentence!(
            "Block Acks are {whole}: {left_out} of {answered} MPDUs {were} left out ({share})",
            left_out = Figure::count(left_out, answered),
            answered = Figure::total(answered),
            share = Figure::percent(left_out, answered, 1);
            whole = match (left_out, not_captured > 0 || retries.lack_attempts(&link.originator, &link.recipient)) {
                (0, false) => "complete",
                (0, true) => "complete as far as captured",
                (_, false) => "in order",
                (_, true) => "in order as far as captured",
            },
            were = one_or(left_out, "was", "were")
        );
        ("in-order", beside_retries(complete, retries, &link.originator, &link.recipient))
    } else if left_out < MIN_LEFT_OUT {
        unheard(sentence!(
            "cannot be determined from this capture, because {left_out} {were} left out (at least {MIN_LEFT_OUT} are needed)",
            left_out = Figure::only_counted(left_out, answered, "MPDU");
            were = one_or(left_out, "was", "were")
        ))
    } else if proven.is_proof(late, left_out) {
        let said = sentence!(
            "too slow to acknowledge: {late} of {left_out} left-out MPDUs ({share}) were acknowledged later",
            late = Figure::count(late, left_out),
            left_out = Figure::total(left_out),
            share = Figure::percent(late, left_out, 0)
        );
        let how = if proven.loss < CERTAIN_LOSS {
            sentence!(
                "without having been sent again, so they had been received (the capture misses {missed} of the data)",
                missed = Figure::share(proven.loss, newly + not_captured, 1)
            )
        } else {
            sentence!(
                "without a captured retransmission; the capture misses {missed} of the data, which accounts for about {chance} \
                 of them",
                missed = Figure::share(proven.loss, newly + not_captured, 0),
                chance = Figure::of(proven.expected, "count", left_out, 0)
            )
        };
        ("late", said.and(" ", how))
    } else if let Some(tail) = tail.as_ref().filter(|tail| tail.z >= TAIL_Z && tail.ratio() >= 2.0) {
        (
            "probably-late",
            sentence!(
                "most likely too slow to acknowledge: the MPDUs left out are the most recently sent ones ({share} of {positioned} \
                 in the last quarter of their A-MPDU, {expected} expected by chance). Losses spread evenly would not prefer them; \
                 a channel that changes within a long A-MPDU would, but starts earlier than the last quarter",
                share = Figure::percent(in_tail, positioned, 0),
                positioned = Figure::total(positioned),
                expected = Figure::share(tail.expected, tail.all, 0)
            ),
        )
    } else if late as f64 >= LATE_SHARE * left_out as f64 {
        unheard(sentence!(
            "cannot be determined from this capture, because {missed} of the data was not captured undamaged: {late} of {left_out} left-out \
             MPDUs seem to have been acknowledged without a retransmission, about {chance} of them only because it was missed",
            missed = Figure::share(proven.loss, newly + not_captured, 0),
            late = Figure::count(late, left_out),
            left_out = Figure::total(left_out),
            chance = Figure::of(proven.expected, "count", left_out, 0)
        ))
    } else if let Some(tail) = tail.as_ref().filter(|tail| tail.z >= TAIL_Z) {
        (
            "mixed",
            sentence!(
                "both: the end of the A-MPDUs is left out more often than chance allows ({share} of {positioned}, z = {z}), but \
                 most omissions are elsewhere and behave like losses",
                share = Figure::percent(in_tail, positioned, 0),
                positioned = Figure::total(positioned),
                z = Figure::of(tail.z, "standard deviations", positioned, 1)
            ),
        )
    } else if let Some(tail) = tail.as_ref().filter(|_| positioned * 2 >= left_out) {
        (
            "not-received",
            sentence!(
                "not received: the omissions do not prefer the most recently sent MPDUs ({share} of the {positioned} whose place says \
                 something in the last quarter of their A-MPDU, {expected} expected by chance), and {late} of {left_out} turned out to have arrived",
                share = Figure::percent(in_tail, positioned, 0),
                positioned = Figure::total(positioned),
                expected = Figure::share(tail.expected, tail.all, 0),
                late = Figure::only(late, left_out),
                left_out = Figure::total(left_out)
            ),
        )
    } else {
        unheard(sentence!(
            "cannot be determined from this capture, because {positioned} of the {left_out} left out were in A-MPDUs of 4 and more \
             MPDUs that were acknowledged in part, by {events} (at least {MIN_LEFT_OUT} by {MIN_TAIL_BLOCK_ACKS} and half of \
             them are needed); of all left out {again} {were} sent again",
            events = Figure::all(events, "Block Ack"),
            positioned = Figure::only(positioned, left_out),
            left_out = Figure::all(left_out, "MPDU"),
            again = Figure::count(resent + lost, left_out);
            were = one_or(resent + lost, "was", "were")
        ))
    };
    AckVerdict {
        originator: link.originator.clone(),
        recipient: link.recipient.clone(),
        question: "block-ack".to_owned(),
        answer: answer.to_owned(),
        sentence,
        evidence,
    }
}

/// How many omissions look late only because the sniffer missed the retransmission.
struct Proof {
    /// Share of the acknowledged MPDUs whose transmission was not captured undamaged.
    loss: f64,
    /// Omissions that this loss makes look late.
    expected: f64,
    deviation: f64,
}

impl Proof {
    fn new(late: u64, resent: u64, newly: u64, not_captured: u64) -> Self {
        let loss = not_captured as f64 / (newly + not_captured).max(1) as f64;
        let chances = (late + resent) as f64;
        Self { loss, expected: loss * chances, deviation: (loss * (1.0 - loss) * chances).sqrt() }
    }

    /// Enough omissions are late, clearly more than the loss explains.
    fn is_proof(&self, late: u64, left_out: u64) -> bool {
        let (late, left_out) = (late as f64, left_out as f64);
        late >= LATE_SHARE * left_out
            && late - self.expected >= 4.0 * self.deviation
            && late - self.expected >= 0.1 * left_out
    }
}

struct Tail {
    /// MPDUs whose position is known, left out or not.
    all: u64,
    expected: f64,
    observed: f64,
    z: f64,
}

impl Tail {
    fn ratio(&self) -> f64 {
        if self.expected > 0.0 {
            self.observed / self.expected
        } else {
            f64::INFINITY
        }
    }
}

/// Are omissions concentrated in the last quarter of the A-MPDUs? One-sample test of a proportion against the share
/// of all MPDUs that ride in a last quarter.
fn tail_test(flows: &[&BlockAckFlow], in_tail: u64, positioned: u64) -> Option<Tail> {
    let (all, all_tail) =
        flows.iter().fold((0u64, 0u64), |(all, tail), flow| (all + flow.positioned, tail + flow.positioned_in_tail));
    if positioned < MIN_LEFT_OUT || all == 0 {
        return None;
    }
    let expected = all_tail as f64 / all as f64;
    let observed = in_tail as f64 / positioned as f64;
    let deviation = (expected * (1.0 - expected) / positioned as f64).sqrt().max(1e-9);
    Some(Tail { all, expected, observed, z: (observed - expected) / deviation })
}

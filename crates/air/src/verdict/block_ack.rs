//! "Not received, or just too slow to acknowledge?", asked of Block Acks.

use super::{beside_retries, many_retries, percent, Answer, RetriesOf};
use crate::report::{AckVerdict, BlockAckFlow};
use sentence::{one_or, sentence, Figure, Sentence};

/// Fewest Block Ack holes for a sentence.
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
        let of_pair = |other: &&BlockAckFlow| other.originator == flow.originator && other.recipient == flow.recipient;
        let sums = Sums::of(flows.iter().filter(of_pair));
        // A few Block Acks without their data do not matter.
        if sums.answered() > 0 || sums.block_acks >= MIN_LEFT_OUT {
            let pair = Pair { originator: &flow.originator, recipient: &flow.recipient, sums, retries, misses_frames };
            verdicts.push(pair.judge());
        }
    }
    verdicts
}

/// The figures of all TIDs of one originator and recipient.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    block_acks: u64,
    /// Those that follow a captured PPDU or request that they answer.
    answering: u64,
    newly: u64,
    not_captured: u64,
    left_out: u64,
    late: u64,
    acked_unseen: u64,
    resent: u64,
    lost: u64,
    abandoned: u64,
    in_tail: u64,
    positioned: u64,
    /// Block Acks that `positioned` is of.
    events: u64,
    all_positioned: u64,
    all_in_tail: u64,
    again: u64,
    retransmissions: u64,
    ages: Option<(crate::report::Spread, crate::report::Spread)>,
}

impl Sums {
    fn of<'a>(flows: impl Iterator<Item = &'a BlockAckFlow>) -> Self {
        flows.fold(Self::default(), |sums, flow| Self {
            block_acks: sums.block_acks + flow.block_acks,
            answering: sums.answering + flow.block_acks_answering.unwrap_or(0),
            newly: sums.newly + flow.newly_acked,
            not_captured: sums.not_captured + flow.acked_not_captured,
            left_out: sums.left_out + flow.left_out,
            late: sums.late + flow.left_out_late,
            acked_unseen: sums.acked_unseen + flow.left_out_acked_unseen.unwrap_or(0),
            resent: sums.resent + flow.left_out_resent_acked,
            lost: sums.lost + flow.left_out_resent_lost,
            abandoned: sums.abandoned + flow.left_out_abandoned,
            in_tail: sums.in_tail + flow.left_out_in_tail,
            positioned: sums.positioned + flow.left_out_positioned,
            events: sums.events + flow.left_out_positioned_block_acks.unwrap_or(0),
            all_positioned: sums.all_positioned + flow.positioned,
            all_in_tail: sums.all_in_tail + flow.positioned_in_tail,
            again: sums.again + flow.resent_although_acked,
            retransmissions: sums.retransmissions + flow.retransmissions,
            ages: sums.ages.or_else(|| flow.age_left_out_us.zip(flow.age_acked_us)),
        })
    }

    /// MPDUs with data and Block Ack both captured.
    fn answered(&self) -> u64 {
        self.newly + self.left_out
    }

    /// Share of the acknowledged MPDUs, or of the Block Acks, without a captured transmission: whichever is more.
    fn loss(&self) -> f64 {
        let of_mpdus = self.not_captured as f64 / (self.newly + self.not_captured).max(1) as f64;
        let unsolicited = self.block_acks - self.answering.min(self.block_acks);
        of_mpdus.max(unsolicited as f64 / self.block_acks.max(1) as f64)
    }

    /// Are omissions concentrated in the last quarter of the A-MPDUs? One-sample test of a proportion against the share
    /// of all MPDUs that ride in a last quarter. Only of PPDUs with all MPDUs captured.
    fn tail(&self) -> Option<Tail> {
        if self.positioned < MIN_LEFT_OUT || self.all_positioned == 0 || self.events < MIN_TAIL_BLOCK_ACKS {
            return None;
        }
        let expected = self.all_in_tail as f64 / self.all_positioned as f64;
        let observed = self.in_tail as f64 / self.positioned as f64;
        let deviation = (expected * (1.0 - expected) / self.positioned as f64).sqrt().max(1e-9);
        Some(Tail { all: self.all_positioned, expected, observed, z: (observed - expected) / deviation })
    }
}

/// How the last quarter of the A-MPDUs fares.
struct Tail {
    /// MPDUs with a known position, Block Ack holes or not.
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

    fn is_preferred(&self) -> bool {
        self.z >= TAIL_Z
    }
}

/// How many omissions look late only because the sniffer missed the retransmission.
struct Proof {
    loss: f64,
    /// Omissions that this loss makes look late.
    expected: f64,
    deviation: f64,
}

impl Proof {
    fn new(sums: &Sums) -> Self {
        let loss = sums.loss();
        let chances = (sums.late + sums.resent + sums.lost) as f64;
        Self { loss, expected: loss * chances, deviation: (loss * (1.0 - loss) * chances).sqrt() }
    }

    /// Enough omissions are late, clearly more than the loss explains.
    fn is_proof(&self, sums: &Sums) -> bool {
        let (late, left_out) = (sums.late as f64, sums.left_out as f64);
        late >= LATE_SHARE * left_out
            && late - self.expected >= 4.0 * self.deviation
            && late - self.expected >= 0.1 * left_out
    }
}

/// An originator and a recipient, and what is known of them.
struct Pair<'a> {
    originator: &'a str,
    recipient: &'a str,
    sums: Sums,
    retries: &'a RetriesOf,
    misses_frames: bool,
}

impl Pair<'_> {
    fn judge(&self) -> AckVerdict {
        let tail = self.sums.tail();
        let Answer { answer, reason, because, sentence } = self
            .lacks_data()
            .or_else(|| self.complete())
            .or_else(|| self.late())
            .or_else(|| tail.as_ref().and_then(|tail| self.prefers_tail(tail)))
            .or_else(|| self.seems_late())
            .or_else(|| tail.as_ref().and_then(|tail| self.losses(tail)))
            .unwrap_or_else(|| self.without_positions());
        AckVerdict {
            originator: self.originator.to_owned(),
            recipient: self.recipient.to_owned(),
            question: "block-ack".to_owned(),
            answer: answer.to_owned(),
            reason: reason.map(str::to_owned),
            because,
            sentence,
            evidence: self.evidence(tail.as_ref()),
        }
    }

    /// Too little of the data, or too few omissions, to say anything.
    fn lacks_data(&self) -> Option<Answer> {
        let Sums { block_acks, newly, not_captured, left_out, .. } = self.sums;
        let answered = self.sums.answered();
        if answered == 0 && not_captured == 0 {
            return Some(Answer::open(
                "no-data",
                sentence!(
                    "its {block_acks} acknowledge no MPDU, and no undamaged data of this direction was captured",
                    block_acks = Figure::all(block_acks, "Block Ack")
                ),
            ));
        }
        if answered == 0 {
            return Some(Answer::open(
                "no-data",
                sentence!(
                    "none of the data that the {block_acks} {answer} was captured undamaged",
                    block_acks = Figure::all(block_acks, "Block Ack");
                    answer = one_or(block_acks, "answers", "answer")
                ),
            ));
        }
        if answered < MIN_LEFT_OUT {
            return Some(Answer::open(
                "too-few",
                sentence!(
                    "data and its Block Ack were both captured of {answered} (needed: {MIN_LEFT_OUT})",
                    answered = Figure::only_counted(answered, answered, "MPDU")
                ),
            ));
        }
        if not_captured > newly {
            return Some(Answer::open(
                "data-missing",
                sentence!(
                    "it misses most of the data: {acked_not_captured} {were} acknowledged and not captured undamaged, against \
                     {newly_acked} that were",
                    acked_not_captured = Figure::counted(not_captured, newly + not_captured, "MPDU"),
                    newly_acked = Figure::count(newly, newly + not_captured);
                    were = one_or(not_captured, "was", "were")
                ),
            ));
        }
        let few = left_out < MIN_LEFT_OUT && percent(left_out, answered) >= COMPLETE_PERCENT;
        few.then(|| {
            Answer::open(
                "too-few",
                sentence!(
                    "the capture has {left_out} (needed: {MIN_LEFT_OUT})",
                    left_out = Figure::only_counted(left_out, answered, "Block Ack hole")
                ),
            )
        })
    }

    /// Next to nothing is left out.
    fn complete(&self) -> Option<Answer> {
        let Sums { block_acks, not_captured, left_out, .. } = self.sums;
        let answered = self.sums.answered();
        if percent(left_out, answered) >= COMPLETE_PERCENT {
            return None;
        }
        if self.misses_frames {
            return Some(Answer::open(
                "frames-missing",
                sentence!(
                    "frames are missing from the capture: the {block_acks} in it have holes for {left_out} of {answered} MPDUs ({share})",
                    block_acks = Figure::all(block_acks, "Block Ack"),
                    left_out = Figure::count(left_out, answered),
                    answered = Figure::total(answered),
                    share = Figure::percent(left_out, answered, 1)
                ),
            ));
        }
        let lacks = self.retries.lack_attempts(self.originator, self.recipient);
        let retried = many_retries(self.retries.get(self.originator, self.recipient)).filter(|_| lacks);
        if let Some(retry) = retried {
            return Some(Answer::open(
                "data-missing",
                sentence!(
                    "{retries} of the {mpdus} captured are retransmissions ({share}), and of most of these no earlier attempt is in the \
                     capture: the Block Acks that are in it, with holes for {left_out} of {answered}, do not show why",
                    retries = Figure::count(retry.retries, retry.frames),
                    mpdus = Figure::all(retry.frames, "MPDU"),
                    share = Figure::percent(retry.retries, retry.frames, 1),
                    left_out = Figure::count(left_out, answered),
                    answered = Figure::all(answered, "MPDU")
                ),
            ));
        }
        let complete = sentence!(
            "Block Acks {whole}: holes for {left_out} of {answered} MPDUs ({share})",
            left_out = Figure::count(left_out, answered),
            answered = Figure::total(answered),
            share = Figure::percent(left_out, answered, 1);
            whole = match (left_out, not_captured > 0 || lacks) {
                (0, false) => "are complete",
                (0, true) => "are complete in this capture",
                (_, false) => "look normal",
                (_, true) => "look normal in this capture",
            }
        );
        let said = beside_retries(complete, self.retries, self.originator, self.recipient);
        Some(Answer::found("in-order", said))
    }

    /// What was left out had arrived: it was acknowledged later by Block Acks of PPDUs that did not carry it.
    fn late(&self) -> Option<Answer> {
        let Sums { late, left_out, newly, not_captured, .. } = self.sums;
        let proof = Proof::new(&self.sums);
        if !proof.is_proof(&self.sums) {
            return None;
        }
        let said = sentence!(
            "too slow to acknowledge: {late} of {left_out} Block Ack holes ({share}) were acknowledged by a later Block Ack, of a PPDU that was \
             captured whole and did not carry the MPDU again",
            late = Figure::count(late, left_out),
            left_out = Figure::total(left_out),
            share = Figure::percent(late, left_out, 0)
        );
        let how = if proof.loss < CERTAIN_LOSS {
            sentence!(
                ", so they had been received (the capture misses {missed} of the data)",
                missed = Figure::share(proof.loss, newly + not_captured, 1)
            )
        } else {
            sentence!(
                "; the capture misses {missed} of the data or of the PPDUs, which accounts for about {chance} of them",
                missed = Figure::share(proof.loss, newly + not_captured, 0),
                chance = Figure::of(proof.expected, "count", left_out, 0)
            )
        };
        Some(Answer::found("late", said.and("", how)))
    }

    /// The end of the A-MPDUs is left out too often.
    fn prefers_tail(&self, tail: &Tail) -> Option<Answer> {
        let Sums { positioned, in_tail, .. } = self.sums;
        (tail.is_preferred() && tail.ratio() >= 2.0).then(|| {
            Answer::found(
                "probably-late",
                sentence!(
                    "most likely too slow to acknowledge: Block Ack holes are the most recently sent MPDUs ({share} of {positioned} \
                     in the last quarter of their A-MPDU, {expected} expected by chance). Losses spread evenly would not prefer them; \
                     a channel that changes within a long A-MPDU would, but starts earlier than the last quarter",
                    share = Figure::percent(in_tail, positioned, 0),
                    positioned = Figure::total(positioned),
                    expected = Figure::share(tail.expected, tail.all, 0)
                ),
            )
        })
    }

    /// Much was acknowledged later, but perhaps sent again in what the capture misses.
    fn seems_late(&self) -> Option<Answer> {
        let Sums { late, acked_unseen, left_out, block_acks, answering, .. } = self.sums;
        let seem = late + acked_unseen;
        (seem as f64 >= LATE_SHARE * left_out as f64).then(|| {
            Answer::open(
                "data-missing",
                sentence!(
                    "{seem} of {left_out} Block Ack holes were acknowledged without a captured retransmission, {unseen} of them by Block \
                     Acks of PPDUs that were not captured, or perhaps not whole, and may have carried the MPDU again ({answering} of {block_acks} follow \
                     the PPDU or request that they answer)",
                    seem = Figure::count(seem, left_out),
                    left_out = Figure::total(left_out),
                    unseen = Figure::count(acked_unseen, seem),
                    answering = Figure::count(answering, block_acks),
                    block_acks = Figure::all(block_acks, "Block Ack")
                ),
            )
        })
    }

    /// The end of the A-MPDUs is left out as often as chance allows, or somewhat more.
    fn losses(&self, tail: &Tail) -> Option<Answer> {
        let Sums { positioned, in_tail, late, left_out, .. } = self.sums;
        if tail.is_preferred() {
            return Some(Answer::found(
                "mixed",
                sentence!(
                    "both: more Block Ack holes are at the end of the A-MPDUs than chance allows ({share} of {positioned}, z = {z}), but \
                     most are elsewhere, as losses are",
                    share = Figure::percent(in_tail, positioned, 0),
                    positioned = Figure::total(positioned),
                    z = Figure::of(tail.z, "standard deviations", positioned, 1)
                ),
            ));
        }
        (positioned * 2 >= left_out).then(|| {
            Answer::found(
                "not-received",
                sentence!(
                    "not received: the Block Ack holes are not the most recently sent MPDUs ({share} of the {positioned} with a known \
                     place were in the last quarter of their A-MPDU, {expected} expected by chance), and {late} of {left_out} turned out to have arrived",
                    share = Figure::percent(in_tail, positioned, 0),
                    positioned = Figure::total(positioned),
                    expected = Figure::share(tail.expected, tail.all, 0),
                    late = Figure::only(late, left_out),
                    left_out = Figure::total(left_out)
                ),
            )
        })
    }

    /// Too little is known of where in their A-MPDUs the omissions are.
    fn without_positions(&self) -> Answer {
        let Sums { positioned, events, left_out, resent, lost, .. } = self.sums;
        Answer::open(
            "positions-unknown",
            sentence!(
                "{positioned} of the {left_out} were in A-MPDUs of 4 and more MPDUs that were captured whole and \
                 acknowledged in part, by {events} (needed: {MIN_LEFT_OUT} by {MIN_TAIL_BLOCK_ACKS}, and half of them); of all {again} {were} \
                 retransmitted",
                events = Figure::all(events, "Block Ack"),
                positioned = Figure::only(positioned, left_out),
                left_out = Figure::all(left_out, "Block Ack hole"),
                again = Figure::count(resent + lost, left_out);
                were = one_or(resent + lost, "was", "were")
            ),
        )
    }

    /// The figures, one sentence each.
    fn evidence(&self, tail: Option<&Tail>) -> Vec<Sentence> {
        [
            self.bitmaps(),
            self.uncaptured(),
            self.fates(),
            self.repeats(),
            tail.map(|tail| self.places(tail)),
            self.ages(),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    fn bitmaps(&self) -> Option<Sentence> {
        let Sums { block_acks, newly, left_out, .. } = self.sums;
        let answered = self.sums.answered();
        (answered > 0).then(|| {
            sentence!(
                "{block_acks}: {newly_acked} acknowledged for the first time, {left_out} left out ({share} of those they answer)",
                block_acks = Figure::all(block_acks, "Block Ack"),
                newly_acked = Figure::counted(newly, answered, "MPDU"),
                left_out = Figure::count(left_out, answered),
                share = Figure::percent(left_out, answered, 1)
            )
        })
    }

    fn uncaptured(&self) -> Option<Sentence> {
        let Sums { newly, not_captured, .. } = self.sums;
        (not_captured > 0).then(|| {
            sentence!(
                "{acked_not_captured} {were} acknowledged whose transmission was not captured undamaged ({share} of all acknowledged)",
                acked_not_captured = Figure::counted(not_captured, newly + not_captured, "MPDU"),
                share = Figure::percent(not_captured, newly + not_captured, 1);
                were = one_or(not_captured, "was", "were")
            )
        })
    }

    fn fates(&self) -> Option<Sentence> {
        let Sums { left_out, late, acked_unseen, resent, lost, abandoned, .. } = self.sums;
        let of = |part| Figure::count(part, left_out);
        (left_out > 0).then(|| {
            sentence!(
                "of the {left_out} left out: {late} acknowledged later without a retransmission, {unseen} acknowledged later, perhaps \
                 after a retransmission that was not captured, {resent} acknowledged after a retransmission, {lost} retransmitted and not \
                 acknowledged in this capture, {abandoned} not retransmitted in it",
                left_out = Figure::total(left_out),
                late = of(late),
                unseen = of(acked_unseen),
                resent = of(resent),
                lost = of(lost),
                abandoned = of(abandoned)
            )
        })
    }

    fn repeats(&self) -> Option<Sentence> {
        let Sums { again, retransmissions, .. } = self.sums;
        (again > 0).then(|| {
            sentence!(
                "{again} of {retransmissions} retransmissions {repeat} an MPDU that had been acknowledged: the sender missed or \
                 ignored the acknowledgement",
                again = Figure::count(again, retransmissions),
                retransmissions = Figure::total(retransmissions);
                repeat = one_or(again, "repeats", "repeat")
            )
        })
    }

    fn places(&self, tail: &Tail) -> Sentence {
        let Sums { in_tail, positioned, events, .. } = self.sums;
        sentence!(
            "{in_tail} of {positioned} holes in {events} that acknowledge others of the same A-MPDU were in its last \
             quarter ({share}), where {expected} would be expected by chance (z = {z})",
            events = Figure::all(events, "Block Ack"),
            in_tail = Figure::count(in_tail, positioned),
            positioned = Figure::total(positioned),
            share = Figure::percent(in_tail, positioned, 0),
            expected = Figure::share(tail.expected, tail.all, 0),
            z = Figure::of(tail.z, "standard deviations", positioned, 1)
        )
    }

    fn ages(&self) -> Option<Sentence> {
        let (out, acked) = self.sums.ages?;
        Some(sentence!(
            "age when the Block Ack began: median {left_out} µs for Block Ack holes (n={n_left_out}), {acked} µs for MPDUs \
             acknowledged (n={n_acked})",
            left_out = Figure::of(out.median, "µs", out.n, 0),
            n_left_out = Figure::total(out.n),
            acked = Figure::of(acked.median, "µs", acked.n, 0),
            n_acked = Figure::total(acked.n)
        ))
    }
}

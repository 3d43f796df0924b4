//! "Not received, or just too slow to acknowledge?" - answered with evidence, or not answered.

use crate::report::{AckVerdict, BlockAckFlow, Exchange};

/// Left-out MPDUs below which nothing is said.
const MIN_LEFT_OUT: u64 = 20;
/// PPDUs of a rate below which its answered share means nothing.
const MIN_PPDUS: u64 = 20;
/// Left-out MPDUs (% of those answered for) below which Block Acks are called complete.
const COMPLETE_PERCENT: f64 = 2.0;
/// Share of responses more than a slot late from which that is the verdict.
const LATE_RESPONSES: f64 = 0.05;
/// Share of omissions that were later acknowledged without a retransmission from which "late" is proven.
const LATE_SHARE: f64 = 0.2;
/// Below this share of uncaptured data a late acknowledgement is certain.
const CERTAIN_LOSS: f64 = 0.02;
/// z-score from which the tail of the A-MPDUs is left out too often to be chance (two-sided p < 1e-4).
const TAIL_Z: f64 = 4.0;

fn percent(part: u64, whole: u64) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}

/// ACK #1: one verdict per (originator, recipient), over its TIDs.
pub fn block_ack(flows: &[BlockAckFlow]) -> Vec<AckVerdict> {
    let mut verdicts: Vec<AckVerdict> = Vec::new();
    for flow in flows.iter().filter(|flow| flow.block_acks > 0) {
        if verdicts.iter().any(|v| v.originator == flow.originator && v.recipient == flow.recipient) {
            continue;
        }
        let same: Vec<&BlockAckFlow> = flows
            .iter()
            .filter(|other| other.originator == flow.originator && other.recipient == flow.recipient)
            .collect();
        verdicts.push(judge(&same));
    }
    verdicts
}

fn judge(flows: &[&BlockAckFlow]) -> AckVerdict {
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
    let mut evidence = vec![format!(
        "{acks} Block Acks: {newly} MPDUs acknowledged for the first time, {left_out} of those just sent left out \
         ({:.1} %)",
        percent(left_out, answered)
    )];
    if not_captured > 0 {
        evidence.push(format!(
            "{not_captured} MPDUs were acknowledged whose transmission was not captured ({:.1} % of all acknowledged)",
            percent(not_captured, newly + not_captured)
        ));
    }
    if left_out > 0 {
        evidence.push(format!(
            "of the {left_out} left out: {late} acknowledged later without having been sent again, {resent} \
             acknowledged after a retransmission, {lost} sent again and never acknowledged, {abandoned} never sent again"
        ));
    }
    let again = sum(|f| f.resent_although_acked);
    if again > 0 {
        evidence.push(format!(
            "{again} of {} retransmissions repeat an MPDU that had been acknowledged: the sender missed or ignored the \
             acknowledgement",
            sum(|f| f.retransmissions)
        ));
    }
    let proven = Proof::new(late, resent + lost, newly, not_captured);
    let tail = tail_test(flows, in_tail, positioned);
    if let Some(tail) = &tail {
        evidence.push(format!(
            "{in_tail} of {positioned} left out were in the last quarter of their A-MPDU ({:.0} %), where {:.0} % would \
             be expected by chance (z = {:.1})",
            percent(in_tail, positioned),
            tail.expected * 100.0,
            tail.z
        ));
    }
    let ages = flows.iter().find_map(|f| Some((f.age_left_out_us?, f.age_acked_us?)));
    if let Some((out, acked)) = ages {
        evidence.push(format!(
            "age when the Block Ack began: median {:.0} µs for MPDUs left out (n={}), {:.0} µs for MPDUs acknowledged \
             (n={})",
            out.median, out.n, acked.median, acked.n
        ));
    }
    let (answer, text) = if answered == 0 {
        (
            "cannot-be-told",
            "cannot be told from this capture, because none of the data that the Block Acks answer was captured"
                .to_owned(),
        )
    } else if answered < MIN_LEFT_OUT {
        (
            "cannot-be-told",
            format!(
                "cannot be told from this capture, because only {answered} MPDUs were captured together with their Block \
                 Ack (at least {MIN_LEFT_OUT} are needed)"
            ),
        )
    } else if percent(left_out, answered) < COMPLETE_PERCENT {
        (
            "in-order",
            format!(
                "Block Acks are complete: {left_out} of {answered} MPDUs were left out ({:.1} %)",
                percent(left_out, answered)
            ),
        )
    } else if left_out < MIN_LEFT_OUT {
        (
            "cannot-be-told",
            format!(
                "cannot be told from this capture, because only {left_out} MPDUs were left out (at least {MIN_LEFT_OUT} \
                 are needed)"
            ),
        )
    } else if proven.is_proof(late, left_out) {
        (
            "late",
            if proven.loss < CERTAIN_LOSS {
                format!(
                    "too slow to acknowledge: {late} of {left_out} left-out MPDUs ({:.0} %) were acknowledged later \
                     without having been sent again, so they had been received",
                    percent(late, left_out)
                )
            } else {
                format!(
                    "too slow to acknowledge: {late} of {left_out} left-out MPDUs ({:.0} %) were acknowledged later without \
                     a captured retransmission; the capture misses {:.0} % of the data, which accounts for about {:.0} of them",
                    percent(late, left_out),
                    proven.loss * 100.0,
                    proven.expected
                )
            },
        )
    } else if let Some(tail) = tail.as_ref().filter(|tail| tail.z >= TAIL_Z && tail.ratio() >= 2.0) {
        (
            "probably-late",
            format!(
                "most likely too slow to acknowledge: the MPDUs left out are the most recently sent ones ({:.0} % in the \
                 last quarter of their A-MPDU, {:.0} % expected by chance). Losses spread evenly would not prefer them; a channel \
                 that changes within a long A-MPDU would, but starts earlier than the last quarter",
                percent(in_tail, positioned),
                tail.expected * 100.0
            ),
        )
    } else if late as f64 >= LATE_SHARE * left_out as f64 {
        (
            "cannot-be-told",
            format!(
                "cannot be told from this capture, because {:.0} % of the data was not captured: {late} of {left_out} \
                 left-out MPDUs seem to have been acknowledged without a retransmission, about {:.0} of them only because it \
                 was missed",
                proven.loss * 100.0,
                proven.expected
            ),
        )
    } else if let Some(tail) = tail.as_ref().filter(|tail| tail.z >= TAIL_Z) {
        (
            "mixed",
            format!(
                "both: the end of the A-MPDUs is left out more often than chance allows (z = {:.1}), but most omissions \
                 are elsewhere and behave like losses",
                tail.z
            ),
        )
    } else if tail.is_some() {
        (
            "not-received",
            format!(
                "not received: the omissions do not prefer the most recently sent MPDUs, and only {late} of {left_out} \
                 turned out to have arrived"
            ),
        )
    } else {
        (
            "cannot-be-told",
            "cannot be told from this capture, because the position of the MPDUs in their A-MPDUs is not known (no \
             A-MPDU status, or too few A-MPDUs of 4 and more MPDUs) and nearly every omission was sent again"
                .to_owned(),
        )
    };
    let first = flows[0];
    AckVerdict {
        originator: first.originator.clone(),
        recipient: first.recipient.clone(),
        question: "block-ack".to_owned(),
        answer: answer.to_owned(),
        text,
        evidence,
    }
}

/// How many omissions look late only because the sniffer missed the retransmission.
struct Proof {
    /// Share of the acknowledged MPDUs whose transmission was not captured.
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
    Some(Tail { expected, observed, z: (observed - expected) / deviation })
}

/// ACK #2: are plain ACKs missing at some rates only? One verdict per (transmitter, receiver) with enough PPDUs.
pub fn ack(exchanges: &[Exchange]) -> Vec<AckVerdict> {
    exchanges.iter().filter_map(judge_rates).collect()
}

fn judge_rates(exchange: &Exchange) -> Option<AckVerdict> {
    let rates: Vec<_> = exchange.by_rate.iter().filter(|rate| rate.ppdus >= MIN_PPDUS).collect();
    let responses = exchange.acked + exchange.block_acked;
    if exchange.ppdus < MIN_PPDUS {
        return None;
    }
    let share = |answered: u64, ppdus: u64| answered as f64 / ppdus as f64;
    let deaf: Vec<_> = rates
        .iter()
        .filter(|r| share(r.answered, r.ppdus) < 0.1 && r.missing_resent * 2 > r.ppdus - r.answered.min(r.ppdus))
        .collect();
    let heard: Vec<_> = rates.iter().filter(|r| share(r.answered, r.ppdus) > 0.8).collect();
    let mut evidence: Vec<String> = rates
        .iter()
        .map(|r| {
            format!(
                "{}: {} of {} PPDUs answered ({:.0} %), {} unanswered ones sent again",
                r.label,
                r.answered,
                r.ppdus,
                percent(r.answered, r.ppdus),
                r.missing_resent
            )
        })
        .collect();
    let (lowest, highest) = rates
        .iter()
        .map(|r| share(r.answered, r.ppdus))
        .fold((1.0f64, 0.0f64), |(low, high), s| (low.min(s), high.max(s)));
    let missing = exchange.missing_resent + exchange.missing_not_resent;
    evidence.push(format!(
        "{missing} PPDUs without a captured response: {} sent again (not acknowledged, or the sender missed it), {} not \
         (the response was most likely just not captured)",
        exchange.missing_resent, exchange.missing_not_resent
    ));
    let late = exchange.late_responses.unwrap_or(0);
    if let Some(gap) = exchange.gap_us {
        evidence.push(format!(
            "responses come {:.0} µs after the PPDU (median, n={}), {late} of them more than a slot late",
            gap.median, gap.n
        ));
    }
    let names =
        |rows: &[&&crate::report::ExchangeRate]| rows.iter().map(|r| r.label.as_str()).collect::<Vec<_>>().join(", ");
    let resent = percent(exchange.missing_resent, exchange.ppdus);
    let answered_share = share(responses, exchange.ppdus);
    let late_gap = exchange.gap_us.filter(|gap| gap.n >= MIN_PPDUS && late as f64 > LATE_RESPONSES * gap.n as f64);
    let (answer, text) = if responses == 0 {
        (
            "cannot-be-told",
            format!(
                "cannot be told from this capture, because no response to any of {} PPDUs was captured: the sniffer may \
                 not have heard {}",
                exchange.ppdus, exchange.ra
            ),
        )
    } else if !deaf.is_empty() && !heard.is_empty() {
        (
            "rate-dependent",
            format!(
                "acknowledged only at some rates: {} are answered, {} are not and are sent again",
                names(&heard),
                names(&deaf)
            ),
        )
    } else if let Some(gap) = late_gap {
        (
            "late",
            format!(
                "responses are late: {late} of {} come more than a slot after SIFS; {} of {} PPDUs were sent again",
                gap.n, exchange.missing_resent, exchange.ppdus
            ),
        )
    } else if resent <= 2.0 && answered_share >= 0.9 {
        (
            "in-order",
            format!(
                "ACKs are complete: {} of {} PPDUs were sent again for lack of a response ({resent:.1} %)",
                exchange.missing_resent, exchange.ppdus
            ),
        )
    } else if resent <= 2.0 {
        (
            "cannot-be-told",
            format!(
                "cannot be told from this capture, because only {responses} responses to {} PPDUs were captured ({:.0} %); \
                 as only {} were sent again, the sender most likely got the others",
                exchange.ppdus,
                answered_share * 100.0,
                exchange.missing_resent
            ),
        )
    } else if highest >= 0.8 && responses >= MIN_PPDUS {
        (
            "not-received",
            format!(
                "{} of {} PPDUs ({resent:.1} %) got no response and were sent again; where responses came they were in \
                 time, and the share answered (from {:.0} to {:.0} % over the rates with n >= {MIN_PPDUS}) does not split \
                 the rates into answered and unanswered ones: most likely they were not received",
                exchange.missing_resent,
                exchange.ppdus,
                lowest * 100.0,
                highest * 100.0
            ),
        )
    } else {
        (
            "cannot-be-told",
            format!(
                "cannot be told from this capture, because the responses of {} are heard too seldom ({responses} for {} \
                 PPDUs): {} PPDUs were sent again, but a response that only the sniffer missed looks the same",
                exchange.ra, exchange.ppdus, exchange.missing_resent
            ),
        )
    };
    Some(AckVerdict {
        originator: exchange.ta.clone(),
        recipient: exchange.ra.clone(),
        question: "ack".to_owned(),
        answer: answer.to_owned(),
        text,
        evidence,
    })
}

//! "Not received, or just too slow to acknowledge?", asked of immediate responses to data.

use super::{beside_retries, many_retries, percent, Answer, RetriesOf};
use crate::report::{AckVerdict, Exchange, ExchangeKind, ExchangeRate, RetryCount, Spread};
use crate::station::Stations;
use sentence::{one_or, sentence, Figure, Sentence};
use wire::ieee80211::MacAddr;

/// PPDUs of a rate below which its answered share means nothing.
const MIN_PPDUS: u64 = 20;
/// Unanswered PPDUs that were sent again, below which nothing is concluded from them.
const MIN_MISSING: u64 = 10;
/// Unanswered PPDUs that were sent again (% of all), up to which the responses are called in order.
const FEW_PERCENT: f64 = 2.0;
/// Responses of a kind (ACK, Block Ack) below which the absence of others of that kind says nothing.
const MIN_HEARD: u64 = 10;
/// Share of responses more than a slot late from which that is the verdict.
const LATE_RESPONSES: f64 = 0.05;
/// Share of the PPDUs answered late that the sender repeated, from which being late has consequences.
const LATE_RESENT: f64 = 0.5;

/// What is known of a receiver.
#[derive(Clone, Copy, Debug)]
pub struct Receiver {
    /// Only the capturing machine sends under its address.
    is_ours: bool,
    /// Frames of it were captured.
    sends: bool,
}

impl Receiver {
    /// The station with this address.
    pub fn of(stations: &Stations, address: &str) -> Self {
        let known = |is: fn(&Stations, MacAddr) -> bool| address.parse().is_ok_and(|address| is(stations, address));
        Self { is_ours: known(Stations::is_ours), sends: known(Stations::sends) }
    }
}

/// What the whole capture shows of responses.
#[derive(Clone, Copy, Debug)]
pub struct Heard {
    /// Control frames.
    pub control_frames: u64,
    /// ACKs.
    pub acks: u64,
    /// Silence is evidence.
    pub all: bool,
    /// MPDUs could be grouped to PPDUs, so that unanswered ones are known.
    pub grouped: bool,
}

/// ACK #2: are responses to data missing at some rates only, or late? One verdict per (transmitter, receiver) with enough
/// PPDUs. Management goes to scanners, too, who are gone before the answer: it is counted, and not judged.
/// `receiver`: what is known of an address.
pub fn ack(
    exchanges: &[Exchange],
    retries: &RetriesOf,
    heard: Heard,
    receiver: &dyn Fn(&str) -> Receiver,
) -> Vec<AckVerdict> {
    let enough = exchanges.iter().filter(|exchange| exchange.data.ppdus >= MIN_PPDUS);
    enough.map(|exchange| Case::new(exchange, retries, heard, receiver(&exchange.ra)).judge()).collect()
}

fn share(answered: u64, ppdus: u64) -> f64 {
    answered as f64 / ppdus.max(1) as f64
}

/// A transmitter and a receiver, and what is known of the responses between them.
struct Case<'a> {
    exchange: &'a Exchange,
    data: ExchangeKind,
    retries: &'a RetriesOf,
    heard: Heard,
    receiver: Receiver,
    /// Those with enough PPDUs.
    rates: Vec<&'a ExchangeRate>,
    /// Response delays, where there are enough.
    timed: Option<Spread>,
    late: u64,
}

impl<'a> Case<'a> {
    fn new(exchange: &'a Exchange, retries: &'a RetriesOf, heard: Heard, receiver: Receiver) -> Self {
        let is_used = |rate: &&ExchangeRate| rate.frames == "data" && rate.rate_known && rate.ppdus >= MIN_PPDUS;
        Self {
            exchange,
            data: exchange.data,
            retries,
            heard,
            receiver,
            rates: exchange.by_rate.iter().filter(is_used).collect(),
            timed: exchange.data_gap_us.filter(|gap| gap.n >= MIN_PPDUS),
            late: exchange.data_late_responses.unwrap_or(0),
        }
    }

    fn judge(&self) -> AckVerdict {
        let Answer { answer, reason, because, sentence } = self
            .rate_dependent()
            .or_else(|| self.late())
            .or_else(|| self.unrecorded())
            .or_else(|| self.answered())
            .unwrap_or_else(|| self.repeated());
        let evidence = if self.heard.control_frames == 0 {
            sent_again(self.exchange, &self.rates)
        } else {
            rate_evidence(self.exchange, &self.rates)
        };
        AckVerdict {
            originator: self.exchange.ta.clone(),
            recipient: self.exchange.ra.clone(),
            question: "ack".to_owned(),
            answer: answer.to_owned(),
            reason: reason.map(str::to_owned),
            because,
            sentence,
            evidence,
        }
    }

    fn ppdus(&self) -> Figure {
        Figure::total(self.data.ppdus)
    }

    fn resent(&self) -> Figure {
        Figure::count(self.data.missing_resent, self.data.ppdus)
    }

    /// PPDUs sent again without a captured response (%).
    fn resent_percent(&self) -> f64 {
        percent(self.data.missing_resent, self.data.ppdus)
    }

    /// Enough PPDUs were sent again to say that the sender got no response to them: who gets one goes on.
    fn is_repeated(&self) -> bool {
        self.data.missing_resent >= MIN_MISSING && self.resent_percent() > FEW_PERCENT
    }

    /// Most retries repeat something that was not captured.
    fn lacks_attempts(&self) -> bool {
        self.retries.lack_attempts(&self.exchange.ta, &self.exchange.ra)
    }

    /// PPDUs at one rate are answered, those at another one are not, and the responses that are missing are of a kind that was
    /// captured on this link.
    fn rate_dependent(&self) -> Option<Answer> {
        let is_deaf = |rate: &&&ExchangeRate| {
            share(rate.answered, rate.ppdus) < 0.1
                && rate.missing_resent * 2 > rate.ppdus - rate.answered.min(rate.ppdus)
                // A rate used only for repeats is used only when the receiver has not answered for a while.
                && rate.first_attempts.unwrap_or(0) >= MIN_PPDUS / 2
        };
        let heard: Vec<_> = self.rates.iter().filter(|rate| share(rate.answered, rate.ppdus) > 0.8).collect();
        let acks: u64 = heard.iter().filter_map(|rate| rate.acked).sum();
        let block_acks: u64 = heard.iter().map(|rate| rate.answered).sum::<u64>().saturating_sub(acks);
        // Where MPDUs are not grouped, what may be part of an A-MPDU may be a single MPDU, which asks for an ACK.
        let is_aggregated =
            |rate: &ExchangeRate| self.heard.grouped && rate.asking_for_ack.unwrap_or(0) * 2 < rate.ppdus;
        let is_of_a_kind_heard = |rate: &&&ExchangeRate| match is_aggregated(rate) {
            true => block_acks >= MIN_HEARD,
            false => acks >= MIN_HEARD,
        };
        let deaf: Vec<_> = self.rates.iter().filter(is_deaf).filter(is_of_a_kind_heard).collect();
        let (missing, given) = Answered::of(&deaf).zip(Answered::of(&heard))?;
        Some(Answer::found(
            "rate-dependent",
            sentence!(
                "acknowledged only at some rates: {answered} of {heard_ppdus} PPDUs at {heard} are answered, {deaf_answered} of \
                 {deaf_ppdus} at {deaf}, and {deaf_resent} of these were retransmitted",
                answered = Figure::count(given.answered, given.ppdus),
                heard_ppdus = Figure::total(given.ppdus),
                deaf_answered = Figure::count(missing.answered, missing.ppdus),
                deaf_ppdus = Figure::total(missing.ppdus),
                deaf_resent = Figure::count(missing.resent, missing.ppdus);
                heard = given.names,
                deaf = missing.names
            ),
        ))
    }

    /// Responses come late, and the sender repeats what they answer.
    fn late(&self) -> Option<Answer> {
        let [after_late, after_in_time] = followed(&self.data);
        let consequences = after_late.0 >= MIN_PPDUS / 2
            && share(after_late.1, after_late.0) >= LATE_RESENT
            && share(after_in_time.1, after_in_time.0) < LATE_RESENT / 2.0;
        let gap = self.timed.filter(|gap| self.late as f64 > LATE_RESPONSES * gap.n as f64 && consequences)?;
        Some(Answer::found(
            "late",
            sentence!(
                "responses are late, and the sender does not wait for them: {late} of {timed} come more than {slack} µs late; \
                 {late_resent} of {late_answered} PPDUs answered late were retransmitted anyway, {in_time_resent} of \
                 {in_time_answered} of those answered in time",
                late = Figure::count(self.late, gap.n),
                timed = Figure::total(gap.n),
                slack = Figure::of(self.exchange.late_after_us.unwrap_or(f64::NAN), "µs", gap.n, 0),
                late_resent = Figure::count(after_late.1, after_late.0),
                late_answered = Figure::total(after_late.0),
                in_time_resent = Figure::count(after_in_time.1, after_in_time.0),
                in_time_answered = Figure::total(after_in_time.0)
            ),
        ))
    }

    /// No response of this direction is in the capture.
    fn unrecorded(&self) -> Option<Answer> {
        if self.data.answered > 0 {
            return None;
        }
        if self.is_repeated() {
            return Some(self.unanswered());
        }
        if self.heard.control_frames == 0 {
            return Some(Answer::open(
                if self.receiver.is_ours { "own-receiver" } else { "no-control-frames" },
                sentence!(
                    "no undamaged control frame is in what was counted, so no response to these {ppdus} either{own}",
                    ppdus = Figure::all(self.data.ppdus, "PPDU");
                    own = if self.receiver.is_ours {
                        ": their receiver is the capturing machine, whose radio does not report the responses that it sends"
                    } else {
                        ""
                    }
                ),
            ));
        }
        let reason = match (self.receiver.is_ours, self.heard.acks) {
            (true, _) => "own-receiver",
            (false, 0) => "no-acks",
            (false, _) => "no-responses",
        };
        Some(Answer::open(
            reason,
            sentence!(
                "no response to any of {ppdus} PPDUs was captured undamaged: {who} {why}",
                ppdus = self.ppdus();
                who = self.exchange.ra,
                why = self.why_unrecorded()
            ),
        ))
    }

    fn why_unrecorded(&self) -> &'static str {
        let repeated = self.retries.get(&self.exchange.ta, &self.exchange.ra);
        if self.receiver.is_ours {
            "is the capturing machine, whose radio does not report the responses that it sends"
        } else if self.receiver.sends
            && repeated.is_some_and(|retry| retry.retries > 0)
            && self.data.missing_not_resent > 2 * self.data.missing_resent
            && !self.lacks_attempts()
            && many_retries(repeated).is_none()
        {
            "sent them, most likely, as most of the PPDUs were not retransmitted, and they were not recorded"
        } else {
            "sent none, or they were not recorded"
        }
    }

    /// Few PPDUs were sent again.
    fn answered(&self) -> Option<Answer> {
        if self.resent_percent() > FEW_PERCENT {
            return None;
        }
        let shows_all = self.heard.all && self.heard.grouped && !self.lacks_attempts();
        let others = self.retries.beside_left_out(&self.exchange.ta, &self.exchange.ra);
        let is_answered = share(self.data.answered, self.data.ppdus) >= 0.9;
        Some(match many_retries(others) {
            Some(retry) if is_answered && !shows_all => self.beside_unexplained(retry),
            _ if is_answered => self.complete(),
            _ => self.seldom_recorded(),
        })
    }

    /// Answered, but many MPDUs are retries of which these responses show no reason.
    fn beside_unexplained(&self, retry: RetryCount) -> Answer {
        let Exchange { ta, ra, .. } = self.exchange;
        Answer::open(
            "retries-unexplained",
            sentence!(
                "{retries} of the {mpdus} captured carry the retry bit ({share}){beside}, and of {ppdus} PPDUs {resent} {were} \
                 retransmitted without a captured response: {why}",
                retries = Figure::count(retry.retries, retry.frames),
                mpdus = Figure::all(retry.frames, "MPDU"),
                share = Figure::percent(retry.retries, retry.frames, 1),
                resent = Figure::only(self.data.missing_resent, self.data.ppdus),
                ppdus = self.ppdus();
                beside = if self.retries.left_out(ta, ra) > 0 { ", without retransmissions of Block Ack holes" } else { "" },
                were = one_or(self.data.missing_resent, "was", "were"),
                why = if self.lacks_attempts() {
                    "of most of the others no undamaged earlier attempt was captured"
                } else {
                    "what made the sender repeat the others, these responses do not show"
                }
            ),
        )
    }

    fn complete(&self) -> Answer {
        let data = self.data;
        let complete = sentence!(
            "ACKs {whole}: {answered} of {ppdus} PPDUs {were} answered, {resent} {resent_were} retransmitted without a captured response ({share})",
            answered = Figure::count(data.answered, data.ppdus),
            ppdus = self.ppdus(),
            resent = self.resent(),
            share = Figure::percent(data.missing_resent, data.ppdus, 1);
            whole = match (data.answered >= data.ppdus, self.heard.all) {
                (true, true) => "are complete",
                (false, true) => "look normal",
                (true, false) => "are complete in this capture",
                (false, false) => "look normal in this capture",
            },
            were = one_or(data.answered, "was", "were"),
            resent_were = one_or(data.missing_resent, "was", "were")
        );
        Answer::found("in-order", beside_retries(complete, self.retries, &self.exchange.ta, &self.exchange.ra))
    }

    /// Not sent again, and yet many responses are missing.
    fn seldom_recorded(&self) -> Answer {
        let data = self.data;
        Answer::open(
            "frames-missing",
            sentence!(
                "{answered} to {ppdus} {were} captured undamaged ({share}); {resent} {resent_were} retransmitted{meaning}",
                answered = Figure::only_counted(data.answered, data.ppdus, "response"),
                ppdus = Figure::all(data.ppdus, "PPDU"),
                share = Figure::percent(data.answered, data.ppdus, 0),
                resent = Figure::only(data.missing_resent, data.ppdus);
                were = one_or(data.answered, "was", "were"),
                resent_were = one_or(data.missing_resent, "was", "were"),
                meaning = if self.heard.all {
                    ", so the sender most likely got the others"
                } else {
                    " in this capture, which may miss retransmissions, too"
                }
            ),
        )
    }

    /// Many PPDUs were sent again without an answer: lost, or answered without the sender's receiving it?
    fn repeated(&self) -> Answer {
        if self.data.missing_resent < MIN_MISSING {
            return Answer::open(
                "too-few",
                sentence!(
                    "{resent} of {ppdus} PPDUs {were} retransmitted without a response captured undamaged (needed: {MIN_MISSING})",
                    resent = Figure::only(self.data.missing_resent, self.data.ppdus),
                    ppdus = self.ppdus();
                    were = one_or(self.data.missing_resent, "was", "were")
                ),
            );
        }
        self.in_time_or_not_at_all().unwrap_or_else(|| self.unanswered())
    }

    /// Those that were answered were answered in time, at every rate.
    fn in_time_or_not_at_all(&self) -> Option<Answer> {
        let by_share =
            |a: &&&ExchangeRate, b: &&&ExchangeRate| share(a.answered, a.ppdus).total_cmp(&share(b.answered, b.ppdus));
        let best = self.rates.iter().max_by(by_share)?;
        let worst = self.rates.iter().min_by(by_share)?;
        let held: u64 = self.rates.iter().map(|rate| rate.missing_resent).sum();
        let gap = self.timed?;
        let is_known = held * 10 >= self.data.missing_resent * 8
            && share(best.answered, best.ppdus) >= 0.8
            && self.data.answered >= MIN_PPDUS
            && self.late * 20 <= gap.n;
        if !is_known {
            return None;
        }
        let said = sentence!(
            "{resent} of {ppdus} PPDUs ({share}) were retransmitted without a response captured undamaged; {in_time} of {timed} responses came in time \
             (median {gap} µs)",
            resent = self.resent(),
            ppdus = self.ppdus(),
            share = Figure::percent(self.data.missing_resent, self.data.ppdus, 1),
            in_time = Figure::count(gap.n - self.late.min(gap.n), gap.n),
            timed = Figure::total(gap.n),
            gap = Figure::of(gap.median, "µs", gap.n, 0)
        );
        let rate = if self.rates.len() > 1 {
            sentence!(
                "and from {worst} ({worst_rate}) to {best} ({best_rate}) are answered, so no rate with at least \
                 {MIN_PPDUS} PPDUs is without ACKs: the others were not received, or their answers did not reach the sender",
                worst = Figure::percent(worst.answered, worst.ppdus, 0),
                best = Figure::percent(best.answered, best.ppdus, 0);
                worst_rate = worst.label,
                best_rate = best.label
            )
        } else {
            sentence!(
                "and at {rate}, the only rate with enough PPDUs, {best} are answered: the others were not received, or their \
                 answers did not reach the sender",
                best = Figure::percent(best.answered, best.ppdus, 0);
                rate = best.label
            )
        };
        Some(Answer::found("not-received", said.and(", ", rate)))
    }

    /// The sender repeated them: it got no response, whatever the sniffer missed.
    fn unanswered(&self) -> Answer {
        let said = sentence!(
            "{resent} of {ppdus} PPDUs ({share}) were retransmitted, and no response to them was captured: the sender received no ACK in time. \
             The PPDU or its ACK was lost, or the ACK came too late",
            resent = self.resent(),
            ppdus = self.ppdus(),
            share = Figure::percent(self.data.missing_resent, self.data.ppdus, 1)
        );
        let open = sentence!(
            " ({answered} of the {all} PPDUs have a captured response)",
            answered = Figure::count(self.data.answered, self.data.ppdus),
            all = self.ppdus()
        );
        Answer::found("unanswered", said.and("", open))
    }
}

/// What there is to say where responses were not recorded: how much was sent, and sent again.
fn sent_again(exchange: &Exchange, rates: &[&ExchangeRate]) -> Vec<Sentence> {
    let by_rate = rates.iter().map(|rate| {
        sentence!(
            "{label}: {resent} of {ppdus} PPDUs {were} retransmitted",
            resent = Figure::count(rate.missing_resent, rate.ppdus),
            ppdus = Figure::total(rate.ppdus);
            label = rate.label,
            were = one_or(rate.missing_resent, "was", "were")
        )
    });
    by_rate.chain(nulls(&exchange.data)).collect()
}

/// How many of the PPDUs are Null frames, where they are many.
fn nulls(data: &ExchangeKind) -> Option<Sentence> {
    let nulls = data.nulls.unwrap_or(0);
    if nulls == data.ppdus && nulls > 1 {
        return Some(sentence!("all {nulls} are Null frames, which carry no data", nulls = Figure::all(nulls, "PPDU")));
    }
    (nulls * 10 > data.ppdus).then(|| {
        sentence!(
            "{nulls} of these {ppdus} {are} Null frames, which carry no data",
            nulls = Figure::count(nulls, data.ppdus),
            ppdus = Figure::all(data.ppdus, "PPDU");
            are = one_or(data.ppdus, "is", "are")
        )
    })
}

fn rate_evidence(exchange: &Exchange, rates: &[&ExchangeRate]) -> Vec<Sentence> {
    let data = exchange.data;
    let mut evidence: Vec<Sentence> = rates
        .iter()
        .map(|rate| {
            sentence!(
                "{label}: {answered} of {ppdus} PPDUs answered ({share}), {resent} retransmitted without a captured response",
                answered = Figure::count(rate.answered, rate.ppdus),
                ppdus = Figure::total(rate.ppdus),
                share = Figure::percent(rate.answered, rate.ppdus, 0),
                resent = Figure::count(rate.missing_resent, rate.ppdus);
                label = rate.label
            )
        })
        .collect();
    let missing = data.missing_resent + data.missing_not_resent;
    if missing > 0 {
        evidence.push(sentence!(
            "{missing} without a response captured undamaged: {resent} retransmitted (not acknowledged, or the sender missed it), \
             {not_resent} not retransmitted in this capture (the sniffer missed the ACK, or the sender dropped the frame)",
            missing = Figure::counted(missing, data.ppdus, "PPDU"),
            resent = Figure::count(data.missing_resent, missing),
            not_resent = Figure::count(data.missing_not_resent, missing)
        ));
    }
    evidence.extend(nulls(&data));
    if let Some(gap) = exchange.data_gap_us {
        let late = exchange.data_late_responses.unwrap_or(0);
        let said = sentence!(
            "responses to {what} come {gap} µs after the PPDU (median, n={n}), {late} of them more than {slack} µs late (a slot and the spread of \
             the gaps)",
            gap = Figure::of(gap.median, "µs", gap.n, 0),
            n = Figure::total(gap.n),
            late = Figure::count(late, gap.n),
            slack = Figure::of(exchange.late_after_us.unwrap_or(f64::NAN), "µs", gap.n, 0);
            what = if data.nulls.unwrap_or(0) > 0 { "data and Null frames" } else { "data" }
        );
        let [after_late, after_in_time] = followed(&data);
        let late_ones = (after_late.0 > 0).then(|| {
            sentence!(
                "single MPDUs answered late whose successor was captured: {late_answered}, retransmitted anyway: {late_resent}",
                late_resent = Figure::count(after_late.1, after_late.0),
                late_answered = Figure::total(after_late.0)
            )
        });
        let in_time_ones = (after_in_time.0 > 0).then(|| {
            sentence!(
                "single MPDUs answered in time whose successor was captured: {in_time_answered}, retransmitted anyway: {in_time_resent}",
                in_time_resent = Figure::count(after_in_time.1, after_in_time.0),
                in_time_answered = Figure::total(after_in_time.0)
            )
        });
        evidence.extend(
            [Some(said), late_ones, in_time_ones].into_iter().flatten().reduce(|all, next| all.and("; ", next)),
        );
    }
    if exchange.management.ppdus > 0 {
        let management = exchange.management;
        evidence.push(sentence!(
            "management frames (informational): {answered} of {ppdus} {were} answered",
            answered = Figure::count(management.answered, management.ppdus),
            ppdus = Figure::total(management.ppdus);
            were = one_or(management.answered, "was", "were")
        ));
    }
    evidence
}

/// Single MPDUs that were answered late, and in time; each with those of them that were sent again.
fn followed(kind: &ExchangeKind) -> [(u64, u64); 2] {
    let known = |answered: Option<u64>, resent: Option<u64>| answered.zip(resent).unwrap_or_default();
    [known(kind.late_answered, kind.late_answered_resent), known(kind.in_time_answered, kind.in_time_answered_resent)]
}

/// Several rates together.
struct Answered {
    ppdus: u64,
    answered: u64,
    resent: u64,
    names: String,
}

impl Answered {
    fn of(rates: &[&&ExchangeRate]) -> Option<Self> {
        let sum = |get: fn(&ExchangeRate) -> u64| rates.iter().map(|rate| get(rate)).sum();
        (!rates.is_empty()).then(|| Self {
            ppdus: sum(|rate| rate.ppdus),
            answered: sum(|rate| rate.answered),
            resent: sum(|rate| rate.missing_resent),
            names: rates.iter().map(|rate| rate.label.as_str()).collect::<Vec<_>>().join(", "),
        })
    }
}

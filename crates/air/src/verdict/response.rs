//! "Not received, or just too slow to acknowledge?", asked of immediate responses to data.

use super::{beside_retries, many_retries, percent, RetriesOf};
use crate::report::{AckVerdict, Exchange, ExchangeKind, ExchangeRate, Spread};
use crate::station::Stations;
use sentence::{one_or, sentence, Figure, Sentence};
use wire::ieee80211::MacAddr;

/// PPDUs of a rate below which its answered share means nothing.
const MIN_PPDUS: u64 = 20;
/// Unanswered PPDUs that were sent again, below which nothing is concluded from them.
const MIN_MISSING: u64 = 10;
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

/// ACK #2: are responses to data missing at some rates only, or late? One verdict per (transmitter, receiver) with enough
/// PPDUs. Management goes to scanners, too, who are gone before the answer: it is counted, and not judged.
/// `control_frames`: of the whole capture. `receiver`: what is known of an address. `hears_all`: silence is evidence. `grouped`: MPDUs could be grouped
/// to PPDUs, so that unanswered ones are known.
pub fn ack(
    exchanges: &[Exchange],
    retries: &RetriesOf,
    control_frames: u64,
    hears_all: bool,
    grouped: bool,
    receiver: &dyn Fn(&str) -> Receiver,
) -> Vec<AckVerdict> {
    let enough = exchanges.iter().filter(|exchange| exchange.data.ppdus >= MIN_PPDUS);
    enough
        .map(|exchange| judge_rates(exchange, retries, control_frames, hears_all, grouped, receiver(&exchange.ra)))
        .collect()
}

fn share(answered: u64, ppdus: u64) -> f64 {
    answered as f64 / ppdus.max(1) as f64
}

fn judge_rates(
    exchange: &Exchange,
    retries: &RetriesOf,
    control_frames: u64,
    hears_all: bool,
    grouped: bool,
    receiver: Receiver,
) -> AckVerdict {
    let data = exchange.data;
    let repeated = retries.get(&exchange.ta, &exchange.ra);
    let others = retries.beside_left_out(&exchange.ta, &exchange.ra);
    let lacks_attempts = retries.lack_attempts(&exchange.ta, &exchange.ra);
    let shows_all = hears_all && grouped && !lacks_attempts;
    let rates: Vec<&ExchangeRate> = exchange
        .by_rate
        .iter()
        .filter(|rate| rate.frames == "data" && rate.rate_known && rate.ppdus >= MIN_PPDUS)
        .collect();
    let late = exchange.data_late_responses.unwrap_or(0);
    let timed = exchange.data_gap_us.filter(|gap| gap.n >= MIN_PPDUS);
    let resent_percent = percent(data.missing_resent, data.ppdus);
    let answered_share = share(data.answered, data.ppdus);
    let ppdus = || Figure::total(data.ppdus);
    let resent = || Figure::count(data.missing_resent, data.ppdus);
    let deaf: Vec<_> = rates
        .iter()
        .filter(|r| share(r.answered, r.ppdus) < 0.1 && r.missing_resent * 2 > r.ppdus - r.answered.min(r.ppdus))
        .collect();
    let heard: Vec<_> = rates.iter().filter(|r| share(r.answered, r.ppdus) > 0.8).collect();
    let [after_late, after_in_time] = followed(&data);
    let consequences = after_late.0 >= MIN_PPDUS / 2
        && share(after_late.1, after_late.0) >= LATE_RESENT
        && share(after_in_time.1, after_in_time.0) < LATE_RESENT / 2.0;
    let late_gap = timed.filter(|gap| late as f64 > LATE_RESPONSES * gap.n as f64 && consequences);
    let (answer, sentence) = if control_frames == 0 {
        (
            "not-determined",
            sentence!(
                "cannot be determined from this capture, because no undamaged control frame is in what was counted, so no response to these {ppdus} \
                 either{own}",
                ppdus = Figure::all(data.ppdus, "PPDU");
                own = if receiver.is_ours {
                    ": their receiver is the capturing machine, whose radio does not report the responses that it sends"
                } else {
                    ""
                }
            ),
        )
    } else if data.answered == 0 {
        (
            "not-determined",
            sentence!(
                "cannot be determined from this capture, because no response to any of {ppdus} PPDUs was captured undamaged: {who} {why}",
                ppdus = ppdus();
                who = exchange.ra,
                why = if receiver.is_ours {
                    "is the capturing machine, whose radio does not report the responses that it sends"
                } else if receiver.sends
                    && repeated.is_some_and(|retry| retry.retries > 0)
                    && data.missing_not_resent > 2 * data.missing_resent
                    && !lacks_attempts
                    && many_retries(repeated).is_none()
                {
                    "sent them, most likely, as most of the PPDUs were not sent again, and they were not recorded"
                } else {
                    "sent none, or they were not recorded"
                }
            ),
        )
    } else if let (Some(missing), Some(given)) = (Answered::of(&deaf), Answered::of(&heard)) {
        (
            "rate-dependent",
            sentence!(
                "acknowledged only at some rates: {answered} of {heard_ppdus} PPDUs at {heard} are answered, {deaf_answered} of \
                 {deaf_ppdus} at {deaf}, and {deaf_resent} of these were sent again",
                answered = Figure::count(given.answered, given.ppdus),
                heard_ppdus = Figure::total(given.ppdus),
                deaf_answered = Figure::count(missing.answered, missing.ppdus),
                deaf_ppdus = Figure::total(missing.ppdus),
                deaf_resent = Figure::count(missing.resent, missing.ppdus);
                heard = given.names,
                deaf = missing.names
            ),
        )
    } else if let Some(gap) = late_gap {
        (
            "late",
            sentence!(
                "responses are late, and the sender does not wait for them: {late} of {timed} come more than {slack} µs late; \
                 {late_resent} of {late_answered} PPDUs answered late were retransmitted anyway, {in_time_resent} of \
                 {in_time_answered} of those answered in time",
                late = Figure::count(late, gap.n),
                timed = Figure::total(gap.n),
                slack = Figure::of(exchange.late_after_us.unwrap_or(f64::NAN), "µs", gap.n, 0),
                late_resent = Figure::count(after_late.1, after_late.0),
                late_answered = Figure::total(after_late.0),
                in_time_resent = Figure::count(after_in_time.1, after_in_time.0),
                in_time_answered = Figure::total(after_in_time.0)
            ),
        )
    } else if let (true, false, Some(retry)) =
        (resent_percent <= 2.0 && answered_share >= 0.9, shows_all, many_retries(others))
    {
        (
            "not-determined",
            sentence!(
                "cannot be determined from this capture, because {retries} of the {mpdus} captured carry the retry bit ({share}){beside}, and of \
                 {ppdus} PPDUs {resent} {were} sent again for lack of a response as far as captured: {why}",
                retries = Figure::count(retry.retries, retry.frames),
                mpdus = Figure::all(retry.frames, "MPDU"),
                share = Figure::percent(retry.retries, retry.frames, 1),
                resent = Figure::only(data.missing_resent, data.ppdus),
                ppdus = ppdus();
                beside = if retries.left_out(&exchange.ta, &exchange.ra) > 0 { ", beside those that Block Acks left out" } else { "" },
                were = one_or(data.missing_resent, "was", "were"),
                why = if lacks_attempts {
                    "of most of the others no undamaged earlier attempt was captured"
                } else {
                    "what made the sender repeat the others, these responses do not show"
                }
            ),
        )
    } else if resent_percent <= 2.0 && answered_share >= 0.9 {
        let complete = sentence!(
            "Responses are {whole}: {answered} of {ppdus} PPDUs {were} answered, {resent} {resent_were} sent again for lack of a response \
             ({share})",
            answered = Figure::count(data.answered, data.ppdus),
            ppdus = ppdus(),
            resent = resent(),
            share = Figure::percent(data.missing_resent, data.ppdus, 1);
            whole = match (data.answered >= data.ppdus, hears_all) {
                (true, true) => "complete",
                (false, true) => "in order",
                (true, false) => "complete as far as captured",
                (false, false) => "in order as far as captured",
            },
            were = one_or(data.answered, "was", "were"),
            resent_were = one_or(data.missing_resent, "was", "were")
        );
        ("in-order", beside_retries(complete, retries, &exchange.ta, &exchange.ra))
    } else if resent_percent <= 2.0 {
        (
            "not-determined",
            sentence!(
                "cannot be determined from this capture, because {answered} to {ppdus} {were} captured undamaged ({share}); \
                 {resent} {resent_were} sent again{meaning}",
                answered = Figure::only_counted(data.answered, data.ppdus, "response"),
                ppdus = Figure::all(data.ppdus, "PPDU"),
                share = Figure::percent(data.answered, data.ppdus, 0),
                resent = Figure::only(data.missing_resent, data.ppdus);
                were = one_or(data.answered, "was", "were"),
                resent_were = one_or(data.missing_resent, "was", "were"),
                meaning = if hears_all {
                    ", so the sender most likely got the others"
                } else {
                    " as far as captured, but this capture may lack the repetitions, too"
                }
            ),
        )
    } else {
        unanswered(exchange, &rates, timed)
    };
    AckVerdict {
        originator: exchange.ta.clone(),
        recipient: exchange.ra.clone(),
        question: "ack".to_owned(),
        answer: answer.to_owned(),
        sentence,
        evidence: if control_frames == 0 { sent_again(exchange, &rates) } else { rate_evidence(exchange, &rates) },
    }
}

/// Many PPDUs were sent again without an answer: lost, or answered without the sender's receiving it?
fn unanswered(exchange: &Exchange, rates: &[&ExchangeRate], timed: Option<Spread>) -> (&'static str, Sentence) {
    let data = exchange.data;
    let late = exchange.data_late_responses.unwrap_or(0);
    let ppdus = || Figure::total(data.ppdus);
    let resent = || Figure::count(data.missing_resent, data.ppdus);
    let best = rates.iter().max_by(|a, b| share(a.answered, a.ppdus).total_cmp(&share(b.answered, b.ppdus)));
    let measured = exchange.data_gap_us.map_or(0, |gap| gap.n);
    let held: u64 = rates.iter().map(|rate| rate.missing_resent).sum();
    let worst = rates.iter().min_by(|a, b| share(a.answered, a.ppdus).total_cmp(&share(b.answered, b.ppdus)));
    if data.missing_resent < MIN_MISSING {
        return (
            "not-determined",
            sentence!(
                "cannot be determined from this capture, because {resent} of {ppdus} PPDUs {were} sent again without a response captured undamaged (at least \
                 {MIN_MISSING} are needed)",
                resent = Figure::only(data.missing_resent, data.ppdus),
                ppdus = ppdus();
                were = one_or(data.missing_resent, "was", "were")
            ),
        );
    }
    if !rates.is_empty() && held * 10 < data.missing_resent * 8 {
        return (
            "not-determined",
            sentence!(
                "cannot be determined from this capture, because {held} of the {resent} PPDUs that were sent again without a response captured undamaged \
                 were sent at a rate that is used enough (at least {MIN_PPDUS} PPDUs)",
                held = Figure::only(held, data.missing_resent),
                resent = resent()
            ),
        );
    }
    match (best, worst, timed) {
        (Some(best), Some(worst), Some(gap))
            if share(best.answered, best.ppdus) >= 0.8 && data.answered >= MIN_PPDUS && late * 20 <= gap.n =>
        {
            let said = sentence!(
                "{resent} of {ppdus} PPDUs ({share}) have no response captured undamaged and were sent again; {in_time} of {timed} responses came in \
                 time (median {gap} µs)",
                resent = resent(),
                ppdus = ppdus(),
                share = Figure::percent(data.missing_resent, data.ppdus, 1),
                in_time = Figure::count(gap.n - late.min(gap.n), gap.n),
                timed = Figure::total(gap.n),
                gap = Figure::of(gap.median, "µs", gap.n, 0)
            );
            let rate = if rates.len() > 1 {
                sentence!(
                    "and from {worst} ({worst_rate}) to {best} ({best_rate}) are answered, so no rate with at least \
                     {MIN_PPDUS} PPDUs is left unanswered: most likely the others were not received, or answered, but the answer did not reach the \
                     sender",
                    worst = Figure::percent(worst.answered, worst.ppdus, 0),
                    best = Figure::percent(best.answered, best.ppdus, 0);
                    worst_rate = worst.label,
                    best_rate = best.label
                )
            } else {
                sentence!(
                    "and at {rate}, the only rate with enough PPDUs, {best} are answered: most likely the others were not received, or \
                     answered, but the answer did not reach the sender",
                    best = Figure::percent(best.answered, best.ppdus, 0);
                    rate = best.label
                )
            };
            ("not-received", said.and(", ", rate))
        }
        (Some(best), ..) if share(best.answered, best.ppdus) >= 0.8 && data.answered >= MIN_PPDUS && timed.is_none() => (
            "not-determined",
            sentence!(
                "cannot be determined from this capture, because {timed} {were} measured (at least {MIN_PPDUS} are \
                 needed): {resent} of {ppdus} PPDUs ({share}) have no response captured undamaged and were sent again, lost or answered too late",
                timed = Figure::only_counted(measured, data.answered, "response delay"),
                resent = resent(),
                ppdus = ppdus(),
                share = Figure::percent(data.missing_resent, data.ppdus, 1);
                were = one_or(measured, "was", "were")
            ),
        ),
        (None, ..) => (
            "not-determined",
            sentence!(
                "cannot be determined from this capture, because it names no rate at which at least {MIN_PPDUS} PPDUs were sent: {resent} of \
                 {ppdus} PPDUs ({share}) have no response captured undamaged and were sent again",
                resent = resent(),
                ppdus = ppdus(),
                share = Figure::percent(data.missing_resent, data.ppdus, 1)
            ),
        ),
        _ => (
            "not-determined",
            sentence!(
                "cannot be determined from this capture, because the responses of {who} are in it too seldom ({answered} for {ppdus}): \
                 {resent} {were} sent again, but a response that only the sniffer missed looks the same",
                answered = Figure::count(data.answered, data.ppdus),
                ppdus = Figure::all(data.ppdus, "PPDU"),
                resent = Figure::counted(data.missing_resent, data.ppdus, "PPDU");
                were = one_or(data.missing_resent, "was", "were"),
                who = exchange.ra
            ),
        ),
    }
}

/// What there is to say where responses were not recorded: how much was sent, and sent again.
fn sent_again(exchange: &Exchange, rates: &[&ExchangeRate]) -> Vec<Sentence> {
    let by_rate = rates.iter().map(|rate| {
        sentence!(
            "{label}: {resent} of {ppdus} PPDUs {were} sent again",
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
                "{label}: {answered} of {ppdus} PPDUs answered ({share}), {resent} sent again",
                answered = Figure::count(rate.answered, rate.ppdus),
                ppdus = Figure::total(rate.ppdus),
                share = Figure::percent(rate.answered, rate.ppdus, 0),
                resent = Figure::counted(rate.missing_resent, rate.ppdus, "unanswered one");
                label = rate.label
            )
        })
        .collect();
    let missing = data.missing_resent + data.missing_not_resent;
    if missing > 0 {
        evidence.push(sentence!(
            "{missing} without a response captured undamaged: {resent} sent again (not acknowledged, or the sender missed it), \
             {not_resent} not sent again as far as captured (acknowledged unheard, or given up)",
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
            "management frames are not judged here: {answered} of {ppdus} {were} answered",
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

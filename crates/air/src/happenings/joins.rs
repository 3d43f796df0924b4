//! Who tried to join which network, how far they came, and what stopped them.

use hashbrown::HashMap;
use wire::ieee80211::eapol::Message;
use wire::ieee80211::{FixedFields, FrameKind, MacAddr, ReasonCode, StatusCode};

use super::context::{named, Context};
use crate::eapol::Eapol;
use crate::frame::{Detail, Frame};
use crate::report::Happening;
use sentence::{sentence, Figure, Sentence};

/// Pairs of station and access point that are followed.
const MAX_PAIRS: usize = 1_024;
/// Different failures kept of a pair.
const MAX_FAILURES: usize = 8;
/// Different failures of a pair that are named.
const MAX_NAMED: usize = 3;
/// Roams kept.
const MAX_ROAMS: usize = 256;
/// An attempt that has not gone on for so long is over.
const OVER_NS: i64 = 5_000_000_000;
/// A station that asks again after this begins anew.
const AGAIN_NS: i64 = 2_000_000_000;
/// Requests without an answer from which an attempt failed for want of one.
const MIN_UNANSWERED: u32 = 3;
/// SAE (9.4.1.1).
const SAE: u16 = 3;
/// Status codes of SAE that ask for another message or name a method: nothing is refused (9.4.1.9).
const NOT_REFUSED: [u16; 4] = [0, 76, 126, 127];

/// How far an attempt came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    #[default]
    Authentication,
    Association,
    Eap,
    Handshake1,
    Handshake2,
    Handshake3,
    Handshake4,
}

impl Step {
    const fn code(self) -> &'static str {
        match self {
            Self::Authentication => "authentication",
            Self::Association => "association",
            Self::Eap => "eap",
            Self::Handshake1 => "handshake-1",
            Self::Handshake2 => "handshake-2",
            Self::Handshake3 => "handshake-3",
            Self::Handshake4 => "handshake-4",
        }
    }

    const fn words(self) -> &'static str {
        match self {
            Self::Authentication => "authentication",
            Self::Association => "association",
            Self::Eap => "EAP",
            Self::Handshake1 => "message 1 of the four-way handshake",
            Self::Handshake2 => "message 2 of the four-way handshake",
            Self::Handshake3 => "message 3 of the four-way handshake",
            Self::Handshake4 => "message 4 of the four-way handshake",
        }
    }
}

/// What stopped an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    Refused(u16),
    Deauthenticated(u16),
    NoAnswer,
    /// Message 2 was followed by message 1 again.
    NotAccepted,
    EapFailure,
}

impl Cause {
    const fn code(self) -> &'static str {
        match self {
            Self::Refused(_) => "refused",
            Self::Deauthenticated(_) => "deauthenticated",
            Self::NoAnswer => "no-answer",
            Self::NotAccepted => "not-accepted",
            Self::EapFailure => "eap-failure",
        }
    }
}

/// One attempt of a station.
#[derive(Clone, Copy, Debug, Default)]
struct Attempt {
    last_ns: i64,
    step: Step,
    /// When the latest frame of the step came, and whether it was an answer of the access point.
    step_ns: Option<i64>,
    is_answer: bool,
    /// Requests without the retry bit, since the last answer.
    requests: u32,
    answered: bool,
    /// An answer that asks for another message: what follows goes on.
    is_asked_on: bool,
    associated: bool,
    messages: [u32; 4],
    /// Those of them without the retry bit.
    firsts: [u32; 4],
    /// Messages 1 behind a message 2.
    repeated_first: u32,
    stopped: Option<End>,
    /// Reason of a deauthentication with which the station answered message 1.
    left: Option<u16>,
    eap_failed: bool,
    /// Its EAP is Wi-Fi Simple Configuration, which ends with EAP-Failure.
    is_wps: bool,
    wps_refused: bool,
    /// The station sent data encrypted with the key of a handshake of which message 4 was not captured.
    has_key: bool,
}

/// Attempts that failed for the same cause.
#[derive(Clone, Copy, Debug)]
struct Failure {
    step: Step,
    cause: Cause,
    times: u64,
    /// Shortest and longest time from the latest frame of the step to what stopped it.
    delays_ns: Option<(i64, i64)>,
    /// That frame was an answer of the access point.
    is_answer: bool,
    /// Attempts among them in which message 1 was sent again after message 2.
    first_again: u64,
}

/// How an attempt ended.
#[derive(Clone, Copy, Debug)]
struct End {
    step: Step,
    cause: Cause,
    /// Time since the latest frame of the step.
    delay_ns: Option<i64>,
    /// That frame was an answer of the access point.
    is_answer: bool,
}

/// A station and an access point.
#[derive(Clone, Debug, Default)]
struct Pair {
    current: Option<Attempt>,
    attempts: u64,
    /// With message 4 of a handshake.
    joined: u64,
    /// With an association, behind which no message of a handshake was captured.
    associated: u64,
    /// A request or an answer was captured: not only handshakes, which also renew keys.
    has_requests: bool,
    failures: Vec<Failure>,
    /// Message 1 in attempts without a message 2, and its retransmissions.
    unanswered_first: u64,
    unanswered_again: u64,
    /// Reason of the deauthentications with which the station answered it.
    left: Option<u16>,
    frames: u64,
    first_ns: i64,
    last_ns: i64,
    is_sae: bool,
}

/// A station that changed its access point.
#[derive(Clone, Copy, Debug)]
struct Roam {
    station: MacAddr,
    from: MacAddr,
    to: MacAddr,
    first_ns: i64,
    last_ns: i64,
    times: u64,
}

/// All pairs.
#[derive(Debug, Default)]
pub struct Joins {
    pairs: HashMap<(u64, u64), Pair>,
    joined: HashMap<u64, MacAddr>,
    roams: Vec<Roam>,
    /// The latest pair with message 3 and without message 4.
    awaits_key: Option<(u64, u64)>,
}

/// What a frame is in an attempt to join.
enum Part {
    Request {
        step: Step,
        is_sae: bool,
    },
    Answer {
        step: Step,
        status: u16,
    },
    Message(usize),
    Eap {
        failed: bool,
    },
    Wps {
        refused: bool,
    },
    End(u16),
    /// The station deauthenticates itself.
    Left(u16),
}

impl Part {
    /// The station goes on: it sends it, or message 3, which answers its message 2.
    const fn is_of_station(&self) -> bool {
        matches!(self, Self::Request { .. } | Self::Message(1..=3))
    }
}

impl Joins {
    /// Records a management frame or EAPOL packet that is not known to be damaged.
    pub fn frame(&mut self, frame: &Frame, detail: &Detail, at_ns: i64) {
        let Some((station, ap, part)) = read(frame, detail) else { return };
        if station == ap || station.is_group() || ap.is_group() {
            return;
        }
        if let Part::Answer { step: Step::Association, status: 0 } = part {
            self.associated(station, ap, at_ns);
        }
        let key = (station.as_u64(), ap.as_u64());
        if self.pairs.len() >= MAX_PAIRS && !self.pairs.contains_key(&key) {
            return;
        }
        if matches!(part, Part::End(_) | Part::Left(_)) && !self.pairs.contains_key(&key) {
            return;
        }
        let pair = self.pairs.entry(key).or_insert_with(|| Pair { first_ns: at_ns, ..Pair::default() });
        pair.take(&part, at_ns, frame.header.fc.retry());
        match part {
            Part::Message(2) => self.awaits_key = Some(key),
            Part::Message(3) => self.awaits_key = None,
            _ => {}
        }
    }

    /// Records any frame that is not known to be damaged. Behind message 3, encrypted data of the station shows that it has the key.
    #[inline]
    pub fn data(&mut self, frame: &Frame) {
        let Some(key) = self.awaits_key else { return };
        let (fc, ta) = (frame.header.fc, frame.header.addr2);
        if fc.to_ds() && fc.protected() && fc.carries_data() && ta.is_some_and(|ta| ta.as_u64() == key.0) {
            self.awaits_key = None;
            if let Some(attempt) = self.pairs.get_mut(&key).and_then(|pair| pair.current.as_mut()) {
                attempt.has_key = true;
            }
        }
    }

    fn associated(&mut self, station: MacAddr, ap: MacAddr, at_ns: i64) {
        if self.joined.len() >= MAX_PAIRS && !self.joined.contains_key(&station.as_u64()) {
            return;
        }
        let Some(from) = self.joined.insert(station.as_u64(), ap).filter(|from| *from != ap) else { return };
        let same = |roam: &&mut Roam| (roam.station, roam.from, roam.to) == (station, from, ap);
        if let Some(roam) = self.roams.iter_mut().find(same) {
            (roam.times, roam.last_ns) = (roam.times + 1, at_ns);
        } else if self.roams.len() < MAX_ROAMS {
            self.roams.push(Roam { station, from, to: ap, first_ns: at_ns, last_ns: at_ns, times: 1 });
        }
    }

    /// Attempts of a station to join this access point, whatever became of them.
    pub fn attempts(&self, station: MacAddr, ap: MacAddr) -> u64 {
        self.pairs.get(&(station.as_u64(), ap.as_u64())).map_or(0, |pair| pair.attempts)
    }

    /// What happened.
    pub fn report(&self, context: &Context<'_>) -> Vec<Happening> {
        let mut keys: Vec<&(u64, u64)> = self.pairs.keys().collect();
        keys.sort();
        let pairs = keys.into_iter().filter_map(|key| Some((key, self.pairs.get(key)?)));
        let mut all: Vec<Happening> = pairs
            .filter_map(|((station, ap), pair)| {
                let (station, ap) = (MacAddr::from_u64(*station), MacAddr::from_u64(*ap));
                let mut pair = pair.clone();
                pair.close();
                pair.failures.retain(|failure| failure.is_shown(station, ap, context));
                pair.happening(station, ap, context)
            })
            .collect();
        all.extend(self.roams.iter().map(|roam| roam.happening(context)));
        all
    }
}

impl Roam {
    fn happening(&self, context: &Context<'_>) -> Happening {
        let said = sentence!(
            "{station} moved from {from} to {to}{times}",
            times = Figure::said(
                self.times as f64,
                "count",
                self.times,
                &if self.times > 1 { format!(" {} times", self.times) } else { String::new() }
            );
            station = self.station,
            from = context.network(self.from),
            to = context.network(self.to)
        );
        Happening {
            station: Some(self.station.to_string()),
            bssid: Some(self.to.to_string()),
            from_bssid: Some(self.from.to_string()),
            ..Happening::new("roamed", "event", (self.first_ns, self.last_ns), self.times, said)
        }
    }
}

impl Pair {
    fn take(&mut self, part: &Part, at_ns: i64, retry: bool) {
        let is_over = |attempt: &Attempt| at_ns.saturating_sub(attempt.last_ns) > OVER_NS;
        if self.current.as_ref().is_some_and(is_over) {
            self.close();
        }
        let is_new_attempt = |attempt: &Attempt, asked: Step| match asked {
            Step::Authentication => {
                attempt.step > Step::Authentication
                    || attempt.stopped.is_some()
                    || (attempt.answered && !attempt.is_asked_on)
                    || at_ns.saturating_sub(attempt.last_ns) > AGAIN_NS
            }
            // Without a new authentication only where the last one was told that it failed.
            asked => attempt.step >= asked && attempt.stopped.is_some(),
        };
        if let (&Part::Request { step, .. }, false) = (part, retry) {
            if self.current.as_ref().is_some_and(|attempt| is_new_attempt(attempt, step)) {
                self.close();
            }
        }
        if self.current.is_none() {
            if matches!(part, Part::End(_) | Part::Left(_) | Part::Answer { .. } | Part::Eap { .. } | Part::Wps { .. })
            {
                return;
            }
            self.attempts += 1;
            self.current = Some(Attempt { last_ns: at_ns, ..Attempt::default() });
        }
        let Some(attempt) = &mut self.current else { return };
        if let Part::Left(reason) = *part {
            if attempt.messages[0] > 0 && attempt.messages[1] == 0 {
                attempt.left = Some(reason);
            }
            return;
        }
        self.frames += 1;
        self.last_ns = at_ns;
        self.has_requests |= matches!(part, Part::Request { .. } | Part::Answer { .. });
        let before = attempt.step;
        match *part {
            Part::Request { step, is_sae } => {
                self.is_sae |= is_sae;
                attempt.requests = if step > attempt.step { 0 } else { attempt.requests } + u32::from(!retry);
                attempt.answered &= step <= attempt.step;
                attempt.reached(step, at_ns, false);
            }
            Part::Answer { step, status } => {
                attempt.answered = true;
                attempt.is_asked_on = status != 0 && NOT_REFUSED.contains(&status);
                attempt.associated |= step == Step::Association && status == 0;
                if !NOT_REFUSED.contains(&status) {
                    attempt.stop(step, Cause::Refused(status), at_ns);
                }
                attempt.reached(step, at_ns, true);
            }
            Part::Message(number) => {
                attempt.repeated_first += u32::from(number == 0 && attempt.messages[1] > 0 && !retry);
                if let (Some(count), Some(firsts)) = (attempt.messages.get_mut(number), attempt.firsts.get_mut(number))
                {
                    *count += 1;
                    *firsts += u32::from(!retry);
                }
                let steps = [Step::Handshake1, Step::Handshake2, Step::Handshake3, Step::Handshake4];
                attempt.reached(steps.get(number).copied().unwrap_or_default(), at_ns, false);
            }
            Part::Eap { failed } => {
                attempt.reached(Step::Eap, at_ns, false);
                attempt.eap_failed |= failed;
            }
            Part::Wps { refused } => {
                attempt.reached(Step::Eap, at_ns, false);
                attempt.is_wps = true;
                attempt.wps_refused |= refused;
            }
            Part::Left(_) => {}
            Part::End(reason) => {
                // What was accepted did not fail: the next step did not come to its end.
                let is_authenticated = attempt.step == Step::Authentication && attempt.answered;
                let step = if is_authenticated { Step::Association } else { attempt.step };
                if !attempt.has_joined() {
                    attempt.stop(step, Cause::Deauthenticated(reason), at_ns);
                }
            }
        }
        // A station that goes on was not stopped: another one sent that deauthentication. An access point that goes on does not
        // know that the station was stopped in its name.
        if attempt.step > before
            && part.is_of_station()
            && matches!(attempt.stopped, Some(End { cause: Cause::Deauthenticated(_), .. }))
        {
            attempt.stopped = None;
        }
        attempt.last_ns = at_ns;
    }

    /// The attempt that is open is over.
    fn close(&mut self) {
        let Some(attempt) = self.current.take() else { return };
        if attempt.has_joined() {
            self.joined += 1;
            return;
        }
        if attempt.messages[0] > 0 && attempt.messages[1] == 0 {
            let again = attempt.messages[0] - attempt.firsts[0].min(attempt.messages[0]);
            self.unanswered_first += u64::from(attempt.messages[0] - again);
            self.unanswered_again += u64::from(again);
            self.left = self.left.or(attempt.left);
        }
        match attempt.failure() {
            Some(end) => self.failed(end, attempt.is_asked_again()),
            // Of a protected network, the handshake may have been missed.
            None => self.associated += u64::from(attempt.associated && attempt.step == Step::Association),
        }
    }

    fn failed(&mut self, end: End, is_asked_again: bool) {
        let End { step, cause, delay_ns, is_answer } = end;
        let same =
            |failure: &&mut Failure| (failure.step, failure.cause, failure.is_answer) == (step, cause, is_answer);
        let first_again = u64::from(is_asked_again);
        if let Some(failure) = self.failures.iter_mut().find(same) {
            failure.times += 1;
            failure.first_again += first_again;
            if let Some(delay) = delay_ns {
                let (min, max) = failure.delays_ns.unwrap_or((delay, delay));
                failure.delays_ns = Some((min.min(delay), max.max(delay)));
            }
        } else if self.failures.len() < MAX_FAILURES {
            let delays_ns = delay_ns.map(|delay| (delay, delay));
            self.failures.push(Failure { step, cause, times: 1, delays_ns, is_answer, first_again });
        }
    }

    /// Message 1, and what came instead of message 2.
    fn without_message_2(&self) -> Sentence {
        let again = Figure::counted(self.unanswered_again, self.frames, "time");
        let sent = match self.unanswered_first {
            0 => sentence!(
                "retransmissions of message 1 of the four-way handshake were captured {again} without a message 2",
                again = again
            ),
            first => sentence!(
                "message 1 of the four-way handshake was sent {sent} and retransmitted {again} without a message 2",
                sent = Figure::counted(first, self.frames, "time"),
                again = again
            ),
        };
        match self.left {
            None => sent,
            Some(reason) => sent.and(
                ": ",
                sentence!(
                    "it was answered in the name of the station with a Deauthentication or Disassociation, reason {reason} ({text})",
                    reason = Figure::of(f64::from(reason), "count", self.frames, 0);
                    text = ReasonCode::from(reason).text()
                ),
            ),
        }
    }

    fn happening(&self, station: MacAddr, ap: MacAddr, context: &Context<'_>) -> Option<Happening> {
        let span_ns = (self.first_ns, self.last_ns);
        let filled = |happening: Happening| Happening {
            station: Some(station.to_string()),
            bssid: Some(ap.to_string()),
            attempts: Some(self.attempts),
            ..happening
        };
        let failed: u64 = self.failures.iter().map(|failure| failure.times).sum();
        let unseen = self.attempts.saturating_sub(failed + self.joined + self.associated);
        // In a protected network, association alone is not the end of it.
        let joined = self.joined + if context.has_no_handshake(ap) { self.associated } else { 0 };
        let mut failures: Vec<&Failure> = self.failures.iter().collect();
        failures.sort_by_key(|failure| std::cmp::Reverse(failure.times));
        let Some(most) = failures.first() else {
            return (joined > 0).then(|| {
                let said = sentence!(
                    "{station} {joined} {network}{times}{keys}",
                    times = Figure::said(
                        joined as f64,
                        "count",
                        self.attempts,
                        &if joined > 1 { format!(" {joined} times") } else { String::new() }
                    );
                    station = station,
                    joined = if self.has_requests { "joined" } else { "completed the four-way handshake with" },
                    network = context.network(ap),
                    keys = if self.has_requests { "" } else { ": it joined, or renewed its keys" }
                );
                filled(Happening::new("joined", "event", span_ns, self.frames, said))
            });
        };
        let said = sentence!(
            "{station} tried to join {network}{attempts} and failed{failed}: ",
            attempts = match self.attempts {
                1 => Figure::said(1.0, "count", 1, ""),
                attempts => Figure::said(attempts as f64, "count", attempts, &format!(" {attempts} times")),
            },
            failed = match (failed == self.attempts, failed) {
                (true, 1) => Figure::said(1.0, "count", 1, ""),
                (true, _) => Figure::said(failed as f64, "count", self.attempts, " each time"),
                (false, 1) => Figure::said(1.0, "count", self.attempts, " once"),
                (false, _) => Figure::said(failed as f64, "count", self.attempts, &format!(" {failed} times")),
            };
            station = station,
            network = context.network(ap)
        );
        let mut said = said.and("", most.words(failed));
        for failure in failures.iter().skip(1).take(MAX_NAMED - 1) {
            said = said.and("; ", failure.words(failed));
        }
        if self.unanswered_first + self.unanswered_again >= 4 && most.cause != Cause::NoAnswer {
            said = said.and("; ", self.without_message_2());
        }
        if joined > 0 {
            let joined = match joined {
                1 => Figure::said(1.0, "count", self.attempts, "once"),
                _ => Figure::counted(joined, self.attempts, "time"),
            };
            said = said.and("; ", sentence!("it joined {joined}", joined = joined));
        }
        if unseen > 0 {
            let unseen = Figure::counted(unseen, self.attempts, "attempt");
            said = said.and("; ", sentence!("the end of {unseen} was not captured", unseen = unseen));
        }
        let (status, reason) = match most.cause {
            Cause::Refused(status) => (Some(status), None),
            Cause::Deauthenticated(reason) => (None, Some(reason)),
            _ => (None, None),
        };
        Some(Happening {
            step: Some(most.step.code().to_owned()),
            cause: Some(most.cause.code().to_owned()),
            failures: Some(failed),
            status,
            reason,
            ..filled(Happening::new("join-failed", "fault", span_ns, self.frames, said))
        })
    }
}

impl Attempt {
    /// The handshake is complete.
    const fn has_joined(&self) -> bool {
        self.messages[3] > 0 || self.has_key
    }

    /// A frame of a step: the latest one of the last step is what an end is told from.
    fn reached(&mut self, step: Step, at_ns: i64, is_answer: bool) {
        if step >= self.step {
            (self.step, self.step_ns, self.is_answer) = (step, Some(at_ns), is_answer);
        }
    }

    /// Message 1 came again behind message 2, and no message 3: the access point did not take that message.
    const fn is_asked_again(&self) -> bool {
        self.messages[1] > 0 && self.messages[2] == 0 && self.repeated_first > 0
    }

    fn stop(&mut self, step: Step, cause: Cause, at_ns: i64) {
        let delay_ns = self.step_ns.map(|step_ns| at_ns.saturating_sub(step_ns));
        let is_answer = self.is_answer;
        self.stopped.get_or_insert(End { step, cause, delay_ns, is_answer });
    }

    /// Where and why it ended, where the capture shows that.
    fn failure(&self) -> Option<End> {
        let [first, second, third, fourth] = self.messages;
        let end = |step, cause| Some(End { step, cause, delay_ns: None, is_answer: self.is_answer });
        if let Some(end) = self.stopped {
            return Some(end);
        }
        if self.eap_failed && (!self.is_wps || self.wps_refused) {
            return end(Step::Eap, Cause::EapFailure);
        }
        if self.is_asked_again() {
            return end(Step::Handshake2, Cause::NotAccepted);
        }
        // Where the sniffer missed the answer, the access point does not send its message anew.
        let unanswered = [(first, 0, second, Step::Handshake1), (third, 2, fourth, Step::Handshake3)];
        let is_sent_anew = |at: usize| self.firsts.get(at).is_some_and(|firsts| *firsts > 1);
        let handshake = unanswered
            .into_iter()
            .find(|(sent, at, answers, _)| *sent >= MIN_UNANSWERED && *answers == 0 && is_sent_anew(*at));
        if let Some((.., step)) = handshake {
            return end(step, Cause::NoAnswer);
        }
        let is_open = !self.answered && self.requests >= MIN_UNANSWERED && self.step <= Step::Association;
        end(self.step, Cause::NoAnswer).filter(|_| is_open)
    }
}

impl Failure {
    /// Silence is evidence only of who was heard at all.
    fn is_shown(&self, station: MacAddr, ap: MacAddr, context: &Context<'_>) -> bool {
        match (self.cause, self.step) {
            (Cause::NoAnswer, Step::Handshake1 | Step::Handshake3) => context.stations.sends(station),
            (Cause::NoAnswer, _) => context.stations.sends(ap),
            _ => true,
        }
    }

    /// How long after the latest frame of the step the end came: of all, where they differ.
    fn delay(&self) -> Figure {
        let (min, max) = self.delays_ns.unwrap_or_default();
        let ms = |ns: i64| format!("{:.1}", ns as f64 / 1e6);
        let text = match ms(min) == ms(max) {
            true => format!("{} ms", ms(min)),
            false => format!("{} to {} ms", ms(min), ms(max)),
        };
        Figure::said(min as f64 / 1e6, "ms", self.times, &text)
    }

    /// What stopped attempts, of which `failed` failed.
    fn words(&self, failed: u64) -> Sentence {
        let times = match (self.times == failed, self.times) {
            (true, times) => Figure::said(times as f64, "count", failed, ""),
            (false, times) => Figure::said(times as f64, "count", failed, &format!("{times} of these ")),
        };
        let step = self.step.words();
        match self.cause {
            Cause::Refused(status) => sentence!(
                "{times}refused at the {step}, status {status} ({text})",
                times = times,
                status = Figure::of(f64::from(status), "count", self.times, 0);
                step = step,
                text = StatusCode::from(status).text()
            ),
            Cause::Deauthenticated(reason) => sentence!(
                "{times}a Deauthentication or Disassociation in the name of the access point {delay} after {step}, reason {reason} ({text}){again}",
                times = times,
                delay = self.delay(),
                reason = Figure::of(f64::from(reason), "count", self.times, 0),
                again = match self.first_again {
                    0 => Figure::said(0.0, "count", self.times, ""),
                    again => Figure::said(
                        again as f64,
                        "count",
                        self.times,
                        ", behind a message 1 that was sent again after message 2, as after a wrong password",
                    ),
                };
                step = match (self.step, self.is_answer) {
                    (Step::Authentication, false) => "the authentication request",
                    (Step::Association, false) => "the association request",
                    (Step::Association, true) => "an answer of the access point",
                    _ => step,
                },
                text = ReasonCode::from(reason).text()
            ),
            Cause::NoAnswer => sentence!("{times}no answer to {step}", times = times; step = step),
            Cause::NotAccepted => sentence!(
                "{times}as after a wrong password: the access point sent message 1 of the four-way handshake again after message 2",
                times = times
            ),
            Cause::EapFailure => sentence!("{times}EAP-Failure", times = times),
        }
    }
}

/// Station, access point, and what the frame is for them.
fn read(frame: &Frame, detail: &Detail) -> Option<(MacAddr, MacAddr, Part)> {
    let (ta, ra) = (frame.ta()?, frame.header.receiver());
    match detail {
        Detail::Management(management) => {
            let bssid = frame.header.bssid()?;
            let by_ap = ta == bssid;
            let (station, ap) = if by_ap { (ra, ta) } else { (ta, bssid) };
            let part = match (frame.header.fc.kind(), &management.fixed) {
                (FrameKind::Authentication, FixedFields::Authentication { algorithm, transaction, status }) => {
                    match (by_ap, *algorithm == SAE && *transaction == 2) {
                        (true, _) => Part::Answer { step: Step::Authentication, status: status.number() },
                        // A confirm is the next message of the same request.
                        (false, is_confirm) if is_confirm || *transaction > 2 => return None,
                        (false, _) => Part::Request { step: Step::Authentication, is_sae: *algorithm == SAE },
                    }
                }
                (FrameKind::AssociationRequest | FrameKind::ReassociationRequest, _) if !by_ap => {
                    Part::Request { step: Step::Association, is_sae: false }
                }
                (_, FixedFields::AssociationResponse { status, .. }) if by_ap => {
                    Part::Answer { step: Step::Association, status: status.number() }
                }
                (_, FixedFields::Deauthentication(reason) | FixedFields::Disassociation(reason)) => match by_ap {
                    true => Part::End(reason.number()),
                    false => Part::Left(reason.number()),
                },
                _ => return None,
            };
            Some((station, ap, part))
        }
        Detail::Eapol(packet) => {
            let (from_ap, part) = match packet {
                Eapol::Key(Message::First) => (true, Part::Message(0)),
                Eapol::Key(Message::Second) => (false, Part::Message(1)),
                Eapol::Key(Message::Third) => (true, Part::Message(2)),
                Eapol::Key(Message::Fourth) => (false, Part::Message(3)),
                Eapol::Eap(4) => (true, Part::Eap { failed: true }),
                Eapol::Eap(3) => (true, Part::Eap { failed: false }),
                Eapol::Wps { is_request, is_nack } => (*is_request, Part::Wps { refused: *is_nack }),
                _ => return None,
            };
            Some(if from_ap { (ra, ta, part) } else { (ta, ra, part) })
        }
        _ => None,
    }
    .filter(|(station, ap, _)| named(*station) && named(*ap))
}

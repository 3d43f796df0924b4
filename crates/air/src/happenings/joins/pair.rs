//! A station and an access point: its attempts to join, one after the other.

use wire::ieee80211::MacAddr;

use super::attempt::{Attempt, Cause, End, Step};
use super::part::Part;
use crate::happenings::context::Context;

/// Different failures kept of a pair.
const MAX_FAILURES: usize = 8;
/// An attempt that has not gone on for so long is over.
const OVER_NS: i64 = 5_000_000_000;
/// A request after this long without one is a new attempt.
const AGAIN_NS: i64 = 2_000_000_000;
/// Status codes of SAE that ask for another message or name a method: nothing is refused (9.4.1.9).
const NOT_REFUSED: [u16; 4] = [0, 76, 126, 127];

/// Attempts that failed for the same cause.
#[derive(Clone, Copy, Debug)]
pub(super) struct Failure {
    pub(super) step: Step,
    pub(super) cause: Cause,
    pub(super) times: u64,
    /// Shortest and longest time from the latest frame of the step to what stopped it.
    pub(super) delays_ns: Option<(i64, i64)>,
    /// That frame was an answer of the access point.
    pub(super) is_answer: bool,
    /// Attempts among them in which message 1 was sent again after message 2.
    pub(super) first_again: u64,
}

/// A station and an access point.
#[derive(Clone, Debug, Default)]
pub(super) struct Pair {
    pub(super) current: Option<Attempt>,
    pub(super) attempts: u64,
    /// With message 4 of a handshake.
    pub(super) joined: u64,
    /// With an association, behind which no message of a handshake was captured.
    pub(super) associated: u64,
    /// A request or an answer was captured: not only handshakes, which also renew keys.
    pub(super) has_requests: bool,
    pub(super) failures: Vec<Failure>,
    /// Message 1 in attempts without a message 2, and its retransmissions.
    pub(super) unanswered_first: u64,
    pub(super) unanswered_again: u64,
    /// Reason of the deauthentications with which the station answered it.
    pub(super) left: Option<u16>,
    pub(super) frames: u64,
    pub(super) first_ns: i64,
    pub(super) last_ns: i64,
    pub(super) is_sae: bool,
}

impl Pair {
    pub(super) fn take(&mut self, part: &Part, at_ns: i64, retry: bool) {
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
                // A step that was accepted did not fail; the next one did.
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
    pub(super) fn close(&mut self) {
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
}

impl Failure {
    /// Silence is evidence only of who was heard at all.
    pub(super) fn is_shown(&self, station: MacAddr, ap: MacAddr, context: &Context<'_>) -> bool {
        match (self.cause, self.step) {
            (Cause::NoAnswer, Step::Handshake1 | Step::Handshake3) => context.stations.sends(station),
            (Cause::NoAnswer, _) => context.stations.sends(ap),
            _ => true,
        }
    }
}

//! The sentences about joins.

use wire::ieee80211::{MacAddr, ReasonCode, StatusCode};

use super::attempt::{Cause, Step};
use super::pair::{Failure, Pair};
use super::Roam;
use crate::happenings::context::Context;
use crate::report::Happening;
use sentence::{sentence, Figure, Sentence};

/// Different failures of a pair that are named.
const MAX_NAMED: usize = 3;

impl Roam {
    pub(super) fn happening(&self, context: &Context<'_>) -> Happening {
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

    pub(super) fn happening(&self, station: MacAddr, ap: MacAddr, context: &Context<'_>) -> Option<Happening> {
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

impl Step {
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

impl Failure {
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

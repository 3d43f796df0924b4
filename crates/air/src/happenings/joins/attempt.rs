//! One attempt to join: its steps, and where and why it ended.

/// Requests without an answer from which an attempt failed for want of one.
const MIN_UNANSWERED: u32 = 3;

/// How far an attempt came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Step {
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
    pub(super) const fn code(self) -> &'static str {
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
}

/// What stopped an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    Refused(u16),
    Deauthenticated(u16),
    NoAnswer,
    /// Message 2 was followed by message 1 again.
    NotAccepted,
    EapFailure,
}

impl Cause {
    pub(super) const fn code(self) -> &'static str {
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
pub(super) struct Attempt {
    pub(super) last_ns: i64,
    pub(super) step: Step,
    /// When the latest frame of the step came, and whether it was an answer of the access point.
    pub(super) step_ns: Option<i64>,
    pub(super) is_answer: bool,
    /// Requests without the retry bit, since the last answer.
    pub(super) requests: u32,
    pub(super) answered: bool,
    /// An answer that asks for another message: what follows goes on.
    pub(super) is_asked_on: bool,
    pub(super) associated: bool,
    pub(super) messages: [u32; 4],
    /// Those of them without the retry bit.
    pub(super) firsts: [u32; 4],
    /// Messages 1 behind a message 2.
    pub(super) repeated_first: u32,
    pub(super) stopped: Option<End>,
    /// Reason of a deauthentication with which the station answered message 1.
    pub(super) left: Option<u16>,
    pub(super) eap_failed: bool,
    /// Its EAP is Wi-Fi Simple Configuration, which ends with EAP-Failure.
    pub(super) is_wps: bool,
    pub(super) wps_refused: bool,
    /// The station sent data encrypted with the key of a handshake of which message 4 was not captured.
    pub(super) has_key: bool,
}

/// How an attempt ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    pub(super) step: Step,
    pub(super) cause: Cause,
    /// Time since the latest frame of the step.
    pub(super) delay_ns: Option<i64>,
    /// That frame was an answer of the access point.
    pub(super) is_answer: bool,
}

impl Attempt {
    /// The handshake is complete.
    pub(super) const fn has_joined(&self) -> bool {
        self.messages[3] > 0 || self.has_key
    }

    /// A frame of a step: the latest one of the last step is what an end is told from.
    pub(super) fn reached(&mut self, step: Step, at_ns: i64, is_answer: bool) {
        if step >= self.step {
            (self.step, self.step_ns, self.is_answer) = (step, Some(at_ns), is_answer);
        }
    }

    /// Message 1 came again behind message 2, and no message 3: the access point did not take that message.
    pub(super) const fn is_asked_again(&self) -> bool {
        self.messages[1] > 0 && self.messages[2] == 0 && self.repeated_first > 0
    }

    pub(super) fn stop(&mut self, step: Step, cause: Cause, at_ns: i64) {
        let delay_ns = self.step_ns.map(|step_ns| at_ns.saturating_sub(step_ns));
        let is_answer = self.is_answer;
        self.stopped.get_or_insert(End { step, cause, delay_ns, is_answer });
    }

    /// Where and why it ended, where the capture shows that.
    pub(super) fn failure(&self) -> Option<End> {
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
        // An access point that got the answer does not repeat its message, even if the sniffer missed that answer.
        let unanswered = [(first, 0, second, Step::Handshake1), (third, 2, fourth, Step::Handshake3)];
        let is_repeated = |at: usize| self.firsts.get(at).is_some_and(|firsts| *firsts > 1);
        let handshake = unanswered
            .into_iter()
            .find(|(sent, at, answers, _)| *sent >= MIN_UNANSWERED && *answers == 0 && is_repeated(*at));
        if let Some((.., step)) = handshake {
            return end(step, Cause::NoAnswer);
        }
        let is_open = !self.answered && self.requests >= MIN_UNANSWERED && self.step <= Step::Association;
        end(self.step, Cause::NoAnswer).filter(|_| is_open)
    }
}

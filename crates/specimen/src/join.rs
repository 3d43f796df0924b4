//! How a station enters the network: the frames, in order.

use crate::frame::Content;
use crate::scene::Joining;

/// A frame of the script.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) from: usize,
    pub(crate) to: Option<usize>,
    pub(crate) content: Content,
    /// The flow with the Block Ack session that this frame is about.
    pub(crate) flow: Option<usize>,
    /// From the end of the step before.
    pub(crate) delay_ns: u64,
}

/// A Block Ack session to agree on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Session {
    pub(crate) flow: usize,
    pub(crate) originator: usize,
    pub(crate) recipient: usize,
    pub(crate) tid: u8,
    pub(crate) window: u16,
    pub(crate) first_seq: u16,
}

/// Progress of a station.
pub(crate) struct Join {
    pub(crate) steps: Vec<Step>,
    pub(crate) at: usize,
    pub(crate) ready_ns: u64,
    /// Transmissions of the current step, and its sequence number.
    pub(crate) sent: u32,
    pub(crate) seq: u16,
}

impl Join {
    /// The script of `station` (a node number).
    pub(crate) fn new(station: usize, protected: bool, joining: Joining, sessions: &[Session]) -> Self {
        let up = |content, delay_us: u64| Step {
            from: station,
            to: Some(0),
            content,
            flow: None,
            delay_ns: delay_us * 1000,
        };
        let down = |content, delay_us: u64| Step {
            from: 0,
            to: Some(station),
            content,
            flow: None,
            delay_ns: delay_us * 1000,
        };
        let authenticate = [
            up(Content::Authentication { step: 1 }, 20_000),
            down(Content::Authentication { step: 2 }, 600),
            up(Content::AssociationRequest, 1_500),
        ];
        let failing = match joining {
            Joining::Joins => None,
            Joining::Refused(status) => {
                Some(vec![up(Content::Authentication { step: 1 }, 20_000), down(Content::Refusal { status }, 600)])
            }
            Joining::ThrownOut(reason) => {
                Some(authenticate.into_iter().chain([down(Content::Deauthentication { reason }, 800)]).collect())
            }
            Joining::Silent => {
                let again = (0..4).map(|_| down(Content::Eapol { message: 1 }, 100_000));
                Some(authenticate.into_iter().chain([down(Content::AssociationResponse, 900)]).chain(again).collect())
            }
            Joining::WrongPassword => {
                let exchange = [down(Content::Eapol { message: 1 }, 2_500), up(Content::Eapol { message: 2 }, 2_500)];
                let again = (0..4).flat_map(|_| exchange);
                let end = down(Content::Deauthentication { reason: 15 }, 100_000);
                let associated = authenticate.into_iter().chain([down(Content::AssociationResponse, 900)]);
                Some(associated.chain(again).chain([end]).collect::<Vec<_>>())
            }
        };
        let ready_ns = 5_000_000 + 60_000_000 * (station as u64 - 1);
        if let Some(attempt) = failing {
            // It tries twice.
            let mut steps = attempt.clone();
            steps.extend(attempt);
            return Self { steps, at: 0, ready_ns, sent: 0, seq: 0 };
        }
        let mut steps = vec![
            Step { to: None, ..up(Content::ProbeRequest, 0) },
            down(Content::ProbeResponse { tsf_us: 0 }, 400),
            up(Content::Authentication { step: 1 }, 20_000),
            down(Content::Authentication { step: 2 }, 600),
            up(Content::AssociationRequest, 1_500),
            down(Content::AssociationResponse, 900),
        ];
        if protected {
            for message in 1..=4 {
                let content = Content::Eapol { message };
                steps.push(if message % 2 == 1 { down(content, 2_500) } else { up(content, 2_500) });
            }
        }
        for session in sessions {
            let Session { flow, originator, recipient, tid, window, first_seq } = *session;
            let flow = Some(flow);
            steps.push(Step {
                from: originator,
                to: Some(recipient),
                content: Content::AddbaRequest { tid, window, first_seq },
                flow,
                delay_ns: 1_000_000,
            });
            steps.push(Step {
                from: recipient,
                to: Some(originator),
                content: Content::AddbaResponse { tid, window },
                flow,
                delay_ns: 500_000,
            });
        }
        Self { steps, at: 0, ready_ns, sent: 0, seq: 0 }
    }

    pub(crate) fn step(&self) -> Option<&Step> {
        self.steps.get(self.at)
    }

    pub(crate) fn is_done(&self) -> bool {
        self.at >= self.steps.len()
    }
}

//! Echo requests and replies, as of ping(8).

use super::segment::{Body, Modelled};
use super::settings::EchoSettings;

/// Who asks.
#[derive(Clone, Debug)]
pub(crate) struct EchoSender {
    settings: EchoSettings,
    template: Modelled,
    next_ns: Option<u64>,
    sequence: u64,
}

impl EchoSender {
    pub(crate) fn new(settings: EchoSettings, template: Modelled) -> Self {
        Self { settings, template, next_ns: None, sequence: 0 }
    }

    pub(crate) fn start(&mut self, now_ns: u64, out: &mut Vec<Modelled>) {
        self.next_ns = Some(now_ns);
        self.send(now_ns, out);
    }

    pub(crate) fn stop(&mut self) {
        self.next_ns = None;
    }

    /// When [`Self::send`] wants to be called.
    pub(crate) fn timer_ns(&self) -> Option<u64> {
        self.next_ns
    }

    /// Asks, if it is time to.
    pub(crate) fn send(&mut self, now_ns: u64, out: &mut Vec<Modelled>) {
        while let Some(due_ns) = self.next_ns.filter(|due| *due <= now_ns) {
            let payload = self.settings.payload_bytes;
            let body = Body::Echo { reply: false, sequence: self.sequence, payload, asked_ns: now_ns };
            out.push(Modelled { sent_ns: now_ns, body, ..self.template });
            self.sequence += 1;
            self.next_ns = Some(due_ns + ((self.settings.interval_ms * 1e6) as u64).max(1));
        }
    }
}

/// The reply to a request; `template` goes back.
pub(crate) fn answer(now_ns: u64, request: &Modelled, template: &Modelled) -> Option<Modelled> {
    match request.body {
        Body::Echo { reply: false, sequence, payload, asked_ns } => {
            let body = Body::Echo { reply: true, sequence, payload, asked_ns };
            Some(Modelled { sent_ns: now_ns, body, ..*template })
        }
        _ => None,
    }
}

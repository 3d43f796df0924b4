//! Control messages that wait for the host: announced on the interrupt endpoint, fetched one by one (USB CDC 1.2, 6.2.2
//! and 6.3.2).

use std::collections::VecDeque;

/// Messages that wait for the host at most.
const MOST: usize = 64;
/// RESPONSE_AVAILABLE, up to the number of the interface.
const RESPONSE_AVAILABLE: [u8; 4] = [0xa1, 0x01, 0, 0];

/// The messages.
#[derive(Debug)]
pub(super) struct Outbox {
    /// The number of the control interface.
    interface: u8,
    messages: VecDeque<Vec<u8>>,
    /// Messages that the host was not notified of.
    unannounced: usize,
}

impl Outbox {
    pub(super) const fn new(interface: u8) -> Self {
        Self { interface, messages: VecDeque::new(), unannounced: 0 }
    }

    pub(super) fn clear(&mut self) {
        self.messages.clear();
        self.unannounced = 0;
    }

    pub(super) fn is_full(&self) -> bool {
        self.messages.len() >= MOST
    }

    pub(super) fn len(&self) -> usize {
        self.messages.len()
    }

    /// One more; lost where there is no room.
    pub(super) fn push(&mut self, message: Vec<u8>) {
        if !self.is_full() {
            self.messages.push_back(message);
            self.unannounced += 1;
        }
    }

    /// GET_ENCAPSULATED_RESPONSE: the next message, or nothing.
    pub(super) fn response(&mut self) -> Vec<u8> {
        let message = self.messages.pop_front().unwrap_or_default();
        // A host may fetch what was not announced.
        self.unannounced = self.unannounced.min(self.messages.len());
        message
    }

    /// The next notification that a message waits.
    pub(super) fn notification(&mut self) -> Option<[u8; 8]> {
        self.unannounced = self.unannounced.checked_sub(1)?;
        let [a, b, c, d] = RESPONSE_AVAILABLE;
        Some([a, b, c, d, self.interface, 0, 0, 0])
    }
}

crate::state!(Outbox { messages, unannounced } made { interface });

//! Messages for the host: the mailbox that it fetches them from, and the credits that they give back (Linux
//! ath6kl/htc_mbox.c).

use std::collections::VecDeque;

use wire::sdio::htc::{credits, Header, ToHost, BUNDLE_SHIFT, CONTROL, ENDPOINTS, HEADER, TRAILER};

/// Messages fill whole blocks of this size (hif.h, HIF_MBOX_BLOCK_SIZE).
pub(super) const BLOCK_BYTES: usize = 128;
/// Messages that may wait for the host: it stops answering what it does not fetch.
const MESSAGES_MAX: usize = 8_192;

#[derive(Debug, serde::Serialize, serde::Deserialize)]
struct Message {
    bytes: Vec<u8>,
    /// A received frame.
    is_frame: bool,
}

/// What HTC has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HtcCounters {
    /// Messages from the host.
    pub from_host: u64,
    /// Transfers of the host with more than one message.
    pub bundles_from_host: u64,
    /// Messages to the host.
    pub to_host: u64,
    /// Times that the host was notified that several messages can be fetched at once.
    pub bundles_to_host: u64,
    /// Messages in them.
    pub bundled_to_host: u64,
    /// Reports of credits.
    pub credit_reports: u64,
    /// Messages of nothing but a report of credits.
    pub credit_messages: u64,
    /// Transfers that hold no message, and messages that are cut.
    pub malformed: u64,
    /// Messages that found no room.
    pub overflows: u64,
    /// Times that the host fetched more than there was.
    pub underflows: u64,
}

/// The mailbox towards the host.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Htc {
    messages: VecDeque<Message>,
    /// Bytes of the first one that were fetched.
    fetched: usize,
    frames: usize,
    /// Credits to be given back, by endpoint.
    owed: [u8; ENDPOINTS as usize],
    /// Messages that may be fetched at once; 0: the host has not set HTC up yet.
    pub(super) bundle: u8,
    pub(super) counters: HtcCounters,
}

impl Htc {
    /// Nothing waits any more, and nothing is set up.
    pub(super) fn restart(&mut self) {
        *self = Self { counters: self.counters, ..Self::default() };
    }

    /// Whether something waits.
    pub(super) fn has_messages(&self) -> bool {
        !self.messages.is_empty()
    }

    /// Received frames that wait.
    pub(super) fn frames(&self) -> usize {
        self.frames
    }

    /// An answer of BMI, which is not a message: its bytes and nothing else.
    pub(super) fn put_bytes(&mut self, bytes: Vec<u8>) {
        self.put(bytes, false);
    }

    fn put(&mut self, bytes: Vec<u8>, is_frame: bool) {
        if bytes.is_empty() {
            return;
        }
        if self.messages.len() >= MESSAGES_MAX {
            self.counters.overflows += 1;
            return;
        }
        self.frames += usize::from(is_frame);
        self.messages.push_back(Message { bytes, is_frame });
    }

    /// A message of endpoint 0.
    pub(super) fn control(&mut self, message: &ToHost) {
        self.message(CONTROL, &message.emit(), false);
    }

    /// A message, with the credits that are owed.
    pub(super) fn message(&mut self, endpoint: u8, payload: &[u8], is_frame: bool) {
        let trailer = self.trailer();
        let header = Header {
            endpoint,
            flags: if trailer.is_empty() { 0 } else { TRAILER },
            payload_len: (payload.len() + trailer.len()) as u16,
            control: [trailer.len() as u8, 0],
        };
        let mut bytes = [&header.emit()[..], payload, &trailer].concat();
        bytes.resize(bytes.len().next_multiple_of(BLOCK_BYTES), 0);
        self.counters.to_host += 1;
        self.put(bytes, is_frame);
    }

    fn trailer(&mut self) -> Vec<u8> {
        // Before HTC is set up the driver does not look for trailers.
        if self.bundle == 0 || self.owed.iter().all(|&credits| credits == 0) {
            return Vec::new();
        }
        self.counters.credit_reports += 1;
        let owed = std::mem::take(&mut self.owed);
        let report: Vec<(u8, u8)> = (0..).zip(owed).filter(|&(_, credits)| credits > 0).collect();
        credits(&report)
    }

    /// Credits of an endpoint are free again.
    pub(super) fn owe(&mut self, endpoint: u8, credits: u8) {
        if let Some(owed) = self.owed.get_mut(usize::from(endpoint)) {
            *owed = owed.saturating_add(credits);
        }
    }

    /// How many credits are owed.
    pub(super) fn owed(&self) -> u32 {
        self.owed.iter().map(|&credits| u32::from(credits)).sum()
    }

    /// Gives credits back, in a message of their own.
    pub(super) fn report_credits(&mut self) {
        if self.owed() > 0 && self.bundle > 0 {
            self.counters.credit_messages += 1;
            self.message(CONTROL, &[], false);
        }
    }

    /// The host looks at what comes next: the header of the first message says how many of the same length and endpoint follow,
    /// which the host may fetch at once. It stays so until it is fetched.
    pub(super) fn look_ahead(&mut self) {
        if self.bundle < 2 || self.fetched > 0 {
            return;
        }
        let Some(first) = self.messages.front() else { return };
        let (len, endpoint) = (first.bytes.len(), first.bytes.first().copied());
        let alike = |message: &&Message| message.bytes.len() == len && message.bytes.first().copied() == endpoint;
        let most = usize::from(self.bundle.min(16)) - 1;
        let more = self.messages.iter().skip(1).take(most).take_while(alike).count();
        if let Some(flags) = self.messages.front_mut().and_then(|message| message.bytes.get_mut(1)) {
            let marked = *flags & 0x0f | (more as u8) << BUNDLE_SHIFT;
            if marked != *flags && more > 0 {
                self.counters.bundles_to_host += 1;
                self.counters.bundled_to_host += more as u64 + 1;
            }
            *flags = marked;
        }
    }

    /// The next four bytes of the mailbox.
    pub(super) fn ahead(&self) -> [u8; 4] {
        let rest = self.messages.front().and_then(|message| message.bytes.get(self.fetched..)).unwrap_or_default();
        std::array::from_fn(|at| rest.get(at).copied().unwrap_or(0))
    }

    /// The host fetches bytes; behind the last one there are zeros.
    pub(super) fn fetch(&mut self, data: &mut [u8]) {
        let mut filled = 0;
        while let Some(message) = self.messages.front() {
            let rest = message.bytes.get(self.fetched..).unwrap_or_default();
            let room = data.get_mut(filled..).unwrap_or_default();
            if room.is_empty() {
                break;
            }
            for (slot, byte) in room.iter_mut().zip(rest) {
                *slot = *byte;
            }
            let taken = rest.len().min(room.len());
            (filled, self.fetched) = (filled + taken, self.fetched + taken);
            if self.fetched >= message.bytes.len() {
                self.frames -= usize::from(message.is_frame);
                self.messages.pop_front();
                self.fetched = 0;
            }
        }
        if let Some(rest) = data.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            rest.fill(0);
            self.counters.underflows += 1;
        }
    }
}

/// The messages of a transfer from the host: each with its header and payload.
pub(super) fn messages(mut transfer: &[u8]) -> impl Iterator<Item = Option<(Header, &[u8])>> {
    std::iter::from_fn(move || {
        if transfer.len() < HEADER {
            return None;
        }
        let header = Header::parse(transfer)?;
        let end = HEADER + usize::from(header.payload_len);
        let Some(payload) = transfer.get(HEADER..end) else {
            transfer = &[];
            return Some(None);
        };
        // The next one starts behind whole blocks, and behind the padding of a bundle.
        let padding = if header.flags & wire::sdio::htc::SEND_BUNDLE != 0 { header.control[0] } else { 0 };
        let step = end.next_multiple_of(BLOCK_BYTES) + usize::from(padding);
        transfer = transfer.get(step..).unwrap_or_default();
        Some(Some((header, payload)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_one_length_are_a_bundle() {
        let mut htc = Htc { bundle: 3, ..Htc::default() };
        for len in [10, 20, 30, 40, 300] {
            htc.message(2, &vec![7; len], true);
        }
        htc.look_ahead();
        assert_eq!(htc.ahead(), [2, 2 << 4, 10, 0]);
        htc.message(2, &[7; 10], true);
        let mut bundle = [0; 3 * BLOCK_BYTES];
        htc.fetch(&mut bundle);
        assert_eq!((bundle[1], bundle[BLOCK_BYTES], bundle[2 * BLOCK_BYTES + 2]), (2 << 4, 2, 30));
        assert_eq!((htc.frames(), htc.counters.bundled_to_host), (3, 3));
        htc.look_ahead();
        assert_eq!(htc.ahead(), [2, 0, 40, 0], "the next one is longer");
    }

    #[test]
    fn credits_go_with_the_next_message() {
        let mut htc = Htc::default();
        htc.owe(2, 3);
        htc.message(0, &[1, 2], false);
        assert_eq!(htc.ahead(), [0, 0, 2, 0], "HTC is not set up yet");
        htc.bundle = 1;
        htc.report_credits();
        htc.report_credits();
        let mut got = [0; 2 * BLOCK_BYTES + 4];
        htc.fetch(&mut got);
        assert_eq!(got[BLOCK_BYTES..BLOCK_BYTES + 10], [0, TRAILER, 4, 0, 4, 0, 1, 2, 2, 3]);
        assert_eq!((htc.owed(), htc.counters.underflows, htc.counters.credit_messages), (0, 1, 1));
    }

    #[test]
    fn a_transfer_is_taken_apart() {
        let mut transfer = vec![1, SEND, 2, 0, 128, 0, 8, 9];
        transfer.resize(2 * BLOCK_BYTES, 0);
        transfer.extend([2, 0, 200, 0, 0, 0]);
        let found: Vec<_> =
            messages(&transfer).map(|found| found.map(|(header, payload)| (header.endpoint, payload))).collect();
        assert_eq!(found, [Some((1, &[8, 9][..])), None]);
        assert_eq!(messages(&[1, 0, 0]).count(), 0);
    }

    const SEND: u8 = wire::sdio::htc::SEND_BUNDLE;
}

//! The sending end: the driver queue and the Block Ack window.

use std::collections::VecDeque;

use crate::engine::{DropCause, Packet};
use crate::ppdu::DATA_OVERHEAD;
use crate::wlan::scenario::Station;

/// Sequence numbers are modulo this.
pub(crate) const SEQUENCES: u16 = 4096;
/// MPDUs under way at most: the Block Ack buffer of 802.11n.
pub(crate) const WINDOW: usize = 64;

/// How far `to` is ahead of `from`.
pub(crate) const fn ahead(to: u16, from: u16) -> u16 {
    to.wrapping_sub(from) % SEQUENCES
}

/// Length of an A-MPDU of `psdu` bytes after one more MPDU of `len` bytes: padding, delimiter, MPDU (9.7.1).
pub(crate) const fn psdu_with(psdu: usize, len: usize) -> usize {
    psdu.next_multiple_of(4) + 4 + len
}

/// An MPDU that has a sequence number.
#[derive(Clone, Debug)]
pub(crate) struct Mpdu<P> {
    pub(crate) sequence: u16,
    pub(crate) packet: P,
    /// Transmissions so far.
    pub(crate) sent: u32,
    /// Acknowledged or given up.
    done: bool,
}

impl<P: Packet> Mpdu<P> {
    /// Bytes on the air, FCS included.
    pub(crate) fn len(&self) -> usize {
        self.packet.size_bytes() + DATA_OVERHEAD
    }
}

/// The sending end of the link.
#[derive(Clone, Debug)]
pub(crate) struct Originator<P> {
    queue: VecDeque<P>,
    /// MPDUs with consecutive sequence numbers; the first is not done.
    window: VecDeque<Mpdu<P>>,
    next_sequence: u16,
    window_size: usize,
    retry_limit: u32,
    /// A Block Ack request is due.
    request: bool,
}

impl<P: Packet> Originator<P> {
    pub(crate) fn new(station: &Station) -> Self {
        Self {
            queue: VecDeque::new(),
            window: VecDeque::new(),
            next_sequence: 0,
            window_size: if station.tx_ampdu { WINDOW } else { 1 },
            retry_limit: u32::from(station.retry_limit),
            request: false,
        }
    }

    /// Packets that wait in the driver queue.
    pub(crate) fn queued(&self) -> usize {
        self.queue.len()
    }

    pub(crate) fn push(&mut self, packet: P) {
        self.queue.push_back(packet);
    }

    /// Something is to be sent.
    pub(crate) fn has_work(&self) -> bool {
        self.request || !self.window.is_empty() || !self.queue.is_empty()
    }

    /// The Block Ack request to send, as the sequence number that it begins with.
    pub(crate) fn request(&self) -> Option<u16> {
        self.request.then(|| self.window.front().map_or(self.next_sequence, |mpdu| mpdu.sequence))
    }

    /// The request was answered, or is given up.
    pub(crate) fn request_done(&mut self) {
        self.request = false;
    }

    pub(crate) fn mpdu(&self, index: usize) -> &Mpdu<P> {
        &self.window[index]
    }

    /// Fills `chosen` with what the next PPDU carries (positions in the window): what waits to be sent again first, then
    /// new packets. `fits` says whether a PSDU of that many bytes may be sent. The first MPDU always goes.
    pub(crate) fn fill(&mut self, max: usize, fits: impl Fn(usize) -> bool, chosen: &mut Vec<usize>) {
        chosen.clear();
        let mut psdu = 0;
        let mut take = |chosen: &mut Vec<usize>, index: usize, len: usize| {
            let longer = psdu_with(psdu, len);
            if chosen.len() >= max || (!chosen.is_empty() && !fits(longer)) {
                return false;
            }
            psdu = longer;
            chosen.push(index);
            true
        };
        for (index, mpdu) in self.window.iter().enumerate() {
            if !mpdu.done && !take(chosen, index, mpdu.len()) {
                return;
            }
        }
        while self.window.len() < self.window_size {
            let Some(packet) = self.queue.front() else { return };
            if !take(chosen, self.window.len(), packet.size_bytes() + DATA_OVERHEAD) {
                return;
            }
            if let Some(packet) = self.queue.pop_front() {
                self.window.push_back(Mpdu { sequence: self.next_sequence, packet, sent: 0, done: false });
                self.next_sequence = (self.next_sequence + 1) % SEQUENCES;
            }
        }
    }

    /// Counts a transmission of these MPDUs.
    pub(crate) fn sent(&mut self, chosen: &[usize]) {
        for &index in chosen {
            self.window[index].sent += 1;
        }
    }

    /// The answer to these MPDUs is in: `acknowledged` says which sequence numbers it names. Gives the number of MPDUs
    /// that are given up, and calls `freed` with each packet that is done. `chosen` is void afterwards.
    pub(crate) fn answered(
        &mut self,
        chosen: &[usize],
        acknowledged: impl Fn(u16) -> bool,
        mut freed: impl FnMut(&P, Option<DropCause>),
    ) -> u64 {
        for mpdu in &mut self.window {
            if !mpdu.done && acknowledged(mpdu.sequence) {
                mpdu.done = true;
                freed(&mpdu.packet, None);
            }
        }
        let mut given_up = 0;
        for &index in chosen {
            let mpdu = &mut self.window[index];
            if !mpdu.done && mpdu.sent > self.retry_limit {
                mpdu.done = true;
                freed(&mpdu.packet, Some(DropCause::RetryLimit));
                given_up += 1;
            }
        }
        // The receiver holds back what came after a gap until it is told that nothing will fill it.
        self.request |= given_up > 0 && self.window_size > 1;
        while self.window.front().is_some_and(|mpdu| mpdu.done) {
            self.window.pop_front();
        }
        given_up
    }
}

#[cfg(test)]
mod tests {
    use wire::phy::ampdu_psdu_len;

    use super::*;

    impl Packet for usize {
        fn size_bytes(&self) -> usize {
            *self
        }

        fn write_bytes(&self, _out: &mut Vec<u8>, _limit: usize) {}
    }

    fn originator(station: &Station, packets: usize) -> Originator<usize> {
        let mut originator = Originator::new(station);
        (0..packets).for_each(|_| originator.push(1500));
        originator
    }

    #[test]
    fn the_psdu_is_that_of_the_whole_ampdu() {
        let mut originator = Originator::new(&Station::default());
        let sizes = [1500, 41, 40, 1499, 77];
        sizes.iter().for_each(|&size| originator.push(size));
        let mut chosen = Vec::new();
        for count in 1..=sizes.len() {
            let mut fresh = originator.clone();
            let whole = ampdu_psdu_len(sizes[..count].iter().map(|size| size + DATA_OVERHEAD));
            fresh.fill(64, |psdu| psdu <= whole, &mut chosen);
            assert_eq!(chosen.len(), count, "the limit is exactly what {count} MPDUs need");
        }
    }

    #[test]
    fn what_is_not_acknowledged_goes_first_and_the_window_ends_at_64() {
        let mut originator = originator(&Station::default(), 200);
        let mut chosen = Vec::new();
        originator.fill(64, |_| true, &mut chosen);
        assert_eq!(chosen.len(), 64);
        originator.sent(&chosen);
        assert_eq!(originator.answered(&chosen, |sequence| sequence != 1 && sequence != 5, |_, _| {}), 0);
        originator.fill(64, |_| true, &mut chosen);
        let sequences: Vec<u16> = chosen.iter().map(|&index| originator.mpdu(index).sequence).collect();
        // Sequence number 0 is done, so the window reaches one further: 64.
        assert_eq!(sequences, [1, 5, 64]);
        assert_eq!(originator.request(), None);
    }

    #[test]
    fn an_mpdu_is_given_up_after_the_retry_limit() {
        let mut originator = originator(&Station { retry_limit: 2, ..Station::default() }, 2);
        let mut chosen = Vec::new();
        for given_up in [0, 0, 2] {
            originator.fill(64, |_| true, &mut chosen);
            originator.sent(&chosen);
            assert_eq!(originator.answered(&chosen, |_| false, |_, _| {}), given_up);
        }
        assert_eq!(originator.request(), Some(2));
        originator.request_done();
        assert!(!originator.has_work());
    }

    #[test]
    fn without_aggregation_one_at_a_time() {
        let mut originator = originator(&Station { tx_ampdu: false, retry_limit: 0, ..Station::default() }, 3);
        let mut chosen = Vec::new();
        originator.fill(64, |_| true, &mut chosen);
        assert_eq!(chosen, [0]);
        originator.sent(&chosen);
        assert_eq!(originator.answered(&chosen, |_| false, |_, _| {}), 1);
        assert_eq!(originator.request(), None);
        assert_eq!(originator.queued(), 2);
    }
}

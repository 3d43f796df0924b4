//! The sending end of one flow of MPDUs: the Block Ack window, what is to be sent again, the retry limit.

use std::collections::VecDeque;

use crate::engine::{DropCause, Packet};

/// Sequence numbers are modulo this.
pub(crate) const SEQUENCES: u16 = 4096;
/// MPDUs under way at most: the Block Ack buffer of 802.11n.
pub(crate) const WINDOW: usize = 64;

/// How long an MPDU is tried at most: the default of dot11EDCATableMSDULifetime (IEEE 802.11-2020 annex C), 500 TU.
const LIFETIME_NS: u64 = 512_000_000;

/// How far `to` is ahead of `from`.
pub(crate) const fn ahead(to: u16, from: u16) -> u16 {
    to.wrapping_sub(from) % SEQUENCES
}

/// Length of an A-MPDU of `psdu` bytes after one more MPDU of `len` bytes: padding, delimiter, MPDU (9.7.1).
pub(crate) const fn psdu_with(psdu: usize, len: usize) -> usize {
    psdu.next_multiple_of(4) + 4 + len
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// In a PPDU that was made.
    InPpdu,
    /// To be sent again.
    Waiting,
    /// Acknowledged or given up.
    Done,
}

/// An MPDU that has a sequence number.
#[derive(Clone, Debug)]
pub(crate) struct Mpdu<P> {
    pub(crate) packet: P,
    /// Transmissions so far.
    pub(crate) sent: u32,
    /// Transmissions that count against the retry limit.
    counted: u32,
    /// When it first got into a PPDU.
    since_ns: u64,
    state: State,
}

/// What happened to a PPDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// An answer came.
    pub(crate) answered: bool,
    /// What it did not acknowledge stays in the PPDU, which is sent again as it is.
    pub(crate) stays: bool,
}

/// How a flow is sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    /// Under a Block Ack session.
    pub(crate) session: bool,
    pub(crate) retry_limit: u32,
    /// See [`crate::wlan::Station::count_unanswered`].
    pub(crate) count_unanswered: bool,
    /// See [`crate::wlan::Station::request_unanswered`].
    pub(crate) request_unanswered: bool,
}

/// The sending end of one flow.
#[derive(Clone, Debug)]
pub(crate) struct Originator<P> {
    /// MPDUs with consecutive sequence numbers, the first of them `start`; the first is not done.
    window: VecDeque<Mpdu<P>>,
    start: u16,
    terms: Terms,
    waiting: usize,
    /// A Block Ack request is due, or in a PPDU that was made.
    request: bool,
    request_in_ppdu: bool,
    /// What was reported to the queues of [`Self::has_again`].
    pub(crate) told_again: bool,
}

impl<P: Packet> Originator<P> {
    pub(crate) fn new(terms: Terms) -> Self {
        Self {
            window: VecDeque::new(),
            start: 0,
            terms,
            waiting: 0,
            request: false,
            request_in_ppdu: false,
            told_again: false,
        }
    }

    /// Something is to be sent besides new packets.
    pub(crate) const fn has_again(&self) -> bool {
        self.waiting > 0 || (self.request && !self.request_in_ppdu)
    }

    /// New packets may be taken.
    pub(crate) fn has_room(&self) -> bool {
        self.window.len() < WINDOW
    }

    /// Takes the Block Ack request that is due, as the sequence number that it begins with.
    pub(crate) fn take_request(&mut self) -> Option<u16> {
        if !self.request || self.request_in_ppdu {
            return None;
        }
        self.request_in_ppdu = true;
        Some(self.start)
    }

    /// The request was answered, or is given up.
    pub(crate) fn request_done(&mut self) {
        self.request = false;
        self.request_in_ppdu = false;
    }

    /// The MPDU with that number, which must be in the window.
    pub(crate) fn mpdu(&self, sequence: u16) -> &Mpdu<P> {
        &self.window[usize::from(ahead(sequence, self.start))]
    }

    /// How often the oldest MPDU that waits to be sent again was sent; 0: none waits.
    pub(crate) fn oldest_again(&self) -> u32 {
        self.window.iter().find(|mpdu| mpdu.state == State::Waiting).map_or(0, |mpdu| mpdu.sent)
    }

    /// Puts what waits to be sent again into a PPDU, oldest first, while `fits` says that the packet can be added.
    pub(crate) fn take_again(&mut self, mut fits: impl FnMut(&P) -> bool, chosen: &mut Vec<u16>) {
        if self.waiting == 0 {
            return;
        }
        for (sequence, mpdu) in (self.start..).zip(&mut self.window) {
            if mpdu.state == State::Waiting {
                if !fits(&mpdu.packet) {
                    return;
                }
                mpdu.state = State::InPpdu;
                self.waiting -= 1;
                chosen.push(sequence % SEQUENCES);
            }
        }
    }

    /// Puts a new packet into a PPDU; gives its sequence number.
    pub(crate) fn take_new(&mut self, now_ns: u64, packet: P) -> u16 {
        let sequence = (self.start + self.window.len() as u16) % SEQUENCES;
        self.window.push_back(Mpdu { packet, sent: 0, counted: 0, since_ns: now_ns, state: State::InPpdu });
        sequence
    }

    /// Counts a transmission of these MPDUs; gives how many of them were sent before.
    pub(crate) fn sent(&mut self, chosen: &[u16]) -> u64 {
        let mut again = 0;
        for &sequence in chosen {
            let mpdu = &mut self.window[usize::from(ahead(sequence, self.start))];
            again += u64::from(mpdu.sent > 0);
            mpdu.sent += 1;
        }
        again
    }

    /// It is known how a PPDU with the MPDUs `chosen` fared: `acknowledged` says which sequence numbers the answer names.
    /// Calls `freed` with each packet that is done. What stays in the PPDU stays in `chosen`; gives how many were given up.
    pub(crate) fn concluded(
        &mut self,
        now_ns: u64,
        chosen: &mut Vec<u16>,
        outcome: Outcome,
        acknowledged: impl Fn(u16) -> bool,
        mut freed: impl FnMut(&P, Option<DropCause>),
    ) -> u64 {
        if outcome.answered {
            for (sequence, mpdu) in (self.start..).zip(&mut self.window) {
                if mpdu.state != State::Done && acknowledged(sequence % SEQUENCES) {
                    self.waiting -= usize::from(mpdu.state == State::Waiting);
                    mpdu.state = State::Done;
                    freed(&mpdu.packet, None);
                }
            }
        }
        let lost_whole = self.terms.request_unanswered && !outcome.answered && !outcome.stays && chosen.len() > 1;
        let counts = outcome.answered || self.terms.count_unanswered || !self.terms.session || chosen.len() == 1;
        let (window, start, waiting, limit) = (&mut self.window, self.start, &mut self.waiting, self.terms.retry_limit);
        let mut given_up = 0;
        chosen.retain(|&sequence| {
            let mpdu = &mut window[usize::from(ahead(sequence, start))];
            if mpdu.state == State::Done {
                return false;
            }
            mpdu.counted += u32::from(counts);
            if mpdu.counted > limit || now_ns - mpdu.since_ns > LIFETIME_NS {
                mpdu.state = State::Done;
                freed(&mpdu.packet, Some(DropCause::RetryLimit));
                given_up += 1;
                return false;
            }
            if !outcome.stays {
                mpdu.state = State::Waiting;
                *waiting += 1;
            }
            outcome.stays
        });
        // The receiver holds back what came after a gap until it learns that nothing will fill it.
        self.request |= given_up > 0 && self.terms.session;
        self.request |= lost_whole && self.waiting > 0;
        given_up
    }

    /// Forgets the MPDUs that are done at the front of the window. No PPDU that was made may hold them any more.
    pub(crate) fn advance(&mut self, in_ppdus: impl Fn(u16) -> bool) {
        while self.window.front().is_some_and(|mpdu| mpdu.state == State::Done) && !in_ppdus(self.start) {
            self.window.pop_front();
            self.start = (self.start + 1) % SEQUENCES;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Packet for usize {
        fn size_bytes(&self) -> usize {
            *self
        }

        fn write_bytes(&self, _out: &mut Vec<u8>, _limit: usize) {}
    }

    const SESSION: Terms = Terms { session: true, retry_limit: 7, count_unanswered: false, request_unanswered: false };
    const ANSWERED: Outcome = Outcome { answered: true, stays: false };

    fn filled(terms: Terms, packets: usize) -> (Originator<usize>, Vec<u16>) {
        let mut originator = Originator::new(terms);
        let chosen: Vec<u16> = (0..packets).map(|_| originator.take_new(0, 1500)).collect();
        originator.sent(&chosen);
        (originator, chosen)
    }

    #[test]
    fn what_is_not_acknowledged_goes_first_and_the_window_ends_at_64() {
        let (mut originator, mut chosen) = filled(SESSION, 64);
        assert!(!originator.has_room());
        let mut freed = 0;
        let given_up = originator.concluded(0, &mut chosen, ANSWERED, |seq| seq != 1 && seq != 5, |_, _| freed += 1);
        originator.advance(|_| false);
        assert_eq!((given_up, freed, chosen.len()), (0, 62, 0));
        originator.take_again(|_| true, &mut chosen);
        // Sequence number 0 is done, so the window reaches one further: 64.
        assert!(originator.has_room());
        chosen.push(originator.take_new(0, 1500));
        assert_eq!(chosen, [1, 5, 64]);
        assert!(!originator.has_room() && !originator.has_again());
        assert_eq!((originator.sent(&chosen), originator.oldest_again()), (2, 0));
        originator.concluded(0, &mut chosen, ANSWERED, |seq| seq == 1, |_, _| {});
        assert_eq!(originator.oldest_again(), 2, "of the oldest, not of the newest");
    }

    #[test]
    fn an_mpdu_is_given_up_after_the_retry_limit() {
        let terms = Terms { retry_limit: 2, ..SESSION };
        let (mut originator, mut chosen) = filled(terms, 2);
        let mut drops = Vec::new();
        for given_up in [0, 0, 2] {
            let unanswered = Outcome { answered: false, stays: false };
            assert_eq!(originator.concluded(0, &mut chosen, unanswered, |_| false, |_, _| {}), 0, "not counted");
            originator.take_again(|_| true, &mut chosen);
            let now = originator.concluded(0, &mut chosen, ANSWERED, |_| false, |_, cause| drops.extend(cause));
            originator.advance(|_| false);
            assert_eq!(now, given_up);
            originator.take_again(|_| true, &mut chosen);
        }
        assert_eq!(drops, [DropCause::RetryLimit; 2]);
        assert!(originator.has_again());
        assert_eq!((originator.take_request(), originator.take_request()), (Some(2), None));
        originator.request_done();
        assert!(!originator.has_again());
    }

    #[test]
    fn what_stays_in_its_ppdu_is_not_taken_again() {
        let (mut originator, mut chosen) = filled(Terms { session: false, retry_limit: 1, ..SESSION }, 1);
        let unanswered = Outcome { answered: false, stays: true };
        assert_eq!(originator.concluded(0, &mut chosen, unanswered, |_| false, |_, _| {}), 0);
        assert_eq!((chosen.as_slice(), originator.has_again()), (&[0][..], false));
        assert_eq!(originator.concluded(0, &mut chosen, unanswered, |_| false, |_, _| {}), 1);
        assert!(chosen.is_empty());
        assert!(!originator.has_again(), "without a session no gap is waited for");
    }

    #[test]
    fn the_window_does_not_pass_what_a_ppdu_still_holds() {
        let (mut originator, mut first) = filled(SESSION, 2);
        let second = originator.take_new(0, 1500);
        originator.concluded(0, &mut first, ANSWERED, |_| true, |_, _| {});
        originator.advance(|sequence| sequence == second);
        assert_eq!(originator.mpdu(second).packet, 1500);
        originator.concluded(0, &mut vec![second], ANSWERED, |_| false, |_, _| panic!("done already"));
    }
}

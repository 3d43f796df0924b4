//! The receiving end: a Block Ack scoreboard and a reorder buffer.

use medium::{Arrival, Reorder, Scoreboard};
use wire::ieee80211::Seq;

use crate::wlan::originator::{ahead, WINDOW};

/// Sequence numbers remembered.
const REMEMBERED: u16 = 2 * WINDOW as u16;

/// The receiving end of the link.
#[derive(Clone, Debug)]
pub(crate) struct Recipient<P> {
    /// A Block Ack session is in force; otherwise one MPDU comes after the other.
    session: bool,
    /// When each sequence number was first received.
    received_ns: Scoreboard<u64>,
    reorder: Reorder<P>,
    /// The gap has to be checked later.
    pub(crate) watched: bool,
}

/// What happened to an MPDU that came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reception<P> {
    /// It is new.
    New,
    /// It was received before.
    Duplicate,
    /// Its turn was given up: it is dropped.
    Late(P),
}

/// A Block Ack's bitmap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) start: u16,
    pub(crate) bitmap: u64,
}

impl Shown {
    pub(crate) fn has(&self, sequence: u16) -> bool {
        let offset = ahead(sequence, self.start);
        usize::from(offset) < WINDOW && self.bitmap >> offset & 1 == 1
    }
}

impl<P> Recipient<P> {
    pub(crate) fn new(session: bool) -> Self {
        let first = Seq::new(0);
        let received_ns = Scoreboard::new(first, REMEMBERED);
        Self { session, received_ns, reorder: Reorder::new(first), watched: false }
    }

    /// The number that the host waits for.
    pub(crate) const fn next(&self) -> u16 {
        self.reorder.next().value()
    }

    /// An MPDU came, its last bit at `at_ns`; what the host may have now is appended to `up`.
    pub(crate) fn receive(&mut self, sequence: u16, at_ns: u64, packet: P, up: &mut Vec<P>) -> Reception<P> {
        let sequence = Seq::new(sequence);
        if !self.received_ns.receive(sequence, at_ns) {
            return Reception::Duplicate;
        }
        if !self.session {
            up.push(packet);
            return Reception::New;
        }
        match self.reorder.receive(at_ns, sequence, packet, up) {
            Arrival::New => Reception::New,
            Arrival::Duplicate(_) => Reception::Duplicate,
            Arrival::Late(packet) => Reception::Late(packet),
        }
    }

    /// Nothing before `start` will come again.
    pub(crate) fn release_to(&mut self, at_ns: u64, start: u16, up: &mut Vec<P>) {
        self.reorder.release_to(at_ns, Seq::new(start), up);
    }

    /// When the present gap is given up; `None`: nothing is held back.
    pub(crate) fn gap_ends_ns(&self) -> Option<u64> {
        self.reorder.gap_ends_ns()
    }

    /// Gives up the present gap.
    pub(crate) fn skip_gap(&mut self, at_ns: u64, up: &mut Vec<P>) {
        self.reorder.skip_gap(at_ns, up);
    }

    /// The Block Ack that begins at `at_ns`. `first_missing`: [`Self::next`] before the PPDU came; `lowest`: the lowest
    /// number in it. MPDUs received less than `late_ns` before are left out.
    pub(crate) fn block_ack(&self, at_ns: u64, first_missing: u16, lowest: u16, late_ns: u64) -> Shown {
        let start = self.received_ns.window_start(Seq::new(first_missing), Seq::new(lowest), WINDOW as u16);
        let in_time = |received_ns: u64| at_ns.saturating_sub(received_ns) >= late_ns;
        Shown { start: start.value(), bitmap: self.received_ns.bitmap(start, in_time) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_gap_holds_back_what_comes_after_it() {
        let mut recipient = Recipient::new(true);
        let mut up = Vec::new();
        assert_eq!(recipient.receive(1, 10, "b", &mut up), Reception::New);
        assert_eq!(recipient.receive(2, 20, "c", &mut up), Reception::New);
        assert!(up.is_empty());
        assert_eq!(recipient.receive(2, 30, "c", &mut up), Reception::Duplicate);
        let shown = recipient.block_ack(30, 0, 1, 0);
        assert_eq!(shown, Shown { start: 0, bitmap: 0b110 });
        assert!(shown.has(1) && !shown.has(0) && !shown.has(64));
        // Less than 15 old: only the first is shown.
        assert_eq!(recipient.block_ack(30, 0, 1, 15).bitmap, 0b010);
        assert_eq!(recipient.receive(0, 40, "a", &mut up), Reception::New);
        assert_eq!(up, ["a", "b", "c"]);
    }

    #[test]
    fn a_request_and_a_far_number_give_up_gaps() {
        let mut recipient = Recipient::new(true);
        let mut up = Vec::new();
        recipient.receive(3, 0, 3, &mut up);
        recipient.release_to(0, 2, &mut up);
        assert_eq!((up.len(), recipient.next()), (0, 2));
        recipient.release_to(0, 3, &mut up);
        assert_eq!((up.as_slice(), recipient.next()), (&[3][..], 4));
        recipient.receive(5, 0, 5, &mut up);
        recipient.receive(5 + 64, 0, 69, &mut up);
        assert_eq!((up.as_slice(), recipient.next()), (&[3, 5][..], 6));
        // 4 comes after all: its turn was given up.
        assert_eq!(recipient.receive(4, 0, 4, &mut up), Reception::Late(4));
        assert_eq!(up, [3, 5]);
    }

    #[test]
    fn a_gap_that_nothing_fills_is_given_up_in_the_end() {
        let mut recipient = Recipient::new(true);
        let mut up = Vec::new();
        assert_eq!(recipient.gap_ends_ns(), None);
        recipient.receive(2, 1_000, 2, &mut up);
        recipient.receive(5, 2_000, 5, &mut up);
        assert_eq!(recipient.gap_ends_ns(), Some(100_001_000));
        recipient.skip_gap(100_001_000, &mut up);
        assert_eq!((up.as_slice(), recipient.gap_ends_ns()), (&[2][..], Some(200_001_000)));
        recipient.skip_gap(200_001_000, &mut up);
        assert_eq!((up.as_slice(), recipient.gap_ends_ns(), recipient.next()), (&[2, 5][..], None, 6));
    }

    #[test]
    fn without_a_session_everything_new_goes_up() {
        let mut recipient = Recipient::new(false);
        let mut up = Vec::new();
        for sequence in [0, 0, 2, 2, 3] {
            recipient.receive(sequence, 0, sequence, &mut up);
        }
        assert_eq!(up, [0, 2, 3]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        /// Each number sent until it gets through, in any pattern of losses: the host gets all of them, in order.
        #[test]
        fn all_in_order(losses in proptest::collection::vec(any::<u64>(), 200..400)) {
            let mut recipient = Recipient::new(true);
            let (mut up, mut losses) = (Vec::new(), losses.iter().cycle().copied());
            let (mut window, mut next): (Vec<u32>, u32) = (Vec::new(), 0);
            for round in 0..20_000 {
                let room = window.first().map_or(64, |first| 64 - (next - first));
                window.extend(next..next + room);
                next += room;
                if up.len() >= 5_000 {
                    break;
                }
                let (lost, missing, lowest) = (losses.next().unwrap_or(0), recipient.next(), window[0]);
                for (index, &number) in window.iter().enumerate() {
                    if lost >> (index % 64) & 1 == 0 {
                        recipient.receive((number % 4096) as u16, round, number, &mut up);
                    }
                }
                let shown = recipient.block_ack(round, missing, (lowest % 4096) as u16, 0);
                window.retain(|number| !shown.has((number % 4096) as u16));
            }
            prop_assert!(up.len() >= 5_000);
            prop_assert!(up.iter().copied().eq(0..up.len() as u32));
        }
    }
}

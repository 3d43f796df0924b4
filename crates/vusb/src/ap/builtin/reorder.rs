//! The order of MPDUs under a Block Ack agreement (10.25.6.6), and frames that come twice (10.3.2.14).

use std::collections::VecDeque;

use wire::ieee80211::Seq;

/// MPDUs of the window.
pub(super) const WINDOW: u16 = 64;
/// How long what has arrived waits for what has not: as mac80211 (net/mac80211/rx.c, HT_RX_REORDER_BUF_TIMEOUT, HZ / 10).
const WAIT_NS: u64 = 100_000_000;

/// The Ethernet frames of one MPDU.
pub(super) type Frames = Vec<Vec<u8>>;

/// Puts MPDUs of one TID into order.
#[derive(Clone, Debug, Default)]
pub(super) struct Reorder {
    start: Seq,
    /// By distance from `start`.
    held: VecDeque<Option<Frames>>,
    /// Since when the oldest of them waits.
    since_ns: u64,
}

impl Reorder {
    /// Expects `start` next.
    pub(super) fn new(start: Seq) -> Self {
        Self { start, held: VecDeque::new(), since_ns: 0 }
    }

    /// An MPDU arrived. Appends what can be handed on; `false`: it was there before, or comes too late.
    pub(super) fn receive(&mut self, now_ns: u64, sequence: Seq, frames: Frames, out: &mut Frames) -> bool {
        if sequence.is_before(self.start) {
            return false;
        }
        if !sequence.is_within(self.start, WINDOW) {
            self.skip_to(sequence.sub(WINDOW - 1), out);
        }
        let at = usize::from(sequence.distance_from(self.start));
        if self.held.len() <= at {
            self.held.resize(at + 1, None);
        }
        let was_empty = self.held.iter().all(Option::is_none);
        match self.held.get_mut(at) {
            Some(slot @ None) => *slot = Some(frames),
            _ => return false,
        }
        if was_empty {
            self.since_ns = now_ns;
        }
        self.release(now_ns, out);
        true
    }

    /// Nothing before `start` will come any more.
    pub(super) fn move_to(&mut self, now_ns: u64, start: Seq, out: &mut Frames) {
        self.skip_to(start, out);
        self.release(now_ns, out);
    }

    fn skip_to(&mut self, start: Seq, out: &mut Frames) {
        if start.is_before(self.start) {
            return;
        }
        let steps = start.distance_from(self.start);
        for _ in 0..usize::from(steps).min(self.held.len()) {
            out.extend(self.held.pop_front().flatten().unwrap_or_default());
        }
        self.start = start;
    }

    /// Hands on what follows without a gap.
    fn release(&mut self, now_ns: u64, out: &mut Frames) {
        while self.held.front().is_some_and(Option::is_some) {
            out.extend(self.held.pop_front().flatten().unwrap_or_default());
            self.start = self.start.add(1);
            self.since_ns = now_ns;
        }
    }

    /// When the wait for a gap ends.
    pub(super) fn next_event(&self) -> Option<u64> {
        self.held.iter().any(Option::is_some).then_some(self.since_ns.saturating_add(WAIT_NS))
    }

    /// Ends the wait for a gap, if it is time.
    pub(super) fn expire(&mut self, now_ns: u64, out: &mut Frames) {
        while self.next_event().is_some_and(|at_ns| at_ns <= now_ns) {
            let gap = self.held.iter().take_while(|slot| slot.is_none()).count() as u16;
            self.move_to(now_ns, self.start.add(gap), out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn frames(sequence: u16) -> Frames {
        vec![sequence.to_le_bytes().to_vec()]
    }

    #[test]
    fn a_gap_is_waited_for_and_then_given_up() {
        let (mut reorder, mut out) = (Reorder::new(Seq::new(4094)), Vec::new());
        assert!(reorder.receive(0, Seq::new(4095), frames(4095), &mut out));
        assert!(reorder.receive(10, Seq::new(1), frames(1), &mut out));
        assert!(out.is_empty() && !reorder.receive(20, Seq::new(1), frames(1), &mut out));
        assert!(reorder.receive(30, Seq::new(4094), frames(4094), &mut out));
        assert_eq!(out, [frames(4094), frames(4095)].concat());
        assert_eq!(reorder.next_event(), Some(30 + WAIT_NS));
        reorder.expire(30 + WAIT_NS, &mut out);
        assert_eq!(out.last(), frames(1).last());
        assert_eq!(reorder.next_event(), None);
        assert!(!reorder.receive(40, Seq::new(0), frames(0), &mut out), "too late");
        // A Block Ack request moves the window.
        assert!(reorder.receive(50, Seq::new(5), frames(5), &mut out));
        reorder.move_to(50, Seq::new(5), &mut out);
        assert_eq!(out.last(), frames(5).last());
    }

    proptest! {
        /// Whatever arrives within the window, in whatever order and how often, comes out once and in order.
        #[test]
        fn order_is_restored(
            start in 0u16..4096,
            order in Just((0u16..60).collect::<Vec<_>>()).prop_shuffle(),
            again in prop::collection::vec(0u16..60, 0..20),
        ) {
            let (mut reorder, mut out) = (Reorder::new(Seq::new(start)), Vec::new());
            for offset in order.iter().chain(&again) {
                reorder.receive(0, Seq::new(start + offset), frames(*offset), &mut out);
            }
            prop_assert_eq!(out, (0..60).flat_map(frames).collect::<Vec<_>>());
        }

        #[test]
        fn it_is_bounded_and_ends(steps in prop::collection::vec((0u16..4096, any::<bool>()), 0..300)) {
            let (mut reorder, mut out) = (Reorder::new(Seq::new(0)), Vec::new());
            for (at, (sequence, move_only)) in steps.into_iter().enumerate() {
                if move_only {
                    reorder.move_to(at as u64, Seq::new(sequence), &mut out);
                } else {
                    reorder.receive(at as u64, Seq::new(sequence), frames(sequence), &mut out);
                }
                prop_assert!(reorder.held.len() <= usize::from(WINDOW));
            }
            reorder.expire(u64::MAX, &mut out);
            prop_assert_eq!(reorder.next_event(), None);
        }
    }
}

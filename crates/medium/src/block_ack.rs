//! The receiving end of a Block Ack agreement (IEEE 802.11-2020, 10.25.6): what has arrived, and its order.

use wire::ieee80211::Seq;

/// MPDUs of a window: 64, as 802.11n has it.
pub const WINDOW: u16 = 64;
/// Half of the number space: what is so far ahead is from before.
const HALF: u16 = Seq::MODULUS / 2;
/// How long a gap holds back what came after it: `HT_RX_REORDER_BUF_TIMEOUT` of Linux (net/mac80211/rx.c, HZ / 10).
const GAP_NS: u64 = 100_000_000;

/// Which sequence numbers have arrived of late, each with what the recipient remembers of it.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Scoreboard<T> {
    /// By number modulo the memory.
    arrived: Vec<Option<(Seq, T)>>,
    head: Seq,
}

impl<T: Copy> Scoreboard<T> {
    /// Nothing has arrived yet, and `next` is expected. The last `memory` numbers are remembered, rounded up to a power of two.
    pub fn new(next: Seq, memory: u16) -> Self {
        Self { arrived: vec![None; usize::from(memory.clamp(1, HALF).next_power_of_two())], head: next.sub(1) }
    }

    fn slot(&self, sequence: Seq) -> usize {
        usize::from(sequence.value()) & (self.arrived.len() - 1)
    }

    /// The highest number that has arrived; before the first the one before it.
    pub const fn head(&self) -> Seq {
        self.head
    }

    /// What is remembered of a number; `None`: it has not arrived, or that was long ago.
    pub fn get(&self, sequence: Seq) -> Option<T> {
        match self.arrived.get(self.slot(sequence)) {
            Some(Some((number, what))) if *number == sequence => Some(*what),
            _ => None,
        }
    }

    /// Whether a number has arrived.
    pub fn has(&self, sequence: Seq) -> bool {
        self.get(sequence).is_some()
    }

    /// An MPDU has arrived. `false`: it had before, and what is remembered stays.
    pub fn receive(&mut self, sequence: Seq, what: T) -> bool {
        if self.has(sequence) {
            return false;
        }
        let step = sequence.distance_from(self.head);
        if step < HALF {
            for ahead in 1..=step.min(self.arrived.len() as u16) {
                let slot = self.slot(self.head.add(ahead));
                self.arrived[slot] = None;
            }
            self.head = sequence;
        }
        let slot = self.slot(sequence);
        self.arrived[slot] = Some((sequence, what));
        true
    }

    /// Where the bitmap of a Block Ack with this many bits begins: with the first number missing before the PPDU came, or with
    /// the lowest in it (or of the request) if that is before; but it never ends before the highest that has arrived.
    pub fn window_start(&self, first_missing: Seq, lowest: Seq, bits: u16) -> Seq {
        let wanted = if lowest.is_before(first_missing) { lowest } else { first_missing };
        let reach = self.head.distance_from(wanted);
        if reach < HALF && reach >= bits {
            self.head.sub(bits - 1)
        } else {
            wanted
        }
    }

    /// The bitmap that begins with a number, of those with memory that may be shown.
    pub fn bitmap(&self, start: Seq, shown: impl Fn(T) -> bool) -> u64 {
        (0..WINDOW)
            .filter(|&offset| self.get(start.add(offset)).is_some_and(&shown))
            .fold(0, |bitmap, offset| bitmap | 1 << offset)
    }
}

/// What happened to an MPDU that arrived at a [`Reorder`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival<P> {
    /// It has its place.
    New,
    /// It waits already.
    Duplicate(P),
    /// Its turn is over, or was given up: it is dropped.
    Late(P),
}

/// Hands MPDUs on in order.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Reorder<P> {
    next: Seq,
    /// What came before its turn, by number modulo [`WINDOW`].
    held: Vec<Option<P>>,
    count: usize,
    /// Since when the same gap holds them back.
    gap_since_ns: u64,
}

impl<P> Reorder<P> {
    /// Expects `next` first.
    pub fn new(next: Seq) -> Self {
        Self { next, held: (0..WINDOW).map(|_| None).collect(), count: 0, gap_since_ns: 0 }
    }

    /// The number that is waited for.
    pub const fn next(&self) -> Seq {
        self.next
    }

    /// How many MPDUs are held back.
    pub const fn held(&self) -> usize {
        self.count
    }

    fn slot(sequence: Seq) -> usize {
        usize::from(sequence.value() % WINDOW)
    }

    /// An MPDU arrived; what can be handed on now is appended to `up`.
    pub fn receive(&mut self, at_ns: u64, sequence: Seq, mpdu: P, up: &mut Vec<P>) -> Arrival<P> {
        if sequence.is_before(self.next) {
            return Arrival::Late(mpdu);
        }
        if !sequence.is_within(self.next, WINDOW) {
            self.release_to(at_ns, sequence.sub(WINDOW - 1), up);
        }
        if self.count == 0 {
            self.gap_since_ns = at_ns;
            // As nearly all: it is the one that is waited for, and nothing waits behind it.
            if sequence == self.next {
                up.push(mpdu);
                self.next = self.next.add(1);
                return Arrival::New;
            }
        }
        let place = &mut self.held[Self::slot(sequence)];
        if place.is_some() {
            return Arrival::Duplicate(mpdu);
        }
        *place = Some(mpdu);
        self.count += 1;
        self.release(at_ns, up);
        Arrival::New
    }

    /// Nothing before `start` will come any more.
    pub fn release_to(&mut self, at_ns: u64, start: Seq, up: &mut Vec<P>) {
        if !start.is_before(self.next) {
            while self.next != start {
                self.take_next(up);
                self.gap_since_ns = at_ns;
            }
            self.release(at_ns, up);
        }
    }

    fn take_next(&mut self, up: &mut Vec<P>) -> bool {
        let mpdu = self.held[Self::slot(self.next)].take();
        let took = mpdu.is_some();
        self.count -= usize::from(took);
        up.extend(mpdu);
        self.next = self.next.add(1);
        took
    }

    fn release(&mut self, at_ns: u64, up: &mut Vec<P>) {
        while self.held[Self::slot(self.next)].is_some() {
            self.take_next(up);
            self.gap_since_ns = at_ns;
        }
    }

    /// When the present gap is given up; `None`: nothing is held back.
    pub fn gap_ends_ns(&self) -> Option<u64> {
        (self.count > 0).then(|| self.gap_since_ns.saturating_add(GAP_NS))
    }

    /// Gives up the present gap.
    pub fn skip_gap(&mut self, at_ns: u64, up: &mut Vec<P>) {
        if self.count > 0 {
            while !self.take_next(up) {}
            self.gap_since_ns = at_ns;
            self.release(at_ns, up);
        }
    }

    /// Gives up all gaps.
    pub fn flush(&mut self, at_ns: u64, up: &mut Vec<P>) {
        while self.count > 0 {
            self.skip_gap(at_ns, up);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_gap_is_waited_for_and_then_given_up() {
        let (mut reorder, mut up) = (Reorder::new(Seq::new(4094)), Vec::new());
        assert_eq!(reorder.receive(0, Seq::new(4095), 4095, &mut up), Arrival::New);
        assert_eq!(reorder.receive(10, Seq::new(1), 1, &mut up), Arrival::New);
        assert_eq!(reorder.receive(20, Seq::new(1), 1, &mut up), Arrival::Duplicate(1));
        assert!(up.is_empty());
        assert_eq!(reorder.receive(30, Seq::new(4094), 4094, &mut up), Arrival::New);
        assert_eq!((up.as_slice(), reorder.gap_ends_ns()), (&[4094, 4095][..], Some(30 + GAP_NS)));
        reorder.skip_gap(30 + GAP_NS, &mut up);
        assert_eq!((up.last(), reorder.gap_ends_ns(), reorder.next()), (Some(&1), None, Seq::new(2)));
        assert_eq!(reorder.receive(40, Seq::new(0), 0, &mut up), Arrival::Late(0));
        // A Block Ack request moves the window.
        reorder.receive(50, Seq::new(5), 5, &mut up);
        reorder.release_to(50, Seq::new(5), &mut up);
        assert_eq!((up.last(), reorder.held()), (Some(&5), 0));
    }

    proptest! {
        /// Whatever arrives within the window, in whatever order and how often, comes out once and in order.
        #[test]
        fn order_is_restored(
            start in 0u16..4096,
            order in Just((0u16..60).collect::<Vec<_>>()).prop_shuffle(),
            again in prop::collection::vec(0u16..60, 0..20),
        ) {
            let (mut reorder, mut up) = (Reorder::new(Seq::new(start)), Vec::new());
            for offset in order.iter().chain(&again) {
                reorder.receive(0, Seq::new(start + offset), *offset, &mut up);
            }
            prop_assert_eq!(up, (0..60).collect::<Vec<_>>());
        }

        /// Any numbers and requests: nothing comes twice, the count is right, and in the end nothing is left.
        #[test]
        fn it_is_bounded_and_ends(steps in prop::collection::vec((0u16..4096, any::<bool>()), 0..300)) {
            let (mut reorder, mut up, mut new) = (Reorder::new(Seq::new(0)), Vec::new(), 0);
            for (at, (sequence, move_only)) in steps.into_iter().enumerate() {
                if move_only {
                    reorder.release_to(at as u64, Seq::new(sequence), &mut up);
                } else {
                    new += usize::from(reorder.receive(at as u64, Seq::new(sequence), at, &mut up) == Arrival::New);
                }
                prop_assert_eq!(up.len() + reorder.held(), new);
            }
            reorder.flush(u64::MAX, &mut up);
            prop_assert_eq!((reorder.gap_ends_ns(), up.len()), (None, new));
        }

        /// As a list of all that has arrived, of which the newest 64 numbers count; nothing comes that is further behind.
        #[test]
        fn a_scoreboard_keeps_the_newest(first in 0u16..4_096, steps in prop::collection::vec(-2i64..20, 1..200)) {
            let at_first = i64::from(first) + steps[0];
            let mut board = Scoreboard::new(Seq::new((at_first & 0xfff) as u16), 64);
            let (mut at, mut newest, mut all) = (i64::from(first), i64::MIN, BTreeSet::new());
            for step in steps {
                at += step;
                let new = board.receive(Seq::new((at & 0xfff) as u16), ());
                newest = newest.max(at);
                prop_assert_eq!(new, all.insert(at));
            }
            let start = newest - 63;
            let expected = (0..64).filter(|offset| all.contains(&(start + offset))).fold(0u64, |b, o| b | 1 << o);
            let start = Seq::new((start & 0xfff) as u16);
            prop_assert_eq!(board.bitmap(start, |()| true), expected);
            prop_assert_eq!(board.window_start(start.sub(100), start.sub(100), 64), start);
        }
    }
}

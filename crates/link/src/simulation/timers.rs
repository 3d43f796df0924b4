//! The timers of all flows.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A heap with at most one live entry for each slot. A timer that is put off costs nothing: its entry stays, and when it
/// comes up the slot is asked when it is really due.
#[derive(Clone, Debug, Default)]
pub(super) struct Timers {
    heap: BinaryHeap<Reverse<(u64, u32)>>,
    /// Time of each slot's live entry; `u64::MAX`: none.
    live: Vec<u64>,
}

impl Timers {
    pub(super) fn new(slots: usize) -> Self {
        Self { heap: BinaryHeap::new(), live: vec![u64::MAX; slots] }
    }

    /// The slot is due at `at_ns`. Only a time before that of its live entry is noted.
    pub(super) fn set(&mut self, slot: u32, at_ns: Option<u64>) {
        let (Some(at_ns), Some(live)) = (at_ns, self.live.get_mut(slot as usize)) else { return };
        if at_ns < *live {
            *live = at_ns;
            self.heap.push(Reverse((at_ns, slot)));
        }
    }

    /// When the next entry comes up; `u64::MAX`: there is none.
    pub(super) fn next_ns(&self) -> u64 {
        self.heap.peek().map_or(u64::MAX, |top| top.0 .0)
    }

    /// Takes the next entry that is due by `now_ns`. Its slot may not be due yet.
    pub(super) fn pop(&mut self, now_ns: u64) -> Option<u32> {
        while let Some(&Reverse((at_ns, slot))) = self.heap.peek() {
            if at_ns > now_ns {
                return None;
            }
            self.heap.pop();
            let live = &mut self.live[slot as usize];
            if *live == at_ns {
                *live = u64::MAX;
                return Some(slot);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_live_entry_for_each_slot() {
        let mut timers = Timers::new(2);
        timers.set(0, Some(50));
        timers.set(0, Some(80));
        timers.set(0, Some(30));
        timers.set(1, Some(40));
        timers.set(1, None);
        assert_eq!(timers.next_ns(), 30);
        assert_eq!(timers.pop(29), None);
        assert_eq!(timers.pop(30), Some(0));
        assert_eq!(timers.pop(100), Some(1));
        // The entry at 50 was superseded by the one at 30.
        assert_eq!(timers.pop(100), None);
        assert_eq!(timers.next_ns(), u64::MAX);
    }
}

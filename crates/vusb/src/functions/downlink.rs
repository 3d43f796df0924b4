//! Datagrams that wait for the host, and how many of them go into one transfer.

use std::collections::VecDeque;

use super::range::{in_range, SettingsError};

/// When a transfer to the host is complete: at the first of these limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Aggregation {
    /// Datagrams.
    pub datagrams: usize,
    /// Bytes with all headers. The first datagram of a transfer goes even if it alone has more.
    pub bytes: usize,
    /// How long the first datagram waits for more.
    pub hold_ns: u64,
}

impl Aggregation {
    /// Every datagram in a transfer of its own.
    pub const NONE: Self = Self { datagrams: 1, bytes: 1, hold_ns: 0 };

    pub(super) fn check(&self) -> Result<(), SettingsError> {
        in_range("datagrams per transfer", self.datagrams as u64, 1, 1_000)?;
        in_range("bytes per transfer", self.bytes as u64, 1, 1 << 20)?;
        in_range("hold time in ns", self.hold_ns, 0, 1_000_000_000)
    }
}

#[derive(Debug, serde::Serialize, serde::Deserialize)]
struct Waiting {
    ready_ns: u64,
    datagram: Vec<u8>,
}

/// The queue.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Downlink {
    queue: VecDeque<Waiting>,
    room: usize,
    /// The host has asked for data and got none.
    wanted: bool,
}

impl Downlink {
    /// With room for this many datagrams.
    pub(super) const fn new(room: usize) -> Self {
        Self { queue: VecDeque::new(), room, wanted: false }
    }

    pub(super) fn is_full(&self) -> bool {
        self.queue.len() >= self.room
    }

    pub(super) fn clear(&mut self) {
        self.queue.clear();
        self.wanted = false;
    }

    /// `ready_ns` does not go back from one datagram to the next.
    pub(super) fn push(&mut self, ready_ns: u64, datagram: Vec<u8>) {
        self.queue.push_back(Waiting { ready_ns, datagram });
    }

    /// The host asks at `now_ns`: the datagrams of the next transfer, none when it has to wait. `empty` is the length of a
    /// transfer without datagrams, `grow` what happens to its length with a datagram of this many bytes.
    pub(super) fn take(
        &mut self,
        now_ns: u64,
        limit: Aggregation,
        empty: usize,
        grow: impl Fn(usize, usize) -> usize,
    ) -> Vec<Vec<u8>> {
        let (mut end, mut count, mut full) = (empty, 0, limit.hold_ns == 0);
        for waiting in self.queue.iter().take_while(|waiting| waiting.ready_ns <= now_ns) {
            let longer = grow(end, waiting.datagram.len());
            if count > 0 && longer > limit.bytes {
                full = true;
                break;
            }
            end = longer;
            count += 1;
            if count >= limit.datagrams.max(1) {
                full = true;
                break;
            }
        }
        let held = self.queue.front().is_some_and(|first| now_ns < first.ready_ns.saturating_add(limit.hold_ns));
        if count == 0 || (!full && held) {
            self.wanted = true;
            return Vec::new();
        }
        self.wanted = false;
        self.queue.drain(..count).map(|waiting| waiting.datagram).collect()
    }

    /// When after `now_ns` a host that waits may get something.
    pub(super) fn next_event(&self, now_ns: u64, limit: Aggregation) -> Option<u64> {
        let first = self.queue.front().filter(|_| self.wanted)?;
        // A transfer can become full when its next datagram is ready, and is complete when the first was held long enough.
        let complete = Some(first.ready_ns.saturating_add(limit.hold_ns)).filter(|&at_ns| at_ns > now_ns);
        let next = self.queue.iter().map(|waiting| waiting.ready_ns).find(|&at_ns| at_ns > now_ns);
        complete.into_iter().chain(next).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(ready_ns: &[u64], len: usize) -> Downlink {
        let mut queue = Downlink::new(100);
        ready_ns.iter().for_each(|&at_ns| queue.push(at_ns, vec![0; len]));
        queue
    }

    #[test]
    fn a_transfer_ends_at_its_first_limit() {
        let limit = Aggregation { datagrams: 4, bytes: 1_000, hold_ns: 50 };
        let mut many = queue(&[0; 10], 100);
        assert_eq!(many.take(0, limit, 0, |end, len| end + len).len(), 4);
        let mut large = queue(&[0; 10], 400);
        assert_eq!(large.take(0, limit, 0, |end, len| end + len).len(), 2);
        let mut few = queue(&[10, 20], 100);
        assert_eq!(few.take(20, limit, 0, |end, len| end + len).len(), 0);
        assert_eq!(few.next_event(20, limit), Some(60));
        assert_eq!(few.take(60, limit, 0, |end, len| end + len).len(), 2);
        assert_eq!(few.next_event(60, limit), None);
        let mut huge = queue(&[0, 0], 5_000);
        assert_eq!(huge.take(0, limit, 0, |end, len| end + len).len(), 1);
    }

    proptest::proptest! {
        #[test]
        fn nothing_is_lost_or_late(
            gaps in proptest::collection::vec(0u64..100, 1..60), datagrams in 1usize..8, bytes in 1usize..3_000, hold in 0u64..200,
        ) {
            let limit = Aggregation { datagrams, bytes, hold_ns: hold };
            let mut now = 0;
            let ready: Vec<u64> = gaps.iter().map(|gap| { now += gap; now }).collect();
            let mut queue = queue(&ready, 700);
            let (mut now, mut taken, mut steps) = (0, 0, 0);
            while taken < ready.len() {
                let transfer = queue.take(now, limit, 0, |end, len| end + len);
                let (count, first) = (transfer.len(), ready[taken]);
                taken += count;
                proptest::prop_assert!(count <= datagrams && (count <= 1 || count * 700 <= bytes));
                if count == 0 {
                    // A host that waits is answered at an event, and the first datagram never waits longer than `hold`.
                    let next = queue.next_event(now, limit).unwrap();
                    proptest::prop_assert!(next > now && (now < first + hold || now < first));
                    now = next;
                }
                steps += 1;
                proptest::prop_assert!(steps < 1_000);
            }
            proptest::prop_assert_eq!(queue.next_event(now, limit), None);
        }
    }
}

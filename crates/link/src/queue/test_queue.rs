//! The packet that the tests of this module queue, and a queue with one CoDel.

use std::collections::VecDeque;

use crate::engine::{DropCause, Packet};
use crate::queue::codel::{Codel, CodelParameters, Source};
use crate::queue::qdisc::{Item, Qdisc};

/// A packet that differs from the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Numbered {
    pub(crate) number: u64,
    pub(crate) flow: u32,
    pub(crate) bytes: usize,
    pub(crate) ecn_capable: bool,
    pub(crate) marked: bool,
}

impl Numbered {
    /// 1500 bytes of flow 0, not ECN-capable.
    pub(crate) fn new(number: u64) -> Self {
        Self { number, flow: 0, bytes: 1500, ecn_capable: false, marked: false }
    }
}

impl Packet for Numbered {
    fn size_bytes(&self) -> usize {
        self.bytes
    }

    fn flow(&self) -> u32 {
        self.flow
    }

    fn mark_congestion(&mut self) -> bool {
        self.marked |= self.ecn_capable;
        self.ecn_capable
    }

    fn write_bytes(&self, _out: &mut Vec<u8>, _limit: usize) {}
}

/// One CoDel over a queue without a limit.
#[derive(Debug)]
pub(crate) struct OneCodel {
    queue: Bare,
    codel: Codel,
    parameters: CodelParameters,
}

#[derive(Debug, Default)]
struct Bare {
    items: VecDeque<Item<Numbered>>,
    dropped: Vec<(Numbered, DropCause)>,
}

impl OneCodel {
    pub(crate) fn new(parameters: CodelParameters) -> Self {
        Self { queue: Bare::default(), codel: Codel::default(), parameters }
    }
}

impl Source<Numbered> for Bare {
    fn head(&mut self) -> Option<&mut Item<Numbered>> {
        self.items.front_mut()
    }

    fn bytes_behind_head(&self) -> u64 {
        self.items.iter().skip(1).map(|item| u64::from(item.bytes)).sum()
    }

    fn take_head(&mut self) -> Option<Item<Numbered>> {
        self.items.pop_front()
    }

    fn drop_head(&mut self, cause: DropCause) {
        let item = self.take_head();
        self.dropped.extend(item.map(|item| (item.packet, cause)));
    }
}

impl Qdisc<Numbered> for OneCodel {
    fn enqueue(&mut self, item: Item<Numbered>, _dropped: &mut Vec<(Numbered, DropCause)>) {
        self.queue.items.push_back(item);
    }

    fn dequeue(&mut self, now_ns: u64, dropped: &mut Vec<(Numbered, DropCause)>) -> Option<Item<Numbered>> {
        let item = self.codel.dequeue(now_ns, &self.parameters, &mut self.queue);
        dropped.append(&mut self.queue.dropped);
        item
    }

    fn packets(&self) -> usize {
        self.queue.items.len()
    }
}

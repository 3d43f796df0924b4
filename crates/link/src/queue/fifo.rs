//! A drop-tail queue with a limit in packets: Linux's `pfifo`.

use std::collections::VecDeque;

use crate::engine::{DropCause, Packet};
use crate::queue::qdisc::{Item, Qdisc};

/// The queue. What comes when it is full is dropped.
#[derive(Clone, Debug)]
pub struct Fifo<P> {
    items: VecDeque<Item<P>>,
    limit_packets: usize,
}

impl<P> Fifo<P> {
    /// An empty queue for that many packets.
    pub const fn new(limit_packets: usize) -> Self {
        Self { items: VecDeque::new(), limit_packets }
    }
}

impl<P: Packet> Qdisc<P> for Fifo<P> {
    fn enqueue(&mut self, item: Item<P>, dropped: &mut Vec<(P, DropCause)>) {
        if self.items.len() >= self.limit_packets {
            dropped.push((item.packet, DropCause::QueueFull));
        } else {
            self.items.push_back(item);
        }
    }

    fn dequeue(&mut self, _now_ns: u64, _dropped: &mut Vec<(P, DropCause)>) -> Option<Item<P>> {
        self.items.pop_front()
    }

    fn packets(&self) -> usize {
        self.items.len()
    }
}

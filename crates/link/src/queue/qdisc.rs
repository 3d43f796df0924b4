//! Queueing disciplines: what stands between the network stack and a driver that has a queue of its own.

use crate::engine::{DropCause, Packet};

/// A packet that waits.
#[derive(Clone, Debug)]
pub struct Item<P> {
    /// When it was enqueued.
    pub enqueued_ns: u64,
    /// Whom it is for.
    pub peer: u32,
    /// Its length with the header that the queue counts.
    pub bytes: u32,
    /// The packet.
    pub packet: P,
}

impl<P: Packet> Item<P> {
    /// A packet as it comes to a queue that counts `header_bytes` with it.
    pub fn new(now_ns: u64, peer: u32, header_bytes: u32, packet: P) -> Self {
        let bytes = u32::try_from(packet.size_bytes()).unwrap_or(u32::MAX).saturating_add(header_bytes);
        Self { enqueued_ns: now_ns, peer, bytes, packet }
    }
}

/// A queueing discipline. Dropped packets are appended to `dropped`.
pub trait Qdisc<P: Packet> {
    /// Takes a packet, at the time that stands in it.
    fn enqueue(&mut self, item: Item<P>, dropped: &mut Vec<(P, DropCause)>);

    /// Gives the next one.
    fn dequeue(&mut self, now_ns: u64, dropped: &mut Vec<(P, DropCause)>) -> Option<Item<P>>;

    /// Packets that wait.
    fn packets(&self) -> usize;
}

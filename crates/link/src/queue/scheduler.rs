//! What a transmitter asks of its queues.

use crate::engine::{AccessCategory, DropCause, Packet};

/// The queues of one transmitter, between the network stack that hands it packets and the radio that builds PPDUs of them.
///
/// It has no clock and draws nothing at random after it was made: the same calls give the same answers. Peers are numbered
/// from 0: for an access point they are its stations, a station has one, 0. A packet for a peer that was not announced when
/// the queues were made is dropped.
///
/// One turn goes like this: [`next`](Self::next) names a peer, [`dequeue`](Self::dequeue) gives its packets until the
/// aggregate is full, [`put_on_air_queue`](Self::put_on_air_queue) reports what of it now waits in the hardware,
/// [`completed`](Self::completed) that it was sent and how long it really took, and [`released`](Self::released) that
/// packets are done with for good.
pub trait Scheduler<P: Packet> {
    /// A packet comes from the network stack. What is dropped to make room (or the packet itself) is appended to `dropped`.
    fn enqueue(
        &mut self,
        now_ns: u64,
        peer: usize,
        category: AccessCategory,
        packet: P,
        dropped: &mut Vec<(P, DropCause)>,
    );

    /// The peer that has the turn to fill an aggregate; `None`: nothing waits, or the limit on what waits in the hardware is
    /// reached for all that have something. Asked again at once, without a packet taken, it gives the same answer.
    fn next(&mut self, now_ns: u64, category: AccessCategory) -> Option<usize>;

    /// The next packet of that peer, if there is one and it is not larger than `max_bytes`. CoDel acts here: what it drops
    /// is appended to `dropped`. May be called for a peer that does not have the turn.
    fn dequeue(
        &mut self,
        now_ns: u64,
        peer: usize,
        category: AccessCategory,
        max_bytes: usize,
        dropped: &mut Vec<(P, DropCause)>,
    ) -> Option<P>;

    /// Dequeued packets with that estimated airtime were handed to the hardware. Called for each packet or for each
    /// aggregate; the sum is what counts.
    fn put_on_air_queue(&mut self, peer: usize, category: AccessCategory, estimated_airtime_us: u32);

    /// The hardware is through with an attempt. `estimated_airtime_us` (0 for a retry) leaves its queue, and `airtime_us`
    /// were spent on the air for the peer.
    fn completed(
        &mut self,
        now_ns: u64,
        peer: usize,
        category: AccessCategory,
        estimated_airtime_us: u32,
        airtime_us: u32,
    );

    /// The peer has used `airtime_us` to send to us.
    fn received(&mut self, now_ns: u64, peer: usize, category: AccessCategory, airtime_us: u32);

    /// Packets that wait here: enqueued and neither dequeued nor dropped.
    fn backlog_packets(&self) -> usize;

    /// That many dequeued packets were acknowledged or given up: their buffers are free, and a MAC queue that counts what
    /// is under way has room again. Must be called once for every dequeued packet.
    fn released(
        &mut self,
        _now_ns: u64,
        _peer: usize,
        _category: AccessCategory,
        _packets: usize,
        _dropped: &mut Vec<(P, DropCause)>,
    ) {
    }

    /// Says whether the caller has packets for the peer that it must send again. While it has, the peer gets its turns even
    /// when nothing else waits for it.
    fn retries(&mut self, _now_ns: u64, _peer: usize, _category: AccessCategory, _waiting: bool) {}

    /// Nothing can be sent to the peer now, whatever waits (its Block Ack window is full, or it sleeps): others are
    /// [next](Self::next) until something is [completed](Self::completed) or [released](Self::released) for it.
    fn pass(&mut self, _peer: usize, _category: AccessCategory) {}

    /// Rate control expects this much throughput to the peer, in kbit/s. Linux up to 6.1 has other CoDel settings for slow
    /// stations.
    fn expect_throughput(&mut self, _peer: usize, _kbit_s: u32) {}
}

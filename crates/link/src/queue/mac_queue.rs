//! A queueing discipline above a driver that keeps its own FIFO: Linux before drivers took their packets from mac80211's
//! queues, and ns-3.

use std::collections::VecDeque;

use crate::engine::{AccessCategory, DropCause, Packet};
use crate::queue::qdisc::{Item, Qdisc};
use crate::queue::receivers::Receivers;
use crate::queue::scheduler::Scheduler;
use crate::queue::skb::ETHERNET_HEADER_BYTES;

/// For each access category a queueing discipline and below it a FIFO of a few packets, filled from the discipline whenever
/// it has room. An aggregate is for the receiver of the FIFO's head, and takes all that the FIFO has for it.
#[derive(Clone, Debug)]
pub struct MacQueue<P, Q> {
    lanes: [Lane<P, Q>; 4],
    limit_packets: usize,
    /// Packets under way count against the limit until they are released.
    counts_in_flight: bool,
    peers: usize,
}

#[derive(Clone, Debug)]
struct Lane<P, Q> {
    qdisc: Q,
    /// By peer, each packet with its place in the FIFO.
    waiting: Vec<VecDeque<(u64, P)>>,
    waiting_packets: usize,
    receivers: Receivers,
    in_flight_packets: usize,
    next_place: u64,
}

impl<P: Packet, Q: Qdisc<P>> MacQueue<P, Q> {
    /// Empty queues for `peers` receivers. `qdisc` makes the discipline of one access category.
    pub fn new(
        limit_packets: usize,
        counts_in_flight: bool,
        peers: usize,
        mut qdisc: impl FnMut(AccessCategory) -> Q,
    ) -> Self {
        let lanes = AccessCategory::BY_PRIORITY.map(|category| Lane {
            qdisc: qdisc(category),
            waiting: (0..peers).map(|_| VecDeque::new()).collect(),
            waiting_packets: 0,
            receivers: Receivers::new(peers),
            in_flight_packets: 0,
            next_place: 0,
        });
        Self { lanes, limit_packets, counts_in_flight, peers }
    }

    /// Fills the FIFO from the discipline.
    fn refill(&mut self, now_ns: u64, category: AccessCategory, dropped: &mut Vec<(P, DropCause)>) {
        let lane = &mut self.lanes[category.priority()];
        while lane.waiting_packets + lane.in_flight_packets < self.limit_packets {
            let Some(item) = lane.qdisc.dequeue(now_ns, dropped) else { break };
            // The peer was checked when the packet came.
            if let Some(queue) = lane.waiting.get_mut(item.peer as usize) {
                queue.push_back((lane.next_place, item.packet));
                lane.next_place += 1;
                lane.waiting_packets += 1;
            }
        }
    }
}

impl<P: Packet, Q: Qdisc<P>> Scheduler<P> for MacQueue<P, Q> {
    fn enqueue(
        &mut self,
        now_ns: u64,
        peer: usize,
        category: AccessCategory,
        packet: P,
        dropped: &mut Vec<(P, DropCause)>,
    ) {
        let Some(number) = u32::try_from(peer).ok().filter(|_| peer < self.peers) else {
            dropped.push((packet, DropCause::QueueFull));
            return;
        };
        let item = Item::new(now_ns, number, ETHERNET_HEADER_BYTES, packet);
        self.lanes[category.priority()].qdisc.enqueue(item, dropped);
        self.refill(now_ns, category, dropped);
    }

    fn next(&mut self, _now_ns: u64, category: AccessCategory) -> Option<usize> {
        let lane = &self.lanes[category.priority()];
        lane.receivers.first_retrying().or_else(|| {
            let heads = lane.waiting.iter().enumerate().filter(|&(peer, _)| lane.receivers.is_open(peer));
            heads.filter_map(|(peer, queue)| Some((queue.front()?.0, peer))).min().map(|(_, peer)| peer)
        })
    }

    fn dequeue(
        &mut self,
        now_ns: u64,
        peer: usize,
        category: AccessCategory,
        max_bytes: usize,
        dropped: &mut Vec<(P, DropCause)>,
    ) -> Option<P> {
        let lane = &mut self.lanes[category.priority()];
        let queue = lane.waiting.get_mut(peer)?;
        if queue.front()?.1.size_bytes() > max_bytes {
            return None;
        }
        let (_, packet) = queue.pop_front()?;
        lane.waiting_packets -= 1;
        lane.in_flight_packets += usize::from(self.counts_in_flight);
        self.refill(now_ns, category, dropped);
        Some(packet)
    }

    fn put_on_air_queue(&mut self, _peer: usize, _category: AccessCategory, _estimated_airtime_us: u32) {}

    fn completed(
        &mut self,
        _now_ns: u64,
        peer: usize,
        category: AccessCategory,
        _estimated_airtime_us: u32,
        _airtime_us: u32,
    ) {
        self.lanes[category.priority()].receivers.set_passed(peer, false);
    }

    fn received(&mut self, _now_ns: u64, _peer: usize, _category: AccessCategory, _airtime_us: u32) {}

    fn backlog_packets(&self) -> usize {
        self.lanes.iter().map(|lane| lane.qdisc.packets() + lane.waiting_packets).sum()
    }

    fn released(
        &mut self,
        now_ns: u64,
        peer: usize,
        category: AccessCategory,
        packets: usize,
        dropped: &mut Vec<(P, DropCause)>,
    ) {
        let lane = &mut self.lanes[category.priority()];
        lane.receivers.set_passed(peer, false);
        lane.in_flight_packets = lane.in_flight_packets.saturating_sub(packets);
        self.refill(now_ns, category, dropped);
    }

    fn retries(&mut self, _now_ns: u64, peer: usize, category: AccessCategory, waiting: bool) {
        self.lanes[category.priority()].receivers.set_retrying(peer, waiting);
    }

    fn pass(&mut self, peer: usize, category: AccessCategory) {
        self.lanes[category.priority()].receivers.set_passed(peer, true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::fifo::Fifo;
    use crate::queue::test_queue::Numbered;
    use AccessCategory::{BestEffort, Voice};

    fn queues(mac_packets: usize, counts_in_flight: bool, qdisc_packets: usize) -> MacQueue<Numbered, Fifo<Numbered>> {
        MacQueue::new(mac_packets, counts_in_flight, 3, |_| Fifo::new(qdisc_packets))
    }

    #[test]
    fn an_aggregate_gathers_what_the_fifo_has_for_its_head() {
        let mut queues = queues(4, false, 100);
        let mut dropped = Vec::new();
        for (number, peer) in [1, 0, 1, 2, 1].into_iter().enumerate() {
            queues.enqueue(0, peer, BestEffort, Numbered::new(number as u64), &mut dropped);
        }
        assert_eq!(queues.next(0, Voice), None);
        assert_eq!(queues.next(0, BestEffort), Some(1));
        let mut take = |peer, bytes| {
            queues.dequeue(0, peer, BestEffort, bytes, &mut dropped).map(|packet: Numbered| packet.number)
        };
        assert_eq!(take(1, 1499), None, "it does not fit");
        // Number 4 comes down from the discipline once there is room.
        assert_eq!([take(1, 1500), take(1, 1500), take(1, 1500), take(1, 1500)], [Some(0), Some(2), Some(4), None]);
        assert_eq!((queues.next(0, BestEffort), queues.backlog_packets()), (Some(0), 2));
        assert!(dropped.is_empty());
    }

    #[test]
    fn packets_under_way_take_room_until_they_are_released() {
        let mut queues = queues(2, true, 3);
        let mut dropped = Vec::new();
        for number in 0..6 {
            queues.enqueue(0, 0, BestEffort, Numbered::new(number), &mut dropped);
        }
        assert_eq!(dropped, [(Numbered::new(5), DropCause::QueueFull)]);
        let take = |queues: &mut MacQueue<_, _>| queues.dequeue(0, 0, BestEffort, 1500, &mut Vec::new());
        assert_eq!([take(&mut queues), take(&mut queues)], [Some(Numbered::new(0)), Some(Numbered::new(1))]);
        assert_eq!((take(&mut queues), queues.next(0, BestEffort)), (None, None));
        queues.released(0, 0, BestEffort, 1, &mut dropped);
        assert_eq!([take(&mut queues), take(&mut queues)], [Some(Numbered::new(2)), None]);
        assert_eq!(queues.backlog_packets(), 2);
    }

    #[test]
    fn what_must_be_sent_again_goes_first_and_who_cannot_be_sent_to_is_passed_over() {
        let mut queues = queues(9, true, 9);
        let mut dropped = Vec::new();
        for peer in [0, 1] {
            queues.enqueue(0, peer, BestEffort, Numbered::new(peer as u64), &mut dropped);
        }
        queues.retries(0, 2, BestEffort, true);
        queues.retries(0, 1, BestEffort, true);
        assert_eq!(queues.next(0, BestEffort), Some(2));
        queues.pass(2, BestEffort);
        assert_eq!(queues.next(0, BestEffort), Some(1));
        queues.retries(0, 1, BestEffort, false);
        assert_eq!(queues.next(0, BestEffort), Some(0));
        queues.completed(0, 2, BestEffort, 0, 100);
        assert_eq!(queues.next(0, BestEffort), Some(2));
        queues.retries(0, 2, BestEffort, false);
        queues.pass(0, BestEffort);
        queues.pass(1, BestEffort);
        assert_eq!(queues.next(0, BestEffort), None);
    }

    #[test]
    fn packets_for_nobody_are_dropped() {
        let mut queues = queues(2, true, 3);
        let mut dropped = Vec::new();
        queues.enqueue(0, 3, BestEffort, Numbered::new(0), &mut dropped);
        assert_eq!((dropped.len(), queues.backlog_packets()), (1, 0));
        assert_eq!(queues.dequeue(0, 3, BestEffort, 1500, &mut dropped), None);
    }
}

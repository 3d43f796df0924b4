//! FQ-CoDel (RFC 8290), with the limits of Linux's `fq_codel`.

use std::collections::VecDeque;

use crate::engine::{DropCause, Packet};
use crate::queue::codel::{Codel, CodelParameters, Source};
use crate::queue::qdisc::{Item, Qdisc};
use crate::queue::settings::FqCodelSettings;
use crate::queue::skb::{fattest, queue_of, true_bytes};
use crate::queue::turns::Turns;

/// The discipline: packets go by a hash of their flow to one of many queues, each with a CoDel, and the queues take turns
/// by deficit round robin, those that have just become busy first.
#[derive(Clone, Debug)]
pub struct FqCodel<P> {
    flows: Vec<Flow<P>>,
    /// Bytes that wait in each queue.
    backlogs: Vec<u64>,
    turns: Turns,
    packets: usize,
    bytes: u64,
    memory_bytes: u64,
    limits: FqCodelSettings,
    codel: CodelParameters,
    perturbation: u64,
}

#[derive(Clone, Debug)]
struct Flow<P> {
    items: VecDeque<Item<P>>,
    codel: Codel,
    deficit: i64,
    takes_part: bool,
}

impl<P: Packet> FqCodel<P> {
    /// Empty queues. `perturbation` is part of the hash.
    pub fn new(settings: &FqCodelSettings, perturbation: u64) -> Self {
        let flow = || Flow { items: VecDeque::new(), codel: Codel::default(), deficit: 0, takes_part: false };
        Self {
            flows: (0..settings.flows).map(|_| flow()).collect(),
            backlogs: vec![0; settings.flows as usize],
            turns: Turns::default(),
            packets: 0,
            bytes: 0,
            memory_bytes: 0,
            limits: settings.clone(),
            codel: settings.codel(),
            perturbation,
        }
    }

    fn take(&mut self, index: usize) -> Option<Item<P>> {
        let item = self.flows.get_mut(index)?.items.pop_front()?;
        self.backlogs[index] -= u64::from(item.bytes);
        self.bytes -= u64::from(item.bytes);
        self.packets -= 1;
        self.memory_bytes -= true_bytes(item.bytes);
        Some(item)
    }

    /// Drops half of the longest queue, but no more than a batch, from its head.
    fn shorten_the_fattest(&mut self, dropped: &mut Vec<(P, DropCause)>) {
        let index = fattest(&self.backlogs);
        let backlog = self.backlogs[index];
        let mut packets = 0;
        let mut bytes = 0;
        while packets < self.limits.drop_batch && (packets == 0 || bytes < backlog / 2) {
            let Some(item) = self.take(index) else { break };
            packets += 1;
            bytes += u64::from(item.bytes);
            dropped.push((item.packet, DropCause::Overlimit));
        }
        self.flows[index].codel.strengthen(packets);
    }
}

/// One of the queues, for its CoDel.
struct Head<'a, P> {
    queue: &'a mut FqCodel<P>,
    index: usize,
    dropped: &'a mut Vec<(P, DropCause)>,
}

impl<P: Packet> Source<P> for Head<'_, P> {
    fn head(&mut self) -> Option<&mut Item<P>> {
        self.queue.flows[self.index].items.front_mut()
    }

    /// Bytes of all queues together, as Linux has it.
    fn bytes_behind_head(&self) -> u64 {
        let head = self.queue.flows[self.index].items.front();
        self.queue.bytes - head.map_or(0, |item| u64::from(item.bytes))
    }

    fn take_head(&mut self) -> Option<Item<P>> {
        self.queue.take(self.index)
    }

    fn drop_head(&mut self, cause: DropCause) {
        let item = self.queue.take(self.index);
        self.dropped.extend(item.map(|item| (item.packet, cause)));
    }
}

impl<P: Packet> Qdisc<P> for FqCodel<P> {
    fn enqueue(&mut self, item: Item<P>, dropped: &mut Vec<(P, DropCause)>) {
        let index = queue_of(&item.packet, self.perturbation, self.flows.len());
        let Some(flow) = self.flows.get_mut(index) else { return };
        self.backlogs[index] += u64::from(item.bytes);
        self.bytes += u64::from(item.bytes);
        self.packets += 1;
        self.memory_bytes += true_bytes(item.bytes);
        flow.items.push_back(item);
        if !flow.takes_part {
            flow.takes_part = true;
            flow.deficit = i64::from(self.limits.quantum_bytes);
            self.turns.join(index as u32);
        }
        if self.packets > self.limits.packets as usize || self.memory_bytes > self.limits.memory_bytes {
            self.shorten_the_fattest(dropped);
        }
    }

    fn dequeue(&mut self, now_ns: u64, dropped: &mut Vec<(P, DropCause)>) -> Option<Item<P>> {
        loop {
            let index = self.turns.head()? as usize;
            let flow = &mut self.flows[index];
            if flow.deficit <= 0 {
                flow.deficit += i64::from(self.limits.quantum_bytes);
                self.turns.rotate();
                continue;
            }
            let mut codel = flow.codel;
            let parameters = self.codel;
            let item = codel.dequeue(now_ns, &parameters, &mut Head { queue: self, index, dropped });
            let flow = &mut self.flows[index];
            flow.codel = codel;
            if let Some(item) = item {
                flow.deficit -= i64::from(item.bytes);
                return Some(item);
            }
            flow.takes_part = !self.turns.emptied();
        }
    }

    fn packets(&self) -> usize {
        self.packets
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::test_queue::Numbered;

    fn queue(settings: FqCodelSettings) -> FqCodel<Numbered> {
        FqCodel::new(&settings, 1)
    }

    fn offer(queue: &mut FqCodel<Numbered>, flow: u32, number: u64, bytes: usize) -> Vec<(Numbered, DropCause)> {
        let mut dropped = Vec::new();
        let packet = Numbered { flow, bytes, ..Numbered::new(number) };
        queue.enqueue(Item::new(0, 0, 14, packet), &mut dropped);
        dropped
    }

    fn flows(queue: &mut FqCodel<Numbered>, packets: usize) -> Vec<u32> {
        let mut next = || queue.dequeue(0, &mut Vec::new()).map(|item| item.packet.flow);
        (0..packets).map_while(|_| next()).collect()
    }

    /// RFC 8290, 4.2 and 6: a flow that has just become busy comes first, but not if it comes back at once.
    #[test]
    fn a_sparse_flow_comes_first_and_a_busy_one_does_not_become_sparse_by_pausing() {
        let mut queue = queue(FqCodelSettings::default());
        for number in 0..20 {
            offer(&mut queue, 1, number, 1500);
            offer(&mut queue, 2, number, 1500);
        }
        assert_eq!(flows(&mut queue, 6), [1, 2, 1, 2, 1, 2]);
        offer(&mut queue, 3, 0, 100);
        assert_eq!(flows(&mut queue, 1), [3]);
        offer(&mut queue, 3, 1, 100);
        offer(&mut queue, 3, 2, 1500);
        assert_eq!(flows(&mut queue, 2), [3, 3], "the quantum is not used up");
        offer(&mut queue, 3, 3, 100);
        assert_eq!(flows(&mut queue, 4), [1, 3, 2, 1], "its turn comes among the others");
        assert_eq!(flows(&mut queue, 2), [2, 1], "and it is out");
        offer(&mut queue, 3, 4, 100);
        assert_eq!(flows(&mut queue, 1), [3]);
    }

    #[test]
    fn flows_get_as_many_bytes_whatever_the_size_of_their_packets() {
        for quantum_bytes in [300, 1514, 6000] {
            let mut queue = queue(FqCodelSettings { quantum_bytes, ..FqCodelSettings::default() });
            for number in 0..4000 {
                offer(&mut queue, 1, number, 1500);
                offer(&mut queue, 2, number, 186);
                offer(&mut queue, 3, number, 486);
            }
            let mut bytes = [0i64; 4];
            for _ in 0..3000 {
                let item = queue.dequeue(0, &mut Vec::new()).expect("a packet");
                bytes[item.packet.flow as usize] += i64::from(item.bytes);
                let busiest = bytes[1..].iter().max().expect("three");
                let idlest = bytes[1..].iter().min().expect("three");
                assert!(busiest - idlest <= 2 * (i64::from(quantum_bytes) + 1514), "{quantum_bytes}: {bytes:?}");
                let deficits = queue.flows.iter().map(|flow| flow.deficit);
                assert!(deficits.clone().max() <= Some(i64::from(quantum_bytes)) && deficits.min() > Some(-1514));
            }
        }
    }

    #[test]
    fn too_many_packets_cost_the_fattest_flow_half_of_its_own() {
        let mut queue = queue(FqCodelSettings { packets: 100, ..FqCodelSettings::default() });
        for number in 0..40 {
            assert!(offer(&mut queue, 1, number, 1000).is_empty());
        }
        for number in 0..60 {
            assert!(offer(&mut queue, 2, number, 500).is_empty());
        }
        // 40 packets of 1014 bytes are more than 61 of 514.
        let dropped = offer(&mut queue, 2, 60, 500);
        let numbers: Vec<u64> = dropped.iter().map(|(packet, _)| packet.number).collect();
        assert!(dropped.iter().all(|(packet, cause)| (packet.flow, *cause) == (1, DropCause::Overlimit)));
        assert_eq!((numbers, queue.packets()), ((0..20).collect(), 81));
    }

    #[test]
    fn no_more_is_dropped_at_once_than_a_batch_and_memory_is_a_limit_too() {
        let mut queue = queue(FqCodelSettings { packets: 1000, ..FqCodelSettings::default() });
        let dropped: Vec<usize> = (0..1001).map(|number| offer(&mut queue, 1, number, 1000).len()).collect();
        assert_eq!((dropped[1000], dropped.iter().sum(), queue.packets()), (64, 64, 937));
        // 2304 bytes each.
        let mut queue = FqCodel::new(&FqCodelSettings { memory_bytes: 23_040, ..FqCodelSettings::default() }, 1);
        let dropped: Vec<usize> = (0..11).map(|number| offer(&mut queue, 1, number, 1500).len()).collect();
        assert_eq!((dropped[10], dropped.iter().sum()), (6, 6), "a packet over half of 11 is over half the bytes");
    }
}

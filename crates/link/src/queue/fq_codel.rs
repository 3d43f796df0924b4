//! FQ-CoDel (RFC 8290), with the limits of Linux's `fq_codel`.

use std::collections::VecDeque;

use crate::engine::{DropCause, Packet};
use crate::queue::codel::{Codel, CodelParameters, Source};
use crate::queue::qdisc::{Item, Qdisc};
use crate::queue::settings::FqCodelSettings;
use crate::queue::skb::{queue_of, true_bytes};
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
        // Of equals the first.
        let fattest = self.backlogs.iter().enumerate().max_by_key(|&(index, bytes)| (bytes, std::cmp::Reverse(index)));
        let Some((index, &backlog)) = fattest else { return };
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
    fn pop(&mut self) -> Option<Item<P>> {
        self.queue.take(self.index)
    }

    /// Of all queues together, as Linux has it.
    fn backlog_bytes(&self) -> u64 {
        self.queue.bytes
    }

    fn drop(&mut self, packet: P, cause: DropCause) {
        self.dropped.push((packet, cause));
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
                self.turns.to_back();
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

    fn len(&self) -> usize {
        self.packets
    }
}

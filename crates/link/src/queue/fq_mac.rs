//! The flow queues of mac80211 (`include/net/fq_impl.h`): FQ-CoDel for each station and access category, in one pool.

use std::collections::VecDeque;

use crate::engine::{DropCause, Packet};
use crate::queue::codel::{Codel, CodelParameters, Source};
use crate::queue::qdisc::Item;
use crate::queue::settings::FqMacSettings;
use crate::queue::skb::{fattest, queue_of, true_bytes};
use crate::queue::turns::Turns;

/// Packets that are dropped at once at most when there are too many.
const DROP_BATCH: usize = 32;

/// The pool. A *tin* is what one station has in one access category. Flows of all tins are hashed to the same queues; one
/// that meets a queue in which another tin has packets goes to its own tin's default queue.
#[derive(Clone, Debug)]
pub(crate) struct FqMac<P> {
    /// Those of the pool, then the default queue of each tin.
    flows: Vec<Flow<P>>,
    /// Bytes that wait in each queue.
    backlogs: Vec<u64>,
    tins: Vec<Tin>,
    pool: usize,
    packets: usize,
    memory_bytes: u64,
    limit_packets: usize,
    limit_memory_bytes: u64,
    quantum_bytes: i64,
    perturbation: u64,
}

#[derive(Clone, Debug)]
struct Flow<P> {
    items: VecDeque<Item<P>>,
    codel: Codel,
    deficit: i64,
    /// The tin that it takes turns in; `None`: in none.
    tin: Option<u32>,
}

#[derive(Clone, Debug, Default)]
struct Tin {
    turns: Turns,
    packets: usize,
}

impl<P: Packet> FqMac<P> {
    /// Empty queues of that many tins. `perturbation` is part of the hash.
    pub(crate) fn new(settings: &FqMacSettings, tins: usize, perturbation: u64) -> Self {
        let pool = settings.flows as usize;
        let flow = || Flow { items: VecDeque::new(), codel: Codel::default(), deficit: 0, tin: None };
        Self {
            flows: (0..pool + tins).map(|_| flow()).collect(),
            backlogs: vec![0; pool + tins],
            tins: vec![Tin::default(); tins],
            pool,
            packets: 0,
            memory_bytes: 0,
            limit_packets: settings.packets as usize,
            limit_memory_bytes: settings.memory_bytes,
            quantum_bytes: i64::from(settings.quantum_bytes),
            perturbation,
        }
    }

    /// Packets that wait in a tin.
    pub(crate) fn packets_of(&self, tin: usize) -> usize {
        self.tins.get(tin).map_or(0, |tin| tin.packets)
    }

    /// Packets that wait.
    pub(crate) fn packets(&self) -> usize {
        self.packets
    }

    /// Takes a packet for a tin, which there must be.
    pub(crate) fn enqueue(&mut self, tin: usize, item: Item<P>, dropped: &mut Vec<(P, DropCause)>) {
        let number = tin as u32;
        let mut index = queue_of(&item.packet, self.perturbation, self.pool);
        if self.flows[index].tin.is_some_and(|owner| owner != number) {
            index = self.pool + tin;
        }
        self.backlogs[index] += u64::from(item.bytes);
        self.tins[tin].packets += 1;
        self.packets += 1;
        self.memory_bytes += true_bytes(item.bytes);
        let flow = &mut self.flows[index];
        flow.items.push_back(item);
        if flow.tin.is_none() {
            flow.tin = Some(number);
            flow.deficit = self.quantum_bytes;
            self.tins[tin].turns.join(index as u32);
        }
        while self.packets > self.limit_packets || self.memory_bytes > self.limit_memory_bytes {
            self.shorten_the_fattest(dropped);
        }
    }

    /// The next packet of a tin.
    pub(crate) fn dequeue(
        &mut self,
        now_ns: u64,
        tin: usize,
        parameters: &CodelParameters,
        dropped: &mut Vec<(P, DropCause)>,
    ) -> Option<Item<P>> {
        loop {
            let index = self.tins.get(tin)?.turns.head()? as usize;
            let flow = &mut self.flows[index];
            if flow.deficit <= 0 {
                flow.deficit += self.quantum_bytes;
                self.tins[tin].turns.rotate();
                continue;
            }
            let mut codel = flow.codel;
            let item = codel.dequeue(now_ns, parameters, &mut Head { fq: self, index, dropped });
            let flow = &mut self.flows[index];
            flow.codel = codel;
            if let Some(item) = item {
                flow.deficit -= i64::from(item.bytes);
                return Some(item);
            }
            if self.tins[tin].turns.emptied() {
                flow.tin = None;
            }
        }
    }

    fn take(&mut self, index: usize) -> Option<Item<P>> {
        let flow = &mut self.flows[index];
        let item = flow.items.pop_front()?;
        if let Some(tin) = flow.tin {
            self.tins[tin as usize].packets -= 1;
        }
        self.backlogs[index] -= u64::from(item.bytes);
        self.packets -= 1;
        self.memory_bytes -= true_bytes(item.bytes);
        Some(item)
    }

    /// Drops half of the longest queue of all, but no more than a batch, from its head.
    fn shorten_the_fattest(&mut self, dropped: &mut Vec<(P, DropCause)>) {
        let index = fattest(&self.backlogs);
        let packets = (self.flows[index].items.len() / 2).clamp(1, DROP_BATCH);
        for _ in 0..packets {
            let Some(item) = self.take(index) else { break };
            dropped.push((item.packet, DropCause::Overlimit));
        }
    }
}

/// One of the queues, for its CoDel.
struct Head<'a, P> {
    fq: &'a mut FqMac<P>,
    index: usize,
    dropped: &'a mut Vec<(P, DropCause)>,
}

impl<P: Packet> Source<P> for Head<'_, P> {
    fn head(&mut self) -> Option<&mut Item<P>> {
        self.fq.flows[self.index].items.front_mut()
    }

    fn bytes_behind_head(&self) -> u64 {
        let head = self.fq.flows[self.index].items.front();
        self.fq.backlogs[self.index] - head.map_or(0, |item| u64::from(item.bytes))
    }

    fn take_head(&mut self) -> Option<Item<P>> {
        self.fq.take(self.index)
    }

    fn drop_head(&mut self, cause: DropCause) {
        let item = self.fq.take(self.index);
        self.dropped.extend(item.map(|item| (item.packet, cause)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::test_queue::Numbered;

    fn offer(fq: &mut FqMac<Numbered>, tin: usize, flow: u32, number: u64) -> Vec<(Numbered, DropCause)> {
        let mut dropped = Vec::new();
        fq.enqueue(tin, Item::new(0, 0, 0, Numbered { flow, ..Numbered::new(number) }), &mut dropped);
        dropped
    }

    fn take(fq: &mut FqMac<Numbered>, tin: usize) -> Option<(u32, u64)> {
        let [fast, _] = FqMacSettings::default().codel();
        fq.dequeue(0, tin, &fast, &mut Vec::new()).map(|item| (item.packet.flow, item.packet.number))
    }

    /// With one queue in the pool all flows meet in it.
    #[test]
    fn who_meets_another_stations_packets_goes_to_a_queue_of_its_own() {
        let mut fq = FqMac::new(&FqMacSettings { flows: 1, ..FqMacSettings::default() }, 2, 0);
        offer(&mut fq, 0, 1, 0);
        offer(&mut fq, 0, 2, 1);
        offer(&mut fq, 1, 3, 2);
        offer(&mut fq, 1, 4, 3);
        let lens: Vec<usize> = fq.flows.iter().map(|flow| flow.items.len()).collect();
        assert_eq!(lens, [2, 0, 2], "of the pool, and the default ones");
        assert_eq!([take(&mut fq, 1), take(&mut fq, 1), take(&mut fq, 1)], [Some((3, 2)), Some((4, 3)), None]);
        assert_eq!([take(&mut fq, 0), take(&mut fq, 0), take(&mut fq, 0)], [Some((1, 0)), Some((2, 1)), None]);
        // The queue of the pool belongs to whom comes first.
        offer(&mut fq, 1, 3, 4);
        assert_eq!(fq.flows[0].items.len(), 1);
    }

    #[test]
    fn too_many_packets_cost_the_fattest_flow_of_any_station() {
        let mut fq = FqMac::new(&FqMacSettings { packets: 100, ..FqMacSettings::default() }, 3, 0);
        for number in 0..90 {
            assert!(offer(&mut fq, 0, 1, number).is_empty());
        }
        for number in 0..10 {
            assert!(offer(&mut fq, 1, 2, number).is_empty());
        }
        // Half of 90, but no more than 32.
        let dropped = offer(&mut fq, 2, 3, 0);
        let numbers: Vec<u64> = dropped.iter().map(|(packet, _)| packet.number).collect();
        assert_eq!((numbers, fq.packets()), ((0..32).collect(), 69));
        assert!(dropped.iter().all(|(packet, cause)| (packet.flow, *cause) == (1, DropCause::Overlimit)));
        assert_eq!([0, 1, 2].map(|tin| fq.packets_of(tin)), [58, 10, 1]);
    }

    /// 4 MiB are 1820 full frames of 2304 bytes.
    #[test]
    fn memory_is_the_first_limit_of_a_device_without_vht() {
        let mut fq = FqMac::new(&FqMacSettings::default(), 1, 0);
        let full = (0..2000).position(|number| !offer(&mut fq, 0, 1, number).is_empty());
        assert_eq!(full, Some(1820));
    }
}

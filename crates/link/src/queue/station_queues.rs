//! The queues of mac80211: FQ-CoDel for each station, stations in turn, limits on what waits in the hardware.

use crate::engine::{AccessCategory, DropCause, Packet};
use crate::queue::airtime::{Rota, Stations};
use crate::queue::aql::Aql;
use crate::queue::codel::CodelParameters;
use crate::queue::fq_mac::FqMac;
use crate::queue::qdisc::Item;
use crate::queue::scheduler::Scheduler;
use crate::queue::settings::{QueueKind, Queueing};
use crate::queue::skb::WLAN_HEADER_BYTES;

/// The queues of a transmitter with a driver that takes its packets from mac80211 when it needs them.
#[derive(Clone, Debug)]
pub struct StationQueues<P> {
    queues: Waiting<P>,
    aql: Aql,
    rotas: [Rota; 4],
    /// For fast stations and for slow ones.
    codel: [CodelParameters; 2],
    /// A station is slow below this for each of the stations, kbit/s.
    slow_kbit_s: u32,
    slow: Vec<bool>,
    charge_received: bool,
}

#[derive(Clone, Debug)]
struct Waiting<P> {
    fq: FqMac<P>,
    /// By tin: a packet that was taken out and did not fit.
    held: Vec<Option<P>>,
    /// By tin: the caller has packets to send again.
    retries: Vec<bool>,
    /// By tin: nothing can be sent now.
    passed: Vec<bool>,
}

/// One access category, for the turns.
struct View<'a, P> {
    queues: &'a Waiting<P>,
    aql: &'a Aql,
    category: AccessCategory,
}

const fn tin_of(peer: usize, category: AccessCategory) -> usize {
    peer.saturating_mul(AccessCategory::BY_PRIORITY.len()).saturating_add(category.priority())
}

impl<P: Packet> Stations for View<'_, P> {
    fn waits(&self, peer: usize) -> bool {
        let tin = tin_of(peer, self.category);
        self.queues.fq.packets_of(tin) > 0 || self.queues.held[tin].is_some() || self.queues.retries[tin]
    }

    fn may_send(&self, peer: usize) -> bool {
        let tin = tin_of(peer, self.category);
        !self.queues.passed[tin] && (self.queues.retries[tin] || self.aql.allows(peer, self.category))
    }

    fn pending_us(&self, peer: usize) -> u64 {
        if self.aql.is_on() {
            self.aql.pending_us(peer, self.category)
        } else {
            0
        }
    }
}

impl<P: Packet> StationQueues<P> {
    /// Empty queues for `peers` stations. `perturbation` is part of the hash of flows.
    pub fn new(settings: &Queueing, peers: usize, perturbation: u64) -> Self {
        let tins = peers * AccessCategory::BY_PRIORITY.len();
        let rota = match settings.kind {
            QueueKind::Airtime => Rota::by_airtime(&settings.airtime, peers),
            _ => Rota::round_robin(peers),
        };
        Self {
            queues: Waiting {
                fq: FqMac::new(&settings.fq_mac, tins, perturbation),
                held: vec![None; tins],
                retries: vec![false; tins],
                passed: vec![false; tins],
            },
            aql: Aql::new(settings.aql.clone(), peers),
            rotas: std::array::from_fn(|_| rota.clone()),
            codel: settings.fq_mac.codel(),
            slow_kbit_s: settings.fq_mac.slow_station_kbit_s,
            slow: vec![false; peers],
            charge_received: settings.airtime.charge_received,
        }
    }
}

impl<P: Packet> StationQueues<P> {
    fn end_turn(&mut self, category: AccessCategory) {
        self.rotas[category.priority()].end_turn(&View { queues: &self.queues, aql: &self.aql, category });
    }
}

impl<P: Packet> Scheduler<P> for StationQueues<P> {
    fn enqueue(
        &mut self,
        now_ns: u64,
        peer: usize,
        category: AccessCategory,
        packet: P,
        dropped: &mut Vec<(P, DropCause)>,
    ) {
        if peer >= self.slow.len() {
            dropped.push((packet, DropCause::QueueFull));
            return;
        }
        self.end_turn(category);
        let item = Item::new(now_ns, peer as u32, WLAN_HEADER_BYTES, packet);
        self.queues.fq.enqueue(tin_of(peer, category), item, dropped);
        self.rotas[category.priority()].arrived(now_ns, peer);
    }

    fn next(&mut self, _now_ns: u64, category: AccessCategory) -> Option<usize> {
        self.end_turn(category);
        let rota = &mut self.rotas[category.priority()];
        if !self.aql.allows_round(category, rota.stations()) {
            return None;
        }
        rota.next(&View { queues: &self.queues, aql: &self.aql, category })
    }

    fn dequeue(
        &mut self,
        now_ns: u64,
        peer: usize,
        category: AccessCategory,
        max_bytes: usize,
        dropped: &mut Vec<(P, DropCause)>,
    ) -> Option<P> {
        let tin = tin_of(peer, category);
        let parameters = self.codel[usize::from(*self.slow.get(peer)?)];
        if !self.aql.allows(peer, category) {
            return None;
        }
        let packet = match self.queues.held[tin].take() {
            Some(packet) => packet,
            None => self.queues.fq.dequeue(now_ns, tin, &parameters, dropped)?.packet,
        };
        if packet.size_bytes() > max_bytes {
            self.queues.held[tin] = Some(packet);
            return None;
        }
        self.rotas[category.priority()].served(now_ns, peer);
        Some(packet)
    }

    fn put_on_air_queue(&mut self, peer: usize, category: AccessCategory, estimated_airtime_us: u32) {
        self.aql.add(peer, category, estimated_airtime_us);
    }

    fn completed(
        &mut self,
        now_ns: u64,
        peer: usize,
        category: AccessCategory,
        estimated_airtime_us: u32,
        airtime_us: u32,
    ) {
        if let Some(passed) = self.queues.passed.get_mut(tin_of(peer, category)) {
            *passed = false;
        }
        self.end_turn(category);
        self.aql.remove(peer, category, estimated_airtime_us);
        self.rotas[category.priority()].charge(now_ns, peer, airtime_us);
    }

    fn received(&mut self, now_ns: u64, peer: usize, category: AccessCategory, airtime_us: u32) {
        self.end_turn(category);
        if self.charge_received {
            self.rotas[category.priority()].charge(now_ns, peer, airtime_us);
        }
    }

    fn backlog_packets(&self) -> usize {
        self.queues.fq.packets() + self.queues.held.iter().flatten().count()
    }

    fn released(
        &mut self,
        _now_ns: u64,
        peer: usize,
        category: AccessCategory,
        _packets: usize,
        _dropped: &mut Vec<(P, DropCause)>,
    ) {
        if let Some(passed) = self.queues.passed.get_mut(tin_of(peer, category)) {
            *passed = false;
        }
    }

    fn pass(&mut self, peer: usize, category: AccessCategory) {
        if let Some(passed) = self.queues.passed.get_mut(tin_of(peer, category)) {
            *passed = true;
        }
    }

    fn retries(&mut self, now_ns: u64, peer: usize, category: AccessCategory, waiting: bool) {
        self.end_turn(category);
        if peer < self.slow.len() {
            let waited = std::mem::replace(&mut self.queues.retries[tin_of(peer, category)], waiting);
            if waited && !waiting {
                // They are on their way: that was its turn.
                self.rotas[category.priority()].served(now_ns, peer);
            }
            self.queues.passed[tin_of(peer, category)] = false;
            if waiting {
                self.rotas[category.priority()].arrived(now_ns, peer);
            }
        }
    }

    fn expect_throughput(&mut self, peer: usize, kbit_s: u32) {
        let stations = self.slow.len() as u64;
        if let Some(slow) = self.slow.get_mut(peer) {
            *slow = kbit_s > 0 && u64::from(kbit_s) < u64::from(self.slow_kbit_s) * stations;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::settings::{AqlSettings, FqMacSettings};
    use crate::queue::test_queue::Numbered;
    use AccessCategory::{BestEffort, Voice};

    fn queues(settings: Queueing, peers: usize, packets: u64) -> StationQueues<Numbered> {
        let mut queues = StationQueues::new(&settings, peers, 0);
        for number in 0..packets {
            for peer in 0..peers {
                queues.enqueue(
                    0,
                    peer,
                    BestEffort,
                    Numbered { flow: peer as u32, ..Numbered::new(number) },
                    &mut Vec::new(),
                );
            }
        }
        queues
    }

    fn take(queues: &mut StationQueues<Numbered>, peer: usize, max_bytes: usize) -> Option<u64> {
        queues.dequeue(0, peer, BestEffort, max_bytes, &mut Vec::new()).map(|packet| packet.number)
    }

    #[test]
    fn stations_take_turns_one_aggregate_each() {
        let mut queues = queues(Queueing::default(), 3, 5);
        let mut order = Vec::new();
        while let Some(peer) = queues.next(0, BestEffort) {
            assert_eq!(queues.next(0, BestEffort), Some(peer), "asked twice");
            order.push(peer);
            take(&mut queues, peer, 1500);
            take(&mut queues, peer, 1500);
        }
        assert_eq!(order, [0, 1, 2, 0, 1, 2, 0, 1, 2]);
        assert_eq!((queues.next(0, Voice), queues.backlog_packets()), (None, 0));
    }

    #[test]
    fn a_packet_that_does_not_fit_is_the_next_one() {
        let mut queues = queues(Queueing::default(), 1, 2);
        assert_eq!([take(&mut queues, 0, 1499), take(&mut queues, 0, 10)], [None, None]);
        assert_eq!((queues.backlog_packets(), queues.next(0, BestEffort)), (2, Some(0)));
        assert_eq!([take(&mut queues, 0, 1500), take(&mut queues, 0, 1500)], [Some(0), Some(1)]);
    }

    #[test]
    fn a_station_with_packets_to_send_again_gets_turns_and_one_that_is_passed_does_not() {
        let mut queues = queues(Queueing::default(), 2, 1);
        assert_eq!(take(&mut queues, 0, 1500), Some(0));
        queues.retries(0, 0, BestEffort, true);
        queues.pass(1, BestEffort);
        assert_eq!(queues.next(0, BestEffort), Some(0));
        queues.retries(0, 0, BestEffort, false);
        assert_eq!(queues.next(0, BestEffort), None);
        queues.completed(0, 1, BestEffort, 0, 0);
        assert_eq!(queues.next(0, BestEffort), Some(1));
    }

    #[test]
    fn sending_again_is_a_turn() {
        let mut queues = queues(Queueing::default(), 2, 5);
        queues.retries(0, 0, BestEffort, true);
        assert_eq!(queues.next(0, BestEffort), Some(0));
        queues.retries(0, 0, BestEffort, false);
        assert_eq!(queues.next(0, BestEffort), Some(1));
    }

    #[test]
    fn no_more_waits_in_the_hardware_than_the_limits_allow() {
        let aql = AqlSettings { on: true, ..AqlSettings::default() };
        let mut queues = queues(Queueing { aql, ..Queueing::default() }, 1, 50);
        let mut sent = 0;
        while take(&mut queues, 0, 1500).is_some() {
            queues.put_on_air_queue(0, BestEffort, 1_000);
            sent += 1;
        }
        assert_eq!((sent, queues.next(0, BestEffort)), (12, None));
        queues.completed(0, 0, BestEffort, 1_000, 950);
        assert_eq!((queues.next(0, BestEffort), take(&mut queues, 0, 1500)), (Some(0), Some(12)));
    }

    /// Packets that have waited for 60 ms, and then 150 ms above the target of a fast station.
    #[test]
    fn codel_is_gentler_to_slow_stations_where_linux_was() {
        for (slow_station_kbit_s, kbit_s, drops) in [(6_000, 11_999, false), (6_000, 12_000, true), (0, 1, true)] {
            let fq_mac = FqMacSettings { slow_station_kbit_s, ..FqMacSettings::default() };
            let mut queues = queues(Queueing { fq_mac, ..Queueing::default() }, 2, 200);
            queues.expect_throughput(0, kbit_s);
            let mut dropped = Vec::new();
            for at_ms in 60..210 {
                queues.dequeue(at_ms * 1_000_000, 0, BestEffort, 1500, &mut dropped);
            }
            assert_eq!(!dropped.is_empty(), drops, "{slow_station_kbit_s} {kbit_s}");
            assert!(dropped.iter().all(|(_, cause)| *cause == DropCause::Codel));
        }
    }
}

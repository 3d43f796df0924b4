//! mac80211's queues above a device that takes frames one by one into a FIFO of its own, as mt76 on USB is.

use std::collections::VecDeque;

use crate::engine::{AccessCategory, DropCause, Packet};
use crate::queue::receivers::Receivers;
use crate::queue::scheduler::Scheduler;
use crate::queue::settings::DeviceQueueSettings;
use crate::queue::station_queues::StationQueues;

/// Microseconds of a byte at the lowest HT rate, 6.5 Mbit/s: what is estimated before a packet has been sent.
const LOWEST_RATE_US: f64 = 8.0 / 6.5;

/// The driver hands over what the airtime limits allow, frame by frame. What the device has taken is outside these limits:
/// the driver learns of the end of a transfer, not of the end of a transmission (Linux mt76 usb.c, mt76u_complete_tx). An
/// aggregate is for the receiver of the device's first frame, and takes all that the device has for it.
#[derive(Clone, Debug)]
pub struct DeviceQueue<P> {
    above: StationQueues<P>,
    settings: DeviceQueueSettings,
    lanes: [Lane<P>; 4],
    /// By peer: microseconds of a byte, and the bytes of the last packet that was taken, of which they are found.
    estimates: Vec<(f64, usize)>,
}

#[derive(Clone, Debug)]
struct Lane<P> {
    /// Handed over, and not taken by the device: the peer, the packet, its airtime by estimate, µs.
    handed_over: VecDeque<(usize, P, u32)>,
    /// In the device.
    taken: VecDeque<(usize, P)>,
    /// In the device, on the air or to be sent again.
    under_way: usize,
    receivers: Receivers,
}

impl<P: Packet> DeviceQueue<P> {
    /// Empty queues for `peers` receivers.
    pub fn new(above: StationQueues<P>, settings: &DeviceQueueSettings, peers: usize) -> Self {
        let lanes = std::array::from_fn(|_| Lane {
            handed_over: VecDeque::new(),
            taken: VecDeque::new(),
            under_way: 0,
            receivers: Receivers::new(peers),
        });
        Self { above, settings: settings.clone(), lanes, estimates: vec![(LOWEST_RATE_US, 0); peers] }
    }

    /// Hands over what may be, and lets the device take what it has room for.
    fn refill(&mut self, now_ns: u64, category: AccessCategory, dropped: &mut Vec<(P, DropCause)>) {
        loop {
            self.take_in(now_ns, category);
            let before = dropped.len();
            let Some(peer) = self.may_hand_over(category).then(|| self.above.next(now_ns, category)).flatten() else {
                return;
            };
            // As much as goes in one turn.
            let mut any = false;
            while self.may_hand_over(category) {
                let Some(packet) = self.above.dequeue(now_ns, peer, category, usize::MAX, dropped) else { break };
                let us_per_byte = self.estimates.get(peer).map_or(LOWEST_RATE_US, |&(us_per_byte, _)| us_per_byte);
                let us = (packet.size_bytes() as f64 * us_per_byte).max(1.0) as u32;
                self.above.put_on_air_queue(peer, category, us);
                self.lanes[category.priority()].handed_over.push_back((peer, packet, us));
                any = true;
            }
            if !any && dropped.len() == before {
                return;
            }
        }
    }

    fn may_hand_over(&self, category: AccessCategory) -> bool {
        self.lanes[category.priority()].handed_over.len() < self.settings.transfers as usize
    }

    fn take_in(&mut self, now_ns: u64, category: AccessCategory) {
        let lane = &mut self.lanes[category.priority()];
        while lane.taken.len() + lane.under_way < self.settings.frames as usize {
            let Some((peer, packet, us)) = lane.handed_over.pop_front() else { return };
            lane.taken.push_back((peer, packet));
            self.above.completed(now_ns, peer, category, us, 0);
        }
    }
}

impl<P: Packet> Scheduler<P> for DeviceQueue<P> {
    fn enqueue(
        &mut self,
        now_ns: u64,
        peer: usize,
        category: AccessCategory,
        packet: P,
        dropped: &mut Vec<(P, DropCause)>,
    ) {
        self.above.enqueue(now_ns, peer, category, packet, dropped);
        self.refill(now_ns, category, dropped);
    }

    fn next(&mut self, _now_ns: u64, category: AccessCategory) -> Option<usize> {
        let lane = &self.lanes[category.priority()];
        let taken = || lane.taken.iter().map(|(peer, _)| *peer).find(|&peer| lane.receivers.is_open(peer));
        lane.receivers.first_retrying().or_else(taken)
    }

    fn dequeue(
        &mut self,
        _now_ns: u64,
        peer: usize,
        category: AccessCategory,
        max_bytes: usize,
        _dropped: &mut Vec<(P, DropCause)>,
    ) -> Option<P> {
        let lane = &mut self.lanes[category.priority()];
        let at = lane.taken.iter().position(|(of, _)| *of == peer)?;
        let bytes = lane.taken.get(at)?.1.size_bytes();
        if bytes > max_bytes {
            return None;
        }
        let (_, packet) = lane.taken.remove(at)?;
        lane.under_way += 1;
        if let Some((_, last)) = self.estimates.get_mut(peer) {
            *last = bytes;
        }
        Some(packet)
    }

    /// The limits have let go of it before. What it gives is the present rate: packets that are handed over next are
    /// estimated by it, as mac80211 estimates by the rate of the last one.
    fn put_on_air_queue(&mut self, peer: usize, _category: AccessCategory, estimated_airtime_us: u32) {
        if let Some((us_per_byte, bytes)) = self.estimates.get_mut(peer).filter(|(_, bytes)| *bytes > 0) {
            *us_per_byte = f64::from(estimated_airtime_us) / *bytes as f64;
        }
    }

    fn completed(
        &mut self,
        now_ns: u64,
        peer: usize,
        category: AccessCategory,
        _estimated_airtime_us: u32,
        airtime_us: u32,
    ) {
        self.lanes[category.priority()].receivers.set_passed(peer, false);
        self.above.completed(now_ns, peer, category, 0, airtime_us);
    }

    fn received(&mut self, now_ns: u64, peer: usize, category: AccessCategory, airtime_us: u32) {
        self.above.received(now_ns, peer, category, airtime_us);
    }

    fn backlog_packets(&self) -> usize {
        let below: usize = self.lanes.iter().map(|lane| lane.handed_over.len() + lane.taken.len()).sum();
        self.above.backlog_packets() + below
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
        lane.under_way = lane.under_way.saturating_sub(packets);
        self.refill(now_ns, category, dropped);
    }

    fn retries(&mut self, _now_ns: u64, peer: usize, category: AccessCategory, waiting: bool) {
        self.lanes[category.priority()].receivers.set_retrying(peer, waiting);
    }

    fn pass(&mut self, peer: usize, category: AccessCategory) {
        self.lanes[category.priority()].receivers.set_passed(peer, true);
    }

    fn expect_throughput(&mut self, peer: usize, kbit_s: u32) {
        self.above.expect_throughput(peer, kbit_s);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::settings::{AqlSettings, Queueing};
    use crate::queue::test_queue::Numbered;
    use AccessCategory::BestEffort;

    /// Queues with as many packets of 1500 bytes for each of two peers.
    fn queues_of(frames: u32, transfers: u32, aql: bool, packets: u64) -> DeviceQueue<Numbered> {
        let settings = Queueing { aql: AqlSettings { on: aql, ..AqlSettings::default() }, ..Queueing::default() };
        let above = StationQueues::new(&settings, 2, 0);
        let mut queues = DeviceQueue::new(above, &DeviceQueueSettings { frames, transfers }, 2);
        for number in 0..packets {
            for peer in 0..2 {
                let packet = Numbered { flow: peer as u32, ..Numbered::new(number) };
                queues.enqueue(0, peer, BestEffort, packet, &mut Vec::new());
            }
        }
        queues
    }

    fn take(queues: &mut DeviceQueue<Numbered>, peer: usize) -> Option<u64> {
        queues.dequeue(0, peer, BestEffort, 1500, &mut Vec::new()).map(|packet| packet.number)
    }

    /// A packet is taken for 1846 µs before anything has been sent: 8 of them are more than the 14.5 ms after which two
    /// stations begin no turn.
    #[test]
    fn what_the_device_has_taken_is_outside_the_limits() {
        let queues = queues_of(4, 256, true, 50);
        let lane = &queues.lanes[BestEffort.priority()];
        assert_eq!((lane.taken.len(), queues.backlog_packets()), (4, 100));
        let waiting = [0, 1].map(|of| lane.handed_over.iter().filter(|(peer, ..)| *peer == of).count());
        assert_eq!(waiting, [4, 4], "beside those that the device has");
        let without = queues_of(4, 20, false, 50);
        assert_eq!(without.lanes[BestEffort.priority()].handed_over.len(), 20, "as many as there are transfers");
    }

    #[test]
    fn an_aggregate_takes_what_the_device_has_for_its_first_receiver() {
        let mut queues = queues_of(4, 256, true, 50);
        let first = queues.next(0, BestEffort).expect("a peer");
        let mut taken = 0;
        while take(&mut queues, first).is_some() {
            taken += 1;
        }
        assert!((1..=4).contains(&taken), "{taken}");
        assert_eq!(queues.lanes[BestEffort.priority()].under_way, taken);
        let left = queues.lanes[BestEffort.priority()].taken.len();
        assert_eq!(left + taken, 4, "nothing is taken in while they are under way");
        queues.released(0, first, BestEffort, taken, &mut Vec::new());
        assert_eq!(queues.lanes[BestEffort.priority()].taken.len(), 4);
    }

    #[test]
    fn the_estimate_follows_the_rate() {
        let mut queues = queues_of(1, 256, true, 200);
        let before = queues.lanes[BestEffort.priority()].handed_over.len();
        for _ in 0..60 {
            let peer = queues.next(0, BestEffort).expect("a peer");
            assert!(take(&mut queues, peer).is_some());
            queues.put_on_air_queue(peer, BestEffort, 190);
            queues.completed(0, peer, BestEffort, 190, 185);
            queues.released(0, peer, BestEffort, 1, &mut Vec::new());
        }
        let after = queues.lanes[BestEffort.priority()].handed_over.len();
        assert!(after > 4 * before, "at ten times the rate {after} wait where {before} did");
    }

    #[test]
    fn what_must_be_sent_again_goes_first_and_who_is_passed_waits() {
        let mut queues = queues_of(4, 256, true, 50);
        let first = queues.next(0, BestEffort).expect("a peer");
        let other = 1 - first;
        queues.retries(0, other, BestEffort, true);
        assert_eq!(queues.next(0, BestEffort), Some(other));
        queues.pass(other, BestEffort);
        assert_eq!(queues.next(0, BestEffort), Some(first));
        queues.completed(0, other, BestEffort, 0, 100);
        assert_eq!(queues.next(0, BestEffort), Some(other));
        queues.retries(0, other, BestEffort, false);
        assert_eq!(queues.next(0, BestEffort), Some(first));
    }
}

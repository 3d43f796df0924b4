//! The queues that the settings ask for.

use crate::engine::{AccessCategory, DropCause, Packet};
use crate::queue::fifo::Fifo;
use crate::queue::fq_codel::FqCodel;
use crate::queue::mac_queue::MacQueue;
use crate::queue::scheduler::Scheduler;
use crate::queue::settings::{QueueKind, Queueing};
use crate::queue::station_queues::StationQueues;

/// One of the kinds of queues.
#[derive(Clone, Debug)]
pub enum AnyScheduler<P> {
    /// `fifo`.
    Fifo(Box<MacQueue<P, Fifo<P>>>),
    /// `fq_codel`.
    FqCodel(Box<MacQueue<P, FqCodel<P>>>),
    /// `fq_mac` and `airtime`.
    Stations(Box<StationQueues<P>>),
}

impl<P: Packet> AnyScheduler<P> {
    /// Empty queues for `peers` receivers, by settings that were [checked](Queueing::check). `seed` says which flows share a
    /// queue.
    pub fn new(settings: &Queueing, peers: usize, seed: u64) -> Self {
        let mac = &settings.mac_queue;
        let (packets, counts_in_flight) = (mac.packets as usize, mac.counts_in_flight);
        match settings.kind {
            QueueKind::Fifo => Self::Fifo(Box::new(MacQueue::new(packets, counts_in_flight, peers, |_| {
                Fifo::new(settings.fifo.packets as usize)
            }))),
            QueueKind::FqCodel => {
                Self::FqCodel(Box::new(MacQueue::new(packets, counts_in_flight, peers, |category| {
                    FqCodel::new(&settings.fq_codel, seed.wrapping_add(category.index() as u64))
                })))
            }
            QueueKind::FqMac | QueueKind::Airtime => {
                Self::Stations(Box::new(StationQueues::new(settings, peers, seed)))
            }
        }
    }
}

macro_rules! whichever {
    ($any:ident, $queues:ident => $call:expr) => {
        match $any {
            Self::Fifo($queues) => $call,
            Self::FqCodel($queues) => $call,
            Self::Stations($queues) => $call,
        }
    };
}

impl<P: Packet> Scheduler<P> for AnyScheduler<P> {
    fn enqueue(
        &mut self,
        now_ns: u64,
        peer: usize,
        category: AccessCategory,
        packet: P,
        dropped: &mut Vec<(P, DropCause)>,
    ) {
        whichever!(self, queues => queues.enqueue(now_ns, peer, category, packet, dropped));
    }

    fn next(&mut self, now_ns: u64, category: AccessCategory) -> Option<usize> {
        whichever!(self, queues => queues.next(now_ns, category))
    }

    fn dequeue(
        &mut self,
        now_ns: u64,
        peer: usize,
        category: AccessCategory,
        max_bytes: usize,
        dropped: &mut Vec<(P, DropCause)>,
    ) -> Option<P> {
        whichever!(self, queues => queues.dequeue(now_ns, peer, category, max_bytes, dropped))
    }

    fn put_on_air_queue(&mut self, peer: usize, category: AccessCategory, estimated_airtime_us: u32) {
        whichever!(self, queues => queues.put_on_air_queue(peer, category, estimated_airtime_us));
    }

    fn completed(
        &mut self,
        now_ns: u64,
        peer: usize,
        category: AccessCategory,
        estimated_airtime_us: u32,
        airtime_us: u32,
    ) {
        whichever!(self, queues => queues.completed(now_ns, peer, category, estimated_airtime_us, airtime_us));
    }

    fn received(&mut self, now_ns: u64, peer: usize, category: AccessCategory, airtime_us: u32) {
        whichever!(self, queues => queues.received(now_ns, peer, category, airtime_us));
    }

    fn backlog_packets(&self) -> usize {
        whichever!(self, queues => queues.backlog_packets())
    }

    fn released(
        &mut self,
        now_ns: u64,
        peer: usize,
        category: AccessCategory,
        packets: usize,
        dropped: &mut Vec<(P, DropCause)>,
    ) {
        whichever!(self, queues => queues.released(now_ns, peer, category, packets, dropped));
    }

    fn retries(&mut self, now_ns: u64, peer: usize, category: AccessCategory, waiting: bool) {
        whichever!(self, queues => queues.retries(now_ns, peer, category, waiting));
    }

    fn pass(&mut self, peer: usize, category: AccessCategory) {
        whichever!(self, queues => queues.pass(peer, category));
    }

    fn expect_throughput(&mut self, peer: usize, kbit_s: u32) {
        whichever!(self, queues => queues.expect_throughput(peer, kbit_s));
    }
}

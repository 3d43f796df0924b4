//! The queues that the settings ask for.

use crate::engine::Packet;
use crate::queue::device_queue::DeviceQueue;
use crate::queue::fifo::Fifo;
use crate::queue::fq_codel::FqCodel;
use crate::queue::mac_queue::MacQueue;
use crate::queue::scheduler::Scheduler;
use crate::queue::settings::{QueueKind, Queueing};
use crate::queue::station_queues::StationQueues;

impl Queueing {
    /// Empty queues for `peers` receivers, by settings that were [checked](Self::check). `perturbation` says which flows
    /// share a queue.
    pub fn queues<P: Packet + 'static>(&self, peers: usize, perturbation: u64) -> Box<dyn Scheduler<P>> {
        let mac = &self.mac_queue;
        let (packets, counts_in_flight) = (mac.packets as usize, mac.counts_in_flight);
        match self.kind {
            QueueKind::Fifo => {
                Box::new(MacQueue::new(packets, counts_in_flight, peers, |_| Fifo::new(self.fifo.packets as usize)))
            }
            QueueKind::FqCodel => Box::new(MacQueue::new(packets, counts_in_flight, peers, |category| {
                FqCodel::new(&self.fq_codel, perturbation.wrapping_add(category.priority() as u64))
            })),
            QueueKind::FqMac | QueueKind::Airtime => {
                let queues = StationQueues::new(self, peers, perturbation);
                match &self.device {
                    Some(device) => Box::new(DeviceQueue::new(queues, device, peers)),
                    None => Box::new(queues),
                }
            }
        }
    }
}

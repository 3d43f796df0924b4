//! The queues of a Linux transmitter, as data structures over [`Packet`](crate::engine::Packet): no clock, no input or
//! output.
//!
//! ```text
//! fifo, fq_codel    Qdisc (one for each access category) -> MacQueue (a FIFO of the driver) -> aggregates
//! fq_mac, airtime   FqMac (a pool of flow queues, each with a CoDel) -> Rota (who is next) and Aql (how much) -> aggregates,
//!                   or (DeviceQueue) -> transfers to the device -> its FIFO -> aggregates
//! ```
//!
//! [`Queueing::queues`] makes those that the settings ask for, and [`Scheduler`] is how they are used.

mod airtime;
mod aql;
mod choice;
mod codel;
mod device_queue;
mod fifo;
mod fq_codel;
mod fq_mac;
mod mac_queue;
#[cfg(test)]
mod oracle_tests;
mod qdisc;
mod receivers;
#[cfg(test)]
mod rota_tests;
mod scheduler;
mod settings;
mod skb;
mod station_queues;
#[cfg(test)]
mod test_queue;
mod turns;

pub use aql::estimated_airtime_us;
pub use codel::ControlLaw;
pub use device_queue::DeviceQueue;
pub use fifo::Fifo;
pub use fq_codel::FqCodel;
pub use mac_queue::MacQueue;
pub use qdisc::{Item, Qdisc};
pub use scheduler::Scheduler;
pub use settings::{
    AirtimeDiscipline, AirtimeSettings, AqlSettings, DeviceQueueSettings, FifoSettings, FqCodelSettings, FqMacSettings,
    MacQueueSettings, QueueKind, Queueing,
};
pub use station_queues::StationQueues;

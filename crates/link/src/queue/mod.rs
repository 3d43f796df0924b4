//! The queues of a Linux transmitter, as data structures over [`Packet`](crate::engine::Packet): no clock, no input or
//! output.

mod fifo;
mod mac_queue;
mod qdisc;
mod scheduler;
#[cfg(test)]
mod test_packet;

pub use fifo::Fifo;
pub use mac_queue::MacQueue;
pub use qdisc::{Item, Qdisc};
pub use scheduler::Scheduler;

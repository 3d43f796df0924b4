//! Modelled hosts: what they send, and what they make of what they receive. No clock and no input or output, as the links.

mod bytes;
pub(crate) mod echo;
mod latency;
pub mod segment;
mod settings;
pub(crate) mod tcp;
pub(crate) mod udp;

pub use latency::{Latency, LatencySummary};
pub use segment::Modelled;
pub(crate) use settings::CategoryName;
pub use settings::{EchoSettings, FlowSettings, Traffic, UdpSettings};
pub use tcp::{Congestion, TcpSettings};

//! The 802.11 link.

mod contention;
mod counters;
mod exchange;
mod host;
mod link;
mod monitor;
mod originator;
mod phy;
mod recipient;
mod scenario;

pub use counters::{Counters, Drops, SideCounters};
pub use link::{Link, Offer, Packet, Side, Sink};
pub use monitor::{beacon_len, Contents, DataMpdu, Ppdu, DATA_OVERHEAD};
pub use scenario::{Medium, Scenario, Station};

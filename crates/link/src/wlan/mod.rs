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
pub use link::{Side, WlanLink};
pub use monitor::beacon_len;
pub use scenario::{Medium, Scenario, Station};

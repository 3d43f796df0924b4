//! The 802.11 link: one access point and its stations on one channel.

mod arrival;
mod assemble;
mod bus;
mod carried;
mod counters;
mod exchange;
mod host;
mod link;
mod make;
mod monitor;
mod on_air;
mod originator;
pub(crate) mod phy;
mod radio;
mod rate;
mod recipient;
mod settings;

pub use bus::address;
pub use counters::{
    Categories, CategoryCounters, Counters, DirectionCounters, Drops, SideCounters, Sizes, StationCounters, UsbCounters,
};
pub use link::WlanLink;
pub use phy::beacon_len;
pub use settings::{Edca, EdcaTable, Medium, Phy, RateControl, RetryRates, Scenario, Station, Usb};

#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::unreachable)]
#![allow(
    clippy::indexing_slicing,
    reason = "radios, hosts and queues are indexed with numbers that the engine gave out itself"
)]

mod checked;
pub mod engine;
pub mod modem;
mod packet;
mod path;
mod pipe;
pub mod ppdu;
pub mod queue;
pub mod scenario;
pub mod sdio;
pub mod simulation;
pub mod traffic;
mod transmitter;
pub mod wlan;

pub use checked::ScenarioError;
pub use engine::{AccessCategory, DropCause, HostId, Link, Offer, Packet, Sink};
pub use path::{Path, PathSettings, PathStep};
pub use pipe::{Pipe, PipeSettings, PipeUp};
pub use ppdu::{write_msdu, Contents, DataMpdu, Ppdu, DATA_OVERHEAD};
pub use simulation::{Simulation, SimulationSettings};
pub use wlan::{
    beacon_len, Categories, CategoryCounters, Counters, DirectionCounters, Drops, Edca, EdcaTable, Medium, Phy,
    RateControl, RetryRates, Scenario, SideCounters, Sizes, Station, StationCounters, Usb, WlanLink,
};

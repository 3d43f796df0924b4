#![doc = include_str!("../README.md")]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::unreachable)]

mod damage;
mod decompress;
mod follow;
mod input;
mod interfaces;
mod located;
mod order;
mod pcap;
mod pcap_writer;
mod pcapng;
mod pcapng_writer;
mod reader;
mod recognise;
pub mod report;
mod window;

/// How the interface description begins in captures that txop makes in virtual time instead of receiving.
pub const SIMULATED: &str = "simulated by txop";
/// How it begins in captures that txop makes in real time, of real packets on a modelled link.
pub const EMULATED: &str = "emulated by txop";
/// The same of captures that the virtual chips of an exact guest wrote.
pub const GUEST_EXACT: &str = "guest-exact by txop";
/// The same of a guest that runs by the time of its host.
pub const GUEST_FAST: &str = "guest-fast by txop";

pub use damage::{Damage, OpenError};
pub use follow::Follow;
pub use interfaces::{origin, Drops, Interface, Section};
pub use order::{Ending, InOrder, Order};
pub use pcap_writer::{PcapSettings, PcapWriter, WriteError};
pub use pcapng_writer::{InterfaceSettings, PcapngWriter};
pub use reader::{Access, Options, Reader, Record};
pub use recognise::{Compression, Container};
pub use window::{Bound, Place, Placed, Placing, Window};

//! The link engine in real time: a TUN device for each host, and between them any [`link::Link`].
//!
//! [`emulate`] makes the devices (each in a network namespace of its own, when one is named) and moves packets between them
//! on one thread, at the times that the link says. Whatever the hosts run is real: their TCP, their programs. Packets go to
//! the host that has their destination address. The devices take no super-packets (no TSO, no checksum offload), so the link
//! sees what would be on the air or the bus, packet by packet, and its queues are the only place where packets wait or are
//! dropped.
//!
//! The DSCP of a packet decides its access category, its addresses and ports its flow queue, and its ECN field whether a
//! queue marks or drops it. What a link frees is not seen by the host: the kernel counts a packet as sent when the device
//! gives it to the emulator, so TCP small queues do not hold a sender back.
//!
//! A packet that is delivered late was delivered late by this machine, not by the link: how late is counted, and it never
//! adds up, because the link goes on from the time that was due. [`Timing`] says by rule whether a run is valid.

mod datagram;
mod delays;
mod device;
mod files;
mod links;
mod pairs;
mod run;
mod status;
mod timing;
mod wired;

pub use datagram::Datagram;
pub use delays::Delays;
pub use device::HostSettings;
pub use files::FileSettings;
pub use links::{emulate, Settings};
pub use pairs::Pair;
pub use status::{FileStatus, HostStatus, Status};
pub use timing::{Timing, LATE_NS, LATE_SHARE, LOST_SHARE};

use std::io;
use std::path::PathBuf;

/// Why there is no emulation.
#[derive(Debug, thiserror::Error)]
pub enum EmulateError {
    /// A scenario that cannot be.
    #[error(transparent)]
    Scenario(#[from] link::ScenarioError),
    /// A namespace that cannot be entered.
    #[error("cannot enter the network namespace {path}: {source}")]
    Namespace {
        /// Where it was looked for.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A TUN device that cannot be made.
    #[error("cannot make the TUN device {name}: {source}")]
    Device {
        /// Its name.
        name: String,
        /// Why not.
        source: io::Error,
    },
    /// A capture file cannot be made.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A capture of what the link does not have.
    #[error("a {link} link has no {what} to capture")]
    NothingToCapture {
        /// Its kind.
        link: &'static str,
        /// What it does not have.
        what: &'static str,
    },
    /// A device failed while in use.
    #[error("the TUN device of {host} failed: {source}")]
    Lost {
        /// Name of the host.
        host: String,
        /// How.
        source: io::Error,
    },
    /// The machine refuses something else.
    #[error("{what}: {source}")]
    System {
        /// What.
        what: &'static str,
        /// Why.
        source: io::Error,
    },
}

//! The link engine in real time: two TUN devices, and between them the air of [`link::Link`].
//!
//! [`run`] makes a TUN device at each end (each in a network namespace of its own, when one is named) and moves packets
//! between them on one thread, at the times that the link says. Whatever the hosts at both ends run is real: their TCP,
//! their programs. The devices take no super-packets (no TSO, no checksum offload), so the link sees what would be on the
//! air, packet by packet, and the driver queue of the scenario is the only place where packets wait or are dropped.
//!
//! A packet that is delivered late was delivered late by this machine, not by the link: how late is counted
//! ([`Lateness`]), and it never adds up, because the link goes on from the time that was due.
//!
//! With [`AirSettings`] a second thread writes what a perfect monitor would have captured: radiotap and the 802.11 frames
//! of every PPDU except collided ones, which no receiver can decode.

mod air;
mod device;
mod lateness;
mod run;
mod status;

pub use air::AirSettings;
pub use device::DeviceSettings;
pub use lateness::Lateness;
pub use run::{run, Settings};
pub use status::{AirStatus, EndStatus, Status};

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
    /// The capture file cannot be made.
    #[error("{path}: {source}")]
    Air {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A device failed while in use.
    #[error("the TUN device of the {side} failed: {source}")]
    Lost {
        /// `station` or `access point`.
        side: &'static str,
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

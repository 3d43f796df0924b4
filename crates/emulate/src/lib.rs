#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::unreachable)]

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
pub use status::{FileStatus, HostStatus, Status, FORMAT, VERSION};
pub use timing::{Timing, LATE_NS, LATE_SHARE, LOST_SHARE};

use std::io;
use std::path::PathBuf;

/// Why there is no emulation.
#[derive(Debug, thiserror::Error)]
pub enum EmulateError {
    /// An invalid scenario.
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

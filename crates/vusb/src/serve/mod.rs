//! Time and bytes for a device: the event loop, and the ways to a host.

mod attach;
mod clock;
mod events;
mod export;

use std::io;
use std::path::PathBuf;

pub use attach::Vhci;
pub use clock::Clock;
pub use events::{write_statistics, Ended, Host, Served, Signals, Until};
pub use export::Export;

/// Why a device cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The kernel has no virtual host controller.
    #[error("{path}: {source}; the virtual host controller is missing: modprobe vhci_hcd")]
    NoVhci {
        /// What was to be opened.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// All ports for this speed are in use.
    #[error("all ports of vhci_hcd for this speed are in use: detach a device first")]
    NoFreePort,
    /// The kernel did not take the device.
    #[error("{path}: \"{request}\" was refused: {source}")]
    Attach {
        /// The file of vhci.
        path: PathBuf,
        /// What was written.
        request: String,
        /// What the system said.
        source: io::Error,
    },
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: String,
        /// What the system said.
        source: io::Error,
    },
    /// Anything else of the system.
    #[error("{what}: {source}")]
    System {
        /// What was being done.
        what: &'static str,
        /// What the system said.
        source: io::Error,
    },
}

pub(crate) fn system(what: &'static str) -> impl FnOnce(io::Error) -> ServeError {
    move |source| ServeError::System { what, source }
}

//! Access points.

mod agreements;
pub mod builtin;
pub mod hostapd;
pub(crate) mod hwsim;
mod queue;
mod rates;
pub mod silent;

use std::os::fd::RawFd;

use crate::air::Station;
use crate::device::Source;

/// An access point: a station with a network behind it. One that does nothing of its own accord, and waits for nothing, has
/// no more to say than who it is and what it has counted.
pub trait AccessPoint {
    /// As one of the two stations.
    fn station(&self) -> &dyn Station;

    /// As one of the two stations.
    fn as_station(&mut self) -> &mut dyn Station;

    /// Lets everything happen that is due by `now_ns`, except on the air.
    fn advance(&mut self, _now_ns: u64) {}

    /// Hands on what came off the air.
    fn flush(&mut self, _now_ns: u64) {}

    /// When something happens next, except on the air.
    fn next_event(&self) -> Option<u64> {
        None
    }

    /// Descriptors to wait for.
    fn sources(&self, _sources: &mut Vec<Source>) {}

    /// One of its descriptors can be read.
    fn readable(&mut self, _now_ns: u64, _fd: RawFd) {}

    /// What it has counted, as JSON.
    fn statistics(&self) -> serde_json::Value;
}

/// Why there is no access point.
#[derive(Debug, thiserror::Error)]
pub enum ApError {
    /// The kernel has no simulated radios.
    #[error("no MAC80211_HWSIM netlink family: modprobe mac80211_hwsim radios=1 ({source})")]
    NoHwsim {
        /// What the system said.
        source: std::io::Error,
    },
    /// Another program relays the radios of this network namespace already, or this one may not.
    #[error("mac80211_hwsim does not let this program relay frames ({source}): run it as root in the network namespace in which the radio was made, and stop other relays (wmediumd)")]
    NotRelayed {
        /// What the system said.
        source: std::io::Error,
    },
    /// The wired end could not be made.
    #[error("TAP device {name}: {source}")]
    Tap {
        /// Its name.
        name: String,
        /// What the system said.
        source: std::io::Error,
    },
}

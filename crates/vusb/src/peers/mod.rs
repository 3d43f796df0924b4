//! Who is on the air with a chip: access points, and stations.

pub(crate) mod agreements;
pub mod builtin;
pub mod hostapd;
pub(crate) mod hwsim;
pub(crate) mod queue;
mod radio;
pub mod radios;
pub(crate) mod rates;
pub(crate) mod relay;
pub mod silent;
mod statistics;

use std::os::fd::RawFd;

use crate::air::Station;
use crate::device::Source;
use crate::state::{Reader, StateError, Writer};
pub use relay::Mailbox;
pub use statistics::{
    AccessPointsStatistics, ApCounters, BuiltinStatistics, EventCounters, HostapdStatistics, NoPeers, PeerStatistics,
    RadioStatistics, RelayCounters, StationsStatistics,
};

/// Who is on the air with a chip: an access point, a station with a network behind it, or several stations of which the chip
/// is the access point. Those that do nothing of their own accord, and wait for nothing, have no more to say than who they
/// are and what they have counted.
pub trait Peers {
    /// As stations, always as many and in the same order.
    fn stations(&self) -> Vec<&dyn Station>;

    /// As stations.
    fn stations_mut(&mut self) -> Vec<&mut dyn Station>;

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

    /// What they have counted.
    fn statistics(&self) -> PeerStatistics;

    /// Writes what another process needs to continue with them, made again from the same options ([`crate::state::State::save`]).
    ///
    /// # Errors
    /// They cannot be saved: the default.
    fn save_state(&self, _to: &mut Writer) -> Result<(), StateError> {
        Err(StateError::NotSaved)
    }

    /// Takes it ([`crate::state::State::restore`]).
    ///
    /// # Errors
    /// It is not the state of such peers.
    fn restore_state(&mut self, _from: &mut Reader<'_>) -> Result<(), StateError> {
        Err(StateError::NotSaved)
    }
}

/// Why there is none.
#[derive(Debug, thiserror::Error)]
pub enum ApError {
    /// The kernel has no simulated radios.
    #[error("no MAC80211_HWSIM netlink family: modprobe mac80211_hwsim radios=1, or as many as there are stations or access points ({source})")]
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

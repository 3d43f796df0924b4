//! Who may watch a simulation.

use wire::usb::urb::Urb;

use crate::engine::{DropCause, HostId};
use crate::ppdu::Ppdu;
use crate::traffic::Modelled;

/// Sees what happens while a simulation runs: the air and the bus, as a perfect monitor would, and the hosts' packets.
pub trait Observer {
    /// Whether [`Self::air`] is wanted.
    fn wants_air(&self) -> bool {
        false
    }

    /// A PPDU has ended.
    fn air(&mut self, _ppdu: &Ppdu<'_, Modelled>) {}

    /// Whether [`Self::bus`] is wanted.
    fn wants_bus(&self) -> bool {
        false
    }

    /// A URB was submitted or has completed.
    fn bus(&mut self, _urb: &Urb<'_>) {}

    /// A host hands a packet down.
    fn sent(&mut self, _at_ns: u64, _packet: &Modelled) {}

    /// A packet reaches the host that it is for.
    fn received(&mut self, _at_ns: u64, _packet: &Modelled) {}

    /// A packet was dropped.
    fn dropped(&mut self, _at_ns: u64, _from: HostId, _packet: &Modelled, _cause: DropCause) {}
}

/// No observer.
impl Observer for () {}

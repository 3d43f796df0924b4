//! A packet on its way through the link.

use crate::engine::{AccessCategory, HostId, Packet};

/// A packet with the hosts at both its ends.
#[derive(Clone, Debug)]
pub(crate) struct Carried<P> {
    pub(crate) packet: P,
    pub(crate) from: HostId,
    pub(crate) to: HostId,
}

impl<P: Packet> Packet for Carried<P> {
    fn size_bytes(&self) -> usize {
        self.packet.size_bytes()
    }

    fn flow(&self) -> u32 {
        self.packet.flow()
    }

    fn category(&self) -> AccessCategory {
        self.packet.category()
    }

    fn mark_congestion(&mut self) -> bool {
        self.packet.mark_congestion()
    }

    fn write_bytes(&self, out: &mut Vec<u8>, limit: usize) {
        self.packet.write_bytes(out, limit);
    }
}

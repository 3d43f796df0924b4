//! A packet on its way through the link.

use crate::engine::{AccessCategory, HostId, Packet};
use crate::ppdu::DATA_OVERHEAD;

/// The longest MSDU (IEEE 802.11-2020 table 9-25), without its LLC and SNAP headers.
pub(crate) const MAX_PACKET_BYTES: usize = 2_304 - 8;
/// Bytes of the QoS Control field.
const QOS_CONTROL: usize = 2;

/// Bytes that a packet gets in a data MPDU.
pub(crate) const fn overhead(qos: bool) -> usize {
    if qos {
        DATA_OVERHEAD
    } else {
        DATA_OVERHEAD - QOS_CONTROL
    }
}

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

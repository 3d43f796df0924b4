//! What a link carries, and between whom.

pub use wire::AccessCategory;

/// A host at an end of a link: 0 behind the access point or modem, 1 and up at the near ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostId(pub u16);

impl HostId {
    /// The host behind the access point, or the network behind the modem.
    pub const SERVER: Self = Self(0);

    /// For tables with one row per host.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a link carries. It is cloned when the link must keep it after having sent it, so cloning should be cheap.
pub trait Packet: Clone {
    /// Length in bytes, IP header included.
    fn size_bytes(&self) -> usize;

    /// The same for all packets of one flow, and different for others: what flow queues hash.
    fn flow(&self) -> u32 {
        0
    }

    /// How urgent it is.
    fn category(&self) -> AccessCategory {
        AccessCategory::BestEffort
    }

    /// Sets Congestion Experienced (RFC 3168) and says so; `false`, and nothing is changed: not ECN-capable.
    fn mark_congestion(&mut self) -> bool {
        false
    }

    /// Appends the packet as it would be on a wire, from its IP header on, `limit` bytes at most. What is not modelled may
    /// be zeros. For captures only.
    fn write_bytes(&self, out: &mut Vec<u8>, limit: usize);
}

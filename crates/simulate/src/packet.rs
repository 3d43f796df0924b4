//! The packets of the modelled hosts.

use link::{AccessCategory, Packet};

/// A datagram, or an echo request or reply.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Datagram {
    pub(crate) flow: u32,
    pub(crate) size_bytes: u32,
    pub(crate) payload_bytes: u32,
    pub(crate) category: AccessCategory,
    pub(crate) sent_ns: u64,
    /// An echo request: its answer is due.
    pub(crate) asks: bool,
}

impl Packet for Datagram {
    fn size_bytes(&self) -> usize {
        self.size_bytes as usize
    }

    fn flow(&self) -> u32 {
        self.flow
    }

    fn category(&self) -> AccessCategory {
        self.category
    }

    fn write_bytes(&self, out: &mut Vec<u8>, limit: usize) {
        out.resize(out.len() + self.size_bytes().min(limit), 0);
    }
}

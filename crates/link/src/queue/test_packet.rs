//! The packet that the tests of this module queue.

use crate::engine::Packet;

/// A packet that can be told from the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Numbered {
    pub(crate) number: u64,
    pub(crate) flow: u32,
    pub(crate) bytes: usize,
    pub(crate) ecn_capable: bool,
    pub(crate) marked: bool,
}

impl Numbered {
    /// 1500 bytes of flow 0, not ECN-capable.
    pub(crate) fn new(number: u64) -> Self {
        Self { number, flow: 0, bytes: 1500, ecn_capable: false, marked: false }
    }
}

impl Packet for Numbered {
    fn size_bytes(&self) -> usize {
        self.bytes
    }

    fn flow(&self) -> u32 {
        self.flow
    }

    fn mark_congestion(&mut self) -> bool {
        self.marked |= self.ecn_capable;
        self.ecn_capable
    }

    fn write_bytes(&self, _out: &mut Vec<u8>, _limit: usize) {}
}

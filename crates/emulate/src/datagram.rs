//! Real IP packets, as the link sees them.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use link::{AccessCategory, HostId, Packet};
use wire::ip::{self, Flow};

/// An IP packet on its way. Cloning it does not copy its bytes.
#[derive(Clone, Debug)]
pub struct Datagram {
    bytes: Arc<[u8]>,
    /// When it was offered to the link, ns.
    pub(crate) offered_ns: u64,
    /// The host that sent it.
    pub(crate) from: HostId,
    /// Its row in [`crate::pairs::Pairs`].
    pub(crate) pair: u32,
    flow: u32,
    category: AccessCategory,
}

impl Datagram {
    /// A packet of `flow` that the host `from` sent at `offered_ns`.
    pub(crate) fn new(bytes: &[u8], flow: &Flow, offered_ns: u64, from: HostId, pair: u32) -> Self {
        let mut hasher = DefaultHasher::new();
        flow.hash(&mut hasher);
        let dscp = ip::traffic_class(bytes).unwrap_or(0) >> 2;
        Self {
            bytes: Arc::from(bytes),
            offered_ns,
            from,
            pair,
            flow: hasher.finish() as u32,
            category: AccessCategory::of_tid(ip::user_priority(dscp)).unwrap_or_default(),
        }
    }

    /// From its IP header on.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl Packet for Datagram {
    fn size_bytes(&self) -> usize {
        self.bytes.len()
    }

    fn flow(&self) -> u32 {
        self.flow
    }

    fn category(&self) -> AccessCategory {
        self.category
    }

    fn mark_congestion(&mut self) -> bool {
        ip::mark_congestion(Arc::make_mut(&mut self.bytes))
    }

    fn write_bytes(&self, out: &mut Vec<u8>, limit: usize) {
        out.extend_from_slice(self.bytes.get(..limit).unwrap_or(&self.bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(class: u8, source_port: u8) -> Datagram {
        let mut bytes = vec![0x45, class, 0, 28, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
        bytes.extend([0, source_port, 0, 9, 0, 8, 0, 0]);
        Datagram::new(&bytes, &Flow::of(&bytes).expect("IPv4"), 0, HostId(1), 0)
    }

    #[test]
    fn what_queues_look_at() {
        assert_eq!(packet(0, 1).flow(), packet(0xb8, 1).flow());
        assert_ne!(packet(0, 1).flow(), packet(0, 2).flow());
        let categories = [(0x00, 1), (0x20, 0), (0x88, 2), (0xb8, 3), (0x28, 1)];
        for (class, index) in categories {
            assert_eq!(packet(class, 1).category().priority(), index, "{class:#x}");
        }
    }

    #[test]
    fn a_mark_leaves_what_others_hold_alone() {
        let mut marked = packet(0x02, 1);
        let other = marked.clone();
        assert!(marked.mark_congestion());
        assert_eq!((marked.bytes()[1], other.bytes()[1]), (0x03, 0x02));
        assert!(!packet(0, 1).mark_congestion());
    }
}

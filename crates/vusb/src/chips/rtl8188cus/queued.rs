//! A frame that the transmitter has.

use wire::ieee80211::{MacAddr, Mpdu, Seq};

use super::tx_descriptor::TxDescriptor;

/// A frame that waits.
#[derive(serde::Serialize, serde::Deserialize)]
pub(super) struct Queued {
    pub(super) descriptor: TxDescriptor,
    pub(super) mpdu: Vec<u8>,
    pub(super) pages: usize,
    /// Times that it was sent.
    pub(super) attempts: u8,
    /// Times that an RTS before it was not answered.
    pub(super) rts_attempts: u8,
    pub(super) since_ns: u64,
}

impl Queued {
    pub(super) fn frame(&self) -> Mpdu<&[u8]> {
        Mpdu::new(&self.mpdu)
    }

    /// One of the MAC's own: it takes no pages.
    pub(super) const fn is_own(&self) -> bool {
        self.pages == 0
    }

    pub(super) fn sequence(&self) -> Seq {
        self.frame().sequence().unwrap_or_default()
    }

    /// QoS data: the TID.
    pub(super) fn tid(&self) -> Option<u8> {
        self.frame().tid()
    }

    pub(super) fn receiver(&self) -> Option<MacAddr> {
        self.frame().receiver()
    }
}

/// A frame of the MAC's own, at a basic rate: a descriptor without aggregation, protection and encryption.
pub(super) fn own(mpdu: Vec<u8>, since_ns: u64) -> Queued {
    Queued { descriptor: TxDescriptor::internal(), mpdu, pages: 0, attempts: 0, rts_attempts: 0, since_ns }
}

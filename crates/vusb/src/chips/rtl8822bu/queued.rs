//! A frame that the transmitter has.

use wire::ieee80211::{MacAddr, Mpdu, Seq};
use wire::usb::rtw88::{queue, TxDescriptor};

use super::rates::OFDM_6;

/// A frame that waits.
#[derive(serde::Serialize, serde::Deserialize)]
pub(super) struct Queued {
    pub(super) descriptor: TxDescriptor,
    pub(super) mpdu: Vec<u8>,
    /// Its place in the packet buffer, and pages there.
    pub(super) place: usize,
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

    /// One of the firmware's own: it takes no pages.
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

/// A frame of the firmware's own, at 6 Mbit/s.
pub(super) fn own(mpdu: Vec<u8>, since_ns: u64) -> Queued {
    let len = u16::try_from(mpdu.len()).unwrap_or(u16::MAX);
    let descriptor = TxDescriptor::new(len, queue::MANAGEMENT).with(3, 8, 1).with(3, 10, 1).with(4, 0, OFDM_6.into());
    Queued { descriptor, mpdu, place: 0, pages: 0, attempts: 0, rts_attempts: 0, since_ns }
}

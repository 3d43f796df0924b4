//! Transfers that wait for the device.

use std::collections::VecDeque;

use wire::usb::setup::Setup;
use wire::usb::usbip::SHORT_NOT_OK;
use wire::usb::TransferType;

use super::request::Request;
use super::status;

/// A transfer that the host wants.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Urb {
    pub(super) id: u32,
    pub(super) endpoint: u8,
    pub(super) is_in: bool,
    pub(super) transfer: TransferType,
    pub(super) flags: u32,
    pub(super) interval: u32,
    pub(super) setup: Setup,
    /// Bytes of the host's buffer.
    pub(super) length: u32,
    /// Data of an OUT transfer.
    pub(super) data: Vec<u8>,
    /// Data of an IN transfer that have arrived.
    pub(super) filled: Vec<u8>,
}

impl Urb {
    pub(super) fn new(request: &Request, transfer: TransferType, data: &[u8]) -> Self {
        Self {
            id: request.id,
            endpoint: request.endpoint,
            is_in: request.is_in,
            transfer,
            flags: request.flags,
            interval: request.interval,
            setup: request.setup,
            length: request.length,
            data: if request.is_in { Vec::new() } else { data.to_vec() },
            filled: Vec::new(),
        }
    }

    /// The status of a transfer that the device has ended after `actual` bytes.
    pub(super) const fn short_status(&self, actual: usize) -> i32 {
        if self.flags & SHORT_NOT_OK != 0 && actual < self.length as usize {
            status::EREMOTEIO
        } else {
            0
        }
    }
}

/// An IN endpoint: URBs that wait, and the device's transfer that is being sent in packets.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct InPipe {
    pub(super) pending: VecDeque<Urb>,
    transfer: Vec<u8>,
    /// Bytes of it that were sent; `None`: there is no transfer.
    sent: Option<usize>,
    /// It ends with a short packet, whatever its length.
    terminated: bool,
}

impl InPipe {
    pub(super) const fn has_staged(&self) -> bool {
        self.sent.is_some()
    }

    /// The buffer for the device's next transfer, empty.
    pub(super) fn stage(&mut self) -> &mut Vec<u8> {
        self.transfer.clear();
        &mut self.transfer
    }

    /// The device has put a transfer into the buffer, which ends with a short packet or with its last byte.
    pub(super) fn staged(&mut self, terminated: bool) {
        self.sent = Some(0);
        self.terminated = terminated;
    }

    pub(super) fn forget(&mut self) {
        self.sent = None;
    }

    /// Sends packets of the staged transfer into the first URB. A URB ends with a short packet, when it is full, or when
    /// a packet does not fit (babble: USB 2.0, 8.7.4; what does not fit is lost). `None`: it has room for more.
    pub(super) fn fill(&mut self, packet: usize) -> Option<(Urb, i32)> {
        let packet = packet.max(1);
        let sent = self.sent?;
        let urb = self.pending.front_mut()?;
        let room = (urb.length as usize).saturating_sub(urb.filled.len());
        let left = self.transfer.len().saturating_sub(sent);
        // As many full packets as both sides have, at once.
        let full = left.min(room) / packet * packet;
        if let Some(bytes) = self.transfer.get(sent..sent + full) {
            urb.filled.extend_from_slice(bytes);
        }
        let (sent, left, room) = (sent + full, left - full, room - full);
        let ended = left == 0 && full > 0 && !self.terminated;
        self.sent = Some(sent).filter(|_| !ended);
        let status = if ended {
            urb.short_status(urb.filled.len())
        } else if full > 0 && room == 0 {
            // Full at a packet boundary: the rest, or the empty packet that ends the transfer, is for the next URB.
            0
        } else {
            let next = left.min(packet);
            let fits = next.min(room);
            urb.filled.extend_from_slice(self.transfer.get(sent..sent + fits).unwrap_or_default());
            self.sent = if next < packet { None } else { Some(sent + next) };
            if fits < next {
                status::EOVERFLOW
            } else {
                urb.short_status(urb.filled.len())
            }
        };
        self.pending.pop_front().map(|urb| (urb, status))
    }
}

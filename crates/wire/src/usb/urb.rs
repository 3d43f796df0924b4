//! What a USB monitor is shown: every URB, when it is submitted and when it comes back.

use super::setup::Setup;
use super::usbmon::{EventKind, Header};
use super::{EndpointAddress, TransferType};

/// `-EINPROGRESS`, which submissions have as their status.
pub const IN_PROGRESS: i32 = -115;

/// One event of a URB, before it is a record of a capture.
#[derive(Clone, Copy, Debug)]
pub struct Urb<'a> {
    /// When, on the clock of who shows it.
    pub at_ns: u64,
    /// The driver hands it to the host controller, or the host controller gives it back.
    pub event: EventKind,
    /// The same for both events of one URB.
    pub id: u64,
    /// Device address on its bus.
    pub device: u8,
    /// Where it goes.
    pub endpoint: EndpointAddress,
    /// How the endpoint transfers.
    pub transfer: TransferType,
    /// SETUP packet of a control transfer.
    pub setup: Option<Setup>,
    /// Polling interval of an interrupt or isochronous endpoint, frames or (high speed) microframes.
    pub interval: u32,
    /// Bits of `struct urb`'s transfer_flags.
    pub transfer_flags: u32,
    /// 0, or a negative errno; [`IN_PROGRESS`] when submitted.
    pub status: i32,
    /// Length asked for (submission) or transferred (completion), bytes.
    pub length: u32,
    /// The bytes that a monitor sees: at the submission of an OUT, at the completion of an IN. May be fewer than `length`.
    pub data: &'a [u8],
}

impl Urb<'_> {
    /// As the header of a usbmon record. usbmon writes the interval of interrupt and isochronous endpoints only, and the SETUP
    /// packet with the submission only.
    pub fn header(&self, bus: u16, time_us: i64) -> Header {
        let periodic = matches!(self.transfer, TransferType::Interrupt | TransferType::Isochronous);
        Header {
            id: self.id,
            event: self.event,
            transfer: self.transfer,
            endpoint: self.endpoint,
            device: self.device,
            bus,
            time_us,
            status: self.status,
            length: self.length,
            stored_length: u32::try_from(self.data.len()).unwrap_or(u32::MAX),
            setup: self.setup,
            interval: if periodic { self.interval } else { 0 },
            transfer_flags: self.transfer_flags,
        }
    }
}
